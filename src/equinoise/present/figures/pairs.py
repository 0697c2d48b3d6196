"""Two values for the people of each bin, side by side: rows of a table, and points to hover over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from equinoise.data.grid import Axis, Floats, Ints
from equinoise.present.figures import theme
from equinoise.present.figures.figure import altair
from equinoise.present.figures.shares import edges

Row = tuple[float, float, int, float, float]
"""Where a bin begins and ends, the people in it, the two values."""


@dataclass(frozen=True)
class Pair:
    """What the values are of: the ``field`` that is measured, and for each of the two its name, colour and shape."""

    field: str
    whose: str
    names: tuple[str, str]
    colours: tuple[str, str]
    shapes: tuple[str, str]

    def header(self, columns: int) -> tuple[str, ...]:
        """Of the table; where there are several columns, it begins with their names."""
        return (*(("column",) if columns > 1 else ()), "from", "to", "people", *self.names)

    def rows(self, axis: Axis, occupied: Ints, people: Ints, one: Floats, other: Floats) -> list[Row]:
        """One for each bin that anyone is in."""
        at = edges(axis)
        lists = (at[occupied], at[occupied + 1], people, one, other)
        return list(zip(*(values.tolist() for values in lists), strict=True))

    def points(self, rows: list[Row]) -> list[dict[str, Any]]:
        """Two for each row, but for what cannot be drawn."""
        return [
            {"value": (low + high) / 2, "low": low, "high": high, "people": people, "what": what, self.field: value}
            for low, high, people, *values in rows
            for what, value in zip(self.names, values, strict=True)
            if value < math.inf
        ]

    def drawn(self, points: list[dict[str, Any]], name: str, y: Any, number: int) -> tuple[Any, Any]:
        """A chart without marks yet, and the choice of one of the two in its legend."""
        alt = altair()
        names = list(self.names)
        shown = alt.selection_point(name=f"shown{number}", fields=["what"], bind="legend")
        tips = [
            alt.Tooltip("what:N", title=self.whose), alt.Tooltip("low:Q", title="from", format=".6~g"),
            alt.Tooltip("high:Q", title="to", format=".6~g"), alt.Tooltip("people:Q", format=","),
            alt.Tooltip(f"{self.field}:Q", format=".4~g"),
        ]  # fmt: skip
        chart = alt.Chart(alt.Data(values=points)).encode(
            x=alt.X("value:Q", title=name).scale(zero=False).axis(grid=False, tickCount=6),
            y=y,
            color=alt.Color("what:N", title=None, sort=names)
            .scale(domain=names, range=list(self.colours))
            .legend(**theme.ABOVE),
            shape=alt.Shape("what:N", title=None, sort=names)
            .scale(domain=names, range=list(self.shapes))
            .legend(**theme.ABOVE),
            opacity=alt.when(shown).then(alt.value(1)).otherwise(alt.value(0.08)),
            tooltip=tips,
        )
        return chart, shown
