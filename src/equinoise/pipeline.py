"""From rows to a certified mechanism in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from equinoise import counting, counting_units
from equinoise.choice import Choice, choose
from equinoise.engines import Engine, engine_for
from equinoise.errors import BadInput, PromiseNotMet, at_most, check, one_of
from equinoise.fixed_noise import FixedNoise, Measured
from equinoise.game import Game, always_protecting_scale, self_protecting_scale
from equinoise.grid import Axis, Grid, Histogram, JointHistogram
from equinoise.joint_fixed_noise import JointFixedNoise
from equinoise.mechanism import Mechanism
from equinoise.privacy import PURE
from equinoise.procedure import Procedure
from equinoise.solvers import Round, Solution
from equinoise.solvers.least_epsilon import least_epsilon
from equinoise.solvers.solution import AnyGame
from equinoise.unit_fixed_noise import UnitFixedNoise
from equinoise.units import UnitHistogram
from equinoise.watching import watched
from equinoise.worst_case import WorstCase

Bounds = tuple[float, float] | Mapping[str, tuple[float, float]] | None

SEVERAL_ROWS = "where people have several rows (or keep one of each with --unit-rows one)"

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
    seconds, 60). ``start`` is a profile for best
    response to start from, instead of the usual ones. ``progress`` is told of every round; True shows where the solver
    is, in a notebook or on a terminal.

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
    if guarantee == "worst-case" and unit is not None:
        check(unit_rows == "one", "unit_rows", "'one' in the worst-case tier, whatever rows people have", unit_rows)
    if start is not None:
        check(solver == "best-response", "start", "left out unless the solver is 'best-response'", "a profile")
        check(scales != "adaptive", "start", "left out with adaptive scales", "a profile")
    with engine_for(data, engine, engine_address) as reader:
        rows, grid = open_columns(
            data, column, bounds,
            bins=bins, padding_epsilon=padding_epsilon, percentile=percentile, engine=reader, unit=unit,
        )  # fmt: skip
        procedure.check_grid(grid)  # refused before anything is counted
        if len(grid.axes) > 1:
            check(guarantee == "fixed-noise", "guarantee", "'fixed-noise' with several columns", guarantee)
            check(start is None, "start", "left out with several columns", "a profile")
        least = 1 if guarantee == "worst-case" else 2
        counted = count_everyone(rows, grid, missing=missing, outside=outside, least=least, unit_rows=unit_rows)
        if unit is None:
            counting_units.warn_of_units(data, rows.columns, reader)
    public = bounds is not None and (not isinstance(bounds, Mapping) or set(rows.columns) <= set(bounds))
    settings = settings_of(
        procedure, guarantee=guarantee, columns=rows.columns, public_bounds=public, missing=missing, outside=outside,
        unit=unit, unit_rows=unit_rows,
        padding_epsilon=padding_epsilon, percentile=percentile, own_start=start is not None,
    )  # fmt: skip
    if isinstance(counted, JointHistogram):
        found = procedure.solve_jointly(counted, progress)
        if found.protected < counted.people:
            raise _not_everyone_by_best_response(found)
        return JointFixedNoise.from_solution(found, draws=draws, budget=procedure.budget, settings=settings)
    if isinstance(counted, UnitHistogram):
        check(guarantee == "fixed-noise", "guarantee", f"'fixed-noise' {SEVERAL_ROWS}", guarantee)
        check(start is None, "start", f"left out {SEVERAL_ROWS}", "a profile")
        ended = procedure.solve_units(counted, progress)
        if ended.protected < counted.people:
            raise _not_everyone_by_best_response(ended)
        return UnitFixedNoise.from_solution(ended, draws=draws, budget=procedure.budget, settings=settings)
    return make_from(
        counted, procedure, guarantee=guarantee, settings=settings, start=start, base=base, progress=progress
    )


def make_from(
    histogram: Histogram,
    procedure: Procedure,
    *,
    guarantee: str,
    settings: dict[str, Any],
    start: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    base: Sequence[float] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Mechanism:
    """The mechanism for one column that is counted already: from here on, the histogram is all that is used."""
    epsilon, draws = procedure.epsilon, procedure.draws
    if guarantee == "worst-case":
        return WorstCase.make(
            histogram, epsilon=epsilon, draws=draws, delta=procedure.delta, base=base, settings=settings
        )
    if guarantee == "end-to-end":
        chosen = choose(procedure, histogram, progress=progress)
        measured = Measured(chosen.end_to_end.worst, float(epsilon))
        return FixedNoise.from_solution(chosen.solution, draws=draws, measured=measured, settings=settings)
    solution = procedure.solve(histogram, start=start, progress=progress)
    if solution.protected < histogram.people:
        raise _not_everyone(solution, procedure.scales, progress)
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
        check(many, "delta", "0 for one draw in the worst-case tier: it is private without", procedure.delta)


def check_unit(unit: Any, unit_rows: str) -> None:
    """Refuse what cannot say whose rows are whose."""
    check(unit is None or isinstance(unit, str), "unit", "the name of a column", unit)
    check(unit_rows in {"all", "one"}, "unit_rows", "'all' or 'one'", unit_rows)
    check(unit_rows == "all" or unit is not None, "unit_rows", "left out without a unit", unit_rows)


def open_columns(
    data: Any,
    column: str | Sequence[str] | None,
    bounds: Bounds,
    *,
    bins: int,
    padding_epsilon: float,
    percentile: float,
    engine: Engine | None = None,
    unit: str | None = None,
) -> tuple[counting.Rows, Grid]:
    """The rows to count and the grid to count them on; bounds left out are read off the data, with a warning."""
    rows = counting.open_rows(data, column, engine, keep=False if unit is None else unit)
    if unit in rows.columns:
        raise BadInput(f"Column {unit!r} cannot be both the unit and what is counted.")
    given = bounds if isinstance(bounds, Mapping) else dict.fromkeys(rows.columns, bounds)
    if len(rows.columns) > 1 and bounds is not None and not isinstance(bounds, Mapping):
        raise BadInput("With several columns, bounds must be a dict: {column: (low, high), ...}.")
    strange = next((name for name in given if name not in rows.columns), None)
    if strange is not None:
        raise BadInput(f"There are bounds for column {strange!r}, which is not among {list(rows.columns)}.")
    axes = []
    for number, name in enumerate(rows.columns):
        own = given.get(name)
        low, high = counting.find_bounds(rows, number) if own is None else _two_numbers(own)
        axes.append(Axis.padded(name, low, high, bins=bins, padding_epsilon=padding_epsilon, percentile=percentile))
    return rows, Grid(tuple(axes))


def count_people(rows: counting.Rows, axis: Axis, *, missing: str, outside: str, least: int = 2) -> Histogram:
    """The histogram, if there is a distribution in it to release; ``least`` is 1 where nothing is ever compared."""
    histogram = counting.count(rows, axis, missing=missing, outside=outside)
    check_people(histogram, least)
    return histogram


def count_people_jointly(rows: counting.Rows, grid: Grid, *, missing: str, outside: str) -> JointHistogram:
    """The same for several columns."""
    histogram = counting.count_jointly(rows, grid.axes, missing=missing, outside=outside)
    _check_size(histogram.people, len(histogram.counts), f"Columns {grid.name} have")
    return histogram


def count_everyone(
    rows: counting.Rows, grid: Grid, *, missing: str, outside: str, least: int = 2, unit_rows: str = "all"
) -> Histogram | JointHistogram | UnitHistogram:
    """People per cell, or per bag of cells where someone has several rows."""
    several = len(grid.axes) > 1
    if not rows.kept:
        if several:
            return count_people_jointly(rows, grid, missing=missing, outside=outside)
        return count_people(rows, grid.axis, missing=missing, outside=outside, least=least)
    if unit_rows == "one" or several:
        if unit_rows != "one":
            raise BadInput(
                "With several columns, one row of each person can be used: say --unit-rows one (in Python, "
                "unit_rows='one')."
            )
        joint = counting_units.people_once(rows, grid.axes, missing=missing, outside=outside)
        has = f"Column{'s' * several} {grid.name} ha{'ve' if several else 's'}"
        _check_size(joint.people, len(joint.counts), has, least, units=True)
        return joint if several else joint.of_column(0)
    everyone = counting_units.people_by_bag(rows, grid.axes, missing=missing, outside=outside)
    occupied = int(np.count_nonzero(everyone.by_row.counts))
    _check_size(everyone.people, occupied, f"Column {grid.name} has", least, units=True)
    return everyone.by_row if everyone.single else everyone


def _two_numbers(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
        return low + 0.0, high + 0.0
    except (TypeError, ValueError):
        check(False, "bounds", "two numbers, (low, high)", bounds)
        raise


def check_people(histogram: Histogram, least: int = 2) -> None:
    """Refuse a histogram without a distribution in it to release."""
    occupied = int(np.count_nonzero(histogram.counts))
    _check_size(histogram.people, occupied, f"Column {histogram.grid.name} has", least)


def _check_size(people: int, occupied: int, has: str, least: int = 2, *, units: bool = False) -> None:
    """Refuse too few people, and data that all looks alike; with a ``least`` of 1, nothing but no people at all."""
    if people < least == 1:
        raise BadInput(f"{has} 0 usable values, and at least one person is needed.")
    if least == 1:
        return
    if people < 2:
        values = "usable values of 1 person" if units and people else f"{people} usable value{'s' * (people != 1)}"
        raise BadInput(
            f"{has} {values}, and at least two people are needed: a loss compares the data with and without a person."
        )
    if occupied == 1:
        name = has.rsplit(" ", 1)[0].replace("Column", "column")
        raise BadInput(
            f"All {people:,} values of {name} fall in one bin: there is no distribution to release. If they are not "
            "all equal, use narrower bounds or more bins."
        )


def _not_everyone_by_best_response(solution: Solution[Any]) -> PromiseNotMet:
    game: AnyGame = solution.game
    left_out = game.people - solution.protected
    return PromiseNotMet(
        f"Best response does not protect everyone at epsilon {at_most(game.epsilon)}: {left_out:,} of {game.people:,} "
        f"people are left unprotected. The least epsilon seen that protects everyone is "
        f"{at_most(solution.least_epsilon)}; larger scales or wider bins may do with less.",
        unprotected=left_out,
        people=game.people,
        least_epsilon=solution.least_epsilon if math.isfinite(solution.least_epsilon) else None,
    )


def _not_everyone(solution: Solution, scales: Any, progress: Callable[[Round], None] | None) -> PromiseNotMet:
    game = solution.game
    left_out = game.people - solution.protected
    if game.condition.kind != PURE:
        return PromiseNotMet(
            f"No start protects everyone: {left_out:,} of {game.people:,} people are left unprotected. Ask for a "
            "larger epsilon or delta, or offer larger scales.",
            unprotected=left_out,
            people=game.people,
        )
    least = least_epsilon(solution, progress=progress)
    theorem = _theorem(game) if game.kernel.noise == "laplace" else None
    return PromiseNotMet(
        f"The {solution.name} solver does not protect everyone at epsilon {at_most(game.epsilon)}: {left_out:,} of "
        f"{game.people:,} people are left unprotected. {least.sentence(game.epsilon, fixed=scales != 'paper')}"
        + (f" {_said_of(theorem)}" if theorem else ""),
        unprotected=left_out,
        people=game.people,
        least_epsilon=least.found if math.isfinite(least.found) else None,
        proven_above=least.proven,
        theorem=theorem,
    )


def _said_of(theorem: dict[str, Any]) -> str:
    if theorem["every_profile_protects"]:
        return "The scales meet the theorem's condition, before rounding."
    return (
        f"The scales do not meet the theorem's condition (the smallest is {theorem['smallest_scale']:.3g} of the "
        f"padded range; from {theorem['always_protecting_scale']:.3g} on, every profile protects everyone)."
    )


def _theorem(game: Game) -> dict[str, Any]:
    """What the theorem, which is about Laplace noise before rounding, says of the scales."""
    smallest = game.kernel.scales[0]
    always = always_protecting_scale(game.people, game.epsilon)
    infinite = self_protecting_scale(game.people, game.epsilon)
    return {
        "smallest_scale": smallest,
        "always_protecting_scale": always,
        "self_protecting_scale": infinite if math.isfinite(infinite) else None,
        "every_profile_protects": smallest >= always,
        "infinite_scale_protects": smallest >= infinite,
    }
