"""The own bin or, with odds scale to 1, any of the K bins: each other one gets 1 / (1 + K / scale) of the own."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats


def by_distance(width: float, bins: int) -> Floats:
    """Mass by distance in bins: bins."""
    return np.append(1.0, np.full(bins - 1, 1 / (1 + bins * bins * width)))
