"""The exact check of what is promised: whole numbers only, in both directions, for everyone and every cell.

This module shares no arithmetic with the game or the solvers. It sees nothing but a mechanism's integers: for
each group of interchangeable people, how many there are and the weights of the cells they come out in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BITS = 128
_CAP = 64
_MOST_ORDER = 10_000
_LEAST_MONOTONE = 1e-4

DIGITS = 60
"""Of the decimals in which logarithms are worked out."""


@dataclass(frozen=True)
class Certificate:
    """Whether everyone's loss in one draw is within what is promised, and what fails if it is not."""

    holds: bool
    epsilon: float
    bound: Fraction
    people: int
    groups: int
    cells: int
    failure: str | None = None
    delta: float = 0.0
    order: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return {
            "holds": self.holds,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "order": self.order,
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
    people: Sequence[int] | NDArray[np.int64],
    weights: NDArray[np.int64],
    total: int,
    epsilon: float,
    delta: float = 0.0,
    order: float | None = None,
    sizes: Sequence[int] | NDArray[np.int64] | None = None,
) -> Certificate:
    """Check a mechanism given as groups: people[g] persons whose weights over the cells are weights[g].

    Let S[x] be everyone's weights added up and N the number of people. A person with weight W in cell x has
    probability P = S/(N T) there, and without them Q = (S - W)/((N - 1) T), T being every row's total. With E = p/q at
    most e^epsilon, P and Q are within a factor E of each other exactly when

        N p (S - W) >= (N - 1) q S   and   (N - 1) p S >= N q (S - W).

    The first fails most easily for the largest W in a cell, the second for the smallest: checking those two checks
    every group. With a ``delta`` or a Renyi ``order`` (see :func:`_approximate` and :func:`_renyi`), the groups that
    fail this are looked at one by one: those that do not are within either, too.

    With ``sizes``, a person of group g has sizes[g] rows, whose weights are added up in weights[g]. N then counts rows,
    N - 1 becomes N - sizes[g], for without that person all of theirs are gone, and groups of one size are checked
    together.
    """
    counts = [int(n) for n in people]
    many = [1] * len(counts) if sizes is None else [int(m) for m in sizes]
    rows = np.asarray(weights)
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)
    everyone, cells = sum(counts), rows.shape[1] if rows.ndim == 2 else 0

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, everyone, len(counts), cells, failure, delta, order)

    if not 0 < epsilon < float("inf"):
        return verdict("epsilon is not a positive, finite number")
    if not 0 <= delta < 1 or (order is not None and not 1 < order <= _MOST_ORDER):
        return verdict(f"delta is not from 0 to below 1, or the order is not above 1 and at most {_MOST_ORDER}")
    if rows.ndim != 2 or cells == 0 or len(rows) != len(counts) or not np.issubdtype(rows.dtype, np.integer):
        return verdict("the weights are not one row of whole numbers for each group")
    if everyone < 2 or min(counts) < 1:
        return verdict("there are fewer than two people, or an empty group")
    if len(many) != len(counts) or min(many) < 1:
        return verdict("there is not a positive number of rows for each group")
    if rows.min() < 0 or any(sum(row) != total * m for row, m in zip(rows.tolist(), many, strict=True)):
        return verdict(f"the weights of a group are negative or do not sum to {total} for every row")
    sums, in_all = [0] * cells, sum(n * m for n, m in zip(counts, many, strict=True))
    for count, row in zip(counts, rows.tolist(), strict=True):
        sums = [s + count * w for s, w in zip(sums, row, strict=True)]
    failures = (_pure(rows[np.array(many) == m], sums, in_all, bound, m) for m in sorted(set(many)))
    failure = next((found for found in failures if found is not None), None)
    if failure is None or (delta == 0 and order is None):
        return verdict(failure)
    for group, (row, m) in enumerate(zip(rows.tolist(), many, strict=True)):
        if _pure(rows[group : group + 1], sums, in_all, bound, m) is None:
            continue
        if order is None and not _approximate(row, sums, in_all, total, bound, Fraction(delta), m):
            return verdict(f"for the people of group {group}, e^epsilon is exceeded with more probability than delta")
        if order is not None and not _renyi(row, sums, in_all, order, epsilon, m):
            return verdict(f"for the people of group {group}, the Renyi divergence is above epsilon")
    return verdict(None)


