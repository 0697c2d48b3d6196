"""The game on several columns together: the same payoff, for people in the occupied cells of a product grid.

A profile a[i, v] says how many of the people in the i-th occupied cell use choice v of the scales on offer. A person's
row over all cells is the outer product of two short factors, so nothing here is cells x cells: the rows of everyone are
walked through one group at a time, and closeness needs the occupied cells alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equinoise.errors import BadInput, check
from equinoise.game import Payoff
from equinoise.grid import Floats, Ints, JointHistogram
from equinoise.joint_noise import JointKernel
from equinoise.joint_utility import JointUtility, named_jointly
from equinoise.privacy import LEAST_EPSILON, Condition
from equinoise.utility import LINEAR

CANCELLED = 2.0**-8
"""A sum that falls below this share of itself by a move is added up anew."""


@dataclass(frozen=True, eq=False)
class Groups:
    """A profile's groups and everything that moves are judged by: two factors per row, S, and S's extremes.

    ``positions`` say which occupied cell, ``scales`` which choice; people of one group are interchangeable.
    """

    positions: Ints
    scales: Ints
    people: Ints
    first: Floats
    second: Floats
    sums: Floats

    def row(self, group: int) -> Floats:
        """One group's row over all cells."""
        return np.asarray(np.multiply.outer(self.first[group], self.second[group]).ravel())

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """The largest and the smallest row, cell by cell."""
        largest, smallest = np.zeros(len(self.sums)), np.full(len(self.sums), np.inf)
        for group in range(len(self.people)):
            row = self.row(group)
            np.maximum(largest, row, out=largest)
            np.minimum(smallest, row, out=smallest)
        return largest, smallest

    def at(self, cells: Ints) -> Floats:
        """Every group's row in a few cells."""
        one, two = np.divmod(cells, self.second.shape[1])
        return self.first[:, one] * self.second[:, two]


