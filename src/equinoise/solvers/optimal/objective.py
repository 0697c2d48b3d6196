"""What the optimal solver minimizes: a sum of curves of what comes out in a cell, or of gaps of linear features.

A curve is convex and falls: where s times an occupied cell's own rows come out, the cell adds its weight times cost(s).
A gap is the absolute value of a linear function of the fractions. Every utility has one kind of them and none of the
other. Everything that the linear programs know of the utility is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from highspy import kHighsInf

from equinoise.choices import UTILITIES, load
from equinoise.data.grid import Floats
from equinoise.game.game import Game
from equinoise.solvers.optimal.highs import add_constraint

FIRST_TANGENTS = (0.02, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0)
LEAST_AT = 1e-6
"""No tangent further left: they are too steep for HiGHS."""
MOST_LIFT = 50.0
"""Less is also true, and HiGHS works with moderate numbers."""


class Objective:
    """The utility's divergence of one game: ``cells`` that have a curve, and ``features`` (pairs x features, what one
    person adds) that have a gap.

    What s costs has in it what comes out where nobody is: it is what does not come out here, and all utilities are
    linear in it. So all of them fall with s.
    """

    def __init__(self, game: Game) -> None:
        self.total_rows = game.total_rows
        self.curve = game.closeness.curve or load(UTILITIES, "tv")  # without one no cell has any, and any will do
        curves = slice(0, 0) if game.closeness.curve is None else slice(None)
        self.cells = game.players.occupied[curves]
        self.unit = game.players.counts[curves]  # s counts S in these
        self.weight = self.unit / game.total_rows
        self.features = game.features.reshape(game.players.types * game.scales, -1)
        self.original = game.original_features

    def add_tangent(self, highs: Any, t: int, s: int, at: float) -> None:
        """Keep the column t above the curve's tangent at one s: t >= a - b s."""
        low, slope = self.curve.tangents(np.array(at))
        add_constraint(highs, float(low), kHighsInf, [t, s], [1.0, float(slope)])

    def lift(self, s: Floats, at: Floats) -> Floats:
        """How far the curve is above a tangent at s, and at every s beyond; nothing left of where they touch."""
        a, b = self.curve.tangents(at)
        return np.where(s > at, np.clip(self.curve.cost(s) - (a - b * s), 0.0, MOST_LIFT), 0.0)

    def add_gaps(self, highs: Any, each: Floats) -> None:
        """The gaps of a linear program whose first columns add so much to every feature: columns x features.

        A gap is the difference of two new columns, both of which cost. Counted in the largest entry of its row, all
        gaps together cost at most about 1, so that what HiGHS takes for zero does not add up.
        """
        for column, original in zip(each.T, self.original.tolist(), strict=True):
            unit = max(float(column.max()), 1e-300)
            first = highs.getNumCol()
            highs.addVars(2, np.zeros(2), np.full(2, kHighsInf))
            for gap in (first, first + 1):
                highs.changeColCost(gap, unit / self.total_rows)
            add_constraint(
                highs, original / unit, original / unit,
                [*range(len(column)), first, first + 1], [*(column / unit), 1.0, -1.0],
            )  # fmt: skip
