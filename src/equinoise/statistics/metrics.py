"""How close the released distribution q is to the original p."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats

JACCARD_THRESHOLD = 0.001


def kl(p: Floats, q: Floats) -> float:
    """Kullback-Leibler divergence of q from p in nats: sum of p ln(p / q); infinite if q misses a cell of p."""
    occupied = p > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(p[occupied] * np.log(p[occupied] / q[occupied])))


def js(p: Floats, q: Floats) -> float:
    """Jensen-Shannon divergence in nats: the mean KL of p and q to their midpoint, between 0 and ln 2."""
    middle = (p + q) / 2
    return (kl(p, middle) + kl(q, middle)) / 2


def tv(p: Floats, q: Floats) -> float:
    """Total variation distance: half the sum of absolute differences, between 0 and 1."""
    return float(np.abs(p - q).sum() / 2)


def standard_deviation(p: Floats, values: Floats) -> float:
    """Standard deviation of a distribution over the cells' values."""
    mean = float(np.sum(p * values))
    return float(np.sqrt(np.sum(p * (values - mean) ** 2)))


def jaccard(p: Floats, q: Floats) -> float:
    """Cells above the threshold in both, over cells above it in either; 1 if there are none."""
    a, b = p > JACCARD_THRESHOLD, q > JACCARD_THRESHOLD
    either = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / either if either else 1.0


def cosine(p: Floats, q: Floats) -> float:
    """Cosine of the angle between the two vectors of probabilities."""
    return float(p @ q / (np.linalg.norm(p) * np.linalg.norm(q)))


def wasserstein(p: Floats, q: Floats, values: Floats) -> float:
    """How far mass must move on average, in data units, between cells that stand for these ascending values."""
    return float(np.abs(np.cumsum(p - q)[:-1]) @ np.diff(values))


def metrics(p: Floats, q: Floats, values: Floats) -> dict[str, float]:
    """Every metric, by name. ``values`` are what the cells are released as, ascending, in data units.

    ``sd_loss`` is the change of the standard deviation of the distribution (data units); ``pmf_sd_loss`` that
    of the standard deviation of the K probabilities, which is what the paper's "L1 loss of SD" fits.
    """
    return {
        "kl": kl(p, q),
        "js": js(p, q),
        "tv": tv(p, q),
        "sd_loss": abs(standard_deviation(p, values) - standard_deviation(q, values)),
        "pmf_sd_loss": float(abs(p.std() - q.std())),
        "jaccard": jaccard(p, q),
        "cosine": cosine(p, q),
        "wasserstein": wasserstein(p, q, values),
    }


def distances(p: Floats, q: Floats, axes: Sequence[Axis]) -> dict[str, Any]:
    """:func:`metrics` of one column, at the cells' midpoints, or :func:`joint_metrics` of several."""
    return joint_metrics(p, q, axes) if len(axes) > 1 else metrics(p, q, axes[0].midpoints())


def joint_metrics(p: Floats, q: Floats, axes: Sequence[Axis]) -> dict[str, Any]:
    """Metrics over the cells of a joint grid (p and q flat), those of every column alone, and the loss of correlation.

    ``correlation_loss`` is the largest absolute change of a Pearson correlation between two columns, both at the
    cells' midpoints; None if a correlation is undefined because a column is constant.
    """
    shape = tuple(axis.bins for axis in axes)
    original, output = p.reshape(shape), q.reshape(shape)
    values = [axis.midpoints() for axis in axes]
    return {
        "kl": kl(p, q),
        "js": js(p, q),
        "tv": tv(p, q),
        "jaccard": jaccard(p, q),
        "cosine": cosine(p, q),
        "correlation_loss": correlation_loss(original, output, values),
        "columns": {
            axis.name: metrics(_marginal(original, i), _marginal(output, i), values[i]) for i, axis in enumerate(axes)
        },
    }


def correlation_loss(p: Floats, q: Floats, values: Sequence[Floats]) -> float | None:
    """The largest absolute change of any two columns' Pearson correlation; None if one of them is undefined."""
    changes = []
    for pair in combinations(range(p.ndim), 2):
        before, after = (correlation(_marginal(d, *pair), values[pair[0]], values[pair[1]]) for d in (p, q))
        if before is None or after is None:
            return None
        changes.append(abs(before - after))
    return max(changes, default=None)


def correlation(p: Floats, a: Floats, b: Floats) -> float | None:
    """Pearson's, of a distribution over a table whose rows have the values a and columns b; None if one is constant."""
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    if np.count_nonzero(rows) < 2 or np.count_nonzero(columns) < 2:
        return None
    a, b = a - rows @ a, b - columns @ b
    return float(a @ p @ b / np.sqrt((rows @ a**2) * (columns @ b**2)))


def _marginal(p: Floats, *kept: int) -> Floats:
    """The distribution of some columns alone."""
    return np.asarray(p.sum(axis=tuple(i for i in range(p.ndim) if i not in kept)))
