"""From rows to differentially private weights in one call: a public rule, and no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from equinoise.data.read_players import Bounds, Categories, SchemaLike, Step, columns_asked_for, read_players
from equinoise.data.schema import Schema
from equinoise.errors import BadInput, check
from equinoise.formatting import join_and
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable, check_private_grid
from equinoise.mechanisms.row_format import RowFormat
from equinoise.settings import check_settings
from equinoise.solvers.procedure import warn_of_delta
from equinoise.solvers.solution import Round, tell
from equinoise.verbs.progress import takes_progress_flag


@takes_progress_flag
def synthesize(
    data: Any,
    schema: SchemaLike = None,
    *,
    epsilon: float,
    column: str | None = None,
    bounds: Bounds = None, step: Step = None, categories: Categories = None,
    bins: int | None = None, grid: str = "schema",
    draws: int = 1, delta: float = 0.0,
    missing: str | None = None, outside: str | None = None,
    padding_epsilon: float = 1.0, percentile: float = 0.9,
    base: Sequence[float] | None = None,
    unit: str | None = None, unit_rows: str = "all",
    engine: str = "polars", engine_address: str | None = None,
    separator: str | None = None, decimal: str | None = None,
    progress: Callable[[Round], None] | bool | None = None,
) -> Mechanism:  # fmt: skip
    """A differentially private mechanism for columns about people, certified for every dataset.

    No game is played: a public rule of epsilon, the grid and draws gives every cell a weight. A ``schema``, ``bounds``
    or ``categories`` must be given. ``base`` may say where to expect people, one number for each cell, the last
    column's bins running fastest. With a ``unit``, ``unit_rows`` must be ``one``. The paper's ``grid`` is refused: it
    has cells that nobody can be in. The other settings are those of :func:`equinoise.optimize`.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> mechanism = synthesize(people, epsilon=1, bounds=(140, 210))
    >>> mechanism.kind, mechanism.certificate().holds, len(mechanism.sample(1))
    ('differential-privacy', True, 1)
    """
    assert not isinstance(progress, bool)  # watched
    check_settings({"epsilon": epsilon, "draws": draws, "delta": delta})
    check(draws > 1 or delta == 0, "delta", "0 for one draw with differential privacy, which needs none", delta)
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    check_public(asked)
    unit = asked.unit
    one = unit is None or unit_rows == "one"
    check(one, "unit_rows", "'one' with differential privacy, whatever rows people have", unit_rows)
    players, counting = read_players(
        data, asked, column=None, bounds=None, step=None, categories=None, grid=grid,
        bins=bins, missing=None, outside=None, padding_epsilon=padding_epsilon, percentile=percentile, unit=unit,
        unit_rows=unit_rows, engine=engine, engine_address=engine_address, separator=separator, decimal=decimal,
        check_grid=check_private_grid, least=1,
    )  # fmt: skip
    warn_of_delta(delta, players.total_people)
    tell(progress, "Working out the weights")
    made = PrivateTable.make(players, epsilon=epsilon, draws=draws, delta=delta, base=base, settings=counting)
    return made.releasing(RowFormat.of(data))


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
