"""Looking at the cells of a joint grid, compiled: rows as products, sums, and whether a move keeps people protected.

The largest and the smallest row of every cell decide that. They are kept as bounds: right when a group appears, too
wide after one is gone, and put right in the cells where a candidate would fail by them.
"""

from __future__ import annotations

import numpy as np

from equinoise.solvers.moves import CANCELLED, FLOATS, INDICES, TABLE, compiled

GRID = f"{FLOATS},{INDICES},{INDICES},{TABLE}"
"""The rows of all axes, choices and bins one after the other; where each axis begins; its bins; people's bins."""


@compiled(f"void({GRID},int64,int64,int64,int64,{FLOATS})")
def factor(rows, begins, shape, bins, position, v, first, last, out):  # type: ignore[no-untyped-def]
    """Product row over the axes from ``first`` to before ``last``; made in place, from behind."""
    out[0] = 1.0
    length = 1
    for axis in range(first, last):
        width = shape[axis]
        begin = begins[axis] + (v * width + bins[position, axis]) * width
        for a in range(length - 1, -1, -1):
            weight = out[a]
            for x in range(width):
                out[a * width + x] = weight * rows[begin + x]
        length *= width


@compiled(f"float64({GRID},int64,int64,{INDICES})")
def weight_at(rows, begins, shape, bins, position, v, place):  # type: ignore[no-untyped-def]
    """One weight of a person's row: in the cell with these bins."""
    weight = 1.0
    for axis in range(shape.shape[0]):
        width = shape[axis]
        weight *= rows[begins[axis] + (v * width + bins[position, axis]) * width + place[axis]]
    return weight


@compiled(f"void({INDICES},int64,{INDICES})")
def place_of(shape, x, place):  # type: ignore[no-untyped-def]
    """The bins of a cell."""
    for axis in range(shape.shape[0] - 1, -1, -1):
        place[axis] = x % shape[axis]
        x //= shape[axis]


@compiled(f"UniTuple(float64,5)({GRID},{TABLE},int64,int64,int64,int64,int64,{INDICES})")
def look_at(rows, begins, shape, bins, profile, x, position, old, new, block, place):  # type: ignore[no-untyped-def]
    """A cell, group by group: its largest and smallest row now, and its sum, largest and smallest row after a move."""
    place_of(shape, x, place)
    largest, smallest, total, most, least = 0.0, np.inf, 0.0, 0.0, np.inf
    for k in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            before = after = profile[k, v]
            if k == position:
                after += block * (v == new) - block * (v == old)
            if before == 0 and after == 0:
                continue
            weight = weight_at(rows, begins, shape, bins, k, v, place)
            total += after * weight
            if before > 0:
                largest, smallest = max(largest, weight), min(smallest, weight)
            if after > 0:
                most, least = max(most, weight), min(least, weight)
    return largest, smallest, total, most, least


@compiled(f"UniTuple(int64,2)({FLOATS},{FLOATS},int64)")
def reach(old, new, length):  # type: ignore[no-untyped-def]
    """The part of a factor in which either row is not zero."""
    low, high = 0, length
    while low < high and old[low] == 0 and new[low] == 0:
        low += 1
    while high > low and old[high - 1] == 0 and new[high - 1] == 0:
        high -= 1
    return low, high


