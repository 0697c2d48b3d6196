"""One round of best responses on the cell x scale table, compiled.

The state is updated, never recomputed: a move changes S by one row difference, and the largest and smallest
row of every cell decide in O(K) whether a move keeps everyone protected. People are looked at one group at a
time only in the rare case that it does not.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from equinoise.privacy import APPROXIMATE, PURE
from equinoise.utility import KL, LINEAR

CANCELLED = 2.0**-8
"""A sum that falls below this share of itself in one move is added up anew."""

SPLIT = 20
"""Blocks are split here, so that both parts times a weight difference are exact floats up to 2^41 people."""

ROWS, TABLE, INDICES, FLOATS = "float64[:,:,::1]", "int64[:,::1]", "int64[::1]", "float64[::1]"


def compiled(signature: str) -> Any:
    """Compile for one signature when this module is imported, and keep the result on disk if there is a place."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(signature, cache=True)(function)
        except RuntimeError:  # no writable cache folder
            return numba.njit(signature)(function)

    return decorate


@compiled(f"int64({TABLE},int64,int64,int64,int64,int64,int64)")
def count_after(profile, k, v, cell, old, new, block):  # type: ignore[no-untyped-def]
    """People in (k, v) once ``block`` people of (cell, old) are at ``new``."""
    if k != cell:
        return profile[k, v]
    return profile[k, v] - block * (v == old) + block * (v == new)


@compiled(f"float64({ROWS},{TABLE},{INDICES},int64,int64,int64,int64,int64)")
def sum_after(rows, profile, occupied, x, cell, old, new, block):  # type: ignore[no-untyped-def]
    """S[x] after such a move, added up anew: no cancellation."""
    total = 0.0
    for k in occupied:
        for v in range(profile.shape[1]):
            count = count_after(profile, k, v, cell, old, new, block)
            total += count * rows[v, k, x]
    return total


@compiled("UniTuple(float64,2)(float64,float64,float64)")
def add_exactly(high, low, term):  # type: ignore[no-untyped-def]
    """(high + low) + term, with what high cannot hold kept in low."""
    total = high + term
    part = total - high
    return total, low + ((high - (total - part)) + (term - part))


@compiled(f"boolean(int64,{FLOATS},{FLOATS},{FLOATS})")
def outside(condition, parameters, row, sums):  # type: ignore[no-untyped-def]
    """Whether someone with this row is unprotected: ``privacy.Condition``, cell by cell."""
    upper, lower, epsilon, limit, order, people = parameters
    if condition == PURE:
        for x in range(sums.shape[0]):  # noqa: SIM110  (numba compiles no any())
            if row[x] > upper * sums[x] or row[x] < lower * sums[x]:
                return True
        return False
    everything = 0.0
    for x in range(sums.shape[0]):
        everything += sums[x]
    factor, gone = math.exp(epsilon), math.log1p(-1 / people)
    forth, back = 0.0, 0.0
    for x in range(sums.shape[0]):
        if sums[x] <= 0:
            continue
        p, share = sums[x] / everything, min(row[x] / sums[x], 1.0)
        q = p * (1 - share) * people / (people - 1)
        if condition == APPROXIMATE:
            forth += max(p - factor * q, 0.0)
            back += max(q - factor * p, 0.0)
        elif q <= 0:
            return True
        else:
            ratio = gone - math.log1p(-share)
            forth += p * math.expm1((order - 1) * ratio)
            back += q * math.expm1((1 - order) * ratio)
    if condition == APPROXIMATE:
        return max(forth, back) > limit
    return math.log1p(max(forth, back)) > limit * (order - 1)


