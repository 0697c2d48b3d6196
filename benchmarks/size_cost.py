"""What rows cost together where one person raises the total weight by a share at most, and checks of that bound."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

INTERVALS = 200


def two_point(draws, epsilon, growth, total):
    """The least delta of so many draws within ``total``, where a person raises the total weight by at most a share
    ``growth``, and each cell's by a factor of at most E and of at least 1.

    The probabilities of a draw with and without them have a ratio r/rho, where r is within [1, E], rho its mean and
    within [1, 1 + growth]. At a given rho nothing is worse than r in {1, E}, of which every other r is a garbling: a
    hit, of probability m = (rho - 1)/(E - 1) without the person and m E/rho with them, loses epsilon - ln rho, all
    else -ln rho. In each interval of rho the hits, and what k of them lose, are taken from the end that is worse.
    """
    E, k = math.exp(epsilon), np.arange(draws + 1)
    ends = np.linspace(1, min(E, 1 + growth), INTERVALS + 1)
    low, high = ends[:-1, None], ends[1:, None]
    with_them = binom.pmf(k, draws, np.minimum(1, (high - 1) / (E - 1) * E / high))
    without = binom.pmf(k, draws, (low - 1) / (E - 1))
    forth = with_them * np.maximum(0, -np.expm1(total - k * epsilon + draws * np.log(low)))
    back = without * np.maximum(0, -np.expm1(total + k * epsilon - draws * np.log(high)))
    return float(max(forth.sum(axis=1).max(), back.sum(axis=1).max()))


def enumerated(p, q, draws, total):
    """The true delta of so many draws of p or of q, by all outcomes, in both directions."""
    far, near = np.ones(1), np.ones(1)
    for _ in range(draws):
        far, near = np.outer(far, p).ravel(), np.outer(near, q).ravel()
    most = math.exp(total)
    return float(max(np.maximum(far - most * near, 0).sum(), np.maximum(near - most * far, 0).sum()))


def random_pairs(times, seed=1):
    """The bound and the truth for made-up weights, of which many are as bad as they can be."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        cells, draws, epsilon = int(rng.integers(2, 4)), int(rng.integers(1, 6)), rng.uniform(0.05, 1.5)
        g = rng.exponential(1, cells) * 10 ** rng.uniform(-1, 1)
        share = rng.choice([0, 1, rng.beta(0.3, 0.3)], cells)
        added, most = g * share * math.expm1(epsilon), rng.uniform(0.5, 3)
        larger = g + added * min(1, most / max(added.sum(), 1e-9))
        total = rng.uniform(0.02, 0.7) * draws * epsilon
        bound = two_point(draws, epsilon, most / g.sum(), total)
        yield bound, enumerated(g / g.sum(), larger / larger.sum(), draws, total)
