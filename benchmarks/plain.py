"""The paper's best-response algorithm as it is written: one person at a time, the whole payoff each time.

It is the oracle that the fast solver is compared with, in results (tests) and in time (benchmark), whatever the data is
like: a person has any number of rows, and a row any number of columns. It shares no arithmetic with the game: rows are
laid out with Kronecker products, and a person is removed from the sum of everyone's. Only what the paper leaves open is
fixed: the order (types ascending or as given, within a type by scale as it was when its turn began) and ties (staying
first, then scales ascending; a later choice must be better by more than a tolerance).
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from equinoise import Game


def kl(p, q):
    """Kullback-Leibler divergence over its ceiling, ln K."""
    return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])) / math.log(len(p))


def js(p, q):
    """Jensen-Shannon divergence over its ceiling, ln 2."""
    middle = (p + q) / 2
    return sum(np.sum(a[a > 0] * np.log(a[a > 0] / middle[a > 0])) for a in (p, q)) / 2 / math.log(2)


def tv(p, q):
    """Total variation."""
    return np.abs(p - q).sum() / 2


DIVERGENCES = {"kl": kl, "js": js, "tv": tv}


def kernel_rows(game: Game):
    """Where one row comes out: scales x cells x cells, in whole numbers."""
    return np.array([reduce(np.kron, (weights[v] for weights in game.kernel.weights)) for v in range(game.scales)])


def person_rows(game: Game):
    """Where all rows of one person come out, added up: types x scales x cells, in whole numbers."""
    players, tables = game.players, kernel_rows(game)
    found = np.zeros((players.types, game.scales, players.grid.cells), dtype=np.int64)
    for owner, cell, times in zip(players.owners, players.cells, players.times, strict=True):
        found[owner] += times * tables[:, cell]
    return found


def payoff(rows, sizes, original, total, epsilon, divergence=kl):
    """People protected, and the utility, for everyone's rows (people x cells), of which each has so many."""
    everyone, many = rows.sum(axis=0), sizes.sum()
    utility = min(max(1 - divergence(original, everyone / (many * total)), 0.0), 1.0)
    reached = everyone > 0
    everyone, rows = everyone[reached], rows[:, reached]
    with np.errstate(divide="ignore"):
        loss = np.abs(np.log((everyone / many) / ((everyone - rows) / (many - sizes)[:, None]))).max(axis=1)
    return int(np.count_nonzero(loss <= epsilon)), utility


class Everyone:
    """Each person of a game with their type and their scale; ``scales`` changes as they move."""

    def __init__(self, game: Game, start, divergence=None):
        self.game, self.divergence = game, DIVERGENCES[game.utility] if divergence is None else divergence
        self.rows = person_rows(game).astype(np.float64)
        self.types = np.repeat(np.arange(len(start)), start.sum(axis=1))
        self.scales = np.concatenate([np.repeat(np.arange(game.scales), people) for people in start])
        self.sizes = game.players.sizes[self.types]
        self.original = game.players.histogram.counts / game.total_rows
        self.tolerance = game.tolerance / game.total_rows / game.closeness.ceiling

    def value(self, scales):
        """The payoff if these were everyone's scales."""
        rows, total = self.rows[self.types, scales], self.game.kernel.total
        return payoff(rows, self.sizes, self.original, total, self.game.epsilon, self.divergence)

    def values(self, person):
        """The payoff with each scale of one person, everyone else staying."""
        found = []
        for choice in range(self.game.scales):
            scales = self.scales.copy()
            scales[person] = choice
            found.append(self.value(scales))
        return found

    def best_choice(self, person):
        """The scale with the highest payoff for everyone, this person's own first."""
        values, best = self.values(person), self.scales[person]
        most, closest = values[best]
        for choice, (protected, close) in enumerate(values):
            if protected > most or (protected == most and close > closest + self.tolerance):
                best, most, closest = choice, protected, close
        return best

    def round(self, order=None):
        """One turn for everyone: yields whether they moved, one person after the other."""
        for i in range(len(self.rows)) if order is None else order:
            members = np.flatnonzero(self.types == i)
            for person in members[np.argsort(self.scales[members], kind="stable")]:
                best = self.best_choice(person)
                moved = best != self.scales[person]
                self.scales[person] = best
                yield moved

    @property
    def profile(self):
        """People per type and scale."""
        found = np.zeros((len(self.rows), self.game.scales), dtype=np.int64)
        np.add.at(found, (self.types, self.scales), 1)
        return found


def best_response_dynamics(game: Game, start, order=None, most_rounds: int = 1000, divergence=None):
    """Play until a whole round changes nothing; returns the final profile and the number of rounds."""
    everyone = Everyone(game, start, divergence)
    for number in range(1, most_rounds + 1):
        if not any(list(everyone.round(order))):
            return everyone.profile, number
    raise RuntimeError("no equilibrium within the allowed rounds")
