"""Noise as integer kernels: where a person comes out in one column, as whole numbers that sum to a fixed total.

Rounding happens here, before the game is played, so that what is certified and drawn from is exactly what the game saw.
The families are in ``noises/``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from equinoise.choices import NOISES, load
from equinoise.data.grid import AnyAxis, Floats, Ints
from equinoise.errors import BadInput, check, is_number

WEIGHT_TOTAL = 2**32
"""Every kernel row sums to this. A power of two, so that a draw needs no rejection within a row."""

MOST_WEIGHTS = 2**26
"""Kernels of more weights than this (half a gigabyte) are refused; one column's rows are laid out up to it."""

MOST_SCALES = 64

PAPER_MULTIPLIERS = (0.2, 0.33, 1.0, 2.0, 3.0)


def spread(by_distance: Floats, cells: Ints | None = None) -> Floats:
    """Mass by cell (or some cells) x bin, from the mass by distance: cut off at the grid's ends and renormalized."""
    every = np.arange(len(by_distance))
    mass = by_distance[np.abs(np.subtract.outer(every if cells is None else cells, every))]
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def noise_mass(noise: str, scale: float, bins: int, cells: Ints | None = None, categories: int = 0) -> Floats:
    """Mass by cell (or some cells) x bin of a family, for one scale in units of the range. The last ``categories`` bins
    have no order: see :func:`add_categories`."""
    numbers = bins - categories
    if not categories:
        return spread(load(NOISES, noise).by_distance(min(1 / (bins * scale), 1e150), bins), cells)
    every = np.arange(bins) if cells is None else np.asarray(cells)
    ordered = noise_mass(noise, scale, numbers) if numbers else np.zeros((0, 0))
    return add_categories(ordered, math.exp(-min(1 / scale, 1e3)), categories)[every]


def add_categories(ordered: Floats, away: float, categories: int) -> Floats:
    """Rows of mass of bins in order (bins x bins) and after them of categories, all as far apart as the range is long.

    A person stays in their category, or among the numbers, or comes out in each other category with ``away`` times that
    mass. Whoever leaves a category for the numbers comes out anywhere among them.
    """
    numbers = len(ordered)
    mass = np.full((numbers + categories,) * 2, away)
    mass[:numbers, :numbers] = ordered
    mass[numbers:, :numbers] /= max(numbers, 1)
    np.fill_diagonal(mass[numbers:, numbers:], 1.0)
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def round_weights(mass: Floats, total: int) -> Ints:
    """Round each row to whole numbers that sum to ``total``: largest remainders up, ties to the first."""
    exact = mass * total
    weights = np.floor(exact).astype(np.int64)
    missing = total - weights.sum(axis=1)
    order = np.argsort(weights - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(mass.shape[1])[None, :], axis=1)
    return np.asarray(weights + (rank < missing[:, None]))


def axis_weights(
    noise: str, scales: Sequence[float], bins: int, total: int = WEIGHT_TOTAL, cells: Ints | None = None,
    categories: int = 0,
) -> Ints:  # fmt: skip
    """weights[v, k, x] / total: the probability that a person in bin k with scale v comes out in bin x.

    ``scales`` are in units of the range; the last ``categories`` bins have no order. With ``cells`` (those that have
    anyone in them) only their rows are made. The others stay zero, which takes neither time nor memory: pages that are
    never written are never there.
    """
    if len(scales) * bins**2 > MOST_WEIGHTS:
        fitting = math.isqrt(MOST_WEIGHTS // len(scales))
        raise BadInput(
            f"{bins:,} bins with {len(scales)} scales need more memory than is sensible. "
            f"Use at most {fitting:,} bins, or fewer scales."
        )
    weights = np.zeros((len(scales), bins, bins), dtype=np.int64)
    filled = slice(None) if cells is None else cells
    for v, scale in enumerate(scales):
        weights[v, filled] = round_weights(noise_mass(noise, scale, bins, cells, categories), total)
    return weights


def scale_set(scales: str | Sequence[float] | NDArray[np.float64], axis: AnyAxis, epsilon: float) -> tuple[float, ...]:
    """The scales on offer, in units of the padded range, ascending.

    ``wide`` is eight geometric scales from a twentieth of a bin to three times the padded range, where ``adaptive``
    begins, too; ``paper`` is
    {0.2, 0.33, 1, 2, 3} times (high - low) / epsilon; anything else is a list in data units.
    """
    if isinstance(scales, str):
        if scales in {"wide", "adaptive"}:
            return tuple(np.geomspace(1 / (20 * axis.bins), 3.0, 8).tolist())
        if scales == "paper":
            unit = axis.reach / epsilon
            check(math.isfinite(unit * 3), "epsilon", "large enough for the paper's scales", epsilon)
            return tuple(m * unit for m in PAPER_MULTIPLIERS)
        raise BadInput(
            f"The 'scales' parameter must be 'wide', 'adaptive', 'paper' or numbers in data units, such as "
            f"50,500,20000 (in Python a list). Got {scales[:60]!r} instead."
        )
    usable = isinstance(scales, Collection | np.ndarray) and all(map(is_number, scales))
    check(usable, "scales", "numbers in data units, or the name of a set", scales)
    values = sorted({float(scale) for scale in scales})
    check(len(values) > 0, "scales", "at least one number", list(scales))
    check(len(values) <= MOST_SCALES, "scales", f"at most {MOST_SCALES} numbers", len(values))
    for value in values:
        check(math.isfinite(value) and value > 0, "scales", "positive, finite numbers in data units", value)
    relative = tuple(value / axis.range for value in values)
    check(
        1e-290 < relative[0] and relative[-1] < 1e290,
        "scales", "within reach of the column's range", values,
    )  # fmt: skip
    return relative
