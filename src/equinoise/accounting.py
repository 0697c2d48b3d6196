"""What many draws cost together: each person's own loss distribution, composed.

With a person, a draw comes from p = S/N; without them, the others' noise as it is, from q = (S - W)/(N - 1). D draws
are D independent ones from the one or from the other, so what D draws cost that person is the D-fold composition of
this one pair, in both directions: no worst case over other people or datasets. A group (one row of integers) shares it.

Floating point, with losses rounded against us and a thousandth of delta kept back for what else it gets wrong: an upper
bound, but no certificate in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.grid import Floats, Ints
from equinoise.privacy import losses

ORDERS = np.concatenate([1 + np.geomspace(1e-2, 1, 5), np.geomspace(2.5, 1e5, 36)])
"""Renyi orders that the quick bound tries."""

ROUNDING = 0.01
"""What rounding the losses to a grid may add, as a share."""

MARGIN, ERROR = 1e-9, 1e-12
"""More than floating point gets sums of losses wrong, relatively and for each draw."""

KEPT_BACK = 1e-3
"""Share of delta for what floating point gets wrong in composing."""

MOST_POINTS = 2**23
"""Grids of more points than this take long: then the quick bound must do."""

FINEST = 2**-22
"""Steps of that grid are never smaller, as a share of the range of losses: beyond that, memory decides."""


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
    def sums(self) -> Floats:
        """S, in units of the weights."""
        return self.people.astype(np.float64) @ self.weights.astype(np.float64)

    @cached_property
    def losses(self) -> Floats:
        """Of one draw, for each group."""
        return losses(self.weights.astype(np.float64), self.sums, self.total, self.sizes)

    @cached_property
    def _worst(self) -> dict[tuple[int, float], float]:
        return {}

    @cached_property
    def with_and_without(self) -> tuple[Floats, Floats]:
        """ln p, and ln q for each group, in the cells that anyone reaches."""
        reached = self.sums > 0
        sums = self.sums[reached]
        with np.errstate(divide="ignore"):
            rest = np.log(np.maximum(sums - self.weights[:, reached].astype(np.float64), 0.0))
        sizes = np.ones(len(self.people), dtype=np.int64) if self.sizes is None else self.sizes
        row = float(self.weights[0].sum()) / sizes[0]
        return np.log(sums) - math.log(self.total * row), rest - np.log((self.total - sizes) * row)[:, None]

    @cached_property
    def _renyi(self) -> Floats:
        """The larger of the two Renyi divergences of every order (columns), for each group."""
        p, q = self.with_and_without
        found = np.empty((len(q), len(ORDERS)))
        with np.errstate(over="ignore", invalid="ignore"):
            for column, order in enumerate(ORDERS.tolist()):
                forth = _log_sum(order * p + (1 - order) * q) / (order - 1)
                back = _log_sum(order * q + (1 - order) * p) / (order - 1)
                found[:, column] = np.maximum(forth, back)
        return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))

    def bounds(self, draws: int, delta: float) -> Floats:
        """An epsilon for each group that ``draws`` draws are within, except with probability delta: quick, not tight.

        The better of adding up the worst losses and of Renyi divergences, which add up: an order a and a divergence r
        give epsilon = r + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1).
        """
        if draws == 0:
            return np.zeros(len(self.people))
        basic = draws * self.losses * (1 + MARGIN)
        if delta <= 0:
            return basic
        renyi = (draws * (self._renyi * (1 + MARGIN) + ERROR) + _rest(ORDERS, delta)).min(axis=1)
        return np.asarray(np.minimum(basic, np.maximum(renyi, 0.0)))

    def tight(self, group: int, draws: int, delta: float, enough: float = 0.0) -> float:
        """The same for one group by composing its loss distribution, with rounding that adds at most a hundredth.

        The grid of losses is refined until rounding up and rounding down agree to that, or until it is clear on which
        side of ``enough`` the figure is.
        """
        quick = float(self.bounds(draws, delta)[group])
        if delta <= 0 or quick == 0:
            return quick
        p, q = self.with_and_without
        ratios = np.abs(p - q[group])
        spread = float(ratios[np.isfinite(ratios)].max())
        fine = max(ROUNDING * min(quick, draws * spread) / draws, FINEST * spread)
        if draws * spread > MOST_POINTS * fine:
            return quick
        step, kept = 16 * fine if enough > 0 else fine, (1 - KEPT_BACK) * delta
        while True:
            above = min(_composed(p, q[group], draws, kept, step, pessimistic=True), quick)
            if above <= enough or step <= FINEST * spread or draws * spread > MOST_POINTS * step:
                return above
            if step <= fine:
                below = _composed(p, q[group], draws, kept, step, pessimistic=False)
                if above <= (1 + ROUNDING) * below:
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
    """What draws cost together whose log-ratios each have a range of epsilon: the better of zCDP and adding up.

    Each draw is rho-zCDP with rho = epsilon^2/8, whatever the data, so D draws have a Renyi divergence of at most
    a D rho for every order a.
    """
    if delta <= 0 or draws == 0:
        return draws * epsilon
    zcdp = float(_by_zcdp(epsilon, draws, delta).min())
    return min(draws * epsilon, max(zcdp, 0.0) * (1 + MARGIN))


def bounded_range_order(epsilon: float, draws: int, delta: float) -> float:
    """The order whose Renyi divergence gives the least cost."""
    return float(_FINE[_by_zcdp(epsilon, draws, delta).argmin()])


def _by_zcdp(epsilon: float, draws: int, delta: float) -> Floats:
    return np.asarray(_FINE * draws * min(epsilon, 1e100) ** 2 / 8 + _rest(_FINE, delta))


def bounded_range_epsilon(budget: Budget, draws: int) -> float:
    """The largest range of log-ratios such that so many draws cost at most the budget together."""
    rho = ((budget.epsilon - _rest(_FINE, budget.delta)) / (_FINE * draws)).max()
    return float(max(budget.epsilon / draws * (1 - 2**-50), math.sqrt(max(8 * rho, 0.0)) * (1 - MARGIN)))


_FINE = 1 + np.geomspace(1e-4, 1e8, 20_001)


def _rest(orders: Floats, delta: float) -> Floats:
    """What turns a Renyi divergence of an order into an epsilon for delta."""
    return np.asarray((-math.log(delta) + (orders - 1) * np.log1p(-1 / orders) - np.log(orders)) / (orders - 1))


def _log_sum(logs: Floats) -> Floats:
    """ln of the sum of exponentials along the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))


def _composed(p: Floats, q: Floats, draws: int, delta: float, step: float, *, pessimistic: bool) -> float:
    """Epsilon at delta of ``draws`` draws from p or from q (logarithms), losses rounded to a grid, both directions."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def outcomes(logs: Floats) -> dict[int, float]:
        return {x: float(log) for x, log in enumerate(logs) if log > -math.inf}

    one: Any = pld.from_two_probability_mass_functions(
        outcomes(p), outcomes(q), pessimistic_estimate=pessimistic, value_discretization_interval=step, symmetric=False
    )  # symmetric=True would look at one direction only
    return float(one.self_compose(draws).get_epsilon_for_delta(delta))
