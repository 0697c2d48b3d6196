"""Shares of categories with intervals.

The score of a share s is (1 - s) times the people in the category less s times all others, 0 on average where s is
the population's. Its variance is that of the noise and N s (1 - s) for the people, as where s is the share (Wilson
1927), so intervals of rare categories are neither empty nor below 0. The upper limit is 1 less the lower limit of all
others.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.analysis.answers.answer import NOTHING, Answer, check_level, contents
from equinoise.analysis.answers.cell_sums import CellSums, cell_sums
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.scores import Score, least_accepted, tried
from equinoise.analysis.answers.width import mostly_from, share_reach
from equinoise.data.category_axis import Category
from equinoise.data.grid import Floats


def share(table: NoisyTable, column: str, category: Category | None, level: float = 0.95) -> Answer:
    """The share of the population in a category (None: without a value), from 0 to 1, of all including the missing."""
    check_level(level)
    question, bin = f"share:{column}={category}", table.bin_of(column, category)
    noisy = table.by_bin([column])
    inside = cell_sums(noisy[bin], table.law)
    others = cell_sums(np.delete(noisy, bin, axis=0).ravel(), table.law)
    total = float(inside.people + others.people)
    low = _lower_limit(inside, others, level, table.law.rows)
    high = _lower_limit(others, inside, level, table.law.rows)
    if total <= 0 or low is None or high is None or low > 1 - high:
        return Answer(question, None, None, 0.0, 1.0, level, (NOTHING,))
    estimate = min(max(float(inside.people) / total, low), 1 - high)
    said, mostly = ((NOTHING,), None) if low <= 0 and high <= 0 else (contents(table), None)
    if said != (NOTHING,):
        noise = (1 - estimate) ** 2 * float(inside.variance) + estimate**2 * float(others.variance)
        people = table.law.rows * total * estimate * (1 - estimate)
        mostly = mostly_from(share_reach(noise, people, total, level))
    return Answer(question, None, estimate, low, 1 - high, level, said, mostly=mostly)


def _lower_limit(inside: CellSums, others: CellSums, level: float, rows_per_person: int) -> float | None:
    """The least share of those inside that is not rejected because there are too many of them."""
    m, total = rows_per_person, max(float(inside.people + others.people), 0.0)

    def excess(s: Floats) -> Floats:
        r, both = 1 - s, m * s * (1 - s)
        noise = r * r * inside.variance + s * s * others.variance
        score = Score(
            value=r * inside.people - s * others.people,
            variance=total * both + noise,
            third=m * both * total * (r - s) + r**3 * inside.third - s**3 * others.third,
            covariance=both * (r * inside.variance - s * others.variance)
            + r**3 * inside.covariance - s**3 * others.covariance,
            fourth=r**4 * inside.fourth + s**4 * others.fourth,
            unsure=both**2 * (inside.variance + others.variance),
            size=float(abs(inside.people) + abs(others.people)),
        )  # fmt: skip
        return score.excess((1 - level) / 2)

    near = min(max(float(inside.people) / total, 0.0), 1.0) if total > 0 else 0.5
    error = math.sqrt(m * near * (1 - near) / max(total, 1.0)) + math.sqrt(float(inside.variance)) / max(total, 1.0)
    return least_accepted(excess, tried(0.0, 1.0, near, error))
