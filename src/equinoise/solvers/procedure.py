"""Everything public that decides, together with the players, which profile is played: the settings and the solver."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from equinoise.choices import SOLVERS, load
from equinoise.data.grid import Grid, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, WeakPromiseWarning, check
from equinoise.formatting import at_most
from equinoise.game.game import Game
from equinoise.game.kernel import AnyScales, AxisScales, check_size, check_work, make_kernel, offered_scales
from equinoise.privacy.accounting import Budget
from equinoise.settings import SETTINGS, check_settings
from equinoise.solvers.adaptive import adaptive, carried_over, shared_scales
from equinoise.solvers.adaptive import supports as adaptive_supports
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.best_response.starts import RUNS
from equinoise.solvers.budget import improved_within_budget, within_budget
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
    order: float | None = None
    solver: str = "best-response"
    time_limit: float | None = None
    generations: int | None = None
    restarts: int | None = None
    seed: int = 0
    scale_per_column: bool = False

    def __post_init__(self) -> None:
        check_settings(vars(self))

    @property
    def budget(self) -> Budget | None:
        """For all draws together, if epsilon is for all of them."""
        several = self.delta > 0 and self.draws > 1
        return Budget(float(self.epsilon), float(self.delta)) if several else None

    def request(self, columns: int = 1, *, several_rows: bool = False, own_start: bool = False) -> Request:
        """What is asked of the solver, in public settings alone."""
        condition = "renyi" if self.order is not None else "delta" if self.delta > 0 and self.draws == 1 else "pure"
        return Request(
            columns, several_rows, condition, self.utility.partition(":")[0], self.budget is not None,
            self.scales == "adaptive", self.scale_per_column, own_start,
        )  # fmt: skip

    def check_request(self, request: Request) -> None:
        """Refuse what the solver, or scales that adapt, cannot do: before anything is counted, and for any data."""
        reason = supports(self.solver, request)
        if reason is not None:
            raise BadInput(reason)

    def check_grid(self, grid: Grid) -> None:
        """Refuse settings that do not go with a grid, before anything is counted."""
        several = len(grid.axes) > 1
        check(
            several or not self.scale_per_column, "scale_per_column", "left out with one column", self.scale_per_column
        )
        self.check_request(self.request(len(grid.axes)))
        offered = self.offered(grid)
        if several:
            check_size(grid.shape, len(offered))
            check_work(grid.shape, len(offered), RESTARTS if self.restarts is None else self.restarts, RUNS)

    def offered(self, grid: Grid) -> AxisScales:
        """The scales on offer: one per axis for each choice, in units of the padded ranges."""
        return offered_scales(self.scales, grid, self.epsilon, scale_per_column=self.scale_per_column)

    def game(self, players: Players) -> Game:
        """The game that is played; with a budget, it is played at several losses a draw."""
        grid = players.grid
        kernel = make_kernel(self.noise, self.offered(grid), grid.shape, grid.bins_of(players.cells))
        return Game(
            players, kernel, float(self.epsilon), self.utility,
            delta=float(self.delta) if self.draws == 1 else 0.0,
            order=None if self.order is None else float(self.order),
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
            "scale_per_column": self.scale_per_column,
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
        return improved_within_budget(found, solve, self.draws, self.budget)

    def to_json(self) -> dict[str, Any]:
        """The settings, as saved files tell them."""
        listed: Any = self.scales
        if isinstance(self.scales, Mapping):
            listed = {name: [float(scale) for scale in scales] for name, scales in self.scales.items()}
        elif not isinstance(self.scales, str):
            listed = [float(scale) for scale in self.scales]
        found = {name: value.item() if isinstance(value, np.generic) else value for name, value in vars(self).items()}
        floats = [name for name in found if SETTINGS[name].kind is float and found[name] is not None]
        return {**found, "scales": listed, **{name: float(found[name]) for name in floats}}


def warn_of_delta(delta: float, people: int) -> None:
    """Warn of a delta that is too large for so many people."""
    if delta * people >= 1:
        warnings.warn(
            f"A delta of {at_most(delta)} is no less than one divided by the number of people: even giving somebody's "
            "value away could keep this promise. Take one far below that, such as 1e-6 for thousands of people.",
            WeakPromiseWarning,
            stacklevel=4,
        )


def supports(solver: str, request: Request) -> str | None:
    """Why a solver cannot do what is asked; None if it can."""
    reason: str | None = load(SOLVERS, solver).supports(request)
    return reason or (adaptive_supports(request) if request.adaptive else None)


def make_solver(
    name: str,
    *,
    scales: AnyScales = "wide",
    scale_per_column: bool = False,
    restarts: int | None = None,
    seed: int = 0,
    start: Ints | None = None,
    time_limit: float | None = None,
    generations: int | None = None,
    keep_when_stopped: bool = True,
    progress: Callable[[Round], None] | None = None,
) -> Callable[[Game], Solution]:
    """The solver of that name with its settings, or their defaults; with ``adaptive`` scales, over and over.

    A time limit counts from now and is for all of it. Best response begins at ``start`` alone, the others there too.
    """
    shared: dict[str, Any] = {"seed": seed, "progress": progress}
    several = {"restarts": RESTARTS if restarts is None else restarts, **shared}
    solve: Callable[..., Solution]
    if name == "optimal":
        solve = _timed(time_limit, over_and_over=scales == "adaptive", keep_when_stopped=keep_when_stopped, **several)
    elif name == "genetic":
        from equinoise.solvers.genetic import GENERATIONS, genetic

        solve = partial(genetic, generations=generations or GENERATIONS, **shared)
    else:
        solve = partial(best_response, start=start, **several)

    def solve_again(game: Game) -> Solution:
        began = time.perf_counter()
        found = adaptive(game, lambda finer, known: solve(finer, known=known))
        return replace(found, seconds=time.perf_counter() - began)

    def solve_each_axis(game: Game) -> Solution:  # too many choices to be begun from many sides
        known = carried_over(best_response(shared_scales(game), **several), game)
        return best_response(game, start=known, **shared) if name == "best-response" else solve(game, known=known)

    if scale_per_column and start is None:
        return solve_each_axis
    if scales == "adaptive":
        return solve_again
    return partial(solve, known=None if name == "best-response" else start)


def _timed(time_limit: float | None, *, over_and_over: bool, **settings: Any) -> Callable[..., Solution]:
    """The optimal solver, with so many seconds from now on for all that it is asked; half of the rest each time."""
    from equinoise.solvers.optimal import TIME_LIMIT, optimal

    limit = TIME_LIMIT if time_limit is None else float(time_limit)
    deadline = time.perf_counter() + limit

    def solve(game: Game, known: Ints | None = None) -> Solution:
        rest = max(deadline - time.perf_counter(), 0.1)
        found = optimal(game, time_limit=rest / 2 if over_and_over else rest, known=known, **settings)
        return replace(found, settings={**found.settings, "time_limit": None if math.isinf(limit) else limit})

    return solve
