"""Rows to people, where a column says whose each row is: everyone's cells, by the same expression as all counting."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.data.bags import bag_of_each, middle_rows
from equinoise.data.columns import can_name, no_name
from equinoise.data.counting import cells_of_codes, code_names, codes, read_codes, refuse_settings, refuse_unusable
from equinoise.data.frames import kinds_of_objects
from equinoise.data.grid import Axis, Grid, Ints
from equinoise.data.players import Players
from equinoise.data.rows import Rows, collect
from equinoise.data.text_fields import FIELD, MISSING_MARKS
from equinoise.errors import BadInput
from equinoise.formatting import listed

UNIT = f"{FIELD} 0"
"""What the column of units is called in rows that were opened with it."""

MOST_EXACT = 2**53
"""From here on, floats do not tell all whole numbers apart (those of 32 bits, from 2^24 on)."""

LARGE_FLOAT = r"^[-+]?(\d+\.0*|\d+(\.\d*)?[eE]\+\d+|\d+\.\d*[eE]\d+)$"
"""How large floats are written as text: 9007199254740992.0, 1e+18, 1.0E18. No whole number, and no other code that
people go by, has a point or a plus there."""


def count_units(
    rows: Rows, axes: Sequence[Axis], *, missing: str = "refuse", outside: str = "refuse"
) -> tuple[Ints, Ints, Ints]:
    """A number for the person, a cell and how many rows, one line for every person and cell; by person, then cell.

    ``rows`` were opened with the column of units. The engine counts; what comes back grows with people, not with rows.
    """
    return unit_lines(rows, axes, missing=missing, outside=outside)[1:]


def unit_lines(
    rows: Rows, axes: Sequence[Axis], *, missing: str = "refuse", outside: str = "refuse"
) -> tuple[pl.Series, Ints, Ints, Ints]:
    """Everyone's name (number 1 is the first), then the lines of people, cells and how many rows."""
    refuse_settings(missing, outside)
    grid, names = Grid(tuple(axes)), code_names(axes)
    keyed = rows.frame.select(*codes(rows, axes), unit_key(rows).alias("unit"))
    counted = collect(rows, keyed.group_by("unit", *names).agg(nw.len().alias("times"))).to_polars()
    found = read_codes(rows, axes, counted)
    times = counted["times"].to_numpy().astype(np.int64)
    refuse_unusable(rows, axes, range(len(axes)), found, times, missing=missing, outside=outside)
    units = cleaned(counted["unit"], rows.from_text)
    refuse_rounded(rows, units)
    nobody, cells = units.is_null().to_numpy(), cells_of_codes(grid, found)
    if nobody.any() and missing == "refuse":
        lost = int(times[nobody].sum())
        raise BadInput(
            f"Column {rows.kept[0]!r}, the unit, is missing in {lost:,} row{'' if lost == 1 else 's'}. Leave those "
            "rows out with --missing drop (in Python, missing='drop'), or fill them in."
        )
    usable = (cells >= 0) & ~nobody
    known = units.filter(pl.Series(usable, dtype=pl.Boolean))
    who = known.rank("dense").to_numpy().astype(np.int64)
    pairs, which = np.unique(np.stack([who, cells[usable]], axis=1), axis=0, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, which.ravel(), times[usable])
    return known.unique().sort(), pairs[:, 0], pairs[:, 1], total


def unit_key(rows: Rows, number: int = 0) -> nw.Expr:
    """A person's name as text, from a column that came along: the same text for the same value."""
    field = f"{FIELD} {number}"
    dtype = rows.frame.collect_schema()[field]
    name = rows.kept[number]
    if dtype.is_float():
        value = nw.col(field).cast(nw.Float64)
        unsigned = nw.when(value == 0).then(nw.lit(0.0)).otherwise(value)  # -0 is nobody else than 0
        return nw.when(~value.is_nan()).then(unsigned.cast(nw.String))
    objects = rows.frame.implementation.is_pandas() and isinstance(dtype, nw.Object)
    kinds = kinds_of_objects(rows.frame.select(field).collect()[field].to_native()) if objects else []
    wide = rows.frame.implementation.is_spark_like() and getattr(dtype, "scale", None) == 0  # Spark's unsigned integers
    if isinstance(dtype, nw.Object) and not objects:
        kinds = ["of any kind"]
    if kinds or not (can_name(dtype) or wide):
        raise no_name(name, f"Python objects ({listed(kinds)})" if kinds else dtype)
    value = nw.col(field)
    return nw.when(~value.is_null()).then(value.cast(nw.String))  # pandas 2 has a text for what is missing, too


def refuse_rounded(rows: Rows, units: pl.Series) -> None:
    """Refuse names that are floats so large that other people's names may have become the same.

    Whole numbers become floats where one row has none, in pandas and in what it writes, so one person's row would
    change whose everyone else's are. That they did shows in the values alone, so the whole column is refused.
    """
    dtype = rows.frame.collect_schema()[UNIT]
    most = 2**24 if isinstance(dtype, nw.Float32) else MOST_EXACT
    floats = units if dtype.is_float() else units.filter(units.str.contains(LARGE_FLOAT))
    large = floats.filter(floats.cast(pl.Float64, strict=False).abs() >= most)
    if len(large):
        raise BadInput(
            f"Column {rows.kept[0]!r} cannot be the unit: it holds floats such as {large.sort()[0]}, and from {most:,} "
            "on floats do not tell whole numbers apart. Read them as whole numbers (in pandas, as 'Int64') or as text."
        )


def cleaned(units: pl.Series, from_text: bool) -> pl.Series:
    """In a text file blanks around a field do not count, and some words mean that it is missing. Nothing but blanks is
    nobody's name anywhere."""
    bare = units.str.strip_chars()
    if not from_text:
        return pl.select(pl.when(bare != "").then(units)).to_series()
    return pl.select(pl.when(~bare.str.to_lowercase().is_in(MISSING_MARKS)).then(bare)).to_series()


def people_by_bag(rows: Rows, axes: Sequence[Axis], *, missing: str, outside: str) -> Players:
    """Everyone with all of their rows."""
    bags, which = bag_of_each(*count_units(rows, axes, missing=missing, outside=outside))
    return Players.in_bags(Grid(tuple(axes)), bags, np.bincount(which, minlength=len(bags)).astype(np.int64))


def people_once(rows: Rows, axes: Sequence[Axis], *, missing: str, outside: str) -> Players:
    """Everyone with one row, the middle one: see :func:`equinoise.data.bags.middle_rows`."""
    kept = middle_rows(*count_units(rows, axes, missing=missing, outside=outside))
    cells, counts = np.unique(kept, return_counts=True)
    return Players.in_cells(Grid(tuple(axes)), cells, counts.astype(np.int64))
