"""The envelope's weights, from which a few rows are drawn, differentially private for every dataset on the grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, PromiseNotMet, check
from equinoise.formatting import at_most
from equinoise.mechanisms.draws import RandomBytes, draw_weighted
from equinoise.mechanisms.private_table import PrivateTable, check_private_grid
from equinoise.privacy.accounting import Budget, bounded_range_cost, bounded_range_order, epsilon_of_one_row
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.envelope_certificate import certify_envelope
from equinoise.privacy.range_certificate import MOST_COMPOSED, certify_bounded_range
from equinoise.settings import check_setting
from equinoise.synthesis.envelope import LEAST_RULE_EPSILON, Rule, public_rule
from equinoise.synthesis.envelope_weights import Weights, each_without_one, weights

MOST_LOSS_STEPS = 10**7
"""Of working out everyone's loss again: some ten seconds."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EnvelopeTable(PrivateTable):
    """The public rule's weight of every cell of the grid; ``epsilon`` is of one row, the ``budget`` of all of them.

    ``base`` is the distribution that was given for the rule, if one was.
    """

    method = "envelope"
    composed = f"the least of adding up, zCDP and, up to {MOST_COMPOSED} rows, composing the worst case"
    weights_source = "public rule"
    certified = "the weights are those of this data by the public rule"

    rule: Rule
    weights: Weights

    @classmethod
    def make(
        cls,
        players: Players,
        *,
        epsilon: float,
        rows: int = 1,
        delta: float = 0.0,
        base: Sequence[float] | None = None,
        rows_per_person: int = 1,
        settings: dict[str, Any] | None = None,
    ) -> EnvelopeTable:
        """Weights by the public rule of what one row may cost, the grid and a base, certified.

        ``epsilon`` and ``delta`` are for all ``rows`` together. ``settings`` say how people were counted; what is
        promised is added.
        """
        check_setting("draws", rows)
        check_private_grid(players.grid)
        budget = Budget(float(epsilon), float(delta) if rows > 1 else 0.0)
        each = row_epsilon(budget, rows, rows_per_person)
        base = None if base is None else tuple(base)
        grid = players.grid
        rule = public_rule(each, grid.shape, grid.categories, base=base, rows_per_person=rows_per_person)
        made = cls(
            grid=grid,
            epsilon=each,
            draws=int(rows),
            budget=budget,
            counted=players,
            rows_per_person=rows_per_person,
            rule=rule,
            weights=weights(players.occupied, players.counts.astype(np.int64), rule),
            base=None if base is None else tuple(float(part) for part in base),
            settings={**(settings or {}), "epsilon": float(epsilon), "delta": budget.delta},
            solver={"name": cls.method},
        )
        made._require_certificate()
        return made

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (an ``EnvelopeDocument``) tells; its weights are in it."""
        rule = Rule.from_json(document.rule.model_dump())
        cells = np.array(document.weight_cells, dtype=np.int64)
        return cls(
            counted=document.players(shared["grid"]),
            rows_per_person=document.rows_per_person,
            rule=rule,
            weights=Weights(cells, tuple(document.weights), rule.floors[0] if rule.even else 0, rule.cells),
            base=None if document.base is None else tuple(document.base),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {
            **super()._own(),
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
            self.occupied.tolist(), self.occupied_rows.tolist(), self.weights.cells.tolist(), self.weights.weights,
            self.epsilon, self.rule.to_json(),
        )  # fmt: skip
        if found.holds and not self.weights_as_named:
            return replace(found, holds=False, failure="the rule is not the public one, so it may be from the data")
        if found.holds and self.rule.rows_per_person != self.rows_per_person:
            return replace(found, holds=False, failure="the rule is for other numbers of rows of a person")
        return found

    @cached_property
    def within_budget(self) -> bool:
        """Whether all rows together stay within the budget, whatever the data."""
        if self.budget is None or self.draws is None:
            return False
        total, delta = self.budget.epsilon, self.budget.delta
        if self.draws * Fraction(self.epsilon) <= Fraction(total):
            return True
        if delta == 0:
            return False
        order = bounded_range_order(self.epsilon, self.draws, delta)
        return certify_bounded_range(self.epsilon, self.draws, total, delta, order)

    @property
    def weights_as_named(self) -> bool:
        """Whether the parameters are those of the public rule (with the base, if there is one)."""
        grid, many = self.grid, self.rows_per_person
        try:
            own = public_rule(self.epsilon, grid.shape, grid.categories, base=self.base, rows_per_person=many)
        except BadInput:
            return False
        return self.rule == own

    def _cost_at(self, draws: int, delta: float) -> float:
        return bounded_range_cost(self.epsilon, draws, delta)

    @cached_property
    def _output(self) -> Floats:
        return self.weights.probabilities()

    @property
    def losses_by_theorem(self) -> bool:
        """Whether working losses out would take too long, or is impossible: then they are epsilon for everyone."""
        around = 2 ** len(self.grid.axes) * self.rule.near_table.size  # cells within reach, at most
        steps = len(self.occupied) * around * min(around, len(self.occupied))
        return steps > MOST_LOSS_STEPS or not self.counted.single or not self._certificate.holds

    @cached_property
    def _losses(self) -> Floats:
        """The weights are worked out again without a person of each occupied cell."""
        if self.losses_by_theorem:
            return np.full(self.counted.types, self.epsilon)
        known = dict(zip(self.weights.cells.tolist(), self.weights.weights, strict=True))
        each, total = [], self.weights.total
        for cells, other in each_without_one(self.occupied, self.occupied_rows, self.rule):
            here = [known.get(cell, self.weights.rest) for cell in cells.tolist()]
            less = total - sum(here) + sum(other)
            changes = [math.log(a / b) for a, b in zip(here, other, strict=True)]
            elsewhere = [0.0] if len(here) < self.weights.size else []
            each.append(max(abs(change - math.log(total / less)) for change in changes + elsewhere))
        return np.array(each)

    @property
    def loss_basis(self) -> str:
        """What losses work out again, if they do."""
        return super().loss_basis if self.losses_by_theorem else "the weights are worked out again without that person"

    def kl_at(self, epsilon: float, *, restarts: int = 1) -> float | None:
        """KL from the original by the public rule of another epsilon of one row; None where there is none."""
        try:
            made = EnvelopeTable.make(
                self.counted, epsilon=epsilon, base=self.base, rows_per_person=self.rows_per_person
            )
        except (BadInput, PromiseNotMet):
            return None
        return float(made.metrics()["kl"])


def row_epsilon(budget: Budget, rows: int, rows_per_person: int) -> float:
    """Epsilon of one of so many rows within a budget; refused where it is too little for the rule."""
    least = LEAST_RULE_EPSILON * rows_per_person
    each = epsilon_of_one_row(budget, rows)
    if rows > 1 and each < least:
        raise _too_many(budget, rows, rows_per_person)
    check(each >= least, "epsilon", f"at least {least:g} for a row of the envelope", budget.epsilon)
    return each


def _too_many(budget: Budget, rows: int, rows_per_person: int) -> PromiseNotMet:
    """The refusal of so many rows; the most that are possible are found by halving."""
    low, high = 0, rows
    while high - low > 1:
        middle = (low + high) // 2
        enough = epsilon_of_one_row(budget, middle) >= LEAST_RULE_EPSILON * rows_per_person
        low, high = (middle, high) if enough else (low, middle)
    within = f"epsilon {at_most(budget.epsilon)}" + (f" and delta {at_most(budget.delta)}" if budget.delta else "")
    return PromiseNotMet(
        f"{rows:,} row{'s' * (rows != 1)} within {within} leave less than {LEAST_RULE_EPSILON * rows_per_person:g} a "
        f"row; {low:,} row{' is' if low == 1 else 's are'} the most possible by the envelope. Ask for fewer or for a "
        "larger epsilon, or pay once (--method pay-once).",
        rows=rows,
        most_rows=low,
    )
