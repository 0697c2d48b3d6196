"""Two number columns together, as maps: where people are, and where what is released is."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats
from equinoise.errors import BadInput
from equinoise.formatting import percent
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import altair, chart_of, day_labels, day_text, tip
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.per_bin import edges, occupied_span
from equinoise.present.figures.theme import ORIGINAL, RELEASED

MOST_TABLE_ROWS = 200
"""In the table behind a map: the cells with most people."""

OVERLAPS = 600
"""So many of them are as long as a map's side: each is less than a pixel."""

MOST_SIDE = 64
"""Squares along a map's side: more could not be told apart, and would make a page of many megabytes."""


def joint_map(mechanism: Mechanism) -> Figure:
    """Probability of each cell of the first two number columns, original and released, cut to where anybody is."""
    numbers = [at for at, axis in enumerate(mechanism.grid.axes) if isinstance(axis, Axis)][:2]
    if len(numbers) < 2:
        raise BadInput("A map needs two columns of numbers.")
    first, second = (mechanism.grid.axes[at] for at in numbers)
    both = {
        ORIGINAL: mechanism.original_marginal(*numbers).reshape(first.bins, second.bins),
        RELEASED: mechanism.output_marginal(*numbers).reshape(first.bins, second.bins),
    }
    spans = [occupied_span(both[ORIGINAL].sum(axis=other)) for other in (1, 0)]
    steps = [bins_per_square(past - begin) for begin, past in spans]
    rows = _most_people(both, (first, second))
    return Figure(
        "map",
        f"{first.label} and {second.label} together",
        "How likely each cell is, in the data and in one draw, where anybody is. Both maps have the same colours, on a "
        f"square-root scale; a cell without any is left blank.{_merged(steps)}",
        f"The fullest cell has {percent(float(both[ORIGINAL].max()))} of the data, and "
        f"{percent(float(both[RELEASED].max()))} of what is released.",
        _maps(both, (first, second), spans, steps),
        (first.label, second.label, *(f"{name} (probability)" for name in both)),
        rows,
    )


def _maps(
    both: dict[str, Floats], axes: tuple[Any, Any], spans: list[tuple[int, int]], steps: list[int]
) -> tuple[Any, ...]:
    alt = altair()
    part = tuple(slice(*span) for span in spans)
    maps = {name: coarsen(values[part], steps) for name, values in both.items()}
    highest = max(float(values.max()) for values in maps.values())
    xs, ys = (
        edges(axis)[np.minimum(np.arange(begin, past + step, step), past)]
        for axis, (begin, past), step in zip(axes, spans, steps, strict=True)
    )
    across, up = axes
    panels = []
    for name, values in maps.items():
        points = [
            {"x": xs[i], "x2": xs[i + 1], "y": ys[j], "y2": ys[j + 1], "p": float(f"{share:.4g}")}
            for (i, j), share in np.ndenumerate(values)
            if share > 0
        ]
        sides = {"x": (across, "from"), "x2": (across, "to"), "y": (up, "from"), "y2": (up, "to")}
        days = {f"{side} day": day_text(axis.day_zero, f"datum.{side}")
                for side, (axis, _) in sides.items() if axis.day_zero is not None}  # fmt: skip
        tips = [
            alt.Tooltip(f"{side} day:N", title=f"{axis.label} {end}") if f"{side} day" in days
            else tip(side, f"{axis.label} {end}", ".5~g")
            for side, (axis, end) in sides.items()
        ]  # fmt: skip
        right, top = (
            min((at[1] - at[0]) / 10, (at[-1] - at[0]) / OVERLAPS) for at in (xs, ys)
        )  # overlap, so that there are no gaps
        wider = {**days, "right": f"datum.x2 + {right}", "top": f"datum.y2 + {top}"}
        chart = chart_of(points).transform_calculate(**wider).mark_rect(clip=True).encode(
            x=alt.X("x:Q", title=across.label).scale(domain=[xs[0], xs[-1]], nice=False)
            .axis(grid=False, tickCount=6, **day_labels(across.day_zero)),
            x2="right:Q",
            y=alt.Y("y:Q", title=up.label).scale(domain=[ys[0], ys[-1]], nice=False)
            .axis(grid=False, tickCount=6, **day_labels(up.day_zero)),
            y2="top:Q",
            color=alt.Color("p:Q", title="probability").scale(scheme=theme.HEAT, type="sqrt", domain=[0, highest])
            .legend(format="~g", gradientLength=160, tickCount=4, orient="top"),
            tooltip=[*tips, tip("p", "probability", ".5~g")],
        )  # fmt: skip
        panels.append(chart.properties(title=alt.TitleParams(name, fontSize=13), height=theme.HEIGHT))
    return tuple(panels)


def bins_per_square(bins: int) -> int:
    """How many bins make one square of a map."""
    return -(-bins // MOST_SIDE)


def coarsen(values: Floats, steps: list[int]) -> Floats:
    """A map with so many bins made one, on either side; the last one may have fewer."""
    for axis, step in enumerate(steps):
        values = np.add.reduceat(values, np.arange(0, values.shape[axis], step), axis=axis)
    return values


def _merged(steps: list[int]) -> str:
    if max(steps) == 1:
        return ""
    return f" A square of the maps is {steps[0]} x {steps[1]} bins, which could not be told apart."


def _most_people(both: dict[str, Floats], axes: tuple[Any, Any]) -> list[tuple[Any, ...]]:
    flat = both[ORIGINAL].ravel()
    order = np.argsort(-flat, kind="stable")[:MOST_TABLE_ROWS]
    places = zip(*np.unravel_index(order[flat[order] > 0], both[ORIGINAL].shape), strict=True)
    return [
        (*(axis.bin_label(int(at)) for axis, at in zip(axes, place, strict=True)),
         *(float(values[place]) for values in both.values()))
        for place in places
    ]  # fmt: skip
