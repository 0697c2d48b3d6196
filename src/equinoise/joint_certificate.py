"""The exact check of a mechanism on several columns: whole numbers only, for everyone and every cell.

Like :mod:`equinoise.certificate`, it shares no arithmetic with the game or the solvers. A person's weights over the
cells are products of one weight per axis. Sums of such products over all groups are a product of two matrices; these
are split into limbs of few bits, so that 64-bit integers hold every step exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.certificate import Certificate, exp_lower_bound, first_failure

_LIMB = 15
_MOST_GROUPS = 2**32
_MOST_TOTAL = 2**62

Whole = NDArray[np.int64]


def certify_joint(people: Sequence[int] | Whole, weights: Sequence[Whole], total: int, epsilon: float) -> Certificate:
    """Check a mechanism given as groups: people[g] persons whose weight in the cell with bins x is the product over the
    axes d of weights[d][g, x[d]]. Every such row sums to ``total``.

    The condition, and why the largest and the smallest weight of a cell are enough, is that of
    :func:`equinoise.certificate.certify`.
    """
    counts = [int(n) for n in people]
    axes = [np.asarray(axis) for axis in weights]
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)
    everyone = sum(counts)
    cells = math.prod(axis.shape[1] if axis.ndim == 2 else 0 for axis in axes)

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, everyone, len(counts), cells, failure)

    if not 0 < epsilon < float("inf"):
        return verdict("epsilon is not a positive, finite number")
    if not axes or any(
        axis.ndim != 2 or len(axis) != len(counts) or not np.issubdtype(axis.dtype, np.integer) for axis in axes
    ):
        return verdict("the weights are not one row of whole numbers for each group and axis")
    if everyone < 2 or min(counts) < 1 or cells == 0 or len(counts) > _MOST_GROUPS:
        return verdict("there are fewer than two people, an empty group, no cells or too many groups")
    failure = _wrong_totals(axes, total)
    if failure is not None:
        return verdict(failure)
    half = max(1, len(axes) // 2)
    first, second = _product(axes[:half]), _product(axes[half:])
    most, least = _extremes(first, second)
    return verdict(first_failure(_sums(counts, first, second), most, least, everyone, bound))


def _wrong_totals(axes: list[Whole], total: int) -> str | None:
    """Every row of an axis must have the same sum, and the product of these sums must be the total."""
    product = 1
    for number, axis in enumerate(axes):
        sums = {sum(row) for row in axis.tolist()}
        if axis.min() < 0 or len(sums) != 1:
            return f"the weights of axis {number} are negative or do not have one sum"
        product *= sums.pop()
    if product != total or not 0 < total <= _MOST_TOTAL:
        return f"the weights of a group sum to {product}, not to {total}, or to too much"
    return None


def _product(axes: list[Whole]) -> Whole:
    """Each group's products over some axes, row by row; at most the total, which 64 bits hold."""
    groups = len(axes[0]) if axes else 1
    made = np.ones((groups, 1), dtype=np.int64)
    for axis in axes:
        made = (made[:, :, None] * axis.astype(np.int64)[:, None, :]).reshape(groups, -1)
    return made


def _extremes(first: Whole, second: Whole) -> tuple[list[int], list[int]]:
    """The largest and the smallest weight of every cell."""
    most = np.zeros((first.shape[1], second.shape[1]), dtype=np.int64)
    least = np.full_like(most, _MOST_TOTAL)
    row = np.empty_like(most)
    for one, two in zip(first, np.broadcast_to(second, (len(first), second.shape[1])), strict=True):
        np.multiply.outer(one, two, out=row)
        np.maximum(most, row, out=most)
        np.minimum(least, row, out=least)
    return most.ravel().tolist(), least.ravel().tolist()


def _sums(counts: list[int], first: Whole, second: Whole) -> list[int]:
    """S of every cell, exactly: limb times limb is below 2^30, and so are 2^32 of them together below 2^62."""
    second = np.ascontiguousarray(np.broadcast_to(second, (len(first), second.shape[1])))
    weighted = first.astype(object) * np.array(counts, dtype=object)[:, None]
    sums = np.zeros((first.shape[1], second.shape[1]), dtype=object)
    for shift, left in _limbs(weighted):
        for other, right in _limbs(second):
            sums += (left.T @ right).astype(object) << (shift + other)
    return [int(s) for s in sums.ravel()]


def _limbs(values: NDArray[Any]) -> list[tuple[int, Whole]]:
    """Whole numbers as sums of limbs times powers of two."""
    found, shift = [], 0
    while values.any():
        found.append((shift, (values & (2**_LIMB - 1)).astype(np.int64)))
        values = values >> _LIMB
        shift += _LIMB
    return found
