"""Populations that nobody is in: distributions of people over a grid, by which plans tell what to expect without data.

Each is a mixture of one to three bells, smooth along the columns of numbers, correlated within a bell and between
bells, with uneven shares of categories that differ from bell to bell. How wide, skewed and rough they are was chosen
such that expectations hold on real tables (``benchmarks/plan.md``); what decides is in the schema:

- Bounds that begin at 0, with 24 bins or more: an amount, such as an income. Most people are in the lower third, and a
  few far above (log-normal).
- Other numbers, such as ages: bells around the middle of the bounds.
- Up to 25 values, such as years of school: some of them are far more frequent than their neighbours.
- Categories: the k-th most frequent has a share of about k^-z, z from 1 to 3.
- Where a bin is for missing values: a twentieth of the people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats

POPULATIONS = 5
SEED = 1
"""Public: the same populations for everybody."""

BELLS = (1, 2, 3, 1, 2)
AMOUNT_BINS = 24
AMOUNT_MEANS, AMOUNT_SHAPES = (0.1, 0.27), (2.0, 5.0)
"""As a share of the bounds, and one over the variance of the logarithm."""

CENTRES, WIDTHS = (0.35, 0.62), (0.085, 0.175)
CORRELATIONS = (0.2, 0.6)
FEW_VALUES, ROUGHNESS_OF_FEW, ROUGHNESS = 25, 1.5, 0.15
"""Variance of what each value of a column is more, or less, frequent than its neighbours; 1 is as frequent."""

CELL_ROUGHNESS = 0.3
ZIPF, SHARE_ROUGHNESS = (1.0, 3.0), 0.8
MISSING = 0.05
LEAST = 1e-3
"""Nothing is less frequent than this, beside what is usual around it."""


def population(axes: Sequence[AnyAxis], number: int) -> Floats:
    """The probability of every cell (flat, summing to 1) in one of the populations."""
    rng = np.random.default_rng([SEED, number])
    bells = BELLS[number % len(BELLS)]
    shares, places = rng.dirichlet([3.0] * bells), rng.normal(0, 0.7, bells)
    columns = [_Numbers.of(axis, rng) if isinstance(axis, Axis) else _shares(axis.bins, rng) for axis in axes]
    rho = rng.uniform(*CORRELATIONS)
    table: Floats = np.zeros(())
    for share, place in zip(shares, places, strict=True):
        bell = _bell(columns, place, rho, bells > 1, rng)
        table = table + share * bell / bell.sum()
    table = table * rng.gamma(1 / CELL_ROUGHNESS, CELL_ROUGHNESS, table.shape)
    for at, axis in enumerate(axes):
        if isinstance(axis, Axis) and axis.categories:
            table = np.concatenate([(1 - MISSING) * table, MISSING * table.sum(axis=at, keepdims=True)], axis=at)
    return np.asarray((table / table.sum()).ravel())


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of numbers: the middles of its bins as shares of the bounds, where bells are and how wide, and how
    frequent each bin is beside its neighbours."""

    x: Floats
    amount: bool
    centre: float
    width: float
    frequency: Floats

    @classmethod
    def of(cls, axis: Axis, rng: np.random.Generator) -> _Numbers:
        """What a population has on an axis."""
        bins = axis.number_bins
        amount = axis.low == 0 and axis.day_zero is None and bins >= AMOUNT_BINS
        centre = rng.uniform(*(AMOUNT_MEANS if amount else CENTRES))
        width = 1 / math.sqrt(rng.uniform(*AMOUNT_SHAPES)) if amount else rng.uniform(*WIDTHS)
        rough = ROUGHNESS_OF_FEW if 0 < axis.steps <= FEW_VALUES else ROUGHNESS
        frequency = rng.gamma(1 / rough, rough, bins) + LEAST
        return cls((np.arange(bins) + 0.5) / bins, amount, centre, width, frequency)

    def distances(self, place: float, factor: float) -> Floats:
        """How far every bin is from the middle of a bell, in widths; ``place`` is where the bell is, in widths."""
        if self.amount:
            middle = math.log(self.centre) - self.width**2 / 2 + 0.8 * place * self.width
            return np.asarray((np.log(self.x) - middle) / self.width)
        return np.asarray(((self.x - self.centre) / self.width - place) / factor)

    def frequencies(self) -> Floats:
        """What a bin's density is multiplied by."""
        return self.frequency / self.x if self.amount else self.frequency


def _shares(categories: int, rng: np.random.Generator) -> Floats:
    """How frequent every category is."""
    ranks = np.arange(1, categories + 1, dtype=np.float64)
    return np.asarray(rng.permutation(ranks ** -rng.uniform(*ZIPF)))


def _bell(
    columns: Sequence[_Numbers | Floats], place: float, rho: float, several: bool, rng: np.random.Generator
) -> Floats:
    """One bell over the cells, a table: a normal density with one correlation between any two numbers, times shares.

    With n numbers at distances z, twice -ln of it is (sum of z^2 - rho (sum of z)^2 / (1 + (n - 1) rho)) / (1 - rho).
    """
    numbers = sum(isinstance(column, _Numbers) for column in columns)
    total, square, factor = np.zeros(()), np.zeros(()), np.ones(())
    for number, column in enumerate(columns):
        along = [1] * len(columns)
        along[number] = -1
        if isinstance(column, _Numbers):
            own = place + rng.normal(0, 0.5) if several else place
            z = column.distances(own, rng.uniform(0.8, 1.2) * (0.8 if several else 1.0)).reshape(along)
            total, square = total + z, square + z * z
            factor = factor * column.frequencies().reshape(along)
        else:
            share = column * rng.gamma(1 / SHARE_ROUGHNESS, SHARE_ROUGHNESS, len(column)) + LEAST
            factor = factor * (share / share.sum()).reshape(along)
    form = square if numbers < 2 else (square - rho / (1 + (numbers - 1) * rho) * total * total) / (1 - rho)
    return np.asarray(np.exp((form.min() - form) / 2) * factor)
