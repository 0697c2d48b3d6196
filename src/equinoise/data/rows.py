"""Opening files, an array or any dataframe: the named columns as numbers, lazily, with what is wrong still visible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.data.columns import as_float, can_name, check_digits, check_type, find_column, no_name, seen
from equinoise.data.engines import ENGINES, Engine
from equinoise.data.engines.polars import Polars
from equinoise.data.frames import NAMELESS, as_array, as_frame, named_frame
from equinoise.data.paths import Files, check_same, find_files
from equinoise.data.text_fields import (
    FIELD,
    IS_TEXT,
    RAW,
    VALUE,
    header_of,
    in_batches,
    refuse_repeated,
    renaming,
    unreadable,
)
from equinoise.errors import BadInput, EquinoiseError, check

__all__ = ["FIELD", "IS_TEXT", "RAW", "VALUE", "Rows", "collect", "open_rows", "renamed", "stream"]

ROWS_TOGETHER = 2**17


@dataclass(frozen=True)
class Rows:
    """A frame whose columns are to be counted; number i of them is called ``VALUE i`` there.

    For a text file, ``IS_TEXT i`` marks the rows that hold no number and ``RAW i`` is what they hold. The names are
    our own because engines take some names (``*``, ``^a.*$``) for patterns. ``kept`` are the names of columns that were
    asked for besides; number j of them comes along, as it is, as ``FIELD j``.
    """

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    source: str
    from_text: bool = False
    kept: tuple[str, ...] = ()


def open_rows(
    data: Any, column: str | Sequence[str] | None = None, engine: Engine | None = None, *, keep: bool | str = False
) -> Rows:
    """The rows of a path, an array or any dataframe; ``column`` may be left out where there is only one.

    A list of columns makes rows of several numbers. An array then has as many columns, in that order. A path may be a
    file, a folder of files or a pattern such as ``parts/*.parquet``; ``engine`` reads it. With ``keep``, all columns
    come along as they are, or the one that it names.
    """
    names = _wanted(column)
    if isinstance(data, str | Path):
        return _open_files(Path(data), names, engine or Polars(), keep)
    if isinstance(data, np.ndarray | list | tuple):
        return _open_array(data, names, keep)
    source = "The dataframe"
    try:
        return _rows(as_frame(data, names, keep).lazy(), names, source, keep)
    except EquinoiseError:
        raise
    except Exception as error:
        raise unreadable(source, error, is_text=False) from None


def _wanted(column: str | Sequence[str] | None) -> list[str | None]:
    names: list[str | None] = list(column) if isinstance(column, list | tuple) else [column]  # type: ignore[list-item]
    named = len(names) > 0 and all(name is None or isinstance(name, str) for name in names)
    check(named, "column", "the name of a column, or a list of names", column)
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Column {name!r} is named twice. Name different columns.")
    return names


def _kept(keep: bool | str, names: list[str], source: str) -> tuple[str, ...]:
    if isinstance(keep, str):
        return (find_column(keep, names, source),)
    return tuple(names) if keep else ()


def column_names(data: Any) -> list[str]:
    """The names of all columns, if they have any."""
    if isinstance(data, str | Path):
        files = find_files(Path(data))
        return header_of(files) if files.is_text else list(pl.scan_parquet(files.paths[0], glob=False).collect_schema())
    if isinstance(data, np.ndarray | list | tuple):
        return []
    return list(named_frame(data).collect_schema().names())


def _open_array(data: Any, names: list[str | None], keep: bool | str) -> Rows:
    array = as_array(data)
    if len(names) == 1 and array.ndim != 1:
        raise BadInput("An array must have one dimension: one number per person.")
    if len(names) > 1 and (array.ndim != 2 or array.shape[1] != len(names)):
        raise BadInput(
            f"An array for {len(names)} columns must be a table with one row per person and {len(names)} columns. "
            f"This one has the shape {array.shape}."
        )
    table = array.reshape(len(array), len(names))
    columns = tuple(name or NAMELESS for name in names)
    frame = pl.LazyFrame({name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(columns)})
    return _rows(nw.from_native(frame), list(columns), "The array", keep)


def _rows(
    frame: nw.LazyFrame[Any], names: Sequence[str | None], source: str, keep: bool | str,
    called: Sequence[str] | None = None,
) -> Rows:  # fmt: skip
    """``called`` are the columns' own names, where the engine may have changed some."""
    found = frame.collect_schema()
    schema = found if called is None else dict(zip(called, found.dtypes(), strict=True))
    columns = tuple(find_column(name, list(schema), source) for name in names)
    for column in columns:
        check_type(column, schema[column])
    kept = _kept(keep, list(schema), source)
    new = {name: f"{FIELD} {j}" for j, name in enumerate(kept)} | {c: f"{VALUE} {i}" for i, c in enumerate(columns)}
    places = {there: new[name] for there, name in zip(found.names(), schema, strict=True) if name in new}
    own = renamed(frame, found.names(), places)
    if isinstance(keep, str) and frame.implementation.is_dask():
        with_names = import_module("equinoise.data.engines.dask").with_names_alike(own.to_native(), new[keep], keep)
        own = nw.from_native(with_names).lazy()
    exact = [as_float(nw.col(f"{VALUE} {i}"), schema[column], frame) for i, column in enumerate(columns)]
    fields = [seen(nw.col(new[name]), schema[name], frame).alias(f"{FIELD} {j}") for j, name in enumerate(kept)]
    return Rows(own.select(*exact, *fields), columns, source, kept=kept)


def renamed(frame: nw.LazyFrame[Any], names: list[str], new: dict[str, str]) -> nw.LazyFrame[Any]:
    """Our own names. To Spark, ``a.b`` is the field b of a column a, so there they are given by place; to DuckDB,
    ``*`` is all columns unless it is quoted."""
    if frame.implementation.is_duckdb():
        quoted = ((name.replace('"', '""'), new.get(name, f"other {i}")) for i, name in enumerate(names))
        relation = frame.to_native().project(", ".join(f'"{old}" AS "{ours}"' for old, ours in quoted))
        there: nw.LazyFrame[Any] = nw.from_native(relation)
        return there
    if not frame.implementation.is_spark_like():
        return frame.rename(dict(renaming(names, new)))
    by_place = (new.get(name, f"other {i}") for i, name in enumerate(names))
    found: nw.LazyFrame[Any] = nw.from_native(frame.to_native().toDF(*by_place))
    return found


def _open_files(path: Path, names: list[str | None], engine: Engine, keep: bool | str) -> Rows:
    source, is_text = f"The file {str(path)!r}", True
    try:
        files = find_files(path)
        source, is_text = files.source, files.is_text
        if files.is_text:
            header = header_of(files)
            columns = tuple(find_column(name, header, source) for name in names)
            kept = _kept(keep, header, source)
            refuse_repeated(files, columns if keep is True else (*columns, *kept), header)
            frame = nw.from_native(engine.text(files, columns, kept)).lazy()
            return Rows(frame, columns, source, True, kept)
        columns, every = _parquet_columns(files, names, keep)
        there: nw.LazyFrame[Any] = nw.from_native(engine.parquet(files, every)).lazy()
        return _rows(there, columns, source, keep, every if there.implementation.is_duckdb() else None)
    except EquinoiseError:
        raise
    except Exception as error:  # engines have classes of their own for what they cannot read
        raise _said_by_engine(source, error, is_text=is_text) from None


def _parquet_columns(
    files: Files, names: list[str | None], keep: bool | str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to count and those to read, which must have the same types in all the files. Whether those are types
    of numbers is asked of the file: DuckDB takes lengths of time for whole numbers."""
    schemas = [pl.scan_parquet(path, glob=False).collect_schema() for path in files.paths]
    check_same(files.paths, [[repr(name) for name in schema] for schema in schemas])
    columns = tuple(find_column(name, list(schemas[0]), files.source) for name in names)
    wanted = {*columns, *_kept(keep, list(schemas[0]), files.source)}
    read = tuple(name for name in schemas[0] if name in wanted)  # in their own order, which the engine's frame has too
    check_same(files.paths, [[f"{c!r} of type {schema[c]}" for c in read] for schema in schemas])
    for column in read:
        check_digits(column, getattr(schemas[0][column], "precision", None))
    types = nw.from_native(pl.LazyFrame(schema={c: schemas[0][c] for c in read})).collect_schema()
    for column in columns:
        check_type(column, types[column])
    if isinstance(keep, str) and not can_name(types[keep]):
        raise no_name(keep, types[keep])
    return columns, read


def collect(rows: Rows, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a query on the rows; what an engine complains about becomes one sentence."""
    native = frame.to_native()
    try:
        if isinstance(native, pl.LazyFrame):
            if rows.from_text:
                return nw.from_native(in_batches(native))
            return frame.collect(backend="polars", engine="streaming")
        return frame.collect()
    except (EquinoiseError, MemoryError):
        raise
    except Exception as error:  # engines have classes of their own for what they cannot do
        raise _said_by_engine(rows.source, error, is_text=rows.from_text) from None


def stream(rows: Rows, frame: nw.LazyFrame[Any]) -> Iterator[pl.DataFrame]:
    """The rows of a query that gives as many as there are: in their order, a batch at a time."""
    kind = frame.implementation
    name = "spark" if kind.is_spark_like() else kind.value
    try:
        if name in ENGINES:
            module = import_module(f"equinoise.data.engines.{name}")
            yield from module.stream(frame.to_native(), from_text=rows.from_text)
        else:  # in memory already
            yield from frame.collect().to_polars().iter_slices(ROWS_TOGETHER)
    except (EquinoiseError, MemoryError):
        raise
    except Exception as error:
        raise _said_by_engine(rows.source, error, is_text=rows.from_text) from None


def _said_by_engine(source: str, error: Exception, *, is_text: bool) -> BadInput:
    if re.search(r"KeyboardInterrupt|Query interrupted|INTERRUPT Error", str(error)):  # DuckDB makes an error of Ctrl-C
        raise KeyboardInterrupt from None
    said = re.search(r"BadInput: (.+)", str(error))  # ours, quoted by an engine in another language
    if said is not None:
        return BadInput(said[1].strip())
    if "No module named 'equinoise'" in str(error):
        return BadInput(
            "The engine's workers read text files with Equinoise, and do not have it: install it there too, in the "
            "same version."
        )
    return unreadable(source, error, is_text=is_text)
