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


def best_response_dynamics(game: Game, start, most_rounds: int = 1000, utility=closeness):
    """Play until a whole round changes nothing; returns the final profile and the number of rounds."""
    bins, choices = start.shape
    weights = game.kernel.weights.astype(np.float64)
    cells = np.repeat(np.arange(bins), start.sum(axis=1))
    scales = np.concatenate([np.repeat(np.arange(choices), start[k]) for k in range(bins)])
    tolerance = game.tolerance / len(cells) / game.closeness.ceiling

    def value(candidate):
        return payoff(cells, candidate, weights, game.kernel.total, bins, game.epsilon, utility)

    for number in range(1, most_rounds + 1):
        moved = False
        for cell in np.unique(cells):
            members = np.flatnonzero(cells == cell)
            for person in members[np.argsort(scales[members], kind="stable")]:
                best, (most, closest) = scales[person], value(scales)
                for choice in range(choices):
                    if choice == scales[person]:
                        continue
                    candidate = scales.copy()
                    candidate[person] = choice
                    protected, close = value(candidate)
                    if protected > most or (protected == most and close > closest + tolerance):
                        best, most, closest = choice, protected, close
                if best != scales[person]:
                    scales[person], moved = best, True
        if not moved:
            profile = np.zeros_like(start)
            np.add.at(profile, (cells, scales), 1)
            return profile, number
    raise RuntimeError("no equilibrium within the allowed rounds")
