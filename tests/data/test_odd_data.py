"""Counting where files and dataframes are odd: what is one thing must not be counted as another, or twice."""

import datetime
import gzip
import os
import struct
import zlib
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equinoise import BadInput, NotPublicWarning, optimize
from equinoise.analysis.row_losses import write_losses
from equinoise.data.engines import connect
from equinoise.data.grid import Axis
from equinoise.data.paths import find_files
from equinoise.data.rows import open_rows
from equinoise.data.text_fields import VALUE, parts_of
from tests.helpers.counts import count, count_jointly, people_by_bag

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


@pytest.mark.parametrize("value", [25.0, 1000.0, 1e300, -1e300])
def test_a_parquet_file_with_wrong_statistics_is_refused_in_every_engine(tmp_path, engine, value):
    """DuckDB believes a file's own smallest and largest value; nobody may be lost, or counted elsewhere, by that."""
    path = tmp_path / "a.parquet"
    table = pa.table({"x": [*map(float, range(21)), value], "who": [*range(21), 20]})
    pq.write_table(table, path, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    footer = whole.rfind(b"PAR1") - 4 - struct.unpack("<I", whole[-8:-4])[0]
    wrong = whole[footer:].replace(struct.pack("<d", value), struct.pack("<d", 20.0 if value > 0 else 0.0))
    assert wrong != whole[footer:]
    path.write_bytes(whole[:footer] + wrong)
    for missing in ("refuse", "drop"):
        with pytest.raises(BadInput, match=r"statistics are wrong|1 value (above|below)|and 1 value above"):
            counted(path, engine=engine, missing=missing)
    with pytest.raises(BadInput, match=r"statistics are wrong|1 value (above|below)|and 1 value above"):
        people_by_bag(open_rows(path, "x", engine, keep="who"), (AXIS,), missing="drop", outside="refuse")


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
    assert pl.read_csv("polars.csv").columns == ["who", "X", "x", "Who", "row", "loss", "scale", "scale_needed"]


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


def test_what_is_masked_is_missing():
    masked = np.ma.array([1, 3, 5], mask=[False, True, False])
    with pytest.raises(BadInput, match="has 1 missing value"):
        counted(masked, None)
    assert counted(masked, None, missing="drop") == cells(1, 5)
    with pytest.raises(BadInput, match="must hold numbers"):
        counted(np.ma.array(["a"], mask=[False]), None)
    two = open_rows(np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]), ["x", "y"])
    assert count_jointly(two, (AXIS, replace(AXIS, name="y")), missing="drop").total_people == 1


def test_the_widest_floats_of_numpy_become_the_nearest():
    assert counted(np.array([1, 3], dtype=np.longdouble), None) == cells(1, 3)


@pytest.mark.parametrize(
    ("data", "column"),
    [
        (pd.Series([1.0, 3.0]), None),
        (pd.Series([1.0, 3.0], name=7), None),
        (pd.Series([1.0, 3.0], name=7), "7"),
        (pd.DataFrame({7: [1.0, 3.0]}), None),
        (pd.DataFrame({7: [1.0, 3.0], "y": [5.0, 7.0]}), "7"),
        (pd.DataFrame({("x", 1): [1.0, 3.0], ("x", 2): [5.0, 7.0]}), "('x', 1)"),
    ],
)
def test_columns_of_pandas_go_by_their_names_as_text(data, column):
    assert counted(data, column) == cells(1, 3)


def test_a_series_without_a_name_makes_a_mechanism(tmp_path):
    made = optimize(pd.Series([1.0, 3.0] * 20), bounds=(0, 20), epsilon=2, bins=15)
    made.save(tmp_path / "a.eq")
    assert made.grid.axis.name == "value"
    assert write_losses(tmp_path / "a.eq", pd.Series([1.0, 3.0] * 20), tmp_path / "b.csv").rows == 40


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]),
        pd.DataFrame([[1.0, 2.0]], columns=["7", 7]),
        pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "x"]),
    ],
)
def test_two_columns_of_one_name_are_refused(data):
    with pytest.raises(BadInput, match=r"has several columns called '[x7]'"):
        open_rows(data, "x")


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([pa.array([1.0]).dictionary_encode(), pa.array([3.0, None]).dictionary_encode()]),
        pa.array([1, 3, None]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], [1.0, 3.0, None]),
        *(pa.array([Decimal(1), Decimal(3), None], type=kind) for kind in (pa.decimal32(5, 1), pa.decimal64(12, 2))),
        pa.array([Decimal(1), Decimal(3), None], type=pa.decimal256(60, 5)),
    ],
)
def test_how_arrow_packs_numbers_does_not_matter(column):
    table = pa.table({"x": column, "y": pa.array(["a", "b", "a"]).dictionary_encode()})
    with pytest.raises(BadInput, match="has 1 missing value"):
        counted(table)
    assert counted(table, missing="drop") == cells(1, 3)


