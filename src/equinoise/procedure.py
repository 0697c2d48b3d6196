"""Everything public that decides, together with a histogram, which profile is played: the settings and the solver."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from equinoise.accounting import Budget
from equinoise.draws import check_draws
from equinoise.errors import BadInput, check, is_number, is_whole, one_of
from equinoise.game import Game
from equinoise.grid import Axis, Grid, Histogram, Ints, JointHistogram
from equinoise.joint_game import JointGame
from equinoise.joint_noise import AxisScales, check_size, check_work, joint_scales, make_joint_kernel
from equinoise.joint_utility import named_jointly
from equinoise.noise import check_noise, make_kernel, scale_set
from equinoise.privacy import LEAST_DELTA, LEAST_EPSILON, LEAST_RENYI, MOST_ORDER
from equinoise.solvers import Round, Solution
from equinoise.solvers.adaptive import adaptive
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.joint_starts import carried_over, shared_scales
from equinoise.solvers.many_draws import improved_within_budget, within_budget
from equinoise.unit_game import UnitGame
from equinoise.units import UnitHistogram
from equinoise.utility import named

SOLVERS = ("best-response", "genetic", "optimal")
SEVERAL_ROWS = "where people have several rows (or keep one of each with --unit-rows one)"


@dataclass(frozen=True)
class Procedure:
    """From a histogram to a profile. Nothing here may come from the data, and the same histogram gives the same
    profile, unless a time limit decides.

    ``epsilon`` is for one draw, or with a ``delta`` and several ``draws`` for all of them together.
    """

    epsilon: float
    noise: str = "laplace"
    scales: str | Sequence[float] | Mapping[str, Sequence[float]] = "wide"
    utility: str = "kl"
    draws: int = 1
    delta: float = 0.0
    renyi: float | None = None
    solver: str = "best-response"
    time_limit: float | None = None
    generations: int | None = None
    restarts: int | None = None
    seed: int = 0
    per_axis: bool = False

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_draws(self.draws)
        check_delta(self.delta)
        if self.renyi is not None:
            possible = is_number(self.renyi) and 1 < self.renyi <= MOST_ORDER
            check(possible, "renyi", f"an order above 1, at most {MOST_ORDER:g}", self.renyi)
            check(self.delta == 0, "delta", "left out with a Renyi order", self.delta)
            enough = self.epsilon >= LEAST_RENYI
            check(enough, "epsilon", f"at least {LEAST_RENYI:g} with a Renyi order", self.epsilon)
        check(self.solver in SOLVERS, "solver", one_of(SOLVERS), self.solver)
        limit, generations = self.time_limit, self.generations
        if limit is not None:
            check(self.solver == "optimal", "time_limit", "left out unless the solver is 'optimal'", limit)
            check_time_limit(limit)
        if generations is not None:
            check(self.solver == "genetic", "generations", "left out unless the solver is 'genetic'", generations)
            check(is_whole(generations, 1, 10**6), "generations", "a whole number from 1 to 1000000", generations)
        if self.restarts is not None:
            check(self.solver != "genetic", "restarts", "left out with the genetic solver", self.restarts)
        check_noise(self.noise)
        named(self.utility, 2)

    @property
    def budget(self) -> Budget | None:
        """For all draws together, if epsilon is for all of them."""
        several = self.delta > 0 and self.draws > 1
        return Budget(float(self.epsilon), float(self.delta)) if several else None

    def check_grid(self, grid: Grid) -> None:
        """Refuse settings that do not go with a grid, before anything is counted."""
        if len(grid.axes) == 1:
            check(not self.per_axis, "per_axis", "left out with one column", self.per_axis)
            self._offered(grid.axis)
            return
        check(self.solver == "best-response", "solver", "'best-response' with several columns", self.solver)
        check(self.renyi is None, "renyi", "left out with several columns", self.renyi)
        one = self.delta == 0 or self.draws > 1
        check(one, "delta", "0 with several columns, unless there are several draws", self.delta)
        named_jointly(self.utility, grid.cells)
        offered = len(self._offered_jointly(grid))
        check_size(grid.shape, offered)
        check_work(grid.shape, offered, RESTARTS if self.restarts is None else self.restarts)

    def _offered(self, axis: Axis) -> tuple[float, ...]:
        if isinstance(self.scales, Mapping):
            raise BadInput(
                "Scales for one column are 'wide', 'adaptive', 'paper' or a list, not a list for every column."
            )
        return scale_set(self.scales, axis, self.epsilon)

    def _offered_jointly(self, grid: Grid) -> AxisScales:
        return joint_scales(self.scales, grid, self.epsilon, per_axis=self.per_axis)  # type: ignore[arg-type]

    def game(self, histogram: Histogram) -> Game:
        """The game that is played; with a budget, it is played at several losses a draw."""
        axis = histogram.grid.axis
        occupied = np.flatnonzero(histogram.counts)
        kernel = make_kernel(self.noise, self._offered(axis), axis.bins, cells=occupied)
        return Game(
            histogram, kernel, float(self.epsilon), self.utility,
            delta=float(self.delta) if self.draws == 1 else 0.0,
            order=None if self.renyi is None else float(self.renyi),
        )  # fmt: skip

    def solve(
        self,
        histogram: Histogram,
        *,
        start: Ints | None = None,
        untimed: bool = False,
        progress: Callable[[Round], None] | None = None,
    ) -> Solution:
        """Play. The solution may leave people unprotected; with a budget that cannot be kept, this refuses.

        ``untimed``, nothing but the histogram decides: no time limit, and Ctrl-C is not taken for an answer.
        """
        chosen: dict[str, Any] = {
            "scales": self.scales, "restarts": self.restarts, "seed": self.seed, "start": start, "progress": progress,
        }  # fmt: skip
        limit = math.inf if untimed else self.time_limit
        solve = make_solver(
            self.solver, time_limit=limit, generations=self.generations, keep_when_stopped=not untimed, **chosen
        )
        game = self.game(histogram)
        if self.budget is None:
            return solve(game)
        found = within_budget(game, make_solver("best-response", **chosen), self.draws, self.budget)
        if self.solver == "best-response":
            return found
        return improved_within_budget(found, solve, self.draws, self.budget)

    def solve_jointly(
        self, histogram: JointHistogram, progress: Callable[[Round], None] | None = None
    ) -> Solution[JointGame]:
        """The same on several columns."""
        grid = histogram.grid
        kernel = make_joint_kernel(self.noise, self._offered_jointly(grid), grid.shape)
        game = JointGame(histogram, kernel, float(self.epsilon), self.utility)

        def solve(game: JointGame) -> Solution[JointGame]:
            restarts = RESTARTS if self.restarts is None else self.restarts
            if not self.per_axis:
                return best_response(game, restarts=restarts, seed=self.seed, progress=progress)
            shared = shared_scales(game)
            first = best_response(shared, restarts=restarts, seed=self.seed, progress=progress)
            return best_response(game, seed=self.seed, start=carried_over(first, game), progress=progress)

        return solve(game) if self.budget is None else within_budget(game, solve, self.draws, self.budget)

    def solve_units(
        self, histogram: UnitHistogram, progress: Callable[[Round], None] | None = None
    ) -> Solution[UnitGame]:
        """The same for people with several rows."""
        check(self.solver == "best-response", "solver", f"'best-response' {SEVERAL_ROWS}", self.solver)
        check(self.renyi is None, "renyi", f"left out {SEVERAL_ROWS}", self.renyi)
        check(
            self.delta == 0 or self.draws > 1, "delta", f"0 {SEVERAL_ROWS}, unless there are several draws", self.delta
        )
        check(self.scales != "adaptive", "scales", f"'wide', 'paper' or a list {SEVERAL_ROWS}", self.scales)
        check(self.utility == "kl", "utility", f"'kl' {SEVERAL_ROWS}", self.utility)
        axis = histogram.grid.axis
        occupied = np.flatnonzero(histogram.by_row.counts)
        kernel = make_kernel(self.noise, self._offered(axis), axis.bins, cells=occupied)
        restarts = RESTARTS if self.restarts is None else self.restarts

        def solve(game: UnitGame) -> Solution[UnitGame]:
            return best_response(game, restarts=restarts, seed=self.seed, progress=progress)

        game = UnitGame(histogram, kernel, float(self.epsilon))
        return solve(game) if self.budget is None else within_budget(game, solve, self.draws, self.budget)

    def to_json(self) -> dict[str, Any]:
        """The settings, as saved files tell them."""
        listed: Any = self.scales
        if isinstance(self.scales, Mapping):
            listed = {name: [float(scale) for scale in scales] for name, scales in self.scales.items()}
        elif not isinstance(self.scales, str):
            listed = [float(scale) for scale in self.scales]
        found = {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(self).items()}
        floats = ("epsilon", "delta", "renyi", "time_limit")
        return {**found, "scales": listed, **{name: _float(found[name]) for name in floats}}


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def check_epsilon(epsilon: Any) -> None:
    """Refuse what is no epsilon."""
    check(
        is_number(epsilon) and LEAST_EPSILON <= epsilon <= sys.float_info.max,
        "epsilon", f"a finite number of at least {LEAST_EPSILON:g}", epsilon,
    )  # fmt: skip


def check_delta(delta: Any) -> None:
    """Refuse what is no delta."""
    check(is_number(delta) and 0 <= delta < 1, "delta", "a number from 0 to below 1", delta)
    check(delta == 0 or delta >= LEAST_DELTA, "delta", f"0 or at least {LEAST_DELTA:g}", delta)


def check_time_limit(limit: Any) -> None:
    """Refuse what is no time."""
    check(is_number(limit) and 0 < limit < math.inf, "time_limit", "a positive number of seconds", limit)


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
