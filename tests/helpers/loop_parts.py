"""What the compiled loop of best response is given, to call parts of it alone.

These are compiled without a way in from Python, so that small compiled functions here go in between.
"""

from __future__ import annotations

from typing import NamedTuple
from unittest.mock import patch

import numba

from equinoise.solvers.best_response import divergences, gain, guards, sums
from equinoise.solvers.best_response.access import fill_near
from equinoise.solvers.best_response.dynamics import make_round


class Parts(NamedTuple):
    """All that a round is played with."""

    store: object
    limits: object
    aim: object
    state: object
    buffers: object


def parts_of(game, profile):
    """Those of a game at a profile, which its parts may change."""
    given = []

    def play_round(*args):
        given.append(args)
        return 0, 0

    with patch("equinoise.solvers.best_response.loop.play_round", play_round):
        make_round(game, profile.copy())(None, 1)
    return Parts(*given[0][:5])


@numba.njit
def find_slopes(aim, state):
    return gain.find_slopes(aim, state)


@numba.njit
def find_slope_scores(store, aim, state, buffers, i):
    fill_near(store, i, buffers.nears)
    gain.find_slope_scores(aim, state, buffers.slope_scores, buffers.nears, i)


@numba.njit
def drop_and_bound(store, aim, state, buffers, rounding, i, old, new, block):
    drop = gain.divergence_drop(store, aim, state, buffers.nears, i, old, new, block)
    return drop, gain.gain_bound(aim, state, buffers.slope_scores, buffers.nears, rounding, i, old, new, block)


@numba.njit
def best_block_size(aim, state, buffers, old, new, most):
    return gain.best_block_size(aim, state, buffers.nears, old, new, most)


@numba.njit
def classify_everyone(store, limits, state, buffers):
    return guards.classify_everyone(store, limits, state, buffers)


@numba.njit
def exposed_after(store, limits, state, buffers, unprotected, i, old, new, block, most):
    return guards.exposed_after(store, limits, state, buffers, unprotected, i, old, new, block, most)


@numba.njit
def fewest_after(store, limits, state, unprotected, i, old, new, block, most):
    """What is known before a move is looked at in full."""
    known = guards.still_exposed(store, limits, state, i, old, new, block, most) if unprotected > 0 else 0
    return known, guards.fails_as_before(store, limits, state, i, old, new, block)


@numba.njit
def move(store, limits, aim, state, buffers, i, old, new, block, exposed, lost):
    sums.move_people(store, limits, aim, state, buffers, i, old, new, block)
    return guards.reclassify(store, limits, state, buffers, i, old, new, exposed, lost)


@numba.njit
def move_alone(store, limits, aim, state, buffers, i, old, new, block):
    sums.move_people(store, limits, aim, state, buffers, i, old, new, block)


@numba.njit
def sum_after(store, state, x, change, block):
    return sums.sum_after(store, state, x, change, block)


@numba.njit
def outside_after(store, limits, state, buffers, i, old, new, block, most):
    return divergences.outside_after(store, limits, state, buffers, i, old, new, block, most)
