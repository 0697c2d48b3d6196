"""The envelope's weights where no person may add more than ``step``, in floating point: for measuring, not a release.

For cell x let F be a score that grows by at most near(x, z) with a person at z (1 in x itself), let a person be taken
out by phi(v) = min(E v, v + step near(x, z)), and let g be the least value over all ways to take people out, one after
the other, of what is left of F. With a person added at z

    g <= g' <= min(E g, g + step near(x, z)):

the new person is taken out last for the second, and for the first their step is left out, as phi(v) >= v. So the sum of
g over the cells grows by at most step (1 + A), where A is the most that one person counts in all other cells together.

It is best to take out by the factor first, x's own people and then the nearest, since phi of a sum adds the least at
the outside: say j of them, which leaves n' of n own people and what is near, S'. Of these some are taken out by the
step. With F = max(n, min(n + s, alone)), s = floor + min(cap, S), as in ``equinoise.synthesis.envelope``, that is all
or none of those near, and all or none of the own or as many as leave ``alone``: F is concave between these.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from equinoise.synthesis.envelope_weights import _gather


def around(rule):
    """A: what a person counts in all other cells together, at most."""
    table = rule.near_table / rule.unit
    twice = table
    for axis in range(table.ndim):
        twice = np.concatenate([np.flip(np.delete(twice, 0, axis), axis), twice], axis)
    return float(twice.sum() - table.ravel()[0])


def step_weights(counts, rule, epsilon, step, alone=True):
    """g of every cell (flat), in people, by the whole numbers of a rule with one floor."""
    flat, last = counts.ravel().astype(np.int64), rule.shape[-1]
    ordered = np.array([bins - none for bins, none in zip(rule.shape, rule.categories, strict=True)])
    cells = np.flatnonzero(flat)
    starts = np.searchsorted(cells, np.arange(rule.cells // last + 1) * last)
    table, unit = rule.near_table, rule.unit
    found = np.empty(rule.cells)
    _fill(
        np.array(rule.shape), ordered, np.array(table.shape), table.ravel(), starts, cells, flat[cells],
        rule.floors[0] / unit, rule.cap / unit, rule.alone / unit if alone else math.inf, unit, epsilon, step, found,
    )  # fmt: skip
    return found


@njit(cache=True)
def _fill(shape, ordered, reach, near, starts, cells, people, floor, cap, alone, unit, epsilon, step, found):
    nears, counts = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
    for x in range(len(found)):
        own, others = _gather(x, shape, ordered, reach, near, starts, cells, people, nears, counts)
        order = np.argsort(-nears[:others])
        found[x] = least(own, nears[order] / unit, counts[order], floor, cap, alone, epsilon, step)


@njit(cache=True)
def least(own, nears, counts, floor, cap, alone, epsilon, step):
    """g of a cell with ``own`` people, and so many others of every nearness, nearest first."""
    left, at, gone, S = float(own), 0, 0, (nears * counts).sum()
    factor, best = 1.0, np.inf
    while True:
        for kept in (S, 0.0):
            s = floor + min(cap, kept)
            for stay in (left, 0.0, np.floor(alone), np.ceil(alone)):
                if stay <= left:
                    score = max(stay, min(stay + s, alone))
                    best = min(best, factor * score + step * (left - stay + S - kept))
        if left > 0:
            left -= 1
        elif at < len(nears):
            gone, S = gone + 1, max(0.0, S - nears[at])
            if gone == counts[at]:
                at, gone = at + 1, 0
        else:
            return best
        factor *= math.exp(epsilon)
        if factor * floor >= best:
            return best
