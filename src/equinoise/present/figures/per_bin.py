"""Of one column of a mechanism, bin by bin: where people are, their noise, means and maxima."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from equinoise.data.axis import MISSING_LABEL
from equinoise.data.grid import AnyAxis, Axis, Floats, Ints
from equinoise.formatting import printable
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures.encodings import name_axis, value_axis
from equinoise.statistics import baselines

TINY = np.finfo(np.float64).tiny

WEIGHTS_AT_ONCE = 2**22
"""Weights looked at together."""


def edges(axis: AnyAxis) -> Floats:
    """Where the bins begin, and where the last one ends (one more than there are bins): in data units, or for
    categories one after the other; a bin of those without a value comes after the others."""
    if not isinstance(axis, Axis):
        return np.arange(axis.bins + 1, dtype=np.float64)
    at = axis.edges()
    return np.append(at, at[-1] + axis.width) if axis.categories else at


def bin_ends(axis: AnyAxis, bins: Ints) -> list[tuple[Any, Any]]:
    """Where each of these bins begins and ends, in data units, or the first and the last day; twice its name where it
    is a category or missing."""
    at = edges(axis)
    names = {bin: printable(axis.bin_label(bin)) for bin in set(bins.tolist()) if bin >= axis.number_bins}

    def ends(bin: int) -> tuple[Any, Any]:
        if bin in names:
            return names[bin], names[bin]
        low, high = float(at[bin]), float(at[bin + 1])
        if not isinstance(axis, Axis) or axis.day_zero is None:
            return low, high
        return axis.value_label(math.ceil(low)), axis.value_label(math.floor(high))

    return [ends(bin) for bin in bins.tolist()]


def bin_axis(axis: AnyAxis, value: str, name: str, *, missing: bool = True, nice: bool = False) -> Any:
    """The bins of a column from left to right: numbers by the field ``value``, categories by the field ``name``.
    ``missing`` says whether those without a value are there."""
    if not isinstance(axis, Axis):
        return name_axis(name, axis.label, [printable(axis.bin_label(bin)) for bin in range(axis.bins)])
    title = value_title(axis) if missing else axis.label
    return value_axis(value, title, nice=nice, day_zero=axis.day_zero)


def value_title(axis: Axis) -> str:
    """What is written below a number column's values, in which those without a value have the last place."""
    return f"{axis.label} (at the right end: {MISSING_LABEL})" if axis.categories else axis.label


def occupied_span(shares: Floats) -> tuple[int, int]:
    """The first bin that anyone is in, and the one after the last; all bins where there is nobody."""
    occupied = np.flatnonzero(shares)
    return (int(occupied[0]), int(occupied[-1]) + 1) if len(occupied) else (0, len(shares))


def width(axis: AnyAxis) -> float:
    """How wide a bin is in a picture."""
    return axis.width if isinstance(axis, Axis) else 1.0


def places(mechanism: Mechanism, number: int) -> tuple[Ints, Ints]:
    """Where people are on one column: a bin and a group of people, once for each bin that the group has rows in."""
    bins, groups, _ = _places(mechanism, number)
    return bins, groups


def _places(mechanism: Mechanism, number: int) -> tuple[Ints, Ints, Ints]:
    """Bins and groups of :func:`places`, and which cell of a group stands for each: several may be in one bin."""
    groups = mechanism.members.owners
    bins = mechanism.grid.bins_of(mechanism.members.cells)[:, number]
    first = np.sort(np.unique(np.stack([groups, bins]), axis=1, return_index=True)[1])
    return bins[first], groups[first], first


def noise_at_places(mechanism: Mechanism, number: int) -> Floats:
    """Noise of people on one column, for each of :func:`places`: root mean square distance from their own bin, in data
    units; for a category the probability of another one."""
    bins, _, first = _places(mechanism, number)
    return _noise(mechanism.factors[number][first], bins, mechanism.grid.axes[number])


def laplace_noise(mechanism: Mechanism, number: int, bins: Ints) -> Floats:
    """The Laplace mechanism's noise for people of these bins: root mean square distance, in data units; for a category
    the probability of another one (randomized response)."""
    axis, columns = mechanism.grid.axes[number], len(mechanism.grid.axes)
    weights = baselines.laplace_kernel(axis, mechanism.epsilon / columns)[bins]
    return _noise(weights, bins, axis)


def _noise(weights: Ints | Floats, own: Ints, axis: AnyAxis) -> Floats:
    """Of each row of weights: a distance among the bins of numbers, or from a bin that has no order the probability of
    leaving it."""
    found, ordered = np.empty(len(own)), own < axis.number_bins
    found[ordered] = _distances(weights[ordered, : axis.number_bins], own[ordered]) * width(axis)
    rest = weights[~ordered].astype(np.float64)
    found[~ordered] = 1 - rest[np.arange(len(rest)), own[~ordered]] / rest.sum(axis=1)
    return found


def _distances(weights: Ints | Floats, own: Ints) -> Floats:
    """Root mean square distance from their own bin, in bins, for each row of weights."""
    bins, distances = np.arange(weights.shape[1]), np.empty(len(own))
    step = max(1, WEIGHTS_AT_ONCE // max(1, weights.shape[1]))
    for begin in range(0, len(own), step):
        part = slice(begin, begin + step)
        mass = weights[part].astype(np.float64)
        squares = (bins - own[part, None]).astype(np.float64) ** 2
        distances[part] = np.sqrt((mass * squares).sum(axis=1) / np.maximum(mass.sum(axis=1), TINY))
    return distances


def people_mean_and_maximum(bins: Ints, people: Ints, values: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """The bins that anyone is in; and for each the number of people, the mean of their values and the largest."""
    occupied, where = np.unique(bins, return_inverse=True)
    many = np.bincount(where, weights=people).astype(np.int64)
    with np.errstate(invalid="ignore"):
        means = np.bincount(where, weights=people * values) / many
    largest = np.full(len(occupied), -np.inf)
    np.maximum.at(largest, where, values)
    return occupied, many, means, largest
