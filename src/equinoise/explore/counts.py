"""The data, counted once on every grid on offer: after that, nothing but counts is used."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.data import counting
from equinoise.data.engines import engine_for
from equinoise.data.grid import AnyAxis, Axis, Grid, Ints
from equinoise.data.make_grid import make_grid
from equinoise.data.players import Players
from equinoise.data.read_players import Bounds, check_players, columns_asked_for, open_columns
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.text_format import TextFormat
from equinoise.errors import BadInput, EquinoiseWarning, check, is_whole
from equinoise.settings import MOST_BINS

BIN_CHOICES = (26, 51, 101, 201, 401)
"""Numbers of bins on offer for one column, where nobody names others."""

SEVERAL_COLUMNS_BIN_CHOICES = (8, 11, 16, 26, 51, 101)
"""For several columns: of these, those that keep all cells within MOST_PAGE_CELLS, or the most that do."""

MOST_BIN_CHOICES = 12

MOST_PAGE_CELLS = 2**15
"""Of the grid of several columns: more take minutes, and a page should answer in seconds."""


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """How many people have each combination of codes, and how they were counted.

    ``axes`` are the columns with the fewest bins. ``codes`` (combinations x grids, then columns) are those of
    :mod:`equinoise.data.counting`: a bin, or what is wrong with a value; ``rows`` of the data have each combination.
    ``public`` names the columns whose bounds were given.
    """

    axes: tuple[AnyAxis, ...]
    bins: tuple[int, ...]
    codes: NDArray[np.int16]
    rows: Ints
    public: frozenset[str]
    source: str
    engine: str = "polars"
    engine_address: str | None = None
    separator: str | None = None
    decimal: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        """How many people have a value in every column."""
        return self.on(self.bins[0]).total_people

    def chosen(self, columns: Sequence[int] | None = None) -> tuple[AnyAxis, ...]:
        """The columns with these numbers, ascending; left out, all of them."""
        return tuple(self.axes[number] for number in self._numbers(columns))

    def on(self, bins: object, columns: Sequence[int] | None = None) -> Players:
        """The people on the grid of some columns with so many bins each, if that is on offer."""
        listed = ", ".join(map(str, self.bins))
        check(
            is_whole(bins, 2, MOST_BINS) and bins in self.bins, "bins",
            f"among {listed} (those that were counted; name others with --bins)", bins,
        )  # fmt: skip
        assert isinstance(bins, int)
        numbers = self._numbers(columns)
        grid = Grid(tuple(_with_bins(self.axes[number], bins) for number in numbers))
        first = self.bins.index(bins) * len(self.axes)
        codes = self.codes[:, [first + number for number in numbers]].astype(np.int64)
        return counting.players_of_codes(grid, codes, self.rows)

    def _numbers(self, columns: Sequence[int] | None) -> list[int]:
        if columns is None:
            return list(range(len(self.axes)))
        known = isinstance(columns, list | tuple) and all(is_whole(one, 0, len(self.axes) - 1) for one in columns)
        different = known and 0 < len(columns) == len(set(columns))
        check(different, "columns", f"different numbers from 0 to {len(self.axes) - 1}, at least one", columns)
        return sorted(columns)


def count_columns(
    data: Any,
    *,
    column: str | Sequence[str] | None = None,
    bounds: Bounds = None,
    bins: Sequence[int] | None = None,
    missing: str | None = None,
    outside: str | None = None,
    engine: str = "polars",
    engine_address: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> ColumnCounts:
    """Count one column or several on all grids in one pass. (Bounds left out take a pass before, and a warning.)"""
    asked = columns_asked_for(None, column, bounds, missing=missing, outside=outside)
    columns = len(asked.columns)
    several = [number for number in SEVERAL_COLUMNS_BIN_CHOICES if number**columns <= MOST_PAGE_CELLS]
    usual = BIN_CHOICES if columns == 1 else several or [int(MOST_PAGE_CELLS ** (1 / columns))]
    choices = sorted(set(usual if bins is None else bins))
    check(1 <= len(choices) <= MOST_BIN_CHOICES, "bins", f"at most {MOST_BIN_CHOICES} numbers", list(bins or ()))
    check_cells(choices[-1], columns)
    text = TextFormat(separator, decimal)
    with warnings.catch_warnings(record=True) as caught, engine_for(data, engine, engine_address) as reader:
        warnings.simplefilter("always", EquinoiseWarning)
        rows, schema = open_columns(data, asked, engine=reader, text=text)
        grid = make_grid(schema, bins=choices[0])
        axes = [_with_bins(axis, number) for number in choices for axis in grid.axes]
        codes, row_counts = counting.count_codes(rows, axes)
        warn_of_repeats(data, rows.columns, text)
    sentences = tuple(str(w.message) for w in caught if issubclass(w.category, EquinoiseWarning))
    public = frozenset(() if bounds is None else bounds if isinstance(bounds, Mapping) else rows.columns)
    source = str(data) if isinstance(data, str | Path) else "data"
    counts = ColumnCounts(
        grid.axes, tuple(choices), codes.astype(np.int16), row_counts, public, source, engine, engine_address,
        separator, decimal, sentences,
    )  # fmt: skip
    check_players(counts.on(choices[0]), 1)
    return counts


def check_cells(bins: int, columns: int) -> None:
    """Refuse a grid of several columns that a page is too slow for."""
    if columns > 1 and is_whole(bins, 2, MOST_BINS) and bins**columns > MOST_PAGE_CELLS:
        most = max(number for number in range(1, bins) if number**columns <= MOST_PAGE_CELLS)
        raise BadInput(
            f"{bins} bins on each of {columns} columns are {bins**columns:,} cells, and the page takes at most "
            f"{MOST_PAGE_CELLS:,}: give --bins of at most {most}, or use 'equinoise optimize'."
        )


def _with_bins(axis: AnyAxis, bins: int) -> AnyAxis:
    assert isinstance(axis, Axis)
    return replace(axis, bins=bins + axis.categories)
