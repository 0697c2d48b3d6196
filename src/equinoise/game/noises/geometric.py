"""The Laplace family's discrete relative: exp(-d r), d bins away."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats


def by_distance(width: float, bins: int) -> Floats:
    """Mass by distance in bins: bins."""
    return np.asarray(np.exp(-np.arange(bins) * width))
