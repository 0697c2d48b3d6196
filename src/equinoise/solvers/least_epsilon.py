"""The least epsilon at which a scale set can protect everyone: found from above, proven from below."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from equinoise.errors import at_most
from equinoise.game import Game
from equinoise.privacy import LEAST_EPSILON
from equinoise.solvers.best_response import best_response
from equinoise.solvers.optimal import Search
from equinoise.solvers.solution import Round, Solution

SECONDS = 10.0
CLOSE = 1.001
"""Found and proven are looked for until they are within this factor."""
MOST_NUMBERS = 2**22
"""Programs with more numbers than this would take longer than anyone waits for an error message."""


@dataclass(frozen=True)
class LeastEpsilon:
    """A profile with ``found`` as its worst loss is known; below ``proven`` there is none (0: nothing is proven)."""

    found: float
    proven: float

    def sentence(self, asked: float) -> str:
        """What to do about an epsilon that a solver could not keep."""
        usable = at_most(self.found * (1 + 1e-9))  # the game asks for a little more than the loss
        if self.found <= asked:
            return "Some profile does protect everyone: use the optimal solver."
        if math.isinf(self.found):
            return "No profile that protects everyone was found at any epsilon: offer larger scales."
        if self.found <= CLOSE**2 * self.proven:
            return f"The least epsilon that these scales allow is {usable}: ask for that, or offer larger scales."
        known = f" and above {self.proven:.3g}" if self.proven > 0 else ""
        return f"The least epsilon that these scales allow is at most {usable}{known}: ask for that, or larger scales."


def least_epsilon(
    solution: Solution, seconds: float = SECONDS, progress: Callable[[Round], None] | None = None
) -> LeastEpsilon:
    """Bisection from what a solution's runs came across: at each epsilon, either a profile or the proof of none."""
    game, deadline = solution.game, time.perf_counter() + seconds
    found, proven = solution.least_epsilon, 0.0
    numbers = len(game.occupied) * len(game.kernel.scales) * game.histogram.grid.cells
    while numbers <= MOST_NUMBERS and found > CLOSE * max(proven, LEAST_EPSILON) and time.perf_counter() < deadline:
        middle = math.sqrt(found * proven) if proven > 0 else found / 2 if math.isfinite(found) else 64.0
        if progress is not None:
            note = f"Looking for the least epsilon that these scales allow, from {proven:.4g} to {found:.4g}"
            progress(Round(0, 0, 0, solution.profile, note))
        reached = _worst_loss_within(replace(game, epsilon=max(middle, LEAST_EPSILON), utility="kl"), deadline)
        if reached is None:
            break
        if math.isinf(reached):
            proven = middle
        else:
            found = min(found, reached)
    return LeastEpsilon(found, proven)


def _worst_loss_within(game: Game, deadline: float) -> float | None:
    """The worst loss of some profile that protects everyone; infinite if there is none; None if that is not clear."""
    start = best_response(game, restarts=2)
    if start.protected == game.people:
        return start.worst_loss
    search = Search(game, start, deadline, None, target=(math.inf, 0.0))
    search.run()
    if search.value < math.inf:
        return float(game.losses(search.best).max())
    return math.inf if search.impossible else None
