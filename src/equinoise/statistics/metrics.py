"""How close the released distribution q is to the original p."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats

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


def standard_deviation(p: Floats, values: Floats, variances: Floats | float = 0.0) -> float:
    """Standard deviation of a distribution over the cells' values, which may have variances of their own."""
    mean = float(np.sum(p * values))
    return float(np.sqrt(np.sum(p * ((values - mean) ** 2 + variances))))


def jaccard(p: Floats, q: Floats) -> float:
    """Cells above the threshold in both, over cells above it in either; 1 if there are none."""
    a, b = p > JACCARD_THRESHOLD, q > JACCARD_THRESHOLD
    either = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / either if either else 1.0


def cosine(p: Floats, q: Floats) -> float:
    """Cosine of the angle between the two vectors of probabilities."""
    return float(p @ q / (np.linalg.norm(p) * np.linalg.norm(q) or 1.0))


def wasserstein(p: Floats, q: Floats, values: Floats) -> float:
    """How far mass must move on average, in data units, between cells that stand for these ascending values."""
    return float(np.abs(np.cumsum(p - q)[:-1]) @ np.diff(values))


UNORDERED = {"kl": kl, "js": js, "tv": tv, "jaccard": jaccard, "cosine": cosine}
"""Metrics of cells in any order."""


def metrics(p: Floats, q: Floats, values: Floats, variances: Floats | float = 0.0) -> dict[str, float]:
    """Every metric, by name. ``values`` are what the cells are released as, ascending, in data units; where they are
    means of several, these have the ``variances``.

    ``sd_loss`` is the change of the standard deviation of the distribution (data units); ``pmf_sd_loss`` that
    of the standard deviation of the K probabilities, which is what the paper's "L1 loss of SD" fits.
    """
    return {
        "kl": kl(p, q),
        "js": js(p, q),
        "tv": tv(p, q),
        "sd_loss": abs(standard_deviation(p, values, variances) - standard_deviation(q, values, variances)),
        "pmf_sd_loss": float(abs(p.std() - q.std())),
        "jaccard": jaccard(p, q),
        "cosine": cosine(p, q),
        "wasserstein": wasserstein(p, q, values),
    }


def distances(p: Floats, q: Floats, axes: Sequence[AnyAxis]) -> dict[str, Any]:
    """:func:`metrics` of one column, at the cells' midpoints, or :func:`joint_metrics` of several."""
    return joint_metrics(p, q, axes) if len(axes) > 1 else axis_metrics(p, q, axes[0])


def axis_metrics(p: Floats, q: Floats, axis: AnyAxis) -> dict[str, float]:
    """:func:`metrics` of one column; of categories, those that need no order. Where some have no value, what is of
    numbers is of those who have one."""
    if isinstance(axis, Axis) and not axis.categories:
        return metrics(p, q, *bin_moments(axis))
    found = {name: measure(p, q) for name, measure in UNORDERED.items()} | {
        "pmf_sd_loss": float(abs(p.std() - q.std()))
    }
    if not isinstance(axis, Axis):
        return found
    values, variances = bin_moments(axis)
    numbers = [part[: axis.number_bins] / max(part[: axis.number_bins].sum(), 1e-300) for part in (p, q)]
    spreads = [standard_deviation(part, values, variances) for part in numbers]
    return {
        **found,
        "sd_loss": abs(spreads[0] - spreads[1]),
        "wasserstein": wasserstein(numbers[0], numbers[1], values),
    }


def joint_metrics(p: Floats, q: Floats, axes: Sequence[AnyAxis]) -> dict[str, Any]:
    """Metrics over the cells of a joint grid (p and q flat), those of every column alone, and the loss of association.

    ``correlation_loss`` is the largest absolute change of a Pearson correlation between two columns of numbers, both as
    :func:`bin_moments` has them, among those who have both; None if there are no two, or if a correlation is undefined
    because a column is constant. ``association_loss`` is that of Cramer's V between two columns of categories, or of
    the correlation ratio (eta) of a column of numbers by one of categories; None likewise.
    """
    return {
        "kl": kl(p, q),
        "js": js(p, q),
        "tv": tv(p, q),
        "jaccard": jaccard(p, q),
        "cosine": cosine(p, q),
        **_few_columns(marginals_of(p, axes), marginals_of(q, axes), axes),
    }


