"""Odd values are in the same bins in Dask and Spark as in this process: frames, partitions and files, one by one."""

import dask
import dask.dataframe as dd
import pyarrow as pa
import pytest

from equinoise.data import text_fields as fields
from equinoise.errors import BadInput
from tests.helpers.odd_values import FRAMES, FRAMES_OF_TEXT, NO_DATES, ODD, files_for, frames_for

PANDAS = [kind for kind in (*FRAMES, *FRAMES_OF_TEXT) if kind.startswith("pandas")]
NOT_IN_SPARK = {"uint64", "timestamp[ns]", "timestamp[ms]"}
"""Types that Spark does not take from Arrow."""

FILES = ["pandas.csv", "polars.tsv", "quoted.csv", "arrow.parquet", "dictionary.parquet"]


@pytest.mark.parametrize("kind", PANDAS)
def test_frames_of_dask(kind):
    with dask.config.set(scheduler="synchronous"):
        for name, odd in ODD.items():
            make = frames_for(odd).get(kind)
            if make is None:
                continue
            frame = make(odd.table)
            parts = dd.from_pandas(frame, npartitions=3)
            if frame["c"].dtype == object and not odd.raw:  # Dask itself makes text of Python objects
                with pytest.raises(BadInput, match="holds text, not numbers"):
                    odd.bins_in(parts)
                continue
            assert odd.bins_in(parts) == odd.expected, name


@pytest.mark.parametrize("file", FILES)
def test_files_of_dask(engines, tmp_path, monkeypatch, file):
    monkeypatch.setattr(fields, "PART_BYTES", 200)
    with dask.config.set(scheduler="synchronous"):
        for name, odd in ODD.items():
            if file in files_for(odd):
                files_for(odd)[file](odd.table, tmp_path / file)
                assert odd.bins_in(tmp_path / file, engines["dask"]) == odd.expected, name


ONE_OF_EACH_TYPE = {str(odd.dtype): name for name, odd in ODD.items() if str(odd.dtype) not in NOT_IN_SPARK}.values()


@pytest.fixture
def session(engines):
    """The Spark session, in which small queries take few tasks."""
    session = engines["spark"].session
    usual = session.conf.get("spark.sql.shuffle.partitions")
    session.conf.set("spark.sql.shuffle.partitions", 2)
    yield session
    session.conf.set("spark.sql.shuffle.partitions", usual)


def test_frames_of_spark(session):
    for name in ("texts", "texts of codes", *ONE_OF_EACH_TYPE):
        odd = ODD[name]
        assert odd.bins_in(session.createDataFrame(odd.table).repartition(3)) == odd.expected, name


@pytest.mark.parametrize("file", ["pandas.csv", "arrow.parquet"])
def test_files_of_spark(engines, session, tmp_path, monkeypatch, file):
    monkeypatch.setattr(fields, "PART_BYTES", 200)
    for name in ODD if file.endswith("parquet") else ("texts", "floats for codes", "texts of dates", "tenths"):
        odd = ODD[name]
        files_for(odd)[file](odd.table, tmp_path / file)
        if odd.dtype == pa.timestamp("ns"):  # which Spark does not read
            with pytest.raises(BadInput, match="could not be read"):
                odd.bins_in(tmp_path / file, engines["spark"])
            continue
        assert odd.bins_in(tmp_path / file, engines["spark"]) == odd.expected, name


def test_text_that_is_no_clear_date_is_refused(frame_of):
    with pytest.raises(BadInput, match=f"'c' holds no dates in {len(NO_DATES)} rows, such as"):
        ODD["dates"].bins_in(frame_of(pa.table({"c": [*NO_DATES, "2024-02-29"], "i": range(len(NO_DATES) + 1)})))
