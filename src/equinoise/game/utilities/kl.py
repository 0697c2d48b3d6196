"""Kullback-Leibler divergence in nats: the sum of p ln(p / q). Where s times a cell's own rows come out it is -ln s."""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats
from equinoise.game.utilities import KL

LABEL = "KL"
KIND, KINKED = KL, False


def ceiling(cells: int) -> float:
    """ln K, nats; KL can exceed it."""
    return math.log(cells)


def divergence(n: Floats, s: Floats) -> float:
    """D(p, q) from rows and R q in the occupied cells."""
    with np.errstate(divide="ignore"):
        return float(n @ np.log(n / s)) / float(n.sum())


def gain(n: Floats, s: Floats, change: Floats) -> float:
    """R times the fall of D when s changes."""
    with np.errstate(divide="ignore"):
        return float(n @ np.log1p(change / s))


def cost(s: Floats) -> Floats:
    """A cell's part of D over its p."""
    return -np.log(np.maximum(s, 1e-300))


def tangents(at: Floats) -> tuple[Floats, Floats]:
    """(a, b) with a - b s at most the cost of s, and equal at one point."""
    return 1 - np.log(at), 1 / at
