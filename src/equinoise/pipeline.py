"""From rows to a certified mechanism in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from equinoise import shortfall
from equinoise.choice import Choice, choose
from equinoise.engines import engine_for
from equinoise.errors import BadInput, WeakPromiseWarning, at_most, check, one_of
from equinoise.fixed_noise import FixedNoise
from equinoise.game import Players
from equinoise.mechanism import Mechanism
from equinoise.people import Bounds, all_public, count_everyone, open_columns
from equinoise.procedure import Procedure
from equinoise.quantities import Measured
from equinoise.repeats import warn_of_repeats
from equinoise.solvers import Round
from equinoise.watching import watched
from equinoise.worst_case import WorstCase

TIERS = ("fixed-noise", "end-to-end", "worst-case")


@watched
def optimize(
    data: Any,
    *,
    epsilon: float,
    guarantee: str = "fixed-noise",
    column: str | Sequence[str] | None = None,
    bounds: Bounds = None,
    bins: int = 101,
    noise: str = "laplace",
    scales: str | Sequence[float] | Mapping[str, Sequence[float]] = "wide",
    per_axis: bool = False,
    utility: str = "kl",
    draws: int = 1,
    delta: float = 0.0,
    renyi: float | None = None,
    solver: str = "best-response",
    time_limit: float | None = None,
    generations: int | None = None,
    restarts: int | None = None,
    seed: int = 0,
    missing: str = "refuse",
    outside: str = "refuse",
    padding_epsilon: float = 1.0,
    percentile: float = 0.9,
    start: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    base: Sequence[float] | None = None,
    unit: str | None = None,
    unit_rows: str = "all",
    engine: str = "polars",
    engine_address: str | None = None,
    progress: Callable[[Round], None] | bool | None = None,
) -> Mechanism:
    """A certified mechanism for one column of numbers about people, or several together.

    One row is one person, unless ``unit`` names a column: then all rows with the same value there are one person's. Of
    these, ``unit_rows`` takes ``all`` (one scale for them, and a loss that removes them all) or ``one``, the middle.

    ``data`` is a path to a CSV, TSV or Parquet file, a folder or a pattern of them, an array, or any dataframe.
    ``engine`` reads the files: ``polars``, ``duckdb``, ``dask`` or ``spark``, the last two also at the
    ``engine_address`` of a running scheduler or master. ``bounds`` are public limits of the column (with several, a
    dict of them); left out, they are read off the data, with a warning. With several
    columns a person's scale applies to all of them, or with ``per_axis`` to each its own. ``draws`` is how many draws
    the mechanism may ever release. ``guarantee`` is the tier of what is promised: ``fixed-noise`` (the game),
    ``end-to-end`` (the game, with a loss that is also measured with the noise worked out again) or ``worst-case``
    (differential privacy; there is no game, so its settings do not apply, bounds must be given, and ``base`` may say
    where to expect people, one number for each cell within the bounds). ``noise`` is a family (``laplace``,
    ``gaussian``, ``geometric``, ``staircase`` or ``uniform-mixture``), ``scales`` is ``wide``, ``adaptive`` (new ones
    next to those in use, while that pays), ``paper`` or a list in data units. ``utility`` says what closeness is:
    ``kl``, ``js``, ``tv``, ``wasserstein`` or ``moments:N``. ``solver`` is ``best-response`` (the best of so many
    ``restarts``, 8), ``genetic`` (with a number of ``generations``, 270) or ``optimal`` (with a ``time_limit`` in
    seconds, 60). ``start`` is a profile to start from: best response starts there alone, the other solvers there too.
    ``progress`` is told of every round; True shows where the solver is, in a notebook or on a terminal.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> mechanism = optimize(people, epsilon=1, bounds=(140, 210), draws=10)
    >>> mechanism.certificate().holds, mechanism.worst_loss <= 1, len(mechanism.sample(3))
    (True, True, 3)
    """
    assert not isinstance(progress, bool)  # watched
    procedure = Procedure(
        epsilon, noise=noise, scales=scales, utility=utility, draws=draws, delta=delta, renyi=renyi, solver=solver,
        time_limit=time_limit, generations=generations, restarts=restarts, seed=seed, per_axis=per_axis,
    )  # fmt: skip
    check_guarantee(guarantee, procedure, bounds, start, base)
    check_unit(unit, unit_rows)
    if guarantee != "fixed-noise" and unit is not None:
        check(unit_rows == "one", "unit_rows", f"'one' in the {guarantee} tier, whatever rows people have", unit_rows)
    procedure.check_request(procedure.request(own_start=start is not None))
    with engine_for(data, engine, engine_address) as reader:
        rows, grid = open_columns(
            data, column, bounds,
            bins=bins, padding_epsilon=padding_epsilon, percentile=percentile, engine=reader, unit=unit,
        )  # fmt: skip
        procedure.check_grid(grid)  # refused before anything is counted
        check_columns(guarantee, len(grid.axes))
        least = 1 if guarantee == "worst-case" else 2
        counted = count_everyone(rows, grid, missing=missing, outside=outside, least=least, unit_rows=unit_rows)
        if unit is None:
            warn_of_repeats(data, rows.columns)
    if delta * counted.total_people >= 1:
        warnings.warn(
            f"A delta of {at_most(delta)} is no less than one divided by the number of people: even giving somebody's "
            "value away could keep this promise. Take one far below that, such as 1e-6 for thousands of people.",
            WeakPromiseWarning,
            stacklevel=4,
        )
    settings = settings_of(
        procedure, guarantee=guarantee, columns=rows.columns,
        public_bounds=all_public(bounds, rows.columns), missing=missing, outside=outside,
        unit=unit, unit_rows=unit_rows,
        padding_epsilon=padding_epsilon, percentile=percentile, own_start=start is not None,
    )  # fmt: skip
    return make_from(
        counted, procedure, guarantee=guarantee, settings=settings, start=start, base=base, progress=progress
    )


def make_from(
    players: Players,
    procedure: Procedure,
    *,
    guarantee: str,
    settings: dict[str, Any],
    start: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    base: Sequence[float] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Mechanism:
    """The mechanism for data that is counted already: from here on, the players are all that is used."""
    epsilon, draws = procedure.epsilon, procedure.draws
    if guarantee == "worst-case":
        return WorstCase.make(
            players.histogram, epsilon=epsilon, draws=draws, delta=procedure.delta, base=base, settings=settings
        )
    if guarantee == "end-to-end":
        chosen = choose(procedure, players, progress=progress)
        measured = Measured(chosen.end_to_end.worst, float(epsilon))
        return FixedNoise.from_solution(chosen.solution, draws=draws, measured=measured, settings=settings)
    solution = procedure.solve(players, start=start, progress=progress)
    if solution.protected < players.total_people:
        raise shortfall.not_everyone(solution, procedure.scales, progress)
    return FixedNoise.from_solution(solution, draws=draws, budget=procedure.budget, settings=settings)


def settings_of(
    procedure: Procedure, *, guarantee: str, columns: Sequence[str], public_bounds: bool, missing: str, outside: str,
    unit: str | None = None, unit_rows: str = "all", padding_epsilon: float = 1.0, percentile: float = 0.9,
    own_start: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """How a mechanism came about, as its file tells it."""
    return {
        "guarantee": guarantee,
        "column": columns[0] if len(columns) == 1 else list(columns),
        "public_bounds": public_bounds,
        "missing": missing,
        "outside": outside,
        "unit": unit,
        "unit_rows": unit_rows,
        "padding_epsilon": float(padding_epsilon),
        "percentile": float(percentile),
        "own_start": own_start,
        **procedure.to_json(),
    }


def check_guarantee(guarantee: str, procedure: Procedure, bounds: Any, start: Any = None, base: Any = None) -> None:
    """Refuse settings that the tier has no use for, and what it cannot do without."""
    check(guarantee in TIERS, "guarantee", one_of(TIERS), guarantee)
    if guarantee != "fixed-noise" and bounds is None:
        raise BadInput(
            f"The {guarantee} tier needs --bounds (in Python, bounds=): bounds read off the data depend on one person."
        )
    check(base is None or guarantee == "worst-case", "base", "left out unless guarantee is 'worst-case'", "a base")
    if guarantee == "end-to-end":
        check(start is None, "start", "left out in the end-to-end tier", "a profile")
        Choice(procedure)  # refuses what it cannot choose among
    if guarantee == "worst-case":
        plain = Procedure(procedure.epsilon, draws=procedure.draws, delta=procedure.delta, seed=procedure.seed)
        given = [name for name, value in vars(procedure).items() if value != getattr(plain, name)]
        for name in [*given, *(["start"] if start is not None else [])]:
            check(False, name, "left out in the worst-case tier, which has no game", getattr(procedure, name, start))
        many = procedure.draws > 1 or procedure.delta == 0
        check(many, "delta", "0 for one draw in the worst-case tier, which needs none", procedure.delta)


def check_columns(guarantee: str, columns: int) -> None:
    """Refuse several columns in a tier that takes one."""
    only = "'fixed-noise' with several columns, which no other tier takes"
    check(columns == 1 or guarantee == "fixed-noise", "guarantee", only, guarantee)


def check_unit(unit: Any, unit_rows: str) -> None:
    """Refuse what cannot say whose rows are whose."""
    check(unit is None or isinstance(unit, str), "unit", "the name of a column", unit)
    check(unit_rows in {"all", "one"}, "unit_rows", "'all' or 'one'", unit_rows)
    check(unit_rows == "all" or unit is not None, "unit_rows", "left out without a unit", unit_rows)
