"""``equinoise schema``: a draft says nothing about anyone's values unless it is asked to peek."""

import json
import stat
import tomllib
import warnings
from datetime import date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equinoise.data.draft import BLANKS, PEEKED, UNPUBLISHED, make_draft
from equinoise.data.schema import Column, Schema
from equinoise.errors import BadInput, NotPublicWarning

PEOPLE = pl.DataFrame(
    {
        "patient_id": [901, 902, 903, 904],
        "age": [18, 93, 43, 68],
        "ward": ["elective", "emergency", None, "elective"],
        "weight": [70.5, 55.25, 61.0, None],
        "admitted": [date(2024, 2, 3), date(2024, 11, 30), None, date(2024, 5, 5)],
        "smokes": [True, False, None, True],
        "fee": [Decimal("1.50"), Decimal("2.25"), None, Decimal("9.75")],
        "kind": pl.Series(["b", "b", "c", "b"], dtype=pl.Enum(["a", "b", "c"])),
        "seen": [datetime(2024, 2, 3, 4, 5)] * 4,
        "list": [[1], [2], [3], [4]],
    },
    schema_overrides={"fee": pl.Decimal(8, 2)},
)
VALUES = ["901", "18", "93", "elective", "70.5", "55.25", "2024-02-03", "9.75"]
TEXT = ["patient_id", "age", "ward", "weight", "admitted"]


def draft_schema(data, **more):
    """The schema of a draft, without its file."""
    return make_draft(data, **more).schema


@pytest.fixture
def people(folder):
    PEOPLE.write_parquet("people.parquet")
    PEOPLE.select(TEXT).write_csv("people.csv", null_value="NA")
    return folder


def peeked(data, **more):
    with pytest.warns(NotPublicWarning, match="as secret as the data"):
        return draft_schema(data, peek=True, **more)


@pytest.mark.usefixtures("people")
def test_a_draft_of_a_parquet_file_has_its_types_and_no_values(run):
    status, out, err = run("schema", "people.parquet")
    assert (status, err) == (0, "")
    assert tomllib.loads(out) == {
        "columns": {
            "age": {"bounds": [], "step": 1},
            "ward": {"categories": []},
            "weight": {"bounds": []},
            "admitted": {"bounds": []},
            "smokes": {"categories": [True, False]},
            "fee": {"bounds": [], "step": 0.01},
            "kind": {"categories": []},
            "seen": {"bounds": []},
        }
    }
    assert out.startswith(f"# {BLANKS}\n")
    assert '\n# unit = "patient_id"\n' in out
    assert '\n# "list": values of type List(Int64)\n' in out
    assert not any(value in out for value in VALUES)


@pytest.mark.usefixtures("people")
def test_a_draft_of_a_text_file_has_its_names_alone(run):
    status, out, err = run("schema", "people.csv")
    assert (status, err) == (0, "")
    assert tomllib.loads(out) == {"columns": {name: {} for name in TEXT[1:]}}
    head = out.split("\n[", 1)[0]
    for said in (
        "bounds = [0, 120], and step = 1 for whole values",
        "categories = [",
        'missing = "category"',
        "Leave bins out",
        UNPUBLISHED,
    ):
        assert head.count(said) == out.count(said) == 1
    assert set(filter(None, out.removeprefix(head).splitlines())) == {f"[columns.{name}]" for name in TEXT[1:]}
    assert not any(value in out for value in VALUES)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("data", ["people.csv", "people.parquet"])
def test_a_draft_is_the_same_whatever_the_values_are(data):
    before = make_draft(data).text
    other = PEOPLE.with_columns(pl.col("age") * 1000, ward=pl.lit("other"), weight=pl.lit(None, pl.Float64))
    other.write_parquet("people.parquet")
    other.select(TEXT).write_csv("people.csv")
    assert make_draft(data).text == before


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("data", ["people.csv", "people.parquet"])
def test_peeking_fills_in_what_the_values_show_and_marks_it(run, data):
    status, out, err = run("schema", data, "--peek")
    assert (status, err) == (0, f"Warning: {PEEKED}\n")
    found = tomllib.loads(out)["columns"]
    assert found["age"] == {"bounds": [18, 93], "step": 1, "peeked": ["bounds", "step"][: 1 + (data == "people.csv")]}
    assert found["ward"] == {"categories": ["elective", "emergency"], "peeked": ["categories"]}
    assert found["weight"] == {"bounds": [55.25, 70.5], "step": 0.25, "peeked": ["bounds", "step"]}
    assert found["admitted"] == {"bounds": [date(2024, 2, 3), date(2024, 11, 30)], "peeked": ["bounds"]}
    schema = Schema.of(tomllib.loads(out))
    schema.check_complete()
    assert "age.bounds" in schema.peeked
    if data == "people.parquet":
        assert found["smokes"] == {"categories": [True, False]}
        assert found["fee"] == {"bounds": [1.5, 9.75], "step": 0.75, "peeked": ["bounds", "step"]}
        assert found["kind"] == {"categories": ["a", "b", "c"], "peeked": ["categories"]}
        assert found["seen"] == {"bounds": [date(2024, 2, 3), date(2024, 2, 4)], "peeked": ["bounds"]}


