"""Files read by polars, in this process, a batch at a time: the default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
from polars import selectors

from equinoise.data.paths import Files
from equinoise.data.text_fields import numbers, scan


class Polars:
    """The engine; it has no state."""

    def text(self, files: Files, columns: tuple[str, ...], kept: tuple[str, ...] = ()) -> pl.LazyFrame:
        """The columns of text files, lazily."""
        assert files.separator is not None
        return numbers(scan(files.paths, files.separator), columns, kept)

    def parquet(self, files: Files, columns: tuple[str, ...]) -> pl.LazyFrame:
        """The columns of Parquet files, lazily."""
        return pl.scan_parquet(list(files.paths), glob=False).select(selectors.by_name(*columns))


def stream(frame: pl.LazyFrame, *, from_text: bool) -> Iterator[pl.DataFrame]:
    """The rows in their order, a batch at a time. For text, see :func:`equinoise.data.text_fields.in_batches`."""
    flags = pl.QueryOptFlags(projection_pushdown=not from_text)
    yield from frame.collect_batches(lazy=True, engine="streaming", optimizations=flags)


@contextmanager
def connect(address: str | None) -> Iterator[Polars]:
    """Nothing to connect to."""
    yield Polars()
