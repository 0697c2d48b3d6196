"""Steps that fall by e once every scale (Geng and Viswanath), by the tail function."""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats
from equinoise.privacy.loss import EPSILON_CAP


def by_distance(width: float, bins: int) -> Floats:
    """Mass by distance in bins: bins."""
    if width * bins < 1e-3:  # all within the first step
        return np.ones(bins)
    return staircase_mass(width, bins, 1.0)


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
