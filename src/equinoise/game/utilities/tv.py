"""Total variation: half the sum of abs(p - q). Where s times a cell's own rows come out it is max(1 - s, 0)."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats
from equinoise.game.utilities import TV

LABEL = "total variation"
KIND, KINKED = TV, True


def ceiling(cells: int) -> float:
    """1: never exceeded."""
    return 1.0


def divergence(n: Floats, s: Floats) -> float:
    """D(p, q) from rows and R q in the occupied cells."""
    rows = float(n.sum())
    return float(np.abs(n - s).sum() + rows - s.sum()) / 2 / rows


def gain(n: Floats, s: Floats, change: Floats) -> float:
    """R times the fall of D when s changes."""
    gap = n - s
    within = np.where(gap > 0, change, 0.0)
    beyond = (np.abs(gap) - np.abs(gap - change) + change) / 2
    return float(np.where(np.abs(gap) < np.abs(change), beyond, within).sum())


def cost(s: Floats) -> Floats:
    """A cell's part of D over its p."""
    return np.maximum(1 - s, 0.0)


def tangents(at: Floats) -> tuple[Floats, Floats]:
    """(a, b) with a - b s at most the cost of s, and equal at one point."""
    steep = np.where(at < 1, 1.0, 0.0)
    return steep, steep
