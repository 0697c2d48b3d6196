"""Quantiles of a column with intervals.

A value t may be the q-quantile if at least q of the population are at most t, and at least 1 - q are at least t. Both
are tested, each at half of what the level leaves. For the first the score is q times the people above t less 1 - q
times those up to t: at most 0 on average if it holds. Its variance is that of the noise, and N q (1 - q) for the
people, as where exactly q of the population are up to t. The lower limit is the least t that is not rejected; the
upper limit is that of the numbers' negatives and 1 - q. So limits are right where many people have one value: both
may be that value, and the interval then covers more often than its level says, as no shorter one has only values that
occur.

Tests are at the ends of bins. In the bin where the test turns, people are taken as evenly spread over its values,
unless it stands out among its neighbours: then the limit is the end of the bin. As for the mean, values far above
where anybody seems to be are left out of the score, if that saves more noise than it costs.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.analysis.answers.answer import NOTHING, Answer, check_level, contents
from equinoise.analysis.answers.cell_sums import CellSums
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.number_column import NumberColumn, number_column
from equinoise.analysis.answers.scores import Score, shorter
from equinoise.analysis.answers.width import mostly_from, quantile_reach
from equinoise.data.grid import Floats
from equinoise.errors import check, is_number

BINS = (
    "people count as evenly spread over theirs; where a bin clearly has more of them than those beside it, an interval "
    "that ends there takes in the whole bin"
)


def quantile(table: NoisyTable, column: str, q: float, level: float = 0.95) -> Answer:
    """The q-quantile of the population, in the column's unit: the least value that a share of q does not exceed."""
    check(is_number(q) and 0 < q < 1, "q", "a number between 0 and 1", q)
    found, axis = number_column(table, column), table.number_axis(column)
    low = _lower_limit(found, float(q), check_level(level), axis.step)
    high = _lower_limit(found.mirrored, 1 - float(q), level, axis.step)
    ends = float(found.first[0]), float(found.last[-1])
    estimate = _estimate(found, float(q), axis.step)
    if estimate is None or low is None or high is None or low > -high:
        estimate, low, high = None, ends[0], -ends[1]
    else:
        estimate = min(max(estimate, low), -high)
    whole = low <= ends[0] and -high >= ends[1]
    said, mostly = ((NOTHING,), None) if whole else (contents(table, column, bins=BINS), None)
    if not whole and estimate is not None:
        mostly = mostly_from(quantile_reach(found, float(q), (estimate, low, -high), level))
    return Answer(f"quantile:{column}:{q:g}", None, estimate, low, -high, level, said, mostly=mostly)


def _lower_limit(column: NumberColumn, q: float, level: float, step: float | None) -> float | None:
    """The least value that is not rejected because too many people are above it."""
    (turn, certain), bins = column.turn, len(column.values)
    running, edge, tail = column.sums.running(), np.arange(bins + 1), (1 - level) / 2
    cost = np.where(edge <= turn, q * certain, 0.0)
    whole = _score(running, np.full(bins + 1, bins), q, column.rows_per_person, 0.0)
    part = _score(running, np.maximum(turn + 1, edge), q, column.rows_per_person, cost)
    excess = shorter(whole, part, cost, tail)
    accepted = excess <= 0
    if not accepted.any():
        return None
    bin = int(np.argmax(accepted)) - 1
    if bin < 0:
        return float(column.first[0])
    share = 0.0 if column.heaps[bin] > 0 else float(excess[bin] / (excess[bin] - excess[bin + 1]))
    return _within(column, bin, share, step)


def _estimate(column: NumberColumn, q: float, step: float | None) -> float | None:
    """Where the people up to a value, made to rise, are a share of q of all."""
    below = np.concatenate([[0.0], np.cumsum(column.sums.people)])
    rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
    goal = q * below[-1]
    if below[-1] <= 0:
        return None
    bin = int(np.clip(np.searchsorted(rising, goal) - 1, 0, len(column.values) - 1))
    people = rising[bin + 1] - rising[bin]
    share = float(np.clip((goal - rising[bin]) / people, 0, 1)) if people > 0 else 0.5
    return _within(column, bin, share, step)


def _within(column: NumberColumn, bin: int, share: float, step: float | None) -> float:
    """The value that a share of a bin's people does not exceed, if they are evenly spread."""
    first, last = float(column.first[bin]), float(column.last[bin])
    if step is None:
        return first + share * (last - first)
    steps = round((last - first) / step) + 1
    return first + min(max(math.ceil(share * steps - 1e-9) - 1, 0), steps - 1) * step


def _score(running: CellSums, stop: object, q: float, rows_per_person: int, cost: Floats | float) -> Score:
    """The scores at the ends of the bins, of the bins before ``stop`` at each, less what they cost."""
    up_to, above = running, running.of(stop)
    p, m = 1 - q, rows_per_person

    def sum_of(name: str, power: int) -> Floats:
        part = getattr(up_to, name)
        return np.asarray(q**power * (getattr(above, name) - part) + (-p) ** power * part)

    people = np.maximum(above.people, 0)
    shared = m * p * q * sum_of("variance", 1) + sum_of("covariance", 3)
    return Score(
        value=sum_of("people", 1) - cost,
        variance=m * people * p * q + sum_of("variance", 2),
        third=m * m * people * p * q * (p - q) * -1 + sum_of("third", 3),
        covariance=shared,
        fourth=sum_of("fourth", 4),
        unsure=(m * p * q) ** 2 * above.variance,
        size=float(np.abs(running.people).max()),
    )
