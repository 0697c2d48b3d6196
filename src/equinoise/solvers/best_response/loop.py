"""One round of best responses, compiled.

State is updated, never recomputed: a move changes S by one row difference. A candidate is judged by the slopes first
(see ``gain``), then by its exact gain, and only if there is one by everyone's protection (see ``guards``).
"""

from __future__ import annotations

import numpy as np

from equinoise.privacy.loss import PURE
from equinoise.solvers.best_response.access import ZERO, compiled, fill_near
from equinoise.solvers.best_response.divergences import outside_after
from equinoise.solvers.best_response.gain import (
    best_block_size,
    clamped_gain,
    divergence_drop,
    find_slope_scores,
    find_slopes,
    gain_bound,
)
from equinoise.solvers.best_response.guards import (
    classify_everyone,
    exposed_after,
    fails_as_before,
    reclassify,
    still_exposed,
)
from equinoise.solvers.best_response.sums import move_people


@compiled()
def judge(  # type: ignore[no-untyped-def]
    store, limits, aim, state, buffers, nears, unprotected, excess, i, old, new, block, least, most
):
    """What a move gains (R times the fall of the divergence), who is unprotected then, and whether a guarded group is.

    It must gain more than ``least`` and leave at most ``most`` people unprotected, or else fewer than that. What is
    worse gives -1 people.
    """
    fewest = 0
    if limits.kind == PURE:
        if unprotected > 0:
            fewest = still_exposed(store, limits, state, i, old, new, block, most)
        fewest += fails_as_before(store, limits, state, i, old, new, block)
        if fewest > most:
            return 0.0, -1, 0
    gain = clamped_gain(divergence_drop(store, aim, state, nears, i, old, new, block), excess)
    enough = most if gain > least else most - 1
    if enough < fewest:
        return gain, -1, 0
    lost = 0
    if limits.kind == PURE:
        after, lost = exposed_after(store, limits, state, buffers, unprotected, i, old, new, block, enough)
    else:
        after = outside_after(store, limits, state, buffers, i, old, new, block, enough)
    return gain, after if after <= enough else -1, lost


@compiled()
def respond(  # type: ignore[no-untyped-def]
    store, limits, aim, state, buffers, nears, unprotected, excess, rounding, i, scale, block
):
    """Best scale for ``block`` people of (i, scale), who is unprotected then, and whether a guarded group is.

    Staying is the first candidate, then the scales ascending, and each must beat the best so far. If the one that
    promises most keeps more than the others even promise, it would come out of that whatever they do.
    """
    best, best_gain, best_unprotected, best_lost = scale, 0.0, unprotected, 0
    slope_scores, tolerance = buffers.slope_scores, aim.tolerance * block
    first = ZERO
    for v in range(1, slope_scores.shape[0]):
        if slope_scores[v] > slope_scores[first]:
            first = v
    if unprotected == 0 and first != scale:
        others = 0.0
        for v in range(slope_scores.shape[0]):
            if v != first:
                bound = gain_bound(aim, state, slope_scores, nears, rounding, i, scale, v, block)
                others = max(others, clamped_gain(bound, excess))
        _, after, lost = judge(
            store, limits, aim, state, buffers, nears, unprotected, excess, i, scale, first, block, others + tolerance,
            ZERO,
        )  # fmt: skip
        if after == 0:
            return first, after, lost
    for v in range(slope_scores.shape[0]):
        least = best_gain + tolerance
        if v == scale:
            continue
        if best_unprotected == 0:
            bound = gain_bound(aim, state, slope_scores, nears, rounding, i, scale, v, block)
            if clamped_gain(bound, excess) <= least:
                continue
        gain, after, lost = judge(
            store, limits, aim, state, buffers, nears, unprotected, excess, i, scale, v, block, least, best_unprotected
        )
        if after >= 0:
            best, best_gain, best_unprotected, best_lost = v, gain, after, lost
    return best, best_unprotected, best_lost


@compiled()
def follow(  # type: ignore[no-untyped-def]
    store, limits, aim, state, buffers, nears, unprotected, excess, i, scale, best, after, lost, most
):
    """How many people of (i, scale) may follow the one whose best scale is known, at once; and as in ``respond``.

    All of them if it protects someone; else as many as take off the most. If that many leave more people unprotected
    than one does, a quarter of them, and so on.
    """
    gaining = after == unprotected
    block = best_block_size(aim, state, nears, scale, best, most) if gaining else most
    while block > 1:
        _, people, losing = judge(
            store, limits, aim, state, buffers, nears, unprotected, excess, i, scale, best, block,
            aim.tolerance if gaining else -np.inf, after,
        )  # fmt: skip
        if people >= 0:
            return block, people, losing
        block //= 4
    return 1, after, lost


@compiled(entry=True)
def play_round(store, limits, aim, state, buffers, order, excess, limit, in_bulk):  # type: ignore[no-untyped-def]
    """Let everyone respond once, in blocks of at most ``limit``; gives the number of moves, and of people unprotected.

    If they move ``in_bulk``, as many as lower the divergence most go with a block. Types come in the given order,
    within a type the scales ascending as they were when its turn began. Once one person stays, the rest of their group
    would stay too, so the group is done. ``excess`` is R times (divergence - ceiling): where that is positive the
    payoff is flat. The witnesses in ``state`` hold hints from round to round.
    """
    choices, waiting, nears = state.profile.shape[1], buffers.waiting, buffers.nears
    if limits.kind == PURE:
        unprotected = classify_everyone(store, limits, state, buffers)
    else:
        unprotected = outside_after(store, limits, state, buffers, order[0], ZERO, ZERO, ZERO, limits.total_rows)
    rounding = find_slopes(aim, state)
    moves = 0
    for i in order:
        for scale in range(choices):
            waiting[scale] = state.profile[i, scale]
        fill_near(store, i, nears)
        find_slope_scores(aim, state, buffers.slope_scores, nears, i)
        for scale in range(choices):
            while waiting[scale] > 0:
                block = min(limit, waiting[scale])
                best, after, lost = respond(
                    store, limits, aim, state, buffers, nears, unprotected, excess, rounding * limits.sizes[i], i,
                    scale, block,
                )  # fmt: skip
                if best == scale:
                    break
                if in_bulk:
                    block, after, lost = follow(
                        store, limits, aim, state, buffers, nears, unprotected, excess, i, scale, best, after, lost,
                        waiting[scale],
                    )  # fmt: skip
                waiting[scale] -= block
                excess -= divergence_drop(store, aim, state, nears, i, scale, best, block)
                move_people(store, limits, aim, state, buffers, i, scale, best, block)
                if limits.kind == PURE:
                    after = reclassify(store, limits, state, buffers, i, scale, best, unprotected + after, lost)
                unprotected = after
                rounding = find_slopes(aim, state)
                find_slope_scores(aim, state, buffers.slope_scores, nears, i)
                moves += 1
    return moves, unprotected
