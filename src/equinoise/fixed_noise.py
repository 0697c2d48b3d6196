"""The fixed-noise tier: a profile of the game, frozen, with the row of integers that everyone draws from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.accounting import Accountant, Budget
from equinoise.certificate import Certificate, certify
from equinoise.documents import ProfileDocument
from equinoise.draws import RandomBytes, check_draws, draw_cells
from equinoise.errors import BadInput, at_most
from equinoise.grid import Floats, Ints
from equinoise.mechanism import DELTA, SECRET_SIZE, Mechanism, check_costs, within
from equinoise.privacy import Condition, losses
from equinoise.solvers import Solution


@dataclass(frozen=True)
class Measured:
    """The worst loss of anyone in this dataset with the noise worked out again without them, and what was asked for."""

    worst: float
    target: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FixedNoise(Mechanism):
    """Groups of interchangeable people: cell, scale, how many, kernel row.

    ``epsilon`` is for one draw, with ``delta`` or as the Renyi divergence of an ``order``. With a loss that was also
    ``measured`` end to end, the tier is ``end-to-end``; the certificate is of ``epsilon`` all the same.
    """

    composed = "each person's own loss distribution composed, in floating point, losses rounded upwards"

    noise: str
    scales: tuple[float, ...]
    weight_total: int
    cells: Ints
    scale_indices: Ints
    people: Ints
    weights: Ints
    delta: float = 0.0
    order: float | None = None
    measured: Measured | None = None

    @property
    def tier(self) -> str:
        """How strong the promise is."""
        return "fixed-noise" if self.measured is None else "end-to-end"

    def __post_init__(self) -> None:
        for name in ("cells", "scale_indices", "people", "weights"):
            array = np.array(getattr(self, name), dtype=np.int64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        kinds = (self.delta > 0) + (self.order is not None) + (self.budget is not None) + (self.measured is not None)
        if kinds > 1 or (self.delta > 0 and self.draws > 1):
            raise BadInput(
                "A mechanism has a delta (for one draw), a Renyi order, a budget or a measured loss, not two of them."
            )
        super().__post_init__()

    @classmethod
    def from_solution(
        cls,
        solution: Solution[Any],
        *,
        draws: int = 1,
        budget: Budget | None = None,
        measured: Measured | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Self:
        """Freeze a solution, if the certificate holds for it and its draws are within the budget."""
        check_draws(draws)
        made = cls.unchecked(solution, draws=int(draws), budget=budget, measured=measured, settings=settings)
        made._require_certificate()
        return made

    @classmethod
    def unchecked(cls, solution: Solution[Any], *, settings: dict[str, Any] | None = None, **asked: Any) -> Self:
        """A mechanism whether or not its certificate holds, to look at: if not, nothing can be drawn from it."""
        game = solution.game
        places, scales = game.groups(solution.profile)
        return cls(
            grid=game.histogram.grid,
            noise=game.kernel.noise,
            scales=game.kernel.scales,
            weight_total=game.kernel.total,
            epsilon=float(game.epsilon),
            scale_indices=scales,
            people=solution.profile[places, scales],
            settings=settings or {"public_bounds": False},
            solver=solution.summary(),
            **cls._of_game(game, solution.profile, places),
            **{"draws": 1, **asked},
        )

    @classmethod
    def _of_game(cls, game: Any, profile: Ints, places: Ints) -> dict[str, Any]:
        """What depends on the kind of game: where the groups are, and their weights."""
        return {"cells": places, "weights": game.weights(profile), "delta": game.delta, "order": game.order}

    @classmethod
    def from_document(cls, document: ProfileDocument, weights: Ints, shared: dict[str, Any]) -> Self:
        """As saved; whether it is certified is another question."""
        return cls(
            noise=document.noise,
            cells=np.array(document.cells, dtype=np.int64),
            scale_indices=np.array(document.scale_indices, dtype=np.int64),
            people=np.array(document.people, dtype=np.int64),
            weights=weights,
            delta=document.delta,
            order=document.order,
            measured=None if document.measured is None else Measured(**document.measured.model_dump()),
            solver=document.solver.model_dump(),
            **cls._of_document(document),
            **shared,
        )

    @classmethod
    def _of_document(cls, document: Any) -> dict[str, Any]:
        """What depends on the kind of mechanism."""
        return {"scales": tuple(document.scales), "weight_total": document.weight_total}

    def _own(self) -> dict[str, Any]:
        return {
            "noise": self.noise,
            "scales": list(self.scales),
            "weight_total": self.weight_total,
            "cells": self.cells.tolist(),
            "scale_indices": self.scale_indices.tolist(),
            "people": self.people.tolist(),
            **self._conditions(),
        }

    def _conditions(self) -> dict[str, Any]:
        measured = None if self.measured is None else vars(self.measured)
        return {"delta": self.delta, "order": self.order, "measured": measured}

    def _blob(self) -> Ints:
        return self.weights

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        return draw_cells(self.people, self.weights, self.weight_total, n, source)

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(self.people, (self.weights,), (self.weight_total,), self.epsilon, self.delta, self.order)

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group."""
        return Accountant(self.people, self.weights)

    @cached_property
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""
        return self.budget is None or self.accountant.within_budget(self.budget, self.draws)

    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""
        if self.measured is not None:
            return draws * self.target
        if self.budget is None or draws == 0:
            return draws * self.epsilon
        return self.accountant.worst(draws, self.budget.delta)

    @property
    def qualifier(self) -> str:
        """A delta, or the order of a Renyi divergence."""
        if self.order is not None:
            return f"Renyi divergence of order {self.order:g}"
        return f"delta = {at_most(self.delta)}" if self.delta > 0 else super().qualifier

    def promised_cost(self, draws: int) -> float:
        """What is promised of so many draws by what is public alone: with a budget, no less than all of them cost."""
        return draws * self.target if self.budget is None else self.budget.epsilon

    def declared(self, draws: int, *, public: bool = False) -> str:
        """What so many draws cost together, as the standard sentence says it; ``public``, what is promised of them."""
        cost = self.promised_cost(draws) if public else self.cost(draws)
        if self.budget is not None:
            return f"cost {within(cost, self.budget.delta)} together ({self.composed})"
        if self.delta > 0:
            return f"cost {within(cost, self.delta)}"
        how = "basic composition" if self.order is None else f"Renyi divergences of order {self.order:g} add up"
        return f"declared to cost {draws:,} x {at_most(self.target)} = {at_most(cost)} together ({how})"

    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives.

        ``delta`` is the budget's or the condition's, or 1e-6, if left out. The median is of quick upper bounds, and
        unless ``tight`` so is the worst.
        """
        check_costs(draws, delta)
        if self.measured is not None:  # a measured loss has no distribution to compose: it adds up
            worst = self.measured.worst
            names = ("worst", "median", "added_up")
            return [{"draws": many, "delta": 0.0, **dict.fromkeys(names, many * worst)} for many in draws]
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
                    "worst": self.accountant.worst(many, chosen) if tight else float(quick.max()),
                    "median": float(quick[middle]),
                    "added_up": many * self.worst_loss,
                }
            )
        return found

    @property
    def histogram(self) -> Ints:
        """People per cell."""
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        np.add.at(counts, self.cells, self.people)
        return counts

    @property
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""
        return self._sums() / (float(self.total_people) * self.weight_total)

    def _sums(self) -> Floats:
        return self.people.astype(np.float64) @ self.weights.astype(np.float64)

    def groups(self) -> tuple[Ints, Ints]:
        """Groups of interchangeable people: the cell they are in, and how many they are."""
        return self.cells, self.people

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group, in the order of ``cells`` and ``people``."""
        return losses(self.weights.astype(np.float64), self._sums(), self.total_people)

    @property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        condition = Condition(self.epsilon, self.total_people, self.delta, self.order)
        found = condition.divergences(self.weights.astype(np.float64), self._sums())
        return int(self.people[found <= (self.delta or self.epsilon)].sum())

    @property
    def target(self) -> float:
        """The epsilon that was asked for."""
        return self.epsilon if self.measured is None else self.measured.target

    def _one_draw(self, *, public: bool) -> str:
        who = "each person" if public else f"each of the {self.total_people:,} people"
        if self.measured is not None:
            worst = self.measured.target if public else self.measured.worst
            return (
                f"End-to-end tier, measured for this dataset: for {who} in it, the "
                f"privacy loss of one draw is {within(worst, 0)} (asked for: "
                f"{at_most(self.measured.target)}), between the data with them and with that one person removed, the "
                f"noise worked out again without them ({SECRET_SIZE})."
            )
        if self.order is not None:
            loss = f"the Renyi divergence of order {self.order:g} of one draw is at most {at_most(self.epsilon)}"
        elif public and self.budget is not None:  # how much of it one draw may cost was worked out from the data
            loss = f"the privacy loss of one draw is {within(self.budget.epsilon, self.budget.delta)}"
        else:
            loss = f"the privacy loss of one draw is {within(self.epsilon, self.delta)}"
        unit = self.settings.get("unit") if public else None
        rows = "" if unit is None else f" (rows with the same {unit!r} are one person's)"
        removed = "that one person removed" if unit is None else "all rows of that one person removed"
        return (
            f"Fixed-noise tier: for {who} in this dataset{rows}, {loss}, between the data "
            f"with them and with {removed}, everyone else's noise held fixed ({SECRET_SIZE})."
        )

    def _caveat(self, *, public: bool) -> str:
        if self.measured is not None:
            fixed = f" With everyone else's noise fixed, {at_most(self.epsilon)} is certified."
            return (
                " This is a measurement and not differential privacy: other datasets, and people who are not in this "
                f"one, are promised nothing.{'' if public else fixed}"
            )
        return (
            " This is per-instance and not differential privacy: without that person the game would have chosen other "
            "noise, and people who are not in the data are promised nothing."
        )

    def _asked(self) -> dict[str, Any]:
        return {**super()._asked(), **self._conditions()}

    def _shown(self) -> dict[str, Any]:
        groups = zip(self.cells.tolist(), self.scale_indices.tolist(), self.people.tolist(), strict=True)
        return {
            "noise": self.noise,
            "scales": list(self.scales),
            "weight_total": self.weight_total,
            "profile": [{"cell": cell, "scale": scale, "people": people} for cell, scale, people in groups],
            "weights": self.weights.tolist(),
        }
