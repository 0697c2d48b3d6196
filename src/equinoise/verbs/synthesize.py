"""From rows to rows that may be published, with differential privacy, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from equinoise.analysis.release import Release
from equinoise.choices import DecimalMark, EngineName, MethodName, MissingRule, OutsideRule, SameRows, SeparatorName
from equinoise.data.bounds_cost import epsilon_left
from equinoise.data.read_players import (
    Bounds,
    Categories,
    SchemaLike,
    Step,
    check_bins,
    columns_asked_for,
    read_players,
    takes_bins,
)
from equinoise.mechanisms.model_table import ModelTable
from equinoise.mechanisms.row_format import RowFormat
from equinoise.solvers.solution import Round, tell
from equinoise.verbs.account import Account, BookLike
from equinoise.verbs.progress import takes_progress_flag
from equinoise.verbs.saving import Saving
from equinoise.verbs.table_request import TableRequest, check_table_grid, public_columns


@takes_progress_flag
def synthesize(
    data: Any,
    schema: SchemaLike = None,
    column: str | Sequence[str] | None = None,
    *,
    epsilon: float,
    rows: int | SameRows,
    delta: float = 0.0,
    people: int | None = None,
    method: MethodName | None = None,
    bounds: Bounds = None, step: Step = None, categories: Categories = None,
    bins: int | None = None,
    missing: MissingRule | None = None, outside: OutsideRule | None = None,
    base: Sequence[float] | None = None,
    unit: str | None = None, rows_per_person: int = 1,
    engine: EngineName = "polars", engine_address: str | None = None,
    separator: SeparatorName | None = None, decimal: DecimalMark | None = None,
    save: str | Path | None = None, force: bool = False,
    book: BookLike = None, purpose: str | None = None,
    progress: Callable[[Round], None] | bool | None = None,
) -> Release:  # fmt: skip
    """Rows of a table about people that may be published: differential privacy for everything that comes out.

    >>> import polars as pl
    >>> stays = pl.DataFrame({"days": [1, 2, 2, 3, 3, 3, 4, 9] * 40, "ward": ["a", "b"] * 160})
    >>> public = {"columns": {"days": {"bounds": [0, 30], "step": 1}, "ward": {"categories": ["a", "b"]}}}
    >>> release = synthesize(stays, public, epsilon=1, rows=200)
    >>> release.rows.shape, release.rows.columns
    ((200, 2), ['days', 'ward'])
    >>> print(release.promise.in_one_line)
    Differential privacy with epsilon 1 for everything in this release, one person added or removed.

    ``epsilon`` (with ``delta``, which the envelope and AIM use) is for all ``rows`` together, and for later ones.
    ``rows`` may be ``same``, about as many as there are people. A ``schema``, or ``bounds`` and ``categories``, must
    say what is public; values outside are clipped and rows with missing ones dropped, unless it says otherwise. With
    ``people``, about how many there are as anyone may know, method and bins are those of :func:`equinoise.plan`; data
    never decides them.
    ``save`` names the mechanism's file, where what is paid stands before anything is drawn. ``base`` may say where to
    expect people, a number for each cell, the last column's bins running fastest. A ``book`` is charged before that.
    """
    assert not isinstance(progress, bool)  # watched
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    request = TableRequest(
        epsilon=epsilon_left(epsilon, asked), rows=rows, delta=delta, method=method, people=people, unit=asked.unit,
        rows_per_person=rows_per_person, base=base,
    )  # fmt: skip
    Saving(save, force).check()
    account = Account.of(book, purpose)
    check_bins(asked, bins)
    choice = request.choose(public_columns(asked), bins, progress)
    players, counting = read_players(
        data, choice.schema, bins=bins if takes_bins(choice.schema) else None, joint=choice.method != ModelTable.method,
        most_rows=rows_per_person, least=0, check_grid=partial(check_table_grid, method=choice.method), engine=engine,
        engine_address=engine_address, separator=separator, decimal=decimal,
    )  # fmt: skip
    with account.charging_table(choice.method, choice.schema, request.cost(choice)) as record:
        made = request.make(players, counting, choice, Saving(save, force, record), progress)
    made = made.releasing(RowFormat.of(data).plain, coverage=players.coverage)
    tell(progress, "Drawing rows")
    return Release.of(made, made.sample(made.rows_alike if isinstance(rows, str) else rows))
