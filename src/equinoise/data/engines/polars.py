"""Files read by polars, in this process, a batch at a time: the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from polars import selectors

from equinoise.data.engines.protocol import Engine, Frame
from equinoise.data.paths import Files
from equinoise.data.text_fields import ALL_FIELDS, numbers, scan

NO_VALUES = selectors.by_dtype(pl.Null).cast(pl.Float64)
"""Columns of nothing but missing values, as numbers."""


class Polars(Engine):
    """The engine; it has no state."""

    def prepare(self, frame: Any, columns: Sequence[str | None], keep: bool | Sequence[str]) -> Any:
        """A dataframe whose columns of nothing but missing values hold numbers, as they may with one person more."""
        return nw.from_native(frame.to_native().with_columns(NO_VALUES))

    def text(self, files: Files, columns: tuple[str, ...], fields: tuple[str, ...] = ()) -> pl.LazyFrame:
        """The columns of text files, lazily."""
        assert files.separator is not None
        return numbers(scan(files.paths, files.separator), columns, fields, files.separator, files.decimal)

    def parquet(self, files: Files, columns: tuple[str, ...]) -> pl.LazyFrame:
        """The columns of Parquet files, lazily."""
        frame: pl.LazyFrame = pl.scan_parquet(list(files.paths), glob=False).select(selectors.by_name(*columns))
        return frame.with_columns(NO_VALUES)

    def collect(self, frame: Frame, *, from_text: bool) -> Any:
        """The rows of a query, run a batch at a time."""
        return nw.from_native(frame.to_native().collect(engine="streaming", optimizations=_flags(from_text)))

    def stream(self, frame: Frame, *, from_text: bool) -> Iterator[pl.DataFrame]:
        """The rows in their order, a batch at a time."""
        batches = frame.to_native().collect_batches(lazy=True, engine="streaming", optimizations=_flags(from_text))
        yield from batches


def _flags(from_text: bool) -> pl.QueryOptFlags:
    return ALL_FIELDS if from_text else pl.QueryOptFlags()


LIBRARY = Polars
