"""A distribution of many columns as conditional tables: each column's probabilities, given a few columns before it.

With the columns in the order that they are drawn in, c1, c2, ..., and the parents pa(c) of each among those before it,

    P(x) = product over c of P(x[c] | x[pa(c)]).

So it takes the room of the tables, not of the joint cells, and its marginals are sums over few columns at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Floats
from equinoise.errors import BadInput

MOST_JOINT_CELLS = 2**22
MOST_SUM_CELLS = 2**26
"""In one step of summing columns out: half a gigabyte."""


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """``table[x[parents], x[column]]``: how likely each bin of a column is, given the bins of its parents.

    One axis for each of the ``parents``, in their order, and the column's own last. It may hold probabilities or whole
    weights; each row sums to the same.
    """

    column: int
    parents: tuple[int, ...]
    table: NDArray[Any]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that the table's axes are of."""
        return (*self.parents, self.column)


@dataclass(frozen=True, eq=False)
class MarginalModel:
    """The ``tables`` of all columns in the order that they are drawn in, and about how many ``rows`` the data has.

    ``epsilon`` and ``delta`` are the loss that was proven for it, as it was made of noisy marginals.
    """

    tables: tuple[ConditionalTable, ...]
    rows: float
    epsilon: float
    delta: float = 0.0

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Bins of every column."""
        bins = {table.column: table.table.shape[-1] for table in self.tables}
        return tuple(bins[column] for column in sorted(bins))

    def joint(self) -> Floats:
        """The probability of every joint cell (flat, the last column running fastest), where they can be held."""
        cells = math.prod(self.sizes)
        if cells > MOST_JOINT_CELLS:
            raise BadInput(f"The joint grid has {cells:,} cells, and at most {MOST_JOINT_CELLS:,} can be held.")
        return self.marginal(range(len(self.sizes))).ravel()

    def marginal(self, columns: Sequence[int]) -> Floats:
        """The probabilities of these columns' bins: one axis each, in the order given."""
        kept = tuple(columns)
        needed = set(kept)
        factors: list[tuple[tuple[int, ...], Floats]] = []
        for table in reversed(self.tables):  # a table matters if its column is kept, or a parent of one that matters
            if table.column in needed:
                needed.update(table.parents)
                factors.append((table.columns, table.table))
        for table in reversed(self.tables):
            if table.column in needed and table.column not in kept:
                factors = _summed_out(factors, table.column)
        names, product = _product(factors, kept)
        found = np.asarray(np.transpose(product, [names.index(column) for column in kept]))
        return np.asarray(found / found.sum())


Factor = tuple[tuple[int, ...], Floats]


def _summed_out(factors: list[Factor], column: int) -> list[Factor]:
    """The factors with one column summed out of those that have it."""
    here = [factor for factor in factors if column in factor[0]]
    rest = [factor for factor in factors if column not in factor[0]]
    kept = tuple(sorted({name for names, _ in here for name in names} - {column}))
    return [*rest, _product(here, kept)]


def _product(factors: list[Factor], kept: tuple[int, ...]) -> Factor:
    """The product of factors, summed over all columns but these."""
    names = sorted({name for names, _ in factors for name in names})
    bins = {name: size for names, values in factors for name, size in zip(names, values.shape, strict=True)}
    cells = math.prod(bins[name] for name in kept)
    if cells > MOST_SUM_CELLS:
        raise BadInput(f"A marginal of the model would take {cells:,} cells, more than can be held. Take fewer --bins.")
    place = {name: number for number, name in enumerate(names)}
    operands: list[Any] = [part for names, values in factors for part in (values, [place[name] for name in names])]
    return kept, np.asarray(np.einsum(*operands, [place[name] for name in kept], optimize="greedy"))
