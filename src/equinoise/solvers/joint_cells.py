"""Looking at the cells of a joint grid, compiled: rows as products, sums, and whether a move keeps people protected.

Most people are protected most of the time. For them the largest and the smallest row of every cell decide, kept as
bounds: right when a group appears, too wide after one is gone, and put right in the cells where a candidate would fail
by them. The few groups that are not protected are looked at one by one, first in the cell that failed last.
"""

from __future__ import annotations

import numpy as np

from equinoise.solvers.compiled import CANCELLED, FLOATS, INDICES, TABLE, compiled
from equinoise.solvers.joint_rows import GRID, PARTS, exact_sum, factor, place_of, weight_at

GUARDED, EXPOSED = 1, 2
"""What a group is: protected or not; 0 where there is none."""

KEPT, MOVER_OUT, LOST = 0, 1, 2

MOVE = f"{TABLE},{FLOATS},{PARTS},int64,int64,int64,{FLOATS},{FLOATS},{FLOATS},{FLOATS}"
"""The profile, S and its parts before a move; who moves from which scale, how many; the two factors of either row."""


@compiled(f"UniTuple(float64,4)({GRID},{TABLE},{TABLE},int64,int64,int64,int64)")
def look_at(rows, begins, shape, bins, profile, status, x, position, old, block):  # type: ignore[no-untyped-def]
    """The guarded groups' largest and smallest row in a cell, now and after a move."""
    place = np.empty(shape.shape[0], np.int64)
    place_of(shape, x, place)
    largest, smallest, most, least = 0.0, np.inf, 0.0, np.inf
    for k in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            if status[k, v] != GUARDED:
                continue
            weight = weight_at(rows, begins, shape, bins, k, v, place)
            largest, smallest = max(largest, weight), min(smallest, weight)
            if k != position or v != old or profile[k, v] > block:
                most, least = max(most, weight), min(least, weight)
    return largest, smallest, most, least


@compiled(f"UniTuple(int64,2)({FLOATS},{FLOATS})")
def reach(old, new):  # type: ignore[no-untyped-def]
    """The part of a factor in which either row is not zero."""
    low, high = 0, old.shape[0]
    while low < high and old[low] == 0 and new[low] == 0:
        low += 1
    while high > low and old[high - 1] == 0 and new[high - 1] == 0:
        high -= 1
    return low, high


@compiled(f"int64({GRID},{MOVE},float64,float64,{FLOATS},{FLOATS},int64)")
def first_failing(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, parts, position, old, block, old_one, old_two, new_one, new_two,
    upper, lower, one, two, hint,
):  # fmt: skip
    """A cell in which someone with the row ``one x two`` is not protected after a move, or -1; ``hint`` comes first."""
    width = two.shape[0]
    for line in range(-1, one.shape[0]):
        i, begin, end = line, 0, width
        if line < 0:
            i, begin = hint // width, hint % width
            end = begin + 1
        base, suspicious = i * width, False
        was, now = block * old_one[i], block * new_one[i]
        for j in range(begin, end):
            row, total = one[i] * two[j], sums[base + j] + (now * new_two[j] - was * old_two[j])
            suspicious |= (row > upper * total) | (row < lower * total) | (total < CANCELLED * sums[base + j])
        for j in range(begin, end if suspicious else begin):
            x = base + j
            row, total = one[i] * two[j], sums[x] + (now * new_two[j] - was * old_two[j])
            if total < CANCELLED * sums[x]:
                change = new_one[i] * new_two[j] - old_one[i] * old_two[j]
                total = exact_sum(rows, begins, shape, bins, profile, parts, x, change, block)
            if row > upper * total or row < lower * total:
                return x
    return -1


