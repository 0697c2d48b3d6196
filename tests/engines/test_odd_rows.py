"""What tests/test_odd_rows.py asks, of frames and files of Dask and Spark: one row changes nobody else's."""

from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

from equinoise.data import text_fields as fields
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput
from tests.helpers.counts import people_by_bag
from tests.helpers.odd_rows import (
    AXIS,
    NAMES,
    ODD_NAMES,
    ODD_VALUES,
    changed_by_names,
    changed_by_values,
    files,
    in_pandas,
)

PARTS = 3
FEW_NAMES = {name: ODD_NAMES[name] for name in ("none", "half", "wide", "letter", "yes")}
FEW_VALUES = {name: ODD_VALUES[name] for name in ("none", "nan", "text", "half", "wider")}


def parts(make):
    """A frame whose partitions have types of their own, as what reads them one by one gives them."""

    def made(columns):
        many = len(columns["x"])
        cuts = [slice(i * many // PARTS, (i + 1) * many // PARTS) for i in range(PARTS)]
        each = [make({name: values[cut] for name, values in columns.items()}) for cut in cuts]
        return dd.from_map(lambda i: each[i], range(PARTS), meta=each[0].iloc[:0])

    return made


def whole(make):
    return lambda columns: dd.from_pandas(make(columns), npartitions=PARTS)


def nullable(columns):
    return pd.DataFrame({name: pd.array(values) for name, values in columns.items()})


def arrow(columns):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


def objects(columns):
    return pd.DataFrame({**columns, "who": pd.Series(columns["who"], dtype=object)})


def text_categories(columns):
    return in_pandas({**columns, "who": pd.Categorical([None if v is None else str(v) for v in columns["who"]])})


DASK = {"pandas": in_pandas, "nullable": nullable, "arrow": arrow, "objects": objects, "categories": text_categories}


@pytest.mark.parametrize("kind", DASK)
@pytest.mark.parametrize("cut", [whole, parts])
def test_frames_of_dask(cut, kind):
    make = cut(DASK[kind])
    with dask.config.set(scheduler="synchronous"):  # many small frames: here, not on the cluster
        for names in NAMES:
            assert changed_by_names(make, names, odd=FEW_NAMES)[0] == [], names
        for values in ("floats", "whole numbers"):
            assert changed_by_values(make, values, odd=FEW_VALUES)[0] == [], values


def test_partitions_of_dask_with_names_of_different_kinds_are_refused(engines):
    """Where a row has no name, pandas has floats, and 7 would be 7.0 in that partition alone."""
    who, x = [1, 2, 3, 1, 2, 3], [float(i) for i in range(6)]
    make = parts(in_pandas)
    rows = open_rows(make({"x": x, "who": who}), "x", keep="who")
    assert people_by_bag(rows, (AXIS,), missing="drop", outside="clip").total_people == 3
    for odd, found in ((None, "floats"), (1.5, "floats")):
        frame = make({"x": [*x, 9.0], "who": [*who, odd]})
        with pytest.raises(BadInput, match=f"'who' cannot be the unit: it holds {found} in a partition"):
            people_by_bag(open_rows(frame, "x", keep="who"), (AXIS,), missing="drop", outside="clip")
    numbers = parts(lambda c: in_pandas(c).astype({"who": "category"}))({"x": x, "who": who})
    with pytest.raises(BadInput, match="it holds whole numbers in a partition of the dataframe, and should hold text"):
        people_by_bag(open_rows(numbers, "x", keep="who"), (AXIS,), missing="drop", outside="clip")


@pytest.mark.parametrize("kind", files(Path()))
def test_files(engines, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(fields, "PART_BYTES", 60)
    make = files(tmp_path)[kind]
    with dask.config.set(scheduler="synchronous"):
        for names in NAMES:
            assert changed_by_names(make, names, engines["dask"], odd=FEW_NAMES)[0] == [], names
    few = {name: FEW_NAMES[name] for name in ("none", "half")}
    assert changed_by_names(make, "large numbers", engines["spark"], odd=few)[0] == []


@pytest.mark.parametrize("names", NAMES)
def test_frames_of_spark(engines, names):
    session = engines["spark"].session
    few = {name: FEW_NAMES[name] for name in ("none", "half", "letter")}
    assert changed_by_names(lambda c: session.createDataFrame(pa.table(c)), names, odd=few)[0] == []
    assert changed_by_names(lambda c: session.createDataFrame(in_pandas(c)), names, odd=few)[0] == []


@pytest.mark.parametrize("values", ["floats", "whole numbers"])
def test_values_of_spark(engines, values):
    session = engines["spark"].session
    few = {name: FEW_VALUES[name] for name in ("none", "nan", "half", "wider")}
    assert changed_by_values(lambda c: session.createDataFrame(in_pandas(c)), values, odd=few)[0] == []
