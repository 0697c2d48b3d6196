"""What a figure is: charts side by side, what they say in words, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from equinoise.present.figures import theme


def altair() -> Any:
    """Altair, loaded when it is first needed: it takes a second."""
    return import_module("altair")


@dataclass(frozen=True, eq=False)
class Figure:
    """One or several ``panels`` (Altair charts as wide as their place), a ``table`` behind them, and words.

    ``caption`` says how to read it, ``words`` what can be seen in it, for whoever cannot. ``public`` tells whether
    nothing in it was worked out from the data.
    """

    name: str
    title: str
    caption: str
    words: str
    panels: tuple[Any, ...]
    header: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    public: bool = False

    @property
    def alt(self) -> str:
        """The figure in words."""
        return f"{self.title}. {self.words}"

    @cached_property
    def chart(self) -> Any:
        """All of it as one chart with a title, for a notebook or a file of its own."""
        alt = altair()
        panels = [panel.properties(width=theme.WIDTH) for panel in self.panels]
        whole = panels[0] if len(panels) == 1 else alt.vconcat(*panels)
        secret = [] if self.public else ["Worked out from the raw data, and as secret as the data."]
        title = alt.TitleParams(self.title, subtitle=[*_lines(self.caption), *secret], anchor="start", offset=12)
        return whole.properties(title=title, description=self.alt)

    def specs(self) -> list[dict[str, Any]]:
        """The panels for a page, as wide as the page lets them be; a panel's own title stays."""
        described = (panel.properties(width="container", description=self.alt) for panel in self.panels)
        return [panel.to_dict(validate=False) for panel in described]  # which takes longest; tests do it

    def picture(self, suffix: str, look: dict[str, str] = theme.LIGHT) -> bytes:
        """It alone as the content of a .png, .svg or .html file, the last two with the words in them."""
        from equinoise.present.charts import rendered

        return rendered(self.chart.configure(**theme.config(look)), suffix)


def _lines(text: str, most: int = 100) -> list[str]:
    """Cut into lines, as titles are not by themselves."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
