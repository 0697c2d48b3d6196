"""The exact check of what is promised: whole numbers only, in both directions, for everyone and every cell.

This module shares no arithmetic with the game or the solvers. It sees nothing but a mechanism's integers: for
each group of interchangeable people, how many there are and the weights of the cells they come out in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BITS = 128
_CAP = 64


@dataclass(frozen=True)
class Certificate:
    """Whether everyone's loss in one draw is within epsilon, and the worst cell if it is not."""

    holds: bool
    epsilon: float
    bound: Fraction
    people: int
    groups: int
    cells: int
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return {
            "holds": self.holds,
            "epsilon": self.epsilon,
            "bound": f"{self.bound.numerator}/{self.bound.denominator}",
            "people": self.people,
            "groups": self.groups,
            "cells": self.cells,
            "failure": self.failure,
        }


def exp_lower_bound(epsilon: float) -> Fraction:
    """A fraction at most e^epsilon, within a relative 2^-110 of it; from epsilon 64 on, that of 64 serves.

    With z = epsilon / 2^h below 1, every partial sum of the series of e^z is too small, so is every power of
    one, and every rounding here is downwards.
    """
    exact = min(Fraction(epsilon), Fraction(_CAP))
    halvings = 8
    z = _down(exact / 2**halvings)
    term = total = Fraction(1)
    for i in range(1, 60):
        term = term * z / i
        total += term
        if term.numerator << (_BITS + 20) < term.denominator:
            break
        term = _down(term)
    for _ in range(halvings):
        total = _down(total * total)
    return total


def _down(value: Fraction) -> Fraction:
    return Fraction((value.numerator << _BITS) // value.denominator, 1 << _BITS)


def certify(
    people: Sequence[int] | NDArray[np.int64], weights: NDArray[np.int64], total: int, epsilon: float
) -> Certificate:
    """Check a mechanism given as groups: people[g] persons whose weights over the cells are weights[g].

    Let S[x] be everyone's weights added up and N the number of people. A person with weight W in cell x has
    probability S/N there, and without them (S - W)/(N - 1). With E = p/q at most e^epsilon, the ratio of the two
    is within [1/E, E] exactly when

        N p (S - W) >= (N - 1) q S   and   (N - 1) p S >= N q (S - W).

    The first fails most easily for the largest W in a cell, the second for the smallest: checking those two
    checks every group.
    """
    counts = [int(n) for n in people]
    rows = np.asarray(weights)
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)
    everyone, cells = sum(counts), rows.shape[1] if rows.ndim == 2 else 0

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, everyone, len(counts), cells, failure)

    if not 0 < epsilon < float("inf"):
        return verdict("epsilon is not a positive, finite number")
    if rows.ndim != 2 or cells == 0 or len(rows) != len(counts) or not np.issubdtype(rows.dtype, np.integer):
        return verdict("the weights are not one row of whole numbers for each group")
    if everyone < 2 or min(counts) < 1:
        return verdict("there are fewer than two people, or an empty group")
    if rows.min() < 0 or any(sum(row) != total for row in rows.tolist()):
        return verdict(f"the weights of a group are negative or do not sum to {total}")
    sums = [0] * cells
    for count, row in zip(counts, rows.tolist(), strict=True):
        sums = [s + count * w for s, w in zip(sums, row, strict=True)]
    p, q = bound.numerator, bound.denominator
    for x, (s, most, least) in enumerate(zip(sums, rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)):
        if everyone * p * (s - most) < (everyone - 1) * q * s:
            return verdict(f"with someone, cell {x} is more than e^epsilon times as likely as without them")
        if (everyone - 1) * p * s < everyone * q * (s - least):
            return verdict(f"without someone, cell {x} is more than e^epsilon times as likely as with them")
    return verdict(None)