Marginals = Callable[..., Floats]
"""The distribution of some columns alone, given their numbers, ascending: one axis each."""


def marginals_of(p: Floats, axes: Sequence[AnyAxis]) -> Marginals:
    """The marginals of a distribution over the cells of a joint grid (flat)."""
    return partial(marginal, p.reshape([axis.bins for axis in axes]))


def pair_metrics(p: Marginals, q: Marginals, axes: Sequence[AnyAxis]) -> dict[str, Any]:
    """:func:`joint_metrics` where the joint grid cannot be held: instead of joint distances those of few columns at a
    time, :func:`marginal_distances`, ``kl_2way`` (the mean over all pairs) and ``largest_tv_2way``."""
    pairs = [(p(i, j).ravel(), q(i, j).ravel()) for i, j in combinations(range(len(axes)), 2)]
    return {
        **marginal_distances(p, q, len(axes)),
        "largest_tv_2way": max(tv(a, b) for a, b in pairs),
        "kl_2way": float(np.mean([kl(a, b) for a, b in pairs])),
        **_few_columns(p, q, axes),
    }


def undefined(distances: dict[str, Any]) -> dict[str, Any]:
    """Distances without a value: of the same names."""
    return {key: undefined(value) if isinstance(value, dict) else math.nan for key, value in distances.items()}


def _few_columns(p: Marginals, q: Marginals, axes: Sequence[AnyAxis]) -> dict[str, Any]:
    """The loss of association, and the metrics of every column alone."""
    return {
        "correlation_loss": _largest_change(p, q, axes, numbers=True),
        "association_loss": _largest_change(p, q, axes, numbers=False),
        "columns": {axis.name: axis_metrics(p(i), q(i), axis) for i, axis in enumerate(axes)},
    }


def marginal_distances(p: Marginals, q: Marginals, columns: int) -> dict[str, float]:
    """Total variation of the distributions of single columns (``tv_1way``) and of two columns at a time (``tv_2way``),
    each a mean over all of them."""

    def mean_tv(many: int) -> float:
        return float(np.mean([tv(p(*kept).ravel(), q(*kept).ravel()) for kept in combinations(range(columns), many)]))

    return {f"tv_{many}way": mean_tv(many) for many in (1, 2)}


def bin_moments(axis: Axis, *, within: bool = False) -> tuple[Floats, Floats]:
    """Mean and variance of the rows that come out of each bin of numbers (two arrays, data units and their squares): of
    the midpoint, moved to the nearer bound if rows stay ``within``, or of steps that come out equally often."""
    if axis.step is not None:
        sizes = np.maximum(np.diff(axis.first_steps), 1).astype(np.float64)
        return axis.midpoints(), (sizes**2 - 1) / 12 * axis.step**2
    values = axis.midpoints()
    return np.clip(values, axis.low, axis.high) if within else values, np.zeros(axis.number_bins)


MEASURES = {(True, True): "correlation", (True, False): "correlation_ratio", (False, False): "cramers_v"}
"""How :func:`association` measures two columns: by whether each is of numbers, numbers first."""


def measure_of(first: AnyAxis, second: AnyAxis) -> str:
    """Which of the :data:`MEASURES` is that of two columns."""
    numbers = sorted((isinstance(axis, Axis) for axis in (first, second)), reverse=True)
    return MEASURES[numbers[0], numbers[1]]


def associations(p: Floats, axes: Sequence[AnyAxis], *, within: bool = False) -> dict[tuple[str, str], float | None]:
    """How strongly any two columns go together, of a distribution over the cells (flat or as a table): Pearson's
    correlation of two columns of numbers, Cramer's V of two of categories, the correlation ratio of one of each. The
    rows of a bin have its :func:`bin_moments`."""
    return pair_associations(marginals_of(p, axes), axes, within=within)


