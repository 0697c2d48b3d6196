"""What a figure is: charts, what they say in words, and the numbers behind them.

In a notebook a figure shows itself as a still picture: an Altair chart would load its script from the web.
"""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import Any

from equinoise.display import VIEWS
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import altair

SECRET_FIGURE = "Worked out from the raw data, and as secret as the data."


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """One or several ``panels`` (Altair charts as wide as their place), a table behind them, and words.

    ``caption`` says how to read it, ``words`` what can be seen in it, for whoever cannot. ``header`` and ``rows`` are
    the table. ``public`` tells whether nothing in it was worked out from private data. ``chart`` is the Altair chart.
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
        """All of it as one chart with title and caption, for a notebook or a file of its own."""
        secret = [] if self.public else [SECRET_FIGURE]
        return self._whole([*wrap(self.caption, 100, break_long_words=False, break_on_hyphens=False), *secret])

    def _whole(self, subtitle: Sequence[str]) -> Any:
        alt = altair()
        panels = self._panels(theme.WIDTH)
        whole = panels[0] if len(panels) == 1 else alt.vconcat(*panels)
        title = alt.TitleParams(self.title, subtitle=list(subtitle), anchor="start", offset=12)
        return whole.properties(title=title, description=self.alt)

    def _panels(self, width: float | str) -> list[Any]:
        """The panels as wide as asked for; one that is made of several charts keeps its own width."""
        several = altair().FacetChart, altair().HConcatChart
        return [panel if isinstance(panel, several) else panel.properties(width=width) for panel in self.panels]

    def specs(self) -> list[dict[str, Any]]:
        """The panels for a page, as wide as the page lets them be; a panel's own title stays."""
        described = (panel.properties(description=self.alt) for panel in self._panels("container"))
        return [panel.to_dict(validate=False) for panel in described]  # which takes longest; tests do it

    def png(self) -> bytes:
        """A picture with title and caption, 144 pixels an inch."""
        picture = io.BytesIO()
        self.chart.configure(**theme.config(theme.LIGHT)).save(picture, format="png", ppi=144)
        return picture.getvalue()

    def svg(self) -> str:
        """A picture with title and caption, and the words in it for whoever cannot see it."""
        return self._described(self.chart)

    @cached_property
    def svg_without_caption(self) -> str:
        """A picture for a place that has the caption beside it."""
        return self._described(self._whole([]))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save it as PNG, SVG or a page that loads nothing; unless it is public, only its owner can read the file."""
        VIEWS["picture"](self, path, force=force)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        """One line, where there are no pictures."""
        return f"<Figure: {self.title}>"

    def _described(self, chart: Any) -> str:
        text = io.StringIO()
        chart.configure(**theme.config(theme.LIGHT)).save(text, format="svg")
        head, rest = text.getvalue().split(">", 1)
        title, words = html.escape(self.title), html.escape(self.alt)
        return f'{head} role="img"><title>{title}</title><desc>{words}</desc>{rest}'
