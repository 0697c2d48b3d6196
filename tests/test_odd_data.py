"""Counting where files and dataframes are odd: what is one thing must not be counted as another, or twice."""

import datetime
import os
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equinoise import BadInput
from equinoise.counting import count, open_rows
from equinoise.engines import connect
from equinoise.grid import Axis
from equinoise.row_losses import write_losses

AXIS = Axis.padded("x", 0, 20, bins=81)


@pytest.fixture(params=["polars", "duckdb"])
def engine(request):
    with connect(request.param) as found:
        yield found


def counted(data, column="x", engine=None, **settings):
    counts = count(open_rows(data, column, engine), AXIS, **settings).counts
    return {cell: people for cell, people in enumerate(counts.tolist()) if people}


def cells(*values):
    return dict.fromkeys((AXIS.cell_of(value) for value in values), 1)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([datetime.timedelta(1)]), "holds values of type Duration"),
        (pa.array(["a"]).dictionary_encode(), "holds values of type Categorical"),
        (pa.array([b"a"]), "holds values of type Binary"),
        (pa.array([Decimal("1.5")], type=pa.decimal256(60, 5)), "holds decimals of 60 digits"),
    ],
)
def test_a_parquet_file_says_of_which_type_a_column_is_and_not_the_engine(tmp_path, engine, column, said):
    """DuckDB takes lengths of time for whole numbers, and wide decimals for floats."""
    pq.write_table(pa.table({"x": column}), tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=f"Column 'x' {said}"):
        open_rows(tmp_path / "a.parquet", "x", engine)


def test_names_that_engines_would_change_are_kept(tmp_path, engine):
    """DuckDB does not tell x from X, and gives a column without a name one."""
    frame = pl.DataFrame({"x": [1.0, 3.0], "X": [5.0, 7.0], "": [9.0, 11.0], "user": ["a", "a"], "User": ["b", "c"]})
    frame.write_parquet(tmp_path / "a.parquet")
    for name, values in (("x", (1, 3)), ("X", (5, 7)), ("", (9, 11))):
        assert counted(tmp_path / "a.parquet", name, engine) == cells(*values)


def test_losses_of_columns_whose_names_differ_in_case_only(folder, run):
    frame = pl.DataFrame({"who": ["a", "b"] * 10, "X": [5.0] * 20, "x": [float(i % 19) for i in range(20)], "Who": "q"})
    frame.write_parquet("a.parquet")
    asked = ("--column", "x", "--bounds", "x", "0", "20", "--epsilon", "4", "--bins", "15", "--engine", "duckdb")
    assert run("optimize", "a.parquet", *asked, "--unit", "who", "--out", "a.eq")[0] == 0
    for engine in ("polars", "duckdb"):
        write_losses("a.eq", "a.parquet", f"{engine}.csv", engine=engine)
    assert (folder / "polars.csv").read_bytes() == (folder / "duckdb.csv").read_bytes()
    assert pl.read_csv("polars.csv").columns == ["who", "X", "x", "Who", "loss", "scale"]


def test_a_file_under_two_names_is_not_counted_twice(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.csv").write_text("x\n1\n3\n")
    assert counted(tmp_path / "**" / "**" / "*.csv") == cells(1, 3)
    os.symlink("1.csv", tmp_path / "a" / "2.csv")
    for data in (tmp_path / "a", tmp_path / "a" / "*.csv"):
        with pytest.raises(BadInput, match=r"1\.csv' and '.*2\.csv' are the same file"):
            counted(data)
    (tmp_path / "a" / "2.csv").unlink()
    (tmp_path / "a" / "2.csv").write_text("x\n1\n3\n")  # as much in it, but another file: other people
    assert counted(tmp_path / "a") == dict.fromkeys(cells(1, 3), 2)


def test_patterns_pass_over_what_is_not_data_as_folders_do(tmp_path):
    for name in ("1.csv", "_1.csv", "_temporary/2.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n1\n")
    assert counted(tmp_path / "**" / "*.csv") == counted(tmp_path / "*.csv") == cells(1)
    assert counted(tmp_path / "_tem*" / "*.csv") == counted(tmp_path / "_*.csv") == cells(1)
    with pytest.raises(BadInput, match="No file matches"):
        counted(tmp_path / "*" / "*.csv")
