import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.codes import ABOVE, BELOW, INFINITE, MISSING, TEXT
from equinoise.data.counting import cells_of_codes, find_bounds
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput, NotPublicWarning
from equinoise.statistics.metrics import marginal
from tests.helpers.counts import count, count_jointly

AXES = (Axis.padded("height", 0, 10, bins=7), Axis.padded("weight", -5, 5, bins=4), Axis.padded("age", 0, 1, bins=3))
TABLE = np.array([[0, -5, 0], [10, 5, 1], [3, 0.5, 0.5], [3, 0.5, 0.5], [3.1, 0.4, 0.9], [9, -2, 0.1]])


def dense(histogram):
    full = np.zeros(histogram.grid.cells, dtype=np.int64)
    full[histogram.cells] = histogram.people
    return full.reshape(histogram.grid.shape)


def expected(table, axes):
    """The same by numpy's histogram, whose last edge is closed like ours."""
    edges = [axis.padded_low + axis.width * np.arange(axis.bins + 1) for axis in axes]
    return np.histogramdd(np.asarray(table, dtype=float), bins=edges)[0].astype(int)


def frames():
    data = {"id": list(range(6)), "age": TABLE[:, 2], "weight": TABLE[:, 1], "height": TABLE[:, 0]}
    return {
        "pandas": pd.DataFrame(data),
        "polars": pl.DataFrame(data),
        "polars lazy": pl.LazyFrame(data),
        "pyarrow": pa.table(data),
        "array": TABLE,
        "list": TABLE.tolist(),
    }


@pytest.mark.parametrize("kind", frames())
@pytest.mark.parametrize("columns", [2, 3])
def test_every_kind_of_frame_gives_numpys_counts(kind, columns):
    axes = AXES[:columns]
    data = frames()[kind]
    if kind in {"array", "list"}:
        data = np.array(data)[:, :columns]
    histogram = count_jointly(open_rows(data, [axis.name for axis in axes]), axes)
    np.testing.assert_array_equal(dense(histogram), expected(TABLE[:, :columns], axes))
    assert histogram.total_people == 6
    assert (np.diff(histogram.cells) > 0).all()
    assert (histogram.people > 0).all()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_every_kind_of_file_gives_numpys_counts(tmp_path, name):
    path, frame = tmp_path / name, frames()["polars"]
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if name.endswith("tsv") else ",")
    histogram = count_jointly(open_rows(path, ["height", "weight", "age"]), AXES)
    np.testing.assert_array_equal(dense(histogram), expected(TABLE, AXES))


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(-5, 5), st.floats(0, 1)), min_size=1, max_size=40))
def test_joint_counts_are_those_of_one_row_at_a_time_and_have_the_columns_own_counts(rows):
    histogram = count_jointly(open_rows(np.array(rows), ["height", "weight", "age"]), AXES)
    found = dict(zip(histogram.cells.tolist(), histogram.people.tolist(), strict=True))
    by_hand = {}
    for row in rows:
        bins = [axis.cell_of(value) for axis, value in zip(AXES, row, strict=True)]
        cell = (bins[0] * 4 + bins[1]) * 3 + bins[2]
        by_hand[cell] = by_hand.get(cell, 0) + 1
    assert found == by_hand
    for i, axis in enumerate(AXES):
        alone = count(open_rows(np.array(rows)[:, i], axis.name), axis)
        assert marginal(histogram.histogram.counts.reshape(histogram.grid.shape), i).tolist() == alone.counts.tolist()


def test_cells_far_more_than_people_stay_sparse():
    axes = tuple(Axis.padded(name, 0, 1, bins=2000) for name in "abcd")
    histogram = count_jointly(open_rows(np.full((5, 4), 0.6), list("abcd")), axes)
    assert histogram.grid.cells == 2000**4
    assert histogram.people.tolist() == [5]
    bins = histogram.grid.bins_of(histogram.cells)
    np.testing.assert_array_equal(bins, [[axis.cell_of(0.6) for axis in axes]])
    np.testing.assert_array_equal(histogram.grid.cells_of(bins), histogram.cells)


