"""Closeness on a joint grid, from the occupied cells alone.

Outside them p is zero. KL does not look there; the parts of Jensen-Shannon and of total variation there are linear in
q, and the mass outside is what is not inside. So each is a sum over the occupied cells, whatever the grid's size. All
are convex in q: a move gains at most what the slopes say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equinoise.errors import check
from equinoise.grid import Floats
from equinoise.utility import JS, KL, LINEAR, Utility

NAMES = ("kl", "js", "tv")


@dataclass(frozen=True)
class JointUtility:
    """A divergence of q from p and the ceiling that scales it. n are people, s = N q, both in the occupied cells."""

    name: str
    kind: int
    ceiling: float

    def divergence(self, n: Floats, s: Floats) -> float:
        """Of q from p; s may be in many rows."""
        people = float(n.sum())
        with np.errstate(divide="ignore"):
            if self.kind == KL:
                return float(n @ np.log(n / s)) / people
            if self.kind == JS:
                inside = n * np.log(2 * n / (n + s)) + np.where(
                    s > 0, s * np.log(2 * np.maximum(s, 1e-300) / (n + s)), 0
                )
                return float(inside.sum() + (people - s.sum()) * math.log(2)) / 2 / people
        return float(np.abs(n - s).sum() + people - s.sum()) / 2 / people

    def scaled(self, divergence: float) -> float:
        """The utility: 1 for no divergence, 0 from the ceiling on."""
        return min(max(1 - divergence / self.ceiling, 0.0), 1.0)

    def gain(self, n: Floats, s: Floats, change: Floats) -> float:
        """N times the fall of the divergence when s changes: from the change itself, so that one person shows."""
        if self.kind != LINEAR:
            curve = Utility(self.name, self.kind, self.ceiling, np.zeros((0, len(n))))
            return curve.gain(n, s, change) + (float(change.sum()) * math.log(2) / 2 if self.kind == JS else 0.0)
        gap = n - s
        within = np.where(gap > 0, change, 0.0)
        return float(
            np.where(np.abs(gap) < np.abs(change), (np.abs(gap) - np.abs(gap - change) + change) / 2, within).sum()
        )

    def slopes(self, n: Floats, s: Floats) -> Floats:
        """How fast N times the divergence falls as s grows in each cell; a move gains at most slopes @ change."""
        if self.kind == KL:
            return n / s
        if self.kind == JS:
            return np.asarray(np.log1p(n / s) / 2)
        return np.where(n > s, 1.0, 0.0)


def named_jointly(name: object, cells: int) -> JointUtility:
    """The utility of that name, on a joint grid of so many cells."""
    check(name in NAMES, "utility", "'kl', 'js' or 'tv' with several columns", name)
    kind, ceiling = {"kl": (KL, math.log(cells)), "js": (JS, math.log(2)), "tv": (LINEAR, 1.0)}[str(name)]
    return JointUtility(str(name), kind, ceiling)
