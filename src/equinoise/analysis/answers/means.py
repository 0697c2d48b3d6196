"""Means of a column and their difference between two groups, with intervals.

The score of a mean mu is the sum over the bins of y (x - mu), with y their people (``cell_sums``) and x their
middles. Its variance is that of the noise, the sum of var (x - mu)^2, and that of the people who were sampled, the
sum of y (x - mu)^2. Both are estimated without bias; what is unsure in that is corrected for (``scores``). The lower
limit leaves out large values where nobody seems to be, if that saves more noise than it costs (``number_column``);
the upper limit is the lower one of the numbers' negatives.

In a bin of more than one value nobody knows where people are. Where bins have about as many as their neighbours, they
are taken as evenly spread. People beyond that, a heap, may be anywhere in their bin, all at the same end of theirs at
worst: both limits make room for that, half a width for each of them. No noisy count can show heaps that come as often
as bins do, one in each: then the mean may be off by up to half a bin more.

People with up to m rows bring up to m values, and the square of a sum of m is at most m times the sum of the squares:
the variance of the people is taken m times.

The difference of two means has the interval of Zou and Donner (2008): with means m1 and m2 and their limits l and u,

    m1 - m2 - sqrt((m1 - l1)^2 + (u2 - m2)^2)   to   m1 - m2 + sqrt((u1 - m1)^2 + (m2 - l2)^2)

The test rejects that there is no difference if 0 is outside, and the p-value is the least 1 - level at which it is.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.analysis.answers.answer import NOTHING, Answer, check_level, contents
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.number_column import NumberColumn, number_column
from equinoise.analysis.answers.scores import Score, least_accepted, shorter, tried
from equinoise.analysis.answers.width import mean_reach, mostly_from
from equinoise.data.category_axis import Category
from equinoise.data.grid import Floats

BINS = (
    "people count as evenly spread over theirs; where a bin clearly has more of them than those beside it, the extra "
    "people may be anywhere in it, at worst all at one end"
)

LEAST_P = 1e-4
"""Smaller p-values are not told apart: the law of the score is known only so far out."""

HALVINGS = 16

Interval = tuple[float | None, float, float]


def mean(table: NoisyTable, column: str, level: float = 0.95) -> Answer:
    """The mean of the population, in the column's unit."""
    found = number_column(table, column)
    estimate, low, high = mean_interval(found, check_level(level))
    whole = low <= found.first[0] and high >= found.last[-1]
    said = (NOTHING,) if whole else contents(table, column, bins=BINS)
    mostly = None if whole else mostly_from(mean_reach(found, estimate, level))
    return Answer(f"mean:{column}", None, estimate, low, high, level, said, mostly=mostly)


def difference(
    table: NoisyTable, column: str, by: str, first: Category | None, second: Category | None, level: float = 0.95
) -> Answer:
    """The mean of the first group less that of the second, in the column's unit, with a test of no difference."""
    groups = [number_column(table.where(by, category), column) for category in (first, second)]
    estimate, low, high = difference_interval(groups[0], groups[1], check_level(level))
    reach = float(groups[0].last[-1] - groups[0].first[0])
    whole = low <= -reach and high >= reach
    said = (NOTHING,) if whole else contents(table, column, bins=BINS)
    question = f"difference:{column}:{by}={first},{second}"
    each = [mean_reach(group, _estimate(group), level) for group in groups]
    mostly = None if whole else mostly_from(*each)
    return Answer(question, None, estimate, low, high, level, said, _p_value(groups[0], groups[1]), mostly)


def mean_interval(column: NumberColumn, level: float) -> Interval:
    """Estimate and limits of the mean; the estimate is None and the limits are the ends where nobody is to be seen."""
    ends = float(column.first[0]), float(column.last[-1])
    estimate = _estimate(column)
    if estimate is None:
        return None, *ends
    low, high = _lower_limit(column, estimate, level), _lower_limit(column.mirrored, -estimate, level)
    if low is None or high is None or low > -high:
        return None, *ends
    return min(max(estimate, low), -high), low, -high


def difference_interval(first: NumberColumn, second: NumberColumn, level: float) -> Interval:
    """Estimate and limits of the difference of two means; None where one of them is."""
    mean1, low1, high1 = mean_interval(first, level)
    mean2, low2, high2 = mean_interval(second, level)
    reach = float(first.last[-1] - first.first[0])
    if mean1 is None or mean2 is None:
        return None, -reach, reach
    apart = mean1 - mean2
    low, high = apart - math.hypot(mean1 - low1, high2 - mean2), apart + math.hypot(high1 - mean1, mean2 - low2)
    return apart, max(low, -reach), min(high, reach)


def _p_value(first: NumberColumn, second: NumberColumn) -> float:
    """The least 1 - level at which 0 is outside the interval, from ``LEAST_P`` to 1."""
    low, high = math.log(LEAST_P), 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        _, below, above = difference_interval(first, second, 1 - math.exp(middle))
        low, high = (middle, high) if below <= 0 <= above else (low, middle)
    return math.exp(high)


def _estimate(column: NumberColumn) -> float | None:
    """The mean of the bins between those on both sides where nobody seems to be."""
    bins, people = len(column.values), column.sums.people
    between = slice(bins - 1 - column.mirrored.turn[0], column.turn[0] + 1)
    if people.sum() <= 0:
        return None
    if people[between].sum() <= 0:
        between = slice(0, bins)
    found = people[between] @ column.values[between] / people[between].sum()
    return float(np.clip(found, column.values[0], column.values[-1]))


def _lower_limit(column: NumberColumn, estimate: float, level: float) -> float | None:
    """The least mean that is not rejected for a score that is too large."""
    x, (turn, certain), tail = column.values, column.turn, (1 - level) / 2
    bin = np.arange(len(x))[:, None]
    heaps = float(column.heaps @ (column.last - column.first)) / 2

    def excess(mu: Floats) -> Floats:
        whole = x[:, None] - mu
        part = np.where((bin > turn) & (whole > 0), 0.0, whole)
        cost = certain * np.maximum(whole[turn], 0)
        return shorter(_score(column, whole, heaps), _score(column, part, heaps + cost), cost, tail)

    error = math.sqrt(max(float(_score(column, x[:, None] - estimate, 0.0).variance[0]), 0.0)) / column.sums.total
    return least_accepted(excess, tried(float(column.first[0]), float(column.last[-1]), estimate, error))


def _score(column: NumberColumn, w: Floats, cost: Floats | float) -> Score:
    """The scores of weights (bins by means), less what they cost."""
    sums, m = column.sums, column.rows_per_person
    square = w * w
    cube, fourth = square * w, square * square
    third = m * m * (sums.people @ cube)
    return Score(
        value=sums.people @ w - cost,
        variance=m * np.maximum(sums.people @ square, 0) + sums.variance @ square,
        third=third + sums.third @ cube,
        covariance=third + (m * sums.variance + sums.covariance) @ cube,
        fourth=sums.fourth @ fourth,
        unsure=m * m * (sums.variance @ fourth + np.maximum(sums.people @ fourth, 0)),
        size=float(np.abs(sums.people).sum() * (column.last[-1] - column.first[0])),
    )
