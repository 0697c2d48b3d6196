"""From rows to rows that may be published, with differential privacy, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from equinoise.data.players import Players
from equinoise.data.read_players import (
    Bounds,
    Categories,
    SchemaLike,
    Step,
    columns_asked_for,
    outside_rule,
    read_players,
)
from equinoise.data.schema import Column, Schema
from equinoise.errors import BadInput, WeakPromiseWarning
from equinoise.formatting import at_most, join_and
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.mechanisms.private_table import PrivateTable, check_private_grid
from equinoise.mechanisms.release import Release
from equinoise.mechanisms.row_format import RowFormat
from equinoise.mechanisms.saved_file import charged
from equinoise.settings import MOST_TOTAL_EPSILON, PRIVATE_RULES, check_settings
from equinoise.solvers.procedure import warn_of_delta
from equinoise.solvers.solution import Round, tell
from equinoise.verbs.progress import takes_progress_flag


@takes_progress_flag
def synthesize(
    data: Any,
    schema: SchemaLike = None,
    *,
    epsilon: float,
    rows: int | str,
    delta: float = 0.0,
    method: str | None = None,
    column: str | Sequence[str] | None = None,
    bounds: Bounds = None, step: Step = None, categories: Categories = None,
    bins: int | None = None,
    missing: str | None = None, outside: str | None = None,
    base: Sequence[float] | None = None,
    unit: str | None = None, rows_per_person: int = 1,
    engine: str = "polars", engine_address: str | None = None,
    separator: str | None = None, decimal: str | None = None,
    save: str | Path | None = None, force: bool = False,
    progress: Callable[[Round], None] | bool | None = None,
) -> Release:  # fmt: skip
    """Rows of a table about people that may be published: differential privacy for everything that comes out.

    ``epsilon`` (with ``delta``, which only a few rows of the envelope use) is for all ``rows`` together, and for later
    ones. ``rows`` may be ``same``: about as many as there are people, by the noisy counts. A ``schema``, or ``bounds``
    and ``categories``, must say what is public; values outside are clipped to the bounds and rows with missing ones
    dropped, unless it says otherwise. With a ``unit``, at most ``rows_per_person`` rows of one person count. ``save``
    names the file of the mechanism, where what is paid stands before anything is drawn. ``base`` may say where to
    expect people, one number for each cell, the last column's bins running fastest. The other settings are those of
    :func:`equinoise.optimize`.

    >>> import polars as pl
    >>> stays = pl.DataFrame({"days": [1, 2, 2, 3, 3, 3, 4, 9] * 40, "ward": ["a", "b"] * 160})
    >>> public = {"columns": {"days": {"bounds": [0, 30], "step": 1}, "ward": {"categories": ["a", "b"]}}}
    >>> release = synthesize(stays, public, epsilon=1, rows=200)
    >>> release.rows.shape, release.rows.columns
    ((200, 2), ['days', 'ward'])
    >>> print(release.promise.in_one_line)
    Differential privacy with epsilon 1 for everything in this release, one person added or removed.
    """
    assert not isinstance(progress, bool)  # watched
    given = {"epsilon": epsilon, "rows": rows, "delta": delta, "rows_per_person": rows_per_person}
    check_settings({**given, "method": method, "unit": unit})
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    check_public(asked)
    check_settings({"unit": asked.unit, "rows_per_person": rows_per_person})
    chosen = method or _method(rows, epsilon)
    if chosen == EnvelopeTable.method and isinstance(rows, str):
        raise BadInput("As many rows as there are people can only be told by noisy counts: --method pay-once.")
    players, counting = read_players(
        data, Schema(tuple(map(_without_refusals, asked.columns)), asked.unit), column=None, bounds=None, step=None,
        categories=None, grid="schema", bins=bins, missing=None, outside=None, padding_epsilon=1.0, percentile=0.9,
        unit=None, most_rows=rows_per_person, engine=engine, engine_address=engine_address, separator=separator,
        decimal=decimal, check_grid=check_private_grid, least=1,
    )  # fmt: skip
    warn_of_delta(delta, players.total_people)
    _warn_of_epsilon(epsilon)
    settings = {
        **counting, "rows": rows, "method": method, "rows_per_person": rows_per_person,
        "epsilon": float(epsilon), "delta": float(delta),
    }  # fmt: skip
    made: PrivateTable
    if isinstance(rows, int) and chosen == EnvelopeTable.method:
        tell(progress, "Working out the weights")
        made = EnvelopeTable.make(
            players, epsilon=epsilon, rows=rows, delta=delta, base=base, rows_per_person=rows_per_person,
            settings=settings,
        )  # fmt: skip
        if save is not None:
            made.save(save, force=force)
    else:
        made = paid = _paid_once(players, epsilon, rows_per_person, settings, save, force, progress)
        rows = rows if isinstance(rows, int) else paid.rows_alike
    made = made.releasing(RowFormat.of(data))
    tell(progress, "Drawing rows")
    return Release(made.sample(rows), made)


def _method(rows: int | str, epsilon: float) -> str:
    return EnvelopeTable.method if isinstance(rows, int) and rows <= 5 else CountsTable.method


def _paid_once(
    players: Players, epsilon: float, rows_per_person: int, settings: dict[str, Any], save: str | Path | None,
    force: bool, progress: Callable[[Round], None] | None,
) -> CountsTable:  # fmt: skip
    """Noisy counts, which the file says are paid for, durably, before the noise is drawn."""
    price = f"epsilon {at_most(epsilon)} for the noisy counts of {players.grid.name}"
    with nullcontext() if save is None else charged(Path(save), price, force=force):
        tell(progress, "Drawing noise for every cell, and estimating the table from the noisy counts")
        made = CountsTable.make(players, epsilon=epsilon, rows_per_person=rows_per_person, settings=settings)
        if save is not None:
            made.save(save, force=True)
    return made


def _without_refusals(column: Column) -> Column:
    """A column whose values outside are clipped (or dropped, if categories) and whose missing ones are dropped, where
    nothing was said of them: a refusal would tell of one person."""
    outside = outside_rule(PRIVATE_RULES["outside"], column.categories is None)
    return replace(column, missing=column.missing or PRIVATE_RULES["missing"], outside=column.outside or outside)


def _warn_of_epsilon(epsilon: float) -> None:
    if epsilon > MOST_TOTAL_EPSILON:
        warnings.warn(
            f"An epsilon of {at_most(epsilon)} promises next to nothing: what is released may be e^{epsilon:.3g} times "
            "as likely with a person as without. Epsilons of 1 or less are usual for data about people.",
            WeakPromiseWarning,
            stacklevel=4,
        )


def check_public(schema: Schema) -> None:
    """Refuse a schema that is not all public: nothing could be promised of what was read off the data."""
    blank = [column.name for column in schema.columns if not column.is_complete]
    if blank:
        raise BadInput(
            "Differential privacy needs --bounds or --categories (in Python, bounds= or categories=), or a schema: "
            "bounds read off the data depend on one person."
        )
    if schema.peeked:
        raise BadInput(
            f"By the schema, {join_and(schema.peeked)} came from the data and so from single people: nothing can be "
            "promised. Write down what is public instead, and delete 'peeked'."
        )
