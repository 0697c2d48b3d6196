"""Rows of any dataframe or file to a histogram, in one pass and without holding the rows of a file.

One expression gives every row a code: the cell it falls in, or what is wrong with it. The engine counts the
codes; only the counts come back.
"""

from __future__ import annotations

import difflib
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.exceptions import NarwhalsError

from equinoise.errors import BadInput, NotPublicWarning, check, shown
from equinoise.grid import Axis, Grid, Histogram

VALUE, IS_TEXT, RAW = "equinoise value", "equinoise is text", "equinoise raw"
MISSING, INFINITE, BELOW, ABOVE, TEXT = -1, -2, -3, -4, -5
MISSING_MARKS = ["", "na", "n/a", "nan", "null", "none"]
ENGINE_ERRORS = (pl.exceptions.PolarsError, NarwhalsError, OSError)
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(frozen=True)
class Rows:
    """A frame whose column ``VALUE`` is to be counted.

    For a text file, ``IS_TEXT`` marks the rows that hold no number and ``RAW`` is what they hold. The names are
    our own because engines take some names (``*``, ``^a.*$``) for patterns.
    """

    frame: nw.LazyFrame[Any]
    column: str
    source: str
    from_text: bool = False


def open_rows(data: Any, column: str | None = None) -> Rows:
    """The rows of a path, an array or any dataframe; ``column`` may be left out where there is only one."""
    if isinstance(data, str | Path):
        return _open_file(Path(data), column)
    if isinstance(data, np.ndarray | list | tuple):
        try:
            array = np.asarray(data)
        except ValueError:
            array = np.empty((0, 0))
        if array.ndim != 1:
            raise BadInput("An array must have one dimension: one number per person.")
        if array.dtype.kind not in "iuf":
            raise BadInput(f"An array must hold numbers. This one holds {array.dtype}.")
        column = column or "value"
        return Rows(nw.from_native(pl.LazyFrame({VALUE: array})), column, "The array")
    try:
        frame = nw.from_native(data, allow_series=True)
    except TypeError:
        raise BadInput(f"Data must be a path, an array or a dataframe. Got {type(data).__name__} instead.") from None
    return _rows(frame.to_frame().lazy() if isinstance(frame, nw.Series) else frame.lazy(), column, "The dataframe")


def _rows(frame: nw.LazyFrame[Any], column: str | None, source: str) -> Rows:
    schema = frame.collect_schema()
    column = _find_column(column, schema.names(), source)
    _check_type(column, schema[column])
    return Rows(frame.rename({column: VALUE}), column, source)


def _open_file(path: Path, column: str | None) -> Rows:
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
            return _open_text(path, column, SEPARATORS[suffix], source)
        if suffix in {".parquet", ".pq"}:
            return _rows(nw.from_native(pl.scan_parquet(path, glob=False)), column, source)
    except ENGINE_ERRORS as error:
        raise _unreadable(source, error) from None
    raise BadInput(f"{str(path)!r} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")


def _open_text(path: Path, column: str | None, separator: str, source: str) -> Rows:
    """Read every field as text and turn the column's into numbers here, so that no guess about types can
    depend on the first rows, and what is not a number is counted rather than fatal."""
    text = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)
    names = text.collect_schema().names()
    if any("\0" in name or "\ufffd" in name for name in names):
        raise BadInput(f"{source} is not UTF-8 text. Save it as UTF-8 and try again.")
    column = _find_column(column, names, source)
    raw = pl.col(VALUE).str.strip_chars()
    missing = raw.is_null() | raw.str.to_lowercase().is_in(MISSING_MARKS)
    number = pl.when(missing).then(None).otherwise(raw).cast(pl.Float64, strict=False)
    frame = text.rename({column: VALUE}).select(
        number.alias(VALUE), (~missing & number.is_null()).alias(IS_TEXT), raw.alias(RAW)
    )
    return Rows(nw.from_native(frame), column, source, from_text=True)


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


