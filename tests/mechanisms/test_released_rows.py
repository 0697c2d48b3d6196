"""Rows that come out: each value is one that the schema allows, in the types of what came in."""

import math
import warnings
from datetime import date, timedelta
from decimal import Decimal
from unicodedata import normalize

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import equinoise
from equinoise import Schema
from equinoise.data.grid import Axis
from equinoise.data.make_grid import make_grid
from equinoise.data.schema_checks import printed
from equinoise.mechanisms.released_rows import rows_of_bins
from tests.conftest import seeded_bytes
from tests.helpers.private_tables import paid_once

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
RULES = {"missing": st.sampled_from(["refuse", "drop", "category"])}
STEPS = st.sampled_from([1, 2, 5, 0.5, 0.1, 0.01, 0.25, 1000, 3])


@st.composite
def number_columns(draw):
    low = draw(st.integers(-(10**4), 10**4)) / draw(st.sampled_from([1, 10, 100]))
    rules = {name: draw(each) for name, each in RULES.items()}
    if draw(st.booleans()):
        step, steps = draw(STEPS), draw(st.integers(1, 400))
        high = float(printed(low) + steps * printed(step))
        bins = draw(st.none() | st.integers(2, steps + 1))
        return {"bounds": [low, high], "step": step, **rules, **({} if bins is None else {"bins": bins})}
    bins = draw(st.none() | st.integers(2, 60))
    return {"bounds": [low, low + draw(st.integers(1, 5000)) / 7], **rules, **({} if bins is None else {"bins": bins})}


@st.composite
def date_columns(draw):
    first, step = draw(st.dates(date(1900, 1, 1), date(2100, 1, 1))), draw(st.sampled_from([1, 7, 30]))
    last = first + timedelta(step * draw(st.integers(1, 200)))
    return {"bounds": [first, last], "step": step, **{name: draw(each) for name, each in RULES.items()}}


@st.composite
def category_columns(draw):
    lists = [NAMES, st.integers(-(10**6), 10**6), st.booleans()]
    strip = {0: lambda name: normalize("NFC", name).strip(), 1: int, 2: bool}
    kind = draw(st.sampled_from([0, 1, 2]))
    found = draw(st.lists(lists[kind], min_size=2, max_size=5, unique_by=strip[kind]))
    return {"categories": found, **{name: draw(each) for name, each in RULES.items()}}


@st.composite
def schemas(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    kinds = st.one_of(number_columns(), date_columns(), category_columns())
    return Schema.of({"columns": {name: draw(kinds) for name in names}})


def is_allowed(column, value):
    """Whether a schema allows a value, by the words of its documentation alone."""
    if value is None:
        return column.missing == "category"
    if column.categories is not None:
        return value in column.categories and type(value) is type(column.categories[0])
    low, high = column.bounds
    if column.is_date:
        return type(value) is date and low <= value <= high and (value - low).days % column.step == 0
    if not low <= value <= high:
        return False
    if column.step is None:
        return type(value) is float
    whole = float(column.step).is_integer() and float(low).is_integer()
    steps = (Decimal(repr(value)) - Decimal(repr(low))) / Decimal(repr(column.step))
    return type(value) is (int if whole else float) and steps == steps.to_integral_value()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.randoms(use_true_random=False))
def test_every_value_of_every_bin_is_one_that_the_schema_allows(schema, random):
    grid = make_grid(schema)
    bins = [[random.randrange(axis.bins) for axis in grid.axes] for _ in range(40)]
    bins += [[0] * len(grid.axes), [axis.bins - 1 for axis in grid.axes]]
    rows = rows_of_bins(grid.axes, np.array(bins), seeded_bytes(1))
    for column, axis, drawn in zip(schema.columns, grid.axes, rows.get_columns(), strict=True):
        values = drawn.to_list()
        assert all(is_allowed(column, value) for value in values), (column, values)
        for value, cell in zip(values, np.array(bins)[:, grid.axes.index(axis)], strict=True):
            if value is None:
                assert cell == axis.bins - 1
            elif column.categories is None and not column.is_date:
                assert axis.cell_of(value) == cell
            else:
                assert axis.code_of(value) == cell


