"""How inner loops are compiled, and the arithmetic that all of them share."""

from __future__ import annotations

from typing import Any

import numba

CANCELLED = 2.0**-8
"""A sum that falls below this share of itself in one move is added up anew."""

EXACT = 2.0**53
"""Whole numbers up to this are exact floats, and so are their sums: nothing to add up anew."""

SPLIT = 20
"""Blocks are split here, so that both parts times a weight difference are exact floats up to 2^41 people."""

ROWS, TABLE, INDICES, FLOATS = "float64[:,:,::1]", "int64[:,::1]", "int64[::1]", "float64[::1]"


def compiled(signature: str, **options: Any) -> Any:
    """Compile for one signature when this module is imported, and keep the result on disk if there is a place."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(signature, cache=True, **options)(function)
        except RuntimeError:  # no writable cache folder
            return numba.njit(signature, **options)(function)

    return decorate


@compiled("UniTuple(float64,2)(float64,float64,float64)")
def add_exactly(high, low, term):  # type: ignore[no-untyped-def]
    """(high + low) + term, with what high cannot hold kept in low."""
    total = high + term
    part = total - high
    return total, low + ((high - (total - part)) + (term - part))


@compiled(f"void({FLOATS},{FLOATS},{FLOATS},{FLOATS},int64,{FLOATS})")
def add_people(old, new, high, low, block, sums):  # type: ignore[no-untyped-def]
    """S after ``block`` people went from one row to another, kept in two parts: nothing is lost however often."""
    for x in range(sums.shape[0]):
        change = new[x] - old[x]
        total, rest = add_exactly(high[x], low[x], change * (block >> SPLIT) * 2.0**SPLIT)
        high[x], low[x] = add_exactly(total, rest, change * (block & (2**SPLIT - 1)))
        sums[x] = high[x] + low[x]


@compiled(f"int64({TABLE},int64,int64,int64,int64,int64,int64)")
def count_after(profile, k, v, cell, old, new, block):  # type: ignore[no-untyped-def]
    """People in (k, v) once ``block`` people of (cell, old) are at ``new``."""
    if k != cell:
        return profile[k, v]
    return profile[k, v] - block * (v == old) + block * (v == new)


@compiled(f"void({ROWS},{TABLE},{INDICES},{FLOATS},int64,int64,int64,int64,{FLOATS})")
def sums_after(rows, profile, occupied, sums, cell, old, new, block, then):  # type: ignore[no-untyped-def]
    """S after such a move; where it nearly cancels, added up anew."""
    for x in range(sums.shape[0]):
        then[x] = sums[x] + block * (rows[new, cell, x] - rows[old, cell, x])
        if then[x] < CANCELLED * sums[x] and sums[x] > EXACT:
            then[x] = 0.0
            for k in occupied:
                for v in range(profile.shape[1]):
                    then[x] += count_after(profile, k, v, cell, old, new, block) * rows[v, k, x]