@compiled(
    f"boolean({GRID},{TABLE},{FLOATS},{FLOATS},{FLOATS},float64,float64,int64,int64,int64,int64,int64,int64,"
    f"{FLOATS},{FLOATS},{FLOATS},{FLOATS},{INDICES},{INDICES})"
)
def keeps_everyone(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, largest, smallest, upper, lower, position, old, new, block,
    length, width, old_one, old_two, new_one, new_two, place, limiting,
):  # fmt: skip
    """Whether a move leaves everyone protected who are so now; ``limiting`` remembers the cell that said no."""
    low, high = reach(old_two, new_two, width)
    for line in range(-1, length):
        # The cell that said no last time comes first, then line by line what either row reaches.
        begin, end, one = low, high, line
        if line < 0:
            one = limiting[0] // width
            begin = limiting[0] % width
            end = begin + 1
        elif old_one[one] == 0 and new_one[one] == 0:
            continue
        base, suspicious = one * width, False
        was, now = block * old_one[one], block * new_one[one]
        for two in range(begin, end):
            x = base + two
            row = new_one[one] * new_two[two]
            total = sums[x] + (now * new_two[two] - was * old_two[two])
            most = upper * total
            suspicious |= (
                (largest[x] > most) | (row > most) | (min(smallest[x], row) < lower * total)
                | (total < CANCELLED * sums[x])
            )  # fmt: skip
        if not suspicious:
            continue
        for two in range(begin, end):
            x = base + two
            row = new_one[one] * new_two[two]
            total = sums[x] + (now * new_two[two] - was * old_two[two])
            if total >= CANCELLED * sums[x]:
                if row > upper * total or row < lower * total:
                    limiting[0] = x
                    return False
                if largest[x] <= upper * total and smallest[x] >= lower * total:
                    continue
            largest[x], least_now, anew, most, least = look_at(
                rows, begins, shape, bins, profile, x, position, old, new, block, place
            )
            if lower > 0:
                smallest[x] = least_now
            if total < CANCELLED * sums[x]:
                total = anew
            if most > upper * total or (lower > 0 and least < lower * total):
                limiting[0] = x
                return False
    return True


@compiled(f"boolean({GRID},int64,int64,{TABLE},{FLOATS},float64,float64)")
def outside(rows, begins, shape, bins, position, v, places, totals, upper, lower):  # type: ignore[no-untyped-def]
    """Whether someone with this row is unprotected in any of these cells."""
    for i in range(totals.shape[0]):
        weight = weight_at(rows, begins, shape, bins, position, v, places[i])
        if weight > upper * totals[i] or weight < lower * totals[i]:
            return True
    return False


@compiled(
    f"int64({GRID},{TABLE},{FLOATS},{FLOATS},{FLOATS},float64,float64,int64,int64,int64,int64,int64,int64,"
    f"{FLOATS},{FLOATS},{FLOATS},{FLOATS},{INDICES},int64)"
)
def unprotected_after(  # type: ignore[no-untyped-def]
    rows, begins, shape, bins, profile, sums, largest, smallest, upper, lower, position, old, new, block,
    length, width, old_one, old_two, new_one, new_two, place, most,
):  # fmt: skip
    """People outside the condition after a move (or more than ``most``): groups are looked at where a bound fails."""
    places, totals, failing = np.empty((sums.shape[0], shape.shape[0]), np.int64), np.empty(sums.shape[0]), 0
    for one in range(length):
        for two in range(width):
            x = one * width + two
            row = new_one[one] * new_two[two]
            total = sums[x] + block * (row - old_one[one] * old_two[two])
            if total < CANCELLED * sums[x]:
                total = look_at(rows, begins, shape, bins, profile, x, position, old, new, block, place)[2]
            if max(largest[x], row) > upper * total or min(smallest[x], row) < lower * total:
                place_of(shape, x, places[failing])
                totals[failing] = total
                failing += 1
    people = 0
    for k in range(profile.shape[0] if failing > 0 else 0):
        for v in range(profile.shape[1]):
            count = profile[k, v]
            if k == position:
                count += block * (v == new) - block * (v == old)
            if count > 0 and outside(
                rows, begins, shape, bins, k, v, places[:failing], totals[:failing], upper, lower
            ):  # fmt: skip
                people += count
                if people > most:
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


@compiled(f"void({GRID},{TABLE},int64,int64,{FLOATS},{FLOATS})")
def extremes(rows, begins, shape, bins, profile, split, width, largest, smallest):  # type: ignore[no-untyped-def]
    """The largest and the smallest row among the occupied groups, cell by cell."""
    largest[:] = 0.0
    smallest[:] = np.inf
    one, two = np.empty(largest.shape[0] // width), np.empty(width)
    for k in range(profile.shape[0]):
        for v in range(profile.shape[1]):
            if profile[k, v] > 0:
                factor(rows, begins, shape, bins, k, v, 0, split, one)
                factor(rows, begins, shape, bins, k, v, split, shape.shape[0], two)
                appear(one, two, largest, smallest)
