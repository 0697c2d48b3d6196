"""Answers from rows alone, as if they were drawn independently from one distribution: textbook intervals, in which the
distortion of whatever made the rows is not.

Means by Student's t, differences by Welch's (1947), shares by Wilson's score (1927), correlations by Fisher's z (1915),
quantiles by order statistics: with B binomial of n rows and q, the value at rank l is above the quantile with
probability P(B < l) at most, and the one at rank u below it with P(B >= u) at most.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from equinoise.analysis.answers.answer import Answer, check_level
from equinoise.analysis.answers.row_table import RowTable, bin_of
from equinoise.data.axis import Axis
from equinoise.data.category_axis import Category
from equinoise.errors import BadInput

ROWS = "the sampling error of the rows"

Interval = tuple[float | None, float | None]


def mean(table: RowTable, column: str, level: float = 0.95) -> Answer:
    """The mean of the rows that have a number, with Student's interval."""
    numbers = table.numbers(column)
    ends, estimate = _ends(table, column), None
    if len(numbers):
        estimate = float(numbers.mean())
    if len(numbers) > 1 and estimate is not None:
        reach = _student(len(numbers) - 1, check_level(level)) * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
        ends = _within(ends, estimate - reach, estimate + reach)
    return _answer(estimate, ends, level)


def quantile(table: RowTable, column: str, q: float, level: float = 0.95) -> Answer:
    """The least value that at least a share ``q`` of the rows do not exceed, between two values at ranks."""
    numbers = np.sort(table.numbers(column))
    low, high = _ends(table, column)
    if not len(numbers):
        return _answer(None, (low, high), level)
    first, last = ranks(len(numbers), q, check_level(level))
    low = low if first == 0 else float(numbers[first - 1])
    high = high if last > len(numbers) else float(numbers[last - 1])
    place = min(max(math.ceil(q * len(numbers) - 1e-9), 1), len(numbers)) - 1
    return _answer(float(numbers[place]), (low, high), level)


def ranks(many: int, q: float, level: float) -> tuple[int, int]:
    """The ranks (from 1) between which the q-quantile is; 0 or one more than there are rows where no row is an end."""
    from scipy.special import bdtr

    beyond = (1 - level) / 2
    below = np.concatenate([[0.0], bdtr(np.arange(many), many, q), [1.0]])  # P(B < rank), for rank 0 to many + 1
    first = int(np.searchsorted(below[: many + 1], beyond, side="right")) - 1
    return first, min(int(np.searchsorted(below, 1 - beyond)), many + 1)


def count(table: RowTable, column: str | None = None, category: Category | None = None, level: float = 0.95) -> Answer:
    """Nothing: how many rows there are was chosen, and tells of no people."""
    raise BadInput(
        "Rows do not tell how many people there are, as any number of them can be drawn. Ask for a share, or take a "
        "file of noisy counts."
    )


def share(table: RowTable, column: str, category: Category | None, level: float = 0.95) -> Answer:
    """The share of the rows that have a category, with Wilson's interval."""
    bins = table.values(column)
    if isinstance(table.axis_of(column), Axis):
        bins = np.where(np.isnan(bins), bin_of(table.axis_of(column), None), 0)
    usable = bins[bins >= 0]
    if not len(usable):
        return _answer(None, (0.0, 1.0), level)
    found = float((usable == bin_of(table.axis_of(column), category)).mean())
    z2 = NormalDist().inv_cdf((1 + check_level(level)) / 2) ** 2 / len(usable)
    middle = (found + z2 / 2) / (1 + z2)
    reach = math.sqrt(found * (1 - found) * z2 + z2**2 / 4) / (1 + z2)
    return _answer(found, (max(middle - reach, 0.0), min(middle + reach, 1.0)), level)


def correlation(table: RowTable, a: str, b: str, level: float = 0.95) -> Answer:
    """Pearson's correlation of the rows that have both numbers, with Fisher's interval."""
    x, y = table.values(a), table.values(b)
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return _answer(None, (-1.0, 1.0), level)
    found = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    if len(x) < 4 or abs(found) == 1:
        return _answer(found, (-1.0, 1.0) if len(x) < 4 else (found, found), level)
    z, reach = math.atanh(found), NormalDist().inv_cdf((1 + check_level(level)) / 2) / math.sqrt(len(x) - 3)
    return _answer(found, (math.tanh(z - reach), math.tanh(z + reach)), level)


def difference(
    table: RowTable, column: str, by: str, first: Category | None, second: Category | None, level: float = 0.95
) -> Answer:
    """The mean of the first group less that of the second, with Welch's interval and test."""
    from scipy.special import stdtr

    groups = [table.where(by, category).numbers(column) for category in (first, second)]
    low, high = _ends(table, column)
    widest = (low - high, high - low) if low is not None and high is not None else (None, None)
    if not all(map(len, groups)):
        return _answer(None, widest, level)
    found = float(groups[0].mean() - groups[1].mean())
    if min(map(len, groups)) < 2:
        return _answer(found, widest, level)
    each = [float(group.var(ddof=1)) / len(group) for group in groups]
    error = math.sqrt(sum(each))
    if error == 0:
        return _answer(found, (found, found), level, float(found == 0))
    freedom = sum(each) ** 2 / sum(part**2 / (len(group) - 1) for part, group in zip(each, groups, strict=True))
    reach = _student(freedom, check_level(level)) * error
    p_value = float(2 * stdtr(freedom, -abs(found) / error))
    return _answer(found, _within(widest, found - reach, found + reach), level, p_value)


def _answer(estimate: float | None, ends: Interval, level: float, p_value: float | None = None) -> Answer:
    return Answer("", None, estimate, *ends, check_level(level), (ROWS,), p_value)


def _student(freedom: float, level: float) -> float:
    """How many standard errors an interval of a mean reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _ends(table: RowTable, column: str) -> Interval:
    """Where a column's values must be without a look at the rows; None where nothing says it."""
    axis = table.axis_of(column)
    return (axis.low, axis.high) if table.bounded and isinstance(axis, Axis) else (None, None)


def _within(ends: Interval, low: float, high: float) -> Interval:
    return (low if ends[0] is None else max(low, ends[0])), (high if ends[1] is None else min(high, ends[1]))
