"""Exact random draws: uniform whole numbers by rejection from a source of random bytes, no float anywhere."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from equinoise.errors import check, is_whole
from equinoise.grid import Ints

RandomBytes = Callable[[int], bytes]
"""Gives n random bytes. Releases use the operating system's; tests inject their own."""

MOST = 2**62
MOST_DRAWS = 10**9
_CHUNK = 1 << 18


def check_draws(draws: Any) -> None:
    """Refuse what is no number of draws."""
    check(is_whole(draws, 1, MOST_DRAWS), "draws", f"a whole number from 1 to {MOST_DRAWS}", draws)


def uniform(limit: int, size: int, source: RandomBytes = os.urandom) -> Ints:
    """``size`` whole numbers, each equally likely from 0 to limit - 1 (limit at most 2^62).

    Masked bits are kept if below the limit and drawn again if not, so that no remainder favours anyone.
    """
    if not 1 <= limit <= MOST:
        raise ValueError(f"the limit must be from 1 to {MOST}, not {limit}")
    bits = (limit - 1).bit_length()
    mask = np.uint64((1 << bits) - 1)
    out = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        wanted = size - filled
        raw = np.frombuffer(source(8 * wanted), dtype="<u8") & mask
        kept = raw[raw < np.uint64(limit)][:wanted]
        out[filled : filled + len(kept)] = kept.astype(np.int64)
        filled += len(kept)
    return out


def draw_cells(people: Ints, weights: Ints, total: int, size: int, source: RandomBytes = os.urandom) -> Iterator[Ints]:
    """``size`` independent draws, some at a time: a person uniformly, then a cell by that person's weights.

    ``people[g]`` persons share the weights ``weights[g]``, which sum to ``total``.
    """
    return (rows[:, 0] for rows in draw_rows(people, [weights], [total], size, source))


def draw_rows(
    people: Ints, weights: Sequence[Ints], totals: Sequence[int], size: int, source: RandomBytes = os.urandom
) -> Iterator[Ints]:
    """The same for several axes, as rows of one bin per axis: a person, then on each axis a bin by their weights there.

    ``weights[d][g]`` are group g's on axis d and sum to ``totals[d]``. All bins of a row are one person's, so relations
    between the columns survive. Each group's running totals are shifted by g times the total, so that one binary search
    serves all groups.
    """
    if sum(people.tolist()) > MOST or len(people) * max(totals) > MOST:
        raise ValueError("there are too many people or groups to draw from exactly")
    last_person = np.cumsum(people)
    shifts = np.arange(len(people))[:, None]
    edges = [(np.cumsum(w, axis=1) + t * shifts).ravel() for w, t in zip(weights, totals, strict=True)]
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        group = np.searchsorted(last_person, uniform(int(last_person[-1]), length, source), side="right")
        row = np.empty((length, len(weights)), dtype=np.int64)
        for axis, (edge, total) in enumerate(zip(edges, totals, strict=True)):
            target = group * total + uniform(total, length, source)
            row[:, axis] = np.searchsorted(edge, target, side="right") % weights[axis].shape[1]
        yield row


def draw_units(
    people: Ints, sizes: Ints, weights: Ints, total: int, size: int, source: RandomBytes = os.urandom
) -> Iterator[Ints]:
    """The same as :func:`draw_cells` where a person of group g has ``sizes[g]`` rows, whose weights are added up in
    ``weights[g]``: a row of anyone's is as likely as any other, then a cell by its weights."""
    in_all = sum(n * m for n, m in zip(people.tolist(), sizes.tolist(), strict=True))
    if in_all > MOST or total * int(sizes.max()) > MOST:
        raise ValueError("there are too many rows to draw from exactly")
    last_row = np.cumsum(people * sizes)
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        group = np.searchsorted(last_row, uniform(in_all, length, source), side="right")
        cells, order = np.empty(length, dtype=np.int64), np.argsort(group, kind="stable")
        found, begins = np.unique(group[order], return_index=True)
        for each, places in zip(found.tolist(), np.split(order, begins[1:]), strict=True):
            target = uniform(total * int(sizes[each]), len(places), source)
            cells[places] = np.searchsorted(np.cumsum(weights[each]), target, side="right")
        yield cells


def draw_weighted(weights: Sequence[int], size: int, source: RandomBytes = os.urandom) -> Iterator[Ints]:
    """``size`` independent draws of a cell, some at a time, each as likely as its weight, however large the weights."""
    edges = list(accumulate(weights))
    total = edges[-1]
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        if total <= MOST:
            yield np.searchsorted(np.array(edges, dtype=np.int64), uniform(total, length, source), side="right")
        else:
            yield np.array([bisect_right(edges, _one(total, source)) for _ in range(length)], dtype=np.int64)


def _one(limit: int, source: RandomBytes) -> int:
    """A whole number of any size below a limit: masked bits, drawn again if not below it."""
    bits = (limit - 1).bit_length()
    while True:
        drawn = int.from_bytes(source((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if drawn < limit:
            return drawn
