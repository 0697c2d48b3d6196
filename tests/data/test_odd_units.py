"""Whose rows are whose, where the data or the names are odd."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import equinoise
from equinoise.data.engines import connect
from equinoise.data.grid import Axis
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import open_rows
from tests.helpers.counts import count, count_units

AXIS = Axis("x", 0.0, 100.0, 41)
VISITS = pl.DataFrame({"who": [f"p{i % 20}" for i in range(60)], "x": [float(i * 37 % 101) for i in range(60)]})
ASKED = {"column": "x", "bounds": (0, 100), "epsilon": 1, "bins": 41}
LINE = ("--column", "x", "--bounds", "x", "0", "100", "--epsilon", "1", "--bins", "41")


def test_a_unit_without_a_name_is_a_unit(folder, run):
    """An index that pandas wrote has an empty name."""
    VISITS.rename({"who": ""}).write_csv("a.csv")
    code, out, _ = run("optimize", "a.csv", *LINE, "--unit", "", "--out", "a.eq", "--json")
    assert (code, json.loads(out)["people"], json.loads(out)["rows"]) == (0, 20, 60)
    assert run("audit", "a.eq", "--data", "a.csv")[0] == 0
    assert run("losses", "a.eq", "a.csv", "--out", "b.csv")[0] == 0
    VISITS.write_csv("b.csv")
    code, _, err = run("optimize", "b.csv", *LINE, "--unit", "", "--out", "b.eq")
    assert (code, "no column ''" in err) == (2, True)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(("who", "x", "kind"), [("*", "x", "parquet"), ('a"b', "*", "parquet"), ('a"b', "x.y", "csv")])
def test_names_are_names(folder, run, engine, who, x, kind):
    odd = VISITS.rename({"who": who, "x": x})
    odd.write_csv("a.csv") if kind == "csv" else odd.write_parquet("a.parquet")
    asked = ("--column", x, "--bounds", x, "0", "100", "--epsilon", "1", "--bins", "41", "--engine", engine)
    code, out, _ = run("optimize", f"a.{kind}", *asked, "--unit", who, "--out", "a.eq", "--json")
    assert (code, json.loads(out)["people"]) == (0, 20)
    made = equinoise.Mechanism.open("a.eq")
    assert made.histogram.tolist() == np.bincount(AXIS_CELLS, minlength=41).tolist()
    code, out, _ = run("losses", "a.eq", f"a.{kind}", "--engine", engine, "--out", "b.csv", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 60)


AXIS_CELLS = [AXIS.cell_of(value) for value in VISITS["x"].to_list()]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_what_a_parquet_file_tells_of_its_smallest_and_largest_value_hides_nothing(tmp_path, engine):
    values = [float("nan") if i % 10 == 0 else v for i, v in enumerate(VISITS["x"].to_list())]
    pl.DataFrame({"x": values, "who": [float("nan"), 1.0] * 30}).write_parquet(tmp_path / "a.parquet")
    with connect(engine) as reader:
        with pytest.raises(equinoise.BadInput, match="6 missing values"):
            count(open_rows(tmp_path / "a.parquet", "x", reader), AXIS)
        clipped = count(open_rows(tmp_path / "a.parquet", "x", reader), AXIS, missing="drop", outside="clip")
        units = open_rows(tmp_path / "a.parquet", "x", reader, keep="who")
        who, _, times = count_units(units, (AXIS,), missing="drop")
    assert clipped.people == 54
    assert (set(who.tolist()), times.sum()) == ({1}, 30)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("bounds", [(0, 100), (20, 60), (-50, 60), (200, 300)])
def test_nan_is_missing_wherever_the_other_values_are(tmp_path, engine, bounds):
    values = [float("nan") if i % 10 == 0 else v for i, v in enumerate(VISITS["x"].to_list())]
    path, axis = tmp_path / "a.parquet", Axis.padded("x", *bounds, bins=11)
    pl.DataFrame({"x": values}).write_parquet(path)
    usable = [min(max(v, axis.low), axis.high) for v in values if not np.isnan(v)]
    with connect(engine) as reader:
        with pytest.raises(equinoise.BadInput, match="6 missing values and 0 infinite"):
            count(open_rows(path, "x", reader), axis, outside="clip")
        found = count(open_rows(path, "x", reader), axis, missing="drop", outside="clip")
    assert found.counts.tolist() == np.bincount([axis.cell_of(v) for v in usable], minlength=11).tolist()


def test_a_relation_of_duckdb_is_looked_at_too(tmp_path):
    pl.DataFrame({"*": [1.0, float("nan"), 3.0], "x": [9.0, 9.0, 9.0]}).write_parquet(tmp_path / "a.parquet")
    relation = duckdb.connect().read_parquet(str(tmp_path / "a.parquet"))
    with pytest.raises(equinoise.BadInput, match="1 missing value"):
        count(open_rows(relation, "*"), AXIS)
    kept = count(open_rows(relation, "*"), AXIS, missing="drop")
    assert kept.counts.tolist() == np.bincount([AXIS.cell_of(1), AXIS.cell_of(3)], minlength=41).tolist()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_minus_zero_is_zero(tmp_path, engine):
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "who": [0.0, -0.0, 1.0]}).write_parquet(tmp_path / "a.parquet")
    with connect(engine) as reader:
        who, _, times = count_units(open_rows(tmp_path / "a.parquet", "x", reader, keep="who"), (AXIS,))
    assert [int(times[who == name].sum()) for name in (1, 2)] == [2, 1]


@pytest.mark.filterwarnings("error")
def test_columns_of_pandas_may_be_called_by_numbers():
    warn_of_repeats(pd.DataFrame({0: [1, 1, 2], "x": [1.0, 2.0, 3.0]}), ["x"])


def test_blanks_are_nobodys_name():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "who": ["", " ", "a", " a"]})
    rows = open_rows(frame, "x", keep="who")
    with pytest.raises(equinoise.BadInput, match="the unit, is missing in 2 rows"):
        count_units(rows, (AXIS,))
    assert count_units(rows, (AXIS,), missing="drop")[0].tolist() == [1, 2]


def test_lengths_of_time_are_not_written_as_text(folder, run):
    VISITS.with_columns(took=pl.duration(seconds=5)).write_parquet("a.parquet")
    assert run("optimize", "a.parquet", *LINE, "--unit", "who", "--out", "a.eq")[0] == 0
    code, _, err = run("losses", "a.eq", "a.parquet", "--out", "b.csv")
    assert (code, "Column 'took' has values of type" in err, "Write a .parquet file" in err) == (2, True, True)


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_a_name_is_not_looked_at(tmp_path):
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "user": [[1], [1], [2]], "patient": [True, True, False]})
    frame.write_parquet(tmp_path / "a.parquet")
    warn_of_repeats(tmp_path / "a.parquet", ["x"])


@pytest.mark.parametrize("how", ["all", "one"])
def test_losses_of_no_rows_are_refused(folder, run, how):
    VISITS.write_csv("a.csv")
    VISITS.clear().write_csv("none.csv")
    assert run("optimize", "a.csv", *LINE, "--unit", "who", "--unit-rows", how, "--out", "a.eq")[0] == 0
    code, _, err = run("losses", "a.eq", "none.csv", "--out", "b.csv")
    assert (code, "fewer" in err, (folder / "b.csv").exists()) == (2, True, False)


def test_one_person_alone(folder, run):
    VISITS.with_columns(who=pl.lit("a")).write_csv("a.csv")
    for how in ("all", "one"):
        code, _, err = run("optimize", "a.csv", *LINE, "--unit", "who", "--unit-rows", how, "--out", "a.eq")
        assert (code, "has usable values of 1 person, and at least two" in err) == (2, True)
    asked = ("--unit", "who", "--rows", 1, "--save", "a.eq", "--out", "r.csv", "--json")
    code, out, _ = run("synthesize", "a.csv", *LINE, *asked)
    assert (code, json.loads(out)["people"]) == (0, 1)  # without a unit, one person is enough here, too
    code, out, _ = run("losses", "a.eq", "a.csv", "--out", "b.csv", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 60)


def test_losses_are_not_written_among_the_files_of_a_pattern(folder, run):
    (folder / "parts").mkdir()
    VISITS[:30].write_csv("parts/a.csv")
    VISITS[30:].write_csv("parts/b.csv")
    assert run("optimize", "parts/*.csv", *LINE, "--unit", "who", "--out", "a.eq")[0] == 0
    code, _, err = run("losses", "a.eq", "parts/*.csv", "--out", "parts/c.csv")
    assert (code, "matches the pattern being read" in err) == (2, True)
    assert run("losses", "a.eq", "parts/*.csv", "--out", "parts/c.tsv")[0] == 0
    assert run("losses", "a.eq", "parts/*.csv", "--out", "c.csv")[0] == 0


def test_compare_takes_no_other_rows_than_all_or_one(folder, run):
    VISITS.write_csv("a.csv")
    code, _, err = run("compare", "a.csv", *LINE, "--unit", "who", "--unit-rows", "two")
    assert (code, "must be 'all' or 'one'" in err) == (2, True)
    code, _, err = run("compare", "a.csv", *LINE, "--unit-rows", "one")
    assert (code, "left out without a unit" in err) == (2, True)
