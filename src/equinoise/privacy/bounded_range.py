"""What draws cost together whose log-ratios each have one range: Dong, Durfee, Rogers (2020), all draws of one pair.

Floating point, to choose an epsilon and to show what draws cost. Whether draws are within a budget is decided apart
from this, in whole numbers, by :mod:`equinoise.privacy.range_certificate`, where the argument is.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.privacy.range_certificate import LARGEST, MOST_COMPOSED, SMALLEST

_INSIDE = 1e-8
"""More than floating point gets an epsilon wrong, as a share of it."""


def worst_delta(epsilon: float, draws: int, total: float) -> float:
    """The least delta of so many draws within ``total``: the largest of P - e^total Q over all numbers of hits."""
    from scipy.special import bdtr  # here, so that the package starts without it

    hits = np.arange(draws)
    t = (total + (hits + 1) * epsilon) / (draws + 1)
    hits, t = hits[t < epsilon], t[t < epsilon]
    p = bdtr(hits, draws, np.expm1(t) / math.expm1(epsilon))
    q = bdtr(hits, draws, np.expm1(-t) / math.expm1(-epsilon))
    return float((p - math.exp(total) * q).max(initial=0.0))


def composed_epsilon(total: float, delta: float, draws: int, low: float) -> float:
    """The largest epsilon of a draw such that so many stay within the total, no less than ``low``, which does so."""
    if draws > MOST_COMPOSED or low < SMALLEST or max(total, low) > LARGEST:
        return low
    least, high = low, 2 * low
    while high < LARGEST and worst_delta(high, draws, total) <= delta:
        low, high = high, 2 * high
    high = min(high, LARGEST)
    while high - low > _INSIDE / 100 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if worst_delta(middle, draws, total) <= delta else (low, middle)
    return max(low * (1 - _INSIDE), least)


def composed_cost(epsilon: float, draws: int, delta: float, most: float) -> float:
    """The least epsilon of so many draws together, no more than ``most``, which they are within."""
    low, high = 0.0, min(most, LARGEST)
    if draws > MOST_COMPOSED or not SMALLEST <= epsilon <= LARGEST or worst_delta(epsilon, draws, high) > delta:
        return most
    while high - low > _INSIDE / 100 * high and high > _INSIDE * epsilon:
        middle = (low + high) / 2
        low, high = (low, middle) if worst_delta(epsilon, draws, middle) <= delta else (middle, high)
    return min(high * (1 + _INSIDE), most)
