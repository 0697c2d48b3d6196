"""Odd names and values on the clusters: what tests/data/test_odd_units.py asks of polars and DuckDB."""

from dataclasses import replace

import polars as pl
import pytest

from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput
from tests.helpers.counts import count, count_units

AXIS = Axis.padded("x", 0, 100, bins=41)
PEOPLE = pl.DataFrame({"who": [f"p{i % 20}" for i in range(60)], "x": [float(7 * i % 100) for i in range(60)]})


@pytest.mark.parametrize(("who", "x", "kind"), [("*", "x", "parquet"), ('a"b', "*", "parquet"), ('a"b', "x.y", "csv")])
def test_names_are_names(tmp_path, engine, who, x, kind):
    odd, path = PEOPLE.rename({"who": who, "x": x}), tmp_path / f"a.{kind}"
    odd.write_csv(path) if kind == "csv" else odd.write_parquet(path)
    found = count_units(open_rows(path, x, engine, keep=who), (replace(AXIS, name=x),))
    plain = count_units(open_rows(PEOPLE, "x", keep="who"), (AXIS,))
    assert [part.tolist() for part in found] == [part.tolist() for part in plain]


def test_nan_in_parquet_is_missing_and_minus_zero_is_zero(tmp_path, engine):
    values = [float("nan") if i % 10 == 0 else v for i, v in enumerate(PEOPLE["x"])]
    frame = pl.DataFrame({"x": values, "who": [float("nan"), 0.0, -0.0, 1.0] * 15})
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(BadInput, match="6 missing values"):
        count(open_rows(tmp_path / "a.parquet", "x", engine), AXIS)
    usable = frame.filter(pl.col("x").is_not_nan() & pl.col("who").is_not_nan())
    who, _, times = count_units(open_rows(tmp_path / "a.parquet", "x", engine, keep="who"), (AXIS,), missing="drop")
    zeros = int((usable["who"] == 0).sum())
    assert [int(times[who == name].sum()) for name in (1, 2)] == [zeros, len(usable) - zeros]


def test_a_wide_number_names_people_and_a_length_of_time_nobody(tmp_path, engine):
    """Spark has no unsigned integers; DuckDB and Spark take lengths of time for something else. The file says."""
    big = [2**64 - 1 - i % 20 for i in range(60)]
    frame = PEOPLE.with_columns(pl.Series("big", big, dtype=pl.UInt64), took=pl.duration(seconds=pl.col("x")))
    frame.write_parquet(tmp_path / "a.parquet")
    found = count_units(open_rows(tmp_path / "a.parquet", "x", engine, keep="big"), (AXIS,))
    plain = count_units(open_rows(frame, "x", keep="big"), (AXIS,))
    assert [part.tolist() for part in found] == [part.tolist() for part in plain]
    with pytest.raises(BadInput, match="'took' cannot be the unit: it holds Duration"):
        open_rows(tmp_path / "a.parquet", "x", engine, keep="took")
