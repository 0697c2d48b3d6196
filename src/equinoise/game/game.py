"""The game: people choose noise scales and share one payoff, whatever their data is like.

A profile a[i, v] says how many of the people of type i use scale v. People of one type with one scale are
interchangeable, so this table is the whole per-person game, whatever the number of people.

The payoff is the number of people who are protected, plus a utility in [0, 1]: 1 - D(p, q) / ceiling. Protection comes
first: utility can never outweigh one person.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, check
from equinoise.game.condition import Condition
from equinoise.game.kernel import Kernel
from equinoise.game.noise import MOST_WEIGHTS
from equinoise.game.row_store import RowStore, make_store
from equinoise.game.utilities import kl
from equinoise.game.utility import Closeness, closeness, feature_gain
from equinoise.privacy.loss import losses
from equinoise.settings import LEAST_EPSILON

WEIGHTS_AT_ONCE = 2**22
"""Weights of groups that are laid out together."""


class Payoff(NamedTuple):
    """People protected, and the utility between 0 and 1 added to them; compared in that order."""

    protected: int
    utility: float

    @property
    def value(self) -> float:
        """The payoff as one number."""
        return self.protected + self.utility


@dataclass(frozen=True, eq=False)
class Game:
    """Players, the kernels on offer, and the condition that every person must be within."""

    players: Players
    kernel: Kernel
    epsilon: float
    utility: str = "kl"
    delta: float = 0.0
    order: float | None = None

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
        if self.kernel.shape != self.players.grid.shape:
            raise BadInput("The kernels must have as many bins on every axis as the grid.")
        assert self.closeness.name == self.utility  # refuses a name that is none

    @property
    def people(self) -> int:
        """N: people."""
        return self.players.total_people

    @property
    def total_rows(self) -> int:
        """R: the rows of all people."""
        return self.players.total_rows

    @property
    def scales(self) -> int:
        """The number of scales on offer."""
        return len(self.kernel.scales)

    @cached_property
    def store(self) -> RowStore:
        """W: where a person of each type comes out with each scale, types x scales x cells."""
        return make_store(self.players, self.kernel)

    @cached_property
    def condition(self) -> Condition:
        """When a person is protected."""
        return Condition(self.epsilon, self.players.sizes, self.total_rows, self.delta, self.order)

    @cached_property
    def closeness(self) -> Closeness:
        """The divergence that the utility is made of."""
        return closeness(self.utility, self.players.grid)

    @cached_property
    def features(self) -> Floats:
        """What one person of each type with each scale adds to linear features, in rows: types x scales x features."""
        bins = self.players.grid.bins_of(self.players.cells)
        parts = []
        for axis, table in enumerate(self.closeness.features):
            of_bin = self.kernel.weights[axis] @ table.T / self.kernel.totals[axis]
            of_entry = of_bin[:, bins[:, axis]] * self.players.times[None, :, None]
            parts.append(np.add.reduceat(of_entry, self.players.begins[:-1], axis=1).transpose(1, 0, 2))
        return np.ascontiguousarray(np.concatenate([np.zeros((self.players.types, self.scales, 0)), *parts], axis=2))

    @cached_property
    def original_features(self) -> Floats:
        """Linear features of the original distribution, times R: features."""
        bins = self.players.grid.bins_of(self.players.occupied)
        tables = enumerate(self.closeness.features)
        return np.concatenate([np.zeros(0), *(table[:, bins[:, axis]] @ self.players.counts for axis, table in tables)])

    @property
    def tolerance(self) -> float:
        """How much a move must take off R times the divergence to count as an improvement, per person moved.

        That is 1e-12 of the divergence, about the resolution of floating point, but never more than 1e-5: then a whole
        type that moves from one scale to another gains at most 1e-5, by convexity. (Moves in different directions may
        gain more together than alone, as at any equilibrium. Kinked divergences are differences of large sums: 1e-15
        at best.)
        """
        kinks = 1e-15 * self.total_rows if self.closeness.kinked else 0.0
        return min(1e-12 * self.total_rows, 1e-5) + kinks

    def check_profile(self, profile: Ints) -> Ints:
        """The profile as an integer table, if it is one of this game's."""
        return self.players.check_profile(profile, self.scales)

    def largest_scale_profile(self) -> Ints:
        """Everyone at the largest scale: the start that protects everyone, where there is a simple one."""
        return self.profile_of(np.full(self.players.types, self.scales - 1))

    def profile_of(self, scales: Ints) -> Ints:
        """Everyone of a type at the same scale."""
        profile = np.zeros((self.players.types, self.scales), dtype=np.int64)
        profile[np.arange(self.players.types), scales] = self.players.people
        return profile

    def groups(self, profile: Ints) -> tuple[Ints, Ints]:
        """The types and scales of the groups of a profile, type by type: people with both alike."""
        types, scales = np.nonzero(profile)
        return types, scales

    def sums(self, profile: Ints) -> Floats:
        """S[x] = R q[x] over all cells, in units of 1 / kernel.total."""
        types, scales = self.groups(profile)
        return self.store.sums(types, scales, profile[types, scales])

    def near(self, sums: Floats) -> Floats:
        """S in the occupied cells, in rows: occupied."""
        return np.asarray(sums[self.players.occupied] / self.kernel.total)

    def output(self, profile: Ints) -> Floats:
        """q: the distribution of one draw, over all cells."""
        return self.sums(profile) / (float(self.total_rows) * self.kernel.total)

    def gaps(self, profile: Ints) -> Floats:
        """Linear features of the original less those of the output, times R: features."""
        reached = np.einsum("iv,ivf->f", profile.astype(np.float64), self.features)
        return np.asarray(self.original_features - reached)

    def divergence(self, profile: Ints, sums: Floats | None = None) -> float:
        """D(p, q) of the original and the output, in the utility's unit; S may be known."""
        if self.closeness.curve is None:
            return float(np.abs(self.gaps(profile)).sum()) / self.total_rows
        near = self.near(self.sums(profile) if sums is None else sums)
        return self.closeness.curve.divergence(self.players.counts, near)

    def kl(self, profile: Ints) -> float:
        """KL(p || q), whatever the utility."""
        return kl.divergence(self.players.counts, self.near(self.sums(profile)))

    def excess(self, profile: Ints, sums: Floats | None = None) -> float:
        """R (divergence - ceiling): positive where the utility is clamped to zero."""
        return self.total_rows * (self.divergence(profile, sums) - self.closeness.ceiling)

    def payoff(self, profile: Ints, sums: Floats | None = None) -> Payoff:
        """The shared payoff of a profile; S may be known."""
        sums = self.sums(profile) if sums is None else sums
        utility = self.closeness.utility(self.divergence(profile, sums))
        return Payoff(self.people - self.unprotected(profile, sums), utility)

    def unprotected(self, profile: Ints, sums: Floats | None = None) -> int:
        """The number of people outside the condition."""
        types, scales = self.groups(profile)
        outside = self.outside(types, scales, self.sums(profile) if sums is None else sums)
        return int(profile[types, scales][outside].sum())

    def outside(self, types: Ints, scales: Ints, sums: Floats) -> NDArray[np.bool_]:
        """Whether each of these groups is outside the condition, if S is this: groups."""
        blocks = [self.condition.outside(self.store.some(i, v), sums, i) for i, v in self._blocks(types, scales)]
        return np.concatenate([np.zeros(0, dtype=bool), *blocks])

    def losses(self, profile: Ints) -> Floats:
        """Loss of one person of each group, in nats, in the order of :meth:`groups`."""
        sums = self.sums(profile)
        blocks = self._blocks(*self.groups(profile))
        found = [losses(self.store.some(i, v), sums, self.total_rows, self.players.sizes[i]) for i, v in blocks]
        return np.concatenate([np.zeros(0), *found])

    def _blocks(self, types: Ints, scales: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Groups, as many at a time as should be laid out together."""
        size = max(1, WEIGHTS_AT_ONCE // self.players.grid.cells)
        return ((types[k : k + size], scales[k : k + size]) for k in range(0, len(types), size))

    def stacked_weights(self, types: Ints, scales: Ints) -> Floats:
        """W of these groups, groups x cells, for what needs them all at once; refused if that is too much."""
        many = len(types) * self.players.grid.cells
        if many > MOST_WEIGHTS:
            raise BadInput(
                f"This needs {len(types):,} groups x {self.players.grid.cells:,} cells = {many:,} weights at once, and "
                f"{MOST_WEIGHTS:,} are possible. Use fewer bins or scales."
            )
        return self.store.some(types, scales)

    def gains(self, profile: Ints, sums: Floats, i: int, old: int) -> Floats:
        """R times the fall of the divergence, as the clamped utility sees it, when one person of type i goes from one
        scale to each: scales."""
        curve = self.closeness.curve
        if curve is None:
            gaps, steps = self.gaps(profile), self.features[i] - self.features[i, old]
            falls = np.array([feature_gain(gaps, step) for step in steps])
        else:
            weights, near = self.store.near_weights(i), self.near(sums)
            changes = (weights - weights[old]) / self.kernel.total
            falls = np.array([curve.gain(self.players.counts, near, change) for change in changes])
        excess = self.excess(profile, sums)
        clamped = min(excess, 0.0) - np.minimum(excess - falls, 0.0)
        return np.where((excess > 0) | (falls < excess), clamped, falls)
