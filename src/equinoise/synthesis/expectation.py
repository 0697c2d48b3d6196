"""What to expect of rows before there is any data: both methods tried on populations that nobody is in.

People are drawn from each of the ``populations``, noise is drawn with a public seed, and what comes out is held against
these people: the estimate made of their noisy counts, or the envelope's weights. A grid of fewer bins is held against
the finest one, too: what comes out of a bin is spread evenly over the finest bins within, as rows have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats, Grid, Ints
from equinoise.privacy.accounting import Budget, epsilon_of_one_row
from equinoise.statistics.metrics import bin_moments, marginal, tv
from equinoise.synthesis.envelope import LEAST_RULE_EPSILON, public_rule
from equinoise.synthesis.envelope_weights import weights
from equinoise.synthesis.estimate import estimate
from equinoise.synthesis.noisy_counts import noise_law
from equinoise.synthesis.populations import POPULATIONS, SEED, population

ENVELOPE, PAY_ONCE = "envelope", "pay-once"

MANY_CELLS, VERY_MANY_CELLS = 20_000, 100_000
"""From so many cells on there are two populations, and one: each takes its time."""


@dataclass(frozen=True)
class Price:
    """What is asked for, and what it may cost: epsilon and delta of everything that comes out, and the number of rows;
    of a person at most ``rows_per_person`` count."""

    epsilon: float
    rows: int
    delta: float = 0.0
    rows_per_person: int = 1

    @property
    def of_one_row(self) -> float:
        """Epsilon of one row of the envelope; 0 where there are too many for its rule."""
        delta = self.delta if self.rows > 1 else 0.0
        each = epsilon_of_one_row(Budget(self.epsilon, delta), self.rows)
        return each if each >= LEAST_RULE_EPSILON * self.rows_per_person else 0.0


@dataclass(frozen=True)
class Errors:
    """Means over the populations: total variation over the joint cells, and of every column by its name the absolute
    error of the mean (data units), or the largest of a category's share."""

    tv: float
    columns: dict[str, float]


@dataclass(frozen=True)
class Expectation:
    """What to expect of a ``method`` on a ``grid``. ``errors`` are those of the distribution that rows are drawn from,
    ``sampling`` what as many rows add because they are so few; ``finest_tv`` is over the cells of the finest grid."""

    method: str
    grid: Grid
    errors: Errors
    sampling: Errors
    finest_tv: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """``people`` (persons, a public guess) drawn from so many ``populations``, on the ``finest`` grid."""

    finest: Grid
    people: int
    rows_per_person: int = 1
    populations: int = POPULATIONS

    @classmethod
    def of(cls, finest: Grid, people: int, rows_per_person: int = 1) -> Simulation:
        """With fewer populations on larger grids."""
        many = 1 if finest.cells > VERY_MANY_CELLS else 2 if finest.cells > MANY_CELLS else POPULATIONS
        return cls(finest, people, rows_per_person, many)

    @cached_property
    def counts(self) -> list[Ints]:
        """Rows per cell of the finest grid (flat), by population: everybody has as many as count."""
        drawn = []
        for number in range(self.populations):
            rng = np.random.default_rng([SEED, number, 1])
            drawn.append(rng.multinomial(self.people * self.rows_per_person, population(self.finest.axes, number)))
        return drawn

    @cached_property
    def _outputs(self) -> dict[tuple[Any, ...], list[tuple[Ints, Floats]]]:
        return {}

    def outputs(self, method: str, price: Price, grid: Grid) -> list[tuple[Ints, Floats]]:
        """Rows per cell of a grid, and the distribution that comes out, by population; none where there is no rule."""
        key = (method, price.epsilon if method == PAY_ONCE else price.of_one_row, grid.shape)
        if key not in self._outputs:
            cells, found = cells_within(self.finest, grid), []
            for number, counts in enumerate(self.counts):
                here = np.bincount(cells, counts, grid.cells).astype(np.int64)
                q = output(method, here, grid, price, number)
                found += [] if q is None else [(here, q)]
            self._outputs[key] = found
        return self._outputs[key]

    def tv(self, method: str, price: Price, grid: Grid) -> float:
        """Total variation over the cells of a grid; 1 where the envelope has no rule for so many rows."""
        found = [tv(here / here.sum(), q) for here, q in self.outputs(method, price, grid)]
        return float(np.mean(found)) if found else 1.0

    def expect(self, method: str, price: Price, grid: Grid) -> Expectation | None:
        """All that is to be expected of a method on a grid; None where the envelope has no rule for so many rows."""
        cells, axes = cells_within(self.finest, grid), self.finest.axes
        sizes, found = np.bincount(cells, minlength=grid.cells), []
        for number, (here, q) in enumerate(self.outputs(method, price, grid)):
            rows = np.random.default_rng([SEED, number, 3]).multinomial(price.rows, q / q.sum()) / price.rows
            p, spread, drawn = self.counts[number] / here.sum(), (q / sizes)[cells], (rows / sizes)[cells]
            each = [tv(here / here.sum(), q), tv(p, spread), tv(q, rows)]
            found.append([*each, *column_errors(p, spread, axes), *column_errors(spread, drawn, axes)])
        if not found:
            return None
        own, finest, sampling, *columns = np.mean(found, axis=0).tolist()
        names = [axis.name for axis in axes]
        errors, of_sampling = (
            dict(zip(names, part, strict=True)) for part in (columns[: len(axes)], columns[len(axes) :])
        )
        return Expectation(method, grid, Errors(own, errors), Errors(sampling, of_sampling), finest)


