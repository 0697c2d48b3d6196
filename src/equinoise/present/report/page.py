"""The page: its sections, in order, and the HTML around them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

from equinoise import __version__
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.javascript import javascript

PRIVATE_BAND = "Contains private data: all of this page is worked out from the raw data and is as secret as the data."
PUBLIC_BAND = "Public: nothing on this page was worked out from the data."


class Text(NamedTuple):
    """A paragraph; ``kind`` is a class of the style sheet."""

    words: str
    kind: str = ""


class Table(NamedTuple):
    """A table, open or behind a line; ``named`` if the first column says what each row is; ``kind`` is a class."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    hidden: bool = False
    named: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: words, facts, a figure, tables, a command, in this order."""

    name: str
    short: str
    title: str
    texts: Sequence[Text] = ()
    items: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    figure: Figure | None = None
    tables: Sequence[Table] = ()
    code: str = ""

    @property
    def specs(self) -> list[dict[str, Any]]:
        """The figure's panels, as the page's script reads them."""
        panels = [] if self.figure is None else self.figure.specs()
        return [{"name": f"{self.name}-{n}", "json": _safe_json(spec)} for n, spec in enumerate(panels)]


@dataclass(frozen=True)
class Page:
    """All of it. ``made`` says when and from what."""

    title: str
    made: str
    public: bool
    sections: Sequence[Section]
    version: str = __version__

    @property
    def band(self) -> str:
        """What whoever holds the page must know first."""
        return PUBLIC_BAND if self.public else PRIVATE_BAND

    def html(self) -> str:
        """One file that needs nothing else; one copy of the library, and none if there is nothing to draw."""
        jinja2: Any = import_module("jinja2")
        markupsafe: Any = import_module("markupsafe")
        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
        drawn = any(section.figure is not None for section in self.sections)
        library, script = (javascript(), _file("page.js")) if drawn else ("", "")
        return str(
            environment.from_string(_file("page.html")).render(
                page=self,
                policy=_policy([library, script] if drawn else []),
                style=markupsafe.Markup(_style()),
                look=_safe_json(theme.config(theme.PAGE)),
                library=markupsafe.Markup(library),
                script=markupsafe.Markup(script),
            )
        )


def figure_tables(figure: Figure) -> list[Table]:
    """The numbers behind a figure."""
    rows = [[said(cell) for cell in row] for row in figure.rows]
    return [Table(f"The numbers behind it ({len(rows):,} rows)", figure.header, rows, hidden=True)]


def said(value: Any) -> str:
    """A cell of a table."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _file(name: str) -> str:
    return files("equinoise.present.report").joinpath(name).read_text(encoding="utf-8")


def _style() -> str:
    """The style sheet, with the figures' own light and dark colours; paper is always light."""
    light, dark = (
        "; ".join(f"--{name}: {colour}" for name, colour in {**look, "shade": look["grid"]}.items())
        for look in (theme.LIGHT, theme.DARK)
    )
    looks = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return looks + _file("page.css")


def _policy(scripts: Sequence[str]) -> str:
    """Nothing may be loaded or sent, and no script runs but these: what is in the data cannot become one."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    allowed = f"script-src {hashes}; " if scripts else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"


def _safe_json(value: Any) -> Any:
    """JSON that cannot end the element it is in, whatever a column is called."""
    markupsafe: Any = import_module("markupsafe")
    return markupsafe.Markup(json.dumps(value, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028"))
