"""Per-instance mechanisms: a profile of the game, frozen, with the rows of integers that everyone draws from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.errors import BadInput
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel
from equinoise.mechanisms.draw_costs import DELTA, check_costs
from equinoise.mechanisms.profile_weights import ProfileWeights
from equinoise.privacy.accounting import Accountant, Budget
from equinoise.privacy.promise import PER_INSTANCE, Neighbours
from equinoise.settings import check_setting
from equinoise.solvers.best_response import best_response
from equinoise.solvers.solution import Solution

MOST_COST_WEIGHTS = 2**26
"""Weights that are ever laid out: half a gigabyte, and some copies of it."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PerInstance(ProfileWeights):
    """A profile of the game with the rows of integers that everyone draws from."""

    kind = PER_INSTANCE
    method = "game"
    neighbours = Neighbours.PERSON_REMOVED
    composed = "each person's own loss distribution composed, in floating point, losses rounded upwards"
    costs_differ = True

    def __post_init__(self) -> None:
        kinds = (self.delta > 0) + (self.order is not None) + (self.budget is not None)
        if kinds > 1 or (self.delta > 0 and self.draws != 1):
            raise BadInput("A mechanism has a delta (for one draw), a Renyi order or a budget, not two of them.")
        super().__post_init__()

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        draws: int = 1,
        budget: Budget | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Self:
        """Freeze a solution, if the certificate holds for it and its draws are within the budget."""
        check_setting("draws", draws)
        made = cls.unchecked(solution, draws=int(draws), budget=budget, settings=settings)
        made._require_certificate()
        return made

    @classmethod
    def unchecked(cls, solution: Solution, *, settings: dict[str, Any] | None = None, **asked: Any) -> Self:
        """A mechanism whether or not its certificate holds, to look at: if not, nothing can be drawn from it."""
        game, players = solution.game, solution.game.players
        types, scales = game.groups(solution.profile)
        begins, entries = players.entries(types)
        bins = players.grid.bins_of(players.cells)
        return cls(
            grid=players.grid,
            noise=game.kernel.noise,
            scales=game.kernel.scales,
            epsilon=float(game.epsilon),
            scale_indices=scales,
            people=solution.profile[types, scales],
            begins=begins,
            cells=players.cells[entries],
            times=players.times[entries],
            factors=game.kernel.weights_of(np.repeat(scales, np.diff(begins)), bins[entries]),
            delta=game.delta,
            order=game.order,
            settings=settings or {"public_bounds": False},
            solver=solution.summary(),
            **{"draws": 1, **asked},
        )

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (a ``PerInstanceDocument``) and its weights tell."""
        entries = np.array([entry for bag in document.bags for entry in bag], dtype=np.int64).reshape(-1, 2)
        return cls(
            noise=document.noise,
            scales=tuple(tuple(choice) for choice in document.scales),
            scale_indices=np.array(document.scale_indices, dtype=np.int64),
            people=np.array(document.people, dtype=np.int64),
            begins=np.cumsum([0, *map(len, document.bags)]),
            cells=entries[:, 0],
            times=entries[:, 1],
            factors=tuple(np.split(weights, np.cumsum([axis.bins for axis in document.axes])[:-1], axis=1)),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {
            "noise": self.noise,
            "scales": [list(choice) for choice in self.scales],
            "bags": [[list(entry) for entry in bag] for bag in self.bags],
            "scale_indices": self.scale_indices.tolist(),
            "people": self.people.tolist(),
        }

    def game(self, epsilon: float | None = None) -> Game:
        """The game with these people, noise, scales and utility, at this epsilon of one draw or another one."""
        kernel = make_kernel(
            self.noise, self.scales, self.grid.shape, self.grid.bins_of(self.cells), self.grid.categories
        )
        utility, one = self.settings.get("utility", "kl"), self.epsilon if epsilon is None else epsilon
        return Game(self.players, kernel, one, utility, self.delta, self.order)

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group; here everyone's weights are laid out over all cells."""
        groups, cells = len(self.people), self.grid.cells
        if groups * cells > MOST_COST_WEIGHTS:
            raise BadInput(
                f"What many draws cost needs {groups:,} groups x {cells:,} cells = {groups * cells:,} weights at once, "
                f"and {MOST_COST_WEIGHTS:,} are possible. Use fewer bins or scales, or leave out delta."
            )
        whole = np.int64 if int(self.members.sizes.max()) * self.weight_total < 2**63 else object
        return Accountant(self.people, np.concatenate([rows for _, rows in self.laid_out(whole)]), self.members.sizes)

    @cached_property
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""
        return self.budget is None or self.accountant.within_budget(self.budget, self.draws or 0)

    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""
        if self.budget is None or draws == 0:
            return draws * self.epsilon
        return self.accountant.worst(draws, self.budget.delta)

    def promised_cost(self, draws: int) -> float:
        """What is promised of so many draws by what is public alone: with a budget, no less than all of them cost."""
        return draws * self.epsilon if self.budget is None else self.budget.epsilon

    def group_costs(self, draws: int) -> Floats:
        """What so many draws cost a person of each group together: at most.

        Only groups whose quick bound is above the worst total are composed; for the others it is the bound itself.
        """
        if self.order is not None:
            return np.full(len(self.people), draws * self.epsilon)
        delta = self.budget.delta if self.budget is not None else self.delta
        quick = self.accountant.bounds(draws, delta)
        if draws and delta > 0:
            worst = self.accountant.worst(draws, delta)
            for group in np.flatnonzero(quick > worst).tolist():
                quick[group] = min(worst, self.accountant.tight(group, draws, delta, enough=0.9 * worst))
        return quick

    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives.

        ``delta`` is the budget's or the condition's, or 1e-6, if left out. The median is of quick upper bounds, and
        unless ``tight`` so is the worst.
        """
        check_costs(draws, delta)
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

    def kl_at(self, epsilon: float, *, restarts: int = 1) -> float | None:
        """KL from the original where best response ends at another epsilon; None where someone is unprotected."""
        try:
            game = self.game(epsilon)
        except BadInput:
            return None
        solution = best_response(game, restarts=restarts, seed=int(self.solver.get("seed", 0)))
        return solution.kl if solution.protected == game.people else None

    def _parts(self) -> dict[str, Any]:
        groups = zip(self.bags, self.scale_indices.tolist(), self.people.tolist(), strict=True)
        return {
            "noise": self.noise,
            "scales": [list(choice) for choice in self.scales],
            "weight_totals": list(self.totals),
            "profile": [
                {"rows": [{"cell": cell, "rows": times} for cell, times in bag], "scale": scale, "people": people}
                for bag, scale, people in groups
            ],
            "weights": [rows.tolist() for rows in self.factors],
        }
