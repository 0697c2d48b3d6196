"""Closeness to the original in the payoff: a divergence of q from p, scaled to a utility between 0 and 1.

Every divergence is convex in q. The utilities that there are to choose from are in ``utilities/``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from equinoise.choices import UTILITIES, load
from equinoise.data.grid import AnyAxis, Floats, Grid
from equinoise.game.utilities import LINEAR, Curve
from equinoise.settings import check_setting


@dataclass(frozen=True, eq=False)
class Closeness:
    """A divergence on a grid, and the ceiling that scales it: a ``curve`` of every occupied cell, or without one
    ``features``, a table for every axis: features x bins."""

    name: str
    ceiling: float
    curve: Curve | None
    features: tuple[Floats, ...] = ()

    @property
    def kind(self) -> int:
        """The number by which compiled loops know it."""
        return LINEAR if self.curve is None else self.curve.KIND

    @property
    def kinked(self) -> bool:
        """Whether it is a sum of absolute values: then its slopes jump."""
        return self.curve is None or self.curve.KINKED

    def utility(self, divergence: float) -> float:
        """1 for no divergence, 0 from the ceiling on."""
        return min(max(1 - divergence / self.ceiling, 0.0), 1.0)


def feature_gain(gaps: Floats, steps: Floats) -> float:
    """R times the fall of a linear divergence when its gaps (original less S, in features) fall by these steps."""
    beyond = np.abs(gaps) < np.abs(steps)
    return float(np.where(beyond, np.abs(gaps) - np.abs(gaps - steps), np.sign(gaps) * steps).sum())


def label(utility: str) -> str:
    """A utility in words."""
    return str(load(UTILITIES, utility.partition(":")[0]).LABEL)


def closeness(name: object, grid: Grid) -> Closeness:
    """The divergence of that name on a grid; refuses what is none."""
    check_setting("utility", name)
    text = str(name)
    base, _, number = text.partition(":")
    module = load(UTILITIES, base)
    ceiling = module.ceiling(grid.cells)
    if hasattr(module, "KIND"):
        return Closeness(text, ceiling, module)
    own = [int(number)] if number else []
    return Closeness(text, ceiling, None, tuple(_features(axis, module, own) / len(grid.shape) for axis in grid.axes))


def _features(axis: AnyAxis, module: Any, own: list[int]) -> Floats:
    """Features of one axis (features x bins): the module's for its numbers and, for categories, half of each share, so
    that their distances add up to total variation. Where an axis has both, each counts half."""
    if not axis.categories:
        return np.asarray(module.features(axis.bins, *own))
    shares = np.eye(axis.bins)[axis.number_bins :] / 2
    if not axis.number_bins:
        return shares
    ordered = np.atleast_2d(module.features(axis.number_bins, *own))
    return np.concatenate([np.pad(ordered, ((0, 0), (0, axis.categories))), shares]) / 2
