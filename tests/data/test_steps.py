"""Columns with a step: bins are runs of whole steps, and an engine puts a value where the axis does."""

from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.data.codes import ABOVE, BELOW
from equinoise.data.counting import code_columns, read_codes
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows


def axis_of(low, step, steps, bins):
    return Axis("x", low, low + step * (steps - 1), bins, step / 2, step=step)


def odd_values(axis):
    """Every step, half-way to the next, and the floats next to both, within the bounds."""
    steps = axis.low + np.arange(axis.steps) * axis.step
    near = np.concatenate([steps, steps + axis.step / 2])
    near = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf), [axis.high]])
    return near[(near >= axis.low) & (near <= axis.high)]


def codes_of(data, axis):
    rows = open_rows(data, "x")
    return read_codes(rows, [axis], rows.collect(rows.frame.select(*code_columns(rows, [axis]))))[:, 0].tolist()


FRAMES = {
    "polars": lambda values: pl.DataFrame({"x": values}),
    "duckdb": lambda values: duckdb.from_arrow(pa.table({"x": values})),
    "pandas": lambda values: pd.DataFrame({"x": values}),
    "pyarrow": lambda values: pa.table({"x": values}),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(("low", "step", "steps", "bins"), [
    (0.0, 1.0, 101, 101), (-7.0, 1.0, 90, 13), (0.3, 0.1, 400, 37), (-2.5, 0.25, 64, 64), (15.0, 5.0, 31, 4),
])  # fmt: skip
def test_values_on_and_between_steps_are_where_the_axis_has_them(kind, low, step, steps, bins):
    axis = axis_of(low, step, steps, bins)
    values = odd_values(axis)
    assert codes_of(FRAMES[kind](values), axis) == [axis.cell_of(value) for value in values.tolist()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_too(tmp_path, kind):
    axis = axis_of(0.3, 0.1, 400, 37)
    frame = pl.DataFrame({"x": odd_values(axis)})
    getattr(frame, f"write_{kind}")(tmp_path / f"a.{kind}")
    assert codes_of(tmp_path / f"a.{kind}", axis) == [axis.cell_of(value) for value in frame["x"].to_list()]


@settings(max_examples=50, deadline=None)
@given(
    st.integers(-1000, 1000), st.sampled_from([0.01, 0.1, 0.25, 1.0, 3.0, 5.0]), st.integers(2, 400), st.data()
)  # fmt: skip
def test_every_step_is_in_one_bin_and_bins_are_alike(low, step, steps, data):
    axis = axis_of(low * step, step, steps, data.draw(st.integers(2, steps)))
    sizes = np.diff(axis.first_steps)
    assert (axis.steps, sizes.sum(), axis.first_steps[0]) == (steps, steps, 0)
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1
    expected = np.repeat(np.arange(axis.number_bins), sizes).tolist()
    values = [min(axis.low + number * step, axis.high) for number in range(steps)]
    assert [axis.cell_of(value) for value in values] == expected
    assert codes_of(pl.DataFrame({"x": values}), axis) == expected
    near = odd_values(axis)
    assert codes_of(pl.DataFrame({"x": near}), axis) == [axis.cell_of(value) for value in near.tolist()]


def test_what_is_outside_the_bounds_is_in_the_first_or_the_last_bin_and_dates_say_so():
    for axis in (Axis("x", 0.0, 10.0, 5), Axis("x", 0.0, 10.0, 5, 0.5, step=1.0), Axis.padded("x", 0, 10, bins=5)):
        assert [axis.cell_of(value) for value in (-1e9, 1e9)] == [0, 4]
    days = Axis("x", 0.0, 9.0, 5, 0.5, step=1.0, day_zero="2024-01-01")
    around = ["2023-12-31", "2024-01-01", date(2024, 1, 10), "2024-01-11", datetime(2024, 1, 11, 0, 0)]
    assert [days.code_of(day) for day in around] == [BELOW, 0, 4, ABOVE, ABOVE]
