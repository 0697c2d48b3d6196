"""Opening files, an array or any dataframe: the named columns as numbers, lazily, with what is wrong still visible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.data.columns import NAMELESS, can_be_unit, check_digits, check_type, find_column, not_a_unit
from equinoise.data.engines import Engine, Library, frame_of, library_of
from equinoise.data.engines.failures import explain_failures
from equinoise.data.engines.polars import Polars
from equinoise.data.paths import Files, check_same, find_files
from equinoise.data.text_fields import FIELD, VALUE, column_numbers, header_of, our_names, refuse_repeated
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import BadInput, check


@dataclass(frozen=True)
class Rows:
    """A frame whose columns are to be counted; number i of them is called ``VALUE i`` there.

    For a text file, ``IS_TEXT i`` marks the rows that hold no number and ``RAW i`` is what they hold. The names are
    our own because engines take some names (``*``, ``^a.*$``) for patterns. ``fields`` are the names of columns that
    come along as they are; number j of them is called ``FIELD j``. ``library`` is what runs queries on the frame,
    ``decimal`` the mark that was said for text.
    """

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    source: str
    library: Library
    fields: tuple[str, ...] = ()
    from_text: bool = False
    decimal: str | None = None

    def collect(self, query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """The rows of a query that gives few."""
        with explain_failures(self.source, is_text=self.from_text):
            return self.library.collect(query, from_text=self.from_text)

    def stream(self, query: nw.LazyFrame[Any]) -> Iterator[pl.DataFrame]:
        """The rows of a query that gives as many as there are: in their order, a batch at a time."""
        with explain_failures(self.source, is_text=self.from_text):
            yield from self.library.stream(query, from_text=self.from_text)


def open_rows(
    data: Any, column: str | Sequence[str] | None = None, engine: Engine | None = None, *, keep: bool | str = False,
    text: TextFormat = UNSAID,
) -> Rows:  # fmt: skip
    """The rows of a path, an array or any dataframe; ``column`` may be left out where there is only one.

    A list of columns makes rows of several numbers. An array then has as many columns, in that order. A path may be a
    file, a folder of files or a pattern such as ``parts/*.parquet``; ``engine`` reads it, and ``text`` is what was
    said of text files. With ``keep``, all columns come along as they are, or the one that it names.
    """
    names: list[str | None] = list(column) if isinstance(column, list | tuple) else [column]  # type: ignore[list-item]
    named = len(names) > 0 and all(name is None or isinstance(name, str) for name in names)
    check(named, "column", "the name of a column, or a list of names", column)
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Column {name!r} is named twice. Name different columns.")
    if isinstance(data, str | Path):
        return _open_files(Path(data), names, engine or Polars(), keep, text)
    text.check_unsaid("with a dataframe or an array, which has numbers")
    if isinstance(data, np.ndarray | list | tuple):
        return _open_array(data, names, keep)
    with explain_failures("The dataframe", is_text=False):
        frame = frame_of(data)
        every, library = frame.columns if isinstance(frame, nw.DataFrame) else [], library_of(frame)
        ready = library.prepare(frame, every if names == [None] and len(every) == 1 else names, keep)
        return _open_frame(ready.lazy(), names, "The dataframe", keep, library)


def _open_array(data: Any, names: list[str | None], keep: bool | str) -> Rows:
    array = _numbers(data)
    if len(names) == 1 and array.ndim != 1:
        raise BadInput("An array must have one dimension: one number per person.")
    if len(names) > 1 and (array.ndim != 2 or array.shape[1] != len(names)):
        raise BadInput(
            f"An array for {len(names)} columns must be a table with one row per person and {len(names)} columns. "
            f"This one has the shape {array.shape}."
        )
    table = array.reshape(len(array), len(names))
    columns = [name or NAMELESS for name in names]
    frame = pl.LazyFrame({name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(columns)})
    return _open_frame(nw.from_native(frame), columns, "The array", keep, Polars())


def _numbers(data: Any) -> Any:
    """An array of numbers that polars knows; what is masked there is missing."""
    try:
        array = np.asarray(data)
    except ValueError:
        raise BadInput("An array must be a table, but its rows have different lengths.") from None
    if array.dtype.kind not in "iuf":
        raise BadInput(f"An array must hold numbers. This one holds {array.dtype}.")
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.float64), np.nan)
    return array.astype(np.float64) if array.dtype.itemsize > 8 else array


def _open_files(path: Path, names: list[str | None], engine: Engine, keep: bool | str, said: TextFormat) -> Rows:
    with explain_failures(f"The file {str(path)!r}", is_text=True):
        files = find_files(path, said)
    with explain_failures(files.source, is_text=files.is_text):
        if not files.is_text:
            columns, every = _parquet_columns(files, names, keep)
            parquet: nw.LazyFrame[Any] = nw.from_native(engine.parquet(files, every)).lazy()
            return _open_frame(parquet, columns, files.source, keep, engine, every)
        header = header_of(files)
        columns = tuple(find_column(name, header, files.source) for name in names)
        fields = _fields(keep, header, files.source)
        refuse_repeated(files, columns if keep is True else (*columns, *fields), header)
        text: nw.LazyFrame[Any] = nw.from_native(engine.text(files, columns, fields)).lazy()
        return Rows(text, columns, files.source, engine, fields, from_text=True, decimal=files.decimal)


def _fields(keep: bool | str, names: list[str], source: str) -> tuple[str, ...]:
    """The names of the columns that come along."""
    if isinstance(keep, str):
        return (find_column(keep, names, source),)
    return tuple(names) if keep else ()


def _parquet_columns(
    files: Files, names: list[str | None], keep: bool | str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to count and those to read, which must have the same types in all the files. Whether those are types
    of numbers is asked of the file: DuckDB takes lengths of time for whole numbers."""
    schemas = [pl.scan_parquet(path, glob=False).collect_schema() for path in files.paths]
    first = schemas[0]
    check_same(files.paths, [[repr(name) for name in schema] for schema in schemas])
    columns = tuple(find_column(name, list(first), files.source) for name in names)
    wanted = {*columns, *_fields(keep, list(first), files.source)}
    every = tuple(name for name in first if name in wanted)
    check_same(files.paths, [[f"{c!r} of type {schema[c]}" for c in every] for schema in schemas])
    for column in every:
        check_digits(column, getattr(first[column], "precision", None))
    types = nw.from_native(pl.LazyFrame(schema={c: first[c] for c in every})).collect_schema()
    for column in columns:
        check_type(column, types[column])
    if isinstance(keep, str) and not can_be_unit(types[keep]):
        raise not_a_unit(keep, types[keep])
    return columns, every


def _open_frame(
    frame: nw.LazyFrame[Any], names: Sequence[str | None], source: str, keep: bool | str, library: Library,
    own_names: Sequence[str] | None = None,
) -> Rows:  # fmt: skip
    """``own_names`` are the columns' own, where the engine may have changed some."""
    schema = frame.collect_schema()
    types = dict(zip(own_names or schema.names(), schema.dtypes(), strict=True))
    columns = tuple(find_column(name, list(types), source) for name in names)
    for column in columns:
        check_type(column, types[column])
    fields = _fields(keep, list(types), source)
    ours = column_numbers(columns, fields)
    frame = library.rename(frame, list(our_names(list(types), ours).values()))
    if isinstance(keep, str):
        frame = library.check_unit(frame, ours[keep], keep)
    values = [library.as_float(nw.col(f"{VALUE} {i}"), types[column]) for i, column in enumerate(columns)]
    extra = [library.force_scan(nw.col(ours[c]), types[c]).alias(f"{FIELD} {j}") for j, c in enumerate(fields)]
    return Rows(frame.select(*values, *extra), columns, source, library, fields)
