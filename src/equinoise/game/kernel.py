"""Where a person comes out: the product of one integer row per column, never laid out over pairs of cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import AnyAxis, Grid, Ints
from equinoise.errors import BadInput, check
from equinoise.game.noise import MOST_SCALES, MOST_WEIGHTS, WEIGHT_TOTAL, axis_weights, scale_set

MOST_AXES = 6
MOST_CELLS = 2**22
"""Everyone's rows added up are laid out over all cells, a few times over: a third of a gigabyte at most."""

MOST_WORK = 5 * 10**10
"""Cells times scales times runs. With thirty people each takes some 150 billionths of a second, and no fewer people
than that are worth it: this much is two hours for them, and far more for thousands."""

PRODUCT_BITS = 52
"""A product of one weight per axis is at most 2^52: exact not only as an integer but as a float, too."""

WIDE_SCALES = 8

AxisScales = tuple[tuple[float, ...], ...]
AnyScales = str | Sequence[float] | Mapping[str, Sequence[float]]


@dataclass(frozen=True, eq=False)
class Kernel:
    """Where a person comes out: the product over the axes d of weights[d][v, bin of the person, bin], over total.

    ``scales[v]`` has one scale per axis, in units of that axis's padded range. ``totals[d]`` is what every row of an
    axis sums to, so a product row sums to ``total``. ``categories[d]`` is how many bins of an axis, the last ones, have
    no order.
    """

    noise: str
    scales: AxisScales
    weights: tuple[Ints, ...]
    totals: tuple[int, ...]
    categories: tuple[int, ...] = ()

    @cached_property
    def total(self) -> int:
        """What every product row sums to."""
        return math.prod(self.totals)

    @property
    def shape(self) -> tuple[int, ...]:
        """Bins of every axis."""
        return tuple(weights.shape[1] for weights in self.weights)

    @property
    def split(self) -> int:
        """How many of the axes make the first factor: the two factors' rows are then shortest together."""
        axes = range(1, len(self.shape) + 1)
        return min(axes, key=lambda d: math.prod(self.shape[:d]) + math.prod(self.shape[d:]))

    def weights_of(self, scales: Ints, bins: Ints) -> tuple[Ints, ...]:
        """Weights of every (scale, bins of a person), for every axis: entries x bins."""
        return tuple(weights[scales, bins[:, axis]] for axis, weights in enumerate(self.weights))


def products(factors: Sequence[Any]) -> Any:
    """The product row of every entry over all cells (entries x cells), from its row of every axis."""
    found = factors[0]
    for rows in factors[1:]:
        found = (found[:, :, None] * rows[:, None, :]).reshape(len(found), -1)
    return found


def weight_bits(axes: int) -> int:
    """Every row of each of so many axes sums to this power of two."""
    return WEIGHT_TOTAL.bit_length() - 1 if axes == 1 else PRODUCT_BITS // axes


def fits(shape: Sequence[int], scales: int) -> bool:
    """Whether a grid and its kernels stay within memory."""
    return math.prod(shape) <= MOST_CELLS and scales * sum(bins**2 for bins in shape) <= MOST_WEIGHTS


def check_size(shape: Sequence[int], scales: int) -> None:
    """Refuse more axes, cells or weights than is sensible, with the most bins that would do."""
    check(len(shape) <= MOST_AXES, "column", f"at most {MOST_AXES} columns: more leave most cells empty", len(shape))
    if fits(shape, scales):
        return
    most = max((bins for bins in range(2, max(shape) + 1) if fits([bins] * len(shape), scales)), default=None)
    advice = "fewer columns or scales" if most is None else f"at most {most:,} bins a column, or fewer columns"
    raise BadInput(
        f"A grid of {' x '.join(f'{bins:,}' for bins in shape)} = {math.prod(shape):,} cells with {scales} scales "
        f"needs more memory than is sensible. Use {advice}."
    )


