"""What all mechanisms in a book cost together, in epsilon and delta, rounded outwards.

Two ways, of which either may be enough, for mechanisms and costs that are chosen one after the other, each after what
came out before:

- adding up: epsilons and deltas, as the decimals that they were written as, in fractions, with deltas within half of
  the book's;
- zCDP, where every mechanism has it: their rho add up, and a total of rho gives for every order a > 1, with half of the
  book's delta d,

      epsilon = a rho + (ln(2/d) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1).

A book that goes on while one of the two holds is (epsilon, delta)-differentially private. What came out tells which of
the two held at its end. On the outcomes where the first did, probabilities are those of a book that stops as soon as it
does not, which exceeds e^epsilon times the neighbour's by at most half of delta; on the others likewise for the second.
Outcomes are one or the other, so the two halves add up. A pure epsilon is epsilon^2/2-zCDP (Bun, Steinke 2016); costs
chosen on the way are bounded by such filters (Rogers, Roth, Ullman, Vadhan 2016; Feldman, Zrnic 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equinoise.privacy.accounting import SUM_MARGIN

ORDERS = 1 + np.geomspace(1e-4, 1e8, 20_001)


@dataclass(frozen=True)
class Cost:
    """What one mechanism costs: ``epsilon`` and ``delta`` of everything that comes out of it, and ``rho``, where it is
    rho-zCDP."""

    epsilon: float
    delta: float = 0.0
    rho: float | None = None

    @classmethod
    def pure(cls, epsilon: float) -> Cost:
        """Of a pure epsilon, with the rho that follows from it."""
        return cls(epsilon, 0.0, epsilon**2 / 2 * (1 + SUM_MARGIN))


@dataclass(frozen=True)
class Total:
    """An upper bound of what several mechanisms cost together: ``how`` it was worked out."""

    epsilon: float
    delta: float
    how: str


ADDING_UP, ZCDP = "adding up", "zCDP"


@dataclass(frozen=True)
class Spending:
    """Exact sums over some mechanisms: ``epsilon`` and ``delta`` of the decimals as written, ``rho`` of the floats,
    and how many ``mechanisms`` there are, and are ``without_rho``.

    Sums of fractions have no order and no error, so that one cost may be added or taken away, however many there are.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    mechanisms: int = 0
    without_rho: int = 0

    @classmethod
    def of(cls, costs: Iterable[Cost]) -> Spending:
        """The sums over mechanisms, from the first to the last."""
        found = cls()
        for cost in costs:
            found = found.plus(cost)
        return found

    def plus(self, cost: Cost) -> Spending:
        """The sums with one mechanism more."""
        return self._with(cost, 1)

    def minus(self, cost: Cost) -> Spending:
        """The sums without one of the mechanisms."""
        return self._with(cost, -1)

    def _with(self, cost: Cost, sign: int) -> Spending:
        return Spending(
            self.epsilon + sign * as_written(cost.epsilon),
            self.delta + sign * as_written(cost.delta),
            self.rho + sign * Fraction(cost.rho or 0.0),
            self.mechanisms + sign,
            self.without_rho + sign * (cost.rho is None),
        )

    def totals(self, delta: float) -> list[Total]:
        """What the mechanisms cost together by every way that stays within a book's ``delta``; the least first."""
        return sorted(self._totals(delta), key=lambda total: total.epsilon)

    def within(self, epsilon: float, delta: float) -> bool:
        """Whether the mechanisms together stay within a book's limit."""
        return any(as_written(total.epsilon) <= as_written(epsilon) for total in self._totals(delta))

    def epsilon_left(self, epsilon: float, delta: float) -> float:
        """The largest pure epsilon that one more mechanism may cost, rounded down; 0 if none."""

        def fits(more: float) -> bool:
            return self.plus(Cost.pure(more)).within(epsilon, delta)

        low, high = 0.0, epsilon
        if fits(high):
            return high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        added = max(float(as_written(epsilon) - self.epsilon), 0.0)
        return added if added > low and fits(added) else low

    def _totals(self, delta: float) -> Iterator[Total]:
        if 2 * self.delta <= as_written(delta):
            yield Total(_rounded_up(self.epsilon), _rounded_up(self.delta), ADDING_UP)
        if delta / 2 > 0 and self.mechanisms and not self.without_rho:
            yield Total(_of_zcdp(float(self.rho) * (1 + SUM_MARGIN), delta / 2), delta / 2, ZCDP)


def as_written(value: float) -> Fraction:
    """The decimal that a float was written as, and is shown as: ten times 0.1 is 1."""
    return Fraction(repr(float(value)))


def _rounded_up(exact: Fraction) -> float:
    found = float(exact)
    return found if as_written(found) >= exact else math.nextafter(found, math.inf)


def _of_zcdp(rho: float, delta: float) -> float:
    return max(float((ORDERS * rho + _rest(delta)).min()), 0.0) * (1 + SUM_MARGIN) + SUM_MARGIN


@lru_cache(maxsize=8)
def _rest(delta: float) -> NDArray[np.float64]:
    """What an order adds to epsilon besides rho, for every order."""
    return np.asarray((-math.log(delta) + (ORDERS - 1) * np.log1p(-1 / ORDERS) - np.log(ORDERS)) / (ORDERS - 1))