@compiled(f"int64({GRID},{MOVE},{TABLE},{FLOATS},{FLOATS},float64,float64,boolean,{INDICES})")
def judge(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, parts, position, old, block, old_one, old_two, new_one, new_two,
    status, largest, smallest, upper, lower, strict, limiting,
):  # fmt: skip
    """Whether a move leaves every guarded group protected (else LOST) and those who move, too (else MOVER_OUT).

    ``strict`` says that the second is as bad as the first. ``limiting`` remembers the cell that said no: it comes first
    the next time, then line by line what either row reaches. Elsewhere nothing changes.
    """
    width, verdict = old_two.shape[0], KEPT
    low, high = reach(old_two, new_two) if lower == 0 else (0, width)
    for line in range(-1, old_one.shape[0]):
        begin, end, one = low, high, line
        if line < 0:
            one, begin = limiting[0] // width, limiting[0] % width
            end = begin + 1
        elif lower == 0 and old_one[one] == 0 and new_one[one] == 0:
            continue
        base, suspicious = one * width, False
        was, now = block * old_one[one], block * new_one[one]
        for two in range(begin, end):
            x = base + two
            row = new_one[one] * new_two[two]
            total = sums[x] + (now * new_two[two] - was * old_two[two])
            most, least = upper * total, lower * total
            suspicious |= (
                (largest[x] > most) | (row > most) | (smallest[x] < least) | (row < least)
                | (total < CANCELLED * sums[x])
            )  # fmt: skip
        for two in range(begin, end if suspicious else begin):
            x = base + two
            row = new_one[one] * new_two[two]
            total = sums[x] + (now * new_two[two] - was * old_two[two])
            if total < CANCELLED * sums[x]:
                change = row - old_one[one] * old_two[two]
                total = exact_sum(rows, begins, shape, bins, profile, parts, x, change, block)
            if row > upper * total or row < lower * total:
                verdict = MOVER_OUT
                if strict:
                    limiting[0] = x
                    return verdict
            if largest[x] <= upper * total and smallest[x] >= lower * total:
                continue
            largest[x], smallest[x], most, least = look_at(
                rows, begins, shape, bins, profile, status, x, position, old, block
            )
            if most > upper * total or least < lower * total:
                limiting[0] = x
                return LOST
    return verdict


@compiled(f"int64({GRID},{MOVE},{TABLE},{TABLE},float64,float64,int64,int64,boolean)")
def exposed_after(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, parts, position, old, block, old_one, old_two, new_one, new_two,
    status, witness, upper, lower, split, enough, everyone,
):  # fmt: skip
    """People not protected after a move (stops above ``enough``): those who are not now, or anyone; not who moves."""
    people = 0
    one, two = np.empty(old_one.shape[0]), np.empty(old_two.shape[0])
    for k in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            if status[k, v] != EXPOSED and not (everyone and status[k, v] == GUARDED):
                continue
            left = profile[k, v] - block * (k == position and v == old)
            if left == 0:
                continue
            factor(rows, begins, shape, bins, k, v, 0, split, one)
            factor(rows, begins, shape, bins, k, v, split, shape.shape[0], two)
            failing = first_failing(
                rows, begins, shape, bins, profile, sums, parts, position, old, block, old_one, old_two, new_one,
                new_two, upper, lower, one, two, witness[k, v],
            )  # fmt: skip
            if failing >= 0:
                people += left
                if people > enough:
                    return people
    return people


@compiled(f"void({FLOATS},{FLOATS},{FLOATS},{FLOATS})")
def appear(one, two, largest, smallest):  # type: ignore[no-untyped-def]
    """Widen the extremes by one more row."""
    width = two.shape[0]
    for i in range(one.shape[0]):
        for j in range(width):
            x, row = i * width + j, one[i] * two[j]
            largest[x] = max(largest[x], row)
            smallest[x] = min(smallest[x], row)


@compiled(
    f"int64({GRID},{TABLE},{FLOATS},{PARTS},{TABLE},{TABLE},{FLOATS},{FLOATS},float64,float64,int64,int64,int64,boolean)"
)
def look_again(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, parts, status, witness, largest, smallest, upper, lower, split,
    length, width, everyone,
):  # fmt: skip
    """Who is protected now, of those who were not or of everyone; gives the people who are not."""
    one, two, none_one, none_two = np.empty(length), np.empty(width), np.zeros(length), np.zeros(width)
    if everyone:
        largest[:] = 0.0
        smallest[:] = np.inf
    people = 0
    for k in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            if profile[k, v] == 0:
                status[k, v] = 0
            elif everyone or status[k, v] != GUARDED:
                factor(rows, begins, shape, bins, k, v, 0, split, one)
                factor(rows, begins, shape, bins, k, v, split, shape.shape[0], two)
                failing = first_failing(
                    rows, begins, shape, bins, profile, sums, parts, k, v, 0, none_one, none_two, none_one, none_two,
                    upper, lower, one, two, witness[k, v],
                )  # fmt: skip
                if failing < 0:
                    status[k, v] = GUARDED
                    appear(one, two, largest, smallest)
                else:
                    status[k, v], witness[k, v] = EXPOSED, failing
                    people += profile[k, v]
    return people
