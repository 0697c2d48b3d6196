"""Players: people by type. Those whose rows fall in the same cells equally often are interchangeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from equinoise.data.coverage import Coverage
from equinoise.data.grid import Floats, Grid, Histogram, Ints
from equinoise.errors import BadInput

Bag = tuple[tuple[int, int], ...]
"""Cells, ascending, and how many of a person's rows are in each."""


@dataclass(frozen=True, eq=False)
class Players:
    """How many people there are of each type. A type is a bag of cells: the cells that a person's rows fall in.

    Type i has the entries from ``begins[i]`` to before ``begins[i + 1]``: a person of it has ``times[e]`` rows in
    ``cells[e]``. Cells ascend within a type, and types ascend. Where everyone has one row, a type is a cell. Those who
    were just counted know the ``coverage`` of the data.
    """

    grid: Grid
    begins: Ints
    cells: Ints
    times: Ints
    people: Ints
    coverage: Coverage | None = field(default=None, kw_only=True)

    @classmethod
    def in_cells(cls, grid: Grid, cells: Ints, people: Ints) -> Players:
        """People with one row each: how many are in each of these different cells, which ascend."""
        return cls(grid, np.arange(len(cells) + 1), cells, np.ones(len(cells), dtype=np.int64), people)

    @classmethod
    def of(cls, histogram: Histogram) -> Players:
        """People with one row each, as a histogram has them."""
        cells = np.flatnonzero(histogram.counts)
        return cls.in_cells(histogram.grid, cells, histogram.counts[cells])

    @classmethod
    def in_bags(cls, grid: Grid, bags: Sequence[Sequence[tuple[int, int]]], people: Ints) -> Players:
        """People with several rows: how many have each of these different bags of (cell, times), which ascend."""
        entries = np.array([entry for bag in bags for entry in bag], dtype=np.int64).reshape(-1, 2)
        begins = np.cumsum([0, *map(len, bags)])
        return cls(grid, begins, entries[:, 0].copy(), entries[:, 1].copy(), people)

    def entries(self, types: Ints) -> tuple[Ints, Ints]:
        """Where the entries of each of these types begin, one after the other, and their numbers."""
        lengths = np.diff(self.begins)[types]
        begins = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        return begins, np.repeat(self.begins[types] - begins[:-1], lengths) + np.arange(begins[-1])

    @property
    def types(self) -> int:
        """How many types there are."""
        return len(self.people)

    @cached_property
    def owners(self) -> Ints:
        """The type of every entry."""
        return np.repeat(np.arange(self.types), np.diff(self.begins))

    @cached_property
    def sizes(self) -> Ints:
        """Rows of one person of each type."""
        return np.add.reduceat(self.times, self.begins[:-1])

    @cached_property
    def total_people(self) -> int:
        """N: how many people there are."""
        return int(self.people.sum())

    @cached_property
    def total_rows(self) -> int:
        """R: how many rows they have together; the same as N where everyone has one."""
        return int(self.people @ self.sizes)

    @cached_property
    def occupied(self) -> Ints:
        """The cells that anyone has a row in, ascending."""
        return np.unique(self.cells)

    @property
    def single(self) -> bool:
        """Whether everyone has one row."""
        return bool((self.sizes == 1).all())

    @cached_property
    def rows(self) -> Ints:
        """Rows of everyone at each entry."""
        return self.people[self.owners] * self.times

    @cached_property
    def histogram(self) -> Histogram:
        """Rows per cell."""
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        np.add.at(counts, self.cells, self.rows)
        return Histogram(self.grid, counts)

    def rows_by_columns(self, columns: Sequence[int]) -> Ints:
        """Rows per combination of bins of some columns, one axis each, however many cells the grid has."""
        bins, counts = self.grid.bins_of(self.cells), np.zeros([self.grid.shape[i] for i in columns], dtype=np.int64)
        np.add.at(counts, tuple(bins[:, i] for i in columns), self.rows)
        return counts

    @cached_property
    def bags(self) -> tuple[Bag, ...]:
        """For each type the cells of a person's rows, and how many are in each."""
        entries = list(zip(self.cells.tolist(), self.times.tolist(), strict=True))
        return tuple(tuple(entries[first:last]) for first, last in pairwise(self.begins.tolist()))

    def merged(self) -> Players:
        """These people with those of the same bag together, for types that are not all different."""
        people: dict[Bag, int] = {}
        for bag, many in zip(self.bags, self.people.tolist(), strict=True):
            people[bag] = people.get(bag, 0) + many
        bags = sorted(people)
        return Players.in_bags(self.grid, bags, np.array([people[bag] for bag in bags], dtype=np.int64))

    def same(self, other: Players) -> bool:
        """Whether these are the same people."""
        names = ("begins", "cells", "times", "people")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def without_one(self, i: int) -> Players:
        """These players without one person of type i."""
        people = self.people.copy()
        people[i] -= 1
        if people[i] > 0:
            return Players(self.grid, self.begins, self.cells, self.times, people)
        begins, entries = self.entries(np.delete(np.arange(self.types), i))
        return Players(self.grid, begins, self.cells[entries], self.times[entries], np.delete(people, i))

    @cached_property
    def places(self) -> Ints:
        """Where the cell of every entry is among those that are occupied."""
        return np.searchsorted(self.occupied, self.cells)

    @cached_property
    def counts(self) -> Floats:
        """Rows in each occupied cell: R times the original distribution there."""
        return np.asarray(np.bincount(self.places, self.rows.astype(np.float64)), dtype=np.float64)

    @cached_property
    def homes(self) -> Ints:
        """For each type the place, among the occupied cells, of the first cell that has most of a person's rows."""
        order = np.lexsort((np.arange(len(self.times)), -self.times, self.owners))
        return self.places[order[self.begins[:-1]]]

    def check_profile(self, profile: Ints, scales: int) -> Ints:
        """A profile as an integer table, types x scales, if it gives everyone exactly one scale."""
        profile, shape = np.asarray(profile), (self.types, scales)
        if profile.shape != shape or not np.issubdtype(profile.dtype, np.integer):
            raise BadInput(f"A profile of this game is a table of {shape[0]} x {shape[1]} whole numbers.")
        if (profile < 0).any() or not np.array_equal(profile.sum(axis=1), self.people):
            raise BadInput("A profile must give every person of every type exactly one scale.")
        return profile.astype(np.int64)