def test_a_value_that_is_not_allowed_would_be_seen():
    column = Schema.of({"columns": {"a": {"bounds": [0, 10], "step": 0.5}}}).columns[0]
    assert [is_allowed(column, v) for v in (0.5, 0.25, 10.5, None, 3)] == [True, False, False, False, False]


def test_a_bin_of_several_steps_gives_each_equally_often():
    grid = make_grid(Schema.of({"columns": {"age": {"bounds": [18, 100], "step": 1, "bins": 20}}}))
    n = 83_000
    axis = grid.axis
    sizes = np.diff(axis.first_steps)
    cells = np.repeat(np.arange(20), n * sizes // 83)
    drawn = rows_of_bins(grid.axes, cells[:, None], seeded_bytes(2))["age"].to_numpy()
    counts = np.bincount(drawn - 18, minlength=83)
    expected = np.repeat(n * sizes // 83 / sizes, sizes)
    chi = float(((counts - expected) ** 2 / expected).sum())
    assert chi < 83 + 8 * math.sqrt(2 * 83)
    lumped = np.repeat(np.bincount(cells, minlength=20), sizes) * (
        np.arange(83) == np.repeat(axis.first_steps[:-1], sizes)
    )
    assert ((lumped - expected) ** 2 / expected).sum() > 10 * chi  # all at the first step would be seen


@pytest.fixture(scope="module")
def people():
    """A table of 120 people with a column of every kind."""
    random = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "age": random.integers(18, 91, 120),
            "pressure": pl.Series(random.integers(6, 20, 120) * 10).cast(pl.Float64),
            "ward": random.choice(["elective", "emergency"], 120),
            "smokes": random.random(120) < 0.3,
            "day": [date(2024, 1, 1) + timedelta(int(d)) for d in random.integers(0, 60, 120)],
        }
    ).with_columns(pressure=pl.when(pl.int_range(120) % 9 == 0).then(None).otherwise("pressure"))


KNOWN = {
    "columns": {
        "age": {"bounds": [18, 90], "step": 1, "bins": 5},
        "pressure": {"bounds": [60, 200], "step": 10, "bins": 4, "missing": "category"},
        "ward": {"categories": ["elective", "emergency"]},
        "smokes": {"categories": [True, False]},
        "day": {"bounds": [date(2024, 1, 1), date(2024, 2, 29)], "bins": 3},
    }
}


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_dataframe_in_gives_such_a_dataframe_out(people, kind):
    data = {"polars": people, "pandas": people.to_pandas(), "pyarrow": people.to_arrow()}[kind]
    made = equinoise.optimize(data, KNOWN, epsilon=3, restarts=1, draws=200)
    rows = made.sample(100)
    types = {
        "polars": lambda frame: dict(frame.schema),
        "pandas": lambda frame: dict(frame.dtypes),
        "pyarrow": lambda frame: dict(zip(frame.schema.names, frame.schema.types, strict=True)),
    }[kind]
    assert type(rows) is type(data)
    assert types(rows) == types(data)
    table = rows if kind == "polars" else pl.from_pandas(rows) if kind == "pandas" else pl.from_arrow(rows)
    columns = Schema.of(KNOWN).columns
    plain = table.with_columns(pl.col("day").cast(pl.Date))
    for column in columns:
        values = plain[column.name].to_list()
        if column.name == "pressure":  # floats came in, so floats go out
            values = [None if value is None or math.isnan(value) else int(value) for value in values]
        assert all(is_allowed(column, value) for value in values)
    assert type(made.sample(1, frame="pandas")) is pd.DataFrame
    assert type(made.sample(1, frame="pyarrow")) is pa.Table
    assert made.sample(3, frame="numpy").shape == (3, 5)


