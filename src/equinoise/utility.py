"""What closeness to the original means in the payoff: a divergence of q from p, scaled to a utility between 0 and 1.

Every divergence here is convex in q. Two are sums over cells of a curve in q (KL and Jensen-Shannon); the others are
sums of absolute values of linear features, |L (p - q)|: the cells themselves, their running totals, or their moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equinoise.errors import BadInput
from equinoise.grid import Floats

KL, JS, LINEAR = 0, 1, 2
MOST_MOMENTS = 10


@dataclass(frozen=True, eq=False)
class Utility:
    """A divergence and the ceiling that scales it; ``features`` is L (features x cells), empty but for ``LINEAR``."""

    name: str
    kind: int
    ceiling: float
    features: Floats

    def divergence(self, p: Floats, q: Floats) -> Floats:
        """Of one q, or of many along the last axis."""
        if self.kind == LINEAR:
            return np.asarray(np.abs((p - q) @ self.features.T).sum(axis=-1))
        if self.kind == KL:
            return _relative(p, q)
        middle = (p + q) / 2
        return (_relative(p, middle) + _relative(q, middle)) / 2

    def scaled(self, divergence: Floats | float) -> Floats:
        """The utility: 1 for no divergence, 0 from the ceiling on."""
        return np.asarray(np.clip(1 - np.asarray(divergence) / self.ceiling, 0.0, 1.0))

    def slopes(self, counts: Floats, sums: Floats) -> Floats:
        """How fast N times the divergence falls as each of the sums (in people) grows.

        The divergence is convex, so a change of the sums takes off at most its product with these.
        """
        if self.kind == LINEAR:
            return np.asarray(np.sign(self.features @ (counts - sums)) @ self.features)
        steep = np.where(counts > 0, 1e200, 0.0)  # infinite, but times a change of zero it must stay zero
        ratios = np.divide(counts, sums, out=steep, where=sums > 0)
        return ratios if self.kind == KL else np.log((1 + ratios) / 2) / 2

    def gain(self, counts: Floats, sums: Floats, change: Floats) -> float:
        """N times the fall of the divergence when the sums (in people) change: exact even for one person of 1e12."""
        if self.kind == LINEAR:
            gaps, steps = self.features @ (counts - sums), self.features @ change
            beyond = np.abs(gaps) < np.abs(steps)
            return float(np.where(beyond, np.abs(gaps) - np.abs(gaps - steps), np.sign(gaps) * steps).sum())
        if self.kind == KL:
            seen = counts > 0
            with np.errstate(divide="ignore"):
                return float(counts[seen] @ np.log1p(change[seen] / sums[seen]))
        near = np.abs(change) <= sums / 2
        fall = np.where(near, 0.0, _js_curve(counts, sums) - _js_curve(counts, sums + change))
        n, s, d = counts[near], sums[near], change[near]
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = s * np.log1p(d / s) - (n + s) * np.log1p(d / (n + s)) + d * np.log(2 * (s + d) / (n + s + d))
        fall[near] = -np.where(d == 0, 0.0, rise) / 2
        return float(fall.sum())


def named(name: object, cells: int) -> Utility:
    """The utility of that name, on a grid of one axis with so many cells."""
    none = np.zeros((0, cells))
    if name == "kl":
        return Utility("kl", KL, math.log(cells), none)
    if name == "js":
        return Utility("js", JS, math.log(2), none)
    if name == "tv":
        return Utility("tv", LINEAR, 1.0, np.eye(cells) / 2)
    if name == "wasserstein":
        return Utility("wasserstein", LINEAR, 1.0, np.tri(cells)[:-1] / (cells - 1))
    text = str(name)
    order = text.removeprefix("moments:")
    if order != text and order.isascii() and order.isdigit() and 1 <= int(order) <= MOST_MOMENTS:
        middles = (np.arange(cells) + 0.5) / cells
        powers = np.arange(1, int(order) + 1)
        return Utility(text, LINEAR, 1.0, middles[None, :] ** powers[:, None] / len(powers))
    raise BadInput(
        f"The 'utility' parameter must be 'kl', 'js', 'tv', 'wasserstein' or 'moments:N' with N from 1 to "
        f"{MOST_MOMENTS}. Got {text[:60]!r} instead."
    )


def _relative(p: Floats, q: Floats) -> Floats:
    """sum of p ln(p / q) along the last axis, where 0 ln 0 = 0."""
    p, q = np.broadcast_arrays(p, q)
    with np.errstate(divide="ignore"):
        ratio = np.log(np.divide(p, q, where=p > 0, out=np.ones(p.shape)))
    return np.asarray((p * ratio).sum(axis=-1))


def _js_curve(n: Floats, s: Floats) -> Floats:
    """N times one cell's part of the Jensen-Shannon divergence: (n ln 2n + s ln 2s - (n + s) ln(n + s)) / 2."""
    return (_x_log(n) + _x_log(s) - _x_log(n + s) + (n + s) * math.log(2)) / 2


def _x_log(x: Floats) -> Floats:
    return x * np.log(np.maximum(x, 1e-300))
