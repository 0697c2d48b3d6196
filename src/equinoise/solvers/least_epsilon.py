"""The least epsilon at which a scale set can protect everyone: found from above, proven from below."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from equinoise.formatting import at_most
from equinoise.game.game import Game
from equinoise.privacy.loss import EPSILON_CAP, MARGIN
from equinoise.settings import LEAST_EPSILON
from equinoise.solvers.best_response import best_response
from equinoise.solvers.optimal.search import Search
from equinoise.solvers.solution import Round, Solution

SECONDS = 10.0
CLOSE = 1.001
"""Found and proven are looked for until they are within this factor."""
MOST_SEARCHED_WEIGHTS = 2**22
"""Programs with more numbers than this would take longer than anyone waits for an error message."""


@dataclass(frozen=True)
class LeastEpsilon:
    """At ``found`` a profile protects everyone; below ``proven`` none does (0: nothing is proven)."""

    found: float
    proven: float

    def sentence(self, asked: float, *, fixed: bool = True) -> str:
        """What to do about an epsilon that a solver could not keep, if the scales are fixed or change with epsilon."""
        if self.found <= asked:
            return "Some profile does protect everyone: use the optimal solver, or more restarts."
        if math.isinf(self.found):
            return "No profile that protects everyone was found at any epsilon: offer larger scales."
        close = self.found <= CLOSE**2 * self.proven
        known = "" if close or self.proven == 0 else f" (and above {self.proven:.3g})"
        found = at_most(self.found) if close else f"at most {at_most(self.found)}"
        least = f"The least epsilon that these scales allow is {found}{known}"
        if not fixed:
            return f"{least}, but the paper's scales change with epsilon: offer a list of scales."
        return f"{least}: ask for that (only the optimal solver may get there), or offer larger scales."


def least_epsilon(solution: Solution, progress: Callable[[Round], None] | None = None) -> LeastEpsilon:
    """Bisection from what a solution's runs came across: at each epsilon, either a profile or the proof of none."""
    game, deadline = solution.game, time.perf_counter() + SECONDS
    found, proven = epsilon_to_ask_for(solution.least_epsilon, game), 0.0
    small = game.players.types * game.scales * game.players.grid.cells <= MOST_SEARCHED_WEIGHTS
    while small and found > CLOSE * max(proven, LEAST_EPSILON) and time.perf_counter() < deadline:
        if math.isinf(found) and proven > 0:
            break
        middle = math.sqrt(found * proven) if proven > 0 else min(found / 2, 64.0)
        if progress is not None:
            note = f"Looking for the least epsilon that these scales allow, from {proven:.4g} to {found:.4g}"
            progress(Round(0, 0, 0, solution.profile, note, left=deadline - time.perf_counter()))
        tried = replace(game, epsilon=max(middle, LEAST_EPSILON), utility="kl")
        reached = _worst_loss_within(tried, deadline)
        if reached is None:
            break
        if math.isinf(reached):
            proven = max(proven, excluded_loss(tried))
        else:
            found = min(found, epsilon_to_ask_for(reached, game))
    return LeastEpsilon(found, proven)


def epsilon_to_ask_for(loss: float, game: Game) -> float:
    """The epsilon at which the game, with its margin, calls everyone with this loss protected, however many rows."""
    loss, rows = min(loss, EPSILON_CAP), game.total_rows
    sizes = np.unique(game.players.sizes)
    shares = (rows * math.expm1(loss) + sizes) / (rows * math.exp(loss)) / (1 - 2 * MARGIN)
    if (shares >= 1).any():
        return math.inf
    return max(loss, float((np.log1p(-sizes / rows) - np.log1p(-shares)).max())) * (1 + 1e-9)


def excluded_loss(game: Game) -> float:
    """The loss that nobody can have who is not protected in a game: a little less than epsilon, for its margin."""
    losses = np.log1p(-game.players.sizes / game.total_rows) - np.log1p(-game.condition.upper)
    return float(losses.min())


def _worst_loss_within(game: Game, deadline: float) -> float | None:
    """The worst loss of some profile that protects everyone; infinite if there is none; None if that is not clear."""
    start = best_response(game, restarts=2)
    if game.unprotected(start.profile) == 0:
        return start.worst_loss
    search = Search(game, start, deadline, None, target=(math.inf, 0.0))
    search.run()
    if search.value < math.inf:
        return float(game.losses(search.best).max())
    return math.inf if search.impossible else None
