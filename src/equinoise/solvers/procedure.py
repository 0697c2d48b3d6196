"""Everything public that decides, together with the players, which profile is played: the settings and the solver."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
from equinoise.solvers.adaptive import adaptive, carry_over, shared_scales
from equinoise.solvers.adaptive import supports as adaptive_supports
from equinoise.solvers.best_response import RESTARTS, best_response
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
        kernel = make_kernel(self.noise, self.offered(grid), grid.shape, grid.bins_of(players.cells), grid.categories)
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
        return improve_within_budget(found, solve, self.draws, self.budget)

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
        found = adaptive(game, lambda finer, known: solve(finer, known=known))
        return replace(found, seconds=time.perf_counter() - began)

    def solve_each_axis(game: Game) -> Solution:  # too many choices to be begun from many sides
        many = settings.get("restarts") or RESTARTS
        shared = best_response(shared_scales(game), restarts=many, seed=seed, progress=progress)
        return solve(game, start=carry_over(shared, game))

    if scale_per_column and start is None:
        return solve_each_axis
    return solve_again if again else solve
