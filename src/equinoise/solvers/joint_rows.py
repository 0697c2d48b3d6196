"""Rows on a joint grid, compiled: products made when they are needed, and sums of them to the last bit."""

from __future__ import annotations

import numpy as np

from equinoise.solvers.compiled import FLOATS, INDICES, TABLE, add_exactly, compiled

HALVES = 2.0**27 + 1

GRID = f"{FLOATS},{INDICES},{INDICES},{TABLE}"
"""The rows of all axes, choices and bins one after the other; where each axis begins; its bins; people's bins."""

PARTS = "float64[:,::1]"
"""S again, as a sum of two floats, and whether these hold it to the last bit."""


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


@compiled("UniTuple(float64,2)(float64,float64)")
def multiply_exactly(a, b):  # type: ignore[no-untyped-def]
    """a times b, with what the product cannot hold as a second number."""
    product = a * b
    high_a, high_b = a * HALVES, b * HALVES
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@compiled(f"void({PARTS},int64,float64,int64)")
def add_people(parts, x, weight, people):  # type: ignore[no-untyped-def]
    """Add so many times a weight to a cell's parts; nothing is lost."""
    step, rest = multiply_exactly(weight, float(people))
    high, low = add_exactly(parts[0, x], parts[1, x], step)
    parts[0, x], parts[1, x] = add_exactly(high, low, rest)


@compiled(f"float64({GRID},{TABLE},{PARTS},int64,float64,int64)")
def exact_sum(rows, begins, shape, bins, profile, parts, x, change, block):  # type: ignore[no-untyped-def]
    """S[x] after a move, to the last bit: its parts are added up anew once, where plain floats would cancel."""
    if parts[2, x] == 0:
        place = np.empty(shape.shape[0], np.int64)
        place_of(shape, x, place)
        parts[0, x], parts[1, x], parts[2, x] = 0.0, 0.0, 1.0
        for k in range(profile.shape[0]):
            for v in range(profile.shape[1]):
                if profile[k, v] > 0:
                    add_people(parts, x, weight_at(rows, begins, shape, bins, k, v, place), profile[k, v])
    step, rest = multiply_exactly(change, float(block))
    high, low = add_exactly(parts[0, x], parts[1, x], step)
    high, low = add_exactly(high, low, rest)
    return high + low
