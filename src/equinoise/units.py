"""People with several rows: everyone's bag of cells, and how many people have each.

A unit is a person. People whose rows fall in the same cells equally often have the same bag and are interchangeable, so
bags and counts are all that a game needs, as cells and counts are where everyone has one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equinoise.grid import Floats, Grid, Histogram, Ints

Bag = tuple[tuple[int, int], ...]
"""Cells, ascending, and how many of a person's rows are in each."""


@dataclass(frozen=True, eq=False)
class UnitHistogram:
    """People per bag of cells; ``counts[b]`` have ``bags[b]``. Bags are different and ascend."""

    grid: Grid
    bags: tuple[Bag, ...]
    counts: Ints

    @property
    def people(self) -> int:
        """How many people there are in all."""
        return int(self.counts.sum())

    @cached_property
    def sizes(self) -> Ints:
        """Rows that a person of each bag has."""
        return np.array([sum(times for _, times in bag) for bag in self.bags], dtype=np.int64)

    @property
    def total_rows(self) -> int:
        """Rows of everyone together."""
        return int(self.counts @ self.sizes)

    @cached_property
    def table(self) -> Floats:
        """Rows in each cell of a person of each bag: bags x cells."""
        return bag_table(self.bags, self.grid.cells)

    @cached_property
    def by_row(self) -> Histogram:
        """Rows per cell, whosever they are."""
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        for bag, people in zip(self.bags, self.counts.tolist(), strict=True):
            for cell, times in bag:
                counts[cell] += people * times
        return Histogram(self.grid, counts)

    @property
    def single(self) -> bool:
        """Whether everyone has one row: then rows are people, and the ordinary game is played."""
        return bool((self.sizes == 1).all())


def bag_table(bags: tuple[Bag, ...], cells: int) -> Floats:
    """Rows in each cell of a person of each bag."""
    table = np.zeros((len(bags), cells))
    for number, bag in enumerate(bags):
        for cell, times in bag:
            table[number, cell] = times
    return table


def gather(grid: Grid, units: Ints, cells: Ints, times: Ints) -> UnitHistogram:
    """Bags and counts from lines that say how many rows a person (any number) has in a cell, in any order."""
    bags, which = bag_of_each(units, cells, times)
    return UnitHistogram(grid, bags, np.bincount(which, minlength=len(bags)).astype(np.int64))


def bag_of_each(units: Ints, cells: Ints, times: Ints) -> tuple[tuple[Bag, ...], Ints]:
    """The different bags, ascending, and the number of everyone's among them, people by their numbers.

    Lines are sorted by person and cell; whole bags are then compared as bytes, which is exact.
    """
    order = np.lexsort((cells, units))
    units, pairs = units[order], np.stack([cells[order], times[order]], axis=1)
    begins = np.flatnonzero(np.diff(units, prepend=units[0] - 1)) if len(units) else np.empty(0, dtype=np.int64)
    lengths = np.diff(begins, append=len(units))
    found: list[Bag] = []
    which = np.zeros(len(begins), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        here = begins[lengths == length][:, None] + np.arange(length)
        alike = np.ascontiguousarray(pairs[here].reshape(len(here), -1))
        bags, number = np.unique(alike, axis=0, return_inverse=True)
        which[lengths == length] = len(found) + number.ravel()
        found += [tuple(zip(bag[::2], bag[1::2], strict=True)) for bag in bags.tolist()]
    ascending = sorted(range(len(found)), key=found.__getitem__)
    place = np.empty(len(found), dtype=np.int64)
    place[ascending] = np.arange(len(found))
    return tuple(found[number] for number in ascending), place[which]


def middle_rows(units: Ints, cells: Ints, times: Ints) -> Ints:
    """One row of each person: the cell of the middle one, if they are laid out by cell (of two middle ones, the lower).

    A rule that no order of the file and no other person has a say in.
    """
    order = np.lexsort((cells, units))
    units, cells, times = units[order], cells[order], times[order]
    last = np.append(units[1:] != units[:-1], True) if len(units) else np.empty(0, dtype=bool)
    person = np.cumsum(np.append([0], last[:-1])) if len(units) else np.empty(0, dtype=np.int64)
    running = np.cumsum(times)
    before = np.append([0], running[last][:-1]) if len(units) else np.empty(0, dtype=np.int64)
    total = running[last] - before
    middle = (total + 1) // 2
    reached = running - before[person] >= middle[person]
    first = reached & ~np.append([False], reached[:-1] & ~last[:-1])
    return np.asarray(cells[first])
