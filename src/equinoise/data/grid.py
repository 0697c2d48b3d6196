"""The grid: public bounds, padded and cut into equal bins; values to cells and back."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.errors import BadInput
from equinoise.formatting import format_number, join_and, printable
from equinoise.settings import check_settings

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """One column's public bounds, the padding on either side of them, and the number of bins.

    All lengths are in data units. The padded range is [low - padding, high + padding], cut into ``bins``
    equal bins. Make one with :meth:`padded`, which works out the padding.
    """

    name: str
    low: float
    high: float
    bins: int
    padding: float

    @classmethod
    def padded(
        cls,
        name: str,
        low: float,
        high: float,
        *,
        bins: int = 101,
        padding_epsilon: float = 1.0,
        percentile: float = 0.9,
    ) -> Axis:
        """Pad [low, high] so that Laplace noise at ``padding_epsilon`` stays inside with ``percentile``.

        The half-width is (high - low) / padding_epsilon * ln(1 / (2 - 2 percentile)). It has an epsilon of
        its own so that one grid serves every epsilon of the game.

        >>> axis = Axis.padded("height", 163, 226)
        >>> round(axis.padding, 2), axis.bins, axis.cell_of(163.0), axis.cell_of(226.0)
        (101.39, 101, 38, 62)
        """
        low, high = float(low), float(high)
        check_settings({"bins": bins, "padding_epsilon": padding_epsilon, "percentile": percentile})
        padding_epsilon, percentile = float(padding_epsilon), float(percentile)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise BadInput(f"The bounds of column {name!r} must be finite numbers. Got {low} and {high}.")
        if not low < high:
            raise BadInput(
                f"The bounds of column {name!r} must be two different numbers, the lower one first. "
                f"Got {format_number(low)} and {format_number(high)}."
            )
        padding = (high - low) / padding_epsilon * math.log(1 / (2 - 2 * percentile))
        axis = cls(name, low, high, int(bins), padding)
        axis.check_resolvable()
        return axis

    def check_resolvable(self) -> None:
        """Refuse a range that floating point cannot cut into bins."""
        largest = max(abs(self.padded_low), abs(self.padded_high))
        if not largest < 1e150 or not self.width > max(1e-150, 8 * math.ulp(largest)):
            raise BadInput(
                f"The bounds {format_number(self.low)} and {format_number(self.high)} of column {self.name!r}, padded "
                f"by {self.padding:.3g}, cannot be cut into {self.bins} bins in floating point. Rescale the column "
                "(divide by a power of ten, or subtract a constant) and try again."
            )

    @property
    def label(self) -> str:
        """The name as a picture or a page shows it, whatever letters it has.

        Vega takes a backslash in a title for the beginning of an escape, so a sign that looks like one stands for it.
        """
        return printable(self.name).replace("\\", "\u2216")

    @property
    def padded_low(self) -> float:
        """Lower end of the padded range."""
        return self.low - self.padding

    @property
    def padded_high(self) -> float:
        """Upper end of the padded range."""
        return self.high + self.padding

    @property
    def range(self) -> float:
        """Length of the padded range: the unit of every noise scale."""
        return self.padded_high - self.padded_low

    @property
    def width(self) -> float:
        """Width of one bin."""
        return self.range / self.bins

    @property
    def per_width(self) -> float:
        """Bins per unit. Counting multiplies by this and never divides: engines divide one value and many values
        differently in the last bit, and a person's bin must not depend on who else is there."""
        return 1 / self.width

    def cell_of(self, value: float) -> int:
        """The bin of one value; the ends of the padded range belong to the first and the last bin."""
        return int(min(max(math.floor((value - self.padded_low) * self.per_width), 0), self.bins - 1))

    def midpoints(self) -> Floats:
        """The released value of every bin, in data units, rounded to about a millionth of a bin."""
        exact = self.padded_low + (np.arange(self.bins, dtype=np.float64) + 0.5) * self.width
        return np.round(exact, 6 - math.floor(math.log10(self.width)))

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return asdict(self)


@dataclass(frozen=True)
class Grid:
    """The cells that people live in and draws come out of: one axis per column.

    Cells of several axes are numbered row by row: the last axis runs fastest.
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [axis.name for axis in self.axes]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"Column {name!r} is named twice. Name different columns.")

    @property
    def axis(self) -> Axis:
        """The only axis of a grid for one column."""
        (axis,) = self.axes
        return axis

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

    def bins_of(self, cells: Ints) -> Ints:
        """The bin on every axis (columns of a table) of cells given by their numbers."""
        return np.stack(np.unravel_index(cells, self.shape), axis=1).astype(np.int64)

    def interval(self, cell: int) -> tuple[list[float], list[float]]:
        """Where a cell begins and ends on every axis, in data units."""
        bins = self.bins_of(np.array([cell]))[0].tolist()
        low = [axis.padded_low + bin * axis.width for axis, bin in zip(self.axes, bins, strict=True)]
        return low, [start + axis.width for start, axis in zip(low, self.axes, strict=True)]

    def cells_of(self, bins: Ints) -> Ints:
        """The number of the cell with these bins, one on every axis: :meth:`bins_of`, the other way round."""
        return np.asarray(np.ravel_multi_index(tuple(np.asarray(bins).T), self.shape), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Histogram:
    """People per cell of a grid."""

    grid: Grid
    counts: Ints

    @property
    def people(self) -> int:
        """How many people there are in all."""
        return int(self.counts.sum())
