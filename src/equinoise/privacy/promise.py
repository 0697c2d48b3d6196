"""What is promised, as a value, and every sentence about it.

A :class:`Promise` says between which neighbours, by which measure, with which epsilon, delta or order, of how many
draws and for whom. Its sentences are rendered here and nowhere else, so that none says more than the value does.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from enum import Enum

from equinoise.errors import check, is_number, is_whole
from equinoise.formatting import at_most

PER_INSTANCE, DIFFERENTIAL_PRIVACY = KINDS = ("per-instance", "differential-privacy")
"""The two kinds of promises: of ``optimize``, and of ``synthesize``."""

BOUNDS_NOT_PUBLIC = "The bounds were read off the data and are not private."

SECRET_SIZE = "the number of people is itself not public"

NOT_DIFFERENTIAL_PRIVACY = (
    "This is not differential privacy: without that person the game would have chosen other noise, and people who are "
    "not in the data are promised nothing."
)


class Neighbours(Enum):
    """Which two datasets are compared."""

    PERSON_REMOVED = "this dataset, and the same without one person"
    PERSON_ADDED_OR_REMOVED = "any dataset within the bounds, and the same with one person more or less"
    VALUE_CHANGED = "any two values of one person within the bounds"


class Measure(Enum):
    """What of the two distributions of a draw is bounded."""

    PURE = "the privacy loss"
    APPROXIMATE = "the privacy loss, but for a probability of delta"
    RENYI = "the Renyi divergence of an order"


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What is promised of the draws of a mechanism; ``str`` of it is the standard sentence.

    ``epsilon`` (with ``delta``, or as the Renyi divergence of an ``order``) is what was asked for: of one draw, or
    where draws are ``composed`` (by the way it names) of all ``draws`` together; ``epsilon_per_draw`` is then what one
    of them may cost. ``draws`` of None are any number. ``people`` and ``total_rows`` say for whom; they are secret, and
    None where that is not to be told. ``unit`` names the column that tells whose a row is, if one does, and
    ``unit_rows`` which of a person's rows count.
    """

    neighbours: Neighbours
    epsilon: float
    delta: float = 0.0
    order: float | None = None
    draws: int | None = 1
    composed: str | None = None
    epsilon_per_draw: float | None = None
    people: int | None = None
    total_rows: int | None = None
    unit: str | None = None
    unit_rows: str = "all"
    public_bounds: bool = True
    own_base: bool = False

    def __post_init__(self) -> None:
        check(isinstance(self.neighbours, Neighbours), "neighbours", "one of Neighbours", self.neighbours)
        check(is_number(self.epsilon) and 0 <= self.epsilon < math.inf, "epsilon", "a number from 0 on", self.epsilon)
        check(is_number(self.delta) and 0 <= self.delta < 1, "delta", "a number from 0 to below 1", self.delta)
        check(self.draws is None or is_whole(self.draws, 1, sys.maxsize), "draws", "a whole number or None", self.draws)
        check(self.unit_rows in {"all", "one"}, "unit_rows", "'all' or 'one'", self.unit_rows)
        if self.order is not None:
            game = self.kind == PER_INSTANCE and self.delta == 0
            check(game and self.order > 1, "order", "above 1, for a per-instance promise without delta", self.order)

    @property
    def kind(self) -> str:
        """``per-instance``, or ``differential-privacy``, which holds for every dataset."""
        return PER_INSTANCE if self.neighbours is Neighbours.PERSON_REMOVED else DIFFERENTIAL_PRIVACY

    @property
    def measure(self) -> Measure:
        """What is bounded."""
        if self.order is not None:
            return Measure.RENYI
        return Measure.APPROXIMATE if self.delta > 0 else Measure.PURE

    def public(self) -> Promise:
        """The promise with nothing in it that was worked out from the data, for whoever may not see the data.

        In the game, what one of several composed draws may cost was worked out from the data.
        """
        secret = self.composed is not None and self.kind == PER_INSTANCE
        one = None if secret else self.epsilon_per_draw
        return replace(self, people=None, total_rows=None, epsilon_per_draw=one)

    @property
    def qualifier(self) -> str:
        """What belongs beside every figure of what draws cost, where it is not a pure epsilon."""
        if self.order is not None:
            return f"Renyi divergence of order {self.order:g}"
        return f"delta = {at_most(self.delta)}" if self.delta > 0 else ""

    @property
    def headline(self) -> str:
        """The kind of promise in a few words."""
        return "Per-instance, not differential privacy." if self.kind == PER_INSTANCE else "Differential privacy."

    def __str__(self) -> str:
        """What is promised of one draw and of all, what that is not, and which bounds it rests on."""
        once = f" Of rows with the same {self.unit!r}, which are one person's, only the middle one is used."
        parts = [
            self._for_this_dataset() if self.kind == PER_INSTANCE else self._for_every_dataset(),
            once if self.unit is not None and self.unit_rows == "one" else "",
            "" if self.draws in {1, None} else f" {self.draws:,} draws are allowed and {self._all_draws()}.",
            f" {self._caveat()}",
            "" if self.public_bounds else f" {BOUNDS_NOT_PUBLIC}",
        ]
        return "".join(parts)

    def cost(self, draws: int, epsilon: float) -> str:
        """That so many draws cost ``epsilon`` together, in words."""
        if self.composed is not None:
            return f"cost {within(epsilon, self.delta)} together ({self.composed})"
        if self.delta > 0:
            return f"cost {within(epsilon, self.delta)}"
        says = "declared to cost" if self.kind == PER_INSTANCE else "cost at most"
        how = "basic composition" if self.order is None else f"Renyi divergences of order {self.order:g} add up"
        return f"{says} {draws:,} x {at_most(self.epsilon)} = {at_most(epsilon)} together ({how})"

    def in_short(self) -> str:
        """What is promised of a release, in half a sentence."""
        epsilon = at_most(self.epsilon) if self.epsilon > 0 else "epsilon"
        if self.neighbours is Neighbours.PERSON_REMOVED:
            return (
                f"one draw: the loss of each person in this dataset is at most {epsilon}, everyone else's noise held "
                "fixed (per-instance; not differential privacy)"
            )
        if self.neighbours is Neighbours.VALUE_CHANGED:
            return (
                f"every value: each person's own noisy value is {epsilon}-DP between any two values within the bounds, "
                "so all of them may be released (a floating-point figure, not certified)"
            )
        every = "for every dataset within the bounds, one person added or removed"
        if self.draws is None:
            return (
                f"any number of draws: the noisy counts are {epsilon}-DP {every} (people protected: by this theorem, "
                "not measured)"
            )
        return f"one draw: {epsilon}-DP {every}"

    def _all_draws(self) -> str:
        assert self.draws is not None
        return self.cost(self.draws, self.epsilon * (1 if self.composed is not None else self.draws))

    def _for_every_dataset(self) -> str:
        """The standard sentence of differential privacy: neighbours, one draw, delta."""
        loss = (self.epsilon, self.delta) if self.epsilon_per_draw is None else (self.epsilon_per_draw, 0)
        return (
            "Differential privacy: for every dataset of at least one person within the bounds, the privacy loss of one "
            f"draw is {within(*loss)}, between the data with a person and with that one person removed, or added "
            f"({SECRET_SIZE})."
        )

    def _for_this_dataset(self) -> str:
        """The standard sentence of the game: for whom, neighbours, one draw, delta."""
        if self.order is not None:
            loss = f"the Renyi divergence of order {self.order:g} of one draw is at most {at_most(self.epsilon)}"
        elif self.epsilon_per_draw is None:
            loss = f"the privacy loss of one draw is {within(self.epsilon, self.delta)}"
        else:
            loss = f"the privacy loss of one draw is {within(self.epsilon_per_draw, 0)}"
        unit = self.unit if self.unit_rows != "one" else None
        in_all = "" if self.total_rows is None else f", {self.total_rows:,} rows in all"
        rows = "" if unit is None else f" (rows with the same {unit!r} are one person's{in_all})"
        removed = "that one person removed" if unit is None else "all rows of that one person removed"
        who = "each person" if self.people is None else f"each of the {self.people:,} people"
        return (
            f"Per-instance: for {who} in this dataset{rows}, {loss}, between the data "
            f"with them and with {removed}, everyone else's noise held fixed ({SECRET_SIZE})."
        )

    def _caveat(self) -> str:
        if self.kind == PER_INSTANCE:
            return NOT_DIFFERENTIAL_PRIVACY
        base = ", provided that the base distribution was not taken from the data" if self.own_base else ""
        return f"The weights are worked out again without that person{base}."


def within(epsilon: float, delta: float) -> str:
    """An epsilon and a delta as the standard sentence says them."""
    return f"at most {at_most(epsilon)} with delta = {at_most(delta)}"
