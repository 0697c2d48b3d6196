"""The groups of a profile on a joint grid, and what their rows come to in every cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equinoise.grid import Floats, Ints

AT_ONCE = 2**22
"""Weights laid out at once."""


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

    def blocks(self, cells: Ints) -> Iterator[Ints]:
        """The cells, as many at a time as every group's row may be laid out in."""
        size = max(1, AT_ONCE // len(self.people))
        return (cells[i : i + size] for i in range(0, len(cells), size))

    def at(self, cells: Ints) -> Floats:
        """Every group's row in a few cells."""
        one, two = np.divmod(cells, self.second.shape[1])
        return self.first[:, one] * self.second[:, two]
