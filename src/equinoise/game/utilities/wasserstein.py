"""Wasserstein distance of every column alone, as a share of its range: from its running totals."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats

LABEL = "Wasserstein distance"


def ceiling(cells: int) -> float:
    """1, the whole range: never exceeded."""
    return 1.0


def features(bins: int) -> Floats:
    """The running totals of a column but the last, which is 1: (bins - 1) x bins."""
    return np.asarray(np.tri(bins)[:-1] / (bins - 1))
