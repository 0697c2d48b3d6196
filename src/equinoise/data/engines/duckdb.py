"""Files read into DuckDB, in this process: Parquet by DuckDB itself, text part by part as an Arrow stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import narwhals as nw
import polars as pl
import pyarrow as pa

from equinoise.data.engines.protocol import BATCH_ROWS, Engine, Frame
from equinoise.data.paths import Files
from equinoise.data.text_fields import Part, no_rows, parts_of


@dataclass(frozen=True)
class PartStream:
    """Parts of text files as one stream of Arrow batches, one part in memory at a time; DuckDB asks for a new one in
    every query."""

    parts: list[Part]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        schema = no_rows(self.parts[0].columns, self.parts[0].fields).to_arrow().schema
        batches = (batch for part in self.parts for batch in part.read().to_arrow().cast(schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class DuckDB(Engine):
    """A connection to a database in memory; none is needed for relations that there are."""

    connection: Any = None

    @classmethod
    @contextmanager
    def connect(cls, address: str | None) -> Iterator[Self]:
        """A database of our own, so that nobody's tables or open queries are in the way."""
        connection = duckdb.connect(":memory:")
        try:
            yield cls(connection)
        finally:
            connection.close()

    def text(self, files: Files, columns: tuple[str, ...], fields: tuple[str, ...] = ()) -> Any:
        """The columns of text files."""
        return self.connection.from_arrow(PartStream(parts_of(files, columns, fields=fields)))

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files. A name is a name, though DuckDB would take some for patterns; a column's it may
        change, as it does not tell ``x`` from ``X``."""
        names = [re.sub(r"([*?\[])", r"[\1]", str(path)) for path in files.paths]
        relation = self.connection.read_parquet(names, hive_partitioning=False)
        if "TIMESTAMP WITH TIME ZONE" in map(str, relation.types):
            self.connection.execute("SET TimeZone = 'UTC'")  # that of the files: others are refused
        place = {name: i for i, name in enumerate(pl.scan_parquet(files.paths[0], glob=False).collect_schema())}
        return relation.project(", ".join(_quoted(relation.columns[place[name]]) for name in columns))

    def rename(self, frame: Frame, names: Sequence[str]) -> Any:
        """A frame with new names. To DuckDB, ``*`` is all columns unless it is quoted."""
        pairs = zip(frame.to_native().columns, names, strict=True)
        return nw.from_native(frame.to_native().project(", ".join(f"{_quoted(a)} AS {_quoted(b)}" for a, b in pairs)))

    def force_scan(self, value: nw.Expr, dtype: Any) -> nw.Expr:
        """A column, each value of which is looked at. DuckDB believes a Parquet file's smallest and largest value,
        which do not tell of NaN, and would answer from them alone; it believes nothing about what comes out of a
        choice. (That takes time. What is counted goes without: NaN shows in what comes out, see
        :func:`equinoise.data.counting.read_codes`.)"""
        return nw.when(~value.is_null()).then(value) if dtype.is_float() else value

    def stream(self, frame: Frame, *, from_text: bool) -> Iterator[pl.DataFrame]:
        """The rows in their order, a batch at a time."""
        relation = frame.to_native()
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # its older name
        for batch in read(BATCH_ROWS):
            yield pl.DataFrame(batch)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


LIBRARY = DuckDB
