"""What is released beside what was there, and beside what the Laplace mechanism would release."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats
from equinoise.formatting import three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, bin_tips, chart_of, tip, value_axis
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.per_bin import edges, width
from equinoise.present.figures.theme import LAPLACE, ORIGINAL, RELEASED
from equinoise.statistics.baselines import cells_in_bounds
from equinoise.statistics.metrics import Marginals

MOST_TABLE_ROWS = 200
"""In the table behind a map: the cells with most people."""

MOST_SIDE = 64
"""Squares along a map's side: more could not be told apart, and would make a page of many megabytes."""


def distribution(mechanism: Mechanism) -> Figure:
    """Probability of each bin or cell, original, released and Laplace: lines for each column, for two columns maps."""
    grid = mechanism.grid
    three: dict[str, Marginals] = {
        ORIGINAL: mechanism.original_marginal,
        RELEASED: mechanism.output_marginal,
        LAPLACE: mechanism.laplace_marginal,
    }
    methods = mechanism.metrics(), mechanism.smoothing(), mechanism.baseline()
    ours, smoothed, local = (three_digits(each["tv" if mechanism.joint_held else "tv_2way"]) for each in methods)
    of_pairs = "" if mechanism.joint_held else ", on average over all pairs of columns,"
    words = (
        f"What is released differs from the original{of_pairs} by a total variation of {ours} (of at most 1); at the "
        f"same epsilon, a draw from smoothed counts by {smoothed}, the Laplace mechanism by {local}."
    )
    title = f"Original and released distribution of {grid.name}"
    if len(grid.axes) == 2:
        caption = (
            "How likely each cell is, in the data, in one draw, and in one draw of the Laplace mechanism at the same "
            "epsilon, shared out among the columns. All maps have the same colours, on a square-root scale; a "
            "cell without any is left blank."
            f"{_merged(grid.shape)}{_outside(mechanism)}"
        )
        joint = {name: of(0, 1).ravel() for name, of in three.items()}
        rows = _most_people(mechanism, joint)
        names = tuple(axis.label for axis in grid.axes)
        header = (*names, *(f"{name} (probability)" for name in three))
        return Figure("distribution", title, caption, words, _maps(mechanism, joint), header, rows)
    caption = (
        "How likely each bin is, in the data (area), in one draw (line), and in one draw of the Laplace mechanism at "
        f"the same epsilon (dashed).{_outside(mechanism)}"
    )
    several, panels, table = len(grid.axes) > 1, [], []
    for number, axis in enumerate(grid.axes):
        each = {name: of(number) for name, of in three.items()}
        at = edges(axis)
        points = [
            {"low": low, "high": high, **dict(zip(each, shares, strict=True))}
            for low, high, *shares in zip(
                at[:-1].tolist(), at[1:].tolist(), *(values.tolist() for values in each.values()), strict=True
            )
        ]
        panels.append(_lines([*points, {**points[-1], "low": points[-1]["high"]}], axis.label, number))
        first = (axis.label,) if several else ()
        table += [(*first, point["low"], point["high"], *(point[name] for name in three)) for point in points]
    header = (*(("column",) if several else ()), "from", "to", *three)
    return Figure("distribution", title, caption, words, tuple(panels), header, table)


def _outside(mechanism: Mechanism) -> str:
    """How many draws fall outside the bounds, if any can."""
    if not any(isinstance(axis, Axis) and axis.padding > 0 and axis.step is None for axis in mechanism.grid.axes):
        return ""
    inside = np.ones(mechanism.grid.shape, dtype=bool)
    for number, axis in enumerate(mechanism.grid.axes):
        bins = np.arange(axis.bins).reshape([-1 if d == number else 1 for d in range(inside.ndim)])
        within = cells_in_bounds(axis)
        inside &= (within.start <= bins) & (bins < within.stop)
    share = float(mechanism.output[~inside.ravel()].sum())
    return f" Noise needs room around the bounds: {share:.2%} of draws fall outside them." if share > 0 else ""


