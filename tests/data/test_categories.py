"""Columns of categories and dates: the same value is in the same cell, whatever it comes in."""

from datetime import date, datetime
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equinoise.data.codes import UNKNOWN
from equinoise.data.counting import _codes_of_values, count_rows
from equinoise.data.engines import connect
from equinoise.data.grid import CategoryAxis, Grid
from equinoise.data.make_grid import make_grid
from equinoise.data.rows import open_rows
from equinoise.data.schema import Schema
from equinoise.errors import BadInput


def counts(data, column, reader=None, **says):
    grid = make_grid(Schema.of({"columns": {"c": column | says}}))
    return count_rows(open_rows(data, ["c"], reader, raw=["c"]), Grid(grid.axes)).histogram.counts.tolist()


NAMES = {"categories": ["a b", 'say "x"', "x,y", "caf\u00e9", "NA"]}
TEXTS = ["a b", 'say "x"', "x,y", "cafe\u0301", "caf\u00e9", "NA", "NA", "NA"]
FRAMES = {
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table,
    "polars categories": lambda table: pl.from_arrow(table).cast({"c": pl.Categorical}),
    "pandas categories": lambda table: table.to_pandas().astype("category"),
    "dictionary": lambda table: pa.table({"c": table["c"].dictionary_encode()}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_texts_of_every_frame(kind):
    assert counts(FRAMES[kind](pa.table({"c": TEXTS})), NAMES) == [1, 1, 1, 2, 3]
    missing = pa.table({"c": [None, *reversed(TEXTS)]})
    assert counts(FRAMES[kind](missing), NAMES, missing="category") == [1, 1, 1, 2, 3, 1]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_texts_of_files(tmp_path, engine, kind):
    frame = pl.DataFrame({"c": TEXTS})
    getattr(frame, f"write_{kind}")(tmp_path / f"a.{kind}")
    with connect(engine) as reader:
        assert counts(tmp_path / f"a.{kind}", NAMES, reader) == [1, 1, 1, 2, 3]


@pytest.mark.parametrize("data", [
    pl.DataFrame({"c": [1, 2, 2]}, schema={"c": pl.Int8}), pl.DataFrame({"c": [1, 2, 2]}),
    pl.DataFrame({"c": [1.0, 2.0, 2.0]}), pl.DataFrame({"c": ["1", "2", "2"]}),
    pl.DataFrame({"c": [Decimal(1), Decimal(2), Decimal(2)]}), pd.DataFrame({"c": [1, 2, 2]}, dtype="category"),
])  # fmt: skip
def test_whole_codes_of_every_type(data):
    assert counts(data, {"categories": [1, 2]}) == [1, 2]


def test_codes_that_pandas_made_floats():
    assert counts(pd.DataFrame({"c": [1, 2, None]}), {"categories": [1, 2]}, missing="category") == [1, 1, 1]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_truth_values(tmp_path, kind):
    getattr(pl.DataFrame({"c": [True, False, False]}), f"write_{kind}")(tmp_path / f"a.{kind}")
    assert counts(tmp_path / f"a.{kind}", {"categories": [True, False]}) == [1, 2]


@pytest.mark.parametrize("days", [
    [date(2024, 1, 1), date(2024, 1, 3), None], [datetime(2024, 1, 1, 23, 59), datetime(2024, 1, 3), None],
    ["2024-01-01", "2024-01-03", None],
])  # fmt: skip
def test_dates_of_every_type(days):
    column = {"bounds": [date(2024, 1, 1), date(2024, 1, 3)], "missing": "category"}
    for data in (pl.DataFrame({"c": days}), pa.table({"c": days}), duckdb.from_arrow(pa.table({"c": days}))):
        assert counts(data, column) == [1, 0, 1, 1]


def test_dates_outside_and_unknown_categories():
    column = {"bounds": [date(2024, 1, 1), date(2024, 1, 3)]}
    data = pl.DataFrame({"c": [date(2023, 1, 1), date(2024, 1, 2), date(2025, 1, 1)]})
    assert counts(data, column, outside="clip") == [1, 1, 1]
    with pytest.raises(BadInput, match="1 value below 2024-01-01 and 1 value above 2024-01-03"):
        counts(data, column)
    with pytest.raises(BadInput, match="1 row of 1 category that the schema does not list: 'z'"):
        counts(pl.DataFrame({"c": ["a", "z"]}), {"categories": ["a", "b"]})
    assert counts(pl.DataFrame({"c": ["a", "z"]}), {"categories": ["a", "b"]}, outside="drop") == [1, 0]


@pytest.mark.parametrize("values", [[True, 1, 1.0, False, 0], [1, True, 0, 1.0, False]])
def test_true_is_not_one_whichever_comes_first(values):
    """Python takes them for equal, so what is known of one of them must not be taken for the other's."""
    codes = _codes_of_values(CategoryAxis("c", (True, False)), values).tolist()
    assert codes == [UNKNOWN if not isinstance(value, bool) else int(not value) for value in values]


def test_a_column_without_a_name_is_found_by_its_name_of_no_letters():
    for frame in (pl.DataFrame({"": ["a", "b"]}), pd.DataFrame({"": ["a", "b"]})):
        rows = open_rows(frame, [""], raw=[""])
        assert rows.fields == ("",)
    with pytest.raises(BadInput, match="has no column ''"):
        open_rows(pl.DataFrame({"a": ["a", "b"]}), [""], raw=[""])
