"""Where a person comes out: one row over the cells for every type of player and every scale.

W[i, v] is the sum over a person's rows of the kernel's product rows, in whole numbers that floats hold. Laid out where
there is room; otherwise made of two short factors whenever it is needed. Compiled loops take either by its fields
(:mod:`equinoise.solvers.best_response.access`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.game.kernel import Kernel, products
from equinoise.game.noise import MOST_WEIGHTS

MOST_CACHED_WEIGHTS = 2**18
"""Weights that are laid out with several columns: what a processor keeps close. More are sooner multiplied out."""


class DenseRows(NamedTuple):
    """Rows laid out.

    ``weights``: types x scales x cells; ``near``: those in the occupied cells alone; ``reach``: types x scales x 2, the
    first cell and the one after the last in which a row is not zero.
    """

    weights: Floats
    near: Floats
    reach: Ints

    def row(self, i: int, v: int) -> Floats:
        """W[i, v]: cells."""
        return np.asarray(self.weights[i, v])

    def some(self, types: Ints, scales: Ints) -> Floats:
        """W of several groups: groups x cells."""
        return np.asarray(self.weights[types, scales])

    def near_weights(self, i: int) -> Floats:
        """W of one type in the occupied cells: scales x occupied."""
        return np.asarray(self.near[i])

    def at_home(self, homes: Ints) -> Floats:
        """W in each type's home, a place among the occupied cells: types x scales."""
        return np.asarray(np.take_along_axis(self.near, homes[:, None, None], axis=2)[:, :, 0])

    def sums(self, types: Ints, scales: Ints, people: Ints) -> Floats:
        """S, the W of all people added up: cells. On one core: others take longer to wake than this takes."""
        return np.asarray(np.einsum("g,gx->x", people.astype(np.float64), self.weights[types, scales]))


class ProductRows(NamedTuple):
    """Rows as sums of outer products of two factors, made when they are needed.

    Cell x is (x // B, x % B) with B bins in the second factor. ``first``: scales x A x A, ``second``: scales x B x B,
    the kernel's product rows over the first and the last axes; entries of the types as :class:`Players` has them,
    with the bins of their cells in either factor; ``ones`` and ``twos``: those of the occupied cells.
    """

    first: Floats
    second: Floats
    begins: Ints
    one: Ints
    two: Ints
    times: Ints
    ones: Ints
    twos: Ints
    reach: Ints

    def row(self, i: int, v: int) -> Floats:
        """W[i, v]: cells."""
        entries = slice(self.begins[i], self.begins[i + 1])
        left = self.first[v, self.one[entries]] * self.times[entries, None]
        return np.asarray((left.T @ self.second[v, self.two[entries]]).ravel())

    def some(self, types: Ints, scales: Ints) -> Floats:
        """W of several groups: groups x cells."""
        return np.stack([self.row(i, v) for i, v in zip(types.tolist(), scales.tolist(), strict=True)])

    def near_weights(self, i: int) -> Floats:
        """W of one type in the occupied cells: scales x occupied."""
        entries = slice(self.begins[i], self.begins[i + 1])
        left = self.first[:, self.one[entries]][:, :, self.ones] * self.times[entries, None]
        return np.asarray((left * self.second[:, self.two[entries]][:, :, self.twos]).sum(axis=1))

    def at_home(self, homes: Ints) -> Floats:
        """W in each type's home, a place among the occupied cells: types x scales."""
        owners = np.repeat(np.arange(len(homes)), np.diff(self.begins))
        one, two = self.ones[homes][owners], self.twos[homes][owners]
        each = self.first[:, self.one, one] * self.times * self.second[:, self.two, two]
        return np.asarray(np.add.reduceat(each, self.begins[:-1], axis=1).T)

    def sums(self, types: Ints, scales: Ints, people: Ints) -> Floats:
        """S, the W of all people added up: cells."""
        lengths = np.diff(self.begins)[types]
        group = np.repeat(np.arange(len(types)), lengths)
        offsets = np.arange(len(group)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entries = self.begins[types][group] + offsets
        weights = (people[group] * self.times[entries]).astype(np.float64)
        left = self.first[scales[group], self.one[entries]] * weights[:, None]
        return np.asarray((left.T @ self.second[scales[group], self.two[entries]]).ravel())


RowStore = DenseRows | ProductRows


def make_store(players: Players, kernel: Kernel, most: int | None = None) -> RowStore:
    """The rows of these players under a kernel, laid out if they are at most so many weights."""
    factored = _product_rows(players, kernel)
    cells = players.grid.cells
    if most is None:
        most = MOST_WEIGHTS if len(kernel.shape) == 1 else MOST_CACHED_WEIGHTS
    if players.types * len(kernel.scales) * cells > most:
        return factored
    weights, every = np.empty((players.types, len(kernel.scales), cells)), np.arange(players.types)
    for v in range(len(kernel.scales)):
        if len(players.cells) == players.types:  # one cell each: all rows at once
            factors = [factored.first[v, factored.one], factored.second[v, factored.two]]
            weights[:, v] = products(factors) * players.times[:, None]
        else:
            weights[:, v] = factored.some(every, np.full_like(every, v))
    return DenseRows(weights, np.ascontiguousarray(weights[:, :, players.occupied]), factored.reach)


def _product_rows(players: Players, kernel: Kernel) -> ProductRows:
    shape, split = kernel.shape, kernel.split
    bins = [players.grid.bins_of(cells) for cells in (players.cells, players.occupied)]
    factors, places = [], []
    for axes in (range(split), range(split, len(shape))):
        sizes = [shape[axis] for axis in axes]
        strides = np.array([math.prod(sizes[k + 1 :]) for k in range(len(sizes))], dtype=np.int64)
        index, there = (table[:, axes.start : axes.stop] @ strides for table in bins)
        used, width = np.unique(index), math.prod(sizes)  # width 1 for no axes
        own = np.unravel_index(used, sizes) if sizes else ()
        table = np.zeros((len(kernel.scales), width, width))
        for v in range(len(kernel.scales)):
            rows = (kernel.weights[axis][v, place] for axis, place in zip(axes, own, strict=True))
            table[v, used] = products([np.ones((len(used), 1)), *rows])
        factors.append(table)
        places.append((index, there))
    (one, ones), (two, twos) = places
    reach = _reach(players, factors[0], one, factors[1].shape[1])
    return ProductRows(factors[0], factors[1], players.begins, one, two, players.times, ones, twos, reach)


def _reach(players: Players, first: Floats, one: Ints, width: int) -> Ints:
    """The first cell and the one after the last in which a row may not be zero: whole lines of the second factor."""
    reach = np.empty((players.types, len(first), 2), dtype=np.int64)
    for v, table in enumerate(first):
        lines = table[one] > 0
        low = np.minimum.reduceat(lines.argmax(axis=1), players.begins[:-1])
        high = np.maximum.reduceat(lines.shape[1] - lines[:, ::-1].argmax(axis=1), players.begins[:-1])
        reach[:, v, 0], reach[:, v, 1] = low * width, high * width
    return reach
