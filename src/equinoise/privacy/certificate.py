"""The exact check of what is promised: in whole numbers, in both directions, for everyone and every cell.

It shares no arithmetic with the game or the solvers, and imports nothing of the package but its own rows. It sees
nothing but a mechanism's integers: for each group of interchangeable people, how many there are and the weights of the
cells that their rows come out in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.privacy.certificate_rows import MOST, Rows, Whole

_BITS = 128
_CAP = 64
_MOST_ORDER = 10_000
_MOST_CELLS = 2**24
_CLOSE = 1e-7

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

    @property
    def how(self) -> str:
        """What it was worked out in."""
        renyi = f"floating point with a bound on its errors, close calls in decimals of {DIGITS} digits"
        return "whole numbers" if self.order is None else renyi

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


def exp_lower_bound(epsilon: float | Fraction) -> Fraction:
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
    people: Sequence[int] | Whole,
    factors: Sequence[Whole],
    totals: Sequence[int],
    epsilon: float,
    delta: float = 0.0,
    order: float | None = None,
    *,
    owners: Sequence[int] | Whole | None = None,
    times: Sequence[int] | Whole | None = None,
) -> Certificate:
    """Check a mechanism given as groups of interchangeable people, people[g] of them in group g, and their entries.

    An entry e is a cell that ``times[e]`` rows of each person of group ``owners[e]`` are in; left out, everyone has one
    entry and one row in it. Entries ascend by group. The weights of the cells that such a row comes out in are the
    products over the axes d of factors[d][e], whose every row sums to totals[d]; cells are numbered with the last axis
    fastest. One column is one axis.

    A person's m rows have the weights W in all, everyone's R rows have S, and T is the product of the totals. A draw
    has probability P = S/(R T) of a cell with that person and Q = (S - W)/((R - m) T) without, when all of their rows
    are gone. With E = p/q at most e^epsilon, P and Q are within a factor E of each other exactly when

        R p (S - W) >= (R - m) q S   and   (R - m) p S >= R q (S - W).

    For every m these are two limits on W in each cell, whole numbers that everyone with m rows is held against. Who is
    within them is within a ``delta`` or a Renyi ``order``, too; those who are not are looked at one by one, see
    :func:`_approximate` and :func:`_renyi`.
    """
    axes, counts = [np.asarray(axis) for axis in factors], np.atleast_1d(people)
    cells = math.prod(axis.shape[1] if axis.ndim == 2 else 0 for axis in axes)
    entries = len(axes[0]) if axes and axes[0].ndim == 2 else 0
    whose = np.arange(entries) if owners is None else np.atleast_1d(owners)
    often = np.ones(entries, dtype=np.int64) if times is None else np.atleast_1d(times)
    bound = exp_lower_bound(epsilon) if 0 < epsilon < math.inf else Fraction(1)

    def verdict(failure: str | None) -> Certificate:
        everyone = sum(counts.tolist()) if _whole(counts, len(counts)) else 0
        return Certificate(failure is None, epsilon, bound, everyone, len(counts), cells, failure, delta, order)

    failure = _bad_promise(epsilon, delta, order) or _bad_people(counts, whose, often, axes, cells)
    failure = failure or _bad_weights(axes, totals)
    if failure is not None:
        return verdict(failure)
    total = math.prod(int(total) for total in totals)
    rows = Rows(counts.tolist(), whose.tolist(), often.tolist(), [axis.astype(np.int64) for axis in axes])
    if rows.in_all > MOST or total > MOST:
        return verdict(f"there are more rows than {MOST}, or the weights of one add up to more")
    return verdict(_failure(rows, total, bound, epsilon, delta, order))


def _whole(values: NDArray[Any], length: int) -> bool:
    """Whether these are so many whole numbers."""
    return values.shape == (length,) and (length == 0 or np.issubdtype(values.dtype, np.integer))


def _bad_promise(epsilon: float, delta: float, order: float | None) -> str | None:
    """What is wrong with what is promised; None if nothing is."""
    if not 0 < epsilon < math.inf:
        return "epsilon is not a positive, finite number"
    if not 0 <= delta < 1 or (order is not None and not 1 < order <= _MOST_ORDER):
        return f"delta is not from 0 to below 1, or the order is not above 1 and at most {_MOST_ORDER}"
    return None


def _bad_people(
    counts: NDArray[Any], whose: NDArray[Any], often: NDArray[Any], axes: list[NDArray[Any]], cells: int
) -> str | None:
    """What is wrong with the shapes, or with who has how many rows where."""
    entries = len(axes[0]) if axes and axes[0].ndim == 2 else 0
    if not axes or not all(
        axis.ndim == 2 and len(axis) == entries and np.issubdtype(axis.dtype, np.integer) for axis in axes
    ):
        return "the weights are not one row of whole numbers for each entry and axis"
    if not 0 < cells <= _MOST_CELLS:
        return f"there are no cells, or more than {_MOST_CELLS}"
    if not _whole(counts, len(counts)) or sum(counts.tolist()) < 2 or counts.min() < 1:
        return "there are fewer than two people, or an empty group, or people that are not counted in whole numbers"
    if not _whole(often, entries) or not _whole(whose, entries) or entries == 0 or often.min() < 1:
        return "there is not one group, and a positive number of rows, for each entry"
    if sorted(set(whose.tolist())) != list(range(len(counts))) or (whose[1:] < whose[:-1]).any():
        return "the entries are not one row of weights, or more, for each group in turn"
    return None


def _bad_weights(axes: list[NDArray[Any]], totals: Sequence[int]) -> str | None:
    """What is wrong with the weights themselves, added up in unbounded integers."""
    if len(totals) != len(axes) or not all(isinstance(total, int | np.integer) and total > 0 for total in totals):
        return "there is not a total, a positive whole number, for each axis"
    for axis, total in zip(axes, totals, strict=True):
        if axis.min() < 0 or any(sum(row.tolist()) != total for row in axis):
            return f"the weights of a row are negative or do not sum to {total}"
    return None


@dataclass(frozen=True)
class _Removal:
    """One person taken out: S and their W over the cells, R and their m rows, and T."""

    sums: NDArray[Any]
    row: NDArray[Any]
    in_all: int
    gone: int
    total: int


def _failure(rows: Rows, total: int, bound: Fraction, epsilon: float, delta: float, order: float | None) -> str | None:
    """What is wrong for anyone; None if nothing is. Groups of one m come together, so that few limits are kept."""
    sums, now = rows.sums(), 0
    most = least = np.zeros(len(sums), dtype=object)
    for group, row in rows.each(sorted(range(len(rows.sizes)), key=rows.sizes.__getitem__), total):
        gone = rows.sizes[group]
        if gone != now:
            now, (most, least) = gone, _limits(sums, rows.in_all, gone, bound)
            if gone * total <= MOST:  # then W fits in 64 bits, and its limits may
                most, least = (np.clip(limit, -1, MOST + 1).astype(np.int64) for limit in (most, least))
        over, under = row > most, row < least
        if not over.any() and not under.any():
            continue
        removal = _Removal(sums, row, rows.in_all, gone, total)
        if order is not None:
            if not _renyi(removal, order, epsilon):
                return f"for the people of group {group}, the Renyi divergence is above epsilon"
        elif delta > 0:
            if not _approximate(removal, over, under, bound, Fraction(delta)):
                return f"for the people of group {group}, e^epsilon is exceeded with more probability than delta"
        else:
            cell = int(np.argmax(over | under))
            one, other = ("with", "without") if over[cell] else ("without", "with")
            return f"{one} someone, cell {cell} is more than e^epsilon times as likely as {other} them"
    return None


def _limits(sums: NDArray[Any], in_all: int, gone: int, bound: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest and the smallest W that the two conditions allow someone with m rows, cell by cell.

    They say W <= (R p - (R - m) q) S / (R p) and S - W <= (R - m) p S / (R q); as W is whole, so may the right sides
    be, rounded down.
    """
    p, q, rest = bound.numerator, bound.denominator, in_all - gone
    return sums * (in_all * p - rest * q) // (in_all * p), sums - sums * (rest * p) // (in_all * q)


