"""From rows to a certified mechanism in one call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equinoise import counting
from equinoise.accounting import Budget
from equinoise.draws import MOST_DRAWS
from equinoise.errors import BadInput, PromiseNotMet, at_most, check, is_whole, one_of
from equinoise.game import Game, always_protecting_scale, self_protecting_scale
from equinoise.grid import Axis, Histogram, Ints
from equinoise.mechanism import Mechanism
from equinoise.noise import check_noise, make_kernel, scale_set
from equinoise.privacy import LEAST_DELTA, LEAST_EPSILON, LEAST_RENYI, MOST_ORDER, PURE
from equinoise.solvers import Round, Solution
from equinoise.solvers.adaptive import adaptive
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.least_epsilon import least_epsilon
from equinoise.solvers.many_draws import improved_within_budget, within_budget
from equinoise.utility import named

SOLVERS = ("best-response", "genetic", "optimal")


def optimize(
    data: Any,
    *,
    epsilon: float,
    column: str | None = None,
    bounds: tuple[float, float] | None = None,
    bins: int = 101,
    noise: str = "laplace",
    scales: str | Sequence[float] = "wide",
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
    progress: Callable[[Round], None] | None = None,
) -> Mechanism:
    """A certified mechanism for one column of numbers about people, one row a person.

    ``data`` is a path to a CSV, TSV or Parquet file, an array, or any dataframe. ``bounds`` are public limits
    of the column; left out, they are read off the data, with a warning. ``draws`` is how many draws the
    mechanism may ever release. ``noise`` is a family (``laplace``, ``gaussian``, ``geometric``, ``staircase`` or
    ``uniform-mixture``), ``scales`` is ``wide``, ``adaptive`` (new ones next to those in use, while that pays),
    ``paper`` or a list in data units. ``utility`` says what closeness is: ``kl``, ``js``, ``tv``, ``wasserstein`` or
    ``moments:N``. ``solver`` is ``best-response`` (the best of so many ``restarts``, 8), ``genetic`` (with a number of
    ``generations``, 270) or ``optimal`` (with a ``time_limit`` in seconds, 60). ``start`` is a profile for best
    response to start from, instead of the usual ones.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> mechanism = optimize(people, epsilon=1, bounds=(140, 210), draws=10)
    >>> mechanism.certificate().holds, mechanism.worst_loss <= 1, len(mechanism.sample(3))
    (True, True, 3)
    """
    check_epsilon(epsilon)
    check(is_whole(draws, 1, MOST_DRAWS), "draws", f"a whole number from 1 to {MOST_DRAWS}", draws)
    check(is_number(delta) and 0 <= delta < 1, "delta", "a number from 0 to below 1", delta)
    if renyi is not None:
        check(is_number(renyi) and 1 < renyi <= MOST_ORDER, "renyi", f"an order above 1, at most {MOST_ORDER:g}", renyi)
        check(delta == 0, "delta", "left out with a Renyi order", delta)
        check(epsilon >= LEAST_RENYI, "epsilon", f"at least {LEAST_RENYI:g} with a Renyi order", epsilon)
    check(delta == 0 or delta >= LEAST_DELTA, "delta", f"0 or at least {LEAST_DELTA:g}", delta)
    check(solver in SOLVERS, "solver", one_of(SOLVERS), solver)
    if time_limit is not None:
        check(solver == "optimal", "time_limit", "left out unless the solver is 'optimal'", time_limit)
        check(0 < time_limit < math.inf, "time_limit", "a positive number of seconds", time_limit)
    if generations is not None:
        check(solver == "genetic", "generations", "left out unless the solver is 'genetic'", generations)
        check(is_whole(generations, 1, 10**6), "generations", "a whole number from 1 to 1000000", generations)
    if restarts is not None:
        check(solver != "genetic", "restarts", "left out with the genetic solver", restarts)
    if start is not None:
        check(solver == "best-response", "start", "left out unless the solver is 'best-response'", "a profile")
        check(scales != "adaptive", "start", "left out with adaptive scales", "a profile")
    check_noise(noise)
    named(utility, 2)  # refused before anything is read
    rows, axis = open_column(data, column, bounds, bins=bins, padding_epsilon=padding_epsilon, percentile=percentile)
    relative = scale_set(scales, axis, epsilon)
    histogram = count_people(rows, axis, missing=missing, outside=outside)
    game = Game(
        histogram, make_kernel(noise, relative, axis.bins), float(epsilon), utility,
        delta=float(delta) if draws == 1 else 0.0, order=None if renyi is None else float(renyi),
    )  # fmt: skip
    solve = make_solver(
        solver, scales=scales, restarts=restarts, seed=seed, start=start, time_limit=time_limit,
        generations=generations, progress=progress,
    )  # fmt: skip
    budget = Budget(float(epsilon), float(delta)) if delta > 0 and draws > 1 else None
    if budget is None:
        solution = solve(game)
    else:
        quick = make_solver(
            "best-response", scales=scales, restarts=restarts, seed=seed, start=start, progress=progress
        )
        solution = within_budget(game, quick, draws, budget)
        if solver != "best-response":
            solution = improved_within_budget(solution, solve, draws, budget)
    if solution.protected < game.people:
        raise _not_everyone(solution, scales, progress)
    settings = {
        "column": rows.column,
        "public_bounds": bounds is not None,
        "scales": scales if isinstance(scales, str) else [float(s) for s in scales],
        "utility": utility,
        "missing": missing,
        "outside": outside,
        "padding_epsilon": float(padding_epsilon),
        "percentile": float(percentile),
    }
    return Mechanism.from_solution(solution, draws=draws, budget=budget, settings=settings)


def is_number(value: object) -> bool:
    """Whether it is one (of any type, but no truth value)."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_epsilon(epsilon: Any) -> None:
    """Refuse what is no epsilon."""
    check(
        is_number(epsilon) and LEAST_EPSILON <= epsilon < math.inf,
        "epsilon", f"a finite number of at least {LEAST_EPSILON:g}", epsilon,
    )  # fmt: skip


