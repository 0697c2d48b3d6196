"""Counts of the people in the data, with intervals.

The sum of the noisy counts of k cells is the number of rows in them plus k independent discrete Laplace variables,
whose law is public and has no parameter that is not known. So the interval is exact: the sum less and plus the least
t with P(noise > t) at most half of what the level leaves. The law of the noise's sum comes from its characteristic
function,

    ((1 - a)^2 / ((1 - a)^2 + 4 a sin(s/2)^2))^k,   a = e^(-1/scale)

by a Fourier transform over more whole numbers than it can reach. Where these would be too many, it is normal with a
correction for its kurtosis. People are in the data or not, so nothing is sampled.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from equinoise.analysis.answers.answer import NOISE, Answer, check_level
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.data.category_axis import Category
from equinoise.data.grid import Floats
from equinoise.errors import BadInput
from equinoise.synthesis.noisy_counts import NoiseLaw

MOST_POINTS = 1 << 20
REACH = 40
"""How many scales and standard deviations the law is written out to: beyond there is less than 1e-15."""


def count(
    table: NoisyTable, column: str | None = None, category: Category | None = None, level: float = 0.95
) -> Answer:
    """How many rows of the data are in a category (None: have no value), or without a column in the table."""
    check_level(level)
    if column is None and category is not None:
        raise BadInput(f"A count of {category!r} needs the column that it is a category of.")
    chosen = table if column is None else table.where(column, category)
    noisy = int(chosen.counts.sum(dtype=object))
    most = noise_quantile(chosen.law, chosen.counts.size, (1 - level) / 2)
    low, high = max(noisy - most, 0), max(noisy + most, 0)
    question = "count" if column is None else f"count:{column}={category}"
    return Answer(question, None, float(max(noisy, 0)), float(low), float(high), level, (NOISE,))


@lru_cache(maxsize=64)
def noise_quantile(law: NoiseLaw, cells: int, tail: float) -> int:
    """The least whole number that the noise of so many cells together exceeds with at most this probability."""
    deviation = math.sqrt(cells * law.variance)
    points = 1 << math.ceil(math.log2(2 * REACH * (deviation + law.scale) + 64))
    if points > MOST_POINTS:
        return _normal_quantile(law, cells, tail)
    above = np.cumsum(noise_probabilities(law, cells, points)[::-1])[::-1]
    return int(np.argmax(np.concatenate([above[points // 2 + 1 :], [0.0]]) <= tail))


def noise_probabilities(law: NoiseLaw, cells: int, points: int) -> Floats:
    """The probability that the noise of so many cells adds up to -points/2, ..., points/2 - 1."""
    a = math.exp(-1 / law.scale)
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    small = -math.expm1(-1 / law.scale)
    characteristic = np.exp(-cells * np.log1p(4 * a * np.sin(angle / 2) ** 2 / small**2))
    return np.maximum(np.fft.fftshift(np.fft.irfft(characteristic, points)), 0)


def _normal_quantile(law: NoiseLaw, cells: int, tail: float) -> int:
    """That of a normal law of this variance and kurtosis."""
    kurtosis = (3 + 1 / law.variance) / cells
    z = NormalDist().inv_cdf(1 - tail)
    return math.ceil((z + (z**3 - 3 * z) * kurtosis / 24) * math.sqrt(cells * law.variance) - 0.5)