def _approximate(
    removal: _Removal, over: NDArray[np.bool_], under: NDArray[np.bool_], bound: Fraction, delta: Fraction
) -> bool:
    """Whether the sums over cells of max(0, P - E Q) and of max(0, Q - E P) are at most delta, in whole numbers.

    P exceeds E Q where W is ``over`` its limit, and Q exceeds E P where it is ``under``. Times R (R - m) q T the
    excesses are (R - m) q S - R p (S - W) and R q (S - W) - (R - m) p S, here added up over those cells. A smaller E
    makes both larger, so E below e^epsilon is on the safe side.
    """
    p, q, everyone, rest = bound.numerator, bound.denominator, removal.in_all, removal.in_all - removal.gone
    with_them, without = (
        (sum(removal.sums[cells].tolist()), sum((removal.sums[cells] - removal.row[cells]).tolist()))
        for cells in (over, under)
    )
    forth = rest * q * with_them[0] - everyone * p * with_them[1]
    back = everyone * q * without[1] - rest * p * without[0]
    return bool(max(forth, back) * delta.denominator <= delta.numerator * everyone * rest * q * removal.total)


def _renyi(removal: _Removal, order: float, epsilon: float) -> bool:
    """Whether ln(sum of P^a Q^(1-a)) / (a - 1) is at most epsilon, and so with P and Q swapped.

    Floating point decides, unless it is close: then :func:`_renyi_in_decimals` does. S and S - W are exact, at most
    2^124, and rounded once; so ln P and ln Q are made of logarithms below 180 in all. If log and exp are right to a
    relative 2^-48, which leaves them 32 times what rounding needs, each is off by less than 1e-12, each exponent, the
    order being at most 10^4, by less than 3e-8, and the logarithm of a sum of up to 2^24 terms by less than 4e-8. So
    closer than 1e-7 is close.
    """
    seen = removal.sums > 0
    sums = removal.sums[seen]
    rest = sums - removal.row[seen]
    if not rest.all():
        return False  # a cell that nobody else comes out in
    scale = math.log(removal.total)
    p = np.log(sums.astype(np.float64)) - (math.log(removal.in_all) + scale)
    q = np.log(rest.astype(np.float64)) - (math.log(removal.in_all - removal.gone) + scale)
    above = float(order) - 1
    limit = above * float(epsilon)
    found = max(_log_sum(p + above * (p - q)), _log_sum(q + above * (q - p)))
    if abs(found - limit) > _CLOSE:
        return found < limit
    return _renyi_in_decimals(sums.tolist(), rest.tolist(), removal, order, epsilon)


