"""Exact random draws: uniform whole numbers by rejection from a source of random bytes, no float anywhere."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from equinoise.data.grid import Ints

RandomBytes = Callable[[int], bytes]
"""Gives n random bytes. Releases use the operating system's; tests inject their own."""

MOST = 2**62
MOST_ROWS_PER_PERSON = 2**30
"""Of one person."""
_CHUNK = 1 << 18


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


def draw_rows(
    people: Ints, weights: Sequence[Ints], totals: Sequence[int], size: int, source: RandomBytes = os.urandom
) -> Iterator[Ints]:
    """``size`` independent draws, some at a time, as rows of one bin per axis: someone's row uniformly, then on each
    axis a bin by its weights there.

    ``people[g]`` rows have the weights ``weights[d][g]`` on axis d, which sum to ``totals[d]``. All bins of a draw come
    from one row, so relations between the columns survive. Each group's running totals are shifted by g times the
    total, so that one binary search serves all groups.
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


def draw_weighted(
    weights: Sequence[int], size: int, source: RandomBytes = os.urandom, *, others: tuple[int, int, Ints] | None = None
) -> Iterator[Ints]:
    """``size`` independent draws of a cell, some at a time, each as likely as its weight, however large the weights.

    The weights are of cells 0, 1, ..., or with ``others``, which is (rest, number of all cells, listed cells), of the
    listed ones, which ascend; every other cell weighs ``rest``.
    """
    edges = list(accumulate(weights))
    rest, cells, listed = others or (0, len(edges), np.arange(len(edges)))
    named = edges[-1] if edges else 0
    total = named + rest * (cells - len(listed))
    before = listed - np.arange(len(listed))  # unlisted cells below each listed one
    fast = np.array(edges, dtype=np.int64) if total <= MOST else None
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        if fast is not None:
            target = uniform(total, length, source)
            place, unlisted = np.searchsorted(fast, target, side="right"), (target - named) // max(rest, 1)
        else:
            drawn = [_one(total, source) for _ in range(length)]
            place = np.array([bisect_right(edges, one) for one in drawn], dtype=np.int64)
            unlisted = np.array([max(one - named, 0) // max(rest, 1) for one in drawn], dtype=np.int64)
        skipped = unlisted + np.searchsorted(before, unlisted, side="right")
        yield np.where(place < len(edges), np.append(listed, 0)[place], skipped)


def draw_columns(
    tables: Sequence[tuple[int, tuple[int, ...], Ints]], total: int, size: int, source: RandomBytes = os.urandom
) -> Iterator[Ints]:
    """``size`` independent draws of a bin on every column (draws x columns), some at a time, column by column.

    Of each of the ``tables``, (column, parents, weights), the axes are the parents, which come in tables before it, and
    the column; given its parents' bins, a bin is as likely as its share of the ``total`` that all rows sum to. The
    running totals of row g are shifted by g times the total, so that one binary search serves all rows.
    """
    edges = []
    for _, _, weights in tables:
        rows = weights.reshape(-1, weights.shape[-1])
        if len(rows) * total > MOST or rows.min() < 0 or (rows.sum(axis=1) != total).any():
            raise ValueError("a table's weights do not sum to the total, or there are too many to draw from exactly")
        edges.append((np.cumsum(rows, axis=1) + total * np.arange(len(rows))[:, None]).ravel())
    for start in range(0, size, _CHUNK):
        length = min(_CHUNK, size - start)
        bins = np.empty((length, len(tables)), dtype=np.int64)
        for (column, parents, weights), edge in zip(tables, edges, strict=True):
            group = np.zeros(length, dtype=np.int64)
            if parents:
                group = np.ravel_multi_index(tuple(bins[:, parent] for parent in parents), weights.shape[:-1])
            target = group * total + uniform(total, length, source)
            bins[:, column] = np.searchsorted(edge, target, side="right") - group * weights.shape[-1]
        yield bins


def _one(limit: int, source: RandomBytes) -> int:
    """A whole number of any size below a limit: masked bits, drawn again if not below it."""
    bits = (limit - 1).bit_length()
    while True:
        drawn = int.from_bytes(source((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if drawn < limit:
            return drawn
