"""One column of a frame: found by its name, refused unless it holds numbers, as the nearest floats in every engine."""

from __future__ import annotations

import difflib
from typing import Any

import narwhals as nw

from equinoise.errors import BadInput

TEXT_ROUTE = {nw.Decimal, nw.Int128, nw.UInt128}
MOST_DIGITS = 38
ARROW_INTEGERS = {nw.Int64, nw.UInt64}


def find_column(column: str | None, names: list[str], source: str) -> str:
    """The column that is meant, among those there are; it may be left out where there is only one."""
    if column is None:
        if len(names) == 1:
            return names[0]
        raise BadInput(
            f"{source} has {len(names)} columns: name one with --column (in Python, column=). It has {_listed(names)}."
        )
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
    if not names:
        return "none"
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def check_type(column: str, dtype: Any) -> None:
    """Refuse what is no column of numbers, and say what it is."""
    if dtype.is_numeric():
        return
    what = {"String": "text", "Boolean": "yes/no values", "Date": "dates", "Datetime": "dates"}
    kind = what.get(type(dtype).__name__, f"values of type {dtype}")
    raise no_numbers(column, kind)


def can_name(dtype: Any) -> bool:
    """Whether a column of this type may say whose each row is."""
    plain = isinstance(dtype, nw.String | nw.Categorical | nw.Enum | nw.Object)
    return bool(plain or dtype.is_integer() or dtype.is_float())


def no_name(column: str, held: Any) -> BadInput:
    """One sentence for what cannot say whose each row is."""
    return BadInput(f"Column {column!r} cannot be the unit: it holds {held}. Name one of whole numbers or text.")


def check_digits(column: str, digits: int | None) -> None:
    """Refuse decimals that are too long: polars cannot read them, and DuckDB reads them as something else."""
    if digits is not None and digits > MOST_DIGITS:
        raise BadInput(
            f"Column {column!r} holds decimals of {digits} digits, and at most {MOST_DIGITS} can be read. Convert it "
            "to floats or shorter decimals first."
        )


def no_numbers(column: str, kind: str) -> BadInput:
    """One sentence for what is no column of numbers."""
    return BadInput(f"Column {column!r} holds {kind}, not numbers. Convert it to numbers first.")


def as_float(value: nw.Expr, dtype: Any, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """The column as the nearest floats, whichever engine it is in.

    Arrow's own cast misses the nearest float of a decimal and refuses integers above 2^53, DuckDB's misses it for the
    widest integers; by way of text, all agree.
    """
    in_arrow = frame.implementation in {nw.Implementation.PYARROW, nw.Implementation.PANDAS}
    if type(dtype) in TEXT_ROUTE or (in_arrow and type(dtype) in ARROW_INTEGERS):
        value = value.cast(nw.String)
    return value.cast(nw.Float64)


def seen(value: nw.Expr, dtype: Any, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """A column, each value of which is looked at. DuckDB believes a Parquet file's smallest and largest value, which do
    not tell of NaN, and would answer from them alone; it believes nothing about what comes out of a choice. (That takes
    time. What is counted goes without: NaN shows in what comes out, see :func:`equinoise.data.counting.read_codes`.)"""
    if not (frame.implementation.is_duckdb() and dtype.is_float()):
        return value
    return nw.when(~value.is_null()).then(value)
