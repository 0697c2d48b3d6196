"""How much noise people get, by where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.formatting import three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import (
    altair,
    bin_tips,
    chart_of,
    symlog_ticks,
    tick_format,
    tip,
    value_axis,
)  # fmt: skip
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.per_bin import (
    edges,
    laplace_noise,
    noise_at_places,
    people_mean_and_maximum,
    places,
    width,
)
from equinoise.present.figures.theme import LAPLACE

OWN = "this mechanism"

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
    for number, axis in enumerate(mechanism.grid.axes):
        bins, groups = places(mechanism, number)
        noises = noise_at_places(mechanism, number)
        occupied, people, means, _ = people_mean_and_maximum(bins, mechanism.members.people[groups], noises)
        others = laplace_noise(mechanism, number, occupied)
        rows = PAIR.rows(axis, occupied, people, means, others)
        panels.append(_points(PAIR.points(rows), axis.label, width(axis), number))
        table += PAIR.table(mechanism.grid, axis, rows)
        ours, theirs = (three_digits(float(people @ each) / int(people.sum())) for each in (means, others))
        words.append(
            f"{axis.label}: {ours} on average over all people and {three_digits(float(means.max()))} in the bin with "
            f"most; the Laplace mechanism's {theirs} on average"
        )
    caption = (
        "How far from their own bin the people of each bin come out in a draw of theirs (root of the mean square, in "
        "the column's units), averaged over them; and how far with the Laplace mechanism. Close to zero the scale is "
        "even, above one bin's width logarithmic."
    )
    title = f"Average noise of the people in each bin of {mechanism.grid.name}"
    return Figure("noise", title, caption, f"{'; '.join(words)}.", tuple(panels), PAIR.header(mechanism.grid), table)


def _points(points: list[dict[str, Any]], name: str, width: float, number: int) -> Any:
    ticks = symlog_ticks([point["noise"] for point in points], width)
    y = altair().Y("noise:Q", title=f"noise ({name})").scale(type="symlog", constant=width)
    chart, choice = PAIR.chart(points, name, y.axis(values=ticks, format=tick_format(ticks)), number)
    return chart.mark_point(filled=True, size=55).add_params(choice).properties(height=theme.HEIGHT)


def _changes(mechanism: Mechanism) -> Figure:
    """For differential privacy, which gives nobody noise of their own: what changes in each bin, column by column."""
    several, panels, table, words = len(mechanism.grid.axes) > 1, [], [], []
    for number, axis in enumerate(mechanism.grid.axes):
        q, p = mechanism.output_marginal(number), mechanism.original_marginal(number)
        at = edges(axis).tolist()
        rows = list(zip(at[:-1], at[1:], (q - p).tolist(), strict=True))
        panels.append(_change_chart(rows, axis.label))
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


def _change_chart(rows: list[tuple[float, float, float]], name: str) -> Any:
    points = [dict(zip(("low", "high", "change"), row, strict=True)) for row in rows]
    alt = altair()
    return chart_of(points).mark_rect(color=theme.COLOURS[theme.RELEASED]).encode(
        x=value_axis("low", name),
        x2="high:Q",
        y=alt.Y("change:Q", title="change of probability").axis(tickCount=5, format="~g"),
        y2=alt.datum(0),
        tooltip=[*bin_tips(), tip("change", form="+.4~g")],
    ).properties(height=theme.HEIGHT)  # fmt: skip
