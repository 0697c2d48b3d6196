"""The loss of a person of each bin end to end, beside the loss with everyone else's noise fixed."""

from __future__ import annotations

import math

from equinoise.analysis.audit import Audit
from equinoise.formatting import at_most
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import altair, level
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.pairs import Pair
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
    """The loss of one draw of a person of each occupied cell, others' noise fixed and end to end, against the target.

    An infinite loss is a cross at the upper edge."""
    alt, measured, mechanism = altair(), audit.end_to_end, audit.mechanism
    assert measured is not None
    axis = mechanism.grid.axis
    rows = [
        (cell["from"], cell["to"], cell["people"], cell["worst_loss"], loss)
        for cell, loss in zip(audit.cells(), measured.losses.tolist(), strict=True)
    ]
    finite = [loss for row in rows for loss in row[3:] if math.isfinite(loss)]
    top = 1.1 * max([*finite, mechanism.epsilon])
    y = alt.Y("loss:Q", title="loss of one draw").scale(domain=[0, top])
    base, choice = PAIR.chart(PAIR.points(rows, top), axis.label, y, 0)
    marks = base.transform_filter("!datum.infinite").mark_point(filled=True, size=60).add_params(choice)
    crosses = base.transform_filter("datum.infinite").mark_point(angle=45, filled=True, size=160)
    crosses = crosses.encode(shape=alt.value("cross"))
    layers, caption = [marks, crosses], f"{int(measured.people.sum()):,} people."
    if len(finite) < 2 * len(rows):
        caption += " Crosses: infinite."
    if measured.condition.kind == PURE:
        layers.insert(0, level(measured.target))
        caption += f" The dashed line is the target, {at_most(measured.target)}."
    by_cell = ", ".join(
        f"{cell}: {at_most(loss)}" for cell, loss in zip(measured.cells.tolist(), measured.losses.tolist(), strict=True)
    )
    return Figure(
        "end-to-end", f"Loss of one draw, end to end, for column {axis.name!r}", caption,
        f"{measured.sentence} By cell: {by_cell}.", (alt.layer(*layers).properties(height=theme.HEIGHT),),
        PAIR.header(1), [(*row[:3], *map(at_most, row[3:])) for row in rows],
    )  # fmt: skip
