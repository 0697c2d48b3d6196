"""Of one column of a mechanism, bin by bin: where people are, their noise, means and maxima."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats, Ints
from equinoise.mechanisms.base import Mechanism
from equinoise.statistics import baselines

WEIGHTS_AT_ONCE = 2**22
"""Weights looked at together."""


def edges(axis: AnyAxis) -> Floats:
    """Where the bins begin, and where the last one ends (one more than there are bins): in data units, or for
    categories one after the other; a bin of those without a value comes after the others."""
    if not isinstance(axis, Axis):
        return np.arange(axis.bins + 1, dtype=np.float64)
    at = axis.edges()
    return np.append(at, at[-1] + axis.width) if axis.categories else at


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
    units."""
    bins, _, first = _places(mechanism, number)
    return _distances(mechanism.factors[number][first], bins) * width(mechanism.grid.axes[number])


def laplace_noise(mechanism: Mechanism, number: int, bins: Ints) -> Floats:
    """The Laplace mechanism's noise for people of these bins: root mean square distance, in data units."""
    axis, columns = mechanism.grid.axes[number], len(mechanism.grid.axes)
    weights = baselines.laplace_kernel(axis, mechanism.epsilon / columns)[bins]
    return _distances(weights, bins) * width(axis)


def _distances(weights: Ints | Floats, own: Ints) -> Floats:
    """Root mean square distance from their own bin, in bins, for each row of weights."""
    bins, distances = np.arange(weights.shape[1]), np.empty(len(own))
    step = max(1, WEIGHTS_AT_ONCE // weights.shape[1])
    for begin in range(0, len(own), step):
        part = slice(begin, begin + step)
        mass = weights[part].astype(np.float64)
        squares = (bins - own[part, None]).astype(np.float64) ** 2
        distances[part] = np.sqrt((mass * squares).sum(axis=1) / mass.sum(axis=1))
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
