"""What the page shows: the plan, which needs no data; of a mechanism the promise, statistics and figures; what was
written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from equinoise.analysis.release import Release
from equinoise.data.grid import Axis, number_axes
from equinoise.data.make_grid import describe_bins
from equinoise.errors import BadInput
from equinoise.explore.request import SYNTHESIZE, PageRequest
from equinoise.explore.source import Source
from equinoise.formatting import printable, shell_quote
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.present.command_line import command_line
from equinoise.present.coverage_words import coverage_sentences
from equinoise.present.facts import facts
from equinoise.present.figures import Figure, make_figure, theme
from equinoise.present.figures.cost import cost as cost_figure
from equinoise.present.figures.cost import default_draws
from equinoise.present.plan_rows import (
    BASIS,
    ERRORS_TITLE,
    TABLE_TITLE,
    error_header,
    error_rows,
    step_note,
    table_rows,
    verdict,
)
from equinoise.present.statistics_rows import HEADER, HOW_TO_READ, TITLE, statistics_rows
from equinoise.synthesis.plan import Plan

NO_PEOPLE = "Say about how many people there are, as anyone may know: the plan tries bins and methods on so many."
NO_PLAN = "The game is played on the data itself, so nothing can be said of it without data."
EXAMPLE = (
    "The noise behind these pictures is an example, drawn for this page alone: rows that you make have other noise."
)
MOST_ROWS = 10
"""Of the rows that were made, that are shown."""


def plan(found: Plan | None, source: Source, request: PageRequest) -> dict[str, Any]:
    """What to expect, or why nothing is said of it; and the command that makes the same."""
    told: dict[str, Any] = {"command": command(source, request)}
    if found is None:
        return {**told, "sentence": NO_PEOPLE if request.verb == SYNTHESIZE else NO_PLAN, "tables": []}
    header, lines = table_rows(found)
    tables = [
        _table(ERRORS_TITLE, ("", *error_header(found)[1:]), error_rows(found)),
        _table(f"{TABLE_TITLE}, by epsilon and rows", header, lines),
    ]
    return {
        **told,
        "sentence": f"Plan: {found.choice.sentence}",
        "bins": describe_bins(found.grid),
        "verdict": verdict(found),
        "too_small": found.too_small,
        "basis": " ".join(filter(None, [step_note(found), BASIS])),
        "tables": [table for table in tables if table["rows"]],
    }


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    return {"title": title, "header": list(header), "rows": [list(row) for row in rows]}


def result(mechanism: Mechanism) -> dict[str, Any]:
    """What is promised, what was reached in numbers, and what the rows tell."""
    paid_once = isinstance(mechanism, PrivateTable) and mechanism.draws is None
    return {
        "promise": mechanism.promise.in_one_line,
        "in_full": str(mechanism.promise),
        "example": EXAMPLE if paid_once else "",
        "left_out": coverage_sentences(mechanism.coverage),
        "facts": facts(mechanism) if mechanism.noise else [],
        "statistics": _table(TITLE, HEADER, [row.named for row in statistics_rows(mechanism)]),
        "how_to_read": HOW_TO_READ,
    }


def quick_figures(mechanism: Mechanism) -> Iterator[dict[str, Any]]:
    """All figures, one after the other; of the cost, which takes longer, upper bounds that are there at once."""
    names = ["distribution", *(["map"] if len(number_axes(mechanism.grid.axes)) > 1 else [])]
    for name in [*names, *(["noise", "losses"] if mechanism.noise else [])]:
        yield _json_fields(make_figure(name, mechanism))
    if mechanism.noise:
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


def command(source: Source, request: PageRequest) -> str:
    """The command that makes the same of the data."""
    asked = {**vars(source), **request.settings, "unit": request.columns.unit}
    data = "DATA" if source.data is None else str(source.data)
    return command_line(request.verb, data, request.columns, asked, "mechanism.eq")


def saved(name: str) -> dict[str, Any]:
    """What was saved of the game, and what to do with it."""
    sentence = f"Saved {name}. It holds the histogram and is as secret as the data."
    file = shell_quote([name])
    return {"name": name, "sentence": sentence,
            "commands": [f"equinoise audit {file}", f"equinoise sample {file} -n 1"]}  # fmt: skip


def published(release: Release, files: Sequence[str]) -> dict[str, Any]:
    """What was written, which of it may be given away, and the first of the rows."""
    rows, secret, *counts = files
    frame: pl.DataFrame = release.rows
    given = f"{rows} has {frame.height:,} row{'s' * (frame.height != 1)}, which may be published"
    also = f", and so may {counts[0]}" if counts else ""
    first = [["" if value is None else printable(str(value)) for value in row] for row in frame.head(MOST_ROWS).rows()]
    told = [f"equinoise report {shell_quote([secret])} --out report.html"]
    if isinstance(release.mechanism, CountsTable):
        axis = release.mechanism.grid.axes[0]
        question = f"{'mean' if isinstance(axis, Axis) else 'share'}:{axis.name}"
        told.append(f"equinoise answer {shell_quote([counts[0] if counts else secret, question])}")
    return {
        "name": secret,
        "sentence": f"{given}{also}. {secret} is as secret as the data.",
        "promise": release.mechanism.promise.in_one_line,
        "left_out": coverage_sentences(release.mechanism.coverage),
        "rows": _table("The first of the rows", [printable(name) for name in frame.columns], first),
        "commands": told,
    }