@compiled(f"int64(int64,{FLOATS},{ROWS},{TABLE},{INDICES},{FLOATS},int64,int64,int64,int64,int64)")
def unprotected_after(  # type: ignore[no-untyped-def]
    condition, parameters, rows, profile, occupied, sums, cell, old, new, block, most
):
    """People outside the condition after such a move (or more than ``most``); the sums are those after it already."""
    people = 0
    for k in occupied:
        for v in range(profile.shape[1]):
            count = count_after(profile, k, v, cell, old, new, block)
            if count > 0 and outside(condition, parameters, rows[v, k], sums):
                people += count
                if people > most:
                    return people
    return people


@compiled(f"void({ROWS},{TABLE},{INDICES},{FLOATS},{FLOATS})")
def extremes(rows, profile, occupied, largest, smallest):  # type: ignore[no-untyped-def]
    """The largest and the smallest row among the occupied groups, cell by cell."""
    largest[:] = 0.0
    smallest[:] = np.inf
    for k in occupied:
        for v in range(profile.shape[1]):
            if profile[k, v] > 0:
                for x in range(largest.shape[0]):
                    largest[x] = max(largest[x], rows[v, k, x])
                    smallest[x] = min(smallest[x], rows[v, k, x])


@compiled("float64(float64)")
def x_log(x):  # type: ignore[no-untyped-def]
    """x ln x."""
    return x * math.log(x) if x > 0 else 0.0


@compiled("float64(float64,float64,float64,float64)")
def fall_of_js(n, s, new, change):  # type: ignore[no-untyped-def]
    """What one cell of n people takes off N times the Jensen-Shannon divergence when s becomes new = s + change."""
    if change == 0:
        return 0.0
    if abs(change) <= s / 2:
        rise = s * math.log1p(change / s) - (n + s) * math.log1p(change / (n + s))
        return -(rise + change * math.log(2 * new / (n + new))) / 2
    return (x_log(s) - x_log(n + s) - x_log(new) + x_log(n + new) - change * math.log(2)) / 2


@compiled(f"float64(int64,{ROWS},{ROWS},{INDICES},{FLOATS},float64,{FLOATS},{FLOATS},{FLOATS},int64,int64,int64,int64)")
def fall(  # type: ignore[no-untyped-def]
    kind, rows, features, occupied, counts, total, sums, new_sums, gaps, cell, old, new, block
):
    """N times what the divergence loses by a move: from the change itself, so that even one person of 1e12 shows."""
    lost = 0.0
    if kind == LINEAR:
        for j in range(gaps.shape[0]):
            step = block * (features[new, cell, j] - features[old, cell, j])
            if abs(gaps[j]) < abs(step):
                lost += abs(gaps[j]) - abs(gaps[j] - step)
            else:
                lost += step if gaps[j] > 0 else -step
    elif kind == KL:
        for k in occupied:
            ratio = block * (rows[new, cell, k] - rows[old, cell, k]) / sums[k]
            lost += counts[k] * (math.log1p(ratio) if ratio > -0.5 else math.log(new_sums[k] / sums[k]))
    else:
        for x in range(sums.shape[0]):
            change = block * (rows[new, cell, x] - rows[old, cell, x]) / total
            lost += fall_of_js(counts[x], sums[x] / total, new_sums[x] / total, change)
    return lost


