"""Two people move at once, compiled: what best response, one person at a time, cannot find."""

from __future__ import annotations

import math
import time

import numpy as np

from equinoise.game import Game
from equinoise.grid import Ints
from equinoise.solvers.best_response import rounds
from equinoise.solvers.compiled import FLOATS, INDICES, ROWS, TABLE, compiled

LEAST_GAIN = 1e-7
"""Of KL: smaller improvements are not worth the search for them."""
SHAKEN = 3
"""People who are moved at random before the next search."""


@compiled(f"float64({ROWS},{TABLE},{INDICES},int64)")
def largest_at(rows, profile, occupied, x):  # type: ignore[no-untyped-def]
    """The largest row in cell x among the occupied groups."""
    largest = 0.0
    for k in occupied:
        for v in range(profile.shape[1]):
            if profile[k, v] > 0:
                largest = max(largest, rows[v, k, x])
    return largest


@compiled(f"boolean({ROWS},{TABLE},{INDICES},{FLOATS},{FLOATS},float64,int64[:,::1],int64,int64)")
def protects(rows, profile, occupied, sums, largest, upper, moves, i, j):  # type: ignore[no-untyped-def]
    """Whether everyone is protected after moves i and j, if everyone was before them; the profile is left as it is.

    A cell that fails is looked at again only if a group has emptied: then the row that fails may be gone.
    """
    (k, a, b), (m, c, d) = moves[i], moves[j]
    profile[k, a] -= 1
    profile[k, b] += 1
    profile[m, c] -= 1
    profile[m, d] += 1
    emptied = profile[k, a] == 0 or profile[m, c] == 0
    kept = True
    for x in range(sums.shape[0]):
        allowed = upper * (sums[x] + (rows[b, k, x] - rows[a, k, x]) + (rows[d, m, x] - rows[c, m, x]))
        fails = max(largest[x], rows[b, k, x], rows[d, m, x]) > allowed
        if fails and not (emptied and largest_at(rows, profile, occupied, x) <= allowed):
            kept = False
            break
    profile[k, a] += 1
    profile[k, b] -= 1
    profile[m, c] += 1
    profile[m, d] -= 1
    return kept


@compiled(f"UniTuple(int64,3)({ROWS},{TABLE},{INDICES},{FLOATS},{FLOATS},{FLOATS},float64,float64,int64[:,::1],int64)")
def find_swap(rows, profile, occupied, counts, sums, largest, upper, tolerance, moves, start):  # type: ignore[no-untyped-def]
    """Two moves that lower KL and keep everyone protected, and where to start looking next time; or (-1, -1, 0).

    S changes by factors 1 + u, and ln(1 + u) <= u, so two moves gain at most the sum of n u over both. Moves are
    taken by that, falling, so that most pairs of moves are never looked at.
    """
    many, cells = moves.shape[0], occupied.shape[0]
    change = np.empty((many, cells))
    hope = np.zeros(many)
    for i in range(many):
        cell, old, new = moves[i]
        for r in range(cells):
            k = occupied[r]
            change[i, r] = (rows[new, cell, k] - rows[old, cell, k]) / sums[k]
            hope[i] += counts[k] * change[i, r]
    order = np.argsort(-hope)
    for turn in range(many):
        place = (start + turn) % many
        i = order[place]
        for other in range(place, many):
            j = order[other]
            if hope[i] + hope[j] <= tolerance:
                break
            if moves[i, 0] == moves[j, 0] and moves[i, 1] == moves[j, 1] and profile[moves[i, 0], moves[i, 1]] < 2:
                continue
            if not protects(rows, profile, occupied, sums, largest, upper, moves, i, j):
                continue
            gain = 0.0
            for r in range(cells):
                gain += counts[occupied[r]] * math.log1p(max(change[i, r] + change[j, r], -0.999999))
            if gain > tolerance:
                return i, j, place
    return -1, -1, 0


def swapped(game: Game, profile: Ints, deadline: float) -> Ints:
    """A profile that protects everyone, improved by two people at a time (for KL), and by everyone's best response."""
    profile = profile.copy()
    if game.utility != "kl":
        return responded(game, profile)
    counts = game.histogram.counts.astype(np.float64)
    start = 0
    while profile.shape[1] > 1 and time.perf_counter() < deadline:
        cells, scales = game.groups(profile)
        largest = game.rows[scales, cells].max(axis=0)
        others = np.arange(profile.shape[1])
        moves = np.array([(k, v, new) for k, v in zip(cells, scales, strict=True) for new in others if new != v])
        i, j, start = find_swap(
            game.rows, profile, game.occupied, counts, game.sums(profile), largest,
            game.condition.upper, LEAST_GAIN * game.people, moves, start % len(moves),
        )  # fmt: skip
        if i < 0:
            break
        for cell, old, new in moves[[i, j]].tolist():
            profile[cell, old] -= 1
            profile[cell, new] += 1
    return responded(game, profile)


def responded(game: Game, profile: Ints, order: Ints | None = None) -> Ints:
    """Where best response from a profile ends."""
    for state in rounds(game, profile, order):
        end = state.profile
    return end


def shaken(game: Game, profile: Ints, random: np.random.Generator) -> Ints:
    """A profile with a few random people at random scales."""
    profile = profile.copy()
    for cell in random.choice(game.occupied, SHAKEN).tolist():
        profile[cell, random.choice(np.flatnonzero(profile[cell]))] -= 1
        profile[cell, random.integers(profile.shape[1])] += 1
    return profile
