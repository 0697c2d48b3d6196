"""From rows to a certified mechanism in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equinoise.choices import (
    DecimalMark,
    EngineName,
    GridName,
    MissingRule,
    NoiseName,
    OutsideRule,
    RowsOfUnit,
    ScaleSet,
    SeparatorName,
    SolverName,
    UtilityName,
)
from equinoise.data.bounds_cost import warn_uncounted
from equinoise.data.players import Players
from equinoise.data.read_players import (
    Bounds,
    Categories,
    SchemaLike,
    Step,
    columns_asked_for,
    read_players,
    rows_of_a_person,
)
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.row_format import RowFormat
from equinoise.privacy.book_cost import Cost
from equinoise.privacy.promise import PER_INSTANCE
from equinoise.solvers import shortfall
from equinoise.solvers.procedure import Procedure, warn_of_delta
from equinoise.solvers.solution import Round
from equinoise.verbs.account import Account, BookLike
from equinoise.verbs.progress import takes_progress_flag
from equinoise.verbs.saving import Saving


@takes_progress_flag
def optimize(
    data: Any, schema: SchemaLike = None, column: str | Sequence[str] | None = None,
    *,
    epsilon: float,
    bounds: Bounds = None, step: Step = None, categories: Categories = None,
    bins: int | None = None, grid: GridName = "schema",
    noise: NoiseName = "laplace",
    scales: ScaleSet | Sequence[float] | Mapping[str, Sequence[float]] = "wide",
    scale_per_column: bool = False, utility: UtilityName = "kl",
    draws: int = 1, delta: float = 0.0, order: float | None = None,
    solver: SolverName = "best-response",
    time_limit: float | None = None, generations: int | None = None, restarts: int | None = None, seed: int = 0,
    missing: MissingRule | None = None, outside: OutsideRule | None = None,
    padding_epsilon: float = 1.0, percentile: float = 0.9,
    start: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    unit: str | None = None, unit_rows: RowsOfUnit = "all",
    engine: EngineName = "polars", engine_address: str | None = None,
    separator: SeparatorName | None = None, decimal: DecimalMark | None = None,
    save: str | Path | None = None, force: bool = False, book: BookLike = None,
    purpose: str | None = None, not_private: bool = False, progress: Callable[[Round], None] | bool | None = None,
) -> Mechanism:  # fmt: skip
    """A certified mechanism for one column about people, or several together: numbers, dates and categories.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> mechanism = optimize(people, epsilon=1, bounds=(140, 210), draws=10)
    >>> mechanism.certificate().holds, mechanism.worst_loss <= 1, len(mechanism.sample(3))
    (True, True, 3)

    One row is one person, unless ``unit`` names a column: then all rows with the same value there are one person's. Of
    these, ``unit_rows`` takes ``all`` (one scale for them, and a loss that removes them all) or ``one``, the middle.
    ``data`` is a path to a CSV, TSV or Parquet file, a folder or a pattern of them, an array, or any dataframe.
    ``schema`` is what is public about the columns (an :class:`equinoise.Schema`, a dict or the path of a TOML file).
    For a column or two, plain settings will do: ``bounds`` are public limits of the column (with several, a dict of
    them), ``step`` how far its values are apart, ``categories`` all of its values; bounds left out are read off the
    data, with a warning. ``draws`` is how many draws the mechanism may ever release. ``start`` is a profile: best
    response starts there alone, other solvers there too. ``progress`` is told of every round; True shows it. ``save``
    names a file. A ``book`` lists it, if ``not_private`` says that this is known to be no differential privacy.
    """
    assert not isinstance(progress, bool)  # watched
    procedure = Procedure(
        epsilon, noise=noise, scales=scales, utility=utility, draws=draws, delta=delta, order=order, solver=solver,
        time_limit=time_limit, generations=generations, restarts=restarts, seed=seed, scale_per_column=scale_per_column,
    )  # fmt: skip
    procedure.check_request(procedure.request(own_start=start is not None))
    Saving(save, force).check()
    account = Account.of_game(book, purpose, not_private=not_private)
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    players, counting = read_players(
        data, warn_uncounted(asked), bins=bins, grid=grid, padding_epsilon=padding_epsilon, percentile=percentile,
        most_rows=rows_of_a_person(unit_rows, asked.unit), engine=engine, engine_address=engine_address,
        separator=separator, decimal=decimal, check_grid=procedure.check_grid,
    )  # fmt: skip
    warn_of_delta(delta, players.total_people)
    with account.charging(PER_INSTANCE, PerInstance.method, players.grid.names, _cost(procedure), asked.unit) as record:
        made = play(players, procedure, {**counting, "unit_rows": unit_rows}, start=start, progress=progress)
        Saving(save, force, record).save(made, force=force)
    return made.releasing(RowFormat.of(data), coverage=players.coverage)


def _cost(procedure: Procedure) -> Cost:
    """What a book lists: epsilon of all draws together."""
    many = 1 if procedure.budget is not None else procedure.draws
    return Cost(float(many * procedure.epsilon), float(procedure.delta))


def play(
    players: Players,
    procedure: Procedure,
    counting: dict[str, Any],
    *,
    start: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Mechanism:
    """The mechanism of the game for players that were counted by some settings, which its file tells."""
    solution = procedure.solve(players, start=start, progress=progress)
    if solution.protected < players.total_people:
        raise shortfall.shortfall_error(solution, procedure.scales, progress)
    settings = {**counting, "own_start": start is not None, **procedure.to_json()}
    return PerInstance.from_solution(solution, draws=procedure.draws, budget=procedure.budget, settings=settings)
