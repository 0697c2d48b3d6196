"""How much noise people get, by where they are."""

from __future__ import annotations

from typing import Any

from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.figure import Figure, altair
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.shares import edges, laplace_noise, noise_of_places, per_bin, places
from equinoise.present.figures.theme import LAPLACE
from equinoise.present.figures.ticks import plain, plainly, symlog_ticks

OWN = "this mechanism"

PAIR = Pair(
    "noise", "noise of", (OWN, LAPLACE), (theme.COLOURS[theme.RELEASED], theme.COLOURS[LAPLACE]), ("circle", "diamond")
)


def noise(mechanism: Mechanism) -> Figure:
    """Average noise bin by bin, beside the Laplace mechanism's; without noise, what weights do to each bin."""
    return _noise(mechanism) if mechanism.noise else _changes(mechanism)


def _noise(mechanism: Mechanism) -> Figure:
    panels, table, words = [], [], []
    several = len(mechanism.grid.axes) > 1
    for number, axis in enumerate(mechanism.grid.axes):
        bins, groups = places(mechanism, number)
        noises = noise_of_places(mechanism, number)
        occupied, people, means, _ = per_bin(bins, mechanism.members.people[groups], noises)
        others = laplace_noise(mechanism, number, occupied)
        rows = PAIR.rows(axis, occupied, people, means, others)
        panels.append(_points(PAIR.points(rows), axis.label, axis.width, number))
        table += [(*((axis.label,) if several else ()), *row) for row in rows]
        average = float(people @ means) / int(people.sum())
        words.append(
            f"{axis.label}: {plain(average)} on average over all people and {plain(float(means.max()))} in the bin "
            f"with most; the Laplace mechanism's {plain(float(people @ others) / int(people.sum()))} on average"
        )
    caption = (
        "How far from their own bin the people of each bin come out in a draw of theirs (root of the mean square, in "
        "the column's units), averaged over them; and how far with the Laplace mechanism. Close to zero the scale is "
        "even, above one bin's width logarithmic."
    )
    title = f"Average noise of the people in each bin of {mechanism.grid.name}"
    return Figure(
        "noise", title, caption, f"{'; '.join(words)}.", tuple(panels), PAIR.header(len(mechanism.grid.axes)), table
    )


def _points(points: list[dict[str, Any]], name: str, width: float, number: int) -> Any:
    ticks = symlog_ticks([point["noise"] for point in points], width)
    y = altair().Y("noise:Q", title=f"noise ({name})").scale(type="symlog", constant=width)
    chart, shown = PAIR.drawn(points, name, y.axis(values=ticks, format=plainly(ticks)), number)
    return chart.mark_point(filled=True, size=55).add_params(shown).properties(height=theme.HEIGHT)


def _changes(mechanism: Mechanism) -> Figure:
    """For differential privacy, which gives nobody noise of their own."""
    alt = altair()
    axis, changes = mechanism.grid.axis, mechanism.output - mechanism.original
    at, values = edges(axis), mechanism.released_values
    points = [
        {"value": float(values[b]), "low": float(at[b]), "high": float(at[b + 1]), "change": float(changes[b])}
        for b in range(axis.bins)
        if mechanism.output[b] > 0
    ]
    tips = [
        alt.Tooltip("low:Q", title="from", format=".6~g"), alt.Tooltip("high:Q", title="to", format=".6~g"),
        alt.Tooltip("change:Q", format="+.4~g"),
    ]  # fmt: skip
    chart = alt.Chart(alt.Data(values=points)).mark_rect(color=theme.COLOURS[theme.RELEASED]).encode(
        x=alt.X("low:Q", title=axis.label).scale(zero=False, nice=False).axis(grid=False, tickCount=6),
        x2="high:Q",
        y=alt.Y("change:Q", title="change of probability").axis(tickCount=5, format="~g"),
        y2=alt.datum(0),
        tooltip=tips,
    ).properties(height=theme.HEIGHT)  # fmt: skip
    most = max(points, key=lambda point: abs(point["change"]))
    return Figure(
        "noise", f"What the rule changes in each bin of {mechanism.grid.name}",
        "Nobody has noise of their own here: a public rule adds a little weight to every bin within the bounds "
        "and takes weight from bins where single people would show. The probability of a bin in a draw, minus the "
        "share of people in it.",
        f"The largest change is {most['change']:+.3g}, from {most['low']:.5g} to {most['high']:.5g}.",
        (chart,), ("from", "to", "change of probability"),
        [(point["low"], point["high"], point["change"]) for point in points],
    )  # fmt: skip
