"""Scales that protect everyone, whatever the profile: the paper's theorem, and what is true of it."""

from __future__ import annotations

import math

from equinoise.privacy.loss import EPSILON_CAP


def always_protecting_scale(people: int, epsilon: float) -> float:
    """The smallest scale b such that, with no smaller one on offer, EVERY profile protects everyone.

    In any cell, two people's Laplace rows differ by at most a factor R = e^{1/b} (the extremes are a person at
    one end of the range seen at that end, and one at the other end). So one person's share of the sum is at
    most R / (R + N - 1), and the loss at most ln(1 + (R - 1) / N); the other direction is smaller. That is
    within epsilon when e^{1/b} - 1 <= N (e^eps - 1). Two people's rows of categories differ by the same factor at most,
    and those of several columns by the product of theirs, so there the sum of 1/b over the columns counts. Before
    rounding to integers: the certificate decides.
    """
    return 1 / math.log1p(people * math.expm1(min(epsilon, EPSILON_CAP)))


def self_protecting_scale(people: int, epsilon: float, categories: int = 0) -> float:
    """The smallest scale b on offer with which a person who takes infinite scale is protected, whatever others do.

    The least density of any row is v = 1 / (b (e^{1/b} - 1)); a uniform row is protected against (N - 1) v when
    b (e^{1/b} - 1) <= (N - 1) (e^eps - 1); with C categories, v = 1 / (e^{1/b} + C - 1) and a uniform row 1 / C, when
    (e^{1/b} + C - 1) / C <= (N - 1) (e^eps - 1). Infinite if no scale is enough. It does not say that an equilibrium
    protects everyone: the same move can unprotect others.
    """
    target = (people - 1) * math.expm1(min(epsilon, EPSILON_CAP))
    if target <= 1:
        return math.inf
    if categories:
        return 1 / math.log(categories * target - categories + 1)
    low, high = 1e-3, 1e3
    while high * math.expm1(1 / high) > target:
        high *= 2
        if high > 1e15:
            return math.inf
    for _ in range(200):
        middle = math.sqrt(low * high)
        if 1 / middle < 700 and middle * math.expm1(1 / middle) <= target:
            high = middle
        else:
            low = middle
    return high
