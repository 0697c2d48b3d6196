"""The weights of the envelope for one dataset, in whole numbers, held only where people are near.

Which numbers of removed people can be best is narrowed down in floating point, with a margin a thousand times what it
can be wrong by; the least of them is then found in whole numbers of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit

from equinoise.data.grid import Floats, Ints
from equinoise.synthesis.envelope import FACTOR_BITS, POWER_BITS, Rule

MARGIN = 1e-9
"""Of logarithms up to a hundred, of numbers rounded to 2^-52 and of powers rounded down by less than 2^-42."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Whole weights: those of some cells, which ascend, and of all others the ``rest``, each."""

    cells: Ints
    weights: tuple[int, ...]
    rest: int
    size: int

    @cached_property
    def total(self) -> int:
        """Their sum over all ``size`` cells of the grid."""
        return sum(self.weights) + self.rest * (self.size - len(self.cells))

    def dense(self) -> list[int]:
        """One weight per cell of the grid."""
        found = [self.rest] * self.size
        for cell, weight in zip(self.cells.tolist(), self.weights, strict=True):
            found[cell] = weight
        return found

    def probabilities(self) -> Floats:
        """The distribution of one draw over all cells of the grid."""
        found = np.full(self.size, self.rest / self.total)
        found[self.cells] = [weight / self.total for weight in self.weights]
        return found


def weights(cells: Ints, people: Ints, rule: Rule) -> Weights:
    """g wherever it is not the floor, rounded down to whole numbers; ``cells`` that have people ascend."""
    found, values = weights_at(np.arange(rule.cells), cells, people, rule)
    if rule.even:
        return Weights(found, tuple(values), rule.floors[0], rule.cells)
    each = list(rule.floors)
    for cell, value in zip(found.tolist(), values, strict=True):
        each[cell] = value
    return Weights(np.arange(rule.cells), tuple(each), 0, rule.cells)