def _pure(rows: NDArray[np.int64], sums: list[int], everyone: int, bound: Fraction, gone: int = 1) -> str | None:
    """What is wrong with the bound on every cell's ratio, for any of the rows; None if nothing is."""
    return first_failure(sums, rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), everyone, bound, gone)


def first_failure(
    sums: list[int], most: list[int], least: list[int], everyone: int, bound: Fraction, gone: int = 1
) -> str | None:
    """The same, given the largest and the smallest weight of every cell; ``gone`` rows are a person's."""
    p, q = bound.numerator, bound.denominator
    for x, (s, high, low) in enumerate(zip(sums, most, least, strict=True)):
        if everyone * p * (s - high) < (everyone - gone) * q * s:
            return f"with someone, cell {x} is more than e^epsilon times as likely as without them"
        if (everyone - gone) * p * s < everyone * q * (s - low):
            return f"without someone, cell {x} is more than e^epsilon times as likely as with them"
    return None


def _approximate(
    row: list[int], sums: list[int], everyone: int, total: int, bound: Fraction, delta: Fraction, gone: int = 1
) -> bool:
    """Whether the sums over cells of max(0, P - E Q) and of max(0, Q - E P) are at most delta, in whole numbers.

    Times N (N - 1) q T these are sums of max(0, (N - 1) q S - N p (S - W)) and of max(0, N q (S - W) - (N - 1) p S). A
    smaller E makes both larger, so E below e^epsilon is on the safe side.
    """
    p, q, rest = bound.numerator, bound.denominator, everyone - gone
    forth = sum(max(0, rest * q * s - everyone * p * (s - w)) for s, w in zip(sums, row, strict=True))
    back = sum(max(0, everyone * q * (s - w) - rest * p * s) for s, w in zip(sums, row, strict=True))
    return max(forth, back) * delta.denominator <= delta.numerator * everyone * rest * q * total


