"""A person's privacy loss, and the condition that it stays within epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equinoise.grid import Floats

MARGIN = 2.0**-40
"""How much stricter than needed the game's floating-point condition is, so that rounding in the solver can
never let through what the exact certificate would refuse."""

LEAST_EPSILON = 1e-9
"""Below this the margin would be larger than what is asked."""

EPSILON_CAP = 64.0
"""A loss within 64 is within any larger epsilon; e^64 keeps every number in range."""


@dataclass(frozen=True)
class PureCondition:
    """A person with kernel row W is within epsilon when lower * S <= W <= upper * S in every cell.

    S is everyone's rows added up, N the number of people, E = e^epsilon. Removing the person turns S/N into
    (S - W)/(N - 1), so the two directions of the ratio are

        N E (S - W) >= (N - 1) S   <=>   W <= upper S,  upper = 1 - (N - 1)/(N E)
        E (N - 1) S >= N (S - W)   <=>   W >= lower S,  lower = 1 - E (N - 1)/N, if that is positive.
    """

    epsilon: float
    people: int

    @property
    def upper(self) -> float:
        """The largest share of a cell's mass that may be one person's, a little tightened."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        return (self.people * growth + 1) / (self.people * (growth + 1)) * (1 - MARGIN)

    @property
    def lower(self) -> float:
        """The smallest share, a little tightened; zero when e^epsilon is clearly above N/(N-1)."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        return max(0.0, 1 - (self.people - 1) * growth + MARGIN) / self.people


def losses(rows: Floats, sums: Floats, people: int) -> Floats:
    """Loss of one person with each kernel row: max over x of abs ln( (S/N) / ((S - W)/(N - 1)) ).

    Infinite where only that person can come out (S = W > 0); a cell that nobody reaches costs nothing.
    """
    share = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    with np.errstate(divide="ignore"):
        ratios = np.log1p(-1 / people) - np.log1p(-np.minimum(share, 1.0))
    ratios[:, sums <= 0] = 0.0
    return np.asarray(np.abs(ratios).max(axis=1))
