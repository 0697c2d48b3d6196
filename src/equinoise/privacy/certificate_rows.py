"""A mechanism's whole numbers, laid out over the cells and added up exactly: what the certificate looks at.

Like :mod:`equinoise.privacy.certificate` it shares no arithmetic with the game or the solvers, and imports nothing of
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**62
"""The rows of everyone, and the weights of one row, are no more: 64 bits hold them."""

_LIMB = 15
_AT_ONCE = 2**21

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """People of each group; and entries: the group, its rows there of one person, and their weights axis by axis."""

    people: list[int]
    whose: list[int]
    times: list[int]
    axes: list[Whole]

    @cached_property
    def begins(self) -> list[int]:
        """The first entry of every group, and the end."""
        return [*np.searchsorted(self.whose, range(len(self.people))).tolist(), len(self.whose)]

    @cached_property
    def sizes(self) -> list[int]:
        """m, the rows of a person of every group."""
        return [sum(self.times[begin:end]) for begin, end in zip(self.begins[:-1], self.begins[1:], strict=True)]

    @cached_property
    def in_all(self) -> int:
        """R, the rows of everyone."""
        return sum(n * m for n, m in zip(self.people, self.sizes, strict=True))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Bins of every axis."""
        return tuple(axis.shape[1] for axis in self.axes)

    def each(self, groups: Sequence[int], total: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """W over the cells, group by group, each row of a person having this total; good until the next is asked for.

        Rows are added up in 64 bits as long as all of their weights stay below 2^62: then so does every step. Whoever
        has more rows gets unbounded integers, to which such parts are added.
        """
        row, part = np.empty(self.shape, dtype=np.int64), np.empty(self.shape, dtype=np.int64)
        room = MOST // total
        for group in groups:
            whole: Any = np.zeros(self.shape, dtype=object) if self.sizes[group] > room else 0
            held = 0
            row.fill(0)
            for entry in range(self.begins[group], self.begins[group + 1]):
                times = self.times[entry]
                if held + times > room:
                    whole += row
                    held = 0
                    row.fill(0)
                self._lay_out(entry, times if times <= room else 1, part)
                if times > room:
                    whole += part.astype(object) * times
                else:
                    row += part
                    held += times
            yield group, (whole + row if self.sizes[group] > room else row).ravel()

    def _lay_out(self, entry: int, times: int, out: Whole) -> None:
        *others, last = (axis[entry] for axis in self.axes)
        np.multiply(reduce(np.multiply.outer, others, np.array(times))[..., None], last, out=out)

    def sums(self) -> NDArray[Any]:
        """S over the cells, as unbounded integers: a product of two matrices over the entries, some at a time.

        Both are split into limbs, of 15 bits in the second and in the first of so few that the sums over all entries
        stay below 2^62.
        """
        half, entries = max(1, len(self.axes) // 2), len(self.times)
        one, two = math.prod(self.shape[:half]), math.prod(self.shape[half:])
        step, bits = max(1, _AT_ONCE // max(one, two)), 62 - _LIMB - entries.bit_length()
        many = np.array([self.people[g] * m for g, m in zip(self.whose, self.times, strict=True)], dtype=np.int64)
        found: dict[tuple[int, int], Whole] = {}
        for begin in range(0, entries, step):
            here = slice(begin, begin + step)
            first, second = (_products(axes, here) for axes in (self.axes[:half], self.axes[half:]))
            for shift, left in _limbs(_times(first, many[here]), bits):
                for other, right in _limbs(second, _LIMB):
                    part = found.setdefault((shift, other), np.zeros((one, two), dtype=np.int64))
                    part += np.einsum("ea,eb->ab", left, np.broadcast_to(right, (len(left), two)))
        sums = np.zeros(one * two, dtype=object)
        for (shift, other), part in found.items():
            sums += part.ravel().astype(object) << (shift + other)
        return sums


def _products(axes: Sequence[Whole], here: slice) -> Whole:
    """Some entries' products over some axes, row by row; at most the total, which 64 bits hold."""
    made = np.ones((1, 1), dtype=np.int64)
    for axis in axes:
        made = (made[:, :, None] * axis[here, None, :]).reshape(len(axis[here]), -1)
    return made


def _times(rows: Whole, many: Whole) -> NDArray[Any]:
    """Rows so many times: as unbounded integers, where 64 bits would not do."""
    kind = np.int64 if int(rows.max()) * int(many.max()) < 2**63 else object
    return np.asarray(rows.astype(kind) * many.astype(kind)[:, None])


def _limbs(values: NDArray[Any], bits: int) -> Iterator[tuple[int, Whole]]:
    """Whole numbers as sums of limbs of so many bits, times powers of two."""
    shift = 0
    while (values > 0).any():
        yield shift, (values & (2**bits - 1)).astype(np.int64)
        values, shift = values >> bits, shift + bits
