"""Monotone weights, differentially private for every dataset on the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Histogram, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.draws import RandomBytes, check_draws, draw_weighted
from equinoise.mechanisms.quantities import DELTA, check_costs
from equinoise.privacy.accounting import Budget, bounded_range_cost, bounded_range_epsilon, bounded_range_order
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.monotone_certificate import certify_bounded_range, certify_monotone
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, Neighbours
from equinoise.statistics.baselines import cells_within
from equinoise.synthesis.monotone import LEAST_EPSILON, Rule, each_without_one, public_rule, weights

MOST_LOSS_STEPS = 10**7
"""Of working out everyone's loss again: some ten seconds."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateTable(Mechanism):
    """People per cell and the public rule's weight of every cell, over the cells within the bounds.

    ``epsilon`` is for one draw; ``base`` is the distribution that was given for the rule, if one was.
    """

    kind = DIFFERENTIAL_PRIVACY
    neighbours = Neighbours.PERSON_ADDED_OR_REMOVED
    composed = "the better of zCDP, epsilon^2/8 a draw, and adding up"
    weights_source = "public rule"

    counts: Ints
    rule: Rule
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        counts = np.array(self.counts, dtype=np.int64)
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        super().__post_init__()

    @classmethod
    def make(
        cls,
        histogram: Histogram,
        *,
        epsilon: float,
        draws: int = 1,
        delta: float = 0.0,
        base: Sequence[float] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> PrivateTable:
        """Weights by the public rule of epsilon, the number of cells and draws (and a base), certified.

        With a ``delta`` and several draws, epsilon is for all of them together. ``settings`` say how people were
        counted; what is promised is added.
        """
        check_draws(draws)
        budget = Budget(float(epsilon), float(delta)) if delta > 0 and draws > 1 else None
        each = float(epsilon) if budget is None else bounded_range_epsilon(budget, draws)
        if budget is not None and each < LEAST_EPSILON:
            raise _too_many(budget, draws)
        base = None if base is None else tuple(base)
        inside = cells_within(histogram.grid.axis)
        counts = histogram.counts[inside]
        if counts.sum() != histogram.people:
            raise BadInput("Some people are in cells that lie outside the bounds: nothing can be promised there.")
        rule = public_rule(each, len(counts), base)
        made = cls(
            grid=histogram.grid,
            epsilon=each,
            draws=int(draws),
            budget=budget,
            counts=counts,
            rule=rule,
            weights=tuple(weights(counts, rule)),
            base=None if base is None else tuple(float(part) for part in base),
            settings={**(settings or {}), "epsilon": float(epsilon), "draws": int(draws), "delta": float(delta)},
            solver={"name": "monotone-weights"},
        )
        made._require_certificate()
        return made

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (a ``PrivateTableDocument``) tells; its weights are in it."""
        rule = document.rule
        return cls(
            counts=np.array(document.counts, dtype=np.int64),
            rule=Rule(rule.unit, tuple(rule.near), rule.cap, tuple(rule.floors), rule.factor),
            weights=tuple(document.weights),
            base=None if document.base is None else tuple(document.base),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {
            "counts": self.counts.tolist(),
            "rule": self.rule.to_json(),
            "weights": list(self.weights),
            "base": None if self.base is None else list(self.base),
        }

    def _blob(self) -> Ints:
        return np.zeros((0, 0), dtype=np.int64)

    @property
    def _first(self) -> int:
        """The first cell within the bounds."""
        return int(cells_within(self.grid.axis).start)

    @property
    def released_values(self) -> Floats:
        """The midpoint of each cell; where a bound lies between it and the rest of the cell, that bound instead.

        Which value stands for a cell is public, so draws stay within the bounds at no cost.
        """
        axis, inside = self.grid.axis, cells_within(self.grid.axis)
        values = axis.midpoints()
        values[inside] = np.clip(values[inside], axis.low, axis.high)
        return values

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        return (self._first + cells for cells in draw_weighted(self.weights, n, source))

    @cached_property
    def _certificate(self) -> Certificate:
        """The certificate holds for any public rule; that this is the public one is checked here."""
        rule = self.rule
        found = certify_monotone(
            self.counts.tolist(), self.weights, self.epsilon,
            unit=rule.unit, near=rule.near, cap=rule.cap, floors=rule.floors, factor=rule.factor,
        )  # fmt: skip
        if found.holds and not self.weights_as_named:
            return replace(found, holds=False, failure="the rule is not the public one, so it may be from the data")
        return found

    @cached_property
    def within_budget(self) -> bool:
        """Whether all draws together stay within the budget, whatever the data."""
        if self.budget is None:
            return True
        total, delta = self.budget.epsilon, self.budget.delta
        order = bounded_range_order(self.epsilon, self.draws, delta)
        return certify_bounded_range(self.epsilon, self.draws, total, delta, order)

    @property
    def weights_as_named(self) -> bool:
        """Whether the parameters are those of the public rule (with the base, if there is one)."""
        try:
            return self.rule == public_rule(self.epsilon, len(self.counts), self.base)
        except BadInput:
            return False

    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""
        return bounded_range_cost(self.epsilon, draws, 0.0 if self.budget is None else self.budget.delta)

    def promised_cost(self, draws: int) -> float:
        """What so many draws cost together: :meth:`cost`, as the theorem knows nothing of the data."""
        return self.cost(draws)

    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows; by the theorem it is the same for everyone, whatever the data."""
        check_costs(draws, delta)
        chosen = delta if delta is not None else self.budget.delta if self.budget else DELTA
        found = []
        for many in draws:
            each = bounded_range_cost(self.epsilon, many, chosen)
            row = {"draws": many, "delta": chosen, "worst": each, "median": each, "added_up": many * self.epsilon}
            found.append(row)
        return found

    @cached_property
    def members(self) -> Players:
        """The people of each occupied cell."""
        occupied = np.flatnonzero(self.counts)
        return Players.in_cells(self.grid, occupied + self._first, self.counts[occupied])

    @cached_property
    def _output(self) -> Floats:
        q, total = np.zeros(self.grid.cells), sum(self.weights)
        q[self._first : self._first + len(self.weights)] = [weight / total for weight in self.weights]
        return q

    @property
    def losses_by_theorem(self) -> bool:
        """Whether working losses out would take too long, or is impossible: then they are epsilon for everyone."""
        steps = int(np.count_nonzero(self.counts)) * len(self.rule.near) ** 2
        return steps > MOST_LOSS_STEPS or not self._certificate.holds

    @cached_property
    def _losses(self) -> Floats:
        """The weights are worked out again without a person of each occupied cell."""
        if self.losses_by_theorem:
            return np.full(np.count_nonzero(self.counts), self.epsilon)
        whole = np.array([weight / sum(self.weights) for weight in self.weights])
        each = []
        for other in each_without_one(self.counts, self.weights, self.rule):
            total = sum(other)
            each.append(np.abs(np.log(whole) - np.log([weight / total for weight in other])).max())
        return np.array(each)

    @property
    def protected(self) -> int:
        """Everyone, by the theorem that the certificate checks."""
        return self.total_people if self.certificate().holds else 0

    @property
    def loss_basis(self) -> str:
        """What losses work out again, if they do."""
        again = "the weights are worked out again without that person"
        return "by the theorem, and not worked out" if self.losses_by_theorem else again

    def kl_at(self, epsilon: float, *, restarts: int = 1) -> float | None:
        """KL from the original by the public rule of another epsilon; None where there is none."""
        try:
            made = PrivateTable.make(self.members.histogram, epsilon=epsilon, base=self.base)
        except BadInput:
            return None
        return float(made.metrics()["kl"])

    def _parts(self) -> dict[str, Any]:
        return {"first_cell": self._first, **self._own()}


def _too_many(budget: Budget, draws: int) -> PromiseNotMet:
    low, high = 0, draws
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bounded_range_epsilon(budget, middle) >= LEAST_EPSILON else (low, middle)
    return PromiseNotMet(
        f"{draws:,} draws within epsilon {at_most(budget.epsilon)} and delta {at_most(budget.delta)} leave less than "
        f"{LEAST_EPSILON:g} a draw; {low:,} draw{' is' if low == 1 else 's are'} the most possible. Ask for fewer or "
        "for a larger epsilon.",
        draws=draws,
        most_draws=low,
    )
