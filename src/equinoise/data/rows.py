"""Opening files, an array or any dataframe: the named columns as numbers, lazily, with what is wrong still visible."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.data.columns import (
    NAMELESS,
    can_be_unit,
    check_digits,
    check_raw_type,
    check_type,
    find_column,
    not_a_unit,
)
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
    come along as they are, ``unit`` and categories among them; number j of them is called ``FIELD j``. ``library`` is
    what runs queries on the frame, ``decimal`` the mark that was said for text. The data has ``other_columns`` besides.
    """

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    source: str
    library: Library
    fields: tuple[str, ...] = ()
    from_text: bool = False
    unit: str | None = None
    decimal: str | None = None
    other_columns: tuple[str, ...] = ()

    def collect(self, query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """The rows of a query that gives few."""
        with explain_failures(self.source, is_text=self.from_text):
            return self.library.collect(query, from_text=self.from_text)

    def stream(self, query: nw.LazyFrame[Any]) -> Iterator[pl.DataFrame]:
        """The rows of a query that gives as many as there are: in their order, a batch at a time."""
        with explain_failures(self.source, is_text=self.from_text):
            yield from self.library.stream(query, from_text=self.from_text)


def open_rows(
    data: Any,
    column: str | Sequence[str] | None = None,
    engine: Engine | None = None,
    *,
    keep: bool | str = False,
    raw: Collection[str] = (),
    text: TextFormat = UNSAID,
) -> Rows:
    """The rows of a path, an array or any dataframe; ``column`` may be left out where there is only one.

    A list of columns makes rows of several values. An array then has as many columns, in that order. A path may be a
    file, a folder of files or a pattern such as ``parts/*.parquet``; ``engine`` reads it. Of the columns, those in
    ``raw`` (categories, dates) come along as they are. With ``keep``, all columns do, or the unit that it names.
    ``text`` is what was said of text files.
    """
    names: list[str | None] = list(column) if isinstance(column, list | tuple) else [column]  # type: ignore[list-item]
    named = len(names) > 0 and all(name is None or isinstance(name, str) for name in names)
    check(named, "column", "the name of a column, or a list of names", column)
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Column {name!r} is named twice. Name different columns.")
    wanted = Wanted(
        tuple(name for name in names if name not in raw), keep,
        tuple(name for name in names if name is not None and name in raw),
    )  # fmt: skip
    if isinstance(data, str | Path):
        return _open_files(Path(data), wanted, engine or Polars(), text)
    text.check_unsaid("with a dataframe or an array, which has numbers")
    if isinstance(data, np.ndarray | list | tuple):
        return _open_array(data, names, wanted)
    with explain_failures("The dataframe", is_text=False):
        frame = frame_of(data)
        every, library = frame.columns if isinstance(frame, nw.DataFrame) else [], library_of(frame)
        numbers = every if names == [None] and len(every) == 1 else wanted.numbers
        ready = library.prepare(frame, numbers, True if keep is True else wanted.kept)
        return _open_frame(ready.lazy(), wanted, "The dataframe", library)


@dataclass(frozen=True)
class Wanted:
    """The columns that are asked for: ``numbers``, those that come along ``raw``, and what to ``keep`` besides."""

    numbers: tuple[str | None, ...]
    keep: bool | str = False
    raw: tuple[str, ...] = ()

    @property
    def unit(self) -> str | None:
        """The column of units, if one is named."""
        return self.keep if isinstance(self.keep, str) else None

    @property
    def kept(self) -> tuple[str, ...]:
        """The named columns that come along as they are, the unit first."""
        return self.raw if self.unit is None else (self.unit, *self.raw)

    def find_numbers(self, names: list[str], source: str) -> tuple[str, ...]:
        """The columns of numbers among those that there are."""
        return tuple(find_column(name, names, source) for name in self.numbers)

    def find_fields(self, names: list[str], source: str) -> tuple[str, ...]:
        """The columns that come along, among those that there are."""
        found = tuple(find_column(name, names, source) for name in self.kept)
        return tuple(names) if self.keep is True else found


def _open_array(data: Any, names: list[str | None], wanted: Wanted) -> Rows:
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
    numbers = tuple(name or NAMELESS for name in wanted.numbers)
    return _open_frame(nw.from_native(frame), replace(wanted, numbers=numbers), "The array", Polars())


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


def _open_files(path: Path, wanted: Wanted, engine: Engine, said: TextFormat) -> Rows:
    with explain_failures(f"The file {str(path)!r}", is_text=True):
        files = find_files(path, said)
    with explain_failures(files.source, is_text=files.is_text):
        if not files.is_text:
            every, others = _parquet_columns(files, wanted)
            parquet: nw.LazyFrame[Any] = nw.from_native(engine.parquet(files, every)).lazy()
            return replace(_open_frame(parquet, wanted, files.source, engine, every), other_columns=others)
        header = header_of(files)
        columns, fields = wanted.find_numbers(header, files.source), wanted.find_fields(header, files.source)
        refuse_repeated(files, (*columns, *wanted.kept), header)
        text: nw.LazyFrame[Any] = nw.from_native(engine.text(files, columns, fields)).lazy()
        return Rows(
            text, columns, files.source, engine, fields, from_text=True, unit=wanted.unit, decimal=files.decimal,
            other_columns=_others(header, columns, fields),
        )  # fmt: skip


def _others(names: Collection[str], *taken: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that are not among those taken."""
    known = {name for each in taken for name in each}
    return tuple(name for name in names if name not in known)


def _parquet_columns(files: Files, wanted: Wanted) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to read, which must have the same types in all the files, and the others. Whether those are types of
    numbers is asked of the file: DuckDB takes lengths of time for whole numbers."""
    schemas = [pl.scan_parquet(path, glob=False).collect_schema() for path in files.paths]
    first = schemas[0]
    check_same(files.paths, [[repr(name) for name in schema] for schema in schemas])
    columns = wanted.find_numbers(list(first), files.source)
    read = {*columns, *wanted.find_fields(list(first), files.source)}
    every = tuple(name for name in first if name in read)
    check_same(files.paths, [[f"{c!r} of type {schema[c]}" for c in every] for schema in schemas])
    for column in every:
        check_digits(column, getattr(first[column], "precision", None))
    known = {c: pl.Float64() if first[c] == pl.Null else first[c] for c in every}  # as engines read what is missing
    types = nw.from_native(pl.LazyFrame(schema=known)).collect_schema()
    _check_types(types, columns, wanted)
    return every, _others(list(first), every)


def _check_types(types: Mapping[str, Any], columns: Sequence[str], wanted: Wanted) -> None:
    """Refuse columns of types that numbers, categories or units are not of."""
    for column in columns:
        check_type(column, types[column])
    for column in wanted.raw:
        check_raw_type(column, types[column])
    if wanted.unit is not None and not can_be_unit(types[wanted.unit]):
        raise not_a_unit(wanted.unit, types[wanted.unit])


def _open_frame(
    frame: nw.LazyFrame[Any], wanted: Wanted, source: str, library: Library, own_names: Sequence[str] | None = None
) -> Rows:
    """``own_names`` are the columns' own, where the engine may have changed some."""
    schema = frame.collect_schema()
    types = dict(zip(own_names or schema.names(), schema.dtypes(), strict=True))
    columns, fields = wanted.find_numbers(list(types), source), wanted.find_fields(list(types), source)
    for column in columns:
        check_type(column, types[column])
    for column in wanted.raw:
        check_raw_type(column, types[column])
        if isinstance(types[column], nw.Object) and isinstance(library, Polars):  # to which True and 1 are the same
            raise BadInput(f"Column {column!r} holds Python objects of any kind. Make them text or numbers first.")
    ours = column_numbers(columns, fields)
    frame = library.rename(frame, list(our_names(list(types), ours).values()))
    if wanted.unit is not None:
        frame = library.check_unit(frame, ours[wanted.unit], wanted.unit)
    values = [library.as_float(nw.col(f"{VALUE} {i}"), types[column]) for i, column in enumerate(columns)]
    extra = [library.force_scan(nw.col(ours[c]), types[c]).alias(f"{FIELD} {j}") for j, c in enumerate(fields)]
    others = _others(types, columns, fields)
    return Rows(frame.select(*values, *extra), columns, source, library, fields, unit=wanted.unit, other_columns=others)
