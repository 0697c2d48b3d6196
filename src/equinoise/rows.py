"""Opening a file, an array or any dataframe: the named columns as numbers, lazily, with what is wrong still visible."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.exceptions import NarwhalsError

from equinoise.errors import BadInput, check

VALUE, IS_TEXT, RAW = "equinoise value", "equinoise is text", "equinoise raw"
MISSING_MARKS = ["", "na", "n/a", "nan", "null", "none"]
ENGINE_ERRORS = (pl.exceptions.PolarsError, NarwhalsError, OSError)
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(frozen=True)
class Rows:
    """A frame whose columns are to be counted; number i of them is called ``VALUE i`` there.

    For a text file, ``IS_TEXT i`` marks the rows that hold no number and ``RAW i`` is what they hold. The names are
    our own because engines take some names (``*``, ``^a.*$``) for patterns.
    """

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    source: str
    from_text: bool = False

    @property
    def column(self) -> str:
        """The only column."""
        (column,) = self.columns
        return column


def open_rows(data: Any, column: str | Sequence[str] | None = None) -> Rows:
    """The rows of a path, an array or any dataframe; ``column`` may be left out where there is only one.

    A list of columns makes rows of several numbers. An array then has as many columns, in that order.
    """
    names = _wanted(column)
    if isinstance(data, str | Path):
        return _open_file(Path(data), names)
    if isinstance(data, np.ndarray | list | tuple):
        return _open_array(data, names)
    try:
        frame = nw.from_native(data, allow_series=True)
    except TypeError:
        raise BadInput(f"Data must be a path, an array or a dataframe. Got {type(data).__name__} instead.") from None
    return _rows(frame.to_frame().lazy() if isinstance(frame, nw.Series) else frame.lazy(), names, "The dataframe")


def _wanted(column: str | Sequence[str] | None) -> list[str | None]:
    names: list[str | None] = [column] if column is None or isinstance(column, str) else list(column)
    check(len(names) > 0, "column", "the name of at least one column", column)
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"Column {name!r} is named twice. Name different columns.")
    return names


def _open_array(data: Any, names: list[str | None]) -> Rows:
    try:
        array = np.asarray(data)
    except ValueError:
        array = np.empty((0, 0, 0))
    if len(names) == 1 and array.ndim != 1:
        raise BadInput("An array must have one dimension: one number per person.")
    if len(names) > 1 and (array.ndim != 2 or array.shape[1] != len(names)):
        raise BadInput(
            f"An array for {len(names)} columns must be a table with one row per person and {len(names)} columns. "
            f"This one has the shape {array.shape}."
        )
    if array.dtype.kind not in "iuf":
        raise BadInput(f"An array must hold numbers. This one holds {array.dtype}.")
    table = array.reshape(len(array), len(names))
    frame = pl.LazyFrame({f"{VALUE} {i}": np.ascontiguousarray(table[:, i]) for i in range(len(names))})
    return Rows(nw.from_native(frame), tuple(name or "value" for name in names), "The array")


def _rows(frame: nw.LazyFrame[Any], names: list[str | None], source: str) -> Rows:
    schema = frame.collect_schema()
    columns = tuple(_find_column(name, schema.names(), source) for name in names)
    for column in columns:
        _check_type(column, schema[column])
    return Rows(frame.rename({c: f"{VALUE} {i}" for i, c in enumerate(columns)}), columns, source)


def _open_file(path: Path, names: list[str | None]) -> Rows:
    source = f"The file {str(path)!r}"
    try:
        if not path.exists():
            raise BadInput(f"There is no file {str(path)!r}.")
        if path.is_dir():
            raise BadInput(f"{str(path)!r} is a folder. Name one CSV, TSV or Parquet file.")
        if not path.is_file():
            raise BadInput(f"{str(path)!r} is not an ordinary file. Save the rows to a file first.")
        if path.stat().st_size == 0:
            raise BadInput(f"{source} is empty.")
        suffix = path.suffix.lower()
        if suffix in SEPARATORS:
            return _open_text(path, names, SEPARATORS[suffix], source)
        if suffix in {".parquet", ".pq"}:
            return _rows(nw.from_native(pl.scan_parquet(path, glob=False)), names, source)
    except ENGINE_ERRORS as error:
        raise _unreadable(source, error) from None
    raise BadInput(f"{str(path)!r} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")


def _open_text(path: Path, wanted: list[str | None], separator: str, source: str) -> Rows:
    """Read every field as text and turn the columns' into numbers here, so that no guess about types can
    depend on the first rows, and what is not a number is counted rather than fatal."""
    text = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)
    names = text.collect_schema().names()
    if any("\0" in name or "\ufffd" in name for name in names):
        raise BadInput(f"{source} is not UTF-8 text. Save it as UTF-8 and try again.")
    columns = tuple(_find_column(name, names, source) for name in wanted)
    fields = []
    for i in range(len(columns)):
        raw = pl.col(f"{VALUE} {i}").str.strip_chars()
        missing = raw.is_null() | raw.str.to_lowercase().is_in(MISSING_MARKS)
        number = pl.when(missing).then(None).otherwise(raw).cast(pl.Float64, strict=False)
        is_text = (~missing & number.is_null()).alias(f"{IS_TEXT} {i}")
        fields += [number.alias(f"{VALUE} {i}"), is_text, raw.alias(f"{RAW} {i}")]
    frame = text.rename({c: f"{VALUE} {i}" for i, c in enumerate(columns)}).select(fields)
    return Rows(nw.from_native(frame), columns, source, from_text=True)


def _unreadable(source: str, error: Exception) -> BadInput:
    """One sentence for what an engine said about the rows."""
    said = str(error).strip() or type(error).__name__
    if "utf8" in said.lower() or "utf-8" in said.lower():
        return BadInput(f"{source} is not UTF-8 text. Save it as UTF-8 and try again.")
    if "more fields than" in said:
        return BadInput(
            f"{source} has rows with more fields than its header. Quote values that contain the separator, or remove "
            "the extra fields."
        )
    return BadInput(f"{source} could not be read: {said.splitlines()[0][:120]}")


def _find_column(column: str | None, names: list[str], source: str) -> str:
    if column is None:
        if len(names) == 1:
            return names[0]
        raise BadInput(f"{source} has {len(names)} columns: name one of {_listed(names)}.")
    if column in names:
        return column
    separator = next((mark for mark in ";\t|," if len(names) == 1 and mark in names[0]), None)
    if separator is not None:
        raise BadInput(
            f"{source} seems to be separated by {separator!r}. Separate the fields of a .csv file by commas and "
            "those of a .tsv file by tabs."
        )
    lowered = {name.lower(): name for name in names}
    near = [lowered[n] for n in difflib.get_close_matches(column.lower(), lowered, n=3, cutoff=0.5)]
    hint = f"Did you mean {_listed(near)}?" if near else f"It has {_listed(names)}."
    raise BadInput(f"{source} has no column {column!r}. {hint}")


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _check_type(column: str, dtype: Any) -> None:
    if dtype.is_numeric():
        return
    what = {"String": "text", "Boolean": "yes/no values", "Date": "dates", "Datetime": "dates"}
    kind = what.get(type(dtype).__name__, f"values of type {dtype}")
    raise BadInput(f"Column {column!r} holds {kind}, not numbers. Convert it to numbers first.")


def collect(rows: Rows, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a query on the rows; what an engine complains about becomes one sentence."""
    try:
        if isinstance(frame.to_native(), pl.LazyFrame):
            # Leaving columns of a text file out would also leave out the check that no row has too many fields.
            how = pl.QueryOptFlags(projection_pushdown=not rows.from_text)
            return frame.collect(backend="polars", engine="streaming", optimizations=how)
        return frame.collect()
    except ENGINE_ERRORS as error:
        raise _unreadable(rows.source, error) from None
