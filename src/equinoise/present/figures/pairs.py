"""Two values for the people of each bin, side by side: rows of a table, and points to hover over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equinoise.data.axis import MISSING_LABEL
from equinoise.data.grid import AnyAxis, Floats, Grid, Ints
from equinoise.formatting import at_most, printable
from equinoise.present.figures.encodings import Legend, altair, chart_of, tip
from equinoise.present.figures.per_bin import bin_axis, bin_ends, edges

PairRow = tuple[int, int, float, float]
"""A bin, the people in it, the two values."""


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
        first = (axis.label,) if len(grid.axes) > 1 else ()
        ends = bin_ends(axis, np.array([bin for bin, *_ in rows], dtype=np.int64))
        return [(*first, *end, *values) for end, (_, *values) in zip(ends, rows, strict=True)]

    def rows(self, occupied: Ints, people: Ints, one: Floats, other: Floats) -> list[PairRow]:
        """One for each bin that anyone is in."""
        return list(zip(*(values.tolist() for values in (occupied, people, one, other)), strict=True))

    def points(self, axis: AnyAxis, rows: list[PairRow], most: float = math.inf) -> list[dict[str, Any]]:
        """Two for each row. What is infinite cannot be drawn: it is left out, or put at ``most``."""
        at = edges(axis)
        return [
            {"value": float(at[bin] + at[bin + 1]) / 2, "bin": printable(axis.bin_label(bin)), "people": people,
             "what": what, self.field: min(value, most), "rounded up": at_most(value), "infinite": value == math.inf}
            for bin, people, *values in rows
            for what, value in zip(self.looks, values, strict=True)
            if min(value, most) < math.inf
        ]  # fmt: skip

    def chart(self, points: list[dict[str, Any]], axis: AnyAxis, y: Any, panel: int) -> tuple[Any, Any]:
        """A chart without marks yet, and the choice of one of the two in its legend."""
        legend = Legend("what", self.looks, panel)
        whose, where, value = (altair().Tooltip(f"{field}:N", title=title) for field, title in
                               (("what", self.whose), ("bin", axis.label), ("rounded up", self.field)))  # fmt: skip
        tips = [whose, where, tip("people", form=","), value]
        missing = any(point["bin"] == MISSING_LABEL for point in points)
        x = bin_axis(axis, "value", "bin", missing=missing, nice=True)
        return chart_of(points).encode(x=x, y=y, **legend.colour, **legend.shape, tooltip=tips), legend.choice
