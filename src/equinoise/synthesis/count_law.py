"""How likely a noisy count is, and what the count behind it was, given how many people one expects in a cell.

Given the rate m = e^u of a cell, its people n are 0 with probability 1 - pi, and else negative binomial with mean m/pi
and variance m/pi + phi (m/pi)^2. The noisy count is z = n + discrete Laplace noise of a public scale b:

    L(z, u) = sum over n of P(n | u) N(z - n),   N(k) = (1 - a)/(1 + a) a^|k|,   a = e^(-1/b)
    E(z, u) = sum over n of n P(n | u) N(z - n) / L(z, u)        the mean of n, given z

phi says how rough the table is around a smooth rate, and pi that only some cells are used at all (heaped values, bins
that do not fit the data's steps).

Both are tabled for z below a limit (15 b + 30), over a lattice of n that grows coarse where the noise does not tell
neighbours apart, and a lattice of u; between lattice points of u, ln L is a cubic and ln E linear. At or below 0 all z
say the same, because N(z - n) = e^(z/b) N(-n). From the limit on the noise is small beside the count: ln L is the
negative binomial's at z itself with phi raised by variance/z^2, and E is the linear estimate m/pi + v/(v + variance)
(z - m/pi), v = m/pi + phi (m/pi)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import Floats, Ints

LOWEST_U, STEP_U, HEADROOM_U = -12.0, 0.15, 3.0
"""Rates from six millionths of a person to twenty times the largest noisy count."""


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Noisy counts, one a cell, as the tables are asked for them."""

    z: Floats
    scale: float

    @property
    def limit(self) -> float:
        """From where on the noise is small beside the count."""
        return 15 * self.scale + 30

    @cached_property
    def lattice(self) -> Floats:
        """Whole numbers from 0 to beyond the limit, up to b/8 and n/16 apart."""
        points = [0.0]
        while points[-1] < self.limit + 12 * self.scale:
            points.append(points[-1] + max(1, round(min(points[-1] / 16, self.scale / 8))))
        return np.array(points)

    @cached_property
    def levels(self) -> Floats:
        """The z of the tables: 0 for all at or below it, and the lattice below the limit."""
        return self.lattice[self.lattice < self.limit]

    @cached_property
    def level(self) -> Ints:
        """Each cell's nearest of the levels."""
        middles = (self.levels[1:] + self.levels[:-1]) / 2
        return np.searchsorted(middles, self.z).astype(np.int64)

    @cached_property
    def large(self) -> Ints:
        """The cells from the limit on."""
        return np.flatnonzero(self.z >= self.limit)

    @cached_property
    def large_z(self) -> Floats:
        """Their noisy counts."""
        return self.z[self.large]

    @property
    def variance(self) -> float:
        """Of the noise on one cell."""
        half = 1 / (2 * self.scale)
        return 0.0 if half > 350 else 1 / (2 * math.sinh(half) ** 2)

    @cached_property
    def rates(self) -> Floats:
        """The lattice of u."""
        highest = math.log(max(float(self.z.max()), 10.0)) + HEADROOM_U
        return np.arange(LOWEST_U, highest, STEP_U)


class CountLaw:
    """ln L with its slope, and E, for the noisy counts of ``cells``."""

    def __init__(self, cells: NoisyCells, phi: float, pi: float) -> None:
        self.cells, self.phi, self.pi = cells, phi, pi
        value, slope, self._ln_mean = self._tables()
        low, high, rise, fall = value[:-1], value[1:], slope[:-1] * STEP_U, slope[1:] * STEP_U
        square, cube = 3 * (high - low) - 2 * rise - fall, 2 * (low - high) + rise + fall
        self._cubics = np.stack([low, rise, square, cube], axis=2).reshape(-1, 4)

    def _tables(self) -> tuple[Floats, Floats, Floats]:
        """ln L, its slope in u, and ln E: rates by levels."""
        cells, n = self.cells, self.cells.lattice
        mean = np.exp(cells.rates)[:, None] / self.pi
        width = np.gradient(n)
        log_prior = math.log(self.pi) + log_negative_binomial(n, mean, 1 / self.phi) + np.log(width)
        top = np.maximum(log_prior.max(axis=1, keepdims=True), math.log1p(-self.pi) if self.pi < 1 else -np.inf)
        prior = np.exp(log_prior - top)
        sloped = prior * (n - mean) / (1 + self.phi * mean)
        if self.pi < 1:
            prior[:, 0] += (1 - self.pi) * np.exp(-top[:, 0])
        noise = np.exp(-np.abs(n[:, None] - cells.levels) / cells.scale) * math.tanh(1 / (2 * cells.scale))
        likelihood = np.maximum(prior @ noise, 1e-290)
        mean_people = np.maximum((prior * n) @ noise / likelihood, 1e-12)
        return np.log(likelihood) + top, sloped @ noise / likelihood, np.log(mean_people)

    def _place(self, u: Floats) -> tuple[Ints, Floats]:
        """Where in the tables each cell is: the row before u, and how far behind it."""
        last = len(self.cells.rates) - 2
        x = (u - LOWEST_U) / STEP_U
        row = np.clip(x, 0, last).astype(np.int64)
        return row, np.clip(x - row, 0, 1)

    def log_likelihood(self, u: Floats) -> tuple[Floats, Floats]:
        """ln L of every cell's z at its u, and the slope in u; below and above the lattice as at its ends."""
        row, part = self._place(u)
        terms = np.take(self._cubics, row * len(self.cells.levels) + self.cells.level, axis=0)
        constant, first, second, third = terms.T
        value = constant + part * (first + part * (second + part * third))
        slope = (first + part * (2 * second + part * 3 * third)) / STEP_U
        if len(self.cells.large):
            at, z = self.cells.large, self.cells.large_z
            mean = np.exp(np.clip(u[at], LOWEST_U, self.cells.rates[-1])) / self.pi
            phi = self.phi + self.cells.variance / z**2
            value[at] = math.log(self.pi) + log_negative_binomial(z, mean, 1 / phi)
            slope[at] = (z - mean) / (1 + phi * mean)
        return value, slope

    def mean_people(self, u: Floats) -> Floats:
        """E of every cell, above 0."""
        row, part = self._place(u)
        low, high = self._ln_mean[row, self.cells.level], self._ln_mean[row + 1, self.cells.level]
        found: Floats = np.exp(low + part * (high - low))
        if len(self.cells.large):
            at, z = self.cells.large, self.cells.large_z
            mean = np.exp(np.clip(u[at], LOWEST_U, self.cells.rates[-1])) / self.pi
            spread = mean + self.phi * mean**2
            found[at] = mean + spread / (spread + self.cells.variance) * (z - mean)
        return found


def log_negative_binomial(n: Any, mean: Any, shape: Any) -> Floats:
    """ln of the probability of n, of this mean and the variance mean + mean^2/shape."""
    from scipy.special import gammaln

    odds = mean / shape
    found = gammaln(n + shape) - gammaln(shape) - gammaln(n + 1) + n * np.log(odds) - (n + shape) * np.log1p(odds)
    return np.asarray(found, dtype=np.float64)
