"""One round of best responses on the cell x scale table, compiled.

State is updated, never recomputed: a move changes S by one row difference. A candidate is judged by the slopes first
(see ``closer``), then by its exact gain, and only if there is one by everyone's protection (see ``guards``).
"""

from __future__ import annotations

import numpy as np

from equinoise.privacy import PURE
from equinoise.solvers.closer import fall, find_leads, find_slopes, promised, seen, wanting
from equinoise.solvers.compiled import FLOATS, INDICES, ROWS, TABLE, add_people, compiled, sums_after
from equinoise.solvers.guards import (
    EXTREMES,
    GROUPS,
    GUARDED,
    appear,
    exposed_after,
    fails_as_before,
    look_again,
    look_at_everyone,
    outside_after,
    vanish,
)

STATE = f"int64,{ROWS},{FLOATS},float64,{FLOATS},{FLOATS},int64,{FLOATS},{GROUPS},{EXTREMES}"
"""The utility's kind and features, people per cell, a row's total, S, the features' gaps; the condition, its guards."""


@compiled(f"Tuple((float64,int64,int64))({STATE},int64,float64,int64,int64,int64,int64,float64,int64,{FLOATS})")
def judge(  # type: ignore[no-untyped-def]
    kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
    largest, second, smallest, bounds, unprotected, excess, cell, old, new, block, least, most, then,
):  # fmt: skip
    """What a move gains (N times the fall of the divergence), who is unprotected then, and whether a guarded group is.

    It must gain more than ``least`` and leave at most ``most`` people unprotected, or else fewer than that. What is
    worse gives -1 people.
    """
    if condition == PURE and most == 0 and fails_as_before(
        rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums, cell, old, new,
        block,
    ):  # fmt: skip
        return 0.0, -1, 0
    sums_after(rows, profile, occupied, sums, cell, old, new, block, then)
    gain = seen(
        fall(kind, rows, features, occupied, counts, total, sums, then, gaps, cell, old, new, block), excess
    )  # fmt: skip
    enough = most if gain > least else most - 1
    if enough < 0:
        return gain, -1, 0
    lost = 0
    if condition == PURE:
        after, lost = exposed_after(
            rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, unprotected, then,
            cell, old, new, block, enough,
        )  # fmt: skip
    else:
        after = outside_after(condition, parameters, rows, profile, occupied, then, cell, old, new, block, enough)
    return gain, after if after <= enough else -1, lost


@compiled(f"UniTuple(int64,3)({STATE},int64,float64,float64,{FLOATS},float64,int64,int64,int64,{FLOATS})")
def respond(  # type: ignore[no-untyped-def]
    kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
    largest, second, smallest, bounds, unprotected, excess, tolerance, leads, rounding, cell, scale, block, then,
):  # fmt: skip
    """Best scale for ``block`` people of (cell, scale), who is unprotected then, and whether a guarded group is.

    Staying is the first candidate, then the scales ascending, and each must beat the best so far. If the one that
    promises most keeps more than the others even promise, it would come out of that whatever they do.
    """
    best, best_gain, best_unprotected, best_lost = scale, 0.0, unprotected, 0
    first = np.argmax(leads)
    if unprotected == 0 and first != scale:
        others = 0.0
        for v in range(leads.shape[0]):
            if v != first:
                bound = promised(kind, rows, counts, total, sums, leads, rounding, cell, scale, v, block)
                others = max(others, seen(bound, excess))
        _, after, lost = judge(
            kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
            largest, second, smallest, bounds, unprotected, excess, cell, scale, first, block,
            others + tolerance * block, 0, then,
        )  # fmt: skip
        if after == 0:
            return first, after, lost
    for v in range(profile.shape[1]):
        least = best_gain + tolerance * block
        bound = promised(kind, rows, counts, total, sums, leads, rounding, cell, scale, v, block)
        if v == scale or (best_unprotected == 0 and seen(bound, excess) <= least):
            continue
        gain, after, lost = judge(
            kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
            largest, second, smallest, bounds, unprotected, excess, cell, scale, v, block, least, best_unprotected,
            then,
        )  # fmt: skip
        if after >= 0:
            best, best_gain, best_unprotected, best_lost = v, gain, after, lost
    return best, best_unprotected, best_lost


@compiled(f"UniTuple(int64,3)({STATE},int64,float64,float64,int64,int64,int64,int64,int64,int64,{FLOATS})")
def together(  # type: ignore[no-untyped-def]
    kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
    largest, second, smallest, bounds, unprotected, excess, tolerance, cell, scale, best, after, lost, most, then,
):  # fmt: skip
    """How many people of (cell, scale) may follow the one whose best scale is known, at once; and as above.

    All of them if it protects someone; else as many as take off the most. If that many leave more people unprotected
    than one does, a quarter of them, and so on.
    """
    gaining = after == unprotected
    block = most
    if gaining:
        block = wanting(kind, rows, counts, total, sums, cell, scale, best, most)
    while block > 1:
        _, people, losing = judge(
            kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status, witness,
            largest, second, smallest, bounds, unprotected, excess, cell, scale, best, block,
            tolerance if gaining else -np.inf, after, then,
        )  # fmt: skip
        if people >= 0:
            return block, people, losing
        block //= 4
    return 1, after, lost