def _log_sum(exponents: NDArray[np.float64]) -> float:
    """The logarithm of the sum of e^exponents, however large they are."""
    largest = float(exponents.max())
    return largest + math.log(float(np.exp(exponents - largest).sum()))


def _renyi_in_decimals(sums: list[int], rest: list[int], removal: _Removal, order: float, epsilon: float) -> bool:
    """Whether a Renyi divergence is within epsilon, in decimals of 60 digits with correctly rounded ln and exp.

    Each logarithm is below 200 and off by less than 1e-57, the order at most 10^4; so each exponent is off by less than
    1e-52, each term, and their sum, by less than a factor 1 + 1e-50, and its logarithm by less than 1e-49. That leaves
    1e-45 to spare.
    """
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        a = Decimal(order)
        with_them = Decimal(removal.in_all * removal.total).ln()
        without = Decimal((removal.in_all - removal.gone) * removal.total).ln()
        forth = back = Decimal(0)
        for s, r in zip(sums, rest, strict=True):
            p, q = Decimal(s).ln() - with_them, Decimal(r).ln() - without
            forth += (a * p + (1 - a) * q).exp()
            back += (a * q + (1 - a) * p).exp()
        return max(forth, back).ln() + Decimal(10) ** -45 <= (a - 1) * Decimal(epsilon)
