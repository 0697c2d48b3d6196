"""Files read into DuckDB, in this process: Parquet by DuckDB itself, text part by part as an Arrow stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

from equinoise.data.paths import Files
from equinoise.data.text_fields import Part, no_rows, parts_of

ROWS_TOGETHER = 2**17


@dataclass(frozen=True)
class Stream:
    """Parts of text files as one stream of Arrow batches; DuckDB asks for a new one in every query."""

    parts: list[Part]

    def reader(self) -> pa.RecordBatchReader:
        """The rows of all parts, one part in memory at a time."""
        schema = no_rows(self.parts[0].columns, self.parts[0].kept).to_arrow().schema
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            yield from part.read().to_arrow().cast(schema).to_batches()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class DuckDB:
    """A connection to a database in memory."""

    connection: Any

    def text(self, files: Files, columns: tuple[str, ...], kept: tuple[str, ...] = ()) -> Any:
        """The columns of text files."""
        return self.connection.from_arrow(Stream(parts_of(files, columns, kept=kept)))

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files, in their order. A name is a name, though DuckDB would take some for patterns;
        a column's it may change, as it does not tell ``x`` from ``X``."""
        names = [re.sub(r"([*?\[])", r"[\1]", str(path)) for path in files.paths]
        found = self.connection.read_parquet(names, hive_partitioning=False)
        place = {name: i for i, name in enumerate(pl.scan_parquet(files.paths[0], glob=False).collect_schema())}
        theirs = found.columns
        quoted = (theirs[place[name]].replace('"', '""') for name in columns)
        return found.project(", ".join(f'"{name}"' for name in quoted))


def stream(relation: Any, *, from_text: bool) -> Iterator[pl.DataFrame]:
    """The rows in their order, a batch at a time."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # its older name
    for batch in read(ROWS_TOGETHER):
        yield pl.DataFrame(batch)


@contextmanager
def connect(address: str | None) -> Iterator[DuckDB]:
    """A database of our own, so that nobody's tables or open queries are in the way."""
    connection = duckdb.connect(":memory:")
    try:
        yield DuckDB(connection)
    finally:
        connection.close()