def test_packed_text_is_no_number():
    with pytest.raises(BadInput, match="holds values of type Categorical"):
        open_rows(pa.table({"x": pa.array(["a"]).dictionary_encode()}), "x")


def bags(frame, missing="refuse"):
    return people_by_bag(open_rows(frame, "x", keep="who"), (AXIS,), missing=missing, outside="refuse")


@pytest.mark.parametrize(
    "who",
    [
        pa.array([0.0, -0.0, float("nan")]).dictionary_encode(),
        pd.Series([0.0, -0.0, float("nan")], dtype=object),
        pd.Series([0.0, -0.0, None], dtype=object),
    ],
)
def test_packed_numbers_name_people_as_numbers_do(tmp_path, who):
    table = {"x": [1.0, 3.0, 5.0], "who": who}
    frame = pd.DataFrame(table) if isinstance(who, pd.Series) else pa.table(table)
    with pytest.raises(BadInput, match="the unit, is missing in 1 row"):
        bags(frame)
    assert bags(frame, "drop").bags == (((AXIS.cell_of(1), 1), (AXIS.cell_of(3), 1)),)


@pytest.mark.parametrize(
    ("who", "kinds"),
    [
        ([True, False, True], "bool"),
        ([datetime.date(2020, 1, 1)] * 3, "date"),
        ([1, 1.0, "a"], "float, int and str"),
        ([1.5, "1.5", None], "float and str"),
        ([Decimal(1)] * 3, "Decimal"),
        (pd.Categorical([True, False, True]), "bool"),
        (pd.Categorical([datetime.date(2020, 1, 1)] * 3), "date"),
    ],
)
def test_objects_that_may_be_equal_and_look_different_are_nobodys_names(who, kinds):
    column = pd.Series(who) if isinstance(who, pd.Categorical) else pd.Series(who, dtype=object)
    frame = pd.DataFrame({"x": [1.0, 3.0, 5.0], "who": column})
    with pytest.raises(BadInput, match=rf"'who' cannot be the unit: it holds Python objects \({kinds}\)"):
        bags(frame)


@pytest.mark.parametrize(
    "who", [[1, "1", "a"], ["a", "a", "b"], [2**70, 2**70, 5], [UUID(int=1), UUID(int=1), UUID(int=2)]]
)
def test_whole_numbers_and_text_may_come_as_objects(who):
    frame = pd.DataFrame({"x": [1.0, 3.0, 5.0], "who": pd.Series(who, dtype=object)})
    assert bags(frame).people.tolist() == [1, 1]
    assert bags(frame.astype({"who": "category"})).people.tolist() == [1, 1]


def test_losses_of_people_named_by_objects(tmp_path):
    values = [float(i % 19) for i in range(40)]
    frame = pd.DataFrame({"x": values, "who": pd.Series([0.0, -0.0, 1.0, 2.0, 3.0] * 8, dtype=object)})
    made = optimize(frame, column="x", bounds=(0, 20), epsilon=4, bins=15, unit="who")
    write_losses(made, frame, tmp_path / "a.csv")
    found = pl.read_csv(tmp_path / "a.csv")
    assert made.total_people == 4
    assert found.group_by(pl.col("who").abs()).agg(pl.col("loss").n_unique())["loss"].to_list() == [1] * 4


def written(folder, content):
    path = folder / "a.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"x\n1\n3\n", mtime=0), "begins like a packed file"),
        (zlib.compress(b"x\n1\n3\n"), "begins like a packed file"),
        (b"x^2,x\n1,2\n3,4\n", "begins like a packed file"),
        (b"x,x\n1,2\n3,4\n", "has several columns called 'x'"),
        (b'y,"x",x,x\n1,2,3,4\n', "has several columns called 'x'"),
        (b"x,y\r1,2\r3,4\r", "lines that end in a carriage return alone"),
        (b"x,y\n1,6\"\n2,7'\n", "quotes that are not closed"),
        (b'x,y\n1,6"\n2,7"\n', "quotes that are not closed"),
        (b'x,y\n1,"6\n2,7\n', "quotes that are not closed"),
    ],
)
def test_text_that_would_be_read_as_something_else_is_refused(tmp_path, engine, content, said):
    with pytest.raises(BadInput, match=said):
        counted(written(tmp_path, content), "x", engine)


@pytest.mark.parametrize(
    "content",
    [
        b'"x^2",x\n5,1\n5,3\n',
        b"y,y,x\n5,5,1\n5,5,3\n",
        b"x,x_duplicated_0\n1,5\n3,5\n",
        b'x,"a\r\nb"\r\n1,"c\rd"\r\n3,5\r\n',
        b"x,y\n1,6'\"6'\"\n3,7\n",
    ],
)
def test_text_that_only_looks_like_it_is_not(tmp_path, engine, content):
    assert counted(written(tmp_path, content), "x", engine) == cells(1, 3)