def pair_associations(
    marginals: Marginals, axes: Sequence[AnyAxis], *, within: bool = False
) -> dict[tuple[str, str], float | None]:
    """:func:`associations` of a distribution of which only the marginals of two columns are known."""
    return {
        (axes[i].name, axes[j].name): association(marginals(i, j), axes[i], axes[j], within=within)
        for i, j in combinations(range(len(axes)), 2)
    }


def association(p: Floats, first: AnyAxis, second: AnyAxis, *, within: bool = False) -> float | None:
    """How strongly two columns go together, of their joint distribution: see :func:`associations`."""
    if isinstance(first, Axis) and isinstance(second, Axis):
        both = p[: first.number_bins, : second.number_bins]
        (a, a_variances), (b, b_variances) = (bin_moments(axis, within=within) for axis in (first, second))
        return correlation(both / both.sum(), a, b, a_variances, b_variances) if both.sum() > 0 else None
    if isinstance(first, Axis):
        numbers = p[: first.number_bins]
        return correlation_ratio(numbers / numbers.sum(), *bin_moments(first, within=within)) if numbers.any() else None
    return association(p.T, second, first, within=within) if isinstance(second, Axis) else cramers_v(p)


def cramers_v(p: Floats) -> float | None:
    """Cramer's V of a table of probabilities, without the correction for small samples: from 0 to 1; None if a column
    has one value only."""
    table = p[p.sum(axis=1) > 0][:, p.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(np.sum((table - expected) ** 2 / expected) / least))


def correlation_ratio(p: Floats, values: Floats, variances: Floats | float = 0.0) -> float | None:
    """Eta: the standard deviation of the categories' means over that of all, of a table whose rows have the values (and
    variances of their own) and whose columns are categories; from 0 to 1; None if all values, or all categories, are
    the same."""
    shares, rows = p.sum(axis=0), p.sum(axis=1)
    mean = float(rows @ values)
    if np.count_nonzero(shares) < 2 or _is_constant(rows, variances):
        return None
    total = float(rows @ ((values - mean) ** 2 + variances))
    means = (values @ p)[shares > 0] / shares[shares > 0]
    return float(np.sqrt(min(shares[shares > 0] @ (means - mean) ** 2 / total, 1.0)))


def _is_constant(p: Floats, variances: Floats | float) -> bool:
    """Whether only one value comes out of bins with these probabilities and variances."""
    return bool(np.count_nonzero(p) < 2 and not np.any(p * variances))


def _largest_change(p: Marginals, q: Marginals, axes: Sequence[AnyAxis], *, numbers: bool) -> float | None:
    """The largest absolute change of an association: between two columns of numbers, or between any others."""
    of = {axis.name: isinstance(axis, Axis) for axis in axes}
    before, after = pair_associations(p, axes), pair_associations(q, axes)
    pairs = [pair for pair in before if (of[pair[0]] and of[pair[1]]) == numbers]
    changes = []
    for a, b in ((before[pair], after[pair]) for pair in pairs):
        if a is None or b is None:
            return None
        changes.append(abs(a - b))
    return max(changes, default=None)


def correlation(
    p: Floats, a: Floats, b: Floats, a_variances: Floats | float = 0.0, b_variances: Floats | float = 0.0
) -> float | None:
    """Pearson's, of a distribution over a table whose rows have the values a and columns b, and variances of their own
    within a cell, where the two are independent; None if one is constant."""
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    if _is_constant(rows, a_variances) or _is_constant(columns, b_variances):
        return None
    a, b = a - rows @ a, b - columns @ b
    return float(a @ p @ b / np.sqrt((rows @ (a**2 + a_variances)) * (columns @ (b**2 + b_variances))))


def marginal(p: Floats, *kept: int) -> Floats:
    """The distribution of some columns alone."""
    return np.asarray(p.sum(axis=tuple(i for i in range(p.ndim) if i not in kept)))
