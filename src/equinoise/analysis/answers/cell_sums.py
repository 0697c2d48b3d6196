"""What sums of noisy counts tell of their people: the sum, and the cumulants of its noise.

No cell has fewer than 0 people. So all noisy counts z <= 0 say the same about the people n >= 0 in it: their
probabilities are e^(-n/scale) times something without n. Their mean, given that z is at most 0, may therefore stand
for them (Rao and Blackwell): with a = e^(-1/scale),

    y = z where z > 0, else -a/(1 - a)

has the mean n for every n from 0 on, as z has, and less variance: in empty cells about a quarter less. What is lost
is the variance a/(1 - a)^2 of a geometric law, half that of the noise, wherever z <= 0. So the variance of y is
estimated without bias by that of the noise where z > 0, and by half of it elsewhere. The third cumulant and the
covariance of y with the estimated variance follow in the same way, taken at n = 0 where z <= 0; the fourth is that of
the noise where z > 0 and 0 elsewhere, which is a little too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.synthesis.noisy_counts import NoiseLaw


@dataclass(frozen=True, eq=False)
class CellSums:
    """By bin: people as estimated without bias, and the variance, third and fourth cumulant of the noise in that and
    its covariance with the estimated variance (people to the power of 1, 2, 3, 4 and 3)."""

    people: Floats
    variance: Floats
    third: Floats
    fourth: Floats
    covariance: Floats

    @property
    def total(self) -> float:
        """People in all bins."""
        return float(self.people.sum())

    def running(self) -> CellSums:
        """Everything summed up to every bin, from nothing to all: one more than bins."""
        return CellSums(*(np.concatenate([[0.0], np.cumsum(part)]) for part in vars(self).values()))

    def of(self, chosen: object) -> CellSums:
        """Some of the bins, by an index of numpy's."""
        return CellSums(*(part[chosen] for part in vars(self).values()))


def cell_sums(noisy: Ints, law: NoiseLaw) -> CellSums:
    """The sums over the last axis of noisy counts."""
    odds = math.exp(-1 / law.scale) / -math.expm1(-1 / law.scale)  # a / (1 - a)
    above = noisy > 0
    cells = noisy.shape[-1]
    many = above.sum(axis=-1).astype(np.float64)
    few = cells - many
    square = odds * odds + odds  # a / (1 - a)^2
    return CellSums(
        people=np.where(above, noisy, 0).sum(axis=-1).astype(np.float64) - few * odds,
        variance=square * (2 * many + few),
        third=few * square * (1 + 5 * odds),  # a (1 + 4 a) / (1 - a)^3
        fourth=many * 2 * square * (1 + 6 * square),  # a (1 + 4 a + a^2) / (1 - a)^4, twice
        covariance=few * square * odds,
    )
