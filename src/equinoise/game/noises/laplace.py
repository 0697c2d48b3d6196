"""Density exp(-t): with width r, d >= 1 bins away it is exp(-(d - 1/2) r), in the own bin 2 / (1 + exp(-r/2))."""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats


def by_distance(width: float, bins: int) -> Floats:
    """Mass by distance in bins: bins."""
    others = np.exp(-(np.arange(1, bins) - 0.5) * width)
    return np.append(2 / (1 + math.exp(-width / 2)), others)
