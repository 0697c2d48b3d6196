"""Odd values are in the same bins whatever they come in: frames, files and engines of this process, one by one."""

import time
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equinoise.data import text_fields as fields
from equinoise.data.codes import MISSING
from equinoise.data.engines import connect
from equinoise.errors import BadInput
from tests.helpers.odd_values import (
    CODES,
    FILES,
    FILES_OF_TEXT,
    FRAMES,
    FRAMES_OF_TEXT,
    NO_DATES,
    NOWHERE,
    ODD,
    Odd,
    files_for,
    frames_for,
)

MORE_FRAMES = {
    "duckdb": duckdb.from_arrow,
    "duckdb, of pandas": lambda table: duckdb.from_df(table.to_pandas()),
}


@pytest.mark.parametrize("kind", [*FRAMES, *FRAMES_OF_TEXT, *MORE_FRAMES])
def test_frames(kind):
    for name, odd in ODD.items():
        make = (frames_for(odd) | MORE_FRAMES).get(kind)
        if make is not None:
            assert odd.bins_in(make(odd.table)) == odd.expected, name


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("file", [*FILES, *FILES_OF_TEXT])
def test_files(tmp_path, monkeypatch, engine, file):
    monkeypatch.setattr(fields, "PART_BYTES", 20)  # many parts, for engines that cut text into them
    with connect(engine) as reader:
        for name, odd in ODD.items():
            write = files_for(odd).get(file)
            if write is not None:
                write(odd.table, tmp_path / file)
                assert odd.bins_in(tmp_path / file, reader) == odd.expected, name


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "duckdb"])
def test_the_order_of_rows_does_not_matter(kind):
    for name, odd in ODD.items():
        back = replace(odd, values=odd.values[::-1])
        assert back.bins_in((frames_for(odd) | MORE_FRAMES)[kind](back.table)) == odd.expected[::-1], name


@pytest.mark.parametrize("text", NO_DATES)
def test_text_that_is_no_clear_date_is_refused(tmp_path, text):
    data = pl.DataFrame({"c": ["2024-02-29", text], "i": [0, 1]})
    data.write_csv(tmp_path / "a.csv")
    for source in (data, data.to_arrow(), duckdb.from_arrow(data.to_arrow()), tmp_path / "a.csv"):
        with pytest.raises(BadInput, match="'c' holds no dates in 1 row, such as"):
            ODD["dates"].bins_in(source)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_times_of_a_zone_are_on_no_day(tmp_path, engine):
    moments = pl.Series("c", [datetime(2024, 2, 29, 23, 30)] * 2).dt.replace_time_zone("Europe/Berlin")
    data = pl.DataFrame({"c": moments, "i": [0, 1]})
    data.write_parquet(tmp_path / "a.parquet")
    with connect(engine) as reader:
        sources = [(data, None), (data.to_arrow(), None), (data.to_pandas(), None), (tmp_path / "a.parquet", reader)]
        for source, by in sources:
            with pytest.raises(BadInput, match="times of the zone 'Europe/Berlin', and on which day"):
                ODD["dates"].bins_in(source, by)
    here = pd.DataFrame({"c": pd.Series([moments[0], None], dtype=object), "i": [0, 1]})
    with pytest.raises(BadInput, match="'c' holds no dates in 1 row"):
        ODD["dates"].bins_in(here)


def test_days_of_utc_are_those_of_the_file_wherever_the_computer_is(tmp_path, monkeypatch):
    odd = ODD["moments in UTC"]
    pq.write_table(odd.table, tmp_path / "a.parquet")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for engine in ("polars", "duckdb"):
            with connect(engine) as reader:
                assert odd.bins_in(tmp_path / "a.parquet", reader) == odd.expected
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("values", [[True, 1], [0, False, 2], [True, 1.0, "a"], [Decimal(1), True]])
def test_true_and_one_in_one_column_are_refused(values):
    for order in (values, values[::-1]):
        data = pd.DataFrame({"c": pd.Series(order, dtype=object), "i": range(len(order))})
        with pytest.raises(BadInput, match="'c' holds both yes/no values and numbers"):
            ODD["whole numbers"].bins_in(data)


def test_objects_of_several_kinds_are_each_what_they_are():
    values = [(1, 0), ("1", 0), (1.0, 0), (Decimal(2), 1), ("01", 0), ("x", NOWHERE), (None, MISSING), (b"1", NOWHERE)]
    odd = Odd(CODES, None, values)
    data = pd.DataFrame({"c": pd.Series([value for value, _ in values], dtype=object), "i": range(len(values))})
    assert odd.bins_in(data) == odd.expected


def test_what_a_dataframe_cannot_group_is_one_sentence():
    for data in (
        pd.DataFrame({"c": [[1], [2]], "i": [0, 1]}),
        pl.DataFrame({"c": pl.Series([1, True], dtype=pl.Object), "i": [0, 1]}),
        pl.DataFrame({"c": [[1], [2]], "i": [0, 1]}),
        pa.table({"c": [b"a", b"b"], "i": [0, 1]}),
    ):
        with pytest.raises(BadInput):
            ODD["texts"].bins_in(data)
