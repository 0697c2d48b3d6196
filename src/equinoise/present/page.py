"""The HTML page of reports, charts and experiments: sections of blocks, one template, nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

from equinoise import __version__
from equinoise.present.figures import theme
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.javascript import javascript

PRIVATE_BAND = "Contains private data: all of this page is worked out from the raw data and is as secret as the data."
PUBLIC_BAND = "Public: nothing on this page was worked out from the data."


class Paragraph(NamedTuple):
    """Plain text; ``kind`` is heading, code, or a class of the style sheet."""

    text: str
    kind: str = ""


class Bullets(NamedTuple):
    """A list, one line each."""

    lines: Sequence[str]


class Facts(NamedTuple):
    """Names and values, each in a box of its own."""

    rows: Sequence[tuple[str, str]]


class Table(NamedTuple):
    """A table: ``named`` if the first column says what each row is, ``kind`` a class of the style sheet.

    Rows with a cell that begins with ``marked`` look different.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    named: bool = False
    kind: str = ""
    marked: str = ""

    def is_marked(self, row: Sequence[Any]) -> bool:
        """Whether a row looks different."""
        return bool(self.marked) and any(str(cell).startswith(self.marked) for cell in row)


Block = Paragraph | Bullets | Facts | Table | Figure


class Section(NamedTuple):
    """A part of a page: ``name`` is its address on the page, ``short`` its name in the list of sections. One that is
    ``folded`` shows its title alone until it is opened."""

    name: str
    title: str
    blocks: Sequence[Block]
    short: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """A page: ``made`` says when and from what. A ``static`` one has pictures instead of scripts that draw."""

    title: str
    sections: Sequence[Section]
    made: str = ""
    public: bool = False
    band: str = ""
    static: bool = False
    version: str = __version__

    @property
    def figures(self) -> list[Figure]:
        """The figures, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Figure)]

    def html(self) -> str:
        """One file that needs nothing else; one copy of the library, and none if there is nothing to draw."""
        jinja2: Any = import_module("jinja2")
        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
        environment.filters.update(kind=lambda block: type(block).__name__, cell=format_cell, json=_safe_json, svg=_svg)
        scripts = [javascript(), _file("page.js")] if self.figures and not self.static else []
        return str(
            environment.from_string(_file("page.html")).render(
                page=self,
                band=self.band or (PUBLIC_BAND if self.public else PRIVATE_BAND),
                policy=_policy(scripts),
                style=_markup(_style()),
                look=theme.config(theme.PAGE),
                scripts=[_markup(script) for script in scripts],
            )
        )


def figure_page(figure: Figure) -> Page:
    """A page of one figure, with its caption and the numbers behind it."""
    section = Section(figure.name, "", [Paragraph(figure.caption), figure])
    return Page(figure.title, [section], public=figure.public)


def format_cell(value: Any) -> str:
    """A cell of a table, numbers in six digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _markup(text: str) -> Any:
    """Text that is put on the page as it is."""
    markupsafe: Any = import_module("markupsafe")
    return markupsafe.Markup(text)


def _file(name: str) -> str:
    return files("equinoise.present").joinpath(name).read_text(encoding="utf-8")


def _style() -> str:
    """The style sheet, with the figures' own light and dark colours; paper is always light."""
    light, dark = (
        "; ".join(f"--{name}: {colour}" for name, colour in {**look, "shade": look["grid"]}.items())
        for look in (theme.LIGHT, theme.DARK)
    )
    looks = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return f"{looks}{theme.recolour_rules(theme.PAGE, 'figure svg ')}\n{_file('page.css')}"


def _policy(scripts: Sequence[str]) -> str:
    """Nothing may be loaded or sent, and no script runs but these: what is in the data cannot become one."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    allowed = f"script-src {hashes}; " if scripts else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"


def _safe_json(value: Any) -> Any:
    """JSON that cannot end the element it is in, whatever a column is called."""
    return _markup(json.dumps(value, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028"))


def _svg(figure: Figure) -> Any:
    """A picture with names of its own inside, so that several fit on one page."""
    text = figure.svg_without_caption
    for name in sorted(set(re.findall(r'\bid="([^"]+)"', text)), key=len, reverse=True):
        own = f"{figure.name}-{name}"
        for before, after in (('id="', '"'), ("url(#", ")"), ('href="#', '"')):
            text = text.replace(f"{before}{name}{after}", f"{before}{own}{after}")
    return _markup(text)
