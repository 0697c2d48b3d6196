"""The groups of a profile on a joint grid, and what their rows come to in every cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equinoise.errors import BadInput
from equinoise.grid import Floats, Ints

AT_ONCE = 2**22
"""Weights laid out at once."""


MOST_LAID_OUT = 2**26
"""Weights that are ever laid out: half a gigabyte, and some copies of it."""


def laid_out(factors: Sequence[Ints]) -> Ints:
    """Products of one row per axis over all cells (the last axis fastest), for each group."""
    groups, cells = len(factors[0]), math.prod(rows.shape[1] for rows in factors)
    if groups * cells > MOST_LAID_OUT:
        raise BadInput(
            f"What many draws cost needs {groups:,} groups x {cells:,} cells = {groups * cells:,} weights at once, and "
            f"{MOST_LAID_OUT:,} are possible. Use fewer bins or scales, or leave out delta."
        )
    product = np.ones((groups, 1), dtype=np.int64)
    for rows in factors:
        product = (product[:, :, None] * rows[:, None, :]).reshape(groups, -1)
    return product


class Exposed(NamedTuple):
    """Groups that are not protected, for each a cell in which it is not, and its weight there."""

    groups: Ints
    cells: Ints
    rows: Floats


@dataclass(frozen=True, eq=False)
class Groups:
    """A profile's groups and everything that moves are judged by: two factors per row, S, and S's extremes.

    ``positions`` say which occupied cell, ``scales`` which choice; people of one group are interchangeable.
    """

    positions: Ints
    scales: Ints
    people: Ints
    first: Floats
    second: Floats
    sums: Floats

    def row(self, group: int) -> Floats:
        """One group's row over all cells."""
        return np.asarray(np.multiply.outer(self.first[group], self.second[group]).ravel())

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """The largest and the smallest row, cell by cell."""
        largest, smallest = np.zeros(len(self.sums)), np.full(len(self.sums), np.inf)
        for group in range(len(self.people)):
            row = self.row(group)
            np.maximum(largest, row, out=largest)
            np.minimum(smallest, row, out=smallest)
        return largest, smallest

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group: it grows with their share of a cell, so the largest and the
        smallest share tell."""
        reached, people = self.sums > 0, int(self.people.sum())
        found = np.empty(len(self.people))
        for group in range(len(found)):
            share = self.row(group)[reached] / self.sums[reached]
            with np.errstate(divide="ignore"):
                ratios = math.log1p(-1 / people) - np.log1p(-np.minimum([share.max(), share.min()], 1.0))
            found[group] = np.abs(ratios).max()
        return found

    def blocks(self, cells: Ints) -> Iterator[Ints]:
        """The cells, as many at a time as every group's row may be laid out in."""
        size = max(1, AT_ONCE // len(self.people))
        return (cells[i : i + size] for i in range(0, len(cells), size))

    def at(self, cells: Ints) -> Floats:
        """Every group's row in a few cells."""
        one, two = np.divmod(cells, self.second.shape[1])
        return self.first[:, one] * self.second[:, two]
