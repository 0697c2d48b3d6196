"""Rows of any dataframe or file to people per cell, in one pass and without holding the rows of a file.

One expression a column of numbers gives every row a code: the bin it falls in, or what is wrong with it. Categories and
dates are grouped as they are. The engine counts the rows of every combination; only the counts come back, and what a
category or a date means is decided here, once for every engine.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from equinoise.data.bad_values import refuse_bad_values, refuse_text
from equinoise.data.codes import ABOVE, BELOW, INFINITE, MISSING, TEXT
from equinoise.data.coverage import coverage_of
from equinoise.data.engines.failures import explain_failures
from equinoise.data.grid import AnyAxis, Axis, Grid, Ints
from equinoise.data.players import Players
from equinoise.data.rows import Rows
from equinoise.data.text_fields import FIELD, IS_TEXT, MISSING_MARKS, VALUE
from equinoise.errors import BadInput, NotPublicWarning
from equinoise.formatting import format_number


def find_bounds(rows: Rows, number: int = 0) -> tuple[float, float]:
    """The smallest and the largest finite value of a column: private facts, to be used with a warning."""
    column, value = rows.columns[number], nw.col(f"{VALUE} {number}").cast(nw.Float64)
    finite = rows.frame.filter(~value.is_null()).filter(value.is_finite())  # false for NaN, even in DuckDB
    ends = rows.collect(finite.select(value.min().alias("low"), value.max().alias("high"), nw.len().alias("rows")))
    if ends["rows"][0] == 0:
        refuse_text(rows, number)
        raise BadInput(f"{rows.source} has no numbers in column {column!r}.")
    low, high = float(ends["low"][0]) + 0.0, float(ends["high"][0]) + 0.0  # 0 may come as -0
    if low == high:
        refuse_text(rows, number)
        if ends["rows"][0] < 2:
            raise BadInput(f"Column {column!r} has one usable value, and at least two people are needed.")
        raise BadInput(
            f"Every value of column {column!r} is {format_number(low)}, as far as floating point can tell: there is no "
            "distribution to release."
        )
    warnings.warn(
        f"The bounds of column {column!r} were read off the data ({format_number(low)} and {format_number(high)}), so "
        "they are not private: the smallest and the largest value show in the grid. Give public bounds instead.",
        NotPublicWarning,
        stacklevel=5,
    )
    return low, high


def count_rows(rows: Rows, grid: Grid) -> Players:
    """People by cell, one for every row."""
    codes, times = count_codes(rows, grid.axes)
    return players_of_codes(grid, codes, times, rows.other_columns)


def players_of_codes(grid: Grid, codes: Ints, times: Ints, other_columns: Sequence[str] = ()) -> Players:
    """People by cell, from combinations of codes (combinations x axes) and how many rows have each."""
    cells = cells_of_codes(grid, codes)
    usable = cells >= 0
    occupied, place = np.unique(cells[usable], return_inverse=True)
    people = np.zeros(len(occupied), dtype=np.int64)
    np.add.at(people, place, times[usable])
    coverage = coverage_of(grid.axes, codes, times, usable, columns_left_out=tuple(other_columns))
    return replace(Players.in_cells(grid, occupied, people), coverage=coverage)


def count_codes(rows: Rows, axes: Sequence[AnyAxis]) -> tuple[Ints, Ints]:
    """Combinations of codes (combinations x axes), and how many rows have each; what is to be refused is.

    Several axes may be of one column, to count it on several grids in one pass. Grids over the same range have few
    combinations of bins, about as many as all have bins together, so it costs hardly more than the finest alone.
    """
    return count_groups(rows, axes)[1:]


def count_groups(rows: Rows, axes: Sequence[AnyAxis], **keys: nw.Expr) -> tuple[nw.DataFrame[Any], Ints, Ints]:
    """The keys of groups of rows that have the same keys and values, the codes (groups x axes), and how many rows."""
    named = [key.alias(name) for name, key in keys.items()]
    columns = [*code_columns(rows, axes), *named]
    with explain_failures(rows.source, is_text=rows.from_text):  # dataframes in memory are grouped at once
        query = rows.frame.select(*columns).group_by(*keys, *code_names(axes))
        counted = query.agg(nw.len().alias("times"))
    groups = rows.collect(counted)
    codes, times = read_codes(rows, axes, groups), groups["times"].to_numpy().astype(np.int64)
    refuse_bad_values(rows, axes, codes, times, groups)
    return groups, codes, times


def code_names(axes: Sequence[AnyAxis]) -> list[str]:
    """What the codes of the columns are called."""
    return [f"code {i}" for i in range(len(axes))]


def code_columns(rows: Rows, axes: Sequence[AnyAxis]) -> list[nw.Expr]:
    """The one expression an axis that all counting, and all that goes back to rows, is made of."""
    return [
        (_code(rows, axis) if _is_number(axis) else _raw_value(rows, axis)).alias(name)
        for axis, name in zip(axes, code_names(axes), strict=True)
    ]


def _raw_value(rows: Rows, axis: AnyAxis) -> nw.Expr:
    """A category as it is, or a date: of times of day there may be as many as rows, and they do not count."""
    field = f"{FIELD} {rows.fields.index(axis.name)}"
    is_moment = isinstance(axis, Axis) and isinstance(rows.frame.collect_schema()[field], nw.Datetime)
    return nw.col(field).cast(nw.Date) if is_moment else nw.col(field)


def _is_number(axis: AnyAxis) -> bool:
    """Whether the engine works out the codes of an axis."""
    return isinstance(axis, Axis) and axis.day_zero is None


def read_codes(rows: Rows, axes: Sequence[AnyAxis], frame: Any) -> Ints:
    """The codes (rows of the frame x axes), as they come from any engine.

    A bin outside the bounds comes of a Parquet file whose own smallest and largest value are wrong: DuckDB believes
    them, and does not ask whether values are within the bounds.
    """
    codes = np.empty((len(frame), len(axes)), dtype=np.int64)
    for i, (axis, name) in enumerate(zip(axes, code_names(axes), strict=True)):
        if not _is_number(axis):
            codes[:, i] = _codes_of_values(axis, frame[name].to_list())
            continue
        assert isinstance(axis, Axis)
        column = np.asarray(frame[name].to_numpy(), dtype=np.float64)
        column = np.where(np.isnan(column), MISSING, column)
        inside = (axis.cell_of(axis.low) <= column) & (column <= _highest_bin(axis))
        if not (inside | ((column < 0) & (column >= TEXT))).all():
            raise BadInput(
                f"{rows.source} says of column {axis.name!r} that all its values are within the bounds, and they are "
                "not: its statistics are wrong. Write it again, or use --engine polars (in Python, engine='polars')."
            )
        codes[:, i] = np.minimum(column, axis.cell_of(axis.high))
    return codes


def _codes_of_values(axis: AnyAxis, values: list[Any]) -> Ints:
    """The codes of categories or dates. Some words mean that there is none, unless one is a category."""
    known: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values):
        key = (isinstance(value, bool), value)  # True would be taken for 1
        code = known.get(key)
        if code is None:
            code = axis.code_of(value)
            if code < 0 and isinstance(value, str) and value.strip().lower() in MISSING_MARKS:
                code = MISSING
            known[key] = code
        codes[i] = code
    return codes


def cells_of_codes(grid: Grid, codes: Ints) -> Ints:
    """The cell of every combination of codes: values outside are moved to the nearer bound, and those without a value
    are in the bin for them, if there is one. -1 where a row is dropped."""
    bins = codes.copy()
    for i, axis in enumerate(grid.axes):
        if isinstance(axis, Axis):
            bins[codes[:, i] == BELOW, i] = axis.cell_of(axis.low)
            bins[codes[:, i] == ABOVE, i] = axis.cell_of(axis.high)
        if axis.missing == "category":
            bins[np.isin(codes[:, i], [MISSING, INFINITE]), i] = axis.bins - 1
    usable = (bins >= 0).all(axis=1)
    cells = np.full(len(bins), -1, dtype=np.int64)
    cells[usable] = grid.cells_of(bins[usable])
    return cells


def _code(rows: Rows, axis: AnyAxis) -> nw.Expr:
    """The bin of a row's value, or what is wrong with it.

    Nearly every value is within the bounds, so that is asked first: engines that look at the branches one after the
    other then ask nothing else. It is false or unknown for what is missing or infinite, whatever the engine thinks of
    comparing NaN, unless DuckDB believes a Parquet file's smallest and largest value, which do not tell of NaN: then
    the code itself is NaN (see :func:`read_codes`). For the same reason nobody is asked whether a value is NaN.
    """
    assert isinstance(axis, Axis)
    number = rows.columns.index(axis.name)
    value = nw.col(f"{VALUE} {number}").cast(nw.Float64)
    infinite, below = (value == math.inf) | (value == -math.inf), value < axis.low
    code = _choice(
        (value >= axis.low) & (value <= axis.high),
        _bin(value, axis),
        _choice(
            value.is_null(),
            MISSING,
            _choice(~value.is_finite(), _choice(infinite, INFINITE, MISSING), _choice(below, BELOW, ABOVE)),
        ),
    )
    return _choice(nw.col(f"{IS_TEXT} {number}"), TEXT, code) if rows.from_text else code


def _choice(condition: nw.Expr, then: nw.Expr | int, otherwise: nw.Expr | int) -> nw.Expr:
    """One of two values, codes as floats."""
    a, b = (nw.lit(float(value)) if isinstance(value, int) else value for value in (then, otherwise))
    return nw.when(condition).then(a).otherwise(b)


def _bin(value: nw.Expr, axis: Axis) -> nw.Expr:
    """The bin of a value within the bounds, as :meth:`Axis.cell_of` has it, but for the upper bound's own.

    Rounding keeps the order of numbers, so no such value comes out below 0 or above what the upper bound comes out at;
    where that is past the last bin (there is no padding), :func:`read_codes` holds the end: for an engine it is work on
    every row. A step's number is whole, so half of one keeps what it is divided by from deciding between two bins,
    however an engine rounds.
    """
    if axis.step is not None:
        step = ((value - axis.low) * (1 / axis.step) + 0.5).floor()
        if axis.number_bins == axis.steps:
            return step
        return ((step * float(axis.number_bins) + 0.5) * (1 / axis.steps)).floor()
    return ((value - axis.padded_low) * axis.per_width).floor()


def _highest_bin(axis: Axis) -> int:
    """What the upper bound comes out at in :func:`_bin`."""
    return (
        axis.cell_of(axis.high) if axis.step is not None else math.floor((axis.high - axis.padded_low) * axis.per_width)
    )
