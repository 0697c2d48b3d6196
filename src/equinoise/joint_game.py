"""The game on several columns together: the same payoff, for people in the occupied cells of a product grid.

A profile a[i, v] says how many of the people in the i-th occupied cell use choice v of the scales on offer. A person's
row over all cells is the outer product of two short factors, so nothing here is cells x cells: the rows of everyone are
walked through one group at a time, and closeness needs the occupied cells alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equinoise.errors import BadInput
from equinoise.game import Payoff, check_players, checked, everyone_at_largest
from equinoise.grid import Floats, Ints, JointHistogram
from equinoise.joint_groups import Exposed, Groups, laid_out
from equinoise.joint_noise import JointKernel
from equinoise.joint_responses import response
from equinoise.joint_utility import JointUtility, named_jointly
from equinoise.privacy import Condition
from equinoise.utility import LINEAR


@dataclass(frozen=True, eq=False)
class JointGame:
    """People in the cells of a joint grid, the kernels on offer and the loss that every person must stay within."""

    histogram: JointHistogram
    kernel: JointKernel
    epsilon: float
    utility: str = "kl"

    def __post_init__(self) -> None:
        check_players(self.epsilon, self.people)
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
        return checked(profile, self.histogram.counts, self.choices, "cell")

    def largest_scale_profile(self) -> Ints:
        """Everyone at the largest scale: the start that protects everyone, where there is a simple one."""
        return everyone_at_largest(self.histogram.counts, self.choices)

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
        """People outside the condition."""
        return int(state.people[self.exposed(state).groups].sum())

    def exposed(self, state: Groups) -> Exposed:
        """The groups outside the condition: looked for only in cells where the largest or smallest row fails."""
        cells, rows = np.full(len(state.people), -1), np.zeros(len(state.people))
        for block in state.blocks(self.failing(*state.extremes, state.sums)):
            here, sums = state.at(block), state.sums[block]
            beyond = np.maximum(here - self.condition.upper * sums, self.condition.lower * sums - here)
            worst = beyond.argmax(axis=1)
            found = np.flatnonzero((cells < 0) & (beyond.max(axis=1) > 0))
            cells[found], rows[found] = block[worst[found]], here[found, worst[found]]
        groups = np.flatnonzero(cells >= 0)
        return Exposed(groups, cells[groups], rows[groups])

    def failing(self, largest: Floats, smallest: Floats, sums: Floats) -> Ints:
        """The cells in which these rows are not all within the condition."""
        upper, lower = self.condition.upper * sums, self.condition.lower * sums
        return np.flatnonzero((largest > upper) | (smallest < lower))

    def outside(self, rows: Floats, sums: Floats) -> NDArray[np.bool_]:
        """Which of these rows are not, in any of these cells."""
        return np.asarray(((rows > self.condition.upper * sums) | (rows < self.condition.lower * sums)).any(axis=1))

    def losses(self, profile: Ints) -> Floats:
        """Loss of one person of each occupied pair, in the order of :meth:`groups`.

        The loss grows with a person's share of a cell, so the largest and the smallest share tell.
        """
        return self.state(profile).losses()

    def weights(self, profile: Ints) -> Ints:
        """Every group's row laid out over all cells, for what needs them so; refused if that is too much."""
        return laid_out(self.factors(profile))

    def best_response(self, profile: Ints, position: int, scale: int) -> int:
        """The best scale for one person now in (position, scale), everyone else staying; as in the one-axis game."""
        state = self.state(profile)
        return response(self, state, self.exposed(state), position, scale)

    def is_equilibrium(self, profile: Ints) -> bool:
        """Whether no single person can raise the payoff by changing scale, checked for every occupied pair."""
        state = self.state(self.check_profile(profile))
        exposed = self.exposed(state)
        pairs = zip(state.positions.tolist(), state.scales.tolist(), strict=True)
        return all(response(self, state, exposed, position, scale) == scale for position, scale in pairs)
