"""A smooth rate of people per cell, u = ln m, from noisy counts: the greatest of likelihood less roughness.

    sum over cells of ln L(z, u)  -  lam * sum over ordered axes of ln(1 + r(second differences of u along it))
        -  0.02 * sum over unordered axes of r(u - its mean along it)  -  0.0005 * sum of (u - u0)^2

r(d) = sqrt(d^2 + c^2) - c with c = 0.05 is about the size of d: few large bends cost less than many small ones, so that
u is straight where nothing tells otherwise. The logarithm lets it turn sharply, or jump where people end. lam is 3 for
one ordered axis, 0.8 for two, and 0.5 for more. u0, the logarithm of the mean count, holds what nothing else says
anything about. Found by L-BFGS from blurred noisy counts on: jumps make several optima possible, and one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equinoise.data.grid import Floats
from equinoise.synthesis.count_law import LOWEST_U, CountLaw

LEAST_ORDERED = 4
"""Fewer bins than this have no shape to be smooth."""

LAMS = {1: 3.0, 2: 0.8}
LAM_OF_MORE = 0.5
TIE, HOLD, CORNER = 0.02, 1e-3, 0.05


@dataclass(frozen=True)
class CellShape:
    """The grid as smoothing sees it: bins of every axis, and how many of them, the first, have an order."""

    bins: tuple[int, ...]
    ordered: tuple[int, ...]

    @cached_property
    def smooth_axes(self) -> tuple[int, ...]:
        """The axes along which u is smooth."""
        return tuple(axis for axis, bins in enumerate(self.ordered) if bins >= LEAST_ORDERED)

    @cached_property
    def unordered_axes(self) -> tuple[int, ...]:
        """The axes of categories that could be in any order."""
        return tuple(axis for axis, bins in enumerate(self.ordered) if bins < LEAST_ORDERED and self.bins[axis] > 1)

    @property
    def lam(self) -> float:
        """What second differences cost."""
        return LAMS.get(len(self.smooth_axes), LAM_OF_MORE)


def roughness(u: Floats, shape: CellShape, u0: float) -> tuple[float, Floats]:
    """What u costs (of the grid's shape), and the slope."""
    lam, held = shape.lam, u - u0
    cost, slope = HOLD / 2 * float(np.vdot(held, held)), HOLD * held
    for axis in shape.smooth_axes:
        part, along = np.moveaxis(u, axis, 0)[: shape.ordered[axis]], np.moveaxis(slope, axis, 0)
        bends = part[2:] - 2 * part[1:-1] + part[:-2]
        size = np.sqrt(bends * bends + CORNER**2)
        cost += lam * float(np.log1p(size - CORNER).sum())
        pull = lam * bends / (size * (1 + size - CORNER))
        end = shape.ordered[axis]
        along[: end - 2] += pull
        along[1 : end - 1] -= 2 * pull
        along[2:end] += pull
    for axis in shape.unordered_axes:
        apart = u - u.mean(axis, keepdims=True)
        size = np.sqrt(apart * apart + CORNER**2)
        cost += TIE * float((size - CORNER).sum())
        pull = TIE * apart / size
        slope += pull - pull.mean(axis, keepdims=True)
    return cost, slope


def smooth_rate(
    law: CountLaw, shape: CellShape, start: Floats, u0: float, *, weight: Floats | None = None, rounds: int = 200
) -> Floats:
    """u of every cell, flat; cells of ``weight`` 0 are left out of the likelihood, and others tell of them."""
    from scipy.optimize import minimize

    def cost(u: Floats) -> tuple[float, Floats]:
        value, slope = law.log_likelihood(u)
        if weight is not None:
            value, slope = value * weight, slope * weight
        rough, pull = roughness(u.reshape(shape.bins), shape, u0)
        return rough - float(value.sum()), pull.ravel() - slope

    options = {"maxiter": rounds, "maxcor": 15}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=options)
    return np.clip(np.asarray(found.x, dtype=np.float64), LOWEST_U, law.cells.rates[-1])
