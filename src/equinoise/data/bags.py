"""People with several rows, a line for every person and cell: everyone's bag of cells, or one row of each.

A unit is a person. People whose rows fall in the same cells equally often have the same bag and are interchangeable.
"""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Ints
from equinoise.data.players import Bag


def bag_of_each(units: Ints, cells: Ints, times: Ints) -> tuple[tuple[Bag, ...], Ints]:
    """The different bags, ascending, and the number of everyone's among them, people by their numbers.

    Lines are sorted by person and cell; whole bags are then compared as bytes, which is exact.
    """
    order = np.lexsort((cells, units))
    units, pairs = units[order], np.stack([cells[order], times[order]], axis=1)
    begins = np.unique(units, return_index=True)[1]
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
    cells, times = cells[order], times[order]
    first = np.unique(units[order], return_index=True)[1]
    ends = np.cumsum(times)
    middle = ends[first] - times[first] + (np.add.reduceat(times, first) + 1) // 2
    return np.asarray(cells[np.searchsorted(ends, middle)])