def open_column(
    data: Any,
    column: str | None,
    bounds: tuple[float, float] | None,
    *,
    bins: int,
    padding_epsilon: float,
    percentile: float,
) -> tuple[counting.Rows, Axis]:
    """The rows to count and the axis to count them on; bounds left out are read off the data, with a warning."""
    rows = counting.open_rows(data, column)
    low, high = counting.find_bounds(rows) if bounds is None else _two_numbers(bounds)
    axis = Axis.padded(rows.column, low, high, bins=bins, padding_epsilon=padding_epsilon, percentile=percentile)
    return rows, axis


def count_people(rows: counting.Rows, axis: Axis, *, missing: str, outside: str) -> Histogram:
    """The histogram, if there is a distribution in it to release."""
    histogram = counting.count(rows, axis, missing=missing, outside=outside)
    _check_people(histogram)
    return histogram


def make_solver(
    name: str,
    *,
    scales: str | Sequence[float] = "wide",
    restarts: int | None = None,
    seed: int = 0,
    start: Ints | None = None,
    time_limit: float | None = None,
    generations: int | None = None,
    keep_when_stopped: bool = True,
    progress: Callable[[Round], None] | None = None,
) -> Callable[[Game], Solution]:
    """The solver of that name with its settings, or their defaults; with ``adaptive`` scales, over and over.

    A time limit counts from now and is for all of it.
    """
    many = RESTARTS if restarts is None else restarts
    again = scales == "adaptive"
    solve: Callable[[Game, Ints | None], Solution]
    if name == "optimal":
        from equinoise.solvers.optimal import TIME_LIMIT, optimal

        limit = TIME_LIMIT if time_limit is None else time_limit
        deadline = time.perf_counter() + limit

        def solve(game: Game, known: Ints | None) -> Solution:
            left = max(deadline - time.perf_counter(), 0.1)
            found = optimal(
                game, time_limit=left / 2 if again else left, restarts=many, seed=seed, known=known,
                keep_when_stopped=keep_when_stopped, progress=progress,
            )  # fmt: skip
            return replace(found, settings={**found.settings, "time_limit": float(limit)})

    elif name == "genetic":
        from equinoise.solvers.genetic import GENERATIONS, genetic

        def solve(game: Game, known: Ints | None) -> Solution:
            return genetic(game, generations=generations or GENERATIONS, seed=seed, known=known, progress=progress)

    else:

        def solve(game: Game, known: Ints | None) -> Solution:
            return best_response(game, restarts=many, seed=seed, start=start, known=known, progress=progress)

    def solve_again(game: Game) -> Solution:
        began = time.perf_counter()
        found = adaptive(game, solve)
        return replace(found, seconds=time.perf_counter() - began)

    return solve_again if again else lambda game: solve(game, None)


def _two_numbers(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
        return low + 0.0, high + 0.0
    except (TypeError, ValueError):
        check(False, "bounds", "two numbers, (low, high)", bounds)
        raise


def _check_people(histogram: Histogram) -> None:
    name = histogram.grid.axis.name
    if histogram.people < 2:
        raise BadInput(
            f"Column {name!r} has {histogram.people} usable value{'' if histogram.people == 1 else 's'}, and at "
            "least two people are needed: a loss compares the data with and without a person."
        )
    if np.count_nonzero(histogram.counts) == 1:
        raise BadInput(
            f"All {histogram.people:,} values of column {name!r} fall in one bin: there is no distribution to "
            "release. If they are not all equal, use narrower bounds or more bins."
        )


def _not_everyone(
    solution: Solution, scales: str | Sequence[float], progress: Callable[[Round], None] | None
) -> PromiseNotMet:
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
