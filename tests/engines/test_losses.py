"""Losses back to rows with every engine: the same rows in the same order as polars writes them."""

from contextlib import nullcontext

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from equinoise import BadInput, optimize, write_losses
from equinoise.data import text_fields as fields
from equinoise.data.rows import open_rows

PEOPLE = 900
ASKED = {"column": "pay", "bounds": (0, 100), "epsilon": 1, "bins": 41, "missing": "drop", "outside": "clip"}


def rows():
    rng = np.random.default_rng(21)
    pay = rng.normal(50, 12, PEOPLE).round(1)
    return pl.DataFrame(
        {
            "a.b": range(PEOPLE),
            "pay": [None if i % 50 == 7 else value for i, value in enumerate(pay.tolist())],
            "name": [None if i % 9 == 0 else f'é, "{i}"\n' for i in range(PEOPLE)],
            "Loss": pay > 50,
            "day": pl.Series(range(PEOPLE)).cast(pl.Int32).cast(pl.Date),
        }
    )


@pytest.fixture(scope="module")
def mechanism():
    """A mechanism of the rows of this module."""
    return optimize(rows(), **ASKED)


@pytest.fixture(scope="module")
def polars_losses(mechanism, tmp_path_factory):
    """Losses (rows of a table) as polars writes them, in this process."""
    out = tmp_path_factory.mktemp("plain") / "a.parquet"
    found = write_losses(mechanism, rows(), out)
    assert (found.rows, found.left_out, found.columns) == (PEOPLE, 18, ("row_2", "loss_2", "scale_2", "scale_needed_2"))
    return pl.read_parquet(out)


def small_batches(monkeypatch):
    """So that there are many of them, and partitions in several goes."""
    monkeypatch.setattr(fields, "PART_BYTES", 10_000)
    monkeypatch.setattr("equinoise.data.engines.duckdb.BATCH_ROWS", 100)
    monkeypatch.setattr("equinoise.data.engines.dask.PIECE_ROWS", 100)
    monkeypatch.setattr("equinoise.data.engines.dask.STREAMED_PARTITIONS", 2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_written_as_polars_does(tmp_path, engine, mechanism, polars_losses, monkeypatch, ending):
    """The last file is the largest, which Spark would read first."""
    small_batches(monkeypatch)
    folder = tmp_path / "a [1]"
    folder.mkdir()
    for name, first, stop in (("1", 0, 50), ("2", 50, 300), ("3", 300, PEOPLE)):
        some = rows()[first:stop]
        some.write_csv(folder / f"{name}.csv") if ending == "csv" else some.write_parquet(folder / f"{name}.parquet")
    monkeypatch.setattr("equinoise.analysis.row_losses.engine_for", lambda *_: nullcontext(engine))
    write_losses(mechanism, folder, tmp_path / "b.csv")
    write_losses(mechanism, folder, tmp_path / "b.parquet")
    found = pl.read_parquet(tmp_path / "b.parquet")
    if ending == "csv":
        read = pl.read_csv(tmp_path / "b.csv", try_parse_dates=True)
        assert read.cast({"day": pl.Date}).equals(polars_losses)
        assert found.select("loss_2", "scale_2").equals(polars_losses.select("loss_2", "scale_2"))
    else:
        assert found.equals(polars_losses)
        assert found.schema == polars_losses.schema
        polars_losses.write_csv(tmp_path / "c.csv")
        assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()


def test_frames_are_written_as_polars_does(tmp_path, frame_of, mechanism, polars_losses):
    write_losses(mechanism, frame_of(rows().to_arrow()), tmp_path / "b.parquet")
    found = pl.read_parquet(tmp_path / "b.parquet")
    assert found.sort("a.b").select("a.b", "pay", "name", "Loss", "day").equals(rows())
    added = ["loss_2", "scale_2"]
    assert sorted(found.select(added).drop_nulls().rows()) == sorted(polars_losses.select(added).drop_nulls().rows())
    if frame_of.engine != "spark":  # there, the order of rows that come from several files is Spark's
        assert found.equals(polars_losses)


def test_other_rows_get_no_file(tmp_path, frame_of, mechanism):
    for changed, said in (
        (rows()[:-1], "fewer people in"),
        (pl.concat([rows(), rows()[:1]]), "more people in"),
    ):
        with pytest.raises(BadInput, match=said):
            write_losses(mechanism, frame_of(changed.to_arrow()), tmp_path / "b.csv")
    assert not list(tmp_path.glob("*b.csv*"))
    with pytest.raises(BadInput, match="not numbers"):
        open_rows(frame_of(pa.table({"pay": ["x"]})), "pay", keep=True)


def test_all_rows_of_a_person_have_that_persons(tmp_path, engine, monkeypatch):
    """Two rows each, in different files; names that are numbers."""
    half = rows().drop_nulls("pay").with_columns(pl.col("a.b") % 300)
    (tmp_path / "in").mkdir()
    half[:500].write_parquet(tmp_path / "in" / "1.parquet")
    half[500:].write_parquet(tmp_path / "in" / "2.parquet")
    made = optimize(half, **{**ASKED, "unit": "a.b"})
    write_losses(made, half, tmp_path / "a.parquet")
    monkeypatch.setattr("equinoise.analysis.row_losses.engine_for", lambda *_: nullcontext(engine))
    write_losses(made, tmp_path / "in", tmp_path / "b.parquet")
    assert pl.read_parquet(tmp_path / "b.parquet").equals(pl.read_parquet(tmp_path / "a.parquet"))
