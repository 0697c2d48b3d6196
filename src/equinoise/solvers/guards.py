"""Who is protected, and who would be after a move, compiled.

Under the pure condition nobody is looked at twice without need. Groups that are protected are guarded together: in each
cell their two largest rows and their smallest one decide (two, because one of them may be the group that goes). These
are exact when a group appears and bounds after one is gone, put right only in the cells where a candidate fails by
them. Groups that are not protected are looked at one by one. Whatever failed is asked first in the cell in which it
failed last: mostly that is still the reason.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.privacy import APPROXIMATE
from equinoise.solvers.compiled import CANCELLED, FLOATS, INDICES, ROWS, TABLE, compiled, count_after

GUARDED, EXPOSED = 1, 2
"""What a group is: protected or not; 0 where there is none."""

GROUPS = f"{ROWS},{TABLE},{INDICES},{TABLE},{TABLE}"
"""Rows, profile, occupied cells; what every group is, and the cell in which it (or a move to it) failed last."""

EXTREMES = f"{FLOATS},{FLOATS},{FLOATS},{INDICES}"
"""In every cell the largest, second largest and smallest guarded row, and whether these are bounds only."""


@compiled(f"void({FLOATS},{FLOATS},{FLOATS},{FLOATS})")
def appear(row, largest, second, smallest):  # type: ignore[no-untyped-def]
    """One more guarded group."""
    for x in range(row.shape[0]):
        second[x] = max(second[x], min(row[x], largest[x]))
        largest[x] = max(largest[x], row[x])
        smallest[x] = min(smallest[x], row[x])


@compiled(f"void({FLOATS},{EXTREMES},float64)")
def vanish(row, largest, second, smallest, bounds, lower):  # type: ignore[no-untyped-def]
    """One guarded group less. The smallest row matters only where there is a lower limit."""
    for x in range(row.shape[0]):
        if row[x] >= second[x] or (lower > 0 and row[x] == smallest[x]):
            bounds[x] = 1
        if row[x] == largest[x]:
            largest[x] = second[x]


@compiled(f"float64({GROUPS},{EXTREMES},int64,int64,int64)")
def look_at(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, x, cell, old
):
    """Put one cell's extremes right; gives the smallest row of all guarded groups but (cell, old)."""
    largest[x], second[x], smallest[x], others = 0.0, 0.0, np.inf, np.inf
    for k in occupied:
        for v in range(profile.shape[1]):
            if status[k, v] == GUARDED:
                row = rows[v, k, x]
                second[x] = max(second[x], min(row, largest[x]))
                largest[x] = max(largest[x], row)
                smallest[x] = min(smallest[x], row)
                if k != cell or v != old:
                    others = min(others, row)
    bounds[x] = 0
    return others


@compiled(f"int64({FLOATS},{FLOATS},float64,float64,int64)")
def failing(row, sums, upper, lower, hint):  # type: ignore[no-untyped-def]
    """A cell in which someone with this row is not within the pure condition, or -1; ``hint`` comes first."""
    if row[hint] > upper * sums[hint] or row[hint] < lower * sums[hint]:
        return hint
    for x in range(sums.shape[0]):
        if row[x] > upper * sums[x] or row[x] < lower * sums[x]:
            return x
    return -1


@compiled(f"boolean({GROUPS},{EXTREMES},{FLOATS},{FLOATS},int64,int64,int64,int64)")
def fails_as_before(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums, cell, old, new, block
):
    """Whether a move leaves someone unprotected in the cell in which it did last time; the sums are those before it."""
    x = witness[cell, new]
    row, gone = rows[new, cell, x], rows[old, cell, x]
    then = sums[x] + block * (row - gone)
    if bounds[x] or then < CANCELLED * sums[x]:
        return False
    left = second[x] if profile[cell, old] == block and gone == largest[x] else largest[x]
    return max(row, left) > parameters[0] * then


