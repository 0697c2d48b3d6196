"""One round of best responses on a joint grid, compiled.

A person's row is the outer product of two short factors. A candidate is first judged by the slopes: closeness is
convex, so it gains at most what they say. Then comes its exact gain, from the occupied cells alone; and only if there
is one, a pass over the cells that the old or the new noise reaches, for everyone's protection.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.solvers.closer import fall_of_js
from equinoise.solvers.compiled import CANCELLED, FLOATS, INDICES, TABLE, compiled
from equinoise.solvers.joint_cells import KEPT, LOST, exposed_after, first_failing, judge, look_again
from equinoise.solvers.joint_rows import GRID, PARTS, add_people, exact_sum, factor
from equinoise.utility import JS, KL


@compiled(f"float64(int64,{FLOATS},float64,{FLOATS},{FLOATS},{FLOATS})")
def fall(kind, counts, total, near, then, change):  # type: ignore[no-untyped-def]
    """N times what the divergence loses when S in the occupied cells changes from ``near`` to ``then``."""
    lost = 0.0
    for k in range(counts.shape[0]):
        if kind == KL:
            ratio = change[k] / near[k]
            lost += counts[k] * (math.log1p(ratio) if ratio > -0.5 else math.log(then[k] / near[k]))
        elif kind == JS:
            step = change[k] / total
            lost += fall_of_js(counts[k], near[k] / total, then[k] / total, step) + step * math.log(2) / 2
        else:
            gap, step = counts[k] - near[k] / total, change[k] / total
            if abs(gap) < abs(step):
                lost += (abs(gap) - abs(gap - step) + step) / 2
            elif gap > 0:
                lost += step
    return lost


@compiled(f"void(int64,{FLOATS},float64,{FLOATS},{FLOATS})")
def find_slopes(kind, counts, total, near, slopes):  # type: ignore[no-untyped-def]
    """How fast N times the divergence falls as S grows: in every occupied cell, per unit of S."""
    for k in range(counts.shape[0]):
        s = near[k] / total
        if kind == KL:
            slopes[k] = counts[k] / near[k]
        elif kind == JS:
            slopes[k] = math.log1p(counts[k] / s) / 2 / total
        else:
            slopes[k] = 1 / total if counts[k] > s else 0.0


@compiled(
    f"UniTuple(int64,2)(int64,{GRID},int64,{INDICES},{INDICES},{TABLE},{TABLE},{TABLE},{TABLE},{FLOATS},float64,"
    f"{FLOATS},{PARTS},{FLOATS},{FLOATS},{FLOATS},{FLOATS},float64,float64,int64,float64,float64,int64,int64,int64,"
    f"{FLOATS},{FLOATS},{FLOATS},{FLOATS},{FLOATS},{FLOATS})"
)
def respond(  # type: ignore[no-untyped-def]
    kind, rows, begins, shape, bins, split, ones, twos, profile, status, witness, limiting, counts, total,
    sums, parts, near, slopes, largest, smallest, upper, lower, unprotected, excess, tolerance, position, scale,
    block,     old_one, old_two, new_one, new_two, then, change,
):  # fmt: skip
    """Best scale for ``block`` people of (position, scale) moving together, and whether that costs someone protection.

    Staying is the first candidate, then the scales ascending; a later one must beat the best so far, by a protected
    person or by more than the tolerance.
    """
    best, best_gain, best_unprotected, losing = scale, 0.0, unprotected, 0
    for v in range(profile.shape[1]):
        if v == scale:
            continue
        factor(rows, begins, shape, bins, position, v, 0, split, new_one)
        factor(rows, begins, shape, bins, position, v, split, shape.shape[0], new_two)
        bound = 0.0
        for k in range(counts.shape[0]):
            change[k] = block * (new_one[ones[k]] * new_two[twos[k]] - old_one[ones[k]] * old_two[twos[k]])
            bound += slopes[k] * change[k]
        if best_unprotected == 0 and bound <= best_gain + tolerance * block:
            continue
        then[:] = near + change
        for lost in np.flatnonzero(then < CANCELLED * near):
            one, two = ones[lost], twos[lost]
            step = new_one[one] * new_two[two] - old_one[one] * old_two[two]
            x = one * new_two.shape[0] + two
            then[lost] = exact_sum(rows, begins, shape, bins, profile, parts, x, step, block)
        gain = fall(kind, counts, total, near, then, change)
        if excess > 0 or gain < excess:
            gain = min(excess, 0.0) - min(excess - gain, 0.0)
        # What is enough to be better: as many unprotected people as the best so far if it is closer, else fewer.
        enough = best_unprotected if gain > best_gain + tolerance * block else best_unprotected - 1
        after = 0
        if unprotected > 0 and enough >= 0:
            after = exposed_after(
                rows, begins, shape, bins, profile, sums, parts, position, scale, block, old_one, old_two, new_one,
                new_two, status, witness, upper, lower, split, enough, False,
            )  # fmt: skip
        if after > enough:
            continue
        verdict = judge(
            rows, begins, shape, bins, profile, sums, parts, position, scale, block, old_one, old_two, new_one, new_two,
            status, largest, smallest, upper, lower, after + block > enough, limiting[position, v : v + 1],
        )  # fmt: skip
        if verdict == LOST and after < enough:
            after = exposed_after(
                rows, begins, shape, bins, profile, sums, parts, position, scale, block, old_one, old_two, new_one,
                new_two, status, witness, upper, lower, split, enough, True,
            )  # fmt: skip
            after += block * (first_failing(
                rows, begins, shape, bins, profile, sums, parts, position, scale, block, old_one, old_two, new_one,
                new_two, upper, lower, new_one, new_two, limiting[position, v],
            ) >= 0)  # fmt: skip
        elif verdict == LOST:
            continue
        elif verdict != KEPT:
            after += block
        if after <= enough:
            best, best_gain, best_unprotected, losing = v, gain, after, int(verdict == LOST)
    return best, losing


@compiled(f"void(int64,{FLOATS},{FLOATS},{FLOATS},{FLOATS},{FLOATS},{PARTS})")
def add_up(block, old_one, old_two, new_one, new_two, sums, parts):  # type: ignore[no-untyped-def]
    """S after a move, kept in two parts so that nothing is lost however often it changes."""
    width = new_two.shape[0]
    for i in range(new_one.shape[0]):
        if old_one[i] == 0 and new_one[i] == 0:
            continue
        for j in range(width):
            change = new_one[i] * new_two[j] - old_one[i] * old_two[j]
            if change != 0:
                x = i * width + j
                add_people(parts, x, change, block)
                sums[x] = parts[0, x] + parts[1, x]


@compiled(
    f"int64(int64,{GRID},int64,{INDICES},{INDICES},{TABLE},{INDICES},{FLOATS},float64,{FLOATS},float64,float64,"
    "float64,float64,int64)",
    nogil=True,  # others tell meanwhile how far it is
)
def play_round(  # type: ignore[no-untyped-def]
    kind, rows, begins, shape, bins, split, ones, twos, profile, order, counts, total, sums, upper, lower,
    excess, tolerance, limit,
):  # fmt: skip
    """Let everyone respond once, in blocks of at most ``limit``; returns the number of moves.

    The order and the rule are those of the game on one axis (:func:`equinoise.solvers.moves.play_round`).
    """
    length = 1
    for axis in range(split):
        length *= shape[axis]
    width = sums.shape[0] // length
    old_one, new_one, old_two, new_two = np.empty(length), np.empty(length), np.empty(width), np.empty(width)
    near, then, change, slopes = (
        np.empty_like(counts), np.empty_like(counts), np.empty_like(counts), np.empty_like(counts)
    )  # fmt: skip
    for k in range(counts.shape[0]):
        near[k] = sums[ones[k] * width + twos[k]]
    find_slopes(kind, counts, total, near, slopes)
    status, witness, limiting = np.zeros_like(profile), np.empty_like(profile), np.empty_like(profile)
    for k in range(counts.shape[0]):
        witness[k, :] = limiting[k, :] = ones[k] * width + twos[k]
    largest, smallest, parts = np.empty_like(sums), np.empty_like(sums), np.zeros((3, sums.shape[0]))
    parts[0, :] = sums
    unprotected = look_again(
        rows, begins, shape, bins, profile, sums, parts, status, witness, largest, smallest, upper, lower, split,
        length, width, True,
    )  # fmt: skip
    moves = 0
    waiting = np.empty(profile.shape[1], np.int64)
    for position in order:
        waiting[:] = profile[position]
        for scale in range(profile.shape[1]):
            while waiting[scale] > 0:
                block = min(limit, waiting[scale])
                factor(rows, begins, shape, bins, position, scale, 0, split, old_one)
                factor(rows, begins, shape, bins, position, scale, split, shape.shape[0], old_two)
                best, losing = respond(
                    kind, rows, begins, shape, bins, split, ones, twos, profile, status, witness, limiting, counts,
                    total, sums, parts, near, slopes, largest, smallest, upper, lower, unprotected, excess, tolerance,
                    position, scale, block, old_one, old_two, new_one, new_two, then, change,
                )  # fmt: skip
                if best == scale:
                    break
                factor(rows, begins, shape, bins, position, best, 0, split, new_one)
                factor(rows, begins, shape, bins, position, best, split, shape.shape[0], new_two)
                profile[position, scale] -= block
                profile[position, best] += block
                waiting[scale] -= block
                add_up(block, old_one, old_two, new_one, new_two, sums, parts)
                unprotected = look_again(
                    rows, begins, shape, bins, profile, sums, parts, status, witness, largest, smallest, upper, lower,
                    split, length, width, losing > 0,
                )  # fmt: skip
                for k in range(counts.shape[0]):
                    change[k] = block * (new_one[ones[k]] * new_two[twos[k]] - old_one[ones[k]] * old_two[twos[k]])
                    then[k] = sums[ones[k] * width + twos[k]]
                excess -= fall(kind, counts, total, near, then, change)
                near[:] = then
                find_slopes(kind, counts, total, near, slopes)
                moves += 1
    return moves
