"""How much noise people get, by where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats, number_axes
from equinoise.formatting import printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import (
    altair,
    chart_of,
    symlog_ticks,
    tick_format,
    tip,
)
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.per_bin import (
    bin_axis,
    bin_ends,
    edges,
    laplace_noise,
    noise_at_places,
    people_mean_and_maximum,
    places,
)
from equinoise.present.figures.theme import LAPLACE

OWN = "this mechanism"

DISTANCE, ANOTHER = "distance", "probability of another category"
"""What is told of a column of numbers, and of one of categories."""

PAIR = Pair(
    "noise",
    "noise of",
    {OWN: (theme.COLOURS[theme.RELEASED], "circle"), LAPLACE: (theme.COLOURS[LAPLACE], "diamond")},
)


def noise(mechanism: Mechanism) -> Figure:
    """Average noise (data units) bin by bin, beside the Laplace mechanism's; without noise, what a rule changes."""
    return _noise(mechanism) if mechanism.noise else _changes(mechanism)


def _noise(mechanism: Mechanism) -> Figure:
    panels, table, words = [], [], []
    measures = len(number_axes(mechanism.grid.axes)) < len(mechanism.grid.axes)
    for number, axis in enumerate(mechanism.grid.axes):
        bins, groups = places(mechanism, number)
        told = bins < axis.number_bins if isinstance(axis, Axis) else bins >= 0  # no distance from no value
        if not told.any():
            continue
        noises = noise_at_places(mechanism, number)[told]
        people_there = mechanism.members.people[groups[told]]
        occupied, people, means, _ = people_mean_and_maximum(bins[told], people_there, noises)
        others = laplace_noise(mechanism, number, occupied)
        rows = PAIR.rows(occupied, people, means, others)
        panels.append(_points(PAIR.points(axis, rows), axis, number))
        measure = (DISTANCE if isinstance(axis, Axis) else ANOTHER,) if measures else ()
        table += [(*row[:-2], *measure, *row[-2:]) for row in PAIR.table(mechanism.grid, axis, rows)]
        ours, theirs = (three_digits(float(people @ each) / int(people.sum())) for each in (means, others))
        where = "bin" if isinstance(axis, Axis) else "category"
        what = "" if isinstance(axis, Axis) else f"the {ANOTHER} is "
        words.append(
            f"{axis.label}: {what}{ours} on average over all people and {three_digits(float(means.max()))} in the "
            f"{where} with most; the Laplace mechanism's {theirs} on average"
        )
    *columns, ours, theirs = PAIR.header(mechanism.grid)
    header = (*columns, *(("noise is",) if measures else ()), ours, theirs)
    title = f"Average noise of the people in each bin of {mechanism.grid.name}"
    return Figure("noise", title, _caption(mechanism), f"{'; '.join(words)}.", tuple(panels), header, table)


def _caption(mechanism: Mechanism) -> str:
    numbers, sentences = number_axes(mechanism.grid.axes), []
    if numbers:
        sentences.append(
            "How far from their own bin the people of each bin come out in a draw of theirs (root of the mean square, "
            "in the column's units), averaged over them; and how far with the Laplace mechanism. Close to zero the "
            "scale is even, above one bin's width logarithmic."
        )
    if len(numbers) < len(mechanism.grid.axes):
        sentences.append(
            "For a column of categories, the probability of coming out as another category in a draw; beside it that "
            "of randomized response, which is the Laplace mechanism there."
        )
    if any(axis.categories for axis in numbers):
        sentences.append("From no value there is no distance: people without one are left out.")
    return " ".join(sentences)


def _points(points: list[dict[str, Any]], axis: AnyAxis, number: int) -> Any:
    if isinstance(axis, Axis):
        ticks = symlog_ticks([point["noise"] for point in points], axis.width)
        y = altair().Y("noise:Q", title=f"noise ({axis.label})").scale(type="symlog", constant=axis.width)
        y = y.axis(values=ticks, format=tick_format(ticks))
    else:
        y = altair().Y("noise:Q", title=ANOTHER).scale(zero=True).axis(tickCount=5, format="~g")
    chart, choice = PAIR.chart(points, axis, y, number)
    return chart.mark_point(filled=True, size=55).add_params(choice).properties(height=theme.HEIGHT)


def _changes(mechanism: Mechanism) -> Figure:
    """For differential privacy, which gives nobody noise of their own: what changes in each bin, column by column."""
    several, panels, table, words = len(mechanism.grid.axes) > 1, [], [], []
    for number, axis in enumerate(mechanism.grid.axes):
        q, p = mechanism.output_marginal(number), mechanism.original_marginal(number)
        changes = zip(bin_ends(axis, np.arange(axis.bins)), (q - p).tolist(), strict=True)
        rows = [(*ends, change) for ends, change in changes]
        panels.append(_change_chart(axis, q - p))
        table += [(*((axis.label,) if several else ()), *row) for row in rows]
        bin = int(np.abs(q - p).argmax())
        words.append(f"{f'{axis.label}: ' if several else ''}{rows[bin][2]:+.3g}, in {axis.bin_label(bin)}")
    return Figure(
        "noise", f"What the rule changes in each bin of {mechanism.grid.name}",
        "Nobody has noise of their own here: a public rule adds a little weight to every bin within the bounds "
        "and takes weight from bins where single people would show. The probability of a bin in a draw, minus the "
        "share of people in it.",
        f"The largest change is {'; '.join(words)}.",
        tuple(panels), (*(("column",) if several else ()), "from", "to", "change of probability"), table,
    )  # fmt: skip


def _change_chart(axis: AnyAxis, changes: Floats) -> Any:
    alt, at = altair(), edges(axis).tolist()
    points = [
        {"low": at[bin], "high": at[bin + 1], "bin": printable(axis.bin_label(bin)), "change": change}
        for bin, change in enumerate(changes.tolist())
    ]
    chart, colour = chart_of(points), theme.COLOURS[theme.RELEASED]
    marks = (
        chart.mark_rect(color=colour).encode(x2="high:Q") if isinstance(axis, Axis) else chart.mark_bar(color=colour)
    )
    return marks.encode(
        x=bin_axis(axis, "low", "bin"),
        y=alt.Y("change:Q", title="change of probability").axis(tickCount=5, format="~g"),
        y2=alt.datum(0),
        tooltip=[alt.Tooltip("bin:N", title=axis.label), tip("change", form="+.4~g")],
    ).properties(height=theme.HEIGHT)
