"""Who is unprotected under a delta or a Renyi order, compiled: a sum over all cells, worked out for each group."""

from __future__ import annotations

import math

import numpy as np

from equinoise.game.condition import LARGEST_POWER
from equinoise.privacy.loss import APPROXIMATE
from equinoise.solvers.best_response.access import ZERO, compiled, fill_row
from equinoise.solvers.best_response.sums import find_sums_after


@compiled()
def scaling(limits, m, here, sums, everything):  # type: ignore[no-untyped-def]
    """What powers of e in a Renyi divergence are scaled down by: 0 unless one is too large for a float; infinite if a
    cell comes out with this person alone."""
    rows, order, power, largest = limits.total_rows, limits.order, 0.0, 0.0
    gone = math.log1p(-m / rows)
    for x in range(sums.shape[0]):
        if sums[x] <= 0:
            continue
        share = min(here[x] / sums[x], 1.0)
        if share >= 1:
            return np.inf
        ratio = gone - math.log1p(-share)
        size, p = (order - 1) * abs(ratio), math.log(sums[x] / everything)
        power = max(power, size)
        largest = max(largest, size + (p if ratio > 0 else p - ratio))
    return largest if power > LARGEST_POWER else 0.0


@compiled()
def outside(limits, m, here, sums):  # type: ignore[no-untyped-def]
    """Whether a person with m rows and this row is not within the approximate or the Renyi condition."""
    everything = 0.0
    for x in range(sums.shape[0]):
        everything += sums[x]
    rows, order = limits.total_rows, limits.order
    factor, gone = math.exp(limits.epsilon), math.log1p(-m / rows)
    forth, back, scaled = 0.0, 0.0, 0.0
    if limits.kind != APPROXIMATE:
        scaled = scaling(limits, m, here, sums, everything)
        if scaled == np.inf:
            return True
    for x in range(sums.shape[0]):
        if sums[x] <= 0:
            continue
        p, share = sums[x] / everything, min(here[x] / sums[x], 1.0)
        q = p * (1 - share) * rows / (rows - m)
        if limits.kind == APPROXIMATE:
            forth += max(p - factor * q, 0.0)
            back += max(q - factor * p, 0.0)
        else:
            ratio = gone - math.log1p(-share)
            if scaled > 0:
                forth += math.exp(math.log(p) + (order - 1) * ratio - scaled)
                back += math.exp(math.log(q) + (1 - order) * ratio - scaled)
            else:
                forth += p * math.expm1((order - 1) * ratio)
                back += q * math.expm1((1 - order) * ratio)
    if limits.kind == APPROXIMATE:
        return max(forth, back) > limits.limit
    if scaled > 0:
        return math.log(max(forth, back)) + scaled > limits.limit * (order - 1)
    return math.log1p(max(forth, back)) > limits.limit * (order - 1)


@compiled()
def outside_after(store, limits, state, buffers, i, old, new, block, most):  # type: ignore[no-untyped-def]
    """People outside such a condition after a move (or more than ``most``)."""
    cells, people = state.sums.shape[0], 0
    fill_row(store, i, old, ZERO, cells, buffers.old)
    fill_row(store, i, new, ZERO, cells, buffers.new)
    find_sums_after(store, state, buffers.old, buffers.new, block, ZERO, cells, buffers.then)
    for k in range(state.profile.shape[0]):
        for v in range(state.profile.shape[1]):
            count = state.profile[k, v]
            if k == i:
                count += block * (v == new) - block * (v == old)
            if count > 0:
                here = buffers.other
                fill_row(store, k, v, ZERO, cells, here)
                if outside(limits, limits.sizes[k], here, buffers.then):
                    people += count
                    if people > most:
                        return people
    return people
