"""Rows to people, where a column, the unit, says whose each row is: everyone's bag of cells, or one row of each.

People whose rows fall in the same cells equally often have the same bag and are interchangeable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.data.columns import not_a_unit
from equinoise.data.counting import cells_of_codes, count_groups
from equinoise.data.coverage import Coverage, coverage_of
from equinoise.data.grid import Grid, Ints
from equinoise.data.players import Bag, Players
from equinoise.data.rows import Rows
from equinoise.data.text_fields import FIELD, MISSING_MARKS
from equinoise.errors import BadInput

MOST_EXACT = 2**53
"""From here on, floats do not tell all whole numbers apart (those of 32 bits, from 2^24 on)."""

LARGE_FLOAT = r"^[-+]?(\d+\.0*|\d+(\.\d*)?[eE]\+\d+|\d+\.\d*[eE]\d+)$"
"""How large floats are written as text: 9007199254740992.0, 1e+18, 1.0E18. No whole number, and no other code that
people go by, has a point or a plus there."""


class PersonCells(NamedTuple):
    """How many rows (``times``) each person has in each cell: a line for every person and cell, in this order.

    ``people`` are numbers from 1 on, in the order of ``units``, the texts that people go by.
    """

    units: pl.Series
    people: Ints
    cells: Ints
    times: Ints
    coverage: Coverage | None = None

    def bags(self) -> tuple[tuple[Bag, ...], Ints]:
        """The different bags, ascending, and the number of everyone's among them. Whole bags are compared as bytes,
        which is exact."""
        pairs = np.stack([self.cells, self.times], axis=1)
        begins = np.unique(self.people, return_index=True)[1]
        lengths = np.diff(begins, append=len(self.people))
        bags: list[Bag] = []
        which = np.zeros(len(begins), dtype=np.int64)
        for length in np.unique(lengths).tolist():
            here = begins[lengths == length][:, None] + np.arange(length)
            alike = np.ascontiguousarray(pairs[here].reshape(len(here), -1))
            different, number = np.unique(alike, axis=0, return_inverse=True)
            which[lengths == length] = len(bags) + number.ravel()
            bags += [tuple(zip(bag[::2], bag[1::2], strict=True)) for bag in different.tolist()]
        ascending = sorted(range(len(bags)), key=bags.__getitem__)
        return tuple(bags[number] for number in ascending), np.argsort(ascending)[which]

    def at_most(self, most: int) -> PersonCells:
        """At most so many rows of each person, evenly spread over them as they are laid out by cell: of n rows those
        at (2 j + 1) n / (2 most), j = 0, 1, ... So one row is the middle one (of two, the lower). A rule that no order
        of the file and no other person has a say in."""
        first = np.unique(self.people, return_index=True)[1]
        begins = np.cumsum(self.times) - self.times
        sizes, taken = np.add.reduceat(self.times, first), np.zeros(len(self.times), dtype=np.int64)
        for j in range(min(most, int(sizes.max(initial=0)))):
            at = np.where(sizes > most, -((2 * j + 1) * sizes // (-2 * most)) - 1, j)
            line = np.searchsorted(begins, begins[first] + at, side="right") - 1
            taken[line[j < sizes]] += 1
        kept = taken > 0
        return PersonCells(self.units, self.people[kept], self.cells[kept], taken[kept], self.coverage)


def count_people(rows: Rows, grid: Grid, most_rows: int | None = None) -> Players:
    """People by the cells of their rows: of all of them, or of at most ``most_rows`` of each person. ``rows`` were
    opened with the column of units."""
    lines = count_person_cells(rows, grid)
    if most_rows is not None:
        lines = lines.at_most(most_rows)
    if (lines.times == 1).all() and len(np.unique(lines.people)) == len(lines.people):
        cells, people = np.unique(lines.cells, return_counts=True)
        return replace(Players.in_cells(grid, cells, people.astype(np.int64)), coverage=lines.coverage)
    bags, which = lines.bags()
    counted = Players.in_bags(grid, bags, np.bincount(which, minlength=len(bags)).astype(np.int64))
    return replace(counted, coverage=lines.coverage)


def count_person_cells(rows: Rows, grid: Grid) -> PersonCells:
    """How many rows everyone has in every cell. The engine counts; what comes back grows with people, not with rows."""
    groups, codes, times = count_groups(rows, grid.axes, unit=unit_text(rows))
    units = clean_units(groups["unit"].to_polars(), rows.from_text)
    _refuse_rounded(rows, units)
    nobody, cells = units.is_null().to_numpy(), cells_of_codes(grid, codes)
    rules = {axis.missing for axis in grid.axes}
    if nobody.any() and "refuse" in rules and "drop" not in rules:
        lost = int(times[nobody].sum())
        raise BadInput(
            f"Column {rows.unit!r}, the unit, is missing in {lost:,} row{'' if lost == 1 else 's'}. Leave those "
            "rows out with --missing drop (in Python, missing='drop'), or fill them in."
        )
    usable = (cells >= 0) & ~nobody
    known = units.filter(pl.Series(usable, dtype=pl.Boolean))
    people = known.rank("dense").to_numpy().astype(np.int64)
    lines, place = np.unique(np.stack([people, cells[usable]], axis=1), axis=0, return_inverse=True)
    total = np.zeros(len(lines), dtype=np.int64)
    np.add.at(total, place.ravel(), times[usable])
    names = known.unique().sort()
    everyone = len(names) if usable.all() else units.drop_nulls().n_unique()
    coverage = coverage_of(
        grid.axes, codes, times, usable, unit=rows.unit, without_unit=int(times[nobody].sum()),
        people_left_out=everyone - len(names), columns_left_out=rows.other_columns,
    )  # fmt: skip
    return PersonCells(names, lines[:, 0], lines[:, 1], total, coverage)


def unit_text(rows: Rows) -> nw.Expr:
    """What a person goes by, as text, from the column of units: the same text for the same value."""
    assert rows.unit is not None
    field = f"{FIELD} {rows.fields.index(rows.unit)}"
    dtype, value = rows.frame.collect_schema()[field], nw.col(field)
    if dtype.is_float():
        value = value.cast(nw.Float64)
        unsigned = nw.when(value == 0).then(nw.lit(0.0)).otherwise(value)  # -0 is nobody else than 0
        return nw.when(~value.is_nan()).then(unsigned.cast(nw.String))
    problem = rows.library.unit_problem(rows.frame, field, dtype)
    if problem is not None:
        raise not_a_unit(rows.unit, problem)
    return nw.when(~value.is_null()).then(value.cast(nw.String))  # pandas 2 has a text for what is missing, too


def clean_units(units: pl.Series, from_text: bool) -> pl.Series:
    """In a text file blanks around a field do not count, and some words mean that it is missing. Nothing but blanks is
    nobody's name anywhere."""
    bare = units.str.strip_chars()
    if not from_text:
        return pl.select(pl.when(bare != "").then(units)).to_series()
    return pl.select(pl.when(~bare.str.to_lowercase().is_in(MISSING_MARKS)).then(bare)).to_series()


def _refuse_rounded(rows: Rows, units: pl.Series) -> None:
    """Refuse units that are floats so large that other people's may have become the same.

    Whole numbers become floats where one row has none, in pandas and in what it writes, so one person's row would
    change whose everyone else's are. That they did shows in the values alone, so the whole column is refused.
    """
    assert rows.unit is not None
    dtype = rows.frame.collect_schema()[f"{FIELD} {rows.fields.index(rows.unit)}"]
    most = 2**24 if isinstance(dtype, nw.Float32) else MOST_EXACT
    floats = units if dtype.is_float() else units.filter(units.str.contains(LARGE_FLOAT))
    large = floats.filter(floats.cast(pl.Float64, strict=False).abs() >= most)
    if len(large):
        raise BadInput(
            f"Column {rows.unit!r} cannot be the unit: it holds floats such as {large.sort()[0]}, and from "
            f"{most:,} on floats do not tell whole numbers apart. Read them as whole numbers (in pandas, as 'Int64') "
            "or as text."
        )
