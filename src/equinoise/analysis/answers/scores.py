"""Tests of one number by a score, a weighted sum of noisy counts that is 0 on average where the number is the true one.

An interval has every number that its test does not reject, each side at half of what the level leaves. That keeps the
level where there are few people beside the noise, and estimates divided by their standard errors do not.

The score over its estimated standard deviation is nearly normal. Its quantiles are corrected for the skewness g and
the excess kurtosis k of noise and people (Cornish and Fisher 1938), and for the variance being estimated from the
same counts (Hall 1992): c is the covariance of score and estimated variance over the variance to the 3/2, and r the
variance of the estimated variance over its square.

    q(z) = z - c/2 + (z^2 - 1) (g - 3 c)/6 + (z^3 - 3 z) k/24 + (z^3 + z) r/8
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from equinoise.data.grid import Floats

MOST_SKEW, MOST_KURTOSIS, MOST_UNSURE = 1.0, 3.0, 0.5
"""Beyond these the correction is not to be trusted. A double exponential has a kurtosis of 3."""

ROUNDING = 1e-12
GRID, ROUNDS, PARTS = 65, 3, 17
"""Numbers at which a test is tried, and how often the place where it turns is cut into so many parts."""


@dataclass(frozen=True, eq=False)
class Score:
    """Scores at several numbers; their variances, third cumulants, covariances with the estimated variance and fourth
    cumulants, and the variance of the estimated variance. ``size`` is what a rounding error is a part of."""

    value: Any
    variance: Any
    third: Any
    covariance: Any
    fourth: Any
    unsure: Any
    size: float

    def most(self, tail: float) -> Floats:
        """Above which the score is with probability ``tail``."""
        variance = np.maximum(self.variance, (ROUNDING * self.size) ** 2 + 1e-100)  # whose square is above 0, too
        deviation = np.sqrt(variance)
        cube, square = variance * deviation, variance * variance
        z = NormalDist().inv_cdf(1 - tail)
        skew = np.minimum(np.maximum(self.third / cube, -MOST_SKEW), MOST_SKEW)
        shared = np.minimum(np.maximum(self.covariance / cube, -MOST_SKEW), MOST_SKEW)
        kurtosis = np.minimum(self.fourth / square, MOST_KURTOSIS)
        unsure = np.minimum(self.unsure / square, MOST_UNSURE)
        place = z - shared / 2 + (z * z - 1) * (skew - 3 * shared) / 6
        place = place + (z**3 - 3 * z) * kurtosis / 24 + (z**3 + z) * unsure / 8
        return np.asarray(place * deviation)

    def excess(self, tail: float) -> Floats:
        """How far above that the score is: what it is of is rejected where this is above 0."""
        return np.asarray(self.value - self.most(tail))


def shorter(whole: Score, part: Score, cost: Floats, tail: float) -> Floats:
    """The excess of one of two scores, whichever can be expected to reject more: ``part`` has less noise, and is less
    by ``cost``. Only variances decide."""
    most, most_of_part = whole.most(tail), part.most(tail)
    return np.asarray(np.where(most <= most_of_part + cost, whole.value - most, part.value - most_of_part))


def least_accepted(excess: Callable[[Floats], Floats], grid: Floats) -> float | None:
    """The least number of a rising grid, refined, where ``excess`` is not above 0; None if there is none."""
    for _ in range(ROUNDS):
        accepted = excess(grid) <= 0
        if not accepted.any():
            return None
        first = int(np.argmax(accepted))
        found = float(grid[first])
        if first == 0:
            break
        grid = np.linspace(grid[first - 1], found, PARTS)
    return found


def tried(low: float, high: float, near: float, error: float) -> Floats:
    """Numbers from low to high at which a test is tried: evenly, and closer together around ``near``."""
    close = near + error * np.linspace(-6, 6, GRID // 2)
    return np.unique(np.clip(np.concatenate([np.linspace(low, high, GRID), close]), low, high))
