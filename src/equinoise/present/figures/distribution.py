"""Column by column, what is released beside what was there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats
from equinoise.formatting import percent, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, tip
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.per_bin import bin_axis, bin_ends, edges, occupied_span
from equinoise.present.figures.theme import LAPLACE, ORIGINAL, RELEASED
from equinoise.statistics.baselines import cells_in_bounds
from equinoise.statistics.metrics import Marginals

LONG = 12
"""Letters of a category that leave little room beside them: names above are then one below the other from the start, as
a legend that changes its lines when all is laid out reaches out of the picture."""

LITTLE = 0.005
"""A share of what is released that need not be told of."""


def distribution(mechanism: Mechanism) -> Figure:
    """Probability of each bin of every column, original and released, and in the game by the Laplace mechanism."""
    grid = mechanism.grid
    of: dict[str, Marginals] = {ORIGINAL: mechanism.original_marginal, RELEASED: mechanism.output_marginal}
    if not mechanism.differentially_private:
        of[LAPLACE] = mechanism.laplace_marginal
    methods = mechanism.metrics(), mechanism.smoothing(), mechanism.baseline()
    ours, smoothed, local = (three_digits(each["tv" if mechanism.joint_held else "tv_2way"]) for each in methods)
    of_pairs = "" if mechanism.joint_held else ", on average over all pairs of columns,"
    words = f"What is released differs from the original{of_pairs} by a total variation of {ours} (of at most 1)."
    if LAPLACE in of:
        words += f" At the same epsilon, one draw from smoothed counts does by {smoothed}, the {LAPLACE} by {local}."
    title = f"Original and released distribution of {grid.name}"
    dashed = f", and in one draw of the {LAPLACE} at the same epsilon (dashed)" if LAPLACE in of else ""
    caption = f"How likely each bin is, in the data (grey), in one draw (blue){dashed}.{_outside(mechanism)}"
    several, panels, table = len(grid.axes) > 1, [], []
    for number, axis in enumerate(grid.axes):
        each = {name: marginal(number) for name, marginal in of.items()}
        first = (axis.label,) if several else ()
        if isinstance(axis, Axis):
            points = _points(axis, each)
            panels.append(_lines(points, axis, number, occupied_span(each[ORIGINAL])))
            ends = bin_ends(axis, np.arange(axis.bins))
            table += [(*first, *end, *(point[name] for name in of)) for end, point in zip(ends, points, strict=True)]
        else:
            labels = [printable(axis.bin_label(bin)) for bin in range(axis.bins)]
            panels.append(_bars(labels, each, axis.label, number))
            table += [(*first, label, label, *shares) for label, *shares in _rows(labels, each)]
    header = (*(("column",) if several else ()), "from", "to", *of)
    caption += "".join(_beyond(mechanism, number) for number in range(len(grid.axes)))
    return Figure("distribution", title, caption, words, tuple(panels), header, table)


def _beyond(mechanism: Mechanism, number: int) -> str:
    """How much of what is released lies beyond the bins that are drawn, where nobody is, if it is much."""
    axis = mechanism.grid.axes[number]
    if not isinstance(axis, Axis):
        return ""
    share = 1 - float(
        mechanism.output_marginal(number)[slice(*occupied_span(mechanism.original_marginal(number)))].sum()
    )
    return (
        f" Of {axis.label}, {percent(share)} of what is released lies beyond, where nobody is."
        if share > LITTLE
        else ""
    )


def _rows(firsts: list[Any], each: dict[str, Floats]) -> list[tuple[Any, ...]]:
    return list(zip(firsts, *(values.tolist() for values in each.values()), strict=True))


def _points(axis: Axis, each: dict[str, Floats]) -> list[dict[str, Any]]:
    """One for each bin: where it begins and ends, what it is called, and its probability by every name."""
    at = edges(axis).tolist()
    return [
        {"low": at[bin], "high": at[bin + 1], "bin": printable(axis.bin_label(bin)),
         **dict(zip(each, shares, strict=True))}
        for bin, shares in enumerate(zip(*(values.tolist() for values in each.values()), strict=True))
    ]  # fmt: skip


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


def _legend(names: Iterable[str], number: int, columns: int | None = None) -> Legend:
    return Legend("what", {name: (theme.COLOURS[name], "circle") for name in names}, number, columns)


def _bars(labels: list[str], each: dict[str, Floats], name: str, number: int) -> Any:
    """Bars of the categories, one below the other for each name."""
    alt = altair()
    points = [
        {"category": label, "what": what, "probability": share}
        for label, *shares in _rows(labels, each)
        for what, share in zip(each, shares, strict=True)
    ]
    legend = _legend(each, number, 1 if max(map(len, labels)) > LONG else None)
    bars = chart_of(points).mark_bar().encode(
        y=alt.Y("category:N", title=name, sort=labels), yOffset=alt.YOffset("what:N", sort=list(each)),
        x=alt.X("probability:Q", title="probability").axis(tickCount=5, format="~g"), **legend.colour,
        tooltip=[alt.Tooltip("category:N", title=name), alt.Tooltip("what:N", title="of"), tip("probability")],
    )  # fmt: skip
    height = min(theme.HEIGHT, 16 * len(points) + 12)
    return bars.add_params(legend.choice).properties(height=height)


def _lines(points: list[dict[str, Any]], axis: Axis, number: int, span: tuple[int, int]) -> Any:
    """Steps from where each bin begins, where anybody is; the last point is where the last bin ends."""
    alt, names = altair(), [each for each in points[0] if each not in {"low", "high", "bin"}]
    shown = points[slice(*span)]
    base = chart_of([*shown, {**shown[-1], "low": shown[-1]["high"]}])
    legend = _legend(names, number)
    each = base.transform_fold(names, as_=["what", "probability"]).encode(
        x=bin_axis(axis, "low", "bin"),
        y=alt.Y("probability:Q", title="probability").axis(tickCount=5, format="~g").stack(None),
        **legend.colour,
    )
    area = each.transform_filter(f"datum.what === '{ORIGINAL}'").mark_area(
        interpolate="step-after", fillOpacity=0.3, line={"strokeWidth": 1}
    )
    lines = each.transform_filter(f"datum.what !== '{ORIGINAL}'").mark_line(interpolate="step-after", strokeWidth=1.8)
    dashed = alt.when(alt.datum.what == LAPLACE).then(alt.value([6, 3])).otherwise(alt.value([1, 0]))
    bars = base.mark_rect(opacity=0).encode(
        x=alt.X("low:Q"), x2="high:Q", y=alt.value(0), y2=alt.value(theme.HEIGHT),
        tooltip=[alt.Tooltip("bin:N", title=axis.label), *map(tip, names)],
    )  # fmt: skip
    # The bars are not seen: they make all of a bin answer to the pointer.
    return alt.layer(area.add_params(legend.choice), lines.encode(strokeDash=dashed), bars).properties(
        height=theme.HEIGHT
    )