def _renyi(row: list[int], sums: list[int], everyone: int, order: float, epsilon: float, gone: int = 1) -> bool:
    """Whether ln(sum of P^a Q^(1-a)) / (a - 1) is at most epsilon, and so with P and Q swapped.

    In decimals of 60 digits, whose ln and exp are correctly rounded. T cancels. Each logarithm is below 200 and off by
    less than 1e-57, the order at most 10^4; so each exponent is off by less than 1e-52, and each term, and their sum,
    by less than a factor 1 + 1e-50. A factor 1 + 1e-45 to spare on either side is more than that.
    """
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        a, spare = Decimal(order), Decimal(10) ** -45
        limit = ((a - 1) * Decimal(epsilon)).exp() * (1 - spare)
        with_them, without = Decimal(everyone).ln(), Decimal(everyone - gone).ln()
        forth = back = Decimal(0)
        for s, w in zip(sums, row, strict=True):
            if s == 0:
                continue
            if s == w:
                return False
            p, q = Decimal(s).ln() - with_them, Decimal(s - w).ln() - without
            forth += (a * p + (1 - a) * q).exp()
            back += (a * q + (1 - a) * p).exp()
        scale = Decimal(sum(row) // gone)  # P and Q were T times too large
        return max(forth, back) / scale * (1 + spare) <= limit


def certify_monotone(
    counts: Sequence[int],
    weights: Sequence[int],
    epsilon: float,
    *,
    unit: int,
    near: Sequence[int],
    cap: int,
    floors: Sequence[int],
    factor: int,
) -> Certificate:
    """Check monotone weights for every dataset: properties of the public numbers, and that the weights are theirs.

    With E = factor / 2^40 and h = 2^-42 it is enough that near[d] <= unit, that nothing is negative, that

        E (1 + h) (1 + 1/floor) <= (1/(1 + h) - 1/floor) p/q,   p/q at most e^epsilon,

    for the least floor, and that E^(2^20) exceeds F/floor for any dataset of up to 2^62 people; ln E >= (E - 1)/E
    shows that.

    That the weights are those of this histogram is checked by working them out again, group by group.
    """
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)
    people = [int(n) for n in counts]

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, sum(people), len(people), len(people), failure)

    if not _LEAST_MONOTONE <= epsilon < float("inf"):
        return verdict(f"epsilon is not a finite number of at least {_LEAST_MONOTONE}")
    together = len(floors) == len(weights) == len(people) > 0 and 0 < len(near) <= len(people)
    if not together or min(people) < 0 or sum(people) >= 2**62:
        return verdict("the counts, the weights and the rule do not belong together")
    whole = [*near, *floors, *weights, unit, cap, factor]
    if not all(isinstance(number, int) for number in whole) or max(whole).bit_length() > 4096 or factor <= 2**40:
        return verdict("the rule or the weights are no whole numbers of a possible size, or nothing grows")
    if near[0] != unit or min(near) < 0 or max(near) > unit or cap < 0 or min(floors) < 1 or unit < 1:
        return verdict("the rule is not one of monotone weights")
    growth, h, least = Fraction(factor, 2**40), Fraction(1, 2**42), Fraction(1, min(floors))
    largest = (2**62 * unit + cap + max(floors)) // min(floors) + 2
    few_steps = 2**20 * (growth - 1) >= growth * largest.bit_length()
    if not few_steps or growth * (1 + h) * (1 + least) > (1 / (1 + h) - least) * bound:
        return verdict("the rule lets one person change the weights by more than e^epsilon")
    for x in range(len(people)):
        if _monotone_weight(people, x, near, cap, floors[x], factor) != weights[x]:
            return verdict(f"the weight of cell {x} is not the rule's")
    return verdict(None)


def _monotone_weight(people: list[int], x: int, near: Sequence[int], cap: int, floor: int, factor: int) -> int:
    """min over j of e[j] F, where the j people who matter most are gone, whole cells at a time; rounded down."""
    reach = range(max(0, x - len(near) + 1), min(len(people), x + len(near)))
    others = sorted((-near[abs(z - x)], people[z]) for z in reach if z != x and people[z] > 0)
    power, tail = 1 << 64, sum(-w * n for w, n in others)
    best = power * (near[0] * people[x] + floor + min(cap, tail))
    for w, n in [(0, people[x]), *others]:
        tail += w * n
        for _ in range(n):
            if power * floor >= best:
                return best >> 64
            power = power * factor >> 40
        best = min(best, power * (floor + min(cap, tail)))
    return best >> 64


def certify_bounded_range(epsilon: float, draws: int, total: float, delta: float, order: float) -> bool:
    """Whether draws whose log-ratios have a range of epsilon each cost at most ``total`` together, except with delta.

    Either they add up to no more, in fractions; or each is rho-zCDP with rho = epsilon^2/8, so that D of them have a
    Renyi divergence of at most a D rho for the ``order`` a > 1 (any will do), and

        a D rho + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1) <= total,

    in decimals of 60 digits, whose logarithms are correctly rounded; 1e-45 is more than the few roundings can hide.
    """
    if not (0 < epsilon < float("inf") and 0 < total < float("inf") and 0 < delta < 1 and draws >= 1 and order > 1):
        return False
    if draws * Fraction(epsilon) <= Fraction(total):
        return True
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        a, log = Decimal(order), -Decimal(delta).ln()
        renyi = a * draws * Decimal(epsilon) ** 2 / 8
        found = renyi + (log + (a - 1) * (1 - 1 / a).ln() - a.ln()) / (a - 1)
        return found + Decimal(10) ** -45 * (1 + renyi) <= Decimal(total)
