"""One person's row does not change how anyone else's is read, in any kind of frame or file; or all are refused."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equinoise
from equinoise import BadInput
from equinoise.analysis.row_losses import write_losses
from equinoise.data import text_fields as fields
from equinoise.data.engines import connect
from equinoise.data.rows import open_rows
from tests.helpers.counts import count, people_by_bag
from tests.helpers.odd_rows import (
    AXIS,
    NAMES,
    VALUES,
    changed_by_names,
    changed_by_values,
    files,
    in_pandas,
    one_by_one,
)


def put_together(tables):
    return pa.concat_tables(tables, promote_options="permissive")


FRAMES = {
    "polars": pl.DataFrame,
    "polars, of anything": lambda c: pl.DataFrame(c, strict=False),
    "polars, lazy": lambda c: pl.LazyFrame(c, strict=False),
    "polars, one below the other": one_by_one(pl.DataFrame, lambda both: pl.concat(both, how="vertical_relaxed")),
    "polars, categories": lambda c: pl.DataFrame(c, strict=False).with_columns(
        pl.col("who").cast(pl.String).cast(pl.Categorical)
    ),
    "pandas": in_pandas,
    "pandas, objects": lambda c: pd.DataFrame(c, dtype=object),
    "pandas, one below the other": one_by_one(in_pandas, pd.concat),
    "pandas, nullable": lambda c: pd.DataFrame({k: pd.array(v) for k, v in c.items()}),
    "pandas, arrow": lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, categories": lambda c: in_pandas(c).astype({"who": "category"}),
    "pandas, categories of objects": lambda c: pd.DataFrame(c, dtype=object).astype({"who": "category"}),
    "arrow": pa.table,
    "arrow, dictionary": lambda c: pa.table({**c, "who": pa.array(c["who"]).dictionary_encode()}),
    "arrow, one below the other": one_by_one(pa.table, put_together),
    "arrow, dictionaries": one_by_one(
        lambda c: pa.table({**c, "who": pa.array(c["who"]).dictionary_encode()}), put_together
    ),
    "duckdb, of arrow": lambda c: duckdb.from_arrow(pa.table(c)),
    "duckdb, of pandas": lambda c: duckdb.from_df(in_pandas(c)),
    "duckdb, of polars": lambda c: duckdb.from_arrow(pl.DataFrame(c, strict=False).to_arrow()),
}  # fmt: skip
FILES = tuple(files(Path()))


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_name_in_a_frame(frame, names):
    changed, _, counted = changed_by_names(FRAMES[frame], names)
    assert changed == []
    assert counted > 0


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_value_in_a_frame(frame, values):
    changed, _, counted = changed_by_values(FRAMES[frame], values)
    assert changed == []
    assert counted > 0


@pytest.fixture(params=["polars", "duckdb"])
def engine(request, monkeypatch):
    monkeypatch.setattr(fields, "PART_BYTES", 20)  # many parts, for engines that cut text into them
    with connect(request.param) as found:
        yield found


@pytest.mark.parametrize("kind", FILES)
def test_a_name_or_a_value_in_a_file(tmp_path, engine, kind):
    make = files(tmp_path)[kind]
    for names in NAMES:
        assert changed_by_names(make, names, engine)[0] == [], names
    for values in ("floats", "whole numbers"):
        assert changed_by_values(make, values, engine)[0] == [], values


LARGE = [10**18 + i // 2 for i in range(400)]
X = [float(i % 19) for i in range(400)]
ASKED = {"column": "x", "bounds": (0, 20), "epsilon": 1, "bins": 15, "restarts": 1}


def test_a_row_without_a_name_does_not_make_200_people_3():
    """In pandas it turns names into floats, where most of them are the same."""
    whole = pd.DataFrame({"x": X, "who": LARGE})
    assert equinoise.optimize(whole, unit="who", **ASKED).total_people == 200
    rounded = pd.DataFrame({"x": [*X, 9.0], "who": [*LARGE, None]})
    assert rounded["who"].nunique() < 10
    with pytest.raises(BadInput, match=r"'who' cannot be the unit: it holds floats such as 1.*e\+18, and from 9,007,"):
        equinoise.optimize(rounded, unit="who", missing="drop", **ASKED)
    nullable = pd.DataFrame({"x": [*X, 9.0], "who": pd.array([*LARGE, None], dtype="Int64")})
    assert equinoise.optimize(nullable, unit="who", missing="drop", **ASKED).total_people == 200


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_same_through_a_file_that_pandas_wrote(folder, run, engine, ending):
    frame = pd.DataFrame({"x": [*X, 9.0], "who": [*LARGE, None]})
    frame.to_csv("a.csv", index=False) if ending == "csv" else frame.to_parquet("a.parquet")
    line = ("--column", "x", "--bounds", "x", "0", "20", "--epsilon", "1", "--missing", "drop", "--unit", "who")
    code, _, err = run("optimize", f"a.{ending}", *line, "--engine", engine, "--out", "a.eq")
    assert (code, "'who' cannot be the unit: it holds floats such as 1" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    ("names", "fine"),
    [
        (pl.Series([2.0**53 - 1, -(2.0**53) + 1]), True),
        (pl.Series([2.0**53, 1.0]), False),
        (pl.Series([-(2.0**53), 1.0]), False),
        (pl.Series([float("inf"), 1.0]), False),
        (pl.Series([2.0**24 - 1, 1.0], dtype=pl.Float32), True),
        (pl.Series([2.0**24, 1.0], dtype=pl.Float32), False),
        (pl.Series(["9007199254740991.0", "1.5e+3"]), True),
        (pl.Series(["9007199254740992.0", "a"]), False),
        (pl.Series(["1.0E18", "a"]), False),
        (pl.Series(["1E+18", "a"]), False),
        (pl.Series(["-1.2e+18", "a"]), False),
        (pl.Series(["12e45678", "1e18", "1234567890123456789", "1.2.840.10008", "12345678901234567890.5"]), True),
        (pl.Series([2**63 - 1, 2**53]), True),
    ],
)
def test_floats_name_people_while_they_tell_whole_numbers_apart(tmp_path, names, fine):
    frame = pl.DataFrame({"x": np.arange(len(names)) * 3.0, "who": names})
    frame.write_parquet(tmp_path / "a.parquet")
    with connect("duckdb") as reader:
        for data, engine in ((frame, None), (frame.to_arrow(), None), (tmp_path / "a.parquet", reader)):
            rows = open_rows(data, "x", engine, keep="who")
            if fine:
                assert people_by_bag(rows, (AXIS,), missing="refuse", outside="refuse").total_people == len(names)
                continue
            with pytest.raises(BadInput, match="cannot be the unit: it holds floats such as"):
                people_by_bag(rows, (AXIS,), missing="refuse", outside="refuse")


def test_categories_name_people_as_the_values_they_stand_for(tmp_path):
    frame = pd.DataFrame({"x": X, "who": pd.Categorical([i // 2 for i in range(400)])})
    frame["plain"] = frame["who"].astype(int)
    made = equinoise.optimize(frame, unit="who", **ASKED)
    write_losses(made, frame, tmp_path / "a.csv")
    assert made.total_people == 200
    assert pl.read_csv(tmp_path / "a.csv").select((pl.col("who") == pl.col("plain")).all()).item()
    for odd in (pd.Categorical([pd.Timedelta(1)] * 400), pd.Categorical([1j] * 400)):
        with pytest.raises(BadInput, match="cannot be the unit: it holds Python objects"):
            equinoise.optimize(frame.assign(who=odd), unit="who", **ASKED)


def test_objects_of_polars_are_nobodys_names():
    frame = pl.DataFrame({"x": [1.0, 2.0], "who": pl.Series([1, 2], dtype=pl.Object)})
    with pytest.raises(BadInput, match=r"'who' cannot be the unit: it holds Python objects \(of any kind\)"):
        equinoise.optimize(frame, unit="who", **ASKED)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
@pytest.mark.parametrize("part", [4, 25, 2**20])
def test_a_quote_that_is_not_closed_does_not_swallow_other_rows(tmp_path, monkeypatch, ends, last, part):
    """Where the last line has quotes and no end, polars takes all that follows the odd row for one field."""
    monkeypatch.setattr(fields, "PART_BYTES", part)
    others = [f"{4 * i},p,6'\"6'\"" for i in range(8)]
    path = tmp_path / "a.csv"
    path.write_bytes((ends.join(["x,who,note", *others]) + last).encode())
    assert count(open_rows(path, "x"), AXIS).people == 8
    path.write_bytes((ends.join(["x,who,note", *others[:2], "90,odd,\"'", *others[2:]]) + last).encode())
    for name in ("polars", "duckdb"):
        with connect(name) as reader, pytest.raises(BadInput, match="quotes that are not closed"):
            count(open_rows(path, "x", reader), AXIS, missing="drop")


def test_numbers_beyond_floats_are_infinite_as_in_text(folder, run):
    frame = pd.DataFrame({"x": pd.Series([1, 3, 10**400, -(10**400)], dtype=object)})
    frame.to_csv("a.csv", index=False)
    for data in (frame, "a.csv"):
        with pytest.raises(BadInput, match="has 0 missing values and 2 infinite values"):
            count(open_rows(data, "x"), AXIS)
