"""The grid: the cells that public knowledge about the columns makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equinoise.data.axis import Axis, Floats, Ints
from equinoise.data.category_axis import CategoryAxis
from equinoise.errors import BadInput
from equinoise.formatting import join_and

__all__ = ["AnyAxis", "Axis", "CategoryAxis", "Floats", "Grid", "Histogram", "Ints", "number_axes"]

AnyAxis = Axis | CategoryAxis


@dataclass(frozen=True)
class Grid:
    """The cells that people live in and draws come out of: one axis per column.

    Cells of several axes are numbered row by row: the last axis runs fastest.
    """

    axes: tuple[AnyAxis, ...]

    def __post_init__(self) -> None:
        names = [axis.name for axis in self.axes]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"Column {name!r} is named twice. Name different columns.")

    @property
    def axis(self) -> AnyAxis:
        """The only axis of a grid for one column."""
        (axis,) = self.axes
        return axis

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.name for axis in self.axes)

    @property
    def name(self) -> str:
        """The columns as people read them: 'height', or 'height' and 'weight'."""
        return join_and(repr(axis.name) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Bins of every axis."""
        return tuple(axis.bins for axis in self.axes)

    @property
    def categories(self) -> tuple[int, ...]:
        """How many bins of every axis have no order."""
        return tuple(axis.categories for axis in self.axes)

    def with_rules(self, missing: str, outside: str) -> Grid:
        """These cells, with other rules for values that no bin is for."""
        return Grid(tuple(replace(axis, missing=missing, outside=outside) for axis in self.axes))

    def bins_of(self, cells: Ints) -> Ints:
        """The bin on every axis (columns of a table) of cells given by their numbers."""
        return np.stack(np.unravel_index(cells, self.shape), axis=1).astype(np.int64)

    def cell_labels(self, cell: int) -> list[str]:
        """A cell's bin on every axis, as people read it."""
        bins = self.bins_of(np.array([cell]))[0].tolist()
        return [axis.bin_label(bin) for axis, bin in zip(self.axes, bins, strict=True)]

    def interval(self, cell: int) -> tuple[list[Any], list[Any]]:
        """Where a cell begins and ends on every axis: in data units, with a step its first and last value; or twice the
        category."""
        bins = self.bins_of(np.array([cell]))[0].tolist()
        ends = [_ends(axis, bin) for axis, bin in zip(self.axes, bins, strict=True)]
        return [low for low, _ in ends], [high for _, high in ends]

    def cells_of(self, bins: Ints) -> Ints:
        """The number of the cell with these bins, one on every axis: :meth:`bins_of`, the other way round."""
        return np.asarray(np.ravel_multi_index(tuple(np.asarray(bins).T), self.shape), dtype=np.int64)


def _ends(axis: AnyAxis, bin: int) -> tuple[Any, Any]:
    if not isinstance(axis, Axis) or bin >= axis.number_bins:
        return axis.bin_label(bin), axis.bin_label(bin)
    if axis.step is None:
        edges = axis.edges()
        return float(edges[bin]), float(edges[bin + 1])
    first, past = axis.first_steps[bin : bin + 2].tolist()
    low, high = (axis.to_value(axis.low + step * axis.step) for step in (first, past - 1))
    return (low, high) if axis.day_zero is None else (str(low), str(high))


@dataclass(frozen=True, eq=False)
class Histogram:
    """People per cell of a grid."""

    grid: Grid
    counts: Ints

    @property
    def people(self) -> int:
        """How many people there are in all."""
        return int(self.counts.sum())


def number_axes(axes: Sequence[AnyAxis]) -> list[Axis]:
    """Those that are of numbers."""
    return [axis for axis in axes if isinstance(axis, Axis)]