def _lines(points: list[dict[str, Any]], name: str, number: int) -> Any:
    """Steps from where each bin begins; the last point is where the last bin ends."""
    alt, base = altair(), chart_of(points)
    legend = Legend("what", {each: (colour, "circle") for each, colour in theme.COLOURS.items()}, number)
    three = base.transform_fold(list(legend.looks), as_=["what", "probability"]).encode(
        x=value_axis("low", name),
        y=alt.Y("probability:Q", title="probability").axis(tickCount=5, format="~g").stack(None),
        **legend.colour,
    )
    area = three.transform_filter(f"datum.what === '{ORIGINAL}'").mark_area(
        interpolate="step-after", fillOpacity=0.3, line={"strokeWidth": 1}
    )
    lines = three.transform_filter(f"datum.what !== '{ORIGINAL}'").mark_line(interpolate="step-after", strokeWidth=1.8)
    dashed = alt.when(alt.datum.what == LAPLACE).then(alt.value([6, 3])).otherwise(alt.value([1, 0]))
    bars = base.mark_rect(opacity=0).encode(
        x=alt.X("low:Q"), x2="high:Q", y=alt.value(0), y2=alt.value(theme.HEIGHT),
        tooltip=[*bin_tips(), *map(tip, legend.looks)],
    )  # fmt: skip
    # The bars are not seen: they make all of a bin answer to the pointer.
    return alt.layer(area.add_params(legend.choice), lines.encode(strokeDash=dashed), bars).properties(
        height=theme.HEIGHT
    )


def _maps(mechanism: Mechanism, three: dict[str, Floats]) -> tuple[Any, ...]:
    alt = altair()
    across, up = mechanism.grid.axes
    steps = [bins_per_square(axis.bins) for axis in (across, up)]
    maps = {name: coarsen(values.reshape(mechanism.grid.shape), steps) for name, values in three.items()}
    highest = max(float(values.max()) for values in maps.values())
    xs, ys = (
        edges(axis)[np.minimum(np.arange(0, axis.bins + step, step), axis.bins)]
        for axis, step in zip((across, up), steps, strict=True)
    )
    panels = []
    for name, values in maps.items():
        points = [
            {"x": xs[i], "x2": xs[i + 1], "y": ys[j], "y2": ys[j + 1], "p": float(f"{share:.4g}")}
            for (i, j), share in np.ndenumerate(values)
            if share > 0
        ]
        titles = {"x": f"{across.label} from", "x2": f"{across.label} to", "y": f"{up.label} from",
                  "y2": f"{up.label} to", "p": "probability"}  # fmt: skip
        tips = [tip(field, title, ".5~g") for field, title in titles.items()]
        right, top = width(across) * steps[0] / 10, width(up) * steps[1] / 10  # overlap, so that there are no gaps
        wider = {"right": f"datum.x2 + {right}", "top": f"datum.y2 + {top}"}
        chart = chart_of(points).transform_calculate(**wider).mark_rect(clip=True).encode(
            x=alt.X("x:Q", title=across.label).scale(domain=[xs[0], xs[-1]], nice=False).axis(grid=False, tickCount=6),
            x2="right:Q",
            y=alt.Y("y:Q", title=up.label).scale(domain=[ys[0], ys[-1]], nice=False).axis(grid=False, tickCount=6),
            y2="top:Q",
            color=alt.Color("p:Q", title="probability").scale(scheme=theme.HEAT, type="sqrt", domain=[0, highest])
            .legend(format="~g", gradientLength=160, tickCount=4, orient="top"),
            tooltip=tips,
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


def _merged(shape: tuple[int, ...]) -> str:
    steps = [bins_per_square(bins) for bins in shape]
    if max(steps) == 1:
        return ""
    return f" A square of the maps is {steps[0]} x {steps[1]} bins, which could not be told apart."


def _most_people(mechanism: Mechanism, three: dict[str, Floats]) -> list[tuple[Any, ...]]:
    order = np.argsort(-three[ORIGINAL], kind="stable")[:MOST_TABLE_ROWS]
    axes = mechanism.grid.axes
    places = mechanism.grid.bins_of(order)
    return [
        (*(axes[d].bin_label(b) for d, b in enumerate(place)), *(float(values[cell]) for values in three.values()))
        for cell, place in zip(order.tolist(), places.tolist(), strict=True)
        if three[ORIGINAL][cell] > 0
    ]
