"""A column of numbers as noisy counts have it: its bins, and where there may be nobody.

A test that rejects only scores that are too large may leave out cells of positive weight, because no cell has fewer
than 0 people: without them the score is smaller on average, so it is not rejected more often. It is of use to leave
out cells far from where anybody is, as their noise weighs most. Which ones is decided by these cells alone: from the
upper end downwards they are left out until their noisy counts, added up, look like people. The noise in the cells
below is as it was, and the people in them are, given how many they are, a sample of the population in these bins. The
bin that decides counts less, by what such a decision takes on average where nobody is. Where the rule goes too far,
people are left out and the interval is wider; it is never too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equinoise.analysis.answers.cell_sums import CellSums, cell_sums
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.data.grid import Floats

DRIFT, ENOUGH = 0.25, 3.0
"""In standard deviations of a bin's noise: what a count must be above to look like people at all, and how much of that,
added up, is enough. Chosen on populations other than those of ``benchmarks/answers.py``."""

STANDS_OUT = 2.0
"""In standard deviations: a bin with so many more people than its neighbours has a heap."""


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """One column of numbers: by bin the first and the last value that may be in it (data units), and its people."""

    first: Floats
    last: Floats
    sums: CellSums
    rows_per_person: int

    @cached_property
    def values(self) -> Floats:
        """The middle of every bin."""
        return (self.first + self.last) / 2

    @cached_property
    def mirrored(self) -> NumberColumn:
        """The column of the numbers' negatives: a lower limit of it is an upper limit of this."""
        return NumberColumn(
            -self.last[::-1], -self.first[::-1], self.sums.of(slice(None, None, -1)), self.rows_per_person
        )

    @cached_property
    def heaps(self) -> Floats:
        """By bin the people that it has beyond the mean of those beside it, where they are too many to be chance; 0
        elsewhere."""
        people, bins = self.sums.people, len(self.values)
        if bins == 1:
            return np.maximum(people, 0)
        below, above = np.r_[1, 0 : bins - 1], np.r_[1:bins, bins - 2]
        variance = self.sums.variance + self.rows_per_person * np.maximum(people, 0)
        beyond = people - (people[below] + people[above]) / 2
        chance = np.sqrt(variance + (variance[below] + variance[above]) / 4)
        return np.where(beyond > STANDS_OUT * chance, beyond, 0.0)

    @cached_property
    def turn(self) -> tuple[int, float]:
        """The bin above which a test may leave out all, and how many of its own people it must leave out."""
        people, unit = self.sums.people[::-1], float(np.sqrt(max(self.sums.variance.mean(), 1e-300)))
        running = np.cumsum(people / unit - DRIFT)
        lowest = np.minimum(np.minimum.accumulate(running), 0)
        looks = running - lowest > ENOUGH
        if not looks.any():
            return len(people) - 1, 0.0
        bin = int(np.argmax(looks))
        before = float(running[bin - 1] - lowest[bin - 1]) if bin else 0.0
        return len(people) - 1 - bin, unit * (ENOUGH + DRIFT - before + 1)


def number_column(table: NoisyTable, column: str) -> NumberColumn:
    """A column of a table, without people who have no value in it."""
    axis = table.number_axis(column)
    sums = cell_sums(table.by_bin([column])[: axis.number_bins], table.law)
    edges = np.clip(axis.edges(), axis.low, axis.high)
    first, last = edges[:-1], edges[1:]
    if axis.step is not None:
        first = np.asarray(axis.low + axis.first_steps[:-1] * axis.step)
        last = np.asarray(axis.low + (axis.first_steps[1:] - 1) * axis.step)
    return NumberColumn(first, last, sums, table.law.rows)
