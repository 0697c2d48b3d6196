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
    of them may cost. With differential privacy ``epsilon`` and ``delta`` are of everything that comes out together.
    ``draws`` of None are any number. ``proof`` says whose proof it is, where it is not ours, and ``refuses`` that some
    values are refused, which one person's value decides. ``people`` and ``total_rows`` say for whom; they are secret,
    and None where that is not to be told. ``bounds_epsilon`` is what finding the bounds with differential privacy cost:
    a part of epsilon, or beside it in the game. ``unit`` names the column that tells whose a row is, if one does, and
    ``most_rows`` how many of a person's rows count (None is all).
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
    most_rows: int | None = None
    public_bounds: bool = True
    own_base: bool = False
    bounds_epsilon: float = 0.0
    proof: str = ""
    refuses: bool = False

    def __post_init__(self) -> None:
        check(isinstance(self.neighbours, Neighbours), "neighbours", "one of Neighbours", self.neighbours)
        check(is_number(self.epsilon) and 0 <= self.epsilon < math.inf, "epsilon", "a number from 0 on", self.epsilon)
        check(is_number(self.delta) and 0 <= self.delta < 1, "delta", "a number from 0 to below 1", self.delta)
        check(self.draws is None or is_whole(self.draws, 1, sys.maxsize), "draws", "a whole number or None", self.draws)
        most = self.most_rows is None or is_whole(self.most_rows, 1, sys.maxsize)
        check(most, "most_rows", "a whole number or None", self.most_rows)
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

    @property
    def in_one_line(self) -> str:
        """What was asked for and is promised, in one sentence."""
        delta = f" and delta {at_most(self.delta)}" if self.delta > 0 else ""
        if self.kind == DIFFERENTIAL_PRIVACY:
            rows = "" if self.unit is None else f" (with all rows of the same {self.unit!r})"
            whose = f"; the proof is that of {self.proof}" if self.proof else ""
            bounds = f" ({at_most(self.bounds_epsilon)} of it for the bounds)" if self.bounds_epsilon else ""
            return (
                f"Differential privacy with epsilon {at_most(self.epsilon)}{delta}{bounds} for everything in this "
                f"release, one person{rows} added or removed{whose}."
            )
        many = "one draw" if self.composed is None else f"all {self.draws:,} draws together"
        loss = f"a loss of at most {at_most(self.epsilon)}" if self.order is None else (
            f"a Renyi divergence of order {self.order:g} of at most {at_most(self.epsilon)}"
        )  # fmt: skip
        return (
            f"Each person in this dataset has {loss}{delta} in {many}, everyone else's noise held fixed; this is not "
            "differential privacy."
        )

    def __str__(self) -> str:
        """What is promised of one draw and of all, what that is not, and which bounds it rests on."""
        allowed = f" {self.draws:,} draws are allowed and {self.cost_of_all}." if self.draws not in {1, None} else ""
        parts = [
            self._for_this_dataset() + allowed if self.kind == PER_INSTANCE else self._for_every_dataset(),
            self._rows_that_count(),
            f" {self._caveat()}",
            "" if self.public_bounds else f" {BOUNDS_NOT_PUBLIC}",
            self._bounds_besides(),
        ]
        return "".join(parts)

    def cost(self, draws: int, epsilon: float) -> str:
        """That so many draws cost ``epsilon`` together, in words."""
        if self.draws is None:
            return f"cost nothing beyond the {within(epsilon, self.delta)} that was paid once"
        if self.composed is not None:
            return f"cost {within(epsilon, self.delta)} together ({self.composed})"
        if self.delta > 0:
            return f"cost {within(epsilon, self.delta)}"
        if self.kind == DIFFERENTIAL_PRIVACY:
            return f"cost at most {at_most(epsilon)} together (basic composition)"
        how = "basic composition" if self.order is None else f"Renyi divergences of order {self.order:g} add up"
        return f"declared to cost {draws:,} x {at_most(self.epsilon)} = {at_most(epsilon)} together ({how})"

    def in_short(self) -> str:
        """What is promised of a release, in half a sentence."""
        epsilon = at_most(self.epsilon) if self.epsilon > 0 else "epsilon"
        what, each = "one draw", ""
        if self.draws not in {1, None}:
            one = f"epsilon/{self.draws:,}" if self.epsilon_per_draw is None else at_most(self.epsilon_per_draw)
            what, each = f"all {self.draws:,} draws together", f" ({one} a draw, which adds up)"
        if self.neighbours is Neighbours.PERSON_REMOVED:
            return (
                f"{what}: the loss of each person in this dataset is at most {epsilon}{each}, everyone else's noise "
                "held fixed (per-instance; not differential privacy)"
            )
        if self.neighbours is Neighbours.VALUE_CHANGED:
            return (
                f"every value: each person's own noisy value is {epsilon}-DP between any two values within the bounds, "
                "so all of them may be released (a floating-point figure, not certified)"
            )
        every = "for every dataset within the bounds, one person added or removed"
        if self.draws is not None:
            return f"{what}: {epsilon}-DP {every}{each}"
        counts = f"{epsilon}-DP" if self.delta == 0 else f"({epsilon}, {at_most(self.delta)})-DP"
        theorem = "this theorem" if not self.proof else f"the theorem of {self.proof}"
        return (
            f"any number of draws: the noisy counts are {counts} {every} (people protected: by {theorem}, not measured)"
        )

    @property
    def cost_of_all(self) -> str:
        """What all draws cost together, in words."""
        assert self.draws is not None
        return self.cost(self.draws, self.epsilon * (1 if self.composed is not None else self.draws))

    def _rows_that_count(self) -> str:
        """Which of a person's rows count, if not all."""
        if self.unit is None or self.most_rows is None:
            return ""
        which = "only the middle one is" if self.most_rows == 1 else f"at most {self.most_rows:,}, evenly spread, are"
        return f" Of rows with the same {self.unit!r}, which are one person's, {which} used."

    def _bounds_besides(self) -> str:
        """That a promise of the game does not count what the bounds cost."""
        if not self.bounds_epsilon or self.kind == DIFFERENTIAL_PRIVACY:
            return ""
        return (
            f" The bounds were found under differential privacy with epsilon {at_most(self.bounds_epsilon)}, which is "
            "not in this and adds to it."
        )

    def _for_every_dataset(self) -> str:
        """The standard sentence of differential privacy: of what, delta, neighbours."""
        if self.draws is None:
            what = "of the noisy counts, and so of any number of rows made of them,"
        else:
            what = "of the one row" if self.draws == 1 else f"of all {self.draws:,} rows together"
        if self.bounds_epsilon:
            what = f"of the bounds, which were found for {at_most(self.bounds_epsilon)} of it, and {what}"
        each = ""
        if self.epsilon_per_draw is not None:
            how = "basic composition" if self.composed is None else self.composed
            each = f" One row costs at most {at_most(self.epsilon_per_draw)} ({how})."
        return (
            "Differential privacy: for every dataset within the bounds, the privacy loss "
            f"{what} is {within(self.epsilon, self.delta)}, between the data with a person and with that one person "
            f"removed, or added ({SECRET_SIZE}).{each}"
        )

    def _for_this_dataset(self) -> str:
        """The standard sentence of the game: for whom, neighbours, one draw, delta."""
        if self.order is not None:
            loss = f"the Renyi divergence of order {self.order:g} of one draw is at most {at_most(self.epsilon)}"
        elif self.epsilon_per_draw is None:
            loss = f"the privacy loss of one draw is {within(self.epsilon, self.delta)}"
        else:
            loss = f"the privacy loss of one draw is {within(self.epsilon_per_draw, 0)}"
        unit = self.unit if self.most_rows is None else None
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
        said = []
        if self.own_base:
            said.append("That holds provided that the base distribution was not taken from the data.")
        if self.proof:
            said.append(f"The proof is that of {self.proof}; no certificate of ours checks it.")
        if self.refuses:
            said.append("That a value outside the schema or a missing one is refused is outside the promise.")
        return " ".join([*said, "Whatever is made of what was released costs nothing more."])


def within(epsilon: float, delta: float) -> str:
    """An epsilon and a delta as the standard sentence says them."""
    return f"at most {at_most(epsilon)} with delta = {at_most(delta)}"


BELIEFS = (0.01, 0.1, 0.5, 0.9)


def beliefs(epsilon: float) -> list[tuple[float, float, float]]:
    """How sure somebody is of something about one person, and the least and the most that they can be afterwards, if
    nothing is more than e^epsilon times as likely, or as unlikely, because of that person."""
    factor = math.exp(min(epsilon, 700.0))
    return [(p, p / (p + (1 - p) * factor), p * factor / (p * factor + 1 - p)) for p in BELIEFS]
