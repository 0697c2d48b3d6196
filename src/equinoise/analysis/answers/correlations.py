"""The correlation of two columns of numbers with an interval.

With u and v the columns in standard units, the score of a correlation r is the sum over cells of y (u v - r (u^2 +
v^2)/2), y being the people (``cell_sums``): 0 on average where r is the population's. It hardly changes with small
errors of the means and standard deviations in the units, as its derivatives by these are 0 on average, so they may
come from the public estimate of people per cell, which has none below 0. The variance is that of the noise and of the
people, as for a mean. Values are the middles of bins, whose variance is larger than that of values by width^2/12
where people are evenly spread (Sheppard 1898): this is taken off.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.analysis.answers.answer import NOTHING, Answer, check_level, contents
from equinoise.analysis.answers.cell_sums import CellSums, cell_sums
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.number_column import NumberColumn, number_column
from equinoise.analysis.answers.scores import Score, least_accepted, tried
from equinoise.data.grid import Floats
from equinoise.errors import BadInput
from equinoise.synthesis.estimate import estimated_people

BINS = "people count as evenly spread over theirs"


def correlation(table: NoisyTable, a: str, b: str, level: float = 0.95) -> Answer:
    """Pearson's correlation of two columns in the population, from -1 to 1, of people with a value in both."""
    check_level(level)
    if a == b:
        raise BadInput(f"A correlation is of two different columns. Got {a!r} twice.")
    columns = number_column(table, a), number_column(table, b)
    valued = tuple(slice(0, len(column.values)) for column in columns)
    sums = cell_sums(table.by_bin([a, b])[valued], table.law)
    estimated = estimated_people(table.counts.ravel(), table.axes, table.law.scale)
    model = np.asarray(table.by_bin([a, b], estimated)[valued].sum(axis=2), dtype=np.float64)
    question = f"correlation:{a},{b}"
    nothing = Answer(question, None, None, -1.0, 1.0, level, (NOTHING,))
    if min(len(column.values) for column in columns) < 2:
        return nothing
    units = [_units(column, model.sum(axis=1 - number)) for number, column in enumerate(columns)]
    (u, within_u), (v, within_v) = units
    product, squares = np.outer(u, v), (np.add.outer(u * u - within_u, v * v - within_v)) / 2
    flat = CellSums(*(part.ravel() for part in vars(sums).values()))
    m = table.law.rows
    low = _lower_limit(flat, product.ravel(), squares.ravel(), level, m)
    high = _lower_limit(flat, -product.ravel(), squares.ravel(), level, m)
    if low is None or high is None or low > -high or (low <= -1 and high <= -1):
        return nothing
    estimate = float(flat.people @ product.ravel()) / max(float(flat.people @ squares.ravel()), 1e-300)
    said = contents(table, a, b, bins=BINS)
    return Answer(question, None, float(np.clip(estimate, low, -high)), low, -high, level, said)


def _units(column: NumberColumn, people: Floats) -> tuple[Floats, Floats]:
    """The middles of the bins in standard units, and by how much their squares are too large on average."""
    p, within = people / people.sum(), (column.last - column.first) ** 2 / 12
    middles = column.values - float(p @ column.values)
    variance = float(p @ middles**2)
    variance -= min(float(p @ within), variance / 2)
    return middles / math.sqrt(variance), np.minimum(within / variance, middles**2 @ p / variance / 2)


def _lower_limit(sums: CellSums, product: Floats, squares: Floats, level: float, rows_per_person: int) -> float | None:
    """The least correlation that is not rejected for a score that is too large."""
    m, estimate = rows_per_person, float(sums.people @ product / max(float(sums.people @ squares), 1e-300))

    def score(r: Floats) -> Score:
        return _score(sums, product, squares, r, m)

    near = min(max(estimate, -1.0), 1.0)
    spread = math.sqrt(max(float(score(np.array([near])).variance[0]), 0.0))
    grid = tried(-1.0, 1.0, near, spread / max(float(sums.people @ squares), 1.0))
    return least_accepted(lambda r: score(r).excess((1 - level) / 2), grid)


def _score(sums: CellSums, product: Floats, squares: Floats, r: Floats, m: int) -> Score:
    """The scores at several correlations: sums of powers of two parts, worked out once for all."""

    def sum_of(values: Floats, power: int) -> Floats:
        parts = [math.comb(power, k) * (values @ (product ** (power - k) * (-squares) ** k)) for k in range(power + 1)]
        return np.asarray(sum(part * r**k for k, part in enumerate(parts)))

    third = m * m * sum_of(sums.people, 3)
    return Score(
        value=sum_of(sums.people, 1),
        variance=m * np.maximum(sum_of(sums.people, 2), 0) + sum_of(sums.variance, 2),
        third=third + sum_of(sums.third, 3),
        covariance=third + sum_of(m * sums.variance + sums.covariance, 3),
        fourth=sum_of(sums.fourth, 4),
        unsure=m * m * (sum_of(sums.variance, 4) + np.maximum(sum_of(sums.people, 4), 0)),
        size=float(np.abs(sums.people).sum()),
    )
