"""Jensen-Shannon divergence in nats: the mean KL of p and q to their midpoint.

Where s times a cell's own rows come out it is ln 2 + (s ln s - (1 + s) ln(1 + s))/2.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats
from equinoise.game.utilities import JS

LABEL = "Jensen-Shannon divergence"
KIND, KINKED = JS, False


def ceiling(cells: int) -> float:
    """ln 2, nats: never exceeded."""
    return math.log(2)


def divergence(n: Floats, s: Floats) -> float:
    """D(p, q) from rows and R q in the occupied cells."""
    rows = float(n.sum())
    with np.errstate(divide="ignore"):
        there = np.where(s > 0, s * np.log(2 * np.maximum(s, 1e-300) / (n + s)), 0)
        inside = n * np.log(2 * n / (n + s)) + there
    return float(inside.sum() + (rows - s.sum()) * math.log(2)) / 2 / rows


def gain(n: Floats, s: Floats, change: Floats) -> float:
    """R times the fall of D when s changes."""
    near = np.abs(change) <= s / 2
    fall = np.where(near, 0.0, _of_cell(n, s) - _of_cell(n, s + change))
    n, s, d = n[near], s[near], change[near]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = s * np.log1p(d / s) - (n + s) * np.log1p(d / (n + s)) + d * np.log(2 * (s + d) / (n + s + d))
    fall[near] = -np.where(d == 0, 0.0, rise) / 2
    return float(fall.sum()) + float(change.sum()) * math.log(2) / 2


def cost(s: Floats) -> Floats:
    """A cell's part of D over its p."""
    s = np.maximum(s, 0.0)
    return np.asarray(math.log(2) + (_x_log(s) - (1 + s) * np.log1p(s)) / 2)


def tangents(at: Floats) -> tuple[Floats, Floats]:
    """(a, b) with a - b s at most the cost of s, and equal at one point."""
    return math.log(2) - np.log1p(at) / 2, np.log1p(1 / at) / 2


def _of_cell(n: Floats, s: Floats) -> Floats:
    """R times one cell's part, without that of the mass outside: (n ln 2n + s ln 2s - (n + s) ln(n + s)) / 2."""
    return (_x_log(n) + _x_log(s) - _x_log(n + s) + (n + s) * math.log(2)) / 2


def _x_log(x: Floats) -> Floats:
    return x * np.log(np.maximum(x, 1e-300))