@compiled(f"int64({GROUPS},{EXTREMES},{FLOATS},{FLOATS},int64,int64,int64)")
def losing(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums, cell, old, block
):
    """A cell in which a guarded group that stays is not protected after a move, or -1; the sums are those after it."""
    upper, lower = parameters[0], parameters[1]
    leaving = status[cell, old] == GUARDED and profile[cell, old] == block
    for x in range(sums.shape[0]):
        if largest[x] <= upper * sums[x] and smallest[x] >= lower * sums[x]:
            continue
        if bounds[x] or smallest[x] < lower * sums[x]:
            others = look_at(
                rows, profile, occupied, status, witness, largest, second, smallest, bounds, x, cell, old
            )  # fmt: skip
            if (others if leaving else smallest[x]) < lower * sums[x]:
                return x
        if (second[x] if leaving and rows[old, cell, x] == largest[x] else largest[x]) > upper * sums[x]:
            return x
    return -1


@compiled(f"int64({GROUPS},{FLOATS},{FLOATS},int64,int64,int64,int64,int64)")
def staying_outside(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, parameters, sums, cell, old, block, wanted, most
):
    """People in groups of the ``wanted`` status who are not protected after a move (or more than ``most``)."""
    people = 0
    for k in occupied:
        for v in range(profile.shape[1]):
            if status[k, v] != wanted:
                continue
            left = profile[k, v] - block * (k == cell and v == old)
            if left > 0 and failing(rows[v, k], sums, parameters[0], parameters[1], witness[k, v]) >= 0:
                people += left
                if people > most:
                    return people
    return people


@compiled(f"UniTuple(int64,2)({GROUPS},{EXTREMES},{FLOATS},int64,{FLOATS},int64,int64,int64,int64,int64)")
def exposed_after(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, unprotected, sums,
    cell, old, new, block, most,
):  # fmt: skip
    """People outside the pure condition after a move (or more than ``most``), and whether someone guarded is."""
    people = 0
    if unprotected > 0:
        people = staying_outside(
            rows, profile, occupied, status, witness, parameters, sums, cell, old, block, EXPOSED, most
        )  # fmt: skip
    if people > most:
        return people, 0
    x = failing(rows[new, cell], sums, parameters[0], parameters[1], witness[cell, new])
    if x >= 0:
        witness[cell, new] = x
        people += block
        if people > most:
            return people, 0
    x = losing(
        rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums, cell, old, block
    )  # fmt: skip
    if x < 0:
        return people, 0
    witness[cell, new] = x
    if people == most:
        return people + 1, 1
    return people + staying_outside(
        rows, profile, occupied, status, witness, parameters, sums, cell, old, block, GUARDED, most - people
    ), 1  # fmt: skip


@compiled(f"int64({GROUPS},{EXTREMES},{FLOATS},{FLOATS})")
def look_again(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
):
    """Find out what everyone who is not guarded now is; gives the people who are not protected."""
    people = 0
    for k in occupied:
        for v in range(profile.shape[1]):
            if profile[k, v] == 0:
                status[k, v] = 0
            elif status[k, v] != GUARDED:
                x = failing(rows[v, k], sums, parameters[0], parameters[1], witness[k, v])
                status[k, v] = GUARDED if x < 0 else EXPOSED
                if x < 0:
                    appear(rows[v, k], largest, second, smallest)
                else:
                    witness[k, v] = x
                    people += profile[k, v]
    return people


@compiled(f"int64({GROUPS},{EXTREMES},{FLOATS},{FLOATS})")
def look_at_everyone(  # type: ignore[no-untyped-def]
    rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
):
    """The same from nothing."""
    status[:] = 0
    bounds[:] = 0
    largest[:] = 0.0
    second[:] = 0.0
    smallest[:] = np.inf
    return look_again(
        rows, profile, occupied, status, witness, largest, second, smallest, bounds, parameters, sums
    )  # fmt: skip


@compiled(f"boolean(int64,{FLOATS},{FLOATS},{FLOATS})")
def outside(condition, parameters, row, sums):  # type: ignore[no-untyped-def]
    """Whether someone with this row is not within the approximate or the Renyi condition: ``privacy.Condition``."""
    _, _, epsilon, limit, order, people = parameters
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
def outside_after(  # type: ignore[no-untyped-def]
    condition, parameters, rows, profile, occupied, sums, cell, old, new, block, most
):
    """People outside such a condition after a move (or more than ``most``); the sums are those after it already."""
    people = 0
    for k in occupied:
        for v in range(profile.shape[1]):
            count = count_after(profile, k, v, cell, old, new, block)
            if count > 0 and outside(condition, parameters, rows[v, k], sums):
                people += count
                if people > most:
                    return people
    return people