@dataclass(frozen=True, eq=False)
class JointGame:
    """People in the cells of a joint grid, the kernels on offer and the loss that every person must stay within."""

    histogram: JointHistogram
    kernel: JointKernel
    epsilon: float
    utility: str = "kl"

    def __post_init__(self) -> None:
        check(
            LEAST_EPSILON <= self.epsilon < math.inf,
            "epsilon", f"a finite number of at least {LEAST_EPSILON:g}", self.epsilon,
        )  # fmt: skip
        if self.people < 2:
            raise BadInput(
                f"At least two people are needed, because a loss compares the data with and without a person. "
                f"There {'is' if self.people == 1 else 'are'} {self.people}."
            )
        if self.kernel.shape != self.histogram.grid.shape:
            raise BadInput("The kernels must have as many bins on every axis as the grid.")
        assert self.closeness.name == self.utility  # refuses a name that is none

    @cached_property
    def people(self) -> int:
        """N, the number of players."""
        return self.histogram.people

    @cached_property
    def condition(self) -> Condition:
        """When a person is protected."""
        return Condition(self.epsilon, self.people)

    @cached_property
    def closeness(self) -> JointUtility:
        """The utility's maths."""
        return named_jointly(self.utility, self.histogram.grid.cells)

    @cached_property
    def bins(self) -> Ints:
        """The bin of every occupied cell on every axis."""
        return np.ascontiguousarray(self.histogram.bins)

    @cached_property
    def counts(self) -> Floats:
        """People in the occupied cells."""
        return self.histogram.counts.astype(np.float64)

    @property
    def occupied(self) -> Ints:
        """The rows of a profile: all have people in them."""
        return np.arange(len(self.histogram.cells))

    @property
    def choices(self) -> int:
        """How many scales there are on offer."""
        return len(self.kernel.scales)

    @property
    def tolerance(self) -> float:
        """How much a move must take off N times the divergence to count, as in :attr:`equinoise.Game.tolerance`."""
        return min(1e-12 * self.people, 1e-5) + (1e-15 * self.people if self.closeness.kind == LINEAR else 0.0)

    def check_profile(self, profile: Ints) -> Ints:
        """The profile as an integer table, if it is one of this game's."""
        profile, shape = np.asarray(profile), (len(self.counts), self.choices)
        if profile.shape != shape or not np.issubdtype(profile.dtype, np.integer):
            raise BadInput(f"A profile of this game is a table of {shape[0]} x {shape[1]} whole numbers.")
        if (profile < 0).any() or not np.array_equal(profile.sum(axis=1), self.histogram.counts):
            raise BadInput("A profile must give every person of every cell exactly one scale.")
        return profile.astype(np.int64)

    def largest_scale_profile(self) -> Ints:
        """Everyone at the largest scale: the start that protects everyone, where there is a simple one."""
        profile = np.zeros((len(self.counts), self.choices), dtype=np.int64)
        profile[:, -1] = self.histogram.counts
        return profile

    def groups(self, profile: Ints) -> tuple[Ints, Ints]:
        """The occupied (row of the profile, scale) pairs, cell by cell."""
        positions, scales = np.nonzero(profile)
        return positions, scales

    def state(self, profile: Ints) -> Groups:
        """The groups of a profile, with their rows."""
        positions, scales = self.groups(profile)
        people = profile[positions, scales]
        one, two = self.kernel.factors(scales, self.bins[positions])
        first, second = one.astype(np.float64), two.astype(np.float64)
        sums = (first * people[:, None]).T @ second
        return Groups(positions, scales, people, first, second, sums.ravel())

    def factors(self, profile: Ints) -> tuple[Ints, ...]:
        """The integer rows of every group, axis by axis: what is certified and drawn from."""
        positions, scales = self.groups(profile)
        axes = enumerate(self.kernel.weights)
        return tuple(weights[scales, self.bins[positions, axis]] for axis, weights in axes)

    def sums(self, profile: Ints) -> Floats:
        """S[x] = N q[x] over all cells, in units of 1 / kernel.total."""
        return self.state(profile).sums

    def near(self, sums: Floats) -> Floats:
        """S in the occupied cells, in people."""
        return np.asarray(sums[self.histogram.cells] / self.kernel.total)

    def output(self, profile: Ints) -> Floats:
        """q over all cells: the distribution of one draw."""
        return self.sums(profile) / (float(self.people) * self.kernel.total)

    def divergence(self, profile: Ints) -> float:
        """Of the output from the original, as the utility measures it."""
        return self.closeness.divergence(self.counts, self.near(self.sums(profile)))

    def kl(self, profile: Ints) -> float:
        """KL(p || q), whatever the utility."""
        return named_jointly("kl", self.histogram.grid.cells).divergence(self.counts, self.near(self.sums(profile)))

    def excess(self, sums: Floats) -> float:
        """N (divergence - ceiling): positive where the utility is clamped to zero."""
        return self.people * (self.closeness.divergence(self.counts, self.near(sums)) - self.closeness.ceiling)

    def payoff(self, profile: Ints) -> Payoff:
        """The shared payoff of a profile."""
        state = self.state(profile)
        utility = self.closeness.scaled(self.closeness.divergence(self.counts, self.near(state.sums)))
        return Payoff(self.people - self.unprotected(state), utility)

    def unprotected(self, state: Groups) -> int:
        """People outside the condition: groups are looked at only in cells where the largest or smallest row fails."""
        failing = self._failing(*state.extremes, state.sums)
        return int(state.people[self._outside(state.at(failing), state.sums[failing])].sum())

    def _failing(self, largest: Floats, smallest: Floats, sums: Floats) -> Ints:
        upper, lower = self.condition.upper * sums, self.condition.lower * sums
        return np.flatnonzero((largest > upper) | (smallest < lower))

    def _outside(self, rows: Floats, sums: Floats) -> NDArray[np.bool_]:
        return np.asarray(((rows > self.condition.upper * sums) | (rows < self.condition.lower * sums)).any(axis=1))

    def losses(self, profile: Ints) -> Floats:
        """Loss of one person of each occupied pair, in the order of :meth:`groups`.

        The loss grows with a person's share of a cell, so the largest and the smallest share tell.
        """
        state = self.state(profile)
        reached = state.sums > 0
        found = np.empty(len(state.people))
        for group in range(len(found)):
            share = state.row(group)[reached] / state.sums[reached]
            with np.errstate(divide="ignore"):
                ratios = math.log1p(-1 / self.people) - np.log1p(-np.minimum([share.max(), share.min()], 1.0))
            found[group] = np.abs(ratios).max()
        return found

    def best_response(self, profile: Ints, position: int, scale: int) -> int:
        """The best scale for one person now in (position, scale), everyone else staying; as in the one-axis game."""
        state = self.state(profile)
        return self._response(state, position, scale, self.unprotected(state))

    def is_equilibrium(self, profile: Ints) -> bool:
        """Whether no single person can raise the payoff by changing scale, checked for every occupied pair."""
        state = self.state(self.check_profile(profile))
        unprotected = self.unprotected(state)
        pairs = zip(state.positions.tolist(), state.scales.tolist(), strict=True)
        return all(self._response(state, position, scale, unprotected) == scale for position, scale in pairs)

    def _response(self, state: Groups, position: int, scale: int, unprotected: int) -> int:
        """Staying is the first candidate, then the scales ascending; a later one must beat the best so far, by a
        protected person or by more than the tolerance in utility."""
        best, best_gain = scale, 0.0
        gains = self._gains(state, position, scale)
        for other in range(self.choices):
            gain = gains[other]
            if other == scale or (unprotected == 0 and gain <= best_gain + self.tolerance):
                continue  # nobody is left to protect, and it is no closer
            count = self._unprotected_after(state, position, scale, other)
            if count < unprotected or (count == unprotected and gain > best_gain + self.tolerance):
                best, best_gain, unprotected = other, gain, count
        return best

    def _gains(self, state: Groups, position: int, scale: int) -> list[float]:
        """N times the fall of the divergence for every scale that one person may move to, as the payoff sees it."""
        rows = np.ones((self.choices, len(self.counts)))
        for axis, weights in enumerate(self.kernel.weights):
            rows *= weights[:, self.bins[position, axis]][:, self.bins[:, axis]]
        near, changes = self.near(state.sums), (rows - rows[scale]) / self.kernel.total
        excess = self.excess(state.sums)
        found = []
        for change in changes:
            gain = self.closeness.gain(self.counts, near, change)
            if excess > 0 or gain < excess:
                gain = min(excess, 0.0) - min(excess - gain, 0.0)
            found.append(gain)
        return found

    def _unprotected_after(self, state: Groups, position: int, scale: int, other: int) -> int:
        """People outside the condition once one person of (position, scale) is at ``other``."""
        group = int(np.flatnonzero((state.positions == position) & (state.scales == scale))[0])
        one, two = self.kernel.factors(np.array([other]), self.bins[[position]])
        row = np.multiply.outer(one[0], two[0]).ravel().astype(np.float64)
        people = state.people.copy()
        people[group] -= 1
        sums = state.sums + (row - state.row(group))
        cancelled = np.flatnonzero(sums < CANCELLED * state.sums)
        sums[cancelled] = people @ state.at(cancelled) + row[cancelled]
        largest, smallest = state.extremes
        failing = self._failing(np.maximum(largest, row), np.minimum(smallest, row), sums)
        if len(failing) == 0:
            return 0
        others = int(people[self._outside(state.at(failing), sums[failing])].sum())
        return others + int(self._outside(row[None, failing], sums[failing])[0])