def find_bounds(rows: Rows) -> tuple[float, float]:
    """The smallest and the largest finite value: private facts, to be used with a warning."""
    value = nw.col(VALUE).cast(nw.Float64)
    finite = rows.frame.filter(~value.is_null()).filter(value.is_finite())
    found = _collect(rows, finite.select(value.min().alias("low"), value.max().alias("high"), nw.len().alias("rows")))
    low, high = found["low"][0], found["high"][0]
    if low is None or high is None or math.isnan(low):
        _refuse_text(rows)
        raise BadInput(f"{rows.source} has no numbers in column {rows.column!r}.")
    if low == high:
        _refuse_text(rows)
        if found["rows"][0] < 2:
            raise BadInput(f"Column {rows.column!r} has one usable value, and at least two people are needed.")
        raise BadInput(
            f"Every value of column {rows.column!r} is {shown(low)}, as far as floating point can tell: there is no "
            "distribution to release."
        )
    warnings.warn(
        f"The bounds of column {rows.column!r} were read off the data ({shown(low)} and {shown(high)}), so they are "
        "not private: the smallest and the largest value show in the grid. Give public bounds instead.",
        NotPublicWarning,
        stacklevel=4,
    )
    return float(low), float(high)


def count(rows: Rows, axis: Axis, *, missing: str = "refuse", outside: str = "refuse") -> Histogram:
    """People per cell. ``missing`` (also for infinite values) and ``outside`` say what to do with the others:
    ``refuse`` them all, ``drop`` the missing, ``clip`` those outside the bounds to the nearer bound."""
    check(missing in {"refuse", "drop"}, "missing", "'refuse' or 'drop'", missing)
    check(outside in {"refuse", "clip"}, "outside", "'refuse' or 'clip'", outside)
    value = nw.col(VALUE).cast(nw.Float64)
    cell = ((value - axis.padded_low) * axis.per_width).floor().clip(0, axis.bins - 1)
    code = (
        nw.when(value.is_null() | value.is_nan())
        .then(nw.lit(float(MISSING)))
        .otherwise(
            nw.when(~value.is_finite())
            .then(nw.lit(float(INFINITE)))
            .otherwise(
                nw.when(value < axis.low)
                .then(nw.lit(float(BELOW)))
                .otherwise(nw.when(value > axis.high).then(nw.lit(float(ABOVE))).otherwise(cell))
            )
        )
    )
    if rows.from_text:
        code = nw.when(nw.col(IS_TEXT)).then(nw.lit(float(TEXT))).otherwise(code)
    counted = _collect(rows, rows.frame.select(code.alias("code")).group_by("code").agg(nw.len().alias("people")))
    found = {int(c): int(n) for c, n in zip(counted["code"], counted["people"], strict=True)}
    if found.get(TEXT):
        _refuse_text(rows)
    lost = found.get(MISSING, 0) + found.get(INFINITE, 0)
    if lost and missing == "refuse":
        raise BadInput(
            f"Column {rows.column!r} has {_many(found.get(MISSING, 0), 'missing ')} and "
            f"{_many(found.get(INFINITE, 0), 'infinite ')}. Leave those rows out with --missing drop "
            "(in Python, missing='drop'), or fill them in."
        )
    below, above = found.get(BELOW, 0), found.get(ABOVE, 0)
    if (below or above) and outside == "refuse":
        raise BadInput(
            f"Column {rows.column!r} has {_many(below)} below {shown(axis.low)} and {_many(above)} above "
            f"{shown(axis.high)}. Widen the bounds, or move those values to the nearer bound "
            "with --outside clip (in Python, outside='clip')."
        )
    counts = np.zeros(axis.bins, dtype=np.int64)
    for c, n in found.items():
        if c >= 0:
            counts[c] += n
    counts[axis.cell_of(axis.low)] += below
    counts[axis.cell_of(axis.high)] += above
    return Histogram(Grid((axis,)), counts)


def _many(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}value{'' if n == 1 else 's'}"


def _collect(rows: Rows, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    try:
        if isinstance(frame.to_native(), pl.LazyFrame):
            # Leaving columns of a text file out would also leave out the check that no row has too many fields.
            how = pl.QueryOptFlags(projection_pushdown=not rows.from_text)
            return frame.collect(backend="polars", engine="streaming", optimizations=how)
        return frame.collect()
    except ENGINE_ERRORS as error:
        raise _unreadable(rows.source, error) from None


def _refuse_text(rows: Rows) -> None:
    """Say how many rows hold text instead of a number, with one of them, if there are any."""
    if not rows.from_text:
        return
    text = rows.frame.filter(nw.col(IS_TEXT)).select(nw.col(RAW).min().alias("example"), nw.len().alias("rows"))
    found = _collect(rows, text)
    if found["rows"][0]:
        raise BadInput(
            f"Column {rows.column!r} holds text or dates, not numbers, in {found['rows'][0]:,} "
            f"row{'' if found['rows'][0] == 1 else 's'}, such as {str(found['example'][0])[:40]!r}. "
            "Convert or remove them first."
        )
