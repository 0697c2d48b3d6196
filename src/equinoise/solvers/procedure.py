"""Everything public that decides, together with the players, which profile is played: the settings and the solver."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from equinoise.choices import SOLVERS, load
from equinoise.data.grid import Grid, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, WeakPromiseWarning, check, is_number, is_whole
from equinoise.formatting import at_most, one_of
from equinoise.game.game import Game
from equinoise.game.kernel import AnyScales, AxisScales, check_size, check_work, make_kernel, offered_scales
from equinoise.game.noise import check_noise
from equinoise.game.utility import closeness
from equinoise.mechanisms.draws import check_draws
from equinoise.privacy.accounting import Budget
from equinoise.privacy.loss import LEAST_DELTA, LEAST_EPSILON, LEAST_RENYI, MOST_ORDER
from equinoise.solvers.adaptive import adaptive, carry_over, shared_scales
from equinoise.solvers.adaptive import supports as adaptive_supports
from equinoise.solvers.best_response import RESTARTS, best_response, check_restarts, check_seed
from equinoise.solvers.best_response.starts import RUNS
from equinoise.solvers.budget import improve_within_budget, within_budget
from equinoise.solvers.solution import Request, Round, Solution


@dataclass(frozen=True)
class Procedure:
    """From players to a profile. Nothing here may come from the data, and the same players give the same
    profile, unless a time limit decides.

    ``epsilon`` is for one draw, or with a ``delta`` and several ``draws`` for all of them together.
    """

    epsilon: float
    noise: str = "laplace"
    scales: AnyScales = "wide"
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
            check_restarts(self.restarts)
        check_seed(self.seed)
        check_noise(self.noise)
        closeness(self.utility, Grid(()))

    @property
    def budget(self) -> Budget | None:
        """For all draws together, if epsilon is for all of them."""
        several = self.delta > 0 and self.draws > 1
        return Budget(float(self.epsilon), float(self.delta)) if several else None

    def request(self, columns: int = 1, *, several_rows: bool = False, own_start: bool = False) -> Request:
        """What is asked of the solver, in public settings alone."""
        condition = "renyi" if self.renyi is not None else "delta" if self.delta > 0 and self.draws == 1 else "pure"
        return Request(
            columns, several_rows, condition, self.utility.partition(":")[0], self.budget is not None,
            self.scales == "adaptive", self.per_axis, own_start,
        )  # fmt: skip

    def check_request(self, request: Request) -> None:
        """Refuse what the solver, or scales that adapt, cannot do: before anything is counted, and for any data."""
        reason = supports(self.solver, request)
        if reason is not None:
            raise BadInput(reason)

    def check_grid(self, grid: Grid) -> None:
        """Refuse settings that do not go with a grid, before anything is counted."""
        several = len(grid.axes) > 1
        check(several or not self.per_axis, "per_axis", "left out with one column", self.per_axis)
        self.check_request(self.request(len(grid.axes)))
        offered = self.offered(grid)
        if several:
            check_size(grid.shape, len(offered))
            check_work(grid.shape, len(offered), RESTARTS if self.restarts is None else self.restarts, RUNS)

    def offered(self, grid: Grid) -> AxisScales:
        """The scales on offer: one per axis for each choice, in units of the padded ranges."""
        return offered_scales(self.scales, grid, self.epsilon, per_axis=self.per_axis)

    def game(self, players: Players) -> Game:
        """The game that is played; with a budget, it is played at several losses a draw."""
        grid = players.grid
        kernel = make_kernel(self.noise, self.offered(grid), grid.shape, grid.bins_of(players.cells))
        return Game(
            players, kernel, float(self.epsilon), self.utility,
            delta=float(self.delta) if self.draws == 1 else 0.0,
            order=None if self.renyi is None else float(self.renyi),
        )  # fmt: skip

    def solve(
        self,
        players: Players,
        *,
        start: Ints | None = None,
        untimed: bool = False,
        progress: Callable[[Round], None] | None = None,
    ) -> Solution:
        """Play. The solution may leave people unprotected; with a budget that cannot be kept, this refuses.

        ``untimed``, nothing but the players decide: no time limit, and Ctrl-C is not taken for an answer.
        """
        chosen: dict[str, Any] = {
            "scales": self.scales, "restarts": self.restarts, "seed": self.seed, "start": start, "progress": progress,
            "per_axis": self.per_axis,
        }  # fmt: skip
        limit = math.inf if untimed else self.time_limit
        solve = make_solver(
            self.solver, time_limit=limit, generations=self.generations, keep_when_stopped=not untimed, **chosen
        )
        game = self.game(players)
        if self.budget is None:
            return solve(game)
        found = within_budget(game, make_solver("best-response", **chosen), self.draws, self.budget)
        if self.solver == "best-response":
            return found
        return improve_within_budget(found, solve, self.draws, self.budget)

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


def warn_of_delta(delta: float, people: int) -> None:
    """Warn of a delta that is too large for so many people."""
    if delta * people >= 1:
        warnings.warn(
            f"A delta of {at_most(delta)} is no less than one divided by the number of people: even giving somebody's "
            "value away could keep this promise. Take one far below that, such as 1e-6 for thousands of people.",
            WeakPromiseWarning,
            stacklevel=4,
        )


def check_time_limit(limit: Any) -> None:
    """Refuse what is no time."""
    check(is_number(limit) and 0 < limit < math.inf, "time_limit", "a positive number of seconds", limit)


def supports(solver: str, request: Request) -> str | None:
    """Why a solver cannot do what is asked; None if it can."""
    reason: str | None = load(SOLVERS, solver).supports(request)
    return reason or (adaptive_supports(request) if request.adaptive else None)


def make_solver(
    name: str,
    *,
    scales: AnyScales = "wide",
    per_axis: bool = False,
    seed: int = 0,
    start: Ints | None = None,
    keep_when_stopped: bool = True,
    progress: Callable[[Round], None] | None = None,
    **settings: Any,
) -> Callable[[Game], Solution]:
    """The solver of that name with those of the settings that it has, or their defaults; with ``adaptive`` scales, over
    and over. A time limit counts from now and is for all of it."""
    solver = load(SOLVERS, name)
    own = {key: usual if settings.get(key) is None else settings[key] for key, usual in solver.SETTINGS.items()}
    limit = own.pop("time_limit", None)
    deadline = time.perf_counter() + (limit or 0.0)
    again = scales == "adaptive"

    def solve(game: Game, known: Ints | None = None, start: Ints | None = start) -> Solution:
        common = {"seed": seed, "start": start, "known": known, "progress": progress, **own}
        if limit is not None:
            left = max(deadline - time.perf_counter(), 0.1)
            common |= {"time_limit": left / 2 if again else left, "keep_when_stopped": keep_when_stopped}
        found: Solution = solver.solve(game, **common)
        if limit is None:
            return found
        asked = None if math.isinf(limit) else float(limit)
        return replace(found, settings={**found.settings, "time_limit": asked})

    def solve_again(game: Game) -> Solution:
        began = time.perf_counter()
        found = adaptive(game, solve)
        return replace(found, seconds=time.perf_counter() - began)

    def solve_each_axis(game: Game) -> Solution:  # too many choices to be begun from many sides
        many = settings.get("restarts") or RESTARTS
        shared = best_response(shared_scales(game), restarts=many, seed=seed, progress=progress)
        return solve(game, start=carry_over(shared, game))

    if per_axis and start is None:
        return solve_each_axis
    return solve_again if again else solve
