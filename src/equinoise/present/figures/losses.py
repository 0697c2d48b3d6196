"""Everyone's loss of one draw, by where they are; and the people hardest to protect."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis
from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import altair, level, log_y
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.per_bin import people_mean_and_maximum, places

WORST, AVERAGE = "worst person", "average person"
HARDEST = 10
ROWS_LISTED = 3
"""Of one person, that are listed."""

PAIR = Pair(
    "loss",
    "who",
    {
        WORST: (theme.COLOURS[theme.LAPLACE], "diamond"),
        AVERAGE: (theme.COLOURS[theme.RELEASED], "circle"),
    },
)


def losses(mechanism: Mechanism) -> Figure:
    """The worst and the average loss of one draw of the people in each bin, against what it is to stay within."""
    panels, table = [], []
    each = mechanism.losses()
    for number, axis in enumerate(mechanism.grid.axes):
        bins, groups = places(mechanism, number)
        occupied, people, means, largest = people_mean_and_maximum(bins, mechanism.members.people[groups], each[groups])
        rows = PAIR.rows(occupied, people, largest, means)
        drawable = [point for point in PAIR.points(axis, rows) if point["loss"] > 0]  # the scale is logarithmic
        panels.append(_points(drawable, axis, loss_limit(mechanism), number))
        table += PAIR.table(mechanism.grid, axis, rows)
    title = f"Loss of one draw, bin by bin of {mechanism.grid.name}"
    shares = mechanism.loss_quantiles()
    words = f"Half of the people are within {at_most(shares['0.5'])}, everyone within {at_most(shares['1'])}."
    infinite = int(mechanism.members.people[np.isinf(each)].sum())
    if infinite:
        words += f" For {infinite:,} people the loss is infinite, and not drawn."
    return Figure("losses", title, _caption(mechanism), words, tuple(panels), PAIR.header(mechanism.grid), table)


def loss_limit(mechanism: Mechanism) -> float | None:
    """The loss that everyone is to stay within, if it is a loss that is bounded."""
    bounded = mechanism.delta == 0 and mechanism.order is None
    return mechanism.epsilon if bounded else None


def _caption(mechanism: Mechanism) -> str:
    line = loss_limit(mechanism)
    what = f"The dashed line is what nobody may exceed, {at_most(line)}." if line is not None else (
        "What is bounded here is not the loss itself, so there is no line."
    )  # fmt: skip
    basis = mechanism.loss_basis
    return f"How much one person's presence can show in one draw. {basis[0].upper()}{basis[1:]}. {what}"


def _points(points: list[dict[str, Any]], axis: AnyAxis, line: float | None, number: int) -> Any:
    heights = [point["loss"] for point in points] + ([] if line is None else [line])
    base, choice = PAIR.chart(points, axis, log_y("loss", "loss of one draw", heights), number)
    worst = base.transform_filter(f"datum.what === '{WORST}'").mark_point(filled=True, size=120)
    average = base.transform_filter(f"datum.what === '{AVERAGE}'").mark_point(filled=True, size=40)
    layers = [worst.add_params(choice), average]  # of two sizes, so that both are seen where they agree
    rules = [] if line is None else [level(line)]
    return altair().layer(*rules, *layers).properties(height=theme.HEIGHT)


def hardest_groups(mechanism: Mechanism, most: int = HARDEST) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """A table of the groups of people with the largest losses: where they are, how many, which scale they need."""
    each, people, names = mechanism.losses(), mechanism.members.people, mechanism.scale_names()
    rows = [
        (
            *_where(mechanism, group),
            int(people[group]),
            *([names[mechanism.scale_indices[group]]] if names else []),
            at_most(float(each[group])),
        )
        for group in np.argsort(-each, kind="stable")[:most].tolist()
    ]
    labels = [axis.label for axis in mechanism.grid.axes]
    return (*labels, "people", *(["scale of their noise"] if names else []), "loss"), rows


def _where(mechanism: Mechanism, group: int) -> list[str]:
    """Where a person of a group is, column by column; someone with several rows, row by row."""
    bag = mechanism.bags[group]
    places = mechanism.grid.bins_of(np.array([at for at, _ in bag[:ROWS_LISTED]]))
    more = ["..."] if len(bag) > ROWS_LISTED else []
    times = ["" if many == 1 else f" ({many:,} rows)" for _, many in bag[:ROWS_LISTED]]
    return [
        "; ".join([*map("{}{}".format, (axis.bin_label(at) for at in places[:, d].tolist()), times), *more])
        for d, axis in enumerate(mechanism.grid.axes)
    ]
