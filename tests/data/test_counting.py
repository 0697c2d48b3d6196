import datetime
import os
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.counting import find_bounds
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from equinoise.data.text_fields import VALUE
from equinoise.errors import BadInput, NotPublicWarning
from tests.helpers.counts import count

AXIS = Axis.padded("pay", 0, 100, bins=11)
VALUES = [0.0, 10.0, 50.0, 50.0, 99.9, 100.0]


def expected(values):
    return np.bincount([AXIS.cell_of(v) for v in values], minlength=11).tolist()


def frames():
    data = {"id": list(range(6)), "pay": VALUES}
    return {
        "pandas": pd.DataFrame(data),
        "polars": pl.DataFrame(data),
        "polars lazy": pl.LazyFrame(data),
        "pyarrow": pa.table(data),
        "pandas with arrow": pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
        "duckdb": duckdb.connect().from_arrow(pa.table(data)),
        "series": pl.Series("pay", VALUES),
        "pandas series": pd.Series(VALUES, name="pay"),
        "array": np.array(VALUES),
        "list": VALUES,
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_frame_gives_the_same_histogram(kind):
    assert count(open_rows(frames()[kind], "pay"), AXIS).counts.tolist() == expected(VALUES)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_every_kind_of_file_gives_the_same_histogram(tmp_path, name):
    frame, path = frames()["polars"], tmp_path / name
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if name.endswith("tsv") else ",")
    assert count(open_rows(str(path), "pay"), AXIS).counts.tolist() == expected(VALUES)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.Int64, pl.UInt64, pl.Float32, pl.Decimal(10, 2)])
def test_integers_floats_and_decimals_are_numbers(dtype):
    frame = pl.DataFrame({"pay": pl.Series([1, 2, 100]).cast(dtype)})
    assert count(open_rows(frame, "pay"), AXIS).counts.tolist() == expected([1, 2, 100])


EXACT = {
    "decimal": ([Decimal(k * 7919).scaleb(-3) for k in range(10**11, 10**11 + 3000)], pa.decimal128(18, 3)),
    "int64": ([2**53 + k for k in range(3000)], pa.int64()),
    "uint64": ([2**64 - 1 - 500 * k for k in range(3000)], pa.uint64()),
}


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("frame", ["pyarrow", "pandas", "pandas with arrow", "polars", "duckdb"])
def test_every_number_becomes_the_nearest_float_in_every_frame(kind, frame):
    values, dtype = EXACT[kind]
    table = pa.table({"pay": pa.array(values, dtype)})
    data = {
        "pyarrow": lambda: table,
        "pandas": table.to_pandas,
        "pandas with arrow": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "duckdb": lambda: duckdb.connect().from_arrow(table),
    }[frame]()
    rows = open_rows(data, "pay")
    found = rows.collect(rows.frame)[f"{VALUE} 0"].to_numpy()
    assert found.tolist() == [float(value) for value in values]


def test_the_widest_integers_of_duckdb_and_decimals_of_pandas_are_exact():
    values = [2**100 + 12345678901234567 * k for k in range(1000)]
    texts = pa.table({"pay": [str(value) for value in values]})
    rows = open_rows(duckdb.connect().from_arrow(texts).select("pay::hugeint as pay"), "pay")
    assert sorted(rows.collect(rows.frame)[f"{VALUE} 0"].to_list()) == [float(value) for value in values]
    objects = pd.DataFrame({"pay": [Decimal("1.5"), None, Decimal(100)]}, index=[7, 3, 5])
    assert count(open_rows(objects, "pay"), AXIS, missing="drop").counts.tolist() == expected([1.5, 100])


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50))
def test_counting_agrees_with_one_value_at_a_time(values):
    assert count(open_rows(np.array(values), "pay"), AXIS).counts.tolist() == expected(values)


def test_missing_and_infinite_values_are_counted_then_dropped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,pay\n1,10\n2,\n3,inf\n4,NA\n5, 50 \n6,NaN\n7,-inf\n")
    with pytest.raises(BadInput, match="3 missing values and 2 infinite values"):
        count(open_rows(path, "pay"), AXIS)
    assert count(open_rows(path, "pay"), AXIS, missing="drop").counts.tolist() == expected([10, 50])
    frame = pd.DataFrame({"pay": [10, None, np.inf, 50]})
    with pytest.raises(BadInput, match="1 missing value and 1 infinite value"):
        count(open_rows(frame, "pay"), AXIS)
    assert count(open_rows(frame, "pay"), AXIS, missing="drop").counts.tolist() == expected([10, 50])


def test_values_outside_are_counted_then_clipped():
    rows = open_rows([-5, 10, 100.001, 1e300], "pay")
    with pytest.raises(BadInput, match="1 value below 0 and 2 values above 100"):
        count(rows, AXIS)
    assert count(rows, AXIS, outside="clip").counts.tolist() == expected([0, 10, 100, 100])


