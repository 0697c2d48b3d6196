"""Everyone's loss of one draw, by where they are; and the people hardest to protect."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.data.grid import Axis
from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.figure import Figure, altair
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.shares import per_bin, places
from equinoise.present.figures.ticks import log_domain, log_ticks

WORST, AVERAGE = "worst person", "average person"
HARDEST = 10
MOST_ROWS = 3
"""Of one person, that are listed."""

PAIR = Pair(
    "loss",
    "who",
    (WORST, AVERAGE),
    (theme.COLOURS[theme.LAPLACE], theme.COLOURS[theme.RELEASED]),
    ("diamond", "circle"),
)


def losses(mechanism: Mechanism) -> Figure:
    """The worst and the average loss of the people in each bin, against what one draw is to stay within."""
    panels, table = [], []
    several, each = len(mechanism.grid.axes) > 1, mechanism.losses()
    for number, axis in enumerate(mechanism.grid.axes):
        bins, groups = places(mechanism, number)
        occupied, people, means, largest = per_bin(bins, mechanism.members.people[groups], each[groups])
        rows = PAIR.rows(axis, occupied, people, largest, means)
        drawable = [point for point in PAIR.points(rows) if point["loss"] > 0]  # the scale is logarithmic
        panels.append(_points(drawable, axis.label, line_of(mechanism), number))
        table += [(*((axis.label,) if several else ()), *row) for row in rows]
    title = f"Loss of one draw, bin by bin of {mechanism.grid.name}"
    shares = mechanism.loss_quantiles()
    words = f"Half of the people are within {at_most(shares['0.5'])}, everyone within {at_most(shares['1'])}."
    infinite = int(mechanism.members.people[np.isinf(each)].sum())
    if infinite:
        words += f" For {infinite:,} people the loss is infinite, and not drawn."
    return Figure(
        "losses", title, _caption(mechanism), words, tuple(panels), PAIR.header(len(mechanism.grid.axes)), table
    )


def line_of(mechanism: Mechanism) -> float | None:
    """The loss that everyone is to stay within, if it is a loss that is bounded."""
    bounded = mechanism.delta == 0 and mechanism.order is None
    return mechanism.epsilon if bounded else None


def _caption(mechanism: Mechanism) -> str:
    line = line_of(mechanism)
    what = f"The dashed line is what nobody may exceed, {at_most(line)}." if line is not None else (
        "What is bounded here is not the loss itself, so there is no line."
    )  # fmt: skip
    basis = mechanism.loss_basis
    return f"How much one person's presence can show in one draw. {basis[0].upper()}{basis[1:]}. {what}"


def _points(points: list[dict[str, Any]], name: str, line: float | None, number: int) -> Any:
    alt = altair()
    heights = [point["loss"] for point in points] + ([] if line is None else [line])
    y = alt.Y("loss:Q", title="loss of one draw").scale(type="log", domain=log_domain(heights), nice=False)
    base, shown = PAIR.drawn(points, name, y.axis(values=log_ticks(heights), format="~g"), number)
    worst = base.transform_filter(f"datum.what === '{WORST}'").mark_point(filled=True, size=120)
    average = base.transform_filter(f"datum.what === '{AVERAGE}'").mark_point(filled=True, size=40)
    layers = [worst.add_params(shown), average]  # of two sizes, so that both are seen where they agree
    if line is not None:
        rule = alt.Chart(alt.Data(values=[{"line": line}])).mark_rule(strokeDash=[5, 4])
        layers.insert(0, rule.encode(y="line:Q"))
    return alt.layer(*layers).properties(height=theme.HEIGHT)


def hardest(mechanism: Mechanism, most: int = HARDEST) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The groups of people with the largest losses: where they are, how many, which scale they need."""
    each, people = mechanism.losses(), mechanism.members.people
    order = np.argsort(-each, kind="stable")[:most].tolist()
    axes, scales, rows = mechanism.grid.axes, _scales(mechanism), []
    for group in order:
        where = _where(mechanism, group)
        own = () if scales is None else (scales[group],)
        rows.append((*where, int(people[group]), *own, at_most(float(each[group]))))
    header = (*(axis.label for axis in axes), "people", *(() if scales is None else ("scale of their noise",)), "loss")
    return header, rows


def _where(mechanism: Mechanism, group: int) -> list[str]:
    """Where a person of a group is, column by column; someone with several rows, row by row."""
    axes = mechanism.grid.axes
    bag = mechanism.bags[group]
    places = mechanism.grid.bins_of(np.array([at for at, _ in bag[:MOST_ROWS]]))
    more = ["..."] if len(bag) > MOST_ROWS else []
    many = ["" if times == 1 else f" ({times:,} rows)" for _, times in bag[:MOST_ROWS]]
    found = []
    for d, axis in enumerate(axes):
        rows = [f"{_from_to(axis, at)}{said}" for at, said in zip(places[:, d].tolist(), many, strict=True)]
        found.append("; ".join([*rows, *more]))
    return found


def _from_to(axis: Axis, bin: int) -> str:
    low = axis.padded_low + bin * axis.width
    return f"{low:.5g} to {low + axis.width:.5g}"


def _scales(mechanism: Mechanism) -> list[str] | None:
    names = mechanism.scale_names()
    return None if not names else [names[index] for index in mechanism.scale_indices.tolist()]
