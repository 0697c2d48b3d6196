"""Rows of a release, or any others, column by column: numbers, days or categories, read when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from equinoise.data.axis import Axis
from equinoise.data.category_axis import Category, CategoryAxis
from equinoise.data.codes import INFINITE, MISSING
from equinoise.data.counting import code_columns, read_codes
from equinoise.data.grid import AnyAxis, Floats, Ints
from equinoise.data.make_grid import make_grid
from equinoise.data.paths import find_files
from equinoise.data.read_players import open_axes
from equinoise.data.rows import Rows, open_rows
from equinoise.data.schema import Schema
from equinoise.data.text_fields import FIELD, IS_TEXT, MISSING_MARKS, VALUE, header_of
from equinoise.errors import BadInput
from equinoise.formatting import printable


@dataclass(frozen=True, eq=False)
class RowColumn:
    """The ``values`` of a column, one a row: numbers (of dates days since day zero), NaN where there is none; or the
    bins of categories, -1 where there is none."""

    axis: AnyAxis
    values: Floats | Ints


@dataclass(frozen=True, eq=False)
class RowTable:
    """Rows by the ``names`` of their columns. ``read`` gives a column, ``kept`` says which rows belong to the group
    that is looked at (None: all). The ends of its axes are known without the rows if they are ``bounded``."""

    names: tuple[str, ...]
    read: Callable[[str], RowColumn]
    bounded: bool
    kept: NDArray[np.bool_] | None = None
    known: dict[str, RowColumn] = field(default_factory=dict)

    def axis_of(self, column: str) -> AnyAxis:
        """What is known of a column's values."""
        return self._whole(column).axis

    def values(self, column: str) -> Any:
        """The values of a column in the rows that are looked at."""
        whole = self._whole(column).values
        return whole if self.kept is None else whole[self.kept]

    def numbers(self, column: str) -> Floats:
        """The numbers of a column, of the rows that have one."""
        values: Floats = self.values(column)
        return values[~np.isnan(values)]

    def where(self, column: str, category: Category | None) -> RowTable:
        """The rows of one category (None: of those that have none)."""
        whole = self._whole(column)
        here = np.asarray(whole.values == bin_of(whole.axis, category))
        return replace(self, kept=here if self.kept is None else here & self.kept)

    def _whole(self, column: str) -> RowColumn:
        if column not in self.known:
            self.known[column] = self.read(column)
        return self.known[column]


def bin_of(axis: AnyAxis, category: Category | None) -> int:
    """The bin of a category that there is, or with None that of the missing."""
    if category is None:
        return axis.bins - 1 if axis.missing == "category" else -1
    assert isinstance(axis, CategoryAxis)
    return axis.code_of(category)


def rows_by_axes(data: Any, axes: Sequence[AnyAxis]) -> RowTable:
    """Rows (a path or any dataframe) of columns that axes say all about."""
    known = {axis.name: axis for axis in axes}
    return RowTable(tuple(known), lambda name: _by_axis(data, known[name]), bounded=True)


def rows_by_schema(data: Any, schema: Schema) -> RowTable:
    """Rows of the columns of a schema."""
    schema.check_complete()
    grids = {column.name: make_grid(replace(schema, columns=(column,))) for column in schema.columns}
    return rows_by_axes(data, [grid.axis for grid in grids.values()])


def rows_as_they_are(path: Path) -> RowTable:
    """Rows of files without a schema: a column is of numbers if all that it holds are, else of categories; of dates
    only if the file's own types say so."""
    files = find_files(path)
    names = header_of(files) if files.is_text else pl.scan_parquet(files.paths[0], glob=False).collect_schema().names()
    return RowTable(tuple(names), lambda name: _as_it_is(path, name), bounded=False)


