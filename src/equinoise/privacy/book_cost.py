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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

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


def totals(costs: Sequence[Cost], delta: float) -> list[Total]:
    """What mechanisms cost together by every way that stays within a book's ``delta``; the least epsilon first."""
    found = []
    epsilon = sum((as_written(cost.epsilon) for cost in costs), Fraction(0))
    deltas = sum((as_written(cost.delta) for cost in costs), Fraction(0))
    if 2 * deltas <= as_written(delta):
        found.append(Total(_rounded_up(epsilon), _rounded_up(deltas), ADDING_UP))
    if delta / 2 > 0 and costs and all(cost.rho is not None for cost in costs):
        rho = math.fsum(cost.rho for cost in costs if cost.rho is not None) * (1 + SUM_MARGIN)
        found.append(Total(_of_zcdp(rho, delta / 2), delta / 2, ZCDP))
    return sorted(found, key=lambda total: total.epsilon)


def within(costs: Sequence[Cost], epsilon: float, delta: float) -> bool:
    """Whether mechanisms together stay within a book's limit."""
    return any(as_written(total.epsilon) <= as_written(epsilon) for total in totals(costs, delta))


def as_written(value: float) -> Fraction:
    """The decimal that a float was written as, and is shown as: ten times 0.1 is 1."""
    return Fraction(repr(float(value)))


def epsilon_left(costs: Sequence[Cost], epsilon: float, delta: float) -> float:
    """The largest pure epsilon that one more mechanism may cost, rounded down; 0 if none."""
    low, high = 0.0, epsilon
    if within([*costs, Cost.pure(high)], epsilon, delta):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within([*costs, Cost.pure(middle)], epsilon, delta) else (low, middle)
    exact = as_written(epsilon) - sum((as_written(cost.epsilon) for cost in costs), Fraction(0))
    added = float(exact) if exact > 0 else 0.0
    return added if added > low and within([*costs, Cost.pure(added)], epsilon, delta) else low


def _rounded_up(exact: Fraction) -> float:
    found = float(exact)
    return found if as_written(found) >= exact else math.nextafter(found, math.inf)


def _of_zcdp(rho: float, delta: float) -> float:
    rest = (-math.log(delta) + (ORDERS - 1) * np.log1p(-1 / ORDERS) - np.log(ORDERS)) / (ORDERS - 1)
    return max(float((ORDERS * rho + rest).min()), 0.0) * (1 + SUM_MARGIN) + SUM_MARGIN