@pytest.mark.parametrize("before", ["", "\n", "\r\n\r\n", "\ufeff", "\ufeff\n", "\ufeff\r\n\n"])
def test_blank_lines_and_marks_before_the_header_are_not_cut_off_from_it(tmp_path, before):
    path = written(tmp_path, f"{before}x,y\n1,2\n3,4\n5,6\n".encode())
    parts = parts_of(find_files(path), ("x",), size=3)
    assert len(parts) == 3
    assert [part.read()[f"{VALUE} 0"].to_list() for part in parts] == [[1.0], [3.0], [5.0]]


OURS = ["equinoise value 0", "equinoise field 0", "equinoise raw 0", "equinoise other 1", "code 0", "unit", "other 0"]


@pytest.mark.parametrize(("x", "who"), [("x", "who"), *pairwise(OURS), (OURS[1], OURS[0])])
def test_columns_may_be_called_as_we_call_ours(folder, x, who):
    values = [float(i % 19) for i in range(40)]
    frame = pl.DataFrame({**dict.fromkeys(OURS, 7.0), "a": range(40)})
    frame = frame.with_columns(pl.Series(who, ["p", "q", "r", "s"] * 10), pl.Series(x, values))
    frame.write_csv("a.csv")
    frame.write_parquet("a.parquet")
    asked = {"column": x, "bounds": (0, 20), "epsilon": 4, "bins": 15, "unit": who, "restarts": 1}
    frames = [frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), duckdb.from_arrow(frame.to_arrow())]
    made = [optimize(data, **asked) for data in frames]
    for engine in ("polars", "duckdb"):
        made += [optimize(f"a.{ending}", engine=engine, **asked) for ending in ("csv", "parquet")]
        write_losses(made[0], "a.parquet", f"{engine}.csv", engine=engine)
        write_losses(made[0], "a.csv", f"{engine} text.csv", engine=engine)
    assert len({(m.total_people, tuple(m.histogram)) for m in made}) == 1
    for name in ("polars.csv", "duckdb.csv", "polars text.csv", "duckdb text.csv"):
        assert pl.read_csv(name).columns == [*frame.columns, "row", "loss", "scale", "scale_needed"]


@pytest.mark.filterwarnings("error")
def test_a_column_that_nobody_asked_for_stops_nobody(tmp_path):
    asked = {"column": "x", "bounds": (0, 20), "epsilon": 4, "bins": 15, "restarts": 1}
    values = [float(i % 19) for i in range(40)]
    lists = pd.DataFrame({"x": values, "user": [[1]] * 40, "member": [{"a": 1}] * 40})
    wide = pa.table({"x": values, "patient": pa.array([Decimal(1)] * 40, type=pa.decimal256(60, 5))})
    pq.write_table(wide, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("id,id,x\n" + "".join(f"1,2,{value}\n" for value in values))
    for data in (lists, wide, tmp_path / "a.parquet", tmp_path / "a.csv"):
        assert optimize(data, **asked).total_people == 40
    with pytest.raises(BadInput, match=r"cannot be the unit: it holds Python objects \(list\)"):
        optimize(lists, unit="user", **asked)
    with pytest.raises(BadInput, match="has several columns called 'id'"):
        optimize(tmp_path / "a.csv", unit="id", **asked)


@pytest.mark.parametrize(
    "column",
    [
        pd.array([None, None], dtype="Float64"),
        pd.array([None, None], dtype="double[pyarrow]"),
        pd.array([None, None], dtype="Int64"),
    ],
    ids=str,
)
def test_no_numbers_and_no_bounds_is_a_sentence(column):
    with pytest.raises(BadInput, match="has no numbers in column 'x'"):
        optimize(pd.DataFrame({"x": column}), column="x", epsilon=5, missing="drop")


def test_bounds_read_off_the_data_are_plain_numbers():
    values = [0.1234567891, 0.9876543219, 0.5]
    with pytest.warns(NotPublicWarning, match=r"\(0\.1234567891 and 0\.9876543219\)"):
        optimize(pd.DataFrame({"x": values}), column="x", epsilon=9)
    with pytest.warns(NotPublicWarning, match=r"\(0 and 1\)"):
        optimize(pd.DataFrame({"x": [-0.0, 0.0, 1.0]}), column="x", epsilon=9)


def test_decimals_of_whole_hundreds_are_numbers():
    assert counted(pa.table({"x": pa.array([Decimal("1E1")], type=pa.decimal128(5, -1))})) == cells(10.0)


def test_what_a_damaged_file_is_not(tmp_path, engine):
    (tmp_path / "blank.csv").write_text("\n\n\n")
    with pytest.raises(BadInput, match="nothing but blank lines"):
        open_rows(tmp_path / "blank.csv", "x", engine)
    pl.DataFrame({"x": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for place in range(4, len(whole), 7):
        (tmp_path / "a.parquet").write_bytes(whole[:place] + b"\xff\xfe" + whole[place + 2 :])
        said = ""
        try:
            counted(tmp_path / "a.parquet", engine=engine)
        except BadInput as error:
            said = str(error)
        assert "UTF-8" not in said
