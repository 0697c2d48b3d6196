"""One round of best responses among people with several rows, compiled.

Everyone's limit is their own, so rows are compared as multiples of it: the largest of these in every cell decides
whether a move keeps everyone protected (the second largest, if the largest is the mover's own). Whoever must not have
too small a share of a cell, which takes a sizeable part of all rows, is looked at one by one.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.solvers.compiled import FLOATS, INDICES, ROWS, TABLE, add_people, compiled

GROUPS = f"{ROWS},{FLOATS},{FLOATS},{TABLE}"
"""Rows, every bag's limits, profile."""

EXTREMES = f"{FLOATS},{FLOATS},{INDICES}"
"""In every cell the largest and second largest row, as multiples of a limit, and the largest's bag * scales + scale."""


@compiled(f"void({GROUPS},{EXTREMES},int64)")
def look_at(rows, upper, lower, profile, largest, second, owner, x):  # type: ignore[no-untyped-def]
    """Put one cell's extremes right."""
    choices = profile.shape[1]
    largest[x], second[x], owner[x] = 0.0, 0.0, -1
    for b in range(profile.shape[0]):
        for v in range(choices):
            if profile[b, v] > 0:
                row = rows[b, v, x] / upper[b]
                if row > largest[x]:
                    second[x], largest[x], owner[x] = largest[x], row, b * choices + v
                elif row > second[x]:
                    second[x] = row


@compiled(f"boolean({FLOATS},float64,float64,{FLOATS})")
def outside(row, upper, lower, sums):  # type: ignore[no-untyped-def]
    """Whether someone with this row and these limits is not protected."""
    found = False
    for x in range(sums.shape[0]):
        found |= row[x] > upper * sums[x] or row[x] < lower * sums[x]
    return found


@compiled(f"int64({GROUPS},{FLOATS},int64,int64,int64,int64,int64)")
def outside_after(  # type: ignore[no-untyped-def]
    rows, upper, lower, profile, then, bag, old, new, block, most
):
    """People who are not protected after a move (or more than ``most``); the sums are those after it."""
    people = 0
    for b in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            count = profile[b, v]
            if b == bag:
                count += block * (v == new) - block * (v == old)
            if count > 0 and outside(rows[b, v], upper[b], lower[b], then):
                people += count
                if people > most:
                    return people
    return people


@compiled(f"boolean({GROUPS},{EXTREMES},{INDICES},{FLOATS},int64,int64,int64,int64)")
def keeps(  # type: ignore[no-untyped-def]
    rows, upper, lower, profile, largest, second, owner, watched, then, bag, old, new, block
):
    """Whether a move leaves everyone protected, if everyone is."""
    if outside(rows[bag, new], upper[bag], lower[bag], then):
        return False
    own = bag * profile.shape[1] + old if profile[bag, old] == block else -1
    for x in range(then.shape[0]):
        if (second[x] if owner[x] == own else largest[x]) > then[x]:
            return False
    for b in watched:
        for v in range(profile.shape[1]):
            left = profile[b, v] - block * (b == bag and v == old)
            if left > 0 and outside(rows[b, v], upper[b], lower[b], then):
                return False
    return True


@compiled(f"float64({ROWS},{INDICES},{FLOATS},{FLOATS},int64,int64,int64,int64)")
def fall(rows, occupied, counts, sums, bag, old, new, block):  # type: ignore[no-untyped-def]
    """R times what a move takes off the divergence."""
    found = 0.0
    for x in occupied:
        found += counts[x] * math.log1p(block * (rows[bag, new, x] - rows[bag, old, x]) / sums[x])
    return found


