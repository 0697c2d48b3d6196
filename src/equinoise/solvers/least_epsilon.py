"""The least epsilon at which a scale set can protect everyone: found from above, proven from below."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from equinoise.errors import at_most
from equinoise.game import Game
from equinoise.privacy import EPSILON_CAP, LEAST_EPSILON, MARGIN, Condition
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
    """At ``found`` a profile protects everyone; below ``proven`` none does (0: nothing is proven)."""

    found: float
    proven: float

    def sentence(self, asked: float, *, fixed: bool = True) -> str:
        """What to do about an epsilon that a solver could not keep, if the scales are fixed or change with epsilon."""
        if self.found <= asked:
            return "Some profile does protect everyone: use the optimal solver (for kl, js or tv), or more restarts."
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
    found, proven = to_ask_for(solution.least_epsilon, game.people), 0.0
    numbers = len(game.occupied) * len(game.kernel.scales) * game.histogram.grid.cells
    while numbers <= MOST_NUMBERS and found > CLOSE * max(proven, LEAST_EPSILON) and time.perf_counter() < deadline:
        if math.isinf(found) and proven > 0:
            break
        middle = math.sqrt(found * proven) if proven > 0 else min(found / 2, 64.0)
        if progress is not None:
            note = f"Looking for the least epsilon that these scales allow, from {proven:.4g} to {found:.4g}"
            progress(Round(0, 0, 0, solution.profile, note, left=deadline - time.perf_counter()))
        reached = _worst_loss_within(replace(game, epsilon=max(middle, LEAST_EPSILON), utility="kl"), deadline)
        if reached is None:
            break
        if math.isinf(reached):
            proven = max(proven, ruled_out(middle, game.people))
        else:
            found = min(found, to_ask_for(reached, game.people))
    return LeastEpsilon(found, proven)


def to_ask_for(loss: float, people: int) -> float:
    """The epsilon at which the game, with its margin, calls a person with this loss protected."""
    loss = min(loss, EPSILON_CAP)
    share = (people * math.expm1(loss) + 1) / (people * math.exp(loss)) / (1 - 2 * MARGIN)
    return max(loss, math.log1p(-1 / people) - math.log1p(-share)) * (1 + 1e-9) if share < 1 else math.inf


def ruled_out(epsilon: float, people: int) -> float:
    """The loss that nobody can have who is not protected at epsilon: a little less, for the game's margin."""
    return math.log1p(-1 / people) - math.log1p(-Condition(epsilon, people).upper)


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
