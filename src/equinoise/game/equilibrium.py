"""Whether a profile is an equilibrium: no single person can raise the payoff by changing scale.

This is the check of what the solvers found, and shares no code with them. Every group is asked for every other scale.
Divergences are convex in S, so a move gains at most what the slopes promise, and that rules most moves out at once.
What is left must also keep people protected: the two largest and the two smallest rows of every cell, each as a
multiple of its person's own limit, decide that for those who are (two, because one may be the mover's own); those who
are not are first looked at in the cell where they were found not to be.
"""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.game import Game
from equinoise.privacy.loss import PURE

SLOPE_ROUNDING = 2.0**-40
"""What rounding may hide in a product of a row with the slopes, as a share of the largest that it could be."""


def is_equilibrium(game: Game, profile: Ints) -> bool:
    """Whether staying is everyone's best response."""
    profile = game.check_profile(profile)
    types, scales = game.groups(profile)
    sums = game.sums(profile)
    outside = game.outside(types, scales, sums)
    unprotected = int(profile[types, scales][outside].sum())
    gaining = may_gain(game, profile, sums)
    guard = Guard(game, profile, sums, outside) if game.condition.kind == PURE else None
    for g in range(len(types)) if unprotected else np.flatnonzero(gaining.any(axis=1)).tolist():
        i, old = int(types[g]), int(scales[g])
        gains = game.gains(profile, sums, i, old)
        for new in range(game.scales):
            enough = unprotected if gains[new] > game.tolerance else unprotected - 1
            if new == old or enough < 0 or (guard is not None and guard.fewest(g, i, old, new) > enough):
                continue
            moved = profile.copy()
            moved[i, old] -= 1
            moved[i, new] += 1
            if game.unprotected(moved) <= enough:
                return False
    return True


def may_gain(game: Game, profile: Ints, sums: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Whether a move may gain, by the slopes: groups x scales."""
    types, scales = game.groups(profile)
    if game.closeness.curve is None:
        slopes = np.sign(game.gaps(profile))
        scores = game.features @ slopes
    else:
        _, slopes = game.closeness.curve.tangents(game.near(sums) / game.players.counts)
        scores = np.stack([game.store.near_weights(i) @ slopes for i in range(game.players.types)]) / game.kernel.total
    gains = scores[types] - scores[types, scales][:, None]
    most = np.abs(slopes).max(initial=0.0) * game.players.sizes[types, None]
    return np.asarray(gains + SLOPE_ROUNDING * most > game.tolerance)


class Guard:
    """Lower bounds on how many people are unprotected after one person's move, under the pure condition."""

    def __init__(self, game: Game, profile: Ints, sums: Floats, outside: np.ndarray[tuple[int], np.dtype[np.bool_]]):
        self.game, self.sums = game, sums
        self.types, self.scales = game.groups(profile)
        self.people = profile[self.types, self.scales]
        self.upper, self.lower = game.condition.upper, game.condition.lower
        self.largest, self.smallest = Outermost(len(sums)), Outermost(len(sums))
        self.exposed = np.flatnonzero(outside)
        self.witness = np.zeros(len(self.exposed), dtype=np.int64)
        self.weight = np.zeros(len(self.exposed))
        found = 0
        for g, (i, v) in enumerate(zip(self.types.tolist(), self.scales.tolist(), strict=True)):
            row = game.store.row(i, v)
            if outside[g]:
                beyond = np.maximum(row - self.upper[i] * sums, self.lower[i] * sums - row)
                self.witness[found] = beyond.argmax()
                self.weight[found] = row[self.witness[found]]
                found += 1
            else:
                self.largest.add(row / self.upper[i], g)
                if self.lower[i] > 0:
                    self.smallest.add(-row / self.lower[i], g)

    def fewest(self, g: int, i: int, old: int, new: int) -> int:
        """A lower bound on the people who are unprotected once one person of group g is at another scale."""
        row = self.game.store.row(i, new)
        change = row - self.game.store.row(i, old)
        then, leaving = self.sums + change, bool(self.people[g] == 1)
        spare = 1 + SLOPE_ROUNDING  # sums that nearly cancel are looked at in full
        safe = then > 2.0**-8 * self.sums
        lost = (self.largest.without(g, leaving) > spare * then) | (-self.smallest.without(g, leaving) * spare < then)
        beyond = (row > spare * self.upper[i] * then) | (row * spare < self.lower[i] * then)
        count = int((lost & safe).any()) + int((beyond & safe).any())
        if len(self.exposed):
            there, whose = then[self.witness], self.types[self.exposed]
            most, least = self.upper[whose] * there, self.lower[whose] * there
            still = (self.weight > spare * most) | (self.weight * spare < least)
            count += int((self.people[self.exposed] - (self.exposed == g))[still & safe[self.witness]].sum())
        return count


class Outermost:
    """The two largest of the rows that were added, in every cell, and the owner of the largest."""

    def __init__(self, cells: int) -> None:
        self.first, self.second = np.full(cells, -np.inf), np.full(cells, -np.inf)
        self.owner = np.full(cells, -1)

    def add(self, row: Floats, owner: int) -> None:
        """Add a row over all cells."""
        above = row > self.first
        self.second = np.where(above, self.first, np.maximum(self.second, row))
        self.first = np.where(above, row, self.first)
        self.owner[above] = owner

    def without(self, owner: int, leaving: bool) -> Floats:
        """The largest row in every cell, without an owner's if the last of them is leaving."""
        return np.where(self.owner == owner, self.second, self.first) if leaving else self.first
