"""Files read by every engine: a file means the same to all of them."""

import numpy as np
import polars as pl
import pytest

from equinoise.data import text_fields as fields
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput
from tests.helpers.counts import count, count_jointly

AXIS = Axis.padded("pay", 0, 100, bins=11)
OTHER = Axis.padded("age", 0, 1, bins=5)
ODD_TEXT = {
    "blank lines": b"id,pay\n1,10\n\n2,20\n\n\n",
    "one column": b"pay\n10\n\n20\n\n",
    "windows": b'id,pay\r\n"a\r\nb",10\r\n\r\n2,20\r\n',
    "mark": b"\xef\xbb\xbfpay,id\n10,1\n20,2",
    "short rows": b"id,pay\n1,10\n2\n3,30\n",
    "long row": b"id,pay\n1,10\n2,20,\n",
    "quotes": b'id,pay\n"a,""b"" \n",10\n"2"," 20 "\n3,""\n4, "7"\n',
    "open quote": b'id,pay\n"a,10\n2,20\n',
    "latin": "id,pay,ort\n1,10,Köln\n".encode("latin-1"),
    "spaces": "id,pay\n1,\u00a010\u00a0\n2,\t10\n3,\u200310\n".encode(),
    "missing": b"id,pay\n1,NA\n2,n/a\n3,NaN\n4,NULL\n5,None\n6, \n7,-nan\n8,1e400\n9,5\n",
    "text": b"id,pay\n1,1_000\n2,0x10\n3,1d\n4,NaN(1)\n5,+-1\n6,1e\n7,True\n8,5\n",
    "numbers": b"id,pay\n1,1.\n2,.5\n3,+.5\n4,1e1\n5,1.e1\n6,0e400\n7,1e-400\n8,00012\n9,-0\n",
    "header only": b"id,pay\n",
}


def outcome(data, engine, **settings):
    try:
        return count(open_rows(data, "pay", engine), AXIS, **settings).counts.tolist()
    except BadInput as error:
        return str(error)


@pytest.mark.parametrize("kind", ODD_TEXT)
def test_odd_text_means_the_same_in_every_engine(tmp_path, engine, monkeypatch, kind):
    """Also when it is cut into many parts. Spark, the slowest by far, only then."""
    path = tmp_path / "a.csv"
    path.write_bytes(ODD_TEXT[kind])
    plain = outcome(path, None), outcome(path, None, missing="drop")
    if type(engine).__name__ != "Spark":
        assert (outcome(path, engine), outcome(path, engine, missing="drop")) == plain
    monkeypatch.setattr(fields, "PART_BYTES", 4)
    assert (outcome(path, engine), outcome(path, engine, missing="drop")) == plain


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_file_a_folder_and_a_pattern_give_the_counts_of_numpy(tmp_path, engine, ending):
    rng = np.random.default_rng(5)
    pay, age = rng.uniform(0, 100, 900), rng.uniform(0, 1, 900)
    folder = tmp_path / "a [1] {b}, *c"
    folder.mkdir()
    for i in range(3):
        here = slice(300 * i, 300 * (i + 1))
        frame = pl.DataFrame({"age": age[here], "id": range(300), "pay": pay[here]})
        path = folder / f"{i}.{ending}"
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path, separator=",\t"[ending == "tsv"])
    (folder / "_SUCCESS").touch()
    edges = [axis.padded_low + axis.width * np.arange(axis.bins + 1) for axis in (AXIS, OTHER)]
    many = slice(0, 900), slice(0, 300)
    for people, data in zip(many, (folder, folder / f"0.{ending}"), strict=True):
        found = count_jointly(open_rows(data, ["pay", "age"], engine), (AXIS, OTHER))
        dense = np.zeros((11, 5), dtype=int)
        dense[tuple(found.grid.bins_of(found.cells).T)] = found.people
        np.testing.assert_array_equal(dense, np.histogramdd(np.stack([pay, age], 1)[people], bins=edges)[0])
    pattern = str(tmp_path / f"*b*/[02].{ending}")
    assert count(open_rows(pattern, "pay", engine), AXIS).people == 600


def test_next_to_an_edge_text_and_parquet_agree_with_one_value_at_a_time(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(fields, "PART_BYTES", 5000)
    axis = Axis.padded("x", 163, 226, bins=101)
    edges = axis.padded_low + np.arange(axis.bins + 1) * axis.width
    values = np.concatenate([edges + step * np.spacing(edges) for step in range(-3, 4)])
    values = values[(values >= axis.low) & (values <= axis.high)]
    who = Axis.padded("who", 0, len(values) - 1, bins=2 * len(values), percentile=0.5)
    frame = pl.DataFrame({"x": values, "who": range(len(values))})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=50)
    for name in ("a.csv", "a.parquet"):
        found = count_jointly(open_rows(tmp_path / name, ["x", "who"], engine), (axis, who))
        bins = found.grid.bins_of(found.cells)
        bins = bins[np.argsort(bins[:, 1])]
        assert bins[:, 0].tolist() == [axis.cell_of(value) for value in values.tolist()]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pl.Series([True, False]), "yes/no"),
        (pl.Series(["2020-01-01"]).str.to_date(), "dates"),
        (pl.Series(["2020-01-01"]).str.to_datetime(), "dates"),
        (pl.Series(["a"]), "text"),
    ],
)
def test_parquet_without_numbers_is_refused_with_a_reason(tmp_path, engine, column, said):
    column.alias("pay").to_frame().write_parquet(tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=f"holds {said}"):
        open_rows(tmp_path / "a.parquet", "pay", engine)


def test_decimals_and_wide_integers_in_parquet(tmp_path, engine):
    for kind in (pl.Decimal(20, 3), pl.UInt64, pl.Int8, pl.Float32):
        frame = pl.DataFrame({"pay": pl.Series([1, None, 2, 100]).cast(kind)})
        frame.write_parquet(tmp_path / "a.parquet")
        path = tmp_path / "a.parquet"
        assert outcome(path, engine, missing="drop") == outcome(frame, None, missing="drop")
        assert "1 missing value and" in outcome(path, engine)
