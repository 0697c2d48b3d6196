"""The attacker's side: was a chosen person in the data? The best test, and what it proves at 99.9 % confidence.

Between two known distributions no test beats the likelihood ratio: say "with them" in the cells where that is likelier
by more than a threshold. If draws are within (epsilon, delta), every set of cells obeys P <= e^epsilon Q + delta, with
P its probability on one side and Q on the other; so every set proves epsilon >= ln((P - delta)/Q). Whoever only sees
draws does not know P and Q: Clopper-Pearson bounds, one below P and one above Q, stand in for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from equinoise.mechanisms.draws import draw_rows

DOUBT = 0.001
"""How often a reported bound may be above the truth: it holds with 99.9 % confidence."""

FIRST = 4
"""A first sample, one in so many of the draws, teaches the attacker cells; fresh draws then test them."""


@dataclass(frozen=True, eq=False)
class Side:
    """What one side's draws come from: ``people[g]`` persons share the row ``weights[g]``, which sums to ``total``."""

    people: np.ndarray
    weights: np.ndarray
    total: int

    @classmethod
    def of_weights(cls, weights):
        """One row of whole numbers that every draw comes from."""
        return cls(np.array([1]), np.array([weights], dtype=np.int64), int(sum(weights)))

    @cached_property
    def sums(self):
        """The rows of everyone added up, in unbounded integers."""
        return (self.people.astype(object) @ self.weights.astype(object)).tolist()

    @cached_property
    def distribution(self):
        """Of one draw."""
        total = sum(self.sums)
        return np.array([weight / total for weight in self.sums])

    def draw(self, size, source):
        """Cells, some at a time, by the sampler that releases use."""
        return (bins[:, 0] for bins in draw_rows(self.people, [self.weights], [self.total], size, source))

    def counts(self, size, source):
        """How often each cell came out in ``size`` draws."""
        cells = self.weights.shape[1]
        return sum(np.bincount(drawn, minlength=cells) for drawn in self.draw(size, source))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two distributions that the attacker tells apart, with the chosen person and without (or with another value)."""

    person: str
    sides: tuple[Side, Side]

    @cached_property
    def loss(self):
        """Max over cells of abs ln(P/Q), from the integers."""
        (p, q), worst = (side.sums for side in self.sides), 0.0
        p_total, q_total = sum(p), sum(q)
        for a, b in zip(p, q, strict=True):
            if (a > 0) != (b > 0):
                return math.inf
            if a > 0:
                worst = max(worst, abs(math.log(a * q_total) - math.log(b * p_total)))
        return worst

    def expected(self, draws):
        """The bound, if every cell came out just as often as it should: how promising this pair is to attack."""
        counts = [draws * side.distribution for side in self.sides]
        return lower_bound(best_regions(*counts, draws), *counts, draws)


@dataclass(frozen=True, eq=False)
class Region:
    """Cells that speak for one of the two sides: with the person (forth) or without."""

    cells: np.ndarray
    forth: bool

    def log_ratio(self, p_counts, q_counts, draws, error, delta):
        """What this set of cells proves, from counts that had no part in choosing it."""
        hits, alarms = (p_counts, q_counts) if self.forth else (q_counts, p_counts)
        return float(log_ratio(hits[self.cells].sum(), alarms[self.cells].sum(), draws, error, delta))


def at_least(seen, size, error):
    """Clopper-Pearson: a probability of which ``seen`` of ``size`` is no luck, except with probability ``error``."""
    seen = np.asarray(seen, dtype=float)
    some = np.maximum(seen, 0.5)
    return np.where(seen > 0, stats.beta.ppf(error, some, size - some + 1), 0.0)


def at_most(seen, size, error):
    """The same from above."""
    seen = np.asarray(seen, dtype=float)
    others = np.maximum(size - seen, 0.5)
    return np.where(seen < size, stats.beta.isf(error, seen + 1, others), 1.0)


def log_ratio(hits, alarms, draws, error, delta=0.0):
    """ln((P - delta)/Q) at worst, P and Q each bounded with ``error``; minus infinity where P may be delta."""
    low, high = at_least(hits, draws, error) - delta, at_most(alarms, draws, error)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low, 0.0)) - np.log(high)


def best_regions(p_counts, q_counts, draws, delta=0.0, evidence=None):
    """The threshold on the likelihood ratio that proves most on these counts, in both directions.

    ``evidence`` ranks the cells; left out, it is the ratio of the counts, one added to each so that a cell hardly ever
    seen ranks low.
    """
    if evidence is None:
        evidence = np.log((p_counts + 1) / (q_counts + 1))
    found = []
    for forth in (True, False):
        order = np.argsort(-evidence if forth else evidence, kind="stable")
        hits, alarms = np.cumsum(p_counts[order]), np.cumsum(q_counts[order])
        if not forth:
            hits, alarms = alarms, hits
        best = int(np.argmax(log_ratio(hits, alarms, draws, DOUBT / 8, delta)))
        cells = np.zeros(len(order), dtype=bool)
        cells[order[: best + 1]] = True
        found.append(Region(cells, forth))
    return found


def lower_bound(chosen, p_counts, q_counts, draws, delta=0.0):
    """The best that any of the chosen regions proves; all of them, and both of their rates, share the doubt."""
    error = DOUBT / (2 * len(chosen))
    return max(0.0, *(region.log_ratio(p_counts, q_counts, draws, error, delta) for region in chosen))


def attack(pair, draws, source):
    """A lower bound of the pair's epsilon, from ``draws`` fresh draws of either side.

    There are two attackers, each in both directions. One knows the two distributions. The other has learned from a
    first sample only, and so finds a leak that the distributions do not show: a sampler that does not follow them.
    """
    p, q = pair.sides
    few = draws // FIRST
    known = best_regions(draws * p.distribution, draws * q.distribution, draws)
    learned = best_regions(p.counts(few, source), q.counts(few, source), few)
    return lower_bound(known + learned, p.counts(draws, source), q.counts(draws, source), draws)


def attack_many(pair, many, releases, delta, source, buckets=2001, reach=3.0):
    """The same for whoever sees ``many`` draws at once: ``releases`` of them from either side.

    The test is on the sum of the draws' log-likelihood ratios. Sums are counted in buckets from -reach to reach (those
    beyond, in the end ones), and the threshold is chosen on a first sample.
    """
    p, q = pair.sides
    evidence = np.log(p.distribution) - np.log(q.distribution)

    def counts(side, size):
        found, at_once = np.zeros(buckets, dtype=np.int64), 20_000
        for start in range(0, size, at_once):
            length = min(at_once, size - start)
            cells = np.concatenate(list(side.draw(length * many, source)))
            sums = evidence[cells].reshape(length, many).sum(axis=1)
            bucket = np.rint((np.clip(sums / reach, -1, 1) + 1) / 2 * (buckets - 1)).astype(np.int64)
            found += np.bincount(bucket, minlength=buckets)
        return found

    sides = (lambda size, _: counts(p, size)), (lambda size, _: counts(q, size))
    return attack_outcomes(*sides, releases, source, delta)


def attack_outcomes(p_counts, q_counts, releases, source, delta=0.0):
    """A lower bound of epsilon from outcomes that are the more likely on the first side the later they come.

    ``p_counts(size, source)`` and ``q_counts`` say how often each came out in so many fresh releases; the threshold is
    chosen on a first sample.
    """
    few = releases // FIRST
    first = p_counts(few, source), q_counts(few, source)
    learned = best_regions(*first, few, delta, evidence=np.arange(len(first[0])))
    return lower_bound(learned, p_counts(releases, source), q_counts(releases, source), releases, delta)
