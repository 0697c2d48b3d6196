"""Distance of the first N moments of every column alone, its range being 0 to 1, averaged over them."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats

LABEL = "distance of moments"
NUMBERS = range(1, 11)


def ceiling(cells: int) -> float:
    """1: never exceeded."""
    return 1.0


def features(bins: int, order: int) -> Floats:
    """Powers 1 to ``order`` of the bins' midpoints: order x bins."""
    powers = np.arange(1, order + 1)[:, None]
    return np.asarray(((np.arange(bins) + 0.5) / bins)[None, :] ** powers / len(powers))
