"""A mechanism: what is certified, drawn from and saved, whichever tier its promise is of."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from equinoise import baselines, storage
from equinoise.accounting import Budget
from equinoise.certificate import Certificate
from equinoise.draws import MOST_DRAWS, RandomBytes
from equinoise.errors import BadInput, PromiseNotMet, at_most, check, is_number, is_whole
from equinoise.grid import Floats, Grid, Ints
from equinoise.ledger import Ledger
from equinoise.metrics import distances, metrics
from equinoise.privacy import QUANTILES, quantiles
from equinoise.shown import Shown

DELTA = 1e-6
"""For the cost of many draws, where nobody says another one."""

LEAST_COST_DELTA = 1e-15
"""For the cost of many draws: the tests hold it against exact binomials down to here."""


def check_costs(draws: Any, delta: Any) -> None:
    """Refuse numbers of draws, or a probability, whose cost cannot be worked out."""
    usable = isinstance(draws, Sequence | np.ndarray) and not isinstance(draws, str) and len(draws) > 0
    check(usable, "draws", "a list of whole numbers", draws)
    for many in draws:
        check(is_whole(many, 1, MOST_DRAWS), "draws", f"whole numbers from 1 to {MOST_DRAWS}", many)
    if delta is not None:
        possible = is_number(delta) and LEAST_COST_DELTA <= delta < 1
        check(possible, "delta", f"at least {LEAST_COST_DELTA:g} and below 1", delta)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mechanism(Shown):
    """What all tiers share: a grid, an epsilon for one draw, the draws that are allowed, and a ledger.

    ``budget``, if there is one, is for all draws that are allowed together. Make one with :func:`equinoise.optimize`,
    or open a saved one. Nothing can be drawn from it or saved unless its certificate holds, and every draw is charged
    to its ledger first.
    """

    composed: ClassVar[str]
    """How the cost of many draws is worked out, where it is not by adding up."""

    grid: Grid
    epsilon: float
    draws: int
    budget: Budget | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    solver: dict[str, Any] = field(default_factory=dict)
    ledger: Ledger = None  # type: ignore[assignment]

    def _shown_mechanism(self) -> Mechanism:
        return self

    @property
    @abstractmethod
    def tier(self) -> str:
        """How strong the promise is: fixed-noise, end-to-end or worst-case."""

    def __post_init__(self) -> None:
        digest = storage.pack_digest(self._document(), self._blob())
        if self.ledger is None:
            object.__setattr__(self, "ledger", Ledger(self.draws, digest))
        elif self.ledger.digest != digest:
            raise BadInput("A mechanism cannot be changed: its ledger belongs to what it was. Make a new one.")

    @staticmethod
    def open(path: str | Path) -> Mechanism:
        """A saved mechanism; it is certified again, and draws are charged to the file."""
        from equinoise.opening import open_saved

        return open_saved(Path(path))

    @staticmethod
    def read(path: str | Path) -> Mechanism:
        """A saved mechanism as it stands, for an audit: its certificate may not hold."""
        from equinoise.opening import read_saved

        return read_saved(Path(path))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save to a new file that only its owner can read; later draws are charged there.

        With ``force`` a file that is there is replaced, with its ledger: what was released from it is forgotten, but
        still counts against the people in it.
        """
        self._require_certificate()
        self.ledger.save(
            lambda releases: storage.write(Path(path), self._document(), self._blob(), releases, force=force)
        )

    def __copy__(self) -> Mechanism:
        """Itself: a mechanism never changes, and a second one would have a second ledger."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mechanism:
        """Itself, as for a plain copy."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the name of its file, which is opened again wherever it is unpickled."""
        if self.ledger.path is None:
            raise BadInput(
                "This mechanism is not saved, so its draws are counted in this process alone and it cannot be pickled. "
                "Save it first; then its file is opened again wherever it arrives."
            )
        return Mechanism.open, (str(self.ledger.path),)

    def report(self, path: str | Path, *, public: bool = False, force: bool = False) -> None:
        """Write one page about it, to look at: as secret as the data, or ``public`` without all that is."""
        from equinoise.report import write_report

        write_report(self, path, public=public, force=force)

    def _require_certificate(self) -> None:
        """Refuse to go on unless everything that is promised was checked."""
        if not self._certificate.holds:
            raise PromiseNotMet(
                f"The certificate does not hold: {self._certificate.failure}. Nothing can be drawn or saved."
            )
        if not self.within_budget:
            raise PromiseNotMet("All draws together would cost more than the budget. Nothing can be drawn or saved.")

    def _document(self) -> str:
        shared = {
            "tier": self.tier,
            "axes": [axis.to_json() for axis in self.grid.axes],
            "epsilon": self.epsilon,
            "draws": self.draws,
            "budget": None if self.budget is None else vars(self.budget),
            "settings": self.settings,
            "solver": self.solver,
        }
        return json.dumps({**shared, **self._own()}, sort_keys=True, allow_nan=False)

    @abstractmethod
    def _own(self) -> dict[str, Any]:
        """The part of the saved document that other tiers do not have."""

    @abstractmethod
    def _blob(self) -> Ints:
        """Rows of weights that are saved beside the document."""

    def sample(self, n: int = 1, *, source: RandomBytes = os.urandom) -> Floats:
        """``n`` draws in data units (with several columns, rows of them), charged to the ledger first.

        ``source`` is for tests."""
        return np.concatenate(list(self.stream(n, source=source)))

    def stream(self, n: int, *, source: RandomBytes = os.urandom) -> Iterator[Floats]:
        """Draws as of :meth:`sample`, some at a time, for more than memory should hold. All are charged at once."""
        check(is_whole(n, 1, MOST_DRAWS), "n", "a whole number of at least 1", n)
        self._require_certificate()
        self.ledger.charge(int(n))
        return (self._values(drawn) for drawn in self._draw(int(n), source))

    def _values(self, drawn: Ints) -> Floats:
        """Drawn cells in data units."""
        return self.released_values[drawn]

    @property
    def released_values(self) -> Floats:
        """What a draw of each cell of one column is released as, in data units."""
        return self.grid.axis.midpoints()

    @abstractmethod
    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        """Cells of ``n`` draws."""

    def certificate(self) -> Certificate:
        """The exact check, from the integers alone."""
        return self._certificate

    @cached_property
    @abstractmethod
    def _certificate(self) -> Certificate:
        """Worked out once."""

    @property
    @abstractmethod
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""

    @abstractmethod
    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""

    @property
    def qualifier(self) -> str:
        """What belongs beside every figure of what draws cost, where it is not a pure epsilon."""
        return "" if self.budget is None else f"delta = {at_most(self.budget.delta)}"

    @abstractmethod
    def promised_cost(self, draws: int) -> float:
        """What is promised of so many draws by what is public alone: never less than :meth:`cost`."""

    @abstractmethod
    def declared(self, draws: int, *, public: bool = False) -> str:
        """What so many draws cost together, as the standard sentence says it; ``public``, what is promised of them."""

    @abstractmethod
    def costs(self, draws: Sequence[int], delta: float | None = None) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives."""

    @property
    @abstractmethod
    def histogram(self) -> Ints:
        """People per cell."""

    @property
    @abstractmethod
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""

    @abstractmethod
    def groups(self) -> tuple[Ints, Ints]:
        """Groups of interchangeable people: the cell they are in, and how many they are."""

    def placed(self) -> tuple[Ints, Ints]:
        """A cell and a group for every cell that people of a group are in: here, every group is in one."""
        cells, people = self.groups()
        return cells, np.arange(len(people))

    @abstractmethod
    def losses(self) -> Floats:
        """Loss of one draw for a person of each group."""

    @property
    @abstractmethod
    def protected(self) -> int:
        """People who are within what is promised of one draw."""

    @property
    def target(self) -> float:
        """The epsilon that one draw is to stay within."""
        return self.epsilon

    @property
    def total_people(self) -> int:
        """How many people there are."""
        return int(self.groups()[1].sum())

    @property
    def original(self) -> Floats:
        """p: the distribution of the data over the cells."""
        return self.histogram / self.total_people

    @property
    def worst_loss(self) -> float:
        """The largest loss of anyone."""
        return float(self.losses().max())

    def loss_quantiles(self, shares: tuple[float, ...] = QUANTILES) -> dict[str, float]:
        """The loss that a share of the people stays within, for each share."""
        return quantiles(self.losses(), self.groups()[1], shares)

    def metrics(self) -> dict[str, Any]:
        """How close the output is to the original."""
        return metrics(self.original, self.output, self.released_values)

    def laplace_output(self, epsilon: float | None = None) -> Floats:
        """What the Laplace mechanism would release on the same grid, at the epsilon that was asked for or another."""
        return baselines.laplace_output(self.original, self.grid.axes, self.target if epsilon is None else epsilon)

    def baseline(self) -> dict[str, Any]:
        """The Laplace mechanism's metrics on the same grid, to hold :meth:`metrics` against."""
        return distances(self.original, self.laplace_output(), self.grid.axes)

    @property
    def promise(self) -> str:
        """What is promised, in one standard sentence and what must be said with it."""
        return self._promise(public=False)

    @property
    def public_promise(self) -> str:
        """What is promised, with nothing in it that was worked out from the data: for whoever may not see the data."""
        return self._promise(public=True)

    def _promise(self, *, public: bool) -> str:
        if self.budget is None:
            together = self.declared(self.draws)
        else:
            together = f"cost {within(self.budget.epsilon, self.budget.delta)} together ({self.composed})"
        several = "" if self.draws == 1 else f" {self.draws:,} draws are allowed and {together}."
        bounds = "" if self.settings.get("public_bounds") else " " + NOT_PRIVATE
        unit = self.settings.get("unit")
        once = f" Of rows with the same {unit!r}, which are one person's, only the middle one is used."
        whose = once if unit is not None and self.settings.get("unit_rows") == "one" else ""
        return f"{self._one_draw(public=public)}{whose}{several}{self._caveat(public=public)}{bounds}"

    @abstractmethod
    def _one_draw(self, *, public: bool) -> str:
        """The standard sentence: tier, neighbours, one draw, delta."""

    @abstractmethod
    def _caveat(self, *, public: bool) -> str:
        """What the promise is not."""

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {
            "tier": self.tier,
            "people": self.total_people,
            "cells": self.grid.cells,
            "protected": self.protected,
            **self._asked(),
            "worst_loss": self.worst_loss,
            "metrics": self.metrics(),
            "baseline": self.baseline(),
            "certificate": self.certificate().to_json(),
            "solver": self.solver,
            "promise": self.promise,
        }

    def _asked(self) -> dict[str, Any]:
        """What was asked for, as JSON shows it."""
        budget = None if self.budget is None else vars(self.budget)
        return {"epsilon": self.epsilon, "draws": self.draws, "budget": budget}

    def to_json(self) -> dict[str, Any]:
        """The whole mechanism, enough to compute q and every loss again."""
        return {
            "tier": self.tier,
            "grid": {"axes": [axis.to_json() for axis in self.grid.axes]},
            **self._asked(),
            **self._shown(),
            "settings": self.settings,
            "solver": self.solver,
        }

    @abstractmethod
    def _shown(self) -> dict[str, Any]:
        """The part of that which other tiers do not have."""


NOT_PRIVATE = "The bounds were read off the data and are not private."

SECRET_SIZE = "the number of people is itself not public"


def within(epsilon: float, delta: float) -> str:
    """An epsilon and a delta as the standard sentence says them."""
    return f"at most {at_most(epsilon)} with delta = {at_most(delta)}"
