"""Two people move at once, compiled: what best response, one person at a time, cannot find."""

from __future__ import annotations

import math
import time

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.game import Game
from equinoise.solvers.best_response import run_to_end
from equinoise.solvers.best_response.access import compiled

LEAST_GAIN = 1e-7
"""The least fall of KL, in nats, that is worth the search for it."""
PERTURBED = 3
"""People who are moved at random before the next search."""
PLACES = 64
"""First moves looked at before the clock is."""


@compiled()
def largest_at(demand, profile, x):  # type: ignore[no-untyped-def]
    """The largest demand in cell x among the groups."""
    largest = 0.0
    for i in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            if profile[i, v] > 0:
                largest = max(largest, demand[i, v, x])
    return largest


@compiled()
def protects(weights, demand, profile, sums, largest, moves, one, two):  # type: ignore[no-untyped-def]
    """Whether everyone is protected after two moves, if everyone was before them; the profile is left as it is.

    A cell that fails is looked at again only if a group has emptied: then the demand that fails may be gone.
    """
    i, a, b = moves[one, 0], moves[one, 1], moves[one, 2]
    j, c, d = moves[two, 0], moves[two, 1], moves[two, 2]
    profile[i, a] -= 1
    profile[i, b] += 1
    profile[j, c] -= 1
    profile[j, d] += 1
    emptied = profile[i, a] == 0 or profile[j, c] == 0
    holds = True
    for x in range(sums.shape[0]):
        then = sums[x] + (weights[i, b, x] - weights[i, a, x]) + (weights[j, d, x] - weights[j, c, x])
        fails = max(largest[x], demand[i, b, x], demand[j, d, x]) > then
        if fails and not (emptied and largest_at(demand, profile, x) <= then):
            holds = False
            break
    profile[i, a] += 1
    profile[i, b] -= 1
    profile[j, c] += 1
    profile[j, d] -= 1
    return holds


@compiled(entry=True)
def find_swap(weights, demand, profile, counts, sums, largest, tolerance, moves, change, hope, order, begin, end):  # type: ignore[no-untyped-def]
    """The places of two moves that lower KL and keep everyone protected, the first from ``begin`` to before ``end``; or
    -1 twice.

    S changes by factors 1 + u (``change``), and ln(1 + u) <= u, so two moves gain at most the sum of n u over both
    (``hope``). Moves are taken by that, falling, so that most pairs of moves are never looked at.
    """
    many = moves.shape[0]
    for place in range(begin, end):
        one = order[place]
        for other in range(place, many):
            two = order[other]
            if hope[one] + hope[two] <= tolerance:
                break
            i, old = moves[one, 0], moves[one, 1]
            if i == moves[two, 0] and old == moves[two, 1] and profile[i, old] < 2:
                continue
            if not protects(weights, demand, profile, sums, largest, moves, one, two):
                continue
            gain = 0.0
            for k in range(counts.shape[0]):
                gain += counts[k] * math.log1p(max(change[one, k] + change[two, k], -0.999999))
            if gain > tolerance:
                return place, other
    return -1, -1


def improve_by_swaps(game: Game, weights: Floats, demand: Floats, profile: Ints, deadline: float) -> Ints:
    """A profile that protects everyone, improved by two people at a time (for KL), and by everyone's best response.

    ``weights`` and ``demand`` are types x scales x cells, in rows: what one person adds to S, and what S must be there.
    """
    profile = profile.copy()
    if game.utility != "kl" or game.scales == 1:
        return run_to_end(game, profile)
    counts, occupied = game.players.counts, game.players.occupied
    begin = tried = 0
    moves = None
    while time.perf_counter() < deadline:
        if moves is None:
            types, scales = game.groups(profile)
            sums = game.sums(profile) / game.kernel.total
            largest = demand[types, scales].max(axis=0)
            moves = np.array(
                [(i, v, w) for i, v in zip(types, scales, strict=True) for w in range(game.scales) if w != v]
            )
            changes = weights[moves[:, 0], moves[:, 2]][:, occupied] - weights[moves[:, 0], moves[:, 1]][:, occupied]
            change = changes / sums[occupied]
            hope = change @ counts
            order = np.argsort(-hope, kind="stable")
            begin, tried = begin % len(moves), 0
        end = min(begin + PLACES, len(moves))
        one, two = find_swap(
            weights, demand, profile, counts, sums, largest, LEAST_GAIN * game.total_rows, moves, change, hope, order,
            begin, end,
        )  # fmt: skip
        if one >= 0:
            moved = profile.copy()
            for i, old, new in moves[order[[one, two]]].tolist():
                moved[i, old] -= 1
                moved[i, new] += 1
            if game.unprotected(moved) == 0:
                profile, begin, moves = moved, one, None
                continue
            end = one + 1  # demands are met and someone is unprotected: another first move
        tried += end - begin
        begin = end % len(moves)
        if tried >= len(moves):
            break
    return run_to_end(game, profile)


def perturb(profile: Ints, random: np.random.Generator) -> Ints:
    """A profile with a few random people at random scales."""
    profile = profile.copy()
    for i in random.choice(len(profile), PERTURBED).tolist():
        profile[i, random.choice(np.flatnonzero(profile[i]))] -= 1
        profile[i, random.integers(profile.shape[1])] += 1
    return profile
