"""Public noisy counts of the cells of a joint grid, and what every count tells of its people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equinoise.data.axis import Axis
from equinoise.data.category_axis import Category, CategoryAxis
from equinoise.data.codes import is_absent
from equinoise.data.grid import AnyAxis, Ints
from equinoise.errors import BadInput
from equinoise.formatting import join_and
from equinoise.synthesis.noisy_counts import NoiseLaw


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """``counts``: rows per cell with independent noise of ``law``, whole numbers in the shape of ``axes``; also below
    zero. Whatever is worked out from them costs no privacy."""

    counts: Ints
    axes: tuple[AnyAxis, ...]
    law: NoiseLaw

    def __post_init__(self) -> None:
        shape = tuple(axis.bins for axis in self.axes)
        if self.counts.shape != shape or self.counts.dtype.kind not in "iu":
            raise BadInput(f"There must be {math.prod(shape):,} whole noisy counts, one for every cell of the columns.")

    def number_of(self, column: str) -> int:
        """Which axis a column is."""
        names = [axis.name for axis in self.axes]
        if column not in names:
            known = f" The columns are {join_and(map(repr, names))}." if names else ""
            raise BadInput(f"There is no column {column!r}.{known}")
        return names.index(column)

    def number_axis(self, column: str) -> Axis:
        """The axis of a column of numbers or dates."""
        axis = self.axes[self.number_of(column)]
        if not isinstance(axis, Axis):
            raise BadInput(f"The column {column!r} has categories. Ask for their shares or counts instead.")
        return axis

    def bin_of(self, column: str, category: Category | None) -> int:
        """The bin of a category, or with None that of the missing."""
        axis = self.axes[self.number_of(column)]
        if is_absent(category):
            if axis.missing == "category":
                return axis.bins - 1
            raise BadInput(f"The column {column!r} has no category for missing values.")
        if not isinstance(axis, CategoryAxis):
            raise BadInput(f"The column {column!r} has numbers, not categories. Ask for its mean or quantiles instead.")
        bin = axis.code_of(category)
        if bin < 0:
            known = join_and(repr(axis.bin_label(bin)) for bin in range(axis.bins))
            raise BadInput(f"The column {column!r} has no category {category!r}. The categories are {known}.")
        return bin

    def where(self, column: str, category: Category | None) -> NoisyTable:
        """The noisy counts of one category (None: of the missing), without its column."""
        number, bin = self.number_of(column), self.bin_of(column, category)
        axes = self.axes[:number] + self.axes[number + 1 :]
        return replace(self, counts=np.asarray(self.counts.take(bin, axis=number)), axes=axes)

    def by_bin(self, columns: Sequence[str], values: Any = None) -> Any:
        """The noisy counts (or other values of the cells) with these columns' axes first, in this order, and all other
        cells in the last axis."""
        first = [self.number_of(column) for column in columns]
        rest = [number for number in range(len(self.axes)) if number not in first]
        turned = (self.counts if values is None else values.reshape(self.counts.shape)).transpose([*first, *rest])
        return turned.reshape([self.axes[number].bins for number in first] + [-1])
