"""Frames of every engine: the same bins, the same refusals, in the same words."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from equinoise.data.counting import find_bounds
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput, NotPublicWarning
from tests.helpers.counts import count, count_jointly

AXIS = Axis.padded("pay", 0, 100, bins=11)
WRONG = [0.0, 10.0, 50.0, 99.9, 100.0, None, float("nan"), float("inf"), -float("inf"), -5.0, 100.5, 1e300]


def near_every_edge(axis):
    edges = axis.padded_low + np.arange(axis.bins + 1) * axis.width
    near = np.concatenate([edges + step * np.spacing(edges) for step in range(-3, 4)])
    return np.unique(near[(near >= axis.low) & (near <= axis.high)])


@pytest.mark.parametrize("bounds", [(163, 226), (0, 1), (-1e-3, 7e5)])
def test_a_value_next_to_an_edge_is_in_the_same_bin_everywhere(frame_of, bounds):
    """Every person has a cell of their own on the second axis, so every person's bin shows."""
    axis = Axis.padded("x", *bounds, bins=101)
    values = near_every_edge(axis)
    who = Axis.padded("who", 0, len(values) - 1, bins=2 * len(values), percentile=0.5)
    table = pa.table({"x": values, "who": np.arange(len(values))})
    found = count_jointly(open_rows(frame_of(table), ["x", "who"]), (axis, who))
    bins = by_person(found)
    assert found.people.tolist() == [1] * len(values)
    assert bins[:, 0].tolist() == [axis.cell_of(value) for value in values.tolist()]


def by_person(found):
    """The bins of everyone, by their bin on the second axis."""
    bins = found.grid.bins_of(found.cells)
    return bins[np.argsort(bins[:, 1])]


def said(call):
    try:
        return call().counts.tolist()
    except BadInput as error:
        return str(error)


@pytest.mark.parametrize("settings", [{}, {"missing": "drop"}, {"missing": "drop", "outside": "clip"}])
def test_what_is_wrong_is_counted_and_said_as_polars_does(frame_of, settings):
    import polars as pl

    table = pa.table({"id": range(len(WRONG)), "pay": pa.array(WRONG, pa.float64(), from_pandas=False)})
    frame, same = frame_of(table), pl.from_arrow(table)
    here, there = (said(lambda d=data: count(open_rows(d, "pay"), AXIS, **settings)) for data in (frame, same))
    assert here == there
    assert (sum(here) == 8) if settings.get("outside") else ("missing" in here or "below" in here)


KINDS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.decimal128(10, 2), pa.decimal128(38, 20)),
]


def typed(values, kind):
    exact = [None if v is None else Decimal(v) for v in values] if pa.types.is_decimal(kind) else values
    return pa.array(exact, kind)


def test_numbers_of_every_type_are_counted(frame_of):
    table = pa.table({str(kind): typed([1, None, 2, 100, 100], kind) for kind in KINDS})
    axes = [Axis.padded(str(kind), 0, 100, bins=4) for kind in KINDS]
    found = count_jointly(open_rows(frame_of(table), table.column_names), axes, missing="drop")
    for i, axis in enumerate(axes):
        expected = np.bincount([axis.cell_of(v) for v in (1, 2, 100, 100)], minlength=4)
        counts = np.bincount(found.grid.bins_of(found.cells)[:, i], found.people, minlength=4)
        assert counts.tolist() == expected.tolist(), axis.name


def test_decimals_and_wide_integers_become_the_nearest_float(frame_of):
    """A value that is not a float falls in the bin of the nearest one, in every engine."""
    axis = Axis.padded("x", 2**53, 2**53 + 2**12, bins=100, percentile=0.5)
    whole = [int(v) + d for v in near_every_edge(axis)[3:-3] for d in (-1, 0, 1)]
    who = Axis.padded("who", 0, len(whole) - 1, bins=2 * len(whole), percentile=0.5)
    for kind in (pa.int64(), pa.decimal128(30, 5)):
        table = pa.table({"x": typed(whole, kind), "who": range(len(whole))})
        found = count_jointly(open_rows(frame_of(table), ["x", "who"]), (axis, who), outside="clip")
        bins = by_person(found)
        assert bins[:, 0].tolist() == [axis.cell_of(min(max(float(v), axis.low), axis.high)) for v in whole]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([True, False], "yes/no"),
        ([datetime.date(2020, 1, 1)] * 2, "dates"),
        ([datetime.datetime(2020, 1, 1)] * 2, "dates"),
        (["1", "2"], "text"),
    ],
)
def test_columns_that_hold_no_numbers_are_refused_with_a_reason(frame_of, values, reason):
    with pytest.raises(BadInput, match=f"Column 'pay' holds {reason}, not numbers|Column 'pay' holds {reason} values"):
        open_rows(frame_of(pa.table({"pay": values})), "pay")


def test_bounds_are_found_and_names_are_names(frame_of):
    table = pa.table({"a.b": [3.0, float("nan"), 7.0, float("inf"), None], "^a.*$": [1, 2, 3, 4, 5]})
    rows = open_rows(frame_of(table), ["a.b", "^a.*$"])
    with pytest.warns(NotPublicWarning, match="3 and 7"):
        assert find_bounds(rows, 0) == (3, 7)
    with pytest.warns(NotPublicWarning, match="1 and 5"):
        assert find_bounds(rows, 1) == (1, 5)
    with pytest.raises(BadInput, match="has no column 'b'"):
        open_rows(frame_of(table), "b")


def test_decimals_in_python_objects_are_decimals():
    import pandas as pd

    frame = pd.DataFrame({"pay": [Decimal("1.5"), None, Decimal(100)]}, index=[7, 3, 5])
    found = count(open_rows(frame, "pay"), AXIS, missing="drop").counts
    assert found.tolist() == np.bincount([AXIS.cell_of(1.5), AXIS.cell_of(100)], minlength=11).tolist()
