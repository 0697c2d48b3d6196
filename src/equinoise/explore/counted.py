"""The data, counted once on every grid on offer: after that, nothing but histograms is used."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise import counting
from equinoise.engines import engine_for
from equinoise.errors import BadInput, EquinoiseWarning, check, is_whole
from equinoise.grid import MOST_BINS, Axis, Histogram
from equinoise.people import open_columns
from equinoise.repeats import warn_of_repeats

BINS = (26, 51, 101, 201, 401)
"""Numbers of bins on offer, where nobody names others."""

MOST_CHOICES = 12


@dataclass(frozen=True, eq=False)
class Counted:
    """One column's histograms, finest last, and how they were counted."""

    histograms: tuple[Histogram, ...]
    public_bounds: bool
    source: str
    missing: str = "refuse"
    outside: str = "refuse"
    engine: str = "polars"
    engine_address: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def axis(self) -> Axis:
        """The column's name, bounds and padding: those of every grid."""
        return self.histograms[0].grid.axis

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.histograms[0].people

    @property
    def bins(self) -> tuple[int, ...]:
        """Numbers of bins on offer."""
        return tuple(histogram.grid.axis.bins for histogram in self.histograms)

    def on(self, bins: object) -> Histogram:
        """The histogram with so many bins, if that is on offer."""
        listed = ", ".join(map(str, self.bins))
        check(
            is_whole(bins, 2, MOST_BINS) and bins in self.bins, "bins",
            f"among {listed} (those that were counted; name others with --bins)", bins,
        )  # fmt: skip
        return next(histogram for histogram in self.histograms if histogram.grid.axis.bins == bins)


def count_column(
    data: Any,
    *,
    column: str | None = None,
    bounds: tuple[float, float] | None = None,
    bins: Sequence[int] = BINS,
    missing: str = "refuse",
    outside: str = "refuse",
    engine: str = "polars",
    engine_address: str | None = None,
) -> Counted:
    """Count one column on all grids in one pass. (Bounds left out take another pass before, and a warning.)"""
    check(1 <= len(bins) <= MOST_CHOICES, "bins", f"at most {MOST_CHOICES} numbers", list(bins))
    with warnings.catch_warnings(record=True) as caught, engine_for(data, engine, engine_address) as reader:
        warnings.simplefilter("always", EquinoiseWarning)
        rows, grid = open_columns(
            data, column, bounds, bins=min(bins), padding_epsilon=1.0, percentile=0.9, engine=reader
        )
        first = grid.axis
        axes = [Axis.padded(first.name, first.low, first.high, bins=number) for number in sorted(set(bins))]
        histograms = counting.count_each(rows, axes, missing=missing, outside=outside)
        warn_of_repeats(data, rows.columns)
    said = tuple(str(w.message) for w in caught if issubclass(w.category, EquinoiseWarning))
    if histograms[0].people == 0:
        raise BadInput(f"Column {first.name!r} has 0 usable values, and at least one person is needed.")
    source = str(data) if isinstance(data, str | Path) else "data"
    return Counted(tuple(histograms), bounds is not None, source, missing, outside, engine, engine_address, said)
