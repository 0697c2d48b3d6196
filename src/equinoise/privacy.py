"""A person's privacy loss, and the condition that it stays within epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equinoise.grid import Floats, Ints

MARGIN = 2.0**-40
"""How much stricter than needed the game's floating-point condition is, so that rounding in the solver can
never let through what the exact certificate would refuse."""

LEAST_EPSILON = 1e-9
"""Below this the margin would be larger than what is asked."""

EPSILON_CAP = 64.0
"""A loss within 64 is within any larger epsilon; e^64 keeps every number in range."""


PURE, APPROXIMATE, RENYI = 0, 1, 2
LEAST_DELTA = 1e-9
LEAST_RENYI = 1e-6
MOST_ORDER = 10_000.0
"""Smaller targets than these would drown in the game's floating point."""


@dataclass(frozen=True)
class Condition:
    """When a person with kernel row W is protected in one draw. S is everyone's rows added up, N the number of people.

    With the person a draw comes from P = S/N, without them from Q = (S - W)/(N - 1). Both directions are asked for:

    - pure: P <= E Q and Q <= E P in every cell, E = e^epsilon;
    - approximate (a ``delta``): the sums over cells of max(0, P - E Q) and of max(0, Q - E P) are at most delta;
    - Renyi (an ``order`` a > 1): ln(sum of P^a Q^(1-a)) / (a - 1), and so with P and Q swapped, is at most epsilon.

    The pure one is linear: lower S <= W <= upper S with

        N E (S - W) >= (N - 1) S   <=>   W <= upper S,  upper = 1 - (N - 1)/(N E)
        E (N - 1) S >= N (S - W)   <=>   W >= lower S,  lower = 1 - E (N - 1)/N, if that is positive.

    Of a person with several rows, ``rows``, all are removed: N then counts rows, W is their sum and N - rows is left.
    All are a little tightened, so that rounding in the game cannot let through what the certificate would refuse.
    """

    epsilon: float
    people: int
    delta: float = 0.0
    order: float | None = None
    rows: int = 1

    @property
    def kind(self) -> int:
        """Which of the three it is."""
        if self.order is not None:
            return RENYI
        return APPROXIMATE if self.delta > 0 else PURE

    @property
    def upper(self) -> float:
        """The largest share of a cell's mass that may be one person's under the pure condition."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        return (self.people * growth + self.rows) / (self.people * (growth + 1)) * (1 - MARGIN)

    @property
    def lower(self) -> float:
        """The smallest share; zero when e^epsilon is clearly above N/(N-1)."""
        growth = math.expm1(min(self.epsilon, EPSILON_CAP))
        return max(0.0, self.rows * (1 + MARGIN) - (self.people - self.rows) * growth) / self.people

    @property
    def limit(self) -> float:
        """What the divergence of the other two conditions may be."""
        return self.delta * (1 - 1e-4) if self.kind == APPROXIMATE else self.epsilon * (1 - 1e-6)

    @property
    def parameters(self) -> Floats:
        """For the compiled solver: upper, lower, epsilon, limit, order, people."""
        order = 0.0 if self.order is None else self.order
        epsilon = min(self.epsilon, EPSILON_CAP)
        return np.array([self.upper, self.lower, epsilon, self.limit, order, float(self.people)])

    def outside(self, rows: Floats, sums: Floats) -> NDArray[np.bool_]:
        """Which of these rows are not protected."""
        if self.kind == PURE:
            return np.asarray(((rows > self.upper * sums) | (rows < self.lower * sums)).any(axis=1))
        return self.divergences(rows, sums) > self.limit

    def divergences(self, rows: Floats, sums: Floats) -> Floats:
        """What the condition bounds, for one person with each row: loss, hockey-stick or Renyi divergence."""
        if self.kind == PURE:
            return losses(rows, sums, self.people)
        ratios = _log_ratios(rows, sums, self.people)
        p = np.broadcast_to(sums / sums.sum(), rows.shape)
        with np.errstate(over="ignore"):
            return self._between(p, p * np.exp(-ratios), ratios)

    def between(self, p: Floats, q: Floats) -> float:
        """The same for any two distributions, not only those with and without a row."""
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
                less = self.order - 1
                forth = np.log1p(np.where(p > 0, p * np.expm1(less * ratios), 0.0).sum(axis=1)) / less
                back = np.log1p(np.where(q > 0, q * np.expm1(-less * ratios), 0.0).sum(axis=1)) / less
        return np.asarray(np.maximum(forth, back))


def losses(rows: Floats, sums: Floats, people: int, sizes: Ints | None = None) -> Floats:
    """Loss of one person with each kernel row: max over x of abs ln( (S/N) / ((S - W)/(N - 1)) ).

    Infinite where only that person can come out (S = W > 0); a cell that nobody reaches costs nothing. With ``sizes``,
    each row is the sum of a person's so many, ``people`` counts rows, and all of that person's are removed.
    """
    return np.asarray(np.abs(_log_ratios(rows, sums, people, sizes)).max(axis=1))


def _log_ratios(rows: Floats, sums: Floats, people: int, sizes: Ints | None = None) -> Floats:
    """ln(P/Q) in every cell, for one person with each row."""
    share = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    gone = 1 / people if sizes is None else sizes[:, None] / people
    with np.errstate(divide="ignore"):
        ratios = np.log1p(-gone) - np.log1p(-np.minimum(share, 1.0))
    ratios[:, sums <= 0] = 0.0
    return np.asarray(ratios)


QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""Shares of the people whose losses are shown."""


def quantiles(losses: Floats, people: Ints, shares: tuple[float, ...] = QUANTILES) -> dict[str, float]:
    """The loss that a share of the people stays within, for each share; ``people[g]`` of them have ``losses[g]``."""
    order = np.argsort(losses, kind="stable")
    reached = np.cumsum(people[order])
    ranks = [max(1, -(-round(share * 10**6) * int(reached[-1]) // 10**6)) for share in shares]
    at = np.searchsorted(reached, ranks)
    return {f"{share:g}": float(losses[order[i]]) for share, i in zip(shares, at, strict=True)}