@pytest.mark.usefixtures("people")
def test_a_file_is_written_whole_and_replaced_with_force_only(run, folder):
    assert run("schema", "people.parquet", "--out", "people.toml") == (
        0,
        "Wrote 'people.toml', with 7 of 8 columns left to be filled in.\n",
        "",
    )
    assert stat.S_IMODE((folder / "people.toml").stat().st_mode) & 0o077 == 0o044
    with pytest.raises(
        BadInput, match=r"^people\.toml, line 14, columns\.age\.bounds: is blank\. Fill in \[low, high\]"
    ):
        Schema.open("people.toml").check_complete()
    status, _, err = run("schema", "people.parquet", "--out", "people.toml")
    assert (status, "--force" in err) == (2, True)
    assert "is the file being read" in run("schema", "people.csv", "--out", "people.csv", "--force")[2]
    status, out, _ = run("schema", "people.csv", "--peek", "--out", "people.toml", "--force")
    assert (status, out) == (0, "Wrote 'people.toml', with no blanks.\n")
    assert stat.S_IMODE((folder / "people.toml").stat().st_mode) == 0o600


@pytest.mark.usefixtures("people")
def test_a_draft_without_blanks_says_only_what_may_be_deleted(run):
    out = run("schema", "people.parquet", "--column", "smokes")[1]
    assert out == f"# {UNPUBLISHED}\n\n[columns.smokes]\ncategories = [true, false]\n"


@pytest.mark.usefixtures("people")
def test_blanks_of_columns_that_are_left_out_do_not_matter(run, folder):
    draft = run("schema", "people.csv")[1]
    (folder / "people.toml").write_text(draft.replace("[columns.age]", "[columns.age]\nbounds = [0, 120]"))
    words = ("synthesize", "people.csv", "--schema", "people.toml", "--epsilon", 1, "--rows", 5, "--out", "rows.csv")
    status, _, told = run(*words, "--column", "age", "--column", "ward")
    assert (status, "columns.ward: has neither" in told, told.count("columns.")) == (2, True, 1)
    assert told.endswith(
        "To leave a column out, delete its table, or name the other columns with --column (in Python, column=).\n"
    )
    assert run(*words, "--column", "age")[0] == 0


@pytest.mark.usefixtures("people")
def test_json_has_the_draft_and_what_is_blank(run):
    status, out, _ = run("schema", "people.parquet", "--column", "smokes", "--column", "patient_id", "--json")
    found = json.loads(out)
    assert status == 0
    assert set(found) == {"columns", "blanks", "peeked", "bounds_epsilon", "toml", "file", "warnings"}
    assert (found["columns"], found["blanks"]) == (["smokes", "patient_id"], ["patient_id"])
    assert tomllib.loads(found["toml"])["columns"]["patient_id"] == {"bounds": [], "step": 1}
    assert json.loads(run("schema", "people.csv", "--peek", "--json")[1])["warnings"] == [PEEKED]


@pytest.mark.usefixtures("people")
def test_what_is_not_there_is_refused_in_a_sentence(run):
    told = "Error: The file 'people.csv' has no column 'wards'. Did you mean 'ward'?\n"
    assert run("schema", "people.csv", "--column", "wards") == (2, "", told)
    assert run("schema", "none.csv")[2] == "Error: There is no file 'none.csv'.\n"
    PEOPLE.select("list").write_parquet("list.parquet")
    told = "Error: The file 'list.parquet' has no column of numbers, dates or categories.\n"
    assert run("schema", "list.parquet")[2] == told


def test_columns_that_are_all_identifiers_are_drafted_all_the_same(folder):
    assert draft_schema("pay.csv").names == ("pay",)
    assert draft_schema(pl.DataFrame({"user_id": [1]})).names == ("user_id",)


def test_names_of_any_letters_are_drafted(run, folder):
    names = ["a.b", 'say "x"', "two\nlines", "\u202eturned", "^.*$", "*", "#"]
    pl.DataFrame({name: [i, i + 10] for i, name in enumerate(names)}).write_parquet("odd.parquet")
    status, out, _ = run("schema", "odd.parquet", "--peek")
    assert status == 0
    assert out.replace("\n", "").isprintable()
    found = tomllib.loads(out)["columns"]
    assert {name: column["bounds"] for name, column in found.items()} == {
        name: [i, i + 10] for i, name in enumerate(names)
    }


