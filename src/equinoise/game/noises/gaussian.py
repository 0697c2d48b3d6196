"""Normal with standard deviation the scale, by the tail function; so wide that it cancels, by the density."""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats


def by_distance(width: float, bins: int) -> Floats:
    """Mass by distance in bins: bins."""
    if width < 1e-4:
        return np.asarray(np.exp(-((np.arange(bins) * width) ** 2) / 2))
    edges = (np.arange(bins + 1) - 0.5) * width / math.sqrt(2)
    beyond = np.array([math.erfc(edge) for edge in edges.tolist()])
    return np.asarray(beyond[:-1] - beyond[1:])