def output(method: str, counts: Ints, grid: Grid, price: Price, number: int) -> Floats | None:
    """The distribution over the cells that rows are drawn from (flat), made of these counts; None without a rule."""
    if method == PAY_ONCE:
        law = noise_law(price.epsilon, price.rows_per_person)
        rng, stop = np.random.default_rng([SEED, number, 2]), -math.expm1(-1 / law.scale)
        noise = rng.geometric(stop, grid.cells) - rng.geometric(stop, grid.cells)
        return estimate(counts + noise, grid.axes, law.scale)
    if not price.of_one_row:
        return None
    rule = public_rule(price.of_one_row, grid.shape, grid.categories, rows_per_person=price.rows_per_person)
    occupied = np.flatnonzero(counts)
    return weights(occupied, counts[occupied], rule).probabilities()


def cells_within(finest: Grid, grid: Grid) -> Ints:
    """In which cell of a grid the middle of every cell of the finest one is (flat); columns are the same."""
    bins = [_bins_within(fine, coarse) for fine, coarse in zip(finest.axes, grid.axes, strict=True)]
    return np.asarray(np.ravel_multi_index(np.ix_(*bins), grid.shape), dtype=np.int64).ravel()


def _bins_within(fine: AnyAxis, coarse: AnyAxis) -> Ints:
    if not isinstance(fine, Axis) or not isinstance(coarse, Axis):
        return np.arange(fine.bins)
    numbers = [coarse.cell_of(value) for value in fine.midpoints().tolist()]
    return np.array(numbers + [coarse.bins - 1] * fine.categories, dtype=np.int64)


def column_errors(p: Floats, q: Floats, axes: Sequence[AnyAxis]) -> list[float]:
    """Of every column by itself, how far q (flat) is from p: the mean's absolute error, or the largest of a share."""
    shape, found = [axis.bins for axis in axes], []
    for at, axis in enumerate(axes):
        before, after = (marginal(part.reshape(shape), at) for part in (p, q))
        if isinstance(axis, Axis):
            values, _ = bin_moments(axis)
            numbers = [part[: axis.number_bins] for part in (before, after)]
            means = [float(part @ values) / max(float(part.sum()), 1e-300) for part in numbers]
            found.append(abs(means[0] - means[1]))
        else:
            found.append(float(np.abs(before - after).max()))
    return found