IN_DATA = ["b", "a", "a ward of one"]
FRAMES_OF_CATEGORIES = {
    "pandas": lambda values: pd.DataFrame({"ward": pd.Categorical(values, IN_DATA)}),
    "polars, enum": lambda values: pl.DataFrame({"ward": pl.Series(values, dtype=pl.Enum(IN_DATA))}),
    "polars": lambda values: pl.DataFrame({"ward": pl.Series(values, dtype=pl.Categorical)}),
    "arrow": lambda values: pa.table({"ward": pa.array(values).dictionary_encode()}),
}


@pytest.mark.parametrize("kind", FRAMES_OF_CATEGORIES)
def test_types_of_rows_name_no_category_but_those_of_the_schema(kind):
    """A type that lists categories lists those that somebody has, in an order that may tell of them, too."""
    schema = {"columns": {"ward": {"categories": ["a", "b", "c"], "outside": "drop"}}}
    data = FRAMES_OF_CATEGORIES[kind]([*IN_DATA[:2] * 50, IN_DATA[2]])
    rows = equinoise.optimize(data, schema=schema, epsilon=1, restarts=1).sample(1)
    assert type(rows) is type(data)
    if kind == "pandas":
        assert list(rows["ward"].cat.categories) == ["a", "b", "c"]
    elif kind == "polars, enum":
        assert rows.schema["ward"] == pl.Enum(["a", "b", "c"])
    elif kind == "arrow":
        assert rows["ward"].chunk(0).dictionary.to_pylist() == ["a", "b", "c"]
    else:
        assert rows.schema["ward"] == pl.Categorical


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_file_of_rows_is_counted_where_its_rows_were_drawn(people, run, folder, ending):
    """Rows that are written and read again fall in the cells that they came out of: nothing is lost on the way."""
    people.write_parquet("people.parquet")
    (folder / "people.toml").write_text(Schema.of(KNOWN).to_toml())
    asked = ["--schema", "people.toml", "--epsilon", 3, "--restarts", 1, "--draws", 500]
    assert run("optimize", "people.parquet", *asked, "--out", "a.eq")[0] == 0
    status, _, err = run("sample", "a.eq", "-n", 200, "--out", f"rows.{ending}")
    assert status == 0, err
    status, _, err = run("optimize", f"rows.{ending}", *asked, "--out", "b.eq")
    assert status == 0, err
    read = {"csv": pl.read_csv, "tsv": lambda path: pl.read_csv(path, separator="\t"), "parquet": pl.read_parquet}
    rows = read[ending](f"rows.{ending}")
    assert (rows.columns, rows.height) == (people.columns, 200)
    again = equinoise.Mechanism.open("b.eq")
    columns = {column.name: column for column in Schema.of(KNOWN).columns}
    assert again.total_people == 200
    for name in ("age", "ward"):
        assert all(is_allowed(columns[name], value) for value in rows[name].to_list())


def test_text_that_only_looks_like_a_number_comes_back_as_text():
    people = pl.DataFrame({"code": ["01", "1", "1.0", "true"] * 10})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = equinoise.optimize(
            people, {"columns": {"code": {"categories": ["01", "1", "1.0", "true"]}}}, epsilon=2, draws=50
        )
    assert set(made.sample(50)["code"].to_list()) <= {"01", "1", "1.0", "true"}
    assert made.histogram.tolist() == [10, 10, 10, 10]


def test_arrow_rows_have_columns_of_any_name():
    for name in ("", "\x00", "a\x00b"):
        rows = paid_once(
            pa.table({name: ["x", "y"]}), {"columns": {name: {"categories": ["x", "y"]}}}, epsilon=1
        ).sample(3)
        assert rows.column_names == [name]


def test_midpoints_beyond_the_bounds_become_the_bounds_unless_they_are_asked_for():
    axis = Axis.padded("x", 0, 10, bins=5)
    cells = np.arange(5)[:, None]
    within, beyond = (rows_of_bins([axis], cells, within=within)["x"].to_list() for within in (True, False))
    assert min(beyond) < axis.low < axis.high < max(beyond)
    assert within == [0.0, 0.0, 5.0, 10.0, 10.0]
