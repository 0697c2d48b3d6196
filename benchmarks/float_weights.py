"""Monotone weights in floating point, with a rule whose every part can be changed: for measuring, never for a release.

The score of cell x is F = n + s where n are its people and s = floor + bend(sum of near[distance] people) its
pseudo-people; g = min over smaller datasets of E^j F, as proven in ``equinoise.synthesis.monotone`` for any score that
no added person lowers. With ``alone``, F = max(n, min(n + s, t)), t = 1/(E - 1): a cell of t people or more counts them
alone.

Removing x's own people first, then the nearest ones, whole cells at a time, still finds the minimum:

- of two ways to remove j people, the one that takes more of x's own has no larger n and, as near never exceeds 1 and
  bend never rises faster than its argument, no larger n + s. F grows with both;
- within a cell, ln F + j epsilon is concave in j (bend is), so least at an end. The one exception is the corner of
  ``alone`` at n = t: below it F is concave again, and at it E^j t >= t + j, so removing nobody is no worse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

SHAPES = {
    "exponential": lambda d, reach: np.exp(-(d - 1) / reach),
    "normal": lambda d, reach: np.exp(-((d - 1) ** 2) / (2 * reach**2)),
    "triangular": lambda d, reach: np.maximum(0, 1 - (d - 1) / reach),
    "flat": lambda d, reach: (d <= reach).astype(float),
    "power": lambda d, reach: d ** (-1 - 1 / reach),
    "narrow and wide": lambda d, reach: (np.exp(-(d - 1) / reach) + 0.2 * np.exp(-(d - 1) / (5 * reach))) / 1.2,
    "none": lambda d, reach: 0 * d,
}
"""How near falls with the distance d = 1, 2, ... in bins; all are 1 at most, and fall."""

BENDS = {"corner": 0, "exponential": 1, "hyperbolic": 2, "none": 3}
"""How pseudo-people approach the cap: min(cap, s), cap (1 - e^(-s/cap)), s cap/(s + cap), or not at all."""


@dataclass(frozen=True)
class Numbers:
    """What a rule comes down to at one epsilon and number of cells: everything in people."""

    near: np.ndarray
    cap: float
    floor: float
    alone: float = 0.0
    bend: int = 0


@dataclass(frozen=True)
class Rule:
    """A public rule. The defaults are those of the first rule, which others were measured against.

    ``reach`` is in bins, or ``share`` of all cells if given. ``near`` is what a person in the next cell counts, unless
    ``total`` is given: what all neighbours count together where everyone has one person. The floor is ``floor`` t, or
    ``spread`` t over all cells together. The cap is (``cap`` + ``slope`` epsilon) t, at most t, or, with ``peak``, that
    share of max over a of a E^-a, which is what keeps smooth data as it is.
    """

    shape: str = "exponential"
    near: float = 0.3
    total: float | None = None
    reach: float = 1.0
    share: float | None = None
    floor: float = 0.01
    spread: float | None = None
    cap: float = 0.3
    slope: float = 0.15
    peak: float | None = None
    alone: bool = False
    bend: str = "corner"

    def numbers(self, epsilon: float, cells: int) -> Numbers:
        """The parameters for this epsilon and number of cells."""
        t = 1 / math.expm1(epsilon)
        reach = self.reach if self.share is None else self.share * cells
        distance = np.arange(1, max(cells, math.ceil(20 * reach)), dtype=float)
        shape = SHAPES[self.shape](distance, reach)
        height = self.near if self.total is None else self.total / (2 * shape.sum())
        near = np.concatenate([[1.0], np.minimum(1, height * shape)])[:cells]
        cap = min(1.0, self.cap + self.slope * epsilon) * t
        if self.peak is not None:
            people = np.arange(1, math.ceil(2 / epsilon) + 2)
            cap = min(t, self.peak * float((people * np.exp(-epsilon * people)).max()))
        floor = self.floor * t if self.spread is None else self.spread * t / cells
        return Numbers(near, cap, floor, t if self.alone else 0.0, BENDS[self.bend])


@dataclass(frozen=True)
class KernelRule:
    """The first idea: a person counts 1 - theta in their own cell and theta by an exponential kernel, without a cap."""

    theta: float = 0.03
    most: float = 0.3
    sigma: float = 3.0
    tau: float = 0.005

    def numbers(self, epsilon: float, cells: int) -> Numbers:
        """The parameters for this epsilon and number of cells, divided by what a person counts in their own cell."""
        theta = min(self.most, self.theta / math.sqrt(epsilon))
        kernel = np.exp(-np.arange(cells) / self.sigma)
        kernel *= math.tanh(1 / (2 * self.sigma))  # sums to one over all distances, both sides
        own = 1 - theta + theta * kernel[0]
        return Numbers(np.concatenate([[1.0], theta * kernel[1:] / own]), 0.0, self.tau / own, bend=BENDS["none"])


@dataclass(frozen=True)
class Smoothing:
    """Additive smoothing: t people in every cell, so that no minimum is needed."""

    def numbers(self, epsilon: float, cells: int) -> Numbers:
        """The parameters for this epsilon and number of cells."""
        return Numbers(np.eye(1, cells)[0], 0.0, 1 / math.expm1(epsilon))


def log_weights(counts: np.ndarray, epsilon: float, numbers: Numbers) -> np.ndarray:
    """ln g for every cell."""
    found = np.empty(len(counts))
    _fill(counts, epsilon, numbers.near, numbers.cap, numbers.floor, numbers.alone, numbers.bend, found)
    return found


def log_output(counts: np.ndarray, epsilon: float, numbers: Numbers) -> np.ndarray:
    """Ln of the probability of every cell."""
    logs = log_weights(counts, epsilon, numbers)
    return logs - logs.max() - math.log(np.exp(logs - logs.max()).sum())


@njit
def _bent(s, cap, bend):
    if bend == 3:
        return s
    if s <= 0 or cap <= 0:
        return 0.0
    if bend == 1:
        return cap * (1 - math.exp(-s / cap))
    return min(cap, s) if bend == 0 else cap * s / (cap + s)


@njit
def _fill(counts, epsilon, near, cap, floor, alone, bend, found):
    cells = len(counts)
    for x in range(cells):
        s = 0.0
        for z in range(cells):
            if z != x:
                s += counts[z] * near[abs(z - x)]
        score = counts[x] + floor + _bent(s, cap, bend)
        if alone > 0:
            score = max(float(counts[x]), min(score, alone))
        best, gone = math.log(score), counts[x]
        for step in range(2 * cells - 1):  # x itself, then one to the left, one to the right, two to the left, ...
            distance = (step + 1) // 2
            z = x - distance if step % 2 else x + distance
            if step > 0 and (z < 0 or z >= cells or counts[z] == 0):
                continue
            if step > 0:
                gone += counts[z]
                s -= counts[z] * near[distance]
            if gone * epsilon + math.log(floor) >= best:
                break  # removing more people cannot help
            score = floor + _bent(max(s, 0.0), cap, bend)
            if alone > 0:
                score = min(score, alone)
            best = min(best, gone * epsilon + math.log(score))
        found[x] = best
