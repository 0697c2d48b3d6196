"""Rows of any dataframe or file to people per cell, in one pass and without holding the rows of a file.

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

from equinoise.data.bad_values import ABOVE, BELOW, INFINITE, MISSING, TEXT, Rules, refuse_bad_values, refuse_text
from equinoise.data.grid import Axis, Grid, Ints
from equinoise.data.players import Players
from equinoise.data.rows import Rows
from equinoise.data.text_fields import IS_TEXT, VALUE
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


def count_rows(rows: Rows, grid: Grid, rules: Rules) -> Players:
    """People by cell, one for every row."""
    codes, times = count_codes(rows, grid.axes, range(len(grid.axes)), rules)
    return players_of_codes(grid, codes, times)


def players_of_codes(grid: Grid, codes: Ints, times: Ints) -> Players:
    """People by cell, from combinations of codes (combinations x axes) and how many rows have each."""
    cells = cells_of_codes(grid, codes)
    usable = cells >= 0
    occupied, place = np.unique(cells[usable], return_inverse=True)
    people = np.zeros(len(occupied), dtype=np.int64)
    np.add.at(people, place, times[usable])
    return Players.in_cells(grid, occupied, people)


def count_codes(rows: Rows, axes: Sequence[Axis], columns: Sequence[int], rules: Rules) -> tuple[Ints, Ints]:
    """Combinations of codes (combinations x axes), and how many rows have each; what is to be refused is.

    Axis i is of the column with the number ``columns[i]``. Several may be of one column, to count it on several grids
    in one pass. Grids over the same range have few combinations of bins, about as many as all have bins together, so it
    costs hardly more than the finest alone.
    """
    return count_groups(rows, axes, columns, rules)[1:]


def count_groups(
    rows: Rows, axes: Sequence[Axis], columns: Sequence[int], rules: Rules, **keys: nw.Expr
) -> tuple[nw.DataFrame[Any], Ints, Ints]:
    """The keys of groups of rows that have the same keys and codes, the codes (groups x axes), and how many rows."""
    named = [key.alias(name) for name, key in keys.items()]
    query = rows.frame.select(*code_columns(rows, axes, columns), *named).group_by(*keys, *code_names(axes))
    groups = rows.collect(query.agg(nw.len().alias("times")))
    codes, times = read_codes(rows, axes, groups), groups["times"].to_numpy().astype(np.int64)
    refuse_bad_values(rows, axes, columns, codes, times, rules)
    return groups, codes, times


def code_names(axes: Sequence[Axis]) -> list[str]:
    """What the codes of the columns are called."""
    return [f"code {i}" for i in range(len(axes))]


def code_columns(rows: Rows, axes: Sequence[Axis], columns: Sequence[int]) -> list[nw.Expr]:
    """The one expression an axis that all counting, and all that goes back to rows, is made of."""
    return [
        _code(rows, axis, number).alias(name)
        for axis, number, name in zip(axes, columns, code_names(axes), strict=True)
    ]


def read_codes(rows: Rows, axes: Sequence[Axis], frame: Any) -> Ints:
    """The codes (rows of the frame x axes), as they come from any engine: what has none is missing.

    A bin outside the bounds comes of a Parquet file whose own smallest and largest value are wrong: DuckDB believes
    them, and does not ask whether values are within the bounds.
    """
    codes = np.stack([np.asarray(frame[name].to_numpy(), dtype=np.float64) for name in code_names(axes)], axis=1)
    codes[np.isnan(codes)] = MISSING
    for axis, column in zip(axes, codes.T, strict=True):
        inside = (axis.cell_of(axis.low) <= column) & (column <= axis.cell_of(axis.high))
        if not (inside | ((column < 0) & (column >= TEXT))).all():
            raise BadInput(
                f"{rows.source} says of column {axis.name!r} that all its values are within the bounds, and they are "
                "not: its statistics are wrong. Write it again, or use --engine polars (in Python, engine='polars')."
            )
    return codes.astype(np.int64)


def cells_of_codes(grid: Grid, codes: Ints) -> Ints:
    """The cell of every combination of codes, values outside moved to the nearer bound; -1 where one is missing."""
    bins = codes.copy()
    for i, axis in enumerate(grid.axes):
        bins[codes[:, i] == BELOW, i] = axis.cell_of(axis.low)
        bins[codes[:, i] == ABOVE, i] = axis.cell_of(axis.high)
    usable = (bins >= 0).all(axis=1)
    cells = np.full(len(bins), -1, dtype=np.int64)
    cells[usable] = grid.cells_of(bins[usable])
    return cells


def _code(rows: Rows, axis: Axis, number: int) -> nw.Expr:
    """The bin of a row's value, or what is wrong with it.

    Nearly every value is within the bounds, so that is asked first: engines that look at the branches one after the
    other then ask nothing else. It is false or unknown for what is missing or infinite, whatever the engine thinks of
    comparing NaN, unless DuckDB believes a Parquet file's smallest and largest value, which do not tell of NaN: then
    the code itself is NaN (see :func:`read_codes`). For the same reason nobody is asked whether a value is NaN.
    """
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
    """The bin of a value within the bounds, as :meth:`Axis.cell_of` has it.

    Rounding keeps the order of numbers, so no such value comes out below 0 or above what the upper bound comes out at;
    only where that is past the last bin (there is no padding) must the end be held.
    """
    bins = (value - axis.padded_low) * axis.per_width
    past = (axis.high - axis.padded_low) * axis.per_width >= axis.bins
    return bins.floor().clip(0, axis.bins - 1) if past else bins.floor()
