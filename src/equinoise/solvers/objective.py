"""What the optimal solver minimizes: a sum over the occupied cells of convex, falling functions of what comes out.

Where s times a cell's own rows come out, the cell adds its weight times cost(s). Everything that the linear programs
know of the utility is here.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.errors import BadInput, one_of
from equinoise.game.closeness import JS, KL, TV
from equinoise.game.game import Game
from equinoise.grid import Floats

FIRST_TANGENTS = (0.02, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0)
LEAST_AT = 1e-6
"""No tangent further left: they are too steep for HiGHS."""
MOST_LIFT = 50.0
"""Less is also true, and HiGHS works with moderate numbers."""
OFFERED = ("kl", "js", "tv")


class Objective:
    """The utility's divergence of one game, cell by cell.

    s costs -ln s (KL), ln 2 + (s ln s - (1 + s) ln(1 + s))/2 (JS) or max(1 - s, 0) (TV). That has in it what comes out
    where nobody is: it is what does not come out here, and JS and TV are linear in it. So all three fall with s.
    """

    def __init__(self, game: Game) -> None:
        if game.utility not in OFFERED:
            raise BadInput(
                f"The optimal solver offers no utility {game.utility!r}, only {one_of(OFFERED)}. Use best response."
            )
        self.kind = game.closeness.kind
        self.cells = game.players.occupied
        self.unit = game.players.counts  # s counts S in these
        self.weight = self.unit / game.total_rows

    def cost(self, s: Floats) -> Floats:
        """What each cell costs at its s."""
        if self.kind == KL:
            return -np.log(np.maximum(s, 1e-300))
        if self.kind == TV:
            return np.maximum(1 - s, 0.0)
        s = np.maximum(s, 0.0)
        return np.asarray(math.log(2) + (s * np.log(np.maximum(s, 1e-300)) - (1 + s) * np.log1p(s)) / 2)

    def tangents(self, at: Floats) -> tuple[Floats, Floats]:
        """cost(s) >= a - b s for every s, with equality at one point: (a, b)."""
        if self.kind == KL:
            return 1 - np.log(at), 1 / at
        if self.kind == JS:
            return math.log(2) - np.log1p(at) / 2, np.log1p(1 / at) / 2
        steep = np.where(at < 1, 1.0, 0.0)
        return steep, steep

    def tangent(self, at: float) -> tuple[float, float]:
        """One of them."""
        a, b = self.tangents(np.array(at))
        return float(a), float(b)

    def lift(self, s: Floats, at: Floats) -> Floats:
        """How far the curve is above a tangent at s, and at every s beyond; nothing left of where they touch."""
        a, b = self.tangents(at)
        return np.where(s > at, np.clip(self.cost(s) - (a - b * s), 0.0, MOST_LIFT), 0.0)

    def value(self, sums: Floats) -> float:
        """The divergence, for S over all cells."""
        return float(self.weight @ self.cost(sums[self.cells] / self.unit))