def _by_axis(data: Any, axis: AnyAxis) -> RowColumn:
    """A column by its axis; rows that it does not allow are refused."""
    dates = isinstance(axis, Axis) and axis.day_zero is not None
    exact = _days(axis.name, axis.high, str(axis.day_zero)) if isinstance(axis, Axis) and dates else axis
    rows = open_axes(data, [exact], None)
    number = [nw.col(f"{VALUE} 0")] if rows.columns else []
    frame = _frame(rows, [*code_columns(rows, [exact]), *number])
    codes = read_codes(rows, [exact], frame)[:, 0]
    held, absent = codes >= 0, np.isin(codes, [MISSING, INFINITE])
    odd = np.flatnonzero(~held & ~absent)
    if len(odd):
        example = frame.to_series(len(frame.columns) - 1)[int(odd[0])]
        said = "text" if example is None else printable(str(example)[:40])
        raise BadInput(
            f"Column {axis.name!r} has {len(odd):,} row{'s' * (len(odd) > 1)} that the schema does not allow, such as "
            f"{said!r}. Name the schema that these rows were made with."
        )
    if isinstance(axis, CategoryAxis):
        return RowColumn(axis, np.where(held, codes, bin_of(axis, None)))
    values = codes if dates else frame[f"{VALUE} 0"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return RowColumn(axis, np.where(held, values, np.nan))


def _as_it_is(path: Path, name: str) -> RowColumn:
    """A column by what it holds."""
    raw = open_rows(path, [name], raw=[name])
    kind = raw.frame.collect_schema()[f"{FIELD} 0"]
    if raw.from_text or kind.is_numeric():
        rows = open_rows(path, name)
        number = nw.col(f"{VALUE} 0").cast(nw.Float64)
        is_text = nw.col(f"{IS_TEXT} 0") if raw.from_text else nw.lit(False).alias(f"{IS_TEXT} 0")
        frame = _frame(rows, [number, is_text])
        if not frame[f"{IS_TEXT} 0"].any():
            return _numbers(name, frame[f"{VALUE} 0"].fill_null(np.nan).to_numpy())
    values = _frame(raw, [nw.col(f"{FIELD} 0")]).to_series()
    if isinstance(kind, nw.Date | nw.Datetime):
        days = values.cast(pl.Date).to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
        least = 0.0 if np.isnan(days).all() else float(np.nanmin(days))
        zero = date.fromordinal(date(1970, 1, 1).toordinal() + int(least)).isoformat()
        last = 0.0 if np.isnan(days).all() else float(np.nanmax(days))
        return RowColumn(_days(name, last - least, zero), days - least)
    return _categories(name, values)


def _numbers(name: str, values: Floats) -> RowColumn:
    values = np.where(np.isfinite(values), values, np.nan)
    held = values[~np.isnan(values)]
    low, high = (float(held.min()), float(held.max())) if len(held) else (0.0, 0.0)
    return RowColumn(Axis(name, low, high, 1), values)


def _days(name: str, high: float, day_zero: str) -> Axis:
    """An axis with a bin for every day."""
    return Axis(name, 0.0, high, int(high) + 1, 0.5, step=1.0, day_zero=day_zero)


def _categories(name: str, values: pl.Series) -> RowColumn:
    """A column of text or of yes/no values, without blanks around them."""
    if values.dtype != pl.Boolean:
        values = values.cast(pl.String).str.strip_chars()
        values = pl.select(
            pl.when(~pl.lit(values).str.to_lowercase().is_in(MISSING_MARKS)).then(pl.lit(values))
        ).to_series()
    names = values.drop_nulls().unique().sort()
    if not len(names):
        return _numbers(name, np.full(len(values), np.nan))
    axis = CategoryAxis(name, tuple(names.to_list()), "category" if values.null_count() else "drop")
    codes = values.replace_strict(names, np.arange(len(names)), default=len(names), return_dtype=pl.Int64)
    return RowColumn(axis, codes.to_numpy())


def _frame(rows: Rows, columns: Sequence[nw.Expr]) -> pl.DataFrame:
    """All rows of some expressions."""
    parts = list(rows.stream(rows.frame.select(*columns)))
    return pl.concat(parts) if parts else rows.frame.select(*columns).head(0).collect().to_polars()
