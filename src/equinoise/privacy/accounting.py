"""What many draws cost together: each person's own loss distribution, composed.

With a person, a draw comes from p = S/N; without them, the others' noise as it is, from q = (S - W)/(N - 1). D draws
are D independent ones from the one or from the other, so what D draws cost that person is the D-fold composition of
this one pair, in both directions: no worst case over other people or datasets. A group (one row of integers) shares it.

Floating point, with losses rounded against us and what else it gets wrong bounded and added (see
:mod:`equinoise.privacy.composition`): an upper bound, but no certificate in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Floats, Ints
from equinoise.privacy.bounded_range import composed_cost, composed_epsilon
from equinoise.privacy.composition import ERROR, MOST_POINTS, ORDERS, composed, log_sum
from equinoise.privacy.loss import losses

GRID_ROUNDING = 0.01
"""What rounding the losses to a grid may add, as a share."""

SUM_MARGIN = 1e-9
"""More than floating point gets sums of losses wrong, relatively."""

FINEST = 2**-22
"""Steps of a grid of losses are never smaller, as a share of their range: beyond that, memory decides."""


@dataclass(frozen=True)
class Budget:
    """What all draws together may cost: their loss is within epsilon, except with probability delta."""

    epsilon: float
    delta: float


@dataclass(frozen=True, eq=False)
class Accountant:
    """The loss distributions of all groups of a mechanism: how many people each has, and their row of integers.

    With ``sizes``, a person of a group has so many rows, whose integers are added up; N counts rows, and all of a
    person's are removed.
    """

    people: Ints
    weights: Ints
    sizes: Ints | None = None

    @cached_property
    def total(self) -> int:
        """How many people there are."""
        return int(self.people.sum()) if self.sizes is None else int(self.people @ self.sizes)

    @cached_property
    def row(self) -> int:
        """What the integers of one row sum to."""
        return int(self.weights[0].sum()) // (1 if self.sizes is None else int(self.sizes[0]))

    @cached_property
    def whole_sums(self) -> NDArray[Any]:
        """S, in units of the weights, in whole numbers: what is left without a person may be far less than S."""
        if self.total * self.row < 2**63:
            return np.asarray(self.people @ self.weights)
        each = zip(self.people.tolist(), self.weights, strict=True)
        return np.asarray(sum(n * row.astype(object) for n, row in each))

    @cached_property
    def sums(self) -> Floats:
        """S, in units of the weights, in floating point."""
        return self.whole_sums.astype(np.float64)

    @cached_property
    def losses(self) -> Floats:
        """Of one draw, for each group: by shares, which small losses need, or by what is left, which large ones do."""
        p, q = self.with_and_without
        by_shares = losses(self.weights.astype(np.float64), self.sums, self.total, self.sizes)
        return np.asarray(np.maximum(by_shares, np.abs(p - q).max(axis=1)))

    @cached_property
    def _worst(self) -> dict[tuple[int, float], float]:
        return {}

    @cached_property
    def with_and_without(self) -> tuple[Floats, Floats]:
        """ln p, and ln q for each group, in the cells that anyone reaches."""
        reached = self.sums > 0
        sums = self.whole_sums[reached]
        left = np.stack([(sums - row[reached]).astype(np.float64) for row in self.weights])
        with np.errstate(divide="ignore"):
            rest = np.log(left)
        sizes = np.ones(len(self.people), dtype=np.int64) if self.sizes is None else self.sizes
        people = np.log((self.total - sizes) * float(self.row))
        return np.log(self.sums[reached]) - math.log(self.total * self.row), rest - people[:, None]

    @cached_property
    def _renyi(self) -> Floats:
        """The larger of the two Renyi divergences of every order (columns), for each group."""
        p, q = self.with_and_without
        found = np.empty((len(q), len(ORDERS)))
        with np.errstate(over="ignore", invalid="ignore"):
            for column, order in enumerate(ORDERS.tolist()):
                forth = log_sum(order * p + (1 - order) * q) / (order - 1)
                back = log_sum(order * q + (1 - order) * p) / (order - 1)
                found[:, column] = np.maximum(forth, back)
        return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))

    def bounds(self, draws: int, delta: float) -> Floats:
        """An epsilon for each group that ``draws`` draws are within, except with probability delta: quick, not tight.

        The better of adding up the worst losses and of Renyi divergences, which add up: an order a and a divergence r
        give epsilon = r + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1).
        """
        if draws == 0:
            return np.zeros(len(self.people))
        basic = draws * self.losses * (1 + SUM_MARGIN)
        if delta <= 0:
            return basic
        each = self._renyi * (1 + SUM_MARGIN) + ERROR * ORDERS / (ORDERS - 1)
        renyi = (draws * each + _rest(ORDERS, delta)).min(axis=1)
        return np.asarray(np.minimum(basic, np.maximum(renyi, 0.0)))

    def tight(self, group: int, draws: int, delta: float, enough: float = 0.0) -> float:
        """An epsilon for one group, by composing its loss distribution; rounding adds at most a hundredth.

        Rounding up adds at most a step a draw. The grid is refined until that is little beside the figure, or until it
        is clear that the figure is no more than ``enough``.
        """
        quick = float(self.bounds(draws, delta)[group])
        if delta <= 0 or quick == 0:
            return quick
        p, q = self.with_and_without
        ratios = np.abs(p - q[group])
        spread = float(ratios[np.isfinite(ratios)].max())
        finest = max(FINEST * spread, ERROR)
        fine = max(GRID_ROUNDING * min(quick, draws * spread) / draws, finest)
        if draws * spread > MOST_POINTS * fine:
            return quick
        step, above = 16 * fine if enough > 0 else fine, quick
        while True:
            above = min(above, composed(p, q[group], draws, delta, step))
            if above <= enough or step <= finest or draws * spread > MOST_POINTS * step:
                return above
            if draws * step <= GRID_ROUNDING * (above - draws * step):
                return above
            step /= 4

    def worst(self, draws: int, delta: float) -> float:
        """The largest epsilon of any group: only groups whose quick bound could be it are composed."""
        if (draws, delta) not in self._worst:
            quick = self.bounds(draws, delta)
            found = 0.0
            for group in np.argsort(-quick, kind="stable").tolist():
                if quick[group] <= found:
                    break
                found = max(found, self.tight(group, draws, delta, enough=found))
            self._worst[draws, delta] = found
        return self._worst[draws, delta]

    def within(self, epsilon: float, draws: int, delta: float) -> bool:
        """Whether every group stays within epsilon."""
        quick = self.bounds(draws, delta)
        doubtful = np.argsort(-quick, kind="stable")[: int(np.count_nonzero(quick > epsilon))]
        return all(self.tight(group, draws, delta, enough=epsilon) <= epsilon for group in doubtful.tolist())

    def within_budget(self, budget: Budget, draws: int) -> bool:
        """Whether all draws together cost nobody more than the budget."""
        return self.within(budget.epsilon, draws, budget.delta)


def bounded_range_cost(epsilon: float, draws: int, delta: float) -> float:
    """What draws cost together whose log-ratios each have a range of epsilon, the least of three bounds.

    They add up. Each is rho-zCDP with rho = epsilon^2/8, whatever the data, so D draws have a Renyi divergence of at
    most a D rho for every order a. And few enough are composed as they are in the worst case.
    """
    if delta <= 0 or draws == 0:
        return draws * epsilon
    zcdp = float(_by_zcdp(epsilon, draws, delta).min())
    quick = min(draws * epsilon, max(zcdp, 0.0) * (1 + SUM_MARGIN))
    return composed_cost(epsilon, draws, delta, quick)


def bounded_range_order(epsilon: float, draws: int, delta: float) -> float:
    """The order whose Renyi divergence gives the least cost."""
    return float(_FINE[_by_zcdp(epsilon, draws, delta).argmin()])


def _by_zcdp(epsilon: float, draws: int, delta: float) -> Floats:
    return np.asarray(_FINE * draws * min(epsilon, 1e100) ** 2 / 8 + _rest(_FINE, delta))


def bounded_range_epsilon(budget: Budget, draws: int) -> float:
    """The largest range of log-ratios such that so many draws cost at most the budget together."""
    rho = ((budget.epsilon - _rest(_FINE, budget.delta)) / (_FINE * draws)).max()
    quick = max(budget.epsilon / draws * (1 - 2**-50), math.sqrt(max(8 * rho, 0.0)) * (1 - SUM_MARGIN))
    return composed_epsilon(budget.epsilon, budget.delta, draws, float(quick))


def epsilon_of_one_row(budget: Budget, rows: int) -> float:
    """The largest epsilon of a row such that so many rows stay within the budget together."""
    if budget.delta > 0 and rows > 1:
        return bounded_range_epsilon(budget, rows)
    each = budget.epsilon / rows
    return each if rows * Fraction(each) <= Fraction(budget.epsilon) else math.nextafter(each, 0)


_FINE = 1 + np.geomspace(1e-4, 1e8, 20_001)


def _rest(orders: Floats, delta: float) -> Floats:
    """What turns a Renyi divergence of an order into an epsilon for delta."""
    return np.asarray((-math.log(delta) + (orders - 1) * np.log1p(-1 / orders) - np.log(orders)) / (orders - 1))
