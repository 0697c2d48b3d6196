"""Mechanisms of differential privacy: what they share, whichever way their rows are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from equinoise.data.bounds_cost import rounded
from equinoise.data.grid import Floats, Grid, Ints, number_axes
from equinoise.data.players import Players
from equinoise.data.read_players import most_rows_of
from equinoise.data.schema_checks import printed
from equinoise.errors import BadInput
from equinoise.game.kernel import MOST_CELLS
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.draw_costs import DELTA, check_costs
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, Neighbours, Promise
from equinoise.settings import PRIVATE_RULES


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateTable(Mechanism):
    """People by the cells of their rows that count, at most ``rows_per_person`` of each; and, in subclasses, weights.

    ``budget`` is what was asked for: epsilon and delta of everything that comes out together. ``epsilon`` is what one
    release costs: a row, or everything where the price is paid once.
    """

    kind = DIFFERENTIAL_PRIVACY
    neighbours = Neighbours.PERSON_ADDED_OR_REMOVED
    usual_rules = PRIVATE_RULES
    certified: ClassVar[str]
    """What the certificate checks, beside the promise."""

    proof: ClassVar[str] = ""
    """Whose proof the promise rests on, where it is not ours."""

    counted: Players
    rows_per_person: int = 1

    @property
    def members(self) -> Players:
        """Everyone, by the cells of their rows that count."""
        return self.counted

    @property
    def occupied(self) -> Ints:
        """The cells that anyone has a row in, ascending."""
        return self.counted.occupied

    @property
    def occupied_rows(self) -> Ints:
        """Rows in each of the occupied cells: people, where everyone has one."""
        return self.counted.counts.astype(np.int64)

    @property
    def total(self) -> float:
        """Epsilon of everything that comes out together, bounds that were found privately included."""
        own, bounds = self.epsilon if self.budget is None else self.budget.epsilon, self.settings.get("bounds_epsilon")
        return own if bounds is None else rounded(printed(own) + printed(bounds), up=True)

    def _own(self) -> dict[str, Any]:
        players = self.counted
        lists = {name: getattr(players, name).tolist() for name in ("begins", "cells", "times", "people")}
        return {**lists, "rows_per_person": self.rows_per_person}

    def _parts(self) -> dict[str, Any]:
        return self._own()

    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows; by the theorem it is the same for everyone, whatever the data."""
        check_costs(draws, delta)
        chosen = delta if delta is not None else self.budget.delta if self.budget and self.budget.delta else DELTA
        rows = []
        for many in draws:
            each = self._cost_at(many, chosen)
            added = self.epsilon * (1 if self.draws is None else many)
            rows.append({"draws": many, "delta": chosen, "worst": each, "median": each, "added_up": added})
        return rows

    def _cost_at(self, draws: int, delta: float) -> float:
        """What so many draws cost together, except with probability ``delta``."""
        return self.total

    def cost(self, draws: int) -> float:
        """What so many draws cost together, except with the delta that was asked for."""
        return self._cost_at(draws, 0.0 if self.budget is None else self.budget.delta)

    def promised_cost(self, draws: int) -> float:
        """What so many draws cost together: :meth:`cost`, as the theorem knows nothing of the data."""
        return self.cost(draws)

    @property
    def protected(self) -> int:
        """Everyone, by the theorem that the certificate checks."""
        return self.total_people if self.certificate().holds else 0

    @property
    def rows_alike(self) -> int:
        """About as many rows as were counted, by what was released; only noisy counts tell."""
        raise BadInput("As many rows as there are people can only be told by noisy counts: --method pay-once.")

    @property
    def losses_by_theorem(self) -> bool:
        """Whether nobody's own loss is worked out: then it is epsilon for everyone."""
        return True

    @cached_property
    def _losses(self) -> Floats:
        return np.full(self.counted.types, self.epsilon)

    @property
    def loss_basis(self) -> str:
        """What losses work out again, if they do."""
        return "by the theorem, and not worked out"

    def kl_at(self, epsilon: float, *, restarts: int = 1) -> float | None:
        """None: what another epsilon would have given was not drawn."""
        return None

    @cached_property
    def promise(self) -> Promise:
        """What is promised of everything that comes out together."""
        budget, settings = self.budget, self.settings
        return Promise(
            neighbours=self.neighbours,
            epsilon=self.total,
            delta=0.0 if budget is None else budget.delta,
            draws=self.draws,
            composed=self.composed if budget is not None and budget.delta > 0 else None,
            epsilon_per_draw=None if self.draws in {None, 1} else self.epsilon,
            people=self.total_people,
            total_rows=self.total_rows,
            unit=settings.get("unit"),
            most_rows=most_rows_of(settings) if settings.get("unit") is not None else None,
            own_base=self.base is not None,
            bounds_epsilon=settings.get("bounds_epsilon", 0.0),
            proof=self.proof,
            refuses=any(axis.missing == "refuse" or axis.outside == "refuse" for axis in self.grid.axes),
        )


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
