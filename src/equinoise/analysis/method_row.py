"""A method's row in a comparison, and what each method promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from equinoise.privacy.accounting import Budget, epsilon_of_one_row
from equinoise.privacy.promise import Neighbours, Promise

MODELS = ("aim", "mst")
"""OpenDP's models of noisy marginals of several columns."""

MODEL_DELTA, MOST_COLUMNS_WITHOUT_DELTA = 1e-6, 3
"""AIM and MST get what brings them closer: on few columns pure epsilon, whose noise adds up over few marginals; on more
columns a delta. No other method is given one."""

_GAME = Promise(neighbours=Neighbours.PERSON_REMOVED, epsilon=0)
_LOCAL = Promise(neighbours=Neighbours.VALUE_CHANGED, epsilon=0, draws=None)
_DRAW = Promise(neighbours=Neighbours.PERSON_ADDED_OR_REMOVED, epsilon=0)

PROMISES = {
    "best-response": _GAME,
    "optimal": _GAME,
    "genetic": _GAME,
    "laplace": _LOCAL,
    "bounded-laplace": _LOCAL,
    "staircase": _LOCAL,
    "additive-smoothing": _DRAW,
    "bounded-smoothing": _DRAW,
    "envelope": _DRAW,
    "dp-histogram": replace(_DRAW, draws=None),
    "pay-once": replace(_DRAW, draws=None),
    "aim": replace(_DRAW, draws=None, proof="OpenDP"),
    "mst": replace(_DRAW, draws=None, proof="OpenDP"),
}
"""What each method promises, of whatever epsilon, in the order in which methods are shown. With one draw each of
several rows costs; with any number of draws (None), all rows are paid for once."""


@dataclass(frozen=True)
class Row:
    """One method at one epsilon.

    ``protected`` counts the people whose own loss of one draw is within epsilon, or, where each of several rows costs,
    within an even share of it; ``worst_loss`` is of one draw. ``promised`` is the epsilon of the promise, which can be
    another one than was asked for; None if nothing is promised. ``kl_spread`` is the standard deviation of KL over the
    ``releases`` of a random method, whose metrics are means. ``noise`` is the game's family, if several are compared.
    """

    epsilon: float
    method: str
    metrics: dict[str, Any]
    seconds: float
    protected: int
    promised: float | None
    promise: str
    worst_loss: float | None = None
    kl_spread: float | None = None
    releases: int | None = None
    solver: dict[str, Any] | None = None
    noise: str | None = None

    @property
    def label(self) -> str:
        """The method, with the family of its noise where several are compared."""
        return self.method if self.noise is None else f"{self.method} {self.noise}"

    def to_json(self) -> dict[str, Any]:
        """The fields, without those that the method does not have."""
        optional = ("worst_loss", "kl_spread", "releases", "solver", "noise")
        return {key: value for key, value in vars(self).items() if value is not None or key not in optional}


@dataclass(frozen=True)
class LeftOut:
    """A method that could not be run, at one epsilon or (None) at any, and why."""

    method: str
    epsilon: float | None
    reason: str


def share_of_one_row(epsilon: float, rows: int) -> float:
    """What each of so many rows may cost, where their costs add up to epsilon."""
    return epsilon_of_one_row(Budget(epsilon, 0.0), rows)


def model_delta(method: str, columns: int) -> float:
    """The delta of a method on so many columns: that of AIM and MST, or 0."""
    return MODEL_DELTA if method in MODELS and columns > MOST_COLUMNS_WITHOUT_DELTA else 0.0


def promise_of(method: str, rows: int = 1, epsilon: float = 0.0, columns: int = 1) -> Promise:
    """What a method promises of so many rows together, of so many columns; at whatever epsilon, if that is 0."""
    promise = replace(PROMISES[method], epsilon=epsilon, delta=model_delta(method, columns))
    if promise.draws is None or rows == 1:
        return promise
    each = share_of_one_row(epsilon, rows) if epsilon > 0 else None
    return replace(promise, draws=rows, composed="basic composition", epsilon_per_draw=each)
