"""What of the data was counted and what was not: the same figures from every kind of data."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equinoise.data.coverage import Coverage
from equinoise.data.read_players import columns_asked_for, read_players

TABLE = {
    "who": ["a", "a", "b", "b", "c", "d", None, "e", "e"],
    "pay": [10.0, None, 50.0, -5.0, None, 120.0, 30.0, 130.0, None],
    "ward": ["x", "y", "x", "y", "z", "z", "x", "x", None],
    "note": ["n"] * 9,
    "id": list(range(9)),
}
"""Two rows have two things that are wrong with them; one value outside is of a row that is left out."""

SCHEMA = {"columns": {"pay": {"bounds": [0, 100]}, "ward": {"categories": ["x", "y"]}}}
RULES = {"missing": "drop", "outside": "clip"}


def from_table(kind, folder):
    """The table as data of some kind, and the engine that reads it."""
    frame = pl.DataFrame(TABLE)
    path = folder / f"t.{kind.split()[0]}"
    if kind.startswith("csv"):
        frame.write_csv(path)
    elif kind.startswith("parquet"):
        frame.write_parquet(path)
    frames = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": lambda: pd.DataFrame(TABLE),
        "pyarrow": lambda: pa.table(TABLE),
        "duckdb": lambda: duckdb.connect().from_arrow(pa.table(TABLE)),
    }
    return (frames[kind]() if kind in frames else path), "duckdb" if kind.endswith(
        "duckdb"
    ) and " " in kind else "polars"


KINDS = ("csv", "parquet", "csv duckdb", "parquet duckdb", "polars", "lazy", "pandas", "pyarrow", "duckdb")


def coverage(data, engine="polars", schema=SCHEMA, *, unit=None, **rules):
    asked = columns_asked_for(schema, None, None, unit=unit, **{**RULES, **rules})
    return read_players(data, asked, check_grid=lambda grid: None, engine=engine, least=0)[0].coverage


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_told_apart_by_why_they_were_left_out(kind, tmp_path):
    assert coverage(*from_table(kind, tmp_path)) == Coverage(
        rows=9, rows_left_out=4, missing={"pay": 3, "ward": 1}, unknown={"ward": 2}, clipped={"pay": 2},
        people_left_out=4, columns_left_out=("who", "note", "id"),
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_people_of_whom_no_row_is_left_are_told(kind, tmp_path):
    assert coverage(*from_table(kind, tmp_path), unit="who") == Coverage(
        rows=9, rows_left_out=5, missing={"pay": 3, "ward": 1}, unknown={"ward": 2}, clipped={"pay": 2},
        unit="who", without_unit=1, people_left_out=2, columns_left_out=("note", "id"),
    )  # fmt: skip


def test_a_missing_value_with_a_bin_of_its_own_is_not_left_out():
    found = coverage(pl.DataFrame(TABLE), missing="category")
    assert (found.rows_left_out, found.missing, found.unknown) == (2, {}, {"ward": 2})


def test_whole_data_has_nothing_to_tell():
    found = coverage(pl.DataFrame({"pay": [1.0, 2.0], "ward": ["x", "y"]}))
    assert found == Coverage(rows=2)
    assert coverage([1.0, 2.0, 300.0], schema={"columns": {"value": {"bounds": [0, 100]}}}) == Coverage(
        rows=3, clipped={"value": 1}
    )


def test_nobody_is_left_of_rows_without_a_value():
    found = coverage(pl.DataFrame({"pay": [None, None], "ward": ["x", "y"]}))
    assert (found.rows, found.rows_left_out, found.missing) == (2, 2, {"pay": 2})