def test_a_row_with_something_missing_in_any_column_is_refused_or_dropped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("height,weight\n1,1\nNA,2\n3,\ninf,inf\n,\n2,2\n")
    rows = open_rows(path, ["height", "weight"])
    with pytest.raises(BadInput, match="Column 'height' has 2 missing values and 1 infinite value"):
        count_jointly(rows, AXES[:2])
    histogram = count_jointly(rows, AXES[:2], missing="drop")
    np.testing.assert_array_equal(dense(histogram), expected([[1, 1], [2, 2]], AXES[:2]))
    with pytest.raises(BadInput, match="Column 'height' has 0 missing values and 1 infinite value"):
        count_jointly(open_rows(np.array([[1.0, 1.0], [np.inf, 1.0]]), ["height", "weight"]), AXES[:2])
    path.write_text("height,weight\n1,1\n1,\n")
    with pytest.raises(BadInput, match="Column 'weight' has 1 missing value and 0 infinite values"):
        count_jointly(open_rows(path, ["height", "weight"]), AXES[:2])


def test_values_outside_are_refused_or_clipped_column_by_column():
    rows = open_rows(np.array([[-1.0, 0.0], [5.0, 9.0], [11.0, -9.0]]), ["height", "weight"])
    with pytest.raises(BadInput, match="Column 'height' has 1 value below 0 and 1 value above 10"):
        count_jointly(rows, AXES[:2])
    histogram = count_jointly(rows, AXES[:2], outside="clip")
    np.testing.assert_array_equal(dense(histogram), expected([[0, 0], [5, 5], [10, -5]], AXES[:2]))
    inside = open_rows(np.array([[1.0, 9.0]]), ["height", "weight"])
    with pytest.raises(BadInput, match="Column 'weight' has 0 values below -5 and 1 value above 5"):
        count_jointly(inside, AXES[:2])


def test_what_fits_nowhere_goes_where_its_rules_say():
    """Numbers in five bins and one for those without; a column whose missing values drop the row."""
    grid = Grid((Axis("x", 0.0, 10.0, 6, missing="category", outside="clip"), Axis("y", 0.0, 1.0, 3, missing="drop")))
    codes = [[BELOW, 0], [ABOVE, 1], [MISSING, 2], [INFINITE, 0], [TEXT, 0], [2, MISSING], [2, INFINITE], [2, 2]]
    assert cells_of_codes(grid, np.array(codes)).tolist() == [0, 13, 17, 15, -1, -1, -1, 8]


def test_text_in_any_column_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("height,weight\n1,1\n2,heavy\n")
    with pytest.raises(BadInput, match="Column 'weight' holds text or dates, not numbers, in 1 row, such as 'heavy'"):
        count_jointly(open_rows(path, ["height", "weight"]), AXES[:2])


def test_bounds_are_found_for_each_column():
    rows = open_rows(TABLE, ["height", "weight", "age"])
    with pytest.warns(NotPublicWarning, match="'weight'"):
        assert find_bounds(rows, 1) == (-5.0, 5.0)
    with pytest.warns(NotPublicWarning, match="'age'"):
        assert find_bounds(rows, 2) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("data", "columns", "message"),
    [
        (TABLE, ["a", "a", "b"], "'a' is named twice"),
        (TABLE, ["a", "b"], "a table with one row per person and 2 columns"),
        (TABLE[:, 0], ["a", "b"], "a table with one row per person and 2 columns"),
        (TABLE, "a", "one dimension"),
        (TABLE, [], "a list of names"),
        (pl.DataFrame({"a": [1], "b": ["x"]}), ["a", "b"], "'b' holds text"),
        (pl.DataFrame({"a": [1], "bee": [2]}), ["a", "be"], "Did you mean 'bee'"),
    ],
)
def test_bad_columns_are_refused(data, columns, message):
    with pytest.raises(BadInput, match=message):
        open_rows(data, columns)


def test_a_grid_has_no_two_axes_of_one_name():
    with pytest.raises(BadInput, match="'height' is named twice"):
        Grid((AXES[0], AXES[1], AXES[0]))


def test_cell_numbers_run_along_the_last_axis_first():
    grid = Grid(AXES)
    assert grid.shape == (7, 4, 3)
    assert grid.bins_of(np.array([0, 1, 3, 12, 83])).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [6, 3, 2]]
    counts = Players.in_cells(grid, np.array([1, 13]), np.array([2, 3])).histogram.counts
    assert marginal(counts.reshape(grid.shape), 0).tolist() == [2, 3, 0, 0, 0, 0, 0]
    assert marginal(counts.reshape(grid.shape), 2).tolist() == [0, 5, 0]
