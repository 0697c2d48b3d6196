"""The envelope's weights, differentially private for every dataset on the grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Grid, Ints, number_axes
from equinoise.data.players import Players
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import at_most
from equinoise.game.kernel import MOST_CELLS
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.draws import RandomBytes, draw_weighted
from equinoise.mechanisms.quantities import DELTA, check_costs
from equinoise.privacy.accounting import Budget, bounded_range_cost, bounded_range_epsilon, bounded_range_order
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.envelope_certificate import certify_bounded_range, certify_envelope
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, Neighbours
from equinoise.settings import check_setting
from equinoise.synthesis.envelope import LEAST_RULE_EPSILON, Rule, public_rule
from equinoise.synthesis.envelope_weights import Weights, each_without_one, weights

MOST_LOSS_STEPS = 10**7
"""Of working out everyone's loss again: some ten seconds."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateTable(Mechanism):
    """People in the occupied cells, which ascend, and the public rule's weight of every cell of the grid.

    ``epsilon`` is for one draw; ``base`` is the distribution that was given for the rule, if one was.
    """

    kind = DIFFERENTIAL_PRIVACY
    neighbours = Neighbours.PERSON_ADDED_OR_REMOVED
    composed = "the better of zCDP, epsilon^2/8 a draw, and adding up"
    weights_source = "public rule"

    occupied: Ints
    people: Ints
    rule: Rule
    weights: Weights

    def __post_init__(self) -> None:
        for name in ("occupied", "people"):
            whole = np.array(getattr(self, name), dtype=np.int64)
            whole.setflags(write=False)
            object.__setattr__(self, name, whole)
        super().__post_init__()

    @classmethod
    def make(
        cls,
        players: Players,
        *,
        epsilon: float,
        draws: int = 1,
        delta: float = 0.0,
        base: Sequence[float] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> PrivateTable:
        """Weights by the public rule of epsilon, the grid and draws (and a base), certified.

        With a ``delta`` and several draws, epsilon is for all of them together. ``settings`` say how people were
        counted; what is promised is added.
        """
        check_setting("draws", draws)
        check_private_grid(players.grid)
        if not players.single:
            raise BadInput("Differential privacy is for people with one row each here: take --unit-rows one.")
        budget = Budget(float(epsilon), float(delta)) if delta > 0 and draws > 1 else None
        each = float(epsilon) if budget is None else bounded_range_epsilon(budget, draws)
        if budget is not None and each < LEAST_RULE_EPSILON:
            raise _too_many(budget, draws)
        base = None if base is None else tuple(base)
        rule = public_rule(each, players.grid.shape, players.grid.categories, base=base)
        made = cls(
            grid=players.grid,
            epsilon=each,
            draws=int(draws),
            budget=budget,
            occupied=players.cells,
            people=players.people,
            rule=rule,
            weights=weights(players.cells, players.people, rule),
            base=None if base is None else tuple(float(part) for part in base),
            settings={**(settings or {}), "epsilon": float(epsilon), "draws": int(draws), "delta": float(delta)},
            solver={"name": "envelope"},
        )
        made._require_certificate()
        return made

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (a ``PrivateTableDocument``) tells; its weights are in it."""
        rule = Rule.from_json(document.rule.model_dump())
        cells = np.array(document.weight_cells, dtype=np.int64)
        return cls(
            occupied=np.array(document.occupied, dtype=np.int64),
            people=np.array(document.people, dtype=np.int64),
            rule=rule,
            weights=Weights(cells, tuple(document.weights), rule.floors[0] if rule.even else 0, rule.cells),
            base=None if document.base is None else tuple(document.base),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {
            "occupied": self.occupied.tolist(),
            "people": self.people.tolist(),
            "rule": self.rule.to_json(),
            "weight_cells": self.weights.cells.tolist(),
            "weights": list(self.weights.weights),
            "base": None if self.base is None else list(self.base),
        }

    def _blob(self) -> Ints:
        return np.zeros((0, 0), dtype=np.int64)

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        found = self.weights
        cells = draw_weighted(found.weights, n, source, others=(found.rest, found.size, found.cells))
        return cells if len(self.grid.axes) == 1 else map(self.grid.bins_of, cells)

    @cached_property
    def _certificate(self) -> Certificate:
        """The certificate holds for any public rule; that this is the public one is checked here."""
        found = certify_envelope(
            self.occupied.tolist(), self.people.tolist(), self.weights.cells.tolist(), self.weights.weights,
            self.epsilon, self.rule.to_json(),
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
            return self.rule == public_rule(self.epsilon, self.grid.shape, self.grid.categories, base=self.base)
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
        return Players.in_cells(self.grid, self.occupied, self.people)

    @cached_property
    def _output(self) -> Floats:
        return self.weights.probabilities()

    @property
    def losses_by_theorem(self) -> bool:
        """Whether working losses out would take too long, or is impossible: then they are epsilon for everyone."""
        around = 2 ** len(self.grid.axes) * self.rule.near_table.size  # cells within reach, at most
        steps = len(self.occupied) * around * min(around, len(self.occupied))
        return steps > MOST_LOSS_STEPS or not self._certificate.holds

    @cached_property
    def _losses(self) -> Floats:
        """The weights are worked out again without a person of each occupied cell."""
        if self.losses_by_theorem:
            return np.full(len(self.occupied), self.epsilon)
        known = dict(zip(self.weights.cells.tolist(), self.weights.weights, strict=True))
        each, total = [], self.weights.total
        for cells, other in each_without_one(self.occupied, self.people, self.rule):
            here = [known.get(cell, self.weights.rest) for cell in cells.tolist()]
            less = total - sum(here) + sum(other)
            changes = [math.log(a / b) for a, b in zip(here, other, strict=True)]
            elsewhere = [0.0] if len(here) < self.weights.size else []
            each.append(max(abs(change - math.log(total / less)) for change in changes + elsewhere))
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
            made = PrivateTable.make(self.members, epsilon=epsilon, base=self.base)
        except BadInput:
            return None
        return float(made.metrics()["kl"])

    def _parts(self) -> dict[str, Any]:
        return self._own()


def check_private_grid(grid: Grid) -> None:
    """Refuse the paper's grid, which has cells that nobody can be in, and more cells than can be held."""
    if grid.cells > MOST_CELLS:
        raise BadInput(
            f"The grid has {grid.cells:,} cells; {MOST_CELLS:,} are the most possible. Take fewer columns or --bins."
        )
    if any(axis.padding > 0 and axis.step is None for axis in number_axes(grid.axes)):
        raise BadInput(
            "The paper's grid has cells outside the bounds, which nobody can be in. Leave out --grid paper (in Python, "
            "grid='paper') for differential privacy."
        )


def _too_many(budget: Budget, draws: int) -> PromiseNotMet:
    low, high = 0, draws
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bounded_range_epsilon(budget, middle) >= LEAST_RULE_EPSILON else (low, middle)
    return PromiseNotMet(
        f"{draws:,} draws within epsilon {at_most(budget.epsilon)} and delta {at_most(budget.delta)} leave less than "
        f"{LEAST_RULE_EPSILON:g} a draw; {low:,} draw{' is' if low == 1 else 's are'} the most possible. Ask for fewer "
        "or for a larger epsilon.",
        draws=draws,
        most_draws=low,
    )