FRAMES = {
    "polars": lambda: PEOPLE.drop("list"),
    "lazy": lambda: PEOPLE.drop("list").lazy(),
    "pandas": lambda: PEOPLE.drop("list").to_pandas(),
    "arrow": lambda: PEOPLE.drop("list").to_arrow(),
    "duckdb": lambda: duckdb.sql("select * exclude (list) from 'people.parquet'"),
}


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("kind", FRAMES)
def test_any_dataframe_is_drafted(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        frame = FRAMES[kind]()
        blank = draft_schema(frame)
        shown = {column.name: column for column in peeked(frame, columns=["age", "ward", "admitted"]).columns}
    assert blank.names[:4] == ("age", "ward", "weight", "admitted")
    assert blank.columns[0] == Column(name="age", blank="bounds", step=1)
    assert blank.columns[1] == Column(name="ward", blank="categories")
    assert shown["age"] == Column(name="age", bounds=(18, 93), step=1, peeked=("bounds",))
    assert shown["ward"] == Column(name="ward", categories=("elective", "emergency"), peeked=("categories",))
    assert shown["admitted"].bounds == (date(2024, 2, 3), date(2024, 11, 30))


@pytest.mark.parametrize(
    ("values", "bounds", "step"),
    [
        ([5, 10, 25], (5, 25), 5),
        ([-3, 0, 3], (-3, 3), 3),
        ([7, 7], (7, 8), 1),
        ([0, 0], (0, 1), 1),
        ([10**16, 10**17], (10**16, 10**17), 1),
        ([0.1, 0.2, 0.7], (0.1, 0.7), 0.1),
        ([0.3, 0.1 + 0.2], (0.3, 0.1 + 0.2), None),
        ([1.0, 2.0, np.nan, np.inf], (1, 2), 1),
        ([0.5, 0.5], (0.5, 0.6), 0.1),
        ([1 / 3], (1 / 3, 1 / 3 + 1), None),
        ([1e300, -1e300], (-1e300, 1e300), None),
        ([1.5e308, 1.5e308], None, None),
        ([np.nan], None, None),
    ],
    ids=str,
)
def test_bounds_and_steps_that_numbers_show(values, bounds, step):
    column = peeked(np.array(values)).columns[0]
    assert column.name == "value"
    assert (column.bounds, column.step) == (bounds, step)


@pytest.mark.parametrize(
    ("values", "categories", "comment"),
    [
        (["b", "a", " a", "NA", ""], ("a", "b"), "Read off the data"),
        ([f"v{i}" for i in range(51)], None, "There are more than 50 different values."),
        (["NA", "null"], None, "There are no values."),
        (["secret"], None, "What the data shows cannot be filled in."),
        (["2024-01-01", "soon"], ("2024-01-01", "soon"), "Read off the data"),
    ],
    ids=["blanks", "many", "none", "one", "no date"],
)
def test_categories_that_a_text_file_shows(folder, values, categories, comment):
    pl.DataFrame({"x": values, "y": "1"}).write_csv("x.csv", quote_style="always")
    with pytest.warns(NotPublicWarning):
        draft = make_draft("x.csv", peek=True, columns=["x"])
    assert draft.schema.columns[0].categories == categories
    assert comment in draft.text
    assert categories or not any(f'"{value}"' in draft.text for value in values)


def test_dates_at_the_end_of_time_have_room_before_them():
    assert peeked(pl.DataFrame({"x": [date.max]})).columns[0].bounds == (date(9999, 12, 30), date.max)


def test_what_may_be_anything_is_left_to_people():
    objects = pd.DataFrame({"x": pd.Series([1, "a", None], dtype=object)})
    assert draft_schema(objects).columns == (Column(name="x"),)
    dictionary = pa.table({"x": pa.array(["u", "v", "u"]).dictionary_encode()})
    assert draft_schema(dictionary).columns == (Column(name="x", blank="categories"),)
    assert peeked(dictionary).columns[0].categories == ("u", "v")


def test_two_columns_of_one_name_and_odd_arrays_are_refused(folder):
    (folder / "twice.csv").write_text("a,a\n1,2\n")
    with pytest.raises(BadInput, match="several columns called 'a'"):
        draft_schema("twice.csv")
    with pytest.raises(BadInput, match="one dimension"):
        draft_schema(np.zeros((2, 2)))


@pytest.mark.parametrize("columns", ["weight;fee\n70,5;1\n55,2;2\n", "weight\tfee\n70,5\t1\n55,2\t2\n"])
def test_peeking_reads_numbers_as_they_are_said_to_be_written(run, folder, columns):
    (folder / "people.txt").write_text(columns)
    mark = "semicolon" if ";" in columns else "tab"
    words = ("schema", "people.txt", "--separator", mark, "--peek")
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "Column 'weight' has numbers such as '55,2'. Say which mark is the decimal one: with --decimal ," in err
    status, out, _ = run(*words, "--decimal", ",")
    assert status == 0
    assert tomllib.loads(out)["columns"]["weight"]["bounds"] == [55.2, 70.5]
    assert run(*words, "--column", "fee")[0] == 0


def test_how_text_is_written_is_refused_where_there_is_none(run, people):
    told = "Error: --decimal must be left out with Parquet files, whose columns have types. Got ',' instead.\n"
    status, out, err = run("schema", "people.parquet", "--decimal", ",")
    assert (status, out, err) == (2, "", told)
