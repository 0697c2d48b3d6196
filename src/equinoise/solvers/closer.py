"""What a move does to the divergence, compiled: exactly, or as a bound from the slopes.

Every divergence is convex in S, so a move takes off at most what the slopes where it begins promise. Most candidates
fail by that already, and it costs one product of a row with the slopes.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.solvers.compiled import CANCELLED, FLOATS, INDICES, ROWS, compiled
from equinoise.utility import KL, LINEAR

ROUNDING = 2.0**-40
"""What rounding may hide in a product of a row with the slopes, as a share of the largest that it could be."""

STEEPEST = 1e200
"""Stands for an infinite slope: times zero it must stay zero."""


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


@compiled("float64(float64,float64)")
def seen(gain, excess):  # type: ignore[no-untyped-def]
    """The part of a gain that the clamped utility sees, if the divergence is ``excess`` above its ceiling (N times)."""
    if excess > 0 or gain < excess:
        return min(excess, 0.0) - min(excess - gain, 0.0)
    return gain


@compiled("float64(int64,float64,float64,float64)")
def slope(kind, n, s, total):  # type: ignore[no-untyped-def]
    """How fast one cell of n people takes off N times the divergence as s, its part of S, grows (KL and JS)."""
    ratio = n / s if s > 0 else STEEPEST if n > 0 else 0.0
    return ratio if kind == KL else math.log((1 + total * ratio) / 2) / 2 / total


@compiled(f"float64(int64,{FLOATS},float64,{FLOATS},{FLOATS},{FLOATS})")
def find_slopes(kind, counts, total, sums, gaps, slopes):  # type: ignore[no-untyped-def]
    """The slopes in every cell (or feature); gives what rounding may hide when a row is multiplied with them."""
    if kind == LINEAR:
        for j in range(gaps.shape[0]):
            slopes[j] = (gaps[j] > 0) - 1.0 * (gaps[j] < 0)
        return ROUNDING
    steepest = 0.0
    for x in range(sums.shape[0]):
        slopes[x] = slope(kind, counts[x], sums[x], total)
        steepest = max(steepest, abs(slopes[x]))
    return ROUNDING * steepest * total


@compiled(f"void({ROWS},int64,{FLOATS},{FLOATS})", fastmath={"reassoc", "contract"})
def find_leads(features, cell, slopes, leads):  # type: ignore[no-untyped-def]
    """What a person of the cell takes off by being at each scale, by the slopes (for KL and JS features are rows)."""
    for v in range(leads.shape[0]):
        lead = 0.0
        for x in range(slopes.shape[0]):
            lead += features[v, cell, x] * slopes[x]
        leads[v] = lead


@compiled(f"float64(int64,{ROWS},{FLOATS},float64,{FLOATS},{FLOATS},float64,int64,int64,int64,int64)")
def promised(kind, rows, counts, total, sums, leads, rounding, cell, old, new, block):  # type: ignore[no-untyped-def]
    """The most that a move can take off: by the slopes, but in the movers' own cell, which changes most, exactly."""
    bound = block * (leads[new] - leads[old] + rounding)
    change, s, n = block * (rows[new, cell, cell] - rows[old, cell, cell]), sums[cell], counts[cell]
    if kind == LINEAR or s + change < CANCELLED * s:
        return bound
    if kind == KL:
        return bound + n * (math.log1p(change / s) - change / s)
    return bound + fall_of_js(n, s / total, (s + change) / total, change / total) - change * slope(kind, n, s, total)


@compiled(f"float64(int64,{ROWS},{FLOATS},float64,{FLOATS},int64,int64,int64,int64)")
def slope_after(kind, rows, counts, total, sums, cell, old, new, block):  # type: ignore[no-untyped-def]
    """What the next person would take off, by the slopes, once ``block`` people went the same way (KL and JS)."""
    gain = 0.0
    for x in range(sums.shape[0]):
        change = rows[new, cell, x] - rows[old, cell, x]
        if change == 0 or (kind == KL and counts[x] == 0):
            continue
        then = sums[x] + block * change
        if then <= 0:  # nearly everyone of a cell goes: what is left drowns in rounding
            return -np.inf
        gain += change * slope(kind, counts[x], then, total)
    return gain


@compiled(f"int64(int64,{ROWS},{FLOATS},float64,{FLOATS},int64,int64,int64,int64)")
def wanting(kind, rows, counts, total, sums, cell, old, new, most):  # type: ignore[no-untyped-def]
    """How many people of ``most`` take off the most by the same move: while the slope, which only ever falls, is up."""
    enough, many = 1, most + 1
    while many - enough > 1:
        middle = enough + (many - enough) // 2
        if slope_after(kind, rows, counts, total, sums, cell, old, new, middle) > 0:
            enough = middle
        else:
            many = middle
    return enough