def check_work(shape: Sequence[int], scales: int, restarts: int, runs: int) -> None:
    """Refuse restarts of so many runs each that certainly take hours, by public settings alone, with what would not."""
    cells = math.prod(shape)
    if cells * scales * restarts * runs <= MOST_WORK:
        return
    fewer = max(1, MOST_WORK // (cells * scales * runs))
    bins = math.floor((MOST_WORK / (scales * restarts * runs)) ** (1 / len(shape)))
    fewer_bins = f", or {bins:,} bins a column" if bins >= 2 else ""
    raise BadInput(
        f"{restarts:,} restarts of {runs} runs on {cells:,} cells with {scales} scales take hours, however few people "
        f"there are. Use at most {fewer:,} of them (--restarts; in Python, restarts=){fewer_bins}."
    )


def make_kernel(
    noise: str, scales: AxisScales, shape: Sequence[int], bins: Ints | None = None, categories: Sequence[int] = ()
) -> Kernel:
    """A family's kernels on every axis for every choice of scales, in units of the padded ranges.

    With ``bins`` (entries x axes: those that anyone is in) only their rows are made; the others stay zero.
    ``categories`` says how many bins of each axis, the last ones, have no order; left out, none.
    """
    categories = tuple(categories) or (0,) * len(shape)
    if len(shape) > 1:
        check_size(shape, len(scales))
    total = 2 ** weight_bits(len(shape))
    weights = []
    for axis, many in enumerate(shape):
        distinct = sorted({choice[axis] for choice in scales})
        used = None if bins is None else np.unique(bins[:, axis])
        made = axis_weights(noise, distinct, many, total, used, categories[axis])
        offered = [distinct.index(choice[axis]) for choice in scales]
        weights.append(made if offered == list(range(len(distinct))) else made[offered])
    return Kernel(noise, tuple(scales), tuple(weights), (total,) * len(shape), categories)


def offered_scales(scales: AnyScales, grid: Grid, epsilon: float, *, scale_per_column: bool = False) -> AxisScales:
    """The choices on offer: one scale per axis each, in units of the padded ranges; the last is the largest.

    Names are those of :func:`equinoise.game.noise.scale_set`; numbers are a list, with several columns one for each, in
    data units. The i-th smallest scale of every axis makes the i-th choice. With ``scale_per_column`` every combination
    is one: then ``wide`` has as many scales an axis as keep the combinations within 64.
    """
    columns = [_of_axis(scales, axis, epsilon, len(grid.axes) > 1) for axis in grid.axes]
    if scale_per_column:
        if scales == "wide":
            many = max(m for m in range(1, WIDE_SCALES + 1) if m ** len(columns) <= MOST_SCALES)
            columns = [tuple(np.geomspace(1 / (20 * axis.bins), 3.0, many).tolist()) for axis in grid.axes]
        choices = math.prod(len(column) for column in columns)
        check(
            choices <= MOST_SCALES,
            "scales", f"at most {MOST_SCALES} combinations of one scale per column", choices,
        )  # fmt: skip
        return tuple(itertools.product(*columns))
    if len({len(column) for column in columns}) > 1:
        raise BadInput(
            "Every column must have the same number of different scales, as a person's scale applies to all columns: "
            f"got {', '.join(str(len(column)) for column in columns)}."
        )
    return tuple(zip(*columns, strict=True))


def _of_axis(scales: AnyScales, axis: AnyAxis, epsilon: float, several: bool) -> tuple[float, ...]:
    if isinstance(scales, str) or not several:
        if isinstance(scales, Mapping):
            raise BadInput(
                "Scales for one column are 'wide', 'adaptive', 'paper' or a list, not a list for every column."
            )
        return scale_set(scales, axis, epsilon)
    if not isinstance(scales, Mapping) or axis.name not in scales:
        raise BadInput(
            "Scales for several columns are 'wide', 'adaptive', 'paper' or a list for every column, in its data units. "
            f"There is none for column {axis.name!r}: in Python, scales={{column: [...], ...}}."
        )
    return scale_set(scales[axis.name], axis, epsilon)
