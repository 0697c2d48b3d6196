"""Two values for the people of each bin, side by side: rows of a table, and points to hover over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from equinoise.data.grid import AnyAxis, Floats, Grid, Ints
from equinoise.formatting import at_most
from equinoise.present.figures.encodings import Legend, altair, bin_tips, chart_of, tip, value_axis
from equinoise.present.figures.per_bin import edges

PairRow = tuple[float, float, int, float, float]
"""Where a bin begins and ends, the people in it, the two values."""


@dataclass(frozen=True)
class Pair:
    """What the values are of: the ``field`` that is measured, and a colour and a shape for the name of each."""

    field: str
    whose: str
    looks: Mapping[str, tuple[str, str]]

    def header(self, grid: Grid) -> tuple[str, ...]:
        """The head of the table; where there are several columns, it begins with their names."""
        return (*(("column",) if len(grid.axes) > 1 else ()), "from", "to", "people", *self.looks)

    def table(self, grid: Grid, axis: AnyAxis, rows: list[PairRow]) -> list[tuple[Any, ...]]:
        """The rows of one column below :meth:`header`."""
        return [(*((axis.label,) if len(grid.axes) > 1 else ()), *row) for row in rows]

    def rows(self, axis: AnyAxis, occupied: Ints, people: Ints, one: Floats, other: Floats) -> list[PairRow]:
        """One for each bin that anyone is in."""
        at = edges(axis)
        lists = (at[occupied], at[occupied + 1], people, one, other)
        return list(zip(*(values.tolist() for values in lists), strict=True))

    def points(self, rows: list[PairRow], most: float = math.inf) -> list[dict[str, Any]]:
        """Two for each row. What is infinite cannot be drawn: it is left out, or put at ``most``."""
        return [
            {"value": (low + high) / 2, "low": low, "high": high, "people": people, "what": what,
             self.field: min(value, most), "rounded up": at_most(value), "infinite": value == math.inf}
            for low, high, people, *values in rows
            for what, value in zip(self.looks, values, strict=True)
            if min(value, most) < math.inf
        ]  # fmt: skip

    def chart(self, points: list[dict[str, Any]], name: str, y: Any, panel: int) -> tuple[Any, Any]:
        """A chart without marks yet, and the choice of one of the two in its legend."""
        legend = Legend("what", self.looks, panel)
        whose, value = (altair().Tooltip(f"{field}:N", title=title) for field, title in
                        (("what", self.whose), ("rounded up", self.field)))  # fmt: skip
        tips = [whose, *bin_tips(), tip("people", form=","), value]
        x = value_axis("value", name, nice=True)
        return chart_of(points).encode(x=x, y=y, **legend.colour, **legend.shape, tooltip=tips), legend.choice