def test_bounds_read_off_the_data_come_with_a_warning():
    with pytest.warns(NotPublicWarning, match="3 and 7"):
        assert find_bounds(open_rows([3, 7, np.nan, np.inf, 5])) == (3, 7)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"id,pay\n1,10\n2,abc\n3,x\n", "text or dates, not numbers, in 2 rows, such as 'abc'"),
        ("a.csv", b"id,pay\n1,2020-01-01\n", "such as '2020-01-01'"),
        ("a.csv", "id,pay,ort\n1,10,Köln\n".encode("latin-1"), "not UTF-8"),
        ("a.csv", "id,päy\n1,10\n".encode("latin-1"), "not UTF-8"),
        ("a.csv", "id,pay\n1,10\n".encode("utf-16"), "not UTF-8"),
        ("a.csv", b"id,payment\n1,10\n", "no column 'pay'. Did you mean 'payment'"),
        ("a.csv", b"id,zzz\n1,10\n", "no column 'pay'. It has 'id', 'zzz'"),
        ("a.parquet", b"PAR1 no parquet", "could not be read"),
        ("a.txt", b"pay\n1\n", "must end in .csv, .tsv or .parquet"),
    ],
)
def test_files_that_cannot_be_counted_are_refused(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        count(open_rows(path, "pay"), AXIS)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("no/such.csv", "no file"),
        ("no/such/*.csv", "No file matches"),
        (pd.DataFrame({"pay": ["a", "b"]}), "holds text"),
        (pd.DataFrame({"pay": [True, False]}), "yes/no"),
        (pl.DataFrame({"pay": [datetime.date(2020, 1, 1)]}), "dates"),
        (pd.DataFrame({"pay": [datetime.date(2020, 1, 1)]}), "dates"),
        (pd.DataFrame({"pay": pd.Series([True, None], dtype=object)}), "yes/no"),
        (pd.DataFrame({"pay": pd.Series([1, "a"], dtype=object)}), "objects"),
        (pl.DataFrame({"pay": [datetime.time(1)]}), "type Time"),
        (pl.DataFrame({"pay": [datetime.datetime(2020, 1, 1)]}), "dates"),
        (np.ones((2, 2)), "one dimension"),
        (np.array(["a"]), "numbers"),
        ([[1], [1, 2]], "different lengths"),
        (5, "path, an array or a dataframe"),
    ],
)
def test_data_that_is_no_column_of_numbers_is_refused(data, said):
    with pytest.raises(BadInput, match=said):
        open_rows(data, "pay")


def test_the_column_may_be_left_out_only_where_there_is_one():
    assert open_rows(pl.DataFrame({"pay": [1]})).columns == ("pay",)
    with pytest.raises(BadInput, match="has 2 columns"):
        open_rows(pl.DataFrame({"a": [1], "b": [2]}))


def test_no_numbers_or_all_equal_gives_no_bounds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("pay\n")
    with pytest.raises(BadInput, match="no numbers"):
        find_bounds(open_rows(path))
    with pytest.raises(BadInput, match="Every value of column 'value' is 5"):
        find_bounds(open_rows([5, 5]))


EDGES = """
import sys
import numpy as np, polars as pl
from equinoise import Axis
from equinoise.data.counting import count_rows
from equinoise.data.grid import Grid
from equinoise.data.rows import open_rows

def counted(data, axis):
    return count_rows(open_rows(data, "x"), Grid((axis,))).histogram.counts

whole = Axis.padded("x", 0, 1, bins=300, percentile=1 - 0.5 / np.e, padding_epsilon=2)  # bins of a whole 1/100
for axis in (Axis.padded("x", 163, 226), whole):
    edges = axis.padded_low + np.arange(axis.bins + 1) * axis.width
    near = np.concatenate([edges + step * np.spacing(edges) for step in range(-3, 4)])
    values = np.unique([axis.low, axis.high, *near[(near >= axis.low) & (near <= axis.high)]])
    cells = np.array([axis.cell_of(value) for value in values])
    for n in (1, 2, 33):
        wanted = np.bincount(np.repeat(cells, n), minlength=axis.bins)
        frame = pl.DataFrame({"x": np.repeat(values, n)})
        frame.write_parquet(sys.argv[1], row_group_size=7)
        for data in (frame["x"].to_numpy(), frame, sys.argv[1]):
            assert (counted(data, axis) == wanted).all(), n
    for value, cell in list(zip(values, cells))[::3]:
        assert counted(np.array([value]), axis)[cell] == 1, value
"""


@pytest.mark.parametrize("threads", ["1", "32"])
def test_a_bin_never_depends_on_who_else_is_there(tmp_path, threads):
    """Engines cut rows into batches by their number; a value next to an edge must fall in one bin in all of them."""
    environment = {**os.environ, "POLARS_MAX_THREADS": threads}
    command = [sys.executable, "-c", EDGES, str(tmp_path / "x.parquet")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.integers(2, 300),
    st.sampled_from([0.5, 0.5 + 1e-15, 0.5 + 1e-9, 0.6, 0.9]),
    st.lists(st.floats(0, 1), max_size=20),
)
def test_bounds_and_all_between_are_counted_where_the_axis_has_them(low, length, bins, percentile, shares):
    """Without padding the upper bound may come out past the last bin; with hardly any, just below it."""
    axis = Axis.padded("x", low, low + length, bins=bins, percentile=percentile)
    inner = [min(max(axis.low + share * (axis.high - axis.low), axis.low), axis.high) for share in shares]
    ends = [axis.low, axis.high, np.nextafter(axis.low, axis.high), np.nextafter(axis.high, axis.low)]
    values = np.array([*ends, *inner])
    wanted = np.bincount([axis.cell_of(value) for value in values], minlength=bins)
    for data in (values, pa.table({"x": values})):
        assert count(open_rows(data, "x"), axis).counts.tolist() == wanted.tolist()


def test_some_bounds_come_out_past_the_last_bin_and_some_do_not():
    """So both ways of counting are tried above."""
    axes = [Axis.padded("x", 0, high, bins=bins, percentile=0.5) for high in (1, 3, 7.7) for bins in range(2, 100)]
    past = [(axis.high - axis.padded_low) * axis.per_width >= axis.bins for axis in axes]
    assert any(past)
    assert not all(past)
