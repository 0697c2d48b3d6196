"""When a person is protected in one draw: a condition on their row and everyone's rows added up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Floats, Ints
from equinoise.privacy.loss import APPROXIMATE, EPSILON_CAP, MARGIN, PURE, RENYI, log_ratios

LARGEST_POWER = 600.0
"""The power of e up to which sums of Renyi divergences are worked out; larger ones are scaled down first."""


@dataclass(frozen=True, eq=False)
class Condition:
    """For every type of player: when a person with the row W is protected. S is everyone's rows added up.

    With the person a draw comes from P = S/R, R being the number of rows; without the m rows of that person from
    Q = (S - W)/(R - m). Both directions are asked for:

    - pure: P <= E Q and Q <= E P in every cell, E = e^epsilon;
    - approximate (a ``delta``): the sums over cells of max(0, P - E Q) and of max(0, Q - E P) are at most delta;
    - Renyi (an ``order`` a > 1): ln(sum of P^a Q^(1-a)) / (a - 1), and so with P and Q swapped, is at most epsilon.

    The pure one is linear: lower S <= W <= upper S with

        R E (S - W) >= (R - m) S   <=>   W <= upper S,  upper = 1 - (R - m)/(R E)
        E (R - m) S >= R (S - W)   <=>   W >= lower S,  lower = 1 - E (R - m)/R, if that is positive.

    All are a little tightened, so that rounding in the game cannot let through what the certificate would refuse.
    """

    epsilon: float
    sizes: Ints
    total_rows: int
    delta: float = 0.0
    order: float | None = None

    @property
    def kind(self) -> int:
        """The kind of condition: ``PURE``, ``APPROXIMATE`` or ``RENYI``."""
        if self.order is not None:
            return RENYI
        return APPROXIMATE if self.delta > 0 else PURE

    @cached_property
    def upper(self) -> Floats:
        """The largest share of a cell that may be one person's under the pure condition, for each type."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        return np.asarray((self.total_rows * growth + self.sizes) / (self.total_rows * (growth + 1)) * (1 - MARGIN))

    @cached_property
    def lower(self) -> Floats:
        """The smallest share, for each type; zero when e^epsilon is clearly above R/(R - m)."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        needed = self.sizes * (1 + MARGIN) - (self.total_rows - self.sizes) * growth
        return np.asarray(np.maximum(0.0, needed) / self.total_rows)

    @property
    def limit(self) -> float:
        """What the divergence of the other two conditions may be."""
        return self.delta * (1 - 1e-4) if self.kind == APPROXIMATE else self.epsilon * (1 - 1e-6)

    def outside(self, weights: Floats, sums: Floats, types: Ints) -> NDArray[np.bool_]:
        """Whether one person of each of these types, with each row of weights, is not protected: people."""
        if self.kind == PURE:
            upper, lower = self.upper[types, None], self.lower[types, None]
            return np.asarray(((weights > upper * sums) | (weights < lower * sums)).any(axis=1))
        return self.divergences(weights, sums, types) > self.limit

    def divergences(self, weights: Floats, sums: Floats, types: Ints) -> Floats:
        """What the condition bounds, for one person with each row: loss, hockey-stick or Renyi divergence; people."""
        ratios = log_ratios(weights, sums, self.total_rows, self.sizes[types])
        if self.kind == PURE:
            return np.asarray(np.abs(ratios).max(axis=1))
        p = np.broadcast_to(sums / sums.sum(), weights.shape)
        with np.errstate(over="ignore"):
            return self._between(p, p * np.exp(-ratios), ratios)

    def between(self, p: Floats, q: Floats) -> float:
        """What the condition bounds, for any two distributions over the cells."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(p == q, 0.0, np.log(p) - np.log(q))
        if self.kind == PURE:
            return float(np.abs(ratios).max())
        return float(self._between(p[None], q[None], ratios[None])[0])

    def _between(self, p: Floats, q: Floats, ratios: Floats) -> Floats:
        with np.errstate(invalid="ignore", over="ignore"):
            if self.kind == APPROXIMATE:
                factor = math.exp(min(self.epsilon, EPSILON_CAP))
                forth, back = np.maximum(p - factor * q, 0).sum(axis=1), np.maximum(q - factor * p, 0).sum(axis=1)
            else:
                assert self.order is not None
                forth, back = _renyi(p, ratios, self.order - 1), _renyi(q, -ratios, self.order - 1)
        return np.asarray(np.maximum(forth, back))


def _renyi(p: Floats, ratios: Floats, less: float) -> Floats:
    """Renyi divergence of order ``less`` + 1 from log ratios, row by row; ln of large sums by their largest term."""
    small = np.log1p(np.where(p > 0, p * np.expm1(np.minimum(less * ratios, LARGEST_POWER)), 0.0).sum(axis=1))
    if (less * ratios <= LARGEST_POWER).all():
        return np.asarray(small / less)
    with np.errstate(divide="ignore"):
        terms = np.where(p > 0, np.log(p) + less * ratios, -np.inf)
    most = terms.max(axis=1)
    finite = np.where(np.isfinite(most), most, 0.0)
    large = finite + np.log(np.exp(terms - finite[:, None]).sum(axis=1))
    return (
        np.asarray(np.where((less * ratios > LARGEST_POWER).any(axis=1), np.where(most < np.inf, large, np.inf), small))
        / less
    )
