"""Rows of any dataframe or file to a histogram, in one pass and without holding the rows of a file.

One expression a column gives every row a code: the bin it falls in, or what is wrong with it. The engine counts the
rows of every combination of codes; only the counts come back.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from equinoise.data.grid import Axis, Grid, Histogram, Ints
from equinoise.data.players import Players
from equinoise.data.rows import IS_TEXT, RAW, VALUE, Rows, collect, open_rows
from equinoise.errors import BadInput, NotPublicWarning
from equinoise.formatting import format_number
from equinoise.settings import check_settings

__all__ = ["Rows", "count", "count_codes", "count_jointly", "find_bounds", "open_rows"]

MISSING, INFINITE, BELOW, ABOVE, TEXT = -1, -2, -3, -4, -5


def find_bounds(rows: Rows, number: int = 0) -> tuple[float, float]:
    """The smallest and the largest finite value of a column: private facts, to be used with a warning."""
    column, value = rows.columns[number], nw.col(f"{VALUE} {number}").cast(nw.Float64)
    finite = rows.frame.filter(~value.is_null()).filter(value.is_finite())  # false for NaN, even in DuckDB
    found = collect(rows, finite.select(value.min().alias("low"), value.max().alias("high"), nw.len().alias("rows")))
    if found["rows"][0] == 0:
        _refuse_text(rows, number)
        raise BadInput(f"{rows.source} has no numbers in column {column!r}.")
    low, high = float(found["low"][0]) + 0.0, float(found["high"][0]) + 0.0  # 0 may come as -0
    if low == high:
        _refuse_text(rows, number)
        if found["rows"][0] < 2:
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


def count(rows: Rows, axis: Axis, *, missing: str = "refuse", outside: str = "refuse") -> Histogram:
    """People per cell of one column; see :func:`count_jointly`."""
    return count_jointly(rows, (axis,), missing=missing, outside=outside).histogram


def count_jointly(rows: Rows, axes: Sequence[Axis], *, missing: str = "refuse", outside: str = "refuse") -> Players:
    """People, one for every row, by cell. ``missing`` (also for infinite values) and ``outside`` say what to do with
    rows that have such a value in any column: ``refuse`` them all, ``drop`` the missing, ``clip`` those outside the
    bounds to the nearer bound."""
    found, people = count_codes(rows, axes, range(len(axes)), missing=missing, outside=outside)
    return players_of_codes(Grid(tuple(axes)), found, people)


def players_of_codes(grid: Grid, found: Ints, people: Ints) -> Players:
    """People by cell, from combinations of codes (one for each axis) and how many rows have each."""
    each = cells_of_codes(grid, found)
    usable = each >= 0
    cells, which = np.unique(each[usable], return_inverse=True)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, which, people[usable])
    return Players.in_cells(grid, cells, counts)


def refuse_settings(missing: str, outside: str) -> None:
    """Refuse what is no way to deal with missing values, or with those outside the bounds."""
    check_settings({"missing": missing, "outside": outside})


def refuse_unusable(
    rows: Rows, axes: Sequence[Axis], columns: Sequence[int], found: Ints, people: Ints, *, missing: str, outside: str
) -> None:
    """Refuse combinations of codes, and how many rows have each, with something wrong that nothing is done about."""
    for i, (axis, number) in enumerate(zip(axes, columns, strict=True)):
        _refuse(rows, number, axis, found[:, i], people, missing=missing, outside=outside)


def count_codes(
    rows: Rows, axes: Sequence[Axis], columns: Sequence[int], *, missing: str, outside: str
) -> tuple[Ints, Ints]:
    """Combinations of codes, one for each axis, and how many rows have each; what is to be refused is.

    Several axes may be of one column, to count it on several grids in one pass. Grids over the same range have few
    combinations of bins, about as many as all have bins together, so it costs hardly more than the finest alone.
    """
    refuse_settings(missing, outside)
    names, each = code_names(axes), codes(rows, axes, columns)
    counted = collect(rows, rows.frame.select(*each).group_by(*names).agg(nw.len().alias("people")))
    found = read_codes(rows, axes, counted)
    people = counted["people"].to_numpy().astype(np.int64)
    refuse_unusable(rows, axes, columns, found, people, missing=missing, outside=outside)
    return found, people


def code_names(axes: Sequence[Axis]) -> list[str]:
    """What the codes of the columns are called."""
    return [f"code {i}" for i in range(len(axes))]


def codes(rows: Rows, axes: Sequence[Axis], columns: Sequence[int] | None = None) -> list[nw.Expr]:
    """The one expression a column that all counting, and all that goes back to rows, is made of.

    An axis is of the column with its number in ``columns``, or in the same place."""
    numbers = range(len(axes)) if columns is None else columns
    named = zip(axes, numbers, code_names(axes), strict=True)
    return [_code(rows, axis, number).alias(name) for axis, number, name in named]


def read_codes(rows: Rows, axes: Sequence[Axis], frame: Any) -> Ints:
    """The codes of the columns, as they come from any engine: what has none is missing.

    A bin outside the bounds comes of a Parquet file whose own smallest and largest value are wrong: DuckDB believes
    them, and does not ask whether values are within the bounds.
    """
    found = np.stack([np.asarray(frame[name].to_numpy(), dtype=np.float64) for name in code_names(axes)], axis=1)
    found[np.isnan(found)] = MISSING
    for axis, column in zip(axes, found.T, strict=True):
        inside = (axis.cell_of(axis.low) <= column) & (column <= axis.cell_of(axis.high))
        if not (inside | ((column < 0) & (column >= TEXT))).all():
            raise BadInput(
                f"{rows.source} says of column {axis.name!r} that all its values are within the bounds, and they are "
                "not: its statistics are wrong. Write it again, or use --engine polars (in Python, engine='polars')."
            )
    return found.astype(np.int64)


def cells_of_codes(grid: Grid, found: Ints) -> Ints:
    """The cell of every combination of codes, values outside moved to the nearer bound; -1 where one is missing."""
    bins = found.copy()
    for i, axis in enumerate(grid.axes):
        bins[found[:, i] == BELOW, i] = axis.cell_of(axis.low)
        bins[found[:, i] == ABOVE, i] = axis.cell_of(axis.high)
    usable = (bins >= 0).all(axis=1)
    cells = np.full(len(bins), -1, dtype=np.int64)
    cells[usable] = grid.cells_of(bins[usable])
    return cells


def refused(codes: Ints, *, missing: str, outside: str) -> str | None:
    """What :func:`count_jointly` refuses among the codes of one column, under such settings."""
    if (codes == TEXT).any():
        return "text"
    if missing == "refuse" and np.isin(codes, [MISSING, INFINITE]).any():
        return "missing or infinite values"
    return "values outside the bounds" if outside == "refuse" and np.isin(codes, [BELOW, ABOVE]).any() else None


def _code(rows: Rows, axis: Axis, number: int) -> nw.Expr:
    """The bin of a row's value, or what is wrong with it.

    Nearly every value is within the bounds, so that is asked first: engines that look at the branches one after the
    other then ask nothing else. It is false or unknown for what is missing or infinite, whatever the engine thinks of
    comparing NaN, unless DuckDB believes a Parquet file's smallest and largest value, which do not tell of NaN: then
    the code itself is NaN (see :func:`read_codes`). For the same reason nobody is asked whether a value is NaN.
    """
    value = nw.col(f"{VALUE} {number}").cast(nw.Float64)
    code = (
        nw.when((value >= axis.low) & (value <= axis.high))
        .then(_cell(value, axis))
        .otherwise(
            nw.when(value.is_null())
            .then(nw.lit(float(MISSING)))
            .otherwise(
                nw.when(~value.is_finite())
                .then(
                    nw.when((value == math.inf) | (value == -math.inf))
                    .then(nw.lit(float(INFINITE)))
                    .otherwise(nw.lit(float(MISSING)))
                )
                .otherwise(nw.when(value < axis.low).then(nw.lit(float(BELOW))).otherwise(nw.lit(float(ABOVE))))
            )
        )
    )
    if rows.from_text:
        code = nw.when(nw.col(f"{IS_TEXT} {number}")).then(nw.lit(float(TEXT))).otherwise(code)
    return code


def _cell(value: nw.Expr, axis: Axis) -> nw.Expr:
    """The bin of a value within the bounds, as :meth:`Axis.cell_of` has it.

    Rounding keeps the order of numbers, so no such value comes out below 0 or above what the upper bound comes out at;
    only where that is past the last bin (there is no padding) must the end be held.
    """
    bins = (value - axis.padded_low) * axis.per_width
    past = (axis.high - axis.padded_low) * axis.per_width >= axis.bins
    return bins.floor().clip(0, axis.bins - 1) if past else bins.floor()


def _refuse(rows: Rows, number: int, axis: Axis, codes: Ints, people: Ints, *, missing: str, outside: str) -> None:
    """Refuse what is wrong with one column, unless something else is to be done about it."""
    column = rows.columns[number]
    absent, infinite, below, above, text = (
        int(people[codes == code].sum()) for code in (MISSING, INFINITE, BELOW, ABOVE, TEXT)
    )
    if text:
        _refuse_text(rows, number)
    if absent + infinite and missing == "refuse":
        raise BadInput(
            f"Column {column!r} has {_many(absent, 'missing ')} and {_many(infinite, 'infinite ')}. Leave those rows "
            "out with --missing drop (in Python, missing='drop'), or fill them in."
        )
    if (below or above) and outside == "refuse":
        raise BadInput(
            f"Column {column!r} has {_many(below)} below {format_number(axis.low)} and {_many(above)} above "
            f"{format_number(axis.high)}. Move those values to the nearer bound with --outside clip (in Python, "
            "outside='clip'), or widen the bounds, if you would have without knowing this."
        )


def _many(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}value{'' if n == 1 else 's'}"


def _refuse_text(rows: Rows, number: int) -> None:
    """Say how many rows hold text instead of a number, with one of them, if there are any."""
    if not rows.from_text:
        return
    raw = nw.col(f"{RAW} {number}").min().alias("example")
    found = collect(rows, rows.frame.filter(nw.col(f"{IS_TEXT} {number}")).select(raw, nw.len().alias("rows")))
    if found["rows"][0]:
        raise BadInput(
            f"Column {rows.columns[number]!r} holds text or dates, not numbers, in {found['rows'][0]:,} "
            f"row{'' if found['rows'][0] == 1 else 's'}, such as {str(found['example'][0])[:40]!r}. "
            "Convert or remove them first."
        )
