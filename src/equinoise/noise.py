"""Noise families as integer kernels: where a person comes out, as whole numbers that sum to a fixed total.

Rounding happens here, before the game is played, so that what is certified and drawn from is exactly what
the game saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equinoise.errors import BadInput, check
from equinoise.grid import Axis, Floats, Ints

WEIGHT_TOTAL = 2**32
"""Every kernel row sums to this. A power of two, so that a draw needs no rejection within a row."""

MOST_WEIGHTS = 2**26
"""Kernels of more weights than this (half a gigabyte) are refused."""

MOST_SCALES = 64

PAPER_MULTIPLIERS = (0.2, 0.33, 1.0, 2.0, 3.0)


@dataclass(frozen=True, eq=False)
class Kernel:
    """weights[v, k, x] / total: the probability that a person in cell k with scale v comes out in cell x.

    ``scales`` ascend and are in units of the padded range.
    """

    noise: str
    scales: tuple[float, ...]
    weights: Ints
    total: int


def laplace_mass(scale: float, bins: int) -> Floats:
    """Laplace noise of the given scale around each bin's midpoint: mass per bin, cut off and renormalized.

    With r = (bin width) / scale, the mass d >= 1 bins away is proportional to exp(-(d - 1/2) r) and the mass
    of the own bin to 2 / (1 + exp(-r/2)); both are divided by (1 - exp(-r)) / 2, so that an infinite scale is
    simply r = 0, the uniform row.
    """
    r = min(1 / (bins * scale), 1e6)
    distance = np.abs(np.subtract.outer(np.arange(bins), np.arange(bins)))
    mass = np.exp(-(distance - 0.5) * r, where=distance > 0, out=np.zeros((bins, bins)))
    np.fill_diagonal(mass, 2 / (1 + math.exp(-r / 2)))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def round_rows(mass: Floats, total: int) -> Ints:
    """Round each row to whole numbers that sum to ``total``: largest remainders up, ties to the first."""
    exact = mass * total
    weights = np.floor(exact).astype(np.int64)
    missing = total - weights.sum(axis=1)
    order = np.argsort(weights - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(mass.shape[1])[None, :], axis=1)
    return np.asarray(weights + (rank < missing[:, None]))


def laplace_kernel(scales: Sequence[float], bins: int, total: int = WEIGHT_TOTAL) -> Kernel:
    """Laplace kernels for every scale, in units of the padded range."""
    ordered = tuple(sorted(scales))
    if len(ordered) * bins**2 > MOST_WEIGHTS:
        fitting = math.isqrt(MOST_WEIGHTS // len(ordered))
        raise BadInput(
            f"{bins:,} bins with {len(ordered)} scales need more memory than is sensible. "
            f"Use at most {fitting:,} bins, or fewer scales."
        )
    weights = np.stack([round_rows(laplace_mass(scale, bins), total) for scale in ordered])
    return Kernel("laplace", ordered, weights, total)


def scale_set(scales: str | Sequence[float] | NDArray[np.float64], axis: Axis, epsilon: float) -> tuple[float, ...]:
    """The scales on offer, in units of the padded range, ascending.

    ``wide`` is eight geometric scales from a twentieth of a bin to three times the padded range, where ``adaptive``
    begins, too; ``paper`` is
    {0.2, 0.33, 1, 2, 3} times (high - low) / epsilon; anything else is a list in data units.
    """
    if isinstance(scales, str):
        if scales in {"wide", "adaptive"}:
            return tuple(np.geomspace(1 / (20 * axis.bins), 3.0, 8).tolist())
        if scales == "paper":
            unit = (axis.high - axis.low) / axis.range / epsilon
            check(math.isfinite(unit * 3), "epsilon", "large enough for the paper's scales", epsilon)
            return tuple(m * unit for m in PAPER_MULTIPLIERS)
        raise BadInput(
            f"The 'scales' parameter must be 'wide', 'adaptive', 'paper' or numbers in data units, such as "
            f"50,500,20000 (in Python a list). Got {scales[:60]!r} instead."
        )
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