@compiled(
    f"UniTuple(int64,2)(int64,{ROWS},{ROWS},{TABLE},{INDICES},{FLOATS},float64,{FLOATS},{FLOATS},int64,{FLOATS},"
    f"{FLOATS},{FLOATS},int64,float64,float64,int64,int64,int64,{FLOATS})"
)
def respond(  # type: ignore[no-untyped-def]
    kind, rows, features, profile, occupied, counts, total_weight, sums, gaps, condition, parameters,
    largest, smallest, unprotected, excess, tolerance, cell, scale, block, new_sums,
):  # fmt: skip
    """Best scale for ``block`` people of (cell, scale) moving together, and who is unprotected then.

    The gain is N times the fall of the divergence. ``excess`` is N (divergence - ceiling): where that is positive the
    payoff is flat.
    """
    best, best_gain, best_unprotected = scale, 0.0, unprotected
    upper, lower = parameters[0], parameters[1]
    for v in range(profile.shape[1]):
        if v == scale:
            continue
        kept = condition == PURE
        for x in range(sums.shape[0]):
            row = rows[v, cell, x]
            total = sums[x] + block * (row - rows[scale, cell, x])
            if total < CANCELLED * sums[x]:
                total = sum_after(rows, profile, occupied, x, cell, scale, v, block)
            new_sums[x] = total
            if max(largest[x], row) > upper * total or min(smallest[x], row) < lower * total:
                kept = False
        if not kept and condition == PURE and unprotected == 0 and profile[cell, scale] > block:
            continue  # every row that was there still is, so someone is unprotected now
        gain = fall(
            kind, rows, features, occupied, counts, total_weight, sums, new_sums, gaps, cell, scale, v, block
        )  # fmt: skip
        if excess > 0 or gain < excess:
            gain = min(excess, 0.0) - min(excess - gain, 0.0)
        if best_unprotected == 0 and gain <= best_gain + tolerance * block:
            continue  # nobody is left to protect, and it is no closer
        after = 0
        if not kept:
            after = unprotected_after(
                condition, parameters, rows, profile, occupied, new_sums, cell, scale, v, block, best_unprotected
            )  # fmt: skip
        if after > best_unprotected:
            continue
        if after < best_unprotected or gain > best_gain + tolerance * block:
            best, best_gain, best_unprotected = v, gain, after
    return best, best_unprotected


@compiled(
    f"int64(int64,{ROWS},{ROWS},{TABLE},{INDICES},{INDICES},{FLOATS},float64,{FLOATS},{FLOATS},int64,{FLOATS},"
    "int64,float64,float64,int64)"
)
def play_round(  # type: ignore[no-untyped-def]
    kind, rows, features, profile, order, occupied, counts, total_weight, sums, gaps, condition, parameters,
    unprotected, excess, tolerance, limit,
):  # fmt: skip
    """Let everyone respond once, in blocks of at most ``limit``; returns the number of moves.

    Cells come in the given order, within a cell the scales ascending as they were when the cell's turn began.
    Once a block stays, the rest of its group would stay too, so the group is done.
    """
    width = sums.shape[0]
    largest, smallest, new_sums = np.empty(width), np.empty(width), np.empty(width)
    extremes(rows, profile, occupied, largest, smallest)
    high, low = sums.copy(), np.zeros(width)
    moves = 0
    waiting = np.empty(profile.shape[1], np.int64)
    for cell in order:
        waiting[:] = profile[cell]
        for scale in range(profile.shape[1]):
            while waiting[scale] > 0:
                block = min(limit, waiting[scale])
                best, after = respond(
                    kind, rows, features, profile, occupied, counts, total_weight, sums, gaps, condition, parameters,
                    largest, smallest, unprotected, excess, tolerance, cell, scale, block, new_sums,
                )  # fmt: skip
                if best == scale:
                    break
                appeared = profile[cell, best] == 0
                profile[cell, scale] -= block
                profile[cell, best] += block
                waiting[scale] -= block
                unprotected = after
                for x in range(width):
                    change = rows[best, cell, x] - rows[scale, cell, x]
                    total, rest = add_exactly(high[x], low[x], change * (block >> SPLIT) * 2.0**SPLIT)
                    high[x], low[x] = add_exactly(total, rest, change * (block & (2**SPLIT - 1)))
                    new_sums[x] = high[x] + low[x]
                excess -= fall(
                    kind, rows, features, occupied, counts, total_weight, sums, new_sums, gaps,
                    cell, scale, best, block,
                )  # fmt: skip
                sums[:] = new_sums
                for j in range(gaps.shape[0]):
                    gaps[j] -= block * (features[best, cell, j] - features[scale, cell, j])
                if appeared or profile[cell, scale] == 0:
                    extremes(rows, profile, occupied, largest, smallest)
                moves += 1
    return moves
