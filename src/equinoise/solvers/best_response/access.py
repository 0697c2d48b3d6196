"""What compiled loops take, and how they get at a person's row: copied where rows are laid out, else multiplied out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from equinoise.data.grid import Floats, Ints
from equinoise.game.row_store import DenseRows

ZERO: Any = np.int64(0)
"""Zero as a value: a function that is called with the literal 0 would be compiled once more."""


def compiled(*, entry: bool = False, **options: Any) -> Any:
    """Compile for whatever types a function is called with, and keep the result on disk if there is a place.

    Nothing here allocates, so references are not counted: that would take longer than the work. Only the ``entry`` can
    be called from Python (and lets others tell meanwhile how far it is): wrapping up the others' arguments would take
    most of the time to compile.
    """
    options |= {"error_model": "numpy", "_nrt": False}
    options |= {"nogil": True} if entry else {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no writable cache folder
            return numba.njit(**options)(function)

    return decorate


class Limits(NamedTuple):
    """A condition. ``most`` and ``least``: 1 / upper and 1 / lower for each type (infinite where there is no lower
    limit), so that a row times the one must be at most S, and times the other at least."""

    kind: int
    cells: int
    most: Floats
    least: Floats
    any_least: bool
    sizes: Ints
    total_rows: int
    epsilon: float
    limit: float
    order: float


class Aim(NamedTuple):
    """What closeness means: its kind, the rows in the occupied cells, their numbers, what a kernel's row sums to,
    linear features (types x scales x features), each type's home among the occupied cells, the tolerance per person."""

    kind: int
    counts: Floats
    occupied: Ints
    total: float
    features: Floats
    homes: Ints
    tolerance: float


class State(NamedTuple):
    """Everything that moves change.

    ``profile``, ``status`` (0: nobody there) and ``witness`` (the cell in which a group, or a move to it, failed last)
    are types x scales. In every cell: S (``sums``), S again as two floats (``high``, ``low``) and whether these hold it
    to the last bit (``exact``); the largest and second largest of the protected groups' rows as multiples of their
    limits, the smallest so, and whether these are ``stale``: bounds only. ``near``: S in the occupied cells; ``gaps``:
    of linear features; ``slopes``: of either.
    """

    profile: Ints
    status: Ints
    witness: Ints
    sums: Floats
    high: Floats
    low: Floats
    exact: Ints
    largest: Floats
    second: Floats
    smallest: Floats
    stale: Ints
    near: Floats
    gaps: Floats
    slopes: Floats


class Buffers(NamedTuple):
    """Room for three rows over all cells, S after a move, the rows of a type in the occupied cells (scales x occupied),
    what the slopes say of each scale, and how many people of it still wait for their turn."""

    old: Floats
    new: Floats
    other: Floats
    then: Floats
    nears: Floats
    slope_scores: Floats
    waiting: Ints


def fill_row(store: Any, i: int, v: int, low: int, high: int, out: Floats) -> None:
    """Write a person's row, right from cell ``low`` to before ``high``."""


def fill_near(store: Any, i: int, out: Floats) -> None:
    """Write the rows of one type with every scale, in the occupied cells: scales x occupied."""


def weight(store: Any, i: int, v: int, x: int) -> Any:
    """A person's row in one cell."""


@overload(fill_row)
def _fill_row(store, i, v, low, high, out):  # type: ignore[no-untyped-def]
    if store.instance_class is DenseRows:

        def copy(store, i, v, low, high, out):  # type: ignore[no-untyped-def]
            weights = store.weights
            for x in range(low, high):
                out[x] = weights[i, v, x]

        return copy

    def multiply(store, i, v, low, high, out):  # type: ignore[no-untyped-def]
        first, second, width, begin = store.first, store.second, store.second.shape[1], store.begins[i]
        for e in range(begin, store.begins[i + 1]):
            one, two = store.one[e], store.two[e]
            for a in range(low // width, (high + width - 1) // width):
                times, base = first[v, one, a] * store.times[e], a * width
                if e == begin:
                    for b in range(width):
                        out[base + b] = times * second[v, two, b]
                elif times != 0:
                    for b in range(width):
                        out[base + b] += times * second[v, two, b]

    return multiply


@overload(fill_near)
def _fill_near(store, i, out):  # type: ignore[no-untyped-def]
    if store.instance_class is DenseRows:

        def copy(store, i, out):  # type: ignore[no-untyped-def]
            near = store.near
            for v in range(out.shape[0]):
                for k in range(out.shape[1]):
                    out[v, k] = near[i, v, k]

        return copy

    def multiply(store, i, out):  # type: ignore[no-untyped-def]
        first, second, ones, twos, begin = store.first, store.second, store.ones, store.twos, store.begins[i]
        for v in range(out.shape[0]):
            for e in range(begin, store.begins[i + 1]):
                one, two, times = store.one[e], store.two[e], store.times[e]
                if e == begin:
                    for k in range(out.shape[1]):
                        out[v, k] = first[v, one, ones[k]] * times * second[v, two, twos[k]]
                else:
                    for k in range(out.shape[1]):
                        out[v, k] += first[v, one, ones[k]] * times * second[v, two, twos[k]]

    return multiply


@overload(weight)
def _weight(store, i, v, x):  # type: ignore[no-untyped-def]
    if store.instance_class is DenseRows:
        return lambda store, i, v, x: store.weights[i, v, x]

    def multiply(store, i, v, x):  # type: ignore[no-untyped-def]
        width, found = store.second.shape[1], 0.0
        a, b = x // width, x % width
        for e in range(store.begins[i], store.begins[i + 1]):
            found += store.first[v, store.one[e], a] * store.times[e] * store.second[v, store.two[e], b]
        return found

    return multiply


@compiled(forceinline=True)
def reach(store, limits, i, old, new):  # type: ignore[no-untyped-def]
    """The cells that a move may change, or may matter in: all, where anyone's share may be too small."""
    if limits.any_least:
        return np.int64(0), limits.cells
    return (
        min(store.reach[i, old, 0], store.reach[i, new, 0]),
        max(store.reach[i, old, 1], store.reach[i, new, 1]),
    )
