"""What the optimal solver minimizes: a sum over cells of convex functions of what comes out there.

Where s times a unit of people come out (a unit is the cell's own people, or a tenth of a person where nobody is), a
cell adds its weight times cost(s). Everything that the linear programs know of the utility is here.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.errors import BadInput, one_of
from equinoise.game import Game
from equinoise.grid import Floats

FIRST_TANGENTS = (0.02, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0)
LEAST_AT = 1e-6
"""No tangent further left: they are too steep for HiGHS."""
OFFERED = ("kl", "js", "tv")


class Objective:
    """The utility's divergence of one game, cell by cell.

    Where people are, s costs -ln s (KL), (ln(2/(1 + s)) + s ln(2s/(1 + s)))/2 (JS) or abs(1 - s)/2 (TV). Where nobody
    is, KL has no term; the other two cost s ln(2)/2 and s/2.
    """

    def __init__(self, game: Game) -> None:
        if game.utility not in OFFERED:
            raise BadInput(
                f"The optimal solver offers no utility {game.utility!r}, only {one_of(OFFERED)}. Use best response."
            )
        self.name = game.utility
        counts = game.histogram.counts
        self.unit = np.where(counts > 0, counts, 0.1)
        self.cells = game.occupied if self.name == "kl" else np.arange(len(counts))
        self.weight = self.unit[self.cells] / game.people
        self.lived_in = counts[self.cells] > 0
        self.falling = self.name == "kl"  # then more is always better, and s need not be kept from below

    def cost(self, s: Floats) -> Floats:
        """What each term costs at its s."""
        if self.name == "kl":
            return -np.log(np.maximum(s, 1e-300))
        if self.name == "tv":
            return np.where(self.lived_in, np.abs(1 - s), s) / 2
        s = np.maximum(s, 0.0)
        own = s * np.log(2 * np.maximum(s, 1e-300) / (1 + s))
        return np.where(self.lived_in, np.log(2 / (1 + s)) + own, s * math.log(2)) / 2

    def tangent(self, term: int, at: float) -> tuple[float, float]:
        """cost(s) >= a - b s for every s, with equality at one point: (a, b)."""
        if self.name == "kl":
            return 1 - math.log(at), 1 / at
        if not self.lived_in[term]:
            return 0.0, -(1.0 if self.name == "tv" else math.log(2)) / 2
        if self.name == "tv":
            return (0.5, 0.5) if at < 1 else (-0.5, -0.5)
        return math.log(2 / (1 + at)) / 2, -math.log(2 * at / (1 + at)) / 2

    def value(self, sums: Floats) -> float:
        """The divergence, for people's sums."""
        return float(self.weight @ self.cost(sums[self.cells] / self.unit[self.cells]))
