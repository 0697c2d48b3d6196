"""What a move does to the divergence, compiled: exactly, or as a bound from the slopes.

Every divergence is convex in S, so a move takes off at most what the slopes where it begins promise. Most candidates
fail by that already, and it costs one product of a row with the slopes.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.game.utilities import JS, KL, LINEAR, TV
from equinoise.solvers.best_response.access import compiled
from equinoise.solvers.best_response.sums import CANCELLED_SHARE, sum_after

SLOPE_ROUNDING = 2.0**-40
"""What rounding may hide in a product of a row with the slopes, as a share of the largest that it could be."""

STEEPEST = 1e200
"""Stands for an infinite slope: times zero it must stay zero."""


@compiled(forceinline=True)
def x_log(x):  # type: ignore[no-untyped-def]
    """x ln x."""
    return x * math.log(x) if x > 0 else 0.0


@compiled(forceinline=True)
def js_drop(n, s, new, change):  # type: ignore[no-untyped-def]
    """What one cell of n rows takes off R times the Jensen-Shannon divergence when s becomes new = s + change.

    What the mass that comes from outside the occupied cells does there is part of it."""
    if change == 0:
        return 0.0
    if abs(change) <= s / 2:
        rise = s * math.log1p(change / s) - (n + s) * math.log1p(change / (n + s))
        return -(rise + change * math.log(2 * new / (n + new))) / 2 + change * math.log(2) / 2
    return (x_log(s) - x_log(n + s) - x_log(new) + x_log(n + new)) / 2


@compiled(forceinline=True)
def cell_drop(kind, n, s, change, total):  # type: ignore[no-untyped-def]
    """What one occupied cell of n rows takes off R times the divergence when its s, a part of S, changes."""
    if kind == KL:
        return n * math.log1p(change / s)
    if kind == JS:
        return js_drop(n, s / total, (s + change) / total, change / total)
    gap, step = n - s / total, change / total
    if abs(gap) < abs(step):
        return (abs(gap) - abs(gap - step) + step) / 2
    return step if gap > 0 else 0.0


@compiled()
def divergence_drop(store, aim, state, nears, i, old, new, block):  # type: ignore[no-untyped-def]
    """R times what the divergence loses by a move: from the change itself, so that even one person of 1e12 shows."""
    drop, kind, total, counts, near, gaps = 0.0, aim.kind, aim.total, aim.counts, state.near, state.gaps
    if kind == LINEAR:
        after, before = aim.features[i, new], aim.features[i, old]
        for j in range(gaps.shape[0]):
            step = block * (after[j] - before[j])
            if abs(gaps[j]) < abs(step):
                drop += abs(gaps[j]) - abs(gaps[j] - step)
            else:
                drop += step if gaps[j] > 0 else -step
        return drop
    after, before = nears[new], nears[old]
    if kind == KL:
        for k in range(counts.shape[0]):
            ratio = block * (after[k] - before[k]) / near[k]
            if ratio > -0.5:
                drop += counts[k] * math.log1p(ratio)
            else:
                then = sum_after(store, state, aim.occupied[k], after[k] - before[k], block)
                drop += counts[k] * math.log(then / near[k])
        return drop
    for k in range(counts.shape[0]):
        drop += cell_drop(kind, counts[k], near[k], block * (after[k] - before[k]), total)
    return drop


@compiled(forceinline=True)
def clamped_gain(drop, excess):  # type: ignore[no-untyped-def]
    """The part of a drop that the clamped utility sees, if R times the divergence is ``excess`` above its ceiling."""
    if excess > 0 or drop < excess:
        return min(excess, 0.0) - min(excess - drop, 0.0)
    return drop


@compiled(forceinline=True)
def slope(kind, n, s, total):  # type: ignore[no-untyped-def]
    """How fast one occupied cell of n rows takes off R times the divergence as s, its part of S, grows."""
    if kind == TV:
        return 1 / total if n > s / total else 0.0
    ratio = n / s if s > 0 else STEEPEST
    return ratio if kind == KL else math.log1p(total * ratio) / 2 / total


@compiled()
def find_slopes(aim, state):  # type: ignore[no-untyped-def]
    """The slopes in every occupied cell (or feature); gives what rounding may hide in their product with a person's
    row, for each of the rows that it is the sum of."""
    kind, total, counts, near, gaps, slopes = aim.kind, aim.total, aim.counts, state.near, state.gaps, state.slopes
    if kind == LINEAR:
        for j in range(gaps.shape[0]):
            slopes[j] = (gaps[j] > 0) - 1.0 * (gaps[j] < 0)
        return SLOPE_ROUNDING
    steepest = 0.0
    for k in range(counts.shape[0]):
        slopes[k] = slope(kind, counts[k], near[k], total)
        steepest = max(steepest, slopes[k])
    return SLOPE_ROUNDING * steepest * total


@compiled(fastmath={"reassoc", "contract"})
def dot(left, right):  # type: ignore[no-untyped-def]
    """A product of two vectors, in any order."""
    found = 0.0
    for k in range(left.shape[0]):
        found += left[k] * right[k]
    return found


@compiled(forceinline=True)
def find_slope_scores(aim, state, slope_scores, nears, i):  # type: ignore[no-untyped-def]
    """What a person of type i takes off R times the divergence by being at each scale, by the slopes: scales."""
    slopes = state.slopes
    if aim.kind == LINEAR:
        for v in range(slope_scores.shape[0]):
            slope_scores[v] = dot(aim.features[i, v], slopes)
    else:
        for v in range(slope_scores.shape[0]):
            slope_scores[v] = dot(nears[v], slopes)


@compiled(forceinline=True)
def gain_bound(aim, state, slope_scores, nears, rounding, i, old, new, block):  # type: ignore[no-untyped-def]
    """The most that a move can take off: by the slopes, but in the movers' home cell, which changes most, exactly."""
    bound = block * (slope_scores[new] - slope_scores[old] + rounding)
    if aim.kind in (LINEAR, TV):
        return bound
    home = aim.homes[i]
    change, s, n = block * (nears[new, home] - nears[old, home]), state.near[home], aim.counts[home]
    if s + change < CANCELLED_SHARE * s:
        return bound
    return bound + cell_drop(aim.kind, n, s, change, aim.total) - change * state.slopes[home]


@compiled()
def slope_after(aim, state, nears, old, new, block):  # type: ignore[no-untyped-def]
    """What the next person would take off, by the slopes, once ``block`` people went the same way (KL and JS)."""
    gain, kind, total, counts, near = 0.0, aim.kind, aim.total, aim.counts, state.near
    for k in range(counts.shape[0]):
        change = nears[new, k] - nears[old, k]
        if change == 0:
            continue
        then = near[k] + block * change
        if then <= 0:  # nearly everyone of a cell goes: what is left drowns in rounding
            return -np.inf
        gain += change * slope(kind, counts[k], then, total)
    return gain


@compiled()
def best_block_size(aim, state, nears, old, new, most):  # type: ignore[no-untyped-def]
    """How many people of ``most`` take off the most by the same move: while the slope, which only ever falls, is up."""
    enough, many = 1, most + 1
    while many - enough > 1:
        middle = enough + (many - enough) // 2
        if slope_after(aim, state, nears, old, new, middle) > 0:
            enough = middle
        else:
            many = middle
    return enough
