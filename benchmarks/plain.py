"""The paper's best-response algorithm as it is written: one person at a time, the whole payoff each time.

It is the oracle that the fast solver is compared with, in results (tests) and in time (benchmark). Only what
the paper leaves open is fixed: the order (cells ascending, within a cell by scale as it was when the cell's turn
began) and ties (staying first, then scales ascending; a later choice must be better by more than a tolerance).
"""

from __future__ import annotations

import math

import numpy as np

from equinoise import Game


def closeness(p, q):
    """1 - KL / ln K clamped to [0, 1]."""
    kl = np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))
    return min(max(1 - kl / math.log(len(p)), 0.0), 1.0)


def payoff(cells, scales, weights, total, bins, epsilon, utility=closeness):
    """People protected, and the utility, for one scale per person."""
    people = len(cells)
    rows = weights[scales, cells]
    everyone = rows.sum(axis=0)
    p, q = np.bincount(cells, minlength=bins) / people, everyone / (people * total)
    reached = everyone > 0
    everyone, rows = everyone[reached], rows[:, reached]
    with np.errstate(divide="ignore"):
        loss = np.abs(np.log((everyone / people) / ((everyone - rows) / (people - 1)))).max(axis=1)
    return int(np.count_nonzero(loss <= epsilon)), utility(p, q)


class Players:
    """Everyone with their cell and their scale; ``scales`` changes as they move."""

    def __init__(self, game: Game, start, utility=closeness):
        self.game, self.utility = game, utility
        self.bins, self.choices = start.shape
        self.weights = game.kernel.weights.astype(np.float64)
        self.cells = np.repeat(np.arange(self.bins), start.sum(axis=1))
        self.scales = np.concatenate([np.repeat(np.arange(self.choices), start[k]) for k in range(self.bins)])
        self.tolerance = game.tolerance / len(self.cells) / game.closeness.ceiling

    def value(self, scales):
        """The payoff if these were everyone's scales."""
        game = self.game
        return payoff(self.cells, scales, self.weights, game.kernel.total, self.bins, game.epsilon, self.utility)

    def best_choice(self, person):
        """The scale with the highest payoff for everyone, this person's own first."""
        best, (most, closest) = self.scales[person], self.value(self.scales)
        for choice in range(self.choices):
            if choice == self.scales[person]:
                continue
            candidate = self.scales.copy()
            candidate[person] = choice
            protected, close = self.value(candidate)
            if protected > most or (protected == most and close > closest + self.tolerance):
                best, most, closest = choice, protected, close
        return best

    def round(self):
        """One turn for everyone: yields whether they moved, one person after the other."""
        for cell in np.unique(self.cells):
            members = np.flatnonzero(self.cells == cell)
            for person in members[np.argsort(self.scales[members], kind="stable")]:
                best = self.best_choice(person)
                moved = best != self.scales[person]
                self.scales[person] = best
                yield moved

    @property
    def profile(self):
        """People per cell and scale."""
        found = np.zeros((self.bins, self.choices), dtype=np.int64)
        np.add.at(found, (self.cells, self.scales), 1)
        return found


def best_response_dynamics(game: Game, start, most_rounds: int = 1000, utility=closeness):
    """Play until a whole round changes nothing; returns the final profile and the number of rounds."""
    players = Players(game, start, utility)
    for number in range(1, most_rounds + 1):
        if not any(list(players.round())):
            return players.profile, number
    raise RuntimeError("no equilibrium within the allowed rounds")