def weights_at(targets: Ints, cells: Ints, people: Ints, rule: Rule) -> tuple[Ints, list[int]]:
    """Those of the ``targets``, which ascend, that have people near, and their weights."""
    ordered = np.array([bins - none for bins, none in zip(rule.shape, rule.categories, strict=True)], dtype=np.int64)
    last = rule.shape[-1]
    starts = np.searchsorted(cells, np.arange(rule.cells // last + 1) * last)
    floors = np.array(rule.floors, dtype=np.int64)
    one = 1 << FACTOR_BITS
    log_unit, log_factor = math.log(rule.unit), math.log1p((rule.factor - one) / one)
    table = rule.near_table
    where, removed, sums = _candidates(
        targets, np.array(rule.shape, dtype=np.int64), ordered, np.array(table.shape, dtype=np.int64), table.ravel(),
        starts, cells, people, floors, rule.cap, math.log(rule.alone), log_unit, log_factor, MARGIN,
    )  # fmt: skip
    if len(where) == 0:
        return where, []
    own = np.zeros(len(where), dtype=object)
    position = np.minimum(np.searchsorted(cells, where), len(cells) - 1)
    stay = (removed == 0) & (cells[position] == where)
    own[stay] = people[position[stay]].astype(object) * rule.unit
    gone, each = np.unique(removed, return_inverse=True)
    powers = np.array([rule.power(j) for j in gone.tolist()], dtype=object)
    scores = np.maximum(own, np.minimum(own + sums.astype(object), rule.alone))
    values = powers[each] * scores
    found, first = np.unique(where, return_index=True)
    return found, [value >> POWER_BITS for value in np.minimum.reduceat(values, first)]


def each_without_one(cells: Ints, people: Ints, rule: Rule) -> Iterator[tuple[Ints, list[int]]]:
    """For every cell that has people the cells within its reach, and their weights without one person of it."""
    for k, cell in enumerate(cells.tolist()):
        fewer = people.copy()
        fewer[k] -= 1
        targets = within_reach(cell, rule)
        each = dict(zip(targets.tolist(), (rule.floor(x) for x in targets.tolist()), strict=True))
        each.update(zip(*_listed(weights_at(targets, cells, fewer, rule)), strict=True))
        yield targets, list(each.values())


def within_reach(cell: int, rule: Rule) -> Ints:
    """The cells whose weights a person in this one can change, ascending; itself among them."""
    sides = []
    at = np.unravel_index(cell, rule.shape)
    for bin, bins, none, near in zip(map(int, at), rule.shape, rule.categories, rule.near, strict=True):
        reach = len(near) - 1 if bin < bins - none else 0
        sides.append(np.arange(max(0, bin - reach), min(max(bins - none, bin + 1), bin + reach + 1)))
    return np.asarray(np.ravel_multi_index(np.ix_(*sides), rule.shape), dtype=np.int64).ravel()


def _listed(found: tuple[Ints, Sequence[int]]) -> tuple[list[int], Sequence[int]]:
    return found[0].tolist(), found[1]


@njit(cache=True)
def _candidates(
    targets: Ints, shape: Ints, ordered: Ints, reach: Ints, near: Ints, starts: Ints, cells: Ints, people: Ints,
    floors: Ints, cap: int, log_alone: float, log_unit: float, log_factor: float, margin: float,
) -> Any:  # fmt: skip
    """For every target with people near: how many are gone, and floor plus what is left, wherever that may be best."""
    where, removed, sums = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = 0
    nears, counts = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
    gone, tails = np.empty(len(cells) + 2, np.int64), np.empty(len(cells) + 2, np.int64)
    logs = np.empty(len(cells) + 2)
    for x in targets:
        own, found = _gather(x, shape, ordered, reach, near, starts, cells, people, nears, counts)
        if own == 0 and found == 0:
            continue
        floor = floors[0] if len(floors) == 1 else floors[x]
        many = _levels(
            own, found, nears, counts, floor, cap, log_alone, log_unit, log_factor, margin, gone, tails, logs
        )
        best = logs[:many].min() + margin
        for k in range(many):
            if logs[k] <= best:
                if size == len(where):
                    where = np.concatenate((where, np.empty(size, np.int64)))
                    removed = np.concatenate((removed, np.empty(size, np.int64)))
                    sums = np.concatenate((sums, np.empty(size, np.int64)))
                where[size], removed[size], sums[size] = x, gone[k], floor + tails[k]
                size += 1
    return where[:size], removed[:size], sums[:size]


@njit(cache=True)
def _gather(
    x: int, shape: Ints, ordered: Ints, reach: Ints, near: Ints, starts: Ints, cells: Ints, people: Ints, nears: Ints,
    counts: Ints,
) -> Any:  # fmt: skip
    """People in x, and how many other cells are near: their nearness and people go to ``nears`` and ``counts``.

    Cells are looked up along lines of the last axis, line after line of those that are within reach.
    """
    axes = len(shape)
    here, low, high, at = np.empty(axes, np.int64), np.empty(axes, np.int64), np.empty(axes, np.int64), 0
    rest = x
    for axis in range(axes - 1, -1, -1):
        here[axis] = rest % shape[axis]
        rest //= shape[axis]
        low[axis] = high[axis] = here[axis]
        if here[axis] < ordered[axis]:
            low[axis] = max(0, here[axis] - reach[axis] + 1)
            high[axis] = min(ordered[axis] - 1, here[axis] + reach[axis] - 1)
    line, own, found = low.copy(), 0, 0
    last = axes - 1
    while True:
        number, at = 0, 0
        for axis in range(last):
            number = number * shape[axis] + line[axis]
            at = at * reach[axis] + abs(line[axis] - here[axis])
        first = number * shape[last]
        begin, end = starts[number], starts[number + 1]
        begin += np.searchsorted(cells[begin:end], first + low[last])
        while begin < end and cells[begin] <= first + high[last]:
            if people[begin] > 0:
                if cells[begin] == x:
                    own = people[begin]
                else:
                    one = near[at * reach[last] + abs(cells[begin] - first - here[last])]
                    if one > 0:
                        nears[found], counts[found] = one, people[begin]
                        found += 1
            begin += 1
        axis = last - 1
        while axis >= 0 and line[axis] == high[axis]:
            line[axis] = low[axis]
            axis -= 1
        if axis < 0:
            return own, found
        line[axis] += 1


@njit(cache=True)
def _levels(
    own: int, found: int, nears: Ints, counts: Ints, floor: int, cap: int, log_alone: float, log_unit: float,
    log_factor: float, margin: float, gone: Ints, tails: Ints, logs: Floats,
) -> int:  # fmt: skip
    """The ways to remove people, nearest first: how many are gone, what the others count, the logarithm of it all."""
    order = np.argsort(-nears[:found])
    left = np.zeros(found + 1, np.int64)
    for k in range(found - 1, -1, -1):
        one, many = nears[order[k]], counts[order[k]]
        left[k] = cap if many > (cap - left[k + 1]) // one else left[k + 1] + one * many  # whole numbers stay small
    gone[0], tails[0], logs[0] = 0, left[0], math.log(floor + left[0])
    many = 1
    if own > 0:
        gone[1], tails[1], logs[1] = own, left[0], own * log_factor + logs[0]
        crowd = math.log(own) + log_unit
        logs[0] = max(crowd, min(np.logaddexp(crowd, logs[0]), log_alone))
        many = 2
    best, away, k = logs[:many].min(), own, 0
    while k < found:
        level = nears[order[k]]
        while k < found and nears[order[k]] == level:
            away += counts[order[k]]
            k += 1
        if away * log_factor + math.log(floor) > best + margin:
            break  # removing more people cannot help
        gone[many], tails[many], logs[many] = away, left[k], away * log_factor + math.log(floor + left[k])
        best = min(best, logs[many])
        many += 1
    return many
