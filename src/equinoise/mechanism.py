"""A mechanism: grid, kernel rows and profile, frozen; what is certified, drawn from and saved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from equinoise import baselines, storage
from equinoise.accounting import Accountant, Budget
from equinoise.certificate import Certificate, certify
from equinoise.draws import MOST_DRAWS, RandomBytes, draw_cells
from equinoise.errors import BadInput, PromiseNotMet, at_most, check, is_whole
from equinoise.grid import Axis, Floats, Grid, Ints
from equinoise.ledger import Ledger
from equinoise.metrics import metrics
from equinoise.privacy import Condition, losses
from equinoise.solvers import Solution

DELTA = 1e-6
"""For the cost of many draws, where nobody says another one."""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Groups of interchangeable people (cell, scale, how many, kernel row) and how many draws are allowed.

    ``epsilon`` is for one draw, with ``delta`` or as the Renyi divergence of an ``order``; ``budget``, if there is one,
    is for all draws that are allowed together.

    Make one with :func:`equinoise.optimize`, or open a saved one. Nothing can be drawn from it or saved unless its
    certificate holds, and every draw is charged to its ledger first.
    """

    grid: Grid
    noise: str
    scales: tuple[float, ...]
    weight_total: int
    epsilon: float
    draws: int
    cells: Ints
    scale_indices: Ints
    people: Ints
    weights: Ints
    delta: float = 0.0
    order: float | None = None
    budget: Budget | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    solver: dict[str, Any] = field(default_factory=dict)
    ledger: Ledger = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name in ("cells", "scale_indices", "people", "weights"):
            array = np.array(getattr(self, name), dtype=np.int64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        kinds = (self.delta > 0) + (self.order is not None) + (self.budget is not None)
        if kinds > 1 or (self.delta > 0 and self.draws > 1):
            raise BadInput("A mechanism has a delta (for one draw), a Renyi order or a budget, but no two of these.")
        digest = storage.pack_digest(self._document(), self.weights)
        if self.ledger is None:
            object.__setattr__(self, "ledger", Ledger(self.draws, digest))
        elif self.ledger.digest != digest:
            raise BadInput("A mechanism cannot be changed: its ledger belongs to what it was. Make a new one.")

    @classmethod
    def from_solution(
        cls, solution: Solution, *, draws: int = 1, budget: Budget | None = None, settings: dict[str, Any] | None = None
    ) -> Mechanism:
        """Freeze a solution, if the certificate holds for it and its draws are within the budget."""
        check(is_whole(draws, 1, MOST_DRAWS), "draws", f"a whole number from 1 to {MOST_DRAWS}", draws)
        game = solution.game
        cells, scales = game.groups(solution.profile)
        made = cls(
            grid=game.histogram.grid,
            noise=game.kernel.noise,
            scales=game.kernel.scales,
            weight_total=game.kernel.total,
            epsilon=float(game.epsilon),
            draws=int(draws),
            cells=cells,
            scale_indices=scales,
            people=solution.profile[cells, scales],
            weights=game.kernel.weights[scales, cells],
            delta=game.delta,
            order=game.order,
            budget=budget,
            settings=settings or {},
            solver=solution.summary(),
        )
        made._require_certificate()
        return made

    @classmethod
    def open(cls, path: str | Path) -> Mechanism:
        """A saved mechanism; it is certified again, and draws are charged to the file."""
        made = cls.read(path)
        certificate = made.certificate()
        if not certificate.holds:
            raise BadInput(
                f"The file {str(path)!r} has been tampered with: its certificate does not hold "
                f"({certificate.failure}). Nothing can be released from it."
            )
        if not made.within_budget:
            raise BadInput(
                f"The file {str(path)!r} has been tampered with: its draws together cost more than its budget. "
                "Nothing can be released from it."
            )
        return made

    @classmethod
    def read(cls, path: str | Path) -> Mechanism:
        """A saved mechanism as it stands, for an audit: its certificate may not hold."""
        path = Path(path)
        document, weights, digest = storage.read(path)
        return cls(
            grid=Grid(tuple(Axis(**axis.model_dump()) for axis in document.axes)),
            noise=document.noise,
            scales=tuple(document.scales),
            weight_total=document.weight_total,
            epsilon=document.epsilon,
            draws=document.draws,
            cells=np.array(document.cells, dtype=np.int64),
            scale_indices=np.array(document.scale_indices, dtype=np.int64),
            people=np.array(document.people, dtype=np.int64),
            weights=weights,
            delta=document.delta,
            order=document.order,
            budget=None if document.budget is None else Budget(**document.budget.model_dump()),
            settings=document.settings.model_dump(exclude_unset=True),
            solver=document.solver.model_dump(),
            ledger=Ledger(document.draws, digest, path),
        )

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save to a new file that only its owner can read; later draws are charged there."""
        if self.ledger.path is not None:
            raise BadInput(
                f"This mechanism is saved as {str(self.ledger.path)!r} already. A second file would have a "
                "second ledger, and the same draws could be released twice."
            )
        self._require_certificate()
        storage.write(Path(path), self._document(), self.weights, self.ledger.releases, force=force)
        self.ledger.bind(Path(path))

    def _require_certificate(self) -> None:
        if not self._certificate.holds:
            raise PromiseNotMet(
                f"The certificate does not hold: {self._certificate.failure}. Nothing can be drawn or saved."
            )
        if not self.within_budget:
            raise PromiseNotMet("All draws together would cost more than the budget. Nothing can be drawn or saved.")

    def _document(self) -> str:
        document = {
            "axes": [axis.to_json() for axis in self.grid.axes],
            "noise": self.noise,
            "scales": list(self.scales),
            "weight_total": self.weight_total,
            "epsilon": self.epsilon,
            "draws": self.draws,
            "cells": self.cells.tolist(),
            "scale_indices": self.scale_indices.tolist(),
            "people": self.people.tolist(),
            **self._asked(),
            "settings": self.settings,
            "solver": self.solver,
        }
        return json.dumps(document, sort_keys=True, allow_nan=False)

    def _asked(self) -> dict[str, Any]:
        """What there is besides epsilon, as JSON shows it."""
        budget = None if self.budget is None else vars(self.budget)
        return {"delta": self.delta, "order": self.order, "budget": budget}

    def sample(self, n: int = 1, *, source: RandomBytes = os.urandom) -> Floats:
        """``n`` draws in data units, charged to the ledger first. ``source`` is for tests."""
        return np.concatenate(list(self.stream(n, source=source)))

    def stream(self, n: int, *, source: RandomBytes = os.urandom) -> Iterator[Floats]:
        """The same, some at a time: for more draws than memory should hold. All are charged when it is called."""
        check(is_whole(n, 1, MOST_DRAWS), "n", "a whole number of at least 1", n)
        self._require_certificate()
        self.ledger.charge(int(n))
        midpoints = self.grid.axis.midpoints()
        drawn = draw_cells(self.people, self.weights, self.weight_total, int(n), source)
        return (midpoints[cells] for cells in drawn)

    def certificate(self) -> Certificate:
        """The exact check, from the integers alone."""
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(self.people, self.weights, self.weight_total, self.epsilon, self.delta, self.order)

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group."""
        return Accountant(self.people, self.weights)

    @cached_property
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""
        return self.budget is None or self.accountant.within_budget(self.budget, self.draws)

    def costs(self, draws: Sequence[int], delta: float | None = None) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives.

        ``delta`` is the budget's or the condition's, or 1e-6, if left out. The median is of quick upper bounds.
        """
        chosen = delta if delta is not None else self.budget.delta if self.budget else self.delta or DELTA
        found = []
        for many in draws:
            quick = self.accountant.bounds(many, chosen)
            order = np.argsort(quick, kind="stable")
            middle = order[int(np.searchsorted(np.cumsum(self.people[order]), (self.total_people + 1) // 2))]
            found.append(
                {
                    "draws": many,
                    "delta": chosen,
                    "worst": self.accountant.worst(many, chosen),
                    "median": float(quick[middle]),
                    "added_up": many * self.worst_loss,
                }
            )
        return found

    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""
        if self.budget is None or draws == 0:
            return draws * self.epsilon
        return self.accountant.worst(draws, self.budget.delta)

    @property
    def total_people(self) -> int:
        """N."""
        return int(self.people.sum())

    @property
    def histogram(self) -> Ints:
        """People per cell."""
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        np.add.at(counts, self.cells, self.people)
        return counts

    @property
    def original(self) -> Floats:
        """p: the distribution of the data over the cells."""
        return self.histogram / self.total_people

    @property
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""
        return self._sums() / (float(self.total_people) * self.weight_total)

    def _sums(self) -> Floats:
        return self.people.astype(np.float64) @ self.weights.astype(np.float64)

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group, in the order of ``cells`` and ``people``."""
        return losses(self.weights.astype(np.float64), self._sums(), self.total_people)

    @property
    def worst_loss(self) -> float:
        """The largest loss of anyone."""
        return float(self.losses().max())

    @property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        condition = Condition(self.epsilon, self.total_people, self.delta, self.order)
        found = condition.divergences(self.weights.astype(np.float64), self._sums())
        return int(self.people[found <= (self.delta or self.epsilon)].sum())

    def loss_quantiles(self, quantiles: tuple[float, ...] = (0.5, 0.9, 0.99, 1.0)) -> dict[str, float]:
        """The loss that a share of the people stays within, for each share."""
        each = self.losses()
        order = np.argsort(each, kind="stable")
        reached = np.cumsum(self.people[order])
        ranks = [max(1, -(-round(q * 10**6) * self.total_people // 10**6)) for q in quantiles]
        at = np.searchsorted(reached, ranks)
        return {f"{q:g}": float(each[order[i]]) for q, i in zip(quantiles, at, strict=True)}

    def metrics(self) -> dict[str, float]:
        """How close the output is to the original."""
        return metrics(self.original, self.output, self.grid.axis.midpoints())

    def baseline(self) -> dict[str, float]:
        """The same for the Laplace mechanism on the same grid at the same epsilon."""
        q = baselines.laplace_output(self.original, self.grid.axis, self.epsilon)
        return metrics(self.original, q, self.grid.axis.midpoints())

    @property
    def promise(self) -> str:
        """What is promised, in one standard sentence."""
        people, epsilon = f"each of the {self.total_people:,} people in this dataset", at_most(self.epsilon)
        if self.order is not None:
            one = (
                f"the Renyi divergence of order {self.order:g} between the outputs with and without {people} is at "
                f"most {epsilon}"
            )
        else:
            one = f"the privacy loss of {people} is at most {epsilon}"
            one += f", except with probability delta = {self.delta:g}" if self.delta > 0 else ""
        public = self.settings.get("public_bounds", True)
        bounds = "" if public else " The bounds were read off the data and are not private."
        return (
            f"Fixed-noise tier: for one draw, {one} (per-instance DP: that person removed, everyone else's noise "
            f"held fixed).{self._promise_of_all_draws()} It is not differential privacy: without that person the game "
            f"would have chosen other noise.{bounds}"
        )

    def _promise_of_all_draws(self) -> str:
        if self.budget is not None:
            return (
                f" {self.draws:,} draws are allowed and cost each of them at most {at_most(self.budget.epsilon)} "
                f"together, except with probability delta = {self.budget.delta:g} (their own loss distribution "
                "composed, in floating point, losses rounded upwards)."
            )
        return "" if self.draws == 1 else f" {self.draws:,} draws are allowed and {self.declared(self.draws)}."

    def declared(self, draws: int) -> str:
        """What so many draws cost together, as a sentence says it."""
        cost = at_most(self.cost(draws))
        if self.budget is not None:
            return f"cost at most {cost} together, except with probability delta = {self.budget.delta:g}"
        if self.delta > 0:
            return f"cost at most {cost}, except with probability delta = {self.delta:g}"
        how = "basic composition" if self.order is None else f"Renyi divergences of order {self.order:g} add up"
        return f"declared to cost {draws:,} x {at_most(self.epsilon)} = {cost} together ({how})"

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {
            "people": self.total_people,
            "cells": self.grid.cells,
            "protected": self.protected,
            "epsilon": self.epsilon,
            "draws": self.draws,
            **self._asked(),
            "worst_loss": self.worst_loss,
            "metrics": self.metrics(),
            "baseline": self.baseline(),
            "certificate": self.certificate().to_json(),
            "solver": self.solver,
            "promise": self.promise,
        }

    def to_json(self) -> dict[str, Any]:
        """The whole mechanism, enough to compute q and every loss again."""
        return {
            "grid": {"axes": [axis.to_json() for axis in self.grid.axes]},
            "noise": self.noise,
            "scales": list(self.scales),
            "weight_total": self.weight_total,
            "epsilon": self.epsilon,
            "draws": self.draws,
            **self._asked(),
            "profile": [
                {"cell": cell, "scale": scale, "people": people}
                for cell, scale, people in zip(
                    self.cells.tolist(), self.scale_indices.tolist(), self.people.tolist(), strict=True
                )
            ],
            "weights": self.weights.tolist(),
            "settings": self.settings,
            "solver": self.solver,
        }
