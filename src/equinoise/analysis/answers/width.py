"""What the width of an interval mostly comes from: the privacy noise, the sampling of people, or the bins.

An interval reaches about b + sqrt(v^2 + s^2) to either side: b is what the bins add at worst, v and s are the normal
quantile times the standard deviations of noise and people. One of the three is named if more than half of that is its
own; of the root, noise and people have parts like v^2 and s^2. It is a guide to what would make the interval narrower,
and changes no interval.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from equinoise.analysis.answers.number_column import NumberColumn

BINS, NOISE, PEOPLE = "bins", "noise", "people"

Reach = tuple[float, float, float]
"""How far an interval reaches because of bins, noise and people, in the unit of what is asked."""


def mostly_from(*reaches: Reach) -> str | None:
    """The largest part of the width, if it is more than half; of several numbers that are compared, together."""
    bins = sum(reach[0] for reach in reaches)
    noise, people = (sum(reach[k] ** 2 for reach in reaches) for k in (1, 2))
    root = math.sqrt(noise + people)
    if root == 0:
        return BINS if bins > 0 else None
    parts = {BINS: bins, NOISE: root * noise / (noise + people), PEOPLE: root * people / (noise + people)}
    largest = max(parts, key=parts.__getitem__)
    return largest if parts[largest] > (bins + root) / 2 else None


def share_reach(noise: float, people: float, total: float, level: float) -> Reach:
    """That of a share, by the variances of its score."""
    return 0.0, *_deviations(noise, people, total, level)


def mean_reach(column: NumberColumn, estimate: float | None, level: float) -> Reach:
    """That of a mean: the bins add half a width for each person of a heap."""
    total, square = column.sums.total, (column.values - (estimate or 0.0)) ** 2
    if estimate is None or total <= 0:
        return 0.0, 0.0, 0.0
    bins = float(column.heaps @ (column.last - column.first)) / 2 / total
    people = column.rows_per_person * float(column.sums.people @ square)
    return bins, *_deviations(float(column.sums.variance @ square), people, total, level)


def quantile_reach(column: NumberColumn, q: float, interval: tuple[float, float, float], level: float) -> Reach:
    """That of a quantile, with this estimate, low and high: noise and people by how close people are to each other at
    the estimate, and the bins what is left."""
    estimate, low, high = interval
    bin = int(np.clip(np.searchsorted(column.first, estimate, side="right") - 1, 0, len(column.first) - 1))
    here, below = float(column.sums.people[bin]), float(column.sums.variance[: bin + 1].sum())
    total, above = column.sums.total, float(column.sums.variance[bin + 1 :].sum())
    noise = (1 - q) ** 2 * below + q**2 * above
    people = column.rows_per_person * max(total, 0.0) * q * (1 - q)
    wide = float(column.last[bin] - column.first[bin])
    if wide == 0 or here <= 0:
        return 0.0, math.sqrt(noise), math.sqrt(people)
    own = _deviations(noise, people, here / wide, level)
    return max((high - low) / 2 - math.hypot(*own), 0.0), *own


def _deviations(noise: float, people: float, total: float, level: float) -> tuple[float, float]:
    """How far noise and people reach, of a score with these variances that rises by ``total``."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    return z * math.sqrt(max(noise, 0.0)) / total, z * math.sqrt(max(people, 0.0)) / total
