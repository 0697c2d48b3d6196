"""What one would use instead: noise for every value, smoothed counts.

The first three give every person the same noise. Their rows are cut off at the grid's ends and renormalized, like
those of the game, and a person sits at the midpoint of their cell; so the textbook epsilon need not hold for them,
and :func:`local_epsilon` works out what does. The last one adds pseudo-counts and no noise at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats, Grid, Ints
from equinoise.game.noise import add_categories, noise_mass, spread
from equinoise.game.noises.staircase import staircase_mass
from equinoise.privacy.loss import EPSILON_CAP

SLACK = 1e-12
"""More than floating point can get a log-ratio of two rows wrong (logarithms down to -745, a few units in the last
place each)."""


def cells_in_bounds(axis: AnyAxis) -> slice:
    """The cells that anyone can be in: those that the bounds touch. They are public."""
    if not isinstance(axis, Axis) or axis.categories:
        return slice(0, axis.bins)
    return slice(axis.cell_of(axis.low), axis.cell_of(axis.high) + 1)


def grid_cells_in_bounds(grid: Grid) -> Ints:
    """The cells of a grid that are within the bounds of every column, ascending."""
    bins = np.ix_(*(np.arange(axis.bins)[cells_in_bounds(axis)] for axis in grid.axes))
    return np.asarray(np.ravel_multi_index(bins, grid.shape), dtype=np.int64).ravel()


def local_epsilon(kernel: Floats, axis: AnyAxis) -> float:
    """The largest log-ratio, in any output cell, between the rows of any two cells within the bounds.

    That is the epsilon of local differential privacy: whoever sees a person's noisy value can tell any two values
    apart no better. Infinite where a cell is out of reach for one of two rows only. A floating-point figure.
    """
    inside = kernel[cells_in_bounds(axis)]
    largest, smallest = inside.max(axis=0), inside.min(axis=0)
    reached = largest > 0
    with np.errstate(divide="ignore"):
        ratios = np.log(largest[reached]) - np.log(smallest[reached])
    return float(ratios.max())


def laplace_kernel(axis: AnyAxis, epsilon: float) -> Floats:
    """The Laplace mechanism on the grid: scale (high - low) / epsilon for everyone; for categories, randomized
    response."""
    return noise_mass("laplace", axis.reach / epsilon, axis.bins, categories=axis.categories)


def laplace_output(p: Floats, axes: Sequence[AnyAxis], epsilon: float) -> Floats:
    """Output of the Laplace mechanism on every column of the same grid, epsilon shared out evenly among them."""
    return spread_out(p, [laplace_kernel(axis, epsilon / len(axes)) for axis in axes])


def spread_out(p: Floats, kernels: Sequence[Floats]) -> Floats:
    """What comes out of p over the cells of a grid, flat, when every axis has noise: its kernel, bins x bins."""
    q = p.reshape([len(kernel) for kernel in kernels])
    for number, kernel in enumerate(kernels):
        q = np.moveaxis(np.tensordot(q, kernel, axes=(number, 0)), -1, number)
    return q.ravel()


def bounded_laplace_kernel(axis: AnyAxis, epsilon: float) -> Floats:
    """The Laplace mechanism with the smallest scale for which cutting off keeps the promise."""
    return noise_mass("laplace", bounded_laplace_scale(axis, epsilon), axis.bins, categories=axis.categories)


def bounded_laplace_scale(axis: AnyAxis, epsilon: float) -> float:
    """The smallest scale (units of the padded range) whose :func:`local_epsilon` is at most epsilon, to a billionth.

    The textbook scale is not right here: the midpoints of the two end cells can be further apart than the bounds are
    (or less far), and rows are divided by the mass that they keep within the grid, which differs. So the exact worst
    ratio decides, by bisection: of the last two scales the larger, which is within epsilon with room for rounding.
    """

    def enough(scale: float) -> bool:
        return (
            local_epsilon(noise_mass("laplace", scale, axis.bins, categories=axis.categories), axis) <= epsilon - SLACK
        )

    low = high = axis.reach / epsilon
    while not enough(high):
        low, high = high, 2 * high
    while enough(low) and low > 1e-9:  # below, every row is all but a point: no smaller scale changes anything
        low, high = low / 2, low
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def staircase_kernel(axis: AnyAxis, epsilon: float) -> Floats:
    """The staircase mechanism on the grid, with sensitivity high - low: mass per bin, cut off and renormalized; for
    categories, randomized response."""
    if not isinstance(axis, Axis):
        return laplace_kernel(axis, epsilon)
    ordered = spread(staircase_mass(axis.width / (axis.high - axis.low), axis.number_bins, epsilon))
    return add_categories(ordered, math.exp(-epsilon), axis.categories) if axis.categories else ordered


def pseudo_count(epsilon: float) -> float:
    """What additive smoothing adds to every cell: t = 1 / (e^epsilon - 1), rounded up.

    One draw from q[x] = (n[x] + t) / (N + K t) is epsilon-DP. Add a person to cell z: the denominator grows by a
    factor of at most 1 + 1/(K t) <= 1 + 1/t = e^epsilon, and no numerator falls; so no q[x] falls by more. And
    only q[z] can grow: its numerator does by a factor of 1 + 1/(n[z] + t) <= 1 + 1/t = e^epsilon.
    """
    return (1 + 2.0**-50) / math.expm1(min(epsilon, EPSILON_CAP))


def smooth_counts(counts: Ints, epsilon: float, cells: Ints) -> Floats:
    """The counts with the pseudo-count added in ``cells``, which must be chosen in public and hold everyone."""
    weights = counts.astype(np.float64)
    weights[cells] += pseudo_count(epsilon)
    return weights