@compiled(f"int64({GROUPS},{EXTREMES},{FLOATS},{FLOATS},int64,int64,int64,int64,int64)")
def settle(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums, cell, old, new,
    exposed, lost,
):  # fmt: skip
    """Who is guarded after a move that was made (pure condition); gives the people who are not protected.

    ``exposed`` is how many were not before or are not now, ``lost`` whether a guarded group no longer is.
    """
    if lost:
        return look_at_everyone(
            rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
        )  # fmt: skip
    if profile[cell, old] == 0 and status[cell, old] == GUARDED:
        vanish(rows[old, cell], largest, second, smallest, bounds, parameters[1])
        status[cell, old] = 0
    if exposed:
        return look_again(
            rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
        )  # fmt: skip
    if status[cell, new] != GUARDED:
        status[cell, new] = GUARDED
        appear(rows[new, cell], largest, second, smallest)
    return 0


@compiled(
    f"int64(int64,{ROWS},{ROWS},{TABLE},{INDICES},{INDICES},{FLOATS},float64,{FLOATS},{FLOATS},int64,{FLOATS},"
    f"{TABLE},float64,float64,int64,boolean)",
    nogil=True,  # others tell meanwhile how far it is
)
def play_round(  # type: ignore[no-untyped-def]
    kind, rows, features, profile, order, occupied, counts, total, sums, gaps, condition, parameters, witness, excess,
    tolerance, limit, follow,
):  # fmt: skip
    """Let everyone respond once, in blocks of at most ``limit``; gives the number of moves.

    If others ``follow``, as many as lower the divergence most go with a block.
    Cells come in the given order, within a cell the scales ascending as they were when the cell's turn began.
    Once one person stays, the rest of their group would stay too, so the group is done. ``excess`` is N times
    (divergence - ceiling): where that is positive the payoff is flat. ``witness`` holds hints from round to round.
    """
    width, choices = sums.shape[0], profile.shape[1]
    largest, second, smallest, bounds = np.empty(width), np.empty(width), np.empty(width), np.empty(width, np.int64)
    status, then, slopes = np.zeros_like(profile), np.empty(width), np.empty(features.shape[2])
    high, low = sums.copy(), np.zeros(width)
    waiting, leads = np.empty(choices, np.int64), np.empty(choices)
    if condition == PURE:
        unprotected = look_at_everyone(
            rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
        )  # fmt: skip
    else:
        people = np.int64(parameters[5])
        unprotected = outside_after(condition, parameters, rows, profile, occupied, sums, order[0], 0, 0, 0, people)
    rounding = find_slopes(kind, counts, total, sums, gaps, slopes)
    moves = 0
    for cell in order:
        for scale in range(choices):
            waiting[scale] = profile[cell, scale]
        find_leads(features, cell, slopes, leads)
        for scale in range(choices):
            while waiting[scale] > 0:
                block = min(limit, waiting[scale])
                best, after, lost = respond(
                    kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied, status,
                    witness, largest, second, smallest, bounds, unprotected, excess, tolerance, leads, rounding, cell,
                    scale, block, then,
                )  # fmt: skip
                if best == scale:
                    break
                if follow:
                    block, after, lost = together(
                        kind, features, counts, total, sums, gaps, condition, parameters, rows, profile, occupied,
                        status, witness, largest, second, smallest, bounds, unprotected, excess, tolerance, cell, scale,
                        best, after, lost, waiting[scale], then,
                    )  # fmt: skip
                profile[cell, scale] -= block
                profile[cell, best] += block
                waiting[scale] -= block
                add_people(rows[scale, cell], rows[best, cell], high, low, block, then)
                excess -= fall(
                    kind, rows, features, occupied, counts, total, sums, then, gaps, cell, scale, best, block
                )  # fmt: skip
                for x in range(width):
                    sums[x] = then[x]
                for j in range(gaps.shape[0]):
                    gaps[j] -= block * (features[best, cell, j] - features[scale, cell, j])
                if condition == PURE:
                    after = settle(
                        rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums,
                        cell, scale, best, unprotected + after, lost,
                    )  # fmt: skip
                unprotected = after
                rounding = find_slopes(kind, counts, total, sums, gaps, slopes)
                find_leads(features, cell, slopes, leads)
                moves += 1
    return moves
