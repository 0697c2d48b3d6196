"""The game of people with several rows: a person's kernel row is the sum of theirs, and a loss removes them all.

A profile a[b, v] says how many of the people with bag b use scale v, for all of their rows. With R rows in all, a
person with m rows and the summed row W is compared as S/R against (S - W)/(R - m). Protection counts people, closeness
rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equinoise.draws import MOST
from equinoise.equilibrium import ROUNDING, Outermost
from equinoise.errors import BadInput, check
from equinoise.game import Payoff, check_players, checked, everyone_at_largest
from equinoise.grid import Floats, Ints
from equinoise.metrics import kl
from equinoise.noise import Kernel
from equinoise.privacy import Condition, losses
from equinoise.units import UnitHistogram
from equinoise.utility import Utility, named

MOST_WEIGHTS = 2**26
"""Weights of all bags and scales: half a gigabyte."""


@dataclass(frozen=True, eq=False)
class UnitGame:
    """People by their bags, the kernels on offer and the loss that every person must stay within."""

    histogram: UnitHistogram
    kernel: Kernel
    epsilon: float
    utility: str = "kl"

    def __post_init__(self) -> None:
        check_players(self.epsilon, self.people)
        most = int(self.histogram.sizes.max())
        if most * self.kernel.total > MOST:
            raise BadInput(
                f"Someone has {most:,} rows, too many to draw from exactly. Keep one row of each person with "
                "--unit-rows one (in Python, unit_rows='one')."
            )
        check(self.utility == "kl", "utility", "'kl' where people have several rows", self.utility)
        needed = len(self.histogram.bags) * len(self.kernel.scales) * self.histogram.grid.cells
        if needed > MOST_WEIGHTS:
            raise BadInput(
                f"The rows of people fall in {len(self.histogram.bags):,} different bags of cells, too many to play "
                "with. Use fewer bins, or keep one row of each person with --unit-rows one (in Python, "
                "unit_rows='one')."
            )

    @cached_property
    def people(self) -> int:
        """N, the number of players."""
        return self.histogram.people

    @cached_property
    def total_rows(self) -> int:
        """R, the rows of all of them."""
        return self.histogram.total_rows

    @cached_property
    def closeness(self) -> Utility:
        """The utility's maths."""
        return named(self.utility, self.histogram.grid.cells)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """The largest and the smallest share of a cell that may be one person's, for every bag."""
        conditions = {m: Condition(self.epsilon, self.total_rows, rows=m) for m in set(self.histogram.sizes.tolist())}
        upper = [conditions[m].upper for m in self.histogram.sizes.tolist()]
        lower = [conditions[m].lower for m in self.histogram.sizes.tolist()]
        return np.array(upper), np.array(lower)

    @cached_property
    def rows(self) -> Floats:
        """Kernel rows added up: bags x scales x cells. Rounded, if someone has millions of rows: the game bears it."""
        table = self.histogram.table
        return np.stack([table @ weights.astype(np.float64) for weights in self.kernel.weights], axis=1)

    @cached_property
    def counts(self) -> Floats:
        """Rows per cell: the original."""
        return self.histogram.by_row.counts.astype(np.float64)

    @property
    def occupied(self) -> Ints:
        """The rows of a profile: all have people in them."""
        return np.arange(len(self.histogram.bags))

    @property
    def tolerance(self) -> float:
        """How much a move must take off R times the divergence to count, as in :attr:`equinoise.Game.tolerance`."""
        return min(1e-12 * self.total_rows, 1e-5)

    def check_profile(self, profile: Ints) -> Ints:
        """The profile as an integer table, if it is one of this game's."""
        return checked(profile, self.histogram.counts, len(self.kernel.scales), "bag")

    def largest_scale_profile(self) -> Ints:
        """Everyone at the largest scale: the start that protects everyone, where there is a simple one."""
        return everyone_at_largest(self.histogram.counts, len(self.kernel.scales))

    def groups(self, profile: Ints) -> tuple[Ints, Ints]:
        """The occupied (bag, scale) pairs, bag by bag."""
        bags, scales = np.nonzero(profile)
        return bags, scales

    def weights(self, profile: Ints) -> Ints:
        """The whole numbers of every occupied pair, a person's rows added up, in the order of :meth:`groups`."""
        bags, scales = self.groups(profile)
        table, found = self.histogram.table.astype(np.int64), np.empty((len(bags), self.rows.shape[2]), dtype=np.int64)
        for scale in np.unique(scales).tolist():
            here = scales == scale
            found[here] = table[bags[here]] @ self.kernel.weights[scale].astype(np.int64)
        return found

    def sums(self, profile: Ints) -> Floats:
        """S[x] = R q[x], in units of 1 / kernel.total."""
        bags, scales = self.groups(profile)
        return np.asarray(profile[bags, scales].astype(np.float64) @ self.rows[bags, scales])

    def output(self, profile: Ints) -> Floats:
        """q: the distribution of one draw."""
        return self.sums(profile) / (float(self.total_rows) * self.kernel.total)

    def kl(self, profile: Ints) -> float:
        """KL(p || q)."""
        return kl(self.counts / self.total_rows, self.output(profile))

    def divergence(self, profile: Ints) -> float:
        """The same: other utilities are refused."""
        return self.kl(profile)

    def excess(self, sums: Floats) -> float:
        """R (divergence - ceiling): positive where the utility is clamped to zero."""
        q = sums / (float(self.total_rows) * self.kernel.total)
        return self.total_rows * (kl(self.counts / self.total_rows, q) - self.closeness.ceiling)

    def payoff(self, profile: Ints) -> Payoff:
        """The shared payoff of a profile."""
        outside = self.outside(profile, self.sums(profile))
        return Payoff(self.people - outside, float(self.closeness.scaled(self.divergence(profile))))

    def outside(self, profile: Ints, sums: Floats) -> int:
        """People outside the condition, for a profile and its sums."""
        bags, scales = self.groups(profile)
        return int(profile[bags, scales][self.exposed(bags, self.rows[bags, scales], sums)].sum())

    def exposed(self, bags: Ints, rows: Floats, sums: Floats) -> NDArray[np.bool_]:
        """Which of these rows, of people with these bags, are not protected."""
        upper, lower = (limit[bags][:, None] for limit in self.limits)
        return np.asarray(((rows > upper * sums) | (rows < lower * sums)).any(axis=1))

    def losses(self, profile: Ints) -> Floats:
        """Loss of one person of each occupied pair, in the order of :meth:`groups`."""
        bags, scales = self.groups(profile)
        return losses(self.rows[bags, scales], self.sums(profile), self.total_rows, self.histogram.sizes[bags])

    def gains(self, sums: Floats, bag: int, scale: int) -> Floats:
        """R times the fall of the divergence for every scale that one person may move to, as the payoff sees it."""
        seen = self.counts > 0
        change = (self.rows[bag] - self.rows[bag, scale])[:, seen]
        with np.errstate(divide="ignore"):
            gains = np.log1p(change / sums[seen]) @ self.counts[seen]
        excess = self.excess(sums)
        return np.asarray(np.minimum(excess, 0.0) - np.minimum(excess - gains, 0.0))

    def best_response(self, profile: Ints, bag: int, scale: int) -> int:
        """The best scale for one person now in (bag, scale), everyone else staying; as in the one-row game."""
        sums = self.sums(profile)
        gains, unprotected = self.gains(sums, bag, scale), self.outside(profile, sums)
        best, best_gain = scale, 0.0
        for other in range(len(gains)):
            if other == scale:
                continue
            moved = profile.copy()
            moved[bag, scale] -= 1
            moved[bag, other] += 1
            count = self.outside(moved, sums + self.rows[bag, other] - self.rows[bag, scale])
            if count < unprotected or (count == unprotected and gains[other] > best_gain + self.tolerance):
                best, best_gain, unprotected = other, float(gains[other]), count
        return best

    def is_equilibrium(self, profile: Ints) -> bool:
        """Whether no single person can raise the payoff by changing scale, checked for every occupied pair.

        While everyone is protected, the largest rows by every bag's limit, and one by one the few people who must not
        have too small a share, decide whether a move keeps it so.
        """
        profile = self.check_profile(profile)
        sums = self.sums(profile)
        bags, scales = self.groups(profile)
        if self.outside(profile, sums) > 0:
            pairs = zip(bags.tolist(), scales.tolist(), strict=True)
            return all(self.best_response(profile, bag, scale) == scale for bag, scale in pairs)
        upper, lower = self.limits
        outermost = Outermost(self.rows[bags, scales] / upper[bags][:, None])
        watched = np.flatnonzero(lower[bags] > 0)
        for group, (bag, scale) in enumerate(zip(bags.tolist(), scales.tolist(), strict=True)):
            leaving = bool(profile[bag, scale] == 1)
            for other in np.flatnonzero(self.gains(sums, bag, scale) > self.tolerance).tolist():
                row = self.rows[bag, other]
                then = sums + row - self.rows[bag, scale]
                if (outermost.with_row(row / upper[bag], group, leaving) * (1 - ROUNDING) > then).any():
                    continue
                left = watched[(watched != group) | (not leaving)]
                small = (self.rows[bags[left], scales[left]] < lower[bags[left]][:, None] * then).any()
                if not small and not (row < lower[bag] * then).any() and self._keeps(profile, then, bag, scale, other):
                    return False
        return True

    def _keeps(self, profile: Ints, then: Floats, bag: int, scale: int, other: int) -> bool:
        """Whether everyone is protected after a move, without short cuts."""
        moved = profile.copy()
        moved[bag, scale] -= 1
        moved[bag, other] += 1
        return self.outside(moved, then) == 0
