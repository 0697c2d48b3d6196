"""What the page shows of a mechanism: the promise, numbers, figures, what draws cost, and the command that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from equinoise.data.grid import number_axes
from equinoise.data.read_players import column_of
from equinoise.data.schema import Schema
from equinoise.errors import BadInput
from equinoise.explore.counts import ColumnCounts
from equinoise.explore.request import DIFFERENTIAL_PRIVACY, PageRequest
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.present.command_line import command_line
from equinoise.present.facts import facts
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.cost import cost as cost_figure
from equinoise.present.figures.cost import default_draws
from equinoise.present.figures.distribution import distribution
from equinoise.present.figures.losses import losses
from equinoise.present.figures.noise import noise
from equinoise.present.statistics_rows import HEADER, statistics_rows
from equinoise.settings import PRIVATE_RULES, USUAL_RULES


def result(mechanism: Mechanism, counts: ColumnCounts, request: PageRequest) -> dict[str, Any]:
    """What is promised, what was reached in numbers, and what the rows tell."""
    statistics = {"header": list(HEADER), "rows": [list(row.named) for row in statistics_rows(mechanism)]}
    return {
        "command": command(counts, request),
        "promise": str(mechanism.promise),
        "facts": facts(mechanism),
        "statistics": statistics,
    }


def quick_figures(mechanism: Mechanism) -> Iterator[dict[str, Any]]:
    """All figures, one after the other; of the cost, which takes longer, upper bounds that are there at once."""
    for make in (distribution, noise, losses):
        yield _json_fields(make(mechanism))
    yield cost(mechanism, quick=mechanism.costs_differ)


def cost(mechanism: Mechanism, quick: bool = False) -> dict[str, Any]:
    """The figure of what draws cost together, by bounds that are not tight if it has to be ``quick``.

    Where it would need too much memory, as on large grids, only the sentence that says so.
    """
    try:
        costs = mechanism.costs(default_draws(mechanism), tight=False) if quick else ()
        figure = cost_figure(mechanism, costs=costs)
        if quick:
            figure = replace(figure, caption="Quick upper bounds. The figures themselves follow in a moment.")
    except BadInput as error:
        title = f"What draws of {mechanism.grid.name} cost together"
        figure = Figure("cost", title, str(error), str(error), (), (), ())
    return _json_fields(figure)


def _json_fields(figure: Figure) -> dict[str, Any]:
    """A figure as a page draws it: with the style sheet's colours, as wide as its place."""
    return {
        "name": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "words": figure.alt,
        "specs": [{**spec, "config": theme.config(theme.PAGE)} for spec in figure.specs()],
        "header": list(figure.header),
        "rows": [list(row) for row in figure.rows],
    }


def command(counts: ColumnCounts, request: PageRequest) -> str:
    """The command that makes the mechanism of a request."""
    axes = [replace(axis, bins=request.bins) for axis in number_axes(counts.chosen(request.columns))]
    usual = PRIVATE_RULES if request.promise == DIFFERENTIAL_PRIVACY else USUAL_RULES
    schema = Schema(tuple(column_of(axis, axis.name in counts.public, usual) for axis in axes))
    asked = {**vars(counts), **vars(request), "bins": None}
    if request.promise != DIFFERENTIAL_PRIVACY:
        return command_line("optimize", counts.source, schema, asked, "mechanism.eq")
    rows = {"rows": request.draws, "method": EnvelopeTable.method}
    return command_line("synthesize", counts.source, schema, asked | rows, "mechanism.eq")