@compiled(
    f"UniTuple(int64,2)({GROUPS},{EXTREMES},{INDICES},{INDICES},{FLOATS},{FLOATS},int64,float64,float64,int64,int64,"
    f"int64,{FLOATS})"
)
def respond(  # type: ignore[no-untyped-def]
    rows, upper, lower, profile, largest, second, owner, watched, occupied, counts, sums, unprotected, excess,
    tolerance, bag, scale, block, then,
):  # fmt: skip
    """Best scale for ``block`` people of (bag, scale), and who is unprotected then.

    Staying is the first candidate, then the scales ascending, and each must beat the best so far.
    """
    best, best_gain, fewest = scale, 0.0, unprotected
    for new in range(profile.shape[1]):
        gain = fall(rows, occupied, counts, sums, bag, scale, new, block)
        gain = min(excess, 0.0) - min(excess - gain, 0.0)
        closer = gain > best_gain + tolerance * block
        if new == scale or (fewest == 0 and not closer):
            continue
        for x in range(sums.shape[0]):
            then[x] = sums[x] + block * (rows[bag, new, x] - rows[bag, scale, x])
        if unprotected == 0:
            fine = keeps(rows, upper, lower, profile, largest, second, owner, watched, then, bag, scale, new, block)
            after = 0 if fine else 1
        else:
            after = outside_after(rows, upper, lower, profile, then, bag, scale, new, block, fewest)
        if after < fewest or (after == fewest and closer):
            best, best_gain, fewest = new, gain, after
    return best, fewest


@compiled(f"void({GROUPS},{EXTREMES},int64,int64,int64)")
def settle(rows, upper, lower, profile, largest, second, owner, bag, old, new):  # type: ignore[no-untyped-def]
    """Put the extremes right after a move that was made."""
    place, gone = bag * profile.shape[1] + new, profile[bag, old] == 0
    for x in range(largest.shape[0]):
        row = rows[bag, new, x] / upper[bag]
        if gone and rows[bag, old, x] / upper[bag] >= second[x]:
            look_at(rows, upper, lower, profile, largest, second, owner, x)
        elif owner[x] != place and row > largest[x]:
            second[x], largest[x], owner[x] = largest[x], row, place
        elif owner[x] != place and row > second[x]:
            second[x] = row


@compiled(
    f"int64({GROUPS},{INDICES},{INDICES},{INDICES},{FLOATS},{FLOATS},float64,float64,int64)",
    nogil=True,  # others tell meanwhile how far it is
)
def play_round(  # type: ignore[no-untyped-def]
    rows, upper, lower, profile, order, watched, occupied, counts, sums, excess, tolerance, limit
):
    """Let everyone respond once, in blocks of at most ``limit``; gives the number of moves.

    Bags come in the given order, the scales of a bag ascending as they were when its turn began. Once one person stays,
    the rest of their group would stay too. ``excess`` is R times (divergence - ceiling): where that is positive the
    payoff is flat.
    """
    width, choices = sums.shape[0], profile.shape[1]
    largest, second, owner = np.zeros(width), np.zeros(width), np.zeros(width, np.int64)
    then, waiting = np.empty(width), np.empty(choices, np.int64)
    high, low = sums.copy(), np.zeros(width)
    unprotected = outside_after(rows, upper, lower, profile, sums, 0, 0, 0, 0, profile.sum())
    for x in range(width):
        look_at(rows, upper, lower, profile, largest, second, owner, x)
    moves = 0
    for bag in order:
        for scale in range(choices):
            waiting[scale] = profile[bag, scale]
        for scale in range(choices):
            while waiting[scale] > 0:
                block = min(limit, waiting[scale])
                best, after = respond(
                    rows, upper, lower, profile, largest, second, owner, watched, occupied, counts, sums, unprotected,
                    excess, tolerance, bag, scale, block, then,
                )  # fmt: skip
                if best == scale:
                    break
                excess -= fall(rows, occupied, counts, sums, bag, scale, best, block)
                profile[bag, scale] -= block
                profile[bag, best] += block
                waiting[scale] -= block
                unprotected = after
                add_people(rows[bag, scale], rows[bag, best], high, low, block, sums)
                settle(rows, upper, lower, profile, largest, second, owner, bag, scale, best)
                moves += 1
    return moves
