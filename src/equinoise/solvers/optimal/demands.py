"""What a person demands of S: the least S[x] at which someone with the row W may be protected.

The pure condition says it cell by cell. For the others look at two outcomes only, the cell x and the rest: no
divergence of P = S/R and Q = (S - W)/(R - m) rises by that. It is convex in S[x], and nothing at W R/m, where P = Q. So
the S[x] within the limit are an interval around that, and its lower end is the demand. Every protecting profile meets
all demands; whoever meets them is not always protected.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.condition import Condition
from equinoise.privacy.loss import APPROXIMATE, EPSILON_CAP, PURE

HALVINGS = 26
"""How often the logarithm of R/m is halved: to a ten-millionth of a demand."""
DEMANDS_AT_ONCE = 2**20
"""Numbers worked on together."""
DEMAND_SLACK = 1e-9
"""By how much limits are widened and demands lowered, so that rounding never makes a demand too large."""


def demands(condition: Condition, weights: Floats, types: Ints) -> Floats:
    """The least S with which one person of each type and row of weights may be protected: people x cells, in rows."""
    if condition.kind == PURE:
        return np.asarray(weights / condition.upper[types, None])
    least = _for_delta if condition.kind == APPROXIMATE else _for_renyi
    found, size = np.empty_like(weights), max(1, DEMANDS_AT_ONCE // weights.shape[1])
    for begin in range(0, len(weights), size):
        part = slice(begin, begin + size)
        found[part] = least(condition, weights[part], condition.sizes[types[part], None].astype(np.float64))
    return found


def _for_delta(condition: Condition, weights: Floats, sizes: Floats) -> Floats:
    """Below W R/m, P - E Q <= delta in x and (1 - Q) - E (1 - P) <= delta in the rest: both are linear in S.

    The second binds from below only where E < R/(R - m).
    """
    total, left = condition.total_rows, condition.total_rows - sizes
    limit = condition.limit * (1 + DEMAND_SLACK)
    growth = math.expm1(min(condition.epsilon, EPSILON_CAP))
    own = ((growth + 1) * weights / left - limit) / ((growth + 1) / left - 1 / total)
    slope = 1 / left - (growth + 1) / total
    rest = np.where(slope > 0, (weights / left - growth - limit) / np.where(slope > 0, slope, 1.0), 0.0)
    return np.asarray(np.clip(np.maximum(own, rest), weights, weights * total / sizes) * (1 - DEMAND_SLACK))


def _for_renyi(condition: Condition, weights: Floats, sizes: Floats) -> Floats:
    """By bisection of ln S between ln W and ln(W R/m); the lower end, where the limit is still exceeded."""
    assert condition.order is not None
    total, less = condition.total_rows, condition.order - 1
    limit = condition.limit * (1 + DEMAND_SLACK) + 1e-14 / less
    low, high = np.zeros_like(weights), np.broadcast_to(np.log(total / sizes), weights.shape).copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        sums = weights * np.exp(middle)
        p, q = np.minimum(sums / total, 1.0), np.clip((sums - weights) / (total - sizes), 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.log(p) - np.log(q), np.log1p(-p) - np.log1p(-q)
            forth = np.logaddexp(np.log(p) + less * steps[0], np.log1p(-p) + less * steps[1])
            back = np.logaddexp(np.log(q) - less * steps[0], np.log1p(-q) - less * steps[1])
        beyond = np.fmax(forth, back) / less > limit  # not a number, where nobody or everybody comes out: no demand
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray(weights * np.exp(low) * (1 - DEMAND_SLACK))
