"""The best profile there is, with a proof of how far from best it can be.

The program (``program.py``) gives lower bounds; its solutions, made whole and improved by best response, give
profiles. It ends when they meet, or when time is up, with the gap as it then is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from equinoise.errors import BadInput, check
from equinoise.game import Game
from equinoise.grid import Floats, Ints
from equinoise.solvers.best_response import RESTARTS, best_response, rounds
from equinoise.solvers.program import Program
from equinoise.solvers.restricted import best_fractions, best_people
from equinoise.solvers.solution import Round, Solution

TIME_LIMIT = 60.0

TARGET = (1e-4, 0.01)
"""The gap to reach: the larger of an absolute one and a share of KL."""

SOLVER_ERROR = 1e-6
"""Taken off every bound: HiGHS keeps its rows to 1e-7, in floating point."""


def optimal(
    game: Game,
    *,
    time_limit: float = TIME_LIMIT,
    restarts: int = RESTARTS,
    seed: int = 0,
    known: Ints | None = None,
    keep_when_stopped: bool = True,
    progress: Callable[[Round], None] | None = None,
) -> Solution:
    """The profile of least KL that protects everyone, within the target gap, or the best found when the time limit
    (in seconds) or Ctrl-C ends the search; the gap says which. Without ``keep_when_stopped``, Ctrl-C is the caller's.
    """
    check(math.isfinite(time_limit) and time_limit > 0, "time_limit", "a positive number of seconds", time_limit)
    if game.utility != "kl":
        raise BadInput(f"The optimal solver does not offer the utility {game.utility!r}, only 'kl'. Use best response.")
    if game.condition.lower > 0:
        least = -math.log1p(-1 / game.people)
        raise BadInput(
            f"The optimal solver needs an epsilon above ln(N/(N-1)) = {least:.6g}, with N = {game.people:,} people. "
            "Use best response for smaller ones."
        )
    began = time.perf_counter()
    start = best_response(game, restarts=restarts, seed=seed, known=known, progress=progress)
    search = _Search(game, start, began + time_limit, progress)
    with suppress(*[KeyboardInterrupt] * keep_when_stopped):  # then the best so far, with the gap as it is
        search.run()
    best, bound = search.best, max(search.bound - SOLVER_ERROR, 0.0)
    value = game.divergence(best)
    return Solution(
        game=game,
        profile=best,
        name="optimal",
        equilibrium=game.is_equilibrium(best),
        rounds=start.rounds + search.rounds,
        seconds=time.perf_counter() - began,
        least_epsilon=start.least_epsilon,
        settings={
            "restarts": int(restarts),
            "seed": int(seed),
            "time_limit": float(time_limit),
            "lower_bound": bound,
            "gap": max(value - bound, 0.0),
            "proven": search.closed,
        },
    )


class _Search:
    """Bounds from below and profiles from above, until they meet."""

    def __init__(self, game: Game, start: Solution, deadline: float, progress: Callable[[Round], None] | None) -> None:
        self.game, self.deadline, self.progress = game, deadline, progress
        self.program = Program(game)
        self.best, self.value = start.profile, math.inf
        if start.protected == game.people:
            self.value = start.kl
        self.bound, self.rounds = 0.0, 0

    @property
    def left(self) -> float:
        return self.deadline - time.perf_counter()

    @property
    def target(self) -> float:
        return max(TARGET[0], TARGET[1] * self.value) if math.isfinite(self.value) else TARGET[0]

    @property
    def closed(self) -> bool:
        return self.value - max(self.bound - SOLVER_ERROR, 0.0) <= self.target

    def run(self) -> None:
        """Root bound by linear programs with cuts; then whole numbers where they turn out to matter."""
        program = self.program
        fractions = self._root()
        if fractions is None:
            return
        self._offer(fractions)
        if math.isfinite(self.value):
            used = np.flatnonzero(self.best[program.cells, program.scales] > 0)
            polished = best_fractions(program, used)
            if polished is not None:
                self._offer(polished)
        program.drop_slack_cuts()
        program.whole_people_in_small_cells()
        while not self.closed and self.left > 0.2 and program.forbid_violations(fractions) > 0:
            found = program.solve(0.8 * self.left, self.target / 3)
            if found is None:
                return
            self.bound, fractions = max(self.bound, found[0]), found[1]
            program.tighten_tangents(2e-6)
            self._offer_polished(fractions)
            self._tell()

    def _root(self) -> Floats | None:
        fractions, last, stalled = None, -1.0, 0
        while stalled < 6 and self.left > 0.2:
            found = self.program.solve(self.left)
            if found is None:
                return fractions
            bound, fractions = found
            self.bound = max(self.bound, bound)
            added = self.program.tighten_tangents(1e-6) + self.program.add_star_cuts(fractions)
            if added == 0:
                break
            stalled = stalled + 1 if bound - last < 2e-6 else 0
            last = bound
            self._tell()
        return fractions

    def _offer_polished(self, fractions: Floats) -> None:
        """The best of using only the pairs that have more than so many people, for several such limits."""
        program, tried = self.program, []
        people = fractions * program.counts[program.cells]
        for least in (0.5, 0.1, 0.01, 1e-3):
            polished = best_fractions(program, np.flatnonzero(people > least))
            if polished is not None:
                tried.append((program.divergence(polished), least, polished))
        if tried:
            self._offer(min(tried)[2])
        self._offer(fractions)

    def _offer(self, fractions: Floats) -> None:
        """Make fractions whole in several ways, let everyone respond, and keep the best that protects everyone."""
        self._keep(self.program.rounded(fractions))
        for least in (0.5, 0.1, 1e-4):
            if self.left > 0.2:
                whole = best_people(self.program, fractions, least, min(2.0, self.left / 3))
                if whole is not None:
                    self._keep(whole)

    def _keep(self, profile: Ints) -> None:
        for state in rounds(self.game, profile):
            end = state.profile
        if self.game.payoff(end).protected == self.game.people and self.game.divergence(end) < self.value:
            self.best, self.value = end, self.game.divergence(end)

    def _tell(self) -> None:
        self.rounds += 1
        if self.progress is not None:
            note = f"Proving: KL {self.value:.6f}, at least {self.bound:.6f}"
            self.progress(Round(0, self.rounds, 0, self.best, note))
