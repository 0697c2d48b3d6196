"""Noise families as integer kernels: where a person comes out, as whole numbers that sum to a fixed total.

Rounding happens here, before the game is played, so that what is certified and drawn from is exactly what
the game saw.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Axis, Floats, Ints
from equinoise.errors import BadInput, check, is_number
from equinoise.privacy.loss import EPSILON_CAP

WEIGHT_TOTAL = 2**32
"""Every kernel row sums to this. A power of two, so that a draw needs no rejection within a row."""

MOST_WEIGHTS = 2**26
"""Kernels of more weights than this (half a gigabyte) are refused."""

MOST_SCALES = 64

PAPER_MULTIPLIERS = (0.2, 0.33, 1.0, 2.0, 3.0)


class Family(Protocol):
    """A family of noise: symmetric, falling with distance."""

    def by_distance(self, width: float, bins: int) -> Floats:
        """Mass of the bins 0, 1, ..., K-1 bins away from a person at a bin's midpoint, up to a common factor.

        ``width`` is that of a bin, in scales: 1 / (K scale), from 0 (infinite scale: all alike) to very large.
        """


class Laplace:
    """Density exp(-t): with width r, d >= 1 bins away it is exp(-(d - 1/2) r), in the own bin 2 / (1 + exp(-r/2))."""

    def by_distance(self, width: float, bins: int) -> Floats:  # noqa: D102
        others = np.exp(-(np.arange(1, bins) - 0.5) * width)
        return np.append(2 / (1 + math.exp(-width / 2)), others)


class Gaussian:
    """Normal with standard deviation the scale, by the tail function; so wide that it cancels, by the density."""

    def by_distance(self, width: float, bins: int) -> Floats:  # noqa: D102
        if width < 1e-4:
            return np.asarray(np.exp(-((np.arange(bins) * width) ** 2) / 2))
        edges = (np.arange(bins + 1) - 0.5) * width / math.sqrt(2)
        beyond = np.array([math.erfc(edge) for edge in edges.tolist()])
        return np.asarray(beyond[:-1] - beyond[1:])


class Geometric:
    """The Laplace family's discrete relative: exp(-d r), d bins away."""

    def by_distance(self, width: float, bins: int) -> Floats:  # noqa: D102
        return np.asarray(np.exp(-np.arange(bins) * width))


class Staircase:
    """Steps that fall by e once every scale (Geng and Viswanath), by the tail function."""

    def by_distance(self, width: float, bins: int) -> Floats:  # noqa: D102
        if width * bins < 1e-3:  # all within the first step
            return np.ones(bins)
        return staircase_mass(width, bins, 1.0)


class UniformMixture:
    """The own bin or, with odds scale to 1, any of the K bins: each other one gets 1 / (1 + K / scale) of the own."""

    def by_distance(self, width: float, bins: int) -> Floats:  # noqa: D102
        return np.append(1.0, np.full(bins - 1, 1 / (1 + bins * bins * width)))


FAMILIES: dict[str, Family] = {
    "laplace": Laplace(),
    "gaussian": Gaussian(),
    "geometric": Geometric(),
    "staircase": Staircase(),
    "uniform-mixture": UniformMixture(),
}


def staircase_survival(distance: Floats, epsilon: float) -> Floats:
    """P(noise > t) of the staircase mechanism, for t >= 0 in units of the sensitivity.

    Its density has steps of width gamma and 1 - gamma by turns (Geng and Viswanath): with b = e^-epsilon,

        f(t) = a b^k      for k <= t < k + gamma,
        f(t) = a b^(k+1)  for k + gamma <= t < k + 1,      a = (1 - b) / (2 (gamma + b (1 - gamma))),

    and gamma = 1 / (1 + e^(epsilon/2)), which makes the mean absolute noise least. The mass beyond k + u is
    b^k times b/2 plus what is left of the step: sums of positive terms only, so that small tails stay exact.
    """
    epsilon = min(epsilon, EPSILON_CAP)  # more noise than asked for, never less
    b = math.exp(-epsilon)
    gamma = math.exp(-epsilon / 2) / (1 + math.exp(-epsilon / 2))
    a = -math.expm1(-epsilon) / (2 * (gamma + b * (1 - gamma)))
    whole = np.floor(distance)
    u = distance - whole
    left = np.maximum(gamma - u, 0) + b * (1 - np.maximum(u, gamma))
    return np.asarray(np.exp(-epsilon * whole) * (b / 2 + a * left))


def staircase_mass(width: float, bins: int, epsilon: float) -> Floats:
    """Mass of the bins 0, 1, ... bins away, up to a common factor; ``width`` is that of a bin, in sensitivities.

    Small epsilons have nearly all of the mass far outside: there, the mass within is added up from the middle instead.
    """
    edges = (np.arange(bins, dtype=np.float64) + 0.5) * width
    if epsilon >= 0.1:
        beyond = staircase_survival(edges, epsilon)
        return np.concatenate([[1 - 2 * beyond[0]], beyond[:-1] - beyond[1:]])
    b, gamma = math.exp(-epsilon), 1 / (1 + math.exp(epsilon / 2))
    whole = np.floor(edges)
    u = edges - whole
    steps = np.expm1(-epsilon * whole) / math.expm1(-epsilon) * (gamma + b * (1 - gamma))
    within = steps + np.exp(-epsilon * whole) * (np.minimum(u, gamma) + b * np.maximum(u - gamma, 0))
    return np.concatenate([[2 * within[0]], np.diff(within)])


def spread(by_distance: Floats, cells: Ints | None = None) -> Floats:
    """Rows for every cell (or some) from the mass by distance: cut off at the grid's ends and renormalized."""
    every = np.arange(len(by_distance))
    rows = by_distance[np.abs(np.subtract.outer(every if cells is None else cells, every))]
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def noise_mass(noise: str, scale: float, bins: int, cells: Ints | None = None) -> Floats:
    """A family's rows for one scale, in units of the padded range, for every cell or some."""
    return spread(FAMILIES[noise].by_distance(min(1 / (bins * scale), 1e150), bins), cells)


def round_rows(mass: Floats, total: int) -> Ints:
    """Round each row to whole numbers that sum to ``total``: largest remainders up, ties to the first."""
    exact = mass * total
    weights = np.floor(exact).astype(np.int64)
    missing = total - weights.sum(axis=1)
    order = np.argsort(weights - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(mass.shape[1])[None, :], axis=1)
    return np.asarray(weights + (rank < missing[:, None]))


def axis_weights(
    noise: str, scales: Sequence[float], bins: int, total: int = WEIGHT_TOTAL, cells: Ints | None = None
) -> Ints:
    """weights[v, k, x] / total: the probability that a person in bin k with scale v comes out in bin x.

    ``scales`` are in units of the padded range. With ``cells`` (those that have anyone in them) only their rows are
    made. The others stay zero, which takes neither time nor memory: pages that are never written are never there.
    """
    if len(scales) * bins**2 > MOST_WEIGHTS:
        fitting = math.isqrt(MOST_WEIGHTS // len(scales))
        raise BadInput(
            f"{bins:,} bins with {len(scales)} scales need more memory than is sensible. "
            f"Use at most {fitting:,} bins, or fewer scales."
        )
    weights = np.zeros((len(scales), bins, bins), dtype=np.int64)
    for v, scale in enumerate(scales):
        weights[v, slice(None) if cells is None else cells] = round_rows(noise_mass(noise, scale, bins, cells), total)
    return weights


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
