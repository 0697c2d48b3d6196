"""The loss of a person of each bin end to end, beside the loss with everyone else's noise fixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from equinoise.analysis.audit import Audit
from equinoise.data.grid import AnyAxis
from equinoise.formatting import at_most
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import altair, level
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.pairs import Pair
from equinoise.present.figures.per_bin import people_mean_and_maximum
from equinoise.privacy.loss import PURE

PAIR = Pair(
    "loss",
    "what",
    {
        "others' noise fixed": (theme.COLOURS[theme.RELEASED], "circle"),
        "end to end": (theme.COLOURS[theme.LAPLACE], "diamond"),
    },
)


def end_to_end_figure(audit: Audit) -> Figure:
    """The worst loss of one draw of the people in each bin, others' noise fixed and end to end, against the target.

    An infinite loss is a cross at the upper edge."""
    measured, grid, cells = audit.end_to_end, audit.mechanism.grid, audit.cells()
    assert measured is not None
    bins = grid.bins_of(np.array([cell["cell"] for cell in cells]))
    people, fixed, whole = (np.array([cell[name] for cell in cells]) for name in ("people", "worst_loss", "end_to_end"))
    losses = np.concatenate([fixed, whole])
    top = 1.1 * max([*losses[np.isfinite(losses)].tolist(), audit.mechanism.epsilon])
    target = measured.target if measured.condition.kind == PURE else None
    panels, table = [], []
    for number, axis in enumerate(grid.axes):
        (occupied, many, _, one), (*_, other) = (
            people_mean_and_maximum(bins[:, number], people, values) for values in (fixed, whole)
        )
        rows = PAIR.rows(occupied, many, one, other)
        panels.append(_panel(PAIR.points(axis, rows, top), axis, top, target, number))
        table += [(*row[:-2], *map(at_most, row[-2:])) for row in PAIR.table(grid, axis, rows)]
    caption = f"{int(measured.people.sum()):,} people."
    if np.isinf(losses).any():
        caption += " Crosses: infinite."
    if target is not None:
        caption += f" The dashed line is the target, {at_most(target)}."
    by_cell = ", ".join(f"{cell['cell']}: {at_most(cell['end_to_end'])}" for cell in cells)
    title = f"Loss of one draw, end to end, for column{'s' * (len(grid.axes) > 1)} {grid.name}"
    words = f"{measured.sentence} By cell: {by_cell}."
    return Figure("end-to-end", title, caption, words, tuple(panels), PAIR.header(grid), table)


def _panel(points: list[dict[str, Any]], axis: AnyAxis, top: float, target: float | None, number: int) -> Any:
    alt = altair()
    y = alt.Y("loss:Q", title="loss of one draw").scale(domain=[0, top])
    base, choice = PAIR.chart(points, axis, y, number)
    marks = base.transform_filter("!datum.infinite").mark_point(filled=True, size=60).add_params(choice)
    crosses = base.transform_filter("datum.infinite").mark_point(angle=45, filled=True, size=160)
    rules = [] if target is None else [level(target)]
    return alt.layer(*rules, marks, crosses.encode(shape=alt.value("cross"))).properties(height=theme.HEIGHT)
