"""What rows tell of their columns, one by one and two by two, from how likely each cell is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis, Axis, Floats
from equinoise.statistics.metrics import Marginals, bin_moments, marginals_of, measure_of, pair_associations

QUARTILES = {"lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75}

CUMULATION_ERROR = 1e-12
"""Adding up the probabilities of a column may go wrong by so much, and must not move a median by a row."""


def compare_rows(p: Floats, q: Floats, axes: Sequence[AnyAxis], *, within: bool = True) -> dict[str, Any]:
    """:func:`compare_marginals` of distributions over the cells of a joint grid, flat."""
    return compare_marginals(marginals_of(p, axes), marginals_of(q, axes), axes, within=within)


def compare_marginals(p: Marginals, q: Marginals, axes: Sequence[AnyAxis], *, within: bool = True) -> dict[str, Any]:
    """:func:`column_statistics` of every column and :func:`associations` of every two, of the ``data`` (p, its rows
    over the cells) and of what is ``released`` (q), each by its marginals of one and two columns.

    Both are of the values that come out of each cell, so those of the data are at the resolution of the grid: without a
    step a bin's midpoint, which is moved to the nearer bound if rows stay ``within``; with one, all of the bin's steps
    equally often. JSON holds all of it; what is undefined, as of a constant column, is None.
    """
    both = {"data": p, "released": q}
    found = {source: pair_associations(marginals, axes, within=within) for source, marginals in both.items()}
    measures = {(a.name, b.name): measure_of(a, b) for i, a in enumerate(axes) for b in axes[i + 1 :]}
    return {
        "columns": {
            axis.name: {
                source: column_statistics(marginals(number), axis, within=within) for source, marginals in both.items()
            }
            for number, axis in enumerate(axes)
        },
        "associations": [
            {"columns": list(pair), "measure": measure, **{source: found[source][pair] for source in both}}
            for pair, measure in measures.items()
        ],
    }


def column_statistics(p: Floats, axis: AnyAxis, *, within: bool = True) -> dict[str, Any]:
    """Of one column's distribution over its bins: mean, standard deviation (data units; of dates days), quartiles and
    median of numbers, ``shares`` of categories; and of columns with a bin for it the share ``missing``, of all rows.

    Numbers are of the rows that have one. A quartile is the least value that at least a quarter of them do not exceed:
    one that can come out. Dates are ISO texts; the mean is the nearest one.
    """
    p = p / (p.sum() or 1.0)  # there may be nobody
    valued = axis.bins - (axis.missing == "category")
    missing = {"missing": float(p[valued:].sum())} if axis.missing == "category" else {}
    if not isinstance(axis, Axis):
        return {"shares": {axis.bin_label(bin): float(p[bin]) for bin in range(valued)}, **missing}
    numbers = number_statistics(p, axis, within=within)
    if numbers is None:
        return {**dict.fromkeys(["mean", "standard_deviation", *QUARTILES]), **missing}
    shown: dict[str, Any] = {**numbers, **{name: axis.to_value(numbers[name]) for name in QUARTILES}}
    if axis.day_zero is not None:
        shown |= {"mean": str(axis.to_value(numbers["mean"])), **{name: str(shown[name]) for name in QUARTILES}}
    return {**shown, **missing}


def summary_errors(p: Floats, q: Floats, axes: Sequence[AnyAxis]) -> dict[str, float | None]:
    """How far the means and the medians of what is released (q, flat) are from those of the data (p): absolute, in
    standard deviations of the data's column, a mean over the columns of numbers. None where no column varies."""
    marginals = [marginals_of(of, axes) for of in (p, q)]
    errors: dict[str, list[float]] = {"mean": [], "median": []}
    for number, axis in enumerate(axes):
        if isinstance(axis, Axis):
            before, after = (number_statistics(of(number), axis, within=False) for of in marginals)
            if before is not None and after is not None and before["standard_deviation"] > 0:
                for name, found in errors.items():
                    found.append(abs(after[name] - before[name]) / before["standard_deviation"])
    return {f"{name}_error": float(np.mean(found)) if found else None for name, found in errors.items()}


def number_statistics(p: Floats, axis: Axis, *, within: bool = True) -> dict[str, float] | None:
    """Mean, standard deviation and quartiles of the rows that have a number (data units; of dates days since day zero);
    None if no row has one."""
    numbers = p[: axis.number_bins]
    if not numbers.any():
        return None
    numbers = numbers / numbers.sum()
    means, variances = bin_moments(axis, within=within)
    mean = float(numbers @ means)
    return {
        "mean": mean,
        "standard_deviation": math.sqrt(float(numbers @ ((means - mean) ** 2 + variances))),
        **{name: _quantile(numbers, axis, share, means) for name, share in QUARTILES.items()},
    }


def _quantile(p: Floats, axis: Axis, share: float, values: Floats) -> float:
    """The least value that at least this share of the rows do not exceed (data units, or days)."""
    running, goal = np.cumsum(p), share - CUMULATION_ERROR
    bin = min(int(np.searchsorted(running, goal)), int(np.flatnonzero(p)[-1]))
    number = float(values[bin])
    if axis.step is not None:
        first, past = axis.first_steps[bin : bin + 2].tolist()
        before = float(running[bin] - p[bin])
        steps = math.ceil((goal - before) / float(p[bin]) * (past - first)) - 1
        step = first + min(max(steps, 0), past - first - 1)
        number = float(Decimal(repr(axis.low)) + step * Decimal(repr(axis.step)))
    return number
