"""From a schema to the grid that people are counted on: how many bins, and the paper's padding if asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from typing import Any

from equinoise.data.axis import MOST_VALUES, check_bounds
from equinoise.data.grid import AnyAxis, Axis, CategoryAxis, Grid
from equinoise.data.schema import Column, Schema
from equinoise.errors import BadInput, check
from equinoise.settings import MOST_BINS

BINS_WITHOUT_STEP = 100
"""Of a column of numbers that no step cuts into values."""

MOST_BINS_BY_DEFAULT = 256
MOST_CELLS_BY_DEFAULT = 10_000
"""Of all columns together, where nobody says how many bins."""

MOST_CELLS_TO_HOLD = 1_000_000
"""Of all columns together, for counts of every joint cell. With more, most cells would have noise only."""

MOST_BINS_OF_MANY = 16
"""Of a column by default, where no joint grid is made: columns are then counted one by one and two by two. On tables of
900 and 9,000 people at epsilon 1, columns of numbers came out closer with 16 than with 32."""

PAPER_BINS = 101


def make_grid(
    schema: Schema, *, bins: int | None = None, padding: dict[str, Any] | None = None, joint: bool | None = True
) -> Grid:
    """The grid of a complete schema: no cell that nobody can be in, unless there is ``padding``, the settings of the
    paper's grid. ``bins`` are for columns of numbers that have none of their own.

    By default a column has a bin for every step, or 100 without a step, and at most 256. Several columns have fewer, so
    that there are at most 10,000 cells: those with most bins are cut first, to bins of as many whole steps as it takes.
    Unless the grid is ``joint`` (None: unless the bins and categories that the schema says make more than a million
    cells, however few bins the others have), its cells are not held, and a column has at most 16 bins by default.
    """
    if padding is not None:
        return Grid(tuple(_padded(column, bins, padding) for column in schema.columns))
    wanted = {column.name: _bins(column, column.bins or bins) for column in schema.columns}
    free = [column for column in schema.columns if column.categories is None and (column.bins or bins) is None]
    if joint is None:
        fewest = {**wanted, **{column.name: 2 for column in free}}
        joint = _cells(schema, fewest) <= MOST_CELLS_TO_HOLD
    if not joint:
        wanted |= {column.name: _fewer(column, wanted[column.name], MOST_BINS_OF_MANY) for column in free}
        return Grid(tuple(_axis(column, wanted[column.name]) for column in schema.columns))
    most = MOST_BINS_BY_DEFAULT
    while free and most > 2 and _cells(schema, wanted) > MOST_CELLS_BY_DEFAULT:
        most = max(wanted[column.name] for column in free) - 1
        for column in free:
            wanted[column.name] = _fewer(column, wanted[column.name], max(most, 2))
    return Grid(tuple(_axis(column, wanted[column.name]) for column in schema.columns))


def with_bins(schema: Schema, grid: Grid, most: int) -> Schema:
    """A schema with bins for every column of numbers that has none of its own: those of its ``grid``, or fewer, at most
    ``most``."""
    columns = []
    for column, axis in zip(schema.columns, grid.axes, strict=True):
        if column.categories is None and column.bins is None:
            column = replace(column, bins=_fewer(column, axis.bins - axis.categories, most))  # noqa: PLW2901
        columns.append(column)
    return replace(schema, columns=tuple(columns))


def _cells(schema: Schema, wanted: dict[str, int]) -> int:
    return math.prod(wanted[column.name] + (column.missing == "category") for column in schema.columns)


def _values(column: Column) -> int | None:
    """How many values a column of numbers has; None without a step."""
    return None if column.steps is None else column.steps + 1


def _bins(column: Column, bins: int | None) -> int:
    """The bins for numbers, or the categories, of a column on its own."""
    if column.categories is not None:
        return len(column.categories)
    values = _values(column)
    if values is not None and values > MOST_VALUES:
        raise BadInput(
            f"Column {column.name!r} has more than {MOST_VALUES:,} values, a step of {column.step:g} apart. Give a "
            "larger step, or leave it out."
        )
    if bins is not None:
        check(2 <= bins <= MOST_BINS, "bins", f"a whole number from 2 to {MOST_BINS}", bins)
        if values is not None and bins > values:
            raise BadInput(
                f"Column {column.name!r} has {values:,} values, a step of {column.step:g} apart, and {bins:,} bins "
                "were asked for. Use no more bins than values, or leave the number out."
            )
        return int(bins)
    return _fewer(column, BINS_WITHOUT_STEP if values is None else values, MOST_BINS_BY_DEFAULT)


def _fewer(column: Column, bins: int, most: int) -> int:
    """At most so many bins; with a step, as many as bins of one number of whole steps make."""
    values = _values(column)
    if bins <= most:
        return bins
    return most if values is None else max(2, math.ceil(values / math.ceil(values / most)))


def _numbers(column: Column) -> tuple[float, float, str | None]:
    """The bounds as numbers, and for dates the date that is 0."""
    assert column.bounds is not None
    low, high = column.bounds
    if isinstance(low, date) and isinstance(high, date):
        return 0.0, float((high - low).days), low.isoformat()
    return (*check_bounds(column.name, low, high), None)  # type: ignore[arg-type]


def _axis(column: Column, bins: int) -> AnyAxis:
    rules: dict[str, Any] = {"missing": column.missing or "refuse", "outside": column.outside or "refuse"}
    if column.categories is not None:
        return CategoryAxis(column.name, tuple(column.categories), **rules)
    low, high, day_zero = _numbers(column)
    step = None if column.step is None else float(column.step)
    total = bins + (column.missing == "category")
    padding = 0.0 if step is None else step / 2
    axis = Axis(column.name, low, high, total, padding, step=step, day_zero=day_zero, **rules)
    axis.check_resolvable()
    return axis


def _padded(column: Column, bins: int | None, padding: dict[str, Any]) -> Axis:
    plain = column.categories is None and column.missing != "category"
    if not plain or isinstance((column.bounds or (0,))[0], date):
        raise BadInput(
            f"The paper's grid is for numbers, and column {column.name!r} has categories, dates or a bin for what is "
            "missing. Leave out --grid paper (in Python, grid='paper')."
        )
    low, high, _ = _numbers(column)
    rules: dict[str, Any] = {"missing": column.missing or "refuse", "outside": column.outside or "refuse"}
    return Axis.padded(column.name, low, high, bins=column.bins or bins or PAPER_BINS, **rules, **padding)


def describe_bins(grid: Grid) -> str:
    """How many bins each column has, in one line."""
    parts = []
    for axis in grid.axes:
        if isinstance(axis, CategoryAxis):
            parts.append(f"{axis.name!r} {len(axis.names)} categories")
        elif axis.step is not None:
            sizes = sorted({b - a for a, b in zip(axis.first_steps[:-1], axis.first_steps[1:], strict=True)})
            each = " or ".join(f"{size * axis.step:g}" for size in sizes)
            parts.append(f"{axis.name!r} {axis.number_bins} bins of {each}")
        else:
            parts.append(f"{axis.name!r} {axis.number_bins} bins of {axis.width:.3g}")
        parts[-1] += " and one for what is missing" if axis.missing == "category" else ""
    return f"Grid: {', '.join(parts)}" + (f"; {grid.cells:,} cells." if len(parts) > 1 else ".")
