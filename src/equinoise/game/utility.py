"""What closeness to the original means in the payoff: a divergence of q from p, scaled to a utility between 0 and 1.

Every divergence here is convex in q. Three are sums over the occupied cells: elsewhere p is zero, so KL does not look
there, and the parts of Jensen-Shannon and of total variation are linear in q, whose mass outside is what is not inside.
The others are sums of absolute values of linear features of every column's marginal: its running totals or its moments,
averaged over the columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equinoise.data.grid import Floats, Grid
from equinoise.errors import BadInput
from equinoise.settings import MOST_MOMENTS

KL, JS, TV, LINEAR = 0, 1, 2, 3


LABELS = {"kl": "KL", "js": "Jensen-Shannon divergence", "tv": "total variation", "wasserstein": "Wasserstein distance"}


def label(utility: str) -> str:
    """What a utility measures, as people read it."""
    return LABELS.get(utility, "distance of moments")


@dataclass(frozen=True, eq=False)
class Closeness:
    """A divergence and the ceiling that scales it. n are rows, s = R q, both in the occupied cells.

    ``features``, for ``LINEAR``, has a table for every axis: features x bins.
    """

    name: str
    kind: int
    ceiling: float
    features: tuple[Floats, ...] = ()

    def divergence(self, n: Floats, s: Floats) -> float:
        """Of q from p, for the kinds that are sums over cells."""
        rows = float(n.sum())
        with np.errstate(divide="ignore"):
            if self.kind == KL:
                return float(n @ np.log(n / s)) / rows
            if self.kind == JS:
                there = np.where(s > 0, s * np.log(2 * np.maximum(s, 1e-300) / (n + s)), 0)
                inside = n * np.log(2 * n / (n + s)) + there
                return float(inside.sum() + (rows - s.sum()) * math.log(2)) / 2 / rows
        return float(np.abs(n - s).sum() + rows - s.sum()) / 2 / rows

    def utility(self, divergence: float) -> float:
        """1 for no divergence, 0 from the ceiling on."""
        return min(max(1 - divergence / self.ceiling, 0.0), 1.0)

    def gain(self, n: Floats, s: Floats, change: Floats) -> float:
        """R times the fall of the divergence when s changes: from the change itself, so that one person shows."""
        if self.kind == KL:
            with np.errstate(divide="ignore"):
                return float(n @ np.log1p(change / s))
        if self.kind == JS:
            return _js_fall(n, s, change)
        gap = n - s
        within = np.where(gap > 0, change, 0.0)
        beyond = (np.abs(gap) - np.abs(gap - change) + change) / 2
        return float(np.where(np.abs(gap) < np.abs(change), beyond, within).sum())

    def slopes(self, n: Floats, s: Floats) -> Floats:
        """How fast R times the divergence falls as s grows in each cell; a change gains at most its product with it."""
        if self.kind == KL:
            return n / s
        if self.kind == JS:
            return np.asarray(np.log1p(n / s) / 2)
        return np.where(n > s, 1.0, 0.0)


def feature_gain(gaps: Floats, steps: Floats) -> float:
    """R times the fall of a linear divergence when its gaps (original less S, in features) fall by these steps."""
    beyond = np.abs(gaps) < np.abs(steps)
    return float(np.where(beyond, np.abs(gaps) - np.abs(gaps - steps), np.sign(gaps) * steps).sum())


def closeness(name: object, grid: Grid) -> Closeness:
    """The divergence of that name, on a grid."""
    if name == "kl":
        return Closeness("kl", KL, math.log(grid.cells))
    if name == "js":
        return Closeness("js", JS, math.log(2))
    if name == "tv":
        return Closeness("tv", TV, 1.0)
    axes = len(grid.shape)
    if name == "wasserstein":
        return Closeness("wasserstein", LINEAR, 1.0, tuple(np.tri(k)[:-1] / (k - 1) / axes for k in grid.shape))
    text = str(name)
    order = text.removeprefix("moments:")
    if order != text and order.isascii() and order.isdigit() and 1 <= int(order) <= MOST_MOMENTS:
        powers = np.arange(1, int(order) + 1)[:, None]
        tables = (((np.arange(k) + 0.5) / k)[None, :] ** powers / len(powers) / axes for k in grid.shape)
        return Closeness(text, LINEAR, 1.0, tuple(tables))
    raise BadInput(
        f"The 'utility' parameter must be 'kl', 'js', 'tv', 'wasserstein' or 'moments:N' with N from 1 to "
        f"{MOST_MOMENTS}. Got {text[:60]!r} instead."
    )


def _js_fall(n: Floats, s: Floats, change: Floats) -> float:
    """R times the fall of the Jensen-Shannon divergence, the linear part outside the occupied cells with it."""
    near = np.abs(change) <= s / 2
    fall = np.where(near, 0.0, _js_curve(n, s) - _js_curve(n, s + change))
    n, s, d = n[near], s[near], change[near]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = s * np.log1p(d / s) - (n + s) * np.log1p(d / (n + s)) + d * np.log(2 * (s + d) / (n + s + d))
    fall[near] = -np.where(d == 0, 0.0, rise) / 2
    return float(fall.sum()) + float(change.sum()) * math.log(2) / 2


def _js_curve(n: Floats, s: Floats) -> Floats:
    """R times one cell's part of the Jensen-Shannon divergence: (n ln 2n + s ln 2s - (n + s) ln(n + s)) / 2."""
    return (_x_log(n) + _x_log(s) - _x_log(n + s) + (n + s) * math.log(2)) / 2


def _x_log(x: Floats) -> Floats:
    return x * np.log(np.maximum(x, 1e-300))
