"""The game: people choose noise scales and share one payoff.

A profile a[k, v] says how many of the people in cell k use scale v. People in the same cell with the same
scale are interchangeable, so this table is the whole per-person game, whatever the number of people.

The payoff is the number of people whose loss is within epsilon, plus a utility in [0, 1]: 1 - KL(p || q) / ln K, unless
another one is asked for. Protection comes first: utility can never outweigh one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equinoise.equilibrium import is_equilibrium
from equinoise.errors import BadInput, check
from equinoise.grid import Floats, Histogram, Ints
from equinoise.metrics import kl
from equinoise.noise import Kernel
from equinoise.privacy import EPSILON_CAP, LEAST_EPSILON, PURE, Condition, losses
from equinoise.utility import LINEAR, Utility, named


def check_players(epsilon: float, people: int) -> None:
    """Refuse what no game of any kind can be played with."""
    check(
        LEAST_EPSILON <= epsilon < math.inf,
        "epsilon", f"a finite number of at least {LEAST_EPSILON:g}", epsilon,
    )  # fmt: skip
    if people < 2:
        raise BadInput(
            f"At least two people are needed, because a loss compares the data with and without a person. "
            f"There {'is' if people == 1 else 'are'} {people}."
        )


def checked(profile: Ints, counts: Ints, scales: int, place: str) -> Ints:
    """A profile as an integer table: for every place and scale, how many of the people there use it."""
    profile, shape = np.asarray(profile), (len(counts), scales)
    if profile.shape != shape or not np.issubdtype(profile.dtype, np.integer):
        raise BadInput(f"A profile of this game is a table of {shape[0]} x {shape[1]} whole numbers.")
    if (profile < 0).any() or not np.array_equal(profile.sum(axis=1), counts):
        raise BadInput(f"A profile must give every person of every {place} exactly one scale.")
    return profile.astype(np.int64)


def everyone_at_largest(counts: Ints, scales: int) -> Ints:
    """The profile with everyone at the largest scale."""
    profile = np.zeros((len(counts), scales), dtype=np.int64)
    profile[:, -1] = counts
    return profile


@dataclass(frozen=True)
class Payoff:
    """People protected, and the utility between 0 and 1 added to them; compared in that order."""

    protected: int
    utility: float

    @property
    def value(self) -> float:
        """The payoff as one number."""
        return self.protected + self.utility


@dataclass(frozen=True, eq=False)
class Game:
    """A histogram, the kernels on offer and the loss that every person must stay within."""

    histogram: Histogram
    kernel: Kernel
    epsilon: float
    utility: str = "kl"
    delta: float = 0.0
    order: float | None = None

    def __post_init__(self) -> None:
        check_players(self.epsilon, self.people)
        assert self.closeness.name == self.utility  # refuses a name that is none
        assert self.kernel.weights[:, self.occupied, self.occupied].all()  # there is a row for everyone

    @cached_property
    def people(self) -> int:
        """N, the number of players."""
        return self.histogram.people

    @cached_property
    def condition(self) -> Condition:
        """When a person is protected: pure, unless there is a delta or a Renyi order."""
        return Condition(self.epsilon, self.people, self.delta, self.order)

    @cached_property
    def closeness(self) -> Utility:
        """The utility's maths."""
        return named(self.utility, self.histogram.grid.cells)

    @cached_property
    def occupied(self) -> Ints:
        """The cells that have anyone in them, ascending."""
        return np.flatnonzero(self.histogram.counts)

    @cached_property
    def rows(self) -> Floats:
        """The kernel's weights as floats (exact: they are below 2^53), zero for cells that nobody is in.

        Zeros that are never written take no memory, and the padding of a grid is mostly empty.
        """
        rows = np.zeros(self.kernel.weights.shape)
        rows[:, self.occupied] = self.kernel.weights[:, self.occupied]
        return rows

    @cached_property
    def features(self) -> Floats:
        """What one person of each (scale, cell) adds to the utility's linear features; none for KL and JS."""
        features = np.zeros((*self.rows.shape[:2], len(self.closeness.features)))
        features[:, self.occupied] = self.rows[:, self.occupied] @ self.closeness.features.T / self.kernel.total
        return features

    @property
    def tolerance(self) -> float:
        """How much a move must take off N times the divergence to count as an improvement, per person moved.

        That is 1e-12 of the divergence, about the resolution of floating point, but never more than 1e-5: then a whole
        cell that moves from one scale to another gains at most 1e-5, by convexity. (Moves in different directions may
        gain more together than alone, as at any equilibrium. Features are differences of large sums: 1e-15 at best.)
        """
        return min(1e-12 * self.people, 1e-5) + (1e-15 * self.people if self.closeness.kind == LINEAR else 0.0)

    def check_profile(self, profile: Ints) -> Ints:
        """The profile as an integer table, if it is one of this game's."""
        return checked(profile, self.histogram.counts, len(self.kernel.scales), "cell")

    def largest_scale_profile(self) -> Ints:
        """Everyone at the largest scale: the start that protects everyone, where there is a simple one."""
        return everyone_at_largest(self.histogram.counts, len(self.kernel.scales))

    def weights(self, profile: Ints) -> Ints:
        """The row of whole numbers of every occupied pair, in the order of :meth:`groups`."""
        cells, scales = self.groups(profile)
        return self.kernel.weights[scales, cells]

    def groups(self, profile: Ints) -> tuple[Ints, Ints]:
        """The occupied (cell, scale) pairs, cell by cell."""
        cells, scales = np.nonzero(profile)
        return cells, scales

    def sums(self, profile: Ints) -> Floats:
        """S[x] = N q[x], in units of 1 / kernel.total.

        Added up on one core: for so little work, others take longer to wake than it takes.
        """
        cells, scales = self.groups(profile)
        return np.asarray(np.einsum("g,gx->x", profile[cells, scales].astype(np.float64), self.rows[scales, cells]))

    def output(self, profile: Ints) -> Floats:
        """q: the distribution of one draw."""
        return self.sums(profile) / (float(self.people) * self.kernel.total)

    def divergence(self, profile: Ints) -> float:
        """Of the output from the original, as the utility measures it: KL(p || q) unless another one is asked for."""
        return self._divergence(self.output(profile))

    def kl(self, profile: Ints) -> float:
        """KL(p || q), whatever the utility."""
        return kl(self.histogram.counts / self.people, self.output(profile))

    def _divergence(self, q: Floats) -> float:
        return float(self.closeness.divergence(self.histogram.counts / self.people, q))

    def payoff(self, profile: Ints) -> Payoff:
        """The shared payoff of a profile."""
        return Payoff(
            self.people - self.unprotected(profile, self.sums(profile)),
            float(self.closeness.scaled(self.divergence(profile))),
        )

    def unprotected(self, profile: Ints, sums: Floats) -> int:
        """People outside the condition, for a profile and its sums.

        A cell can only violate the pure condition by the largest or the smallest row in it, so groups are looked at
        only in the cells where one of those fails.
        """
        cells, scales = self.groups(profile)
        rows = self.rows[scales, cells]
        if self.condition.kind != PURE:
            return int(profile[cells, scales][self.condition.outside(rows, sums)].sum())
        upper, lower = self.condition.upper * sums, self.condition.lower * sums
        failing = (rows.max(axis=0) > upper) | (rows.min(axis=0) < lower)
        if not failing.any():
            return 0
        rows = rows[:, failing]
        outside = ((rows > upper[failing]) | (rows < lower[failing])).any(axis=1)
        return int(profile[cells, scales][outside].sum())

    def losses(self, profile: Ints) -> Floats:
        """Loss of one person of each occupied (cell, scale), in the order of :meth:`groups`."""
        cells, scales = self.groups(profile)
        return losses(self.rows[scales, cells], self.sums(profile), self.people)

    def best_response(self, profile: Ints, cell: int, scale: int) -> int:
        """The best scale for one person now in (cell, scale), everyone else staying.

        Staying is the first candidate, then the scales in ascending order; a later one must beat the best so
        far, by a protected person or by more than the tolerance in utility.
        """
        sums = self.sums(profile)
        unprotected = self.unprotected(profile, sums)
        best, best_gain, excess = scale, 0.0, self.excess(sums)
        for other in range(len(self.kernel.scales)):
            if other == scale:
                continue
            moved = profile.copy()
            moved[cell, scale] -= 1
            moved[cell, other] += 1
            change = self.rows[other, cell] - self.rows[scale, cell]
            gain = self.gain(sums, change, excess)
            count = self.unprotected(moved, sums + change)
            if count < unprotected or (count == unprotected and gain > best_gain + self.tolerance):
                best, best_gain, unprotected = other, gain, count
        return best

    def gain(self, sums: Floats, change: Floats, excess: float) -> float:
        """N times the fall of the divergence when the sums change, as far as the clamped utility sees it."""
        total = self.kernel.total
        gain = self.closeness.gain(self.histogram.counts.astype(np.float64), sums / total, change / total)
        if excess > 0 or gain < excess:
            gain = min(excess, 0.0) - min(excess - gain, 0.0)
        return gain

    def excess(self, sums: Floats) -> float:
        """N (divergence - ceiling): positive where the utility is clamped to zero."""
        q = sums / (float(self.people) * self.kernel.total)
        return self.people * (self._divergence(q) - self.closeness.ceiling)

    def is_equilibrium(self, profile: Ints) -> bool:
        """Whether no single person can raise the payoff by changing scale, checked for every occupied pair."""
        return is_equilibrium(self, profile)


def always_protecting_scale(people: int, epsilon: float) -> float:
    """The smallest scale b such that, with no smaller one on offer, EVERY profile protects everyone.

    In any cell, two people's Laplace rows differ by at most a factor R = e^{1/b} (the extremes are a person at
    one end of the range seen at that end, and one at the other end). So one person's share of the sum is at
    most R / (R + N - 1), and the loss at most ln(1 + (R - 1) / N); the other direction is smaller. That is
    within epsilon when e^{1/b} - 1 <= N (e^eps - 1). Before rounding to integers: the certificate decides.
    """
    return 1 / math.log1p(people * math.expm1(min(epsilon, EPSILON_CAP)))


def self_protecting_scale(people: int, epsilon: float) -> float:
    """The smallest scale b on offer with which a person who takes infinite scale is protected, whatever others do.

    The least density of any row is v = 1 / (b (e^{1/b} - 1)); a uniform row is protected against (N - 1) v when
    b (e^{1/b} - 1) <= (N - 1) (e^eps - 1). Infinite if no scale is enough. It does not say that an equilibrium
    protects everyone: the same move can unprotect others.
    """
    target = (people - 1) * math.expm1(min(epsilon, EPSILON_CAP))
    if target <= 1:
        return math.inf
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
