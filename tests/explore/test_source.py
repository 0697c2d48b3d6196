"""What a page begins with: names, types and what was said, and no value of the data."""

import datetime

import polars as pl
import pytest

from equinoise.data.read_players import columns_asked_for
from equinoise.errors import BadInput
from equinoise.explore.source import Opening, Source
from tests.helpers.explore_server import three_columns


def opening(path=None, schema=None, column=None, **source):
    return Opening.of(Source(path, **source), columns_asked_for(schema, column, None, complete=False)).to_json()


def test_columns_of_a_file_that_nothing_is_said_of_are_listed_and_left_out(tmp_path):
    found = opening(three_columns(tmp_path)[0])
    assert found["names"] == ["pay", "tall", "ward", "patient"]
    assert [column["name"] for column in found["columns"]] == ["pay", "tall", "ward"]  # 'patient' names people
    assert {column["included"] for column in found["columns"]} == {False}


def test_columns_of_a_schema_come_first_and_are_included(tmp_path):
    path, schema = three_columns(tmp_path)
    some = {"unit": "patient", "columns": {"ward": schema["columns"]["ward"]}}
    found = opening(path, some)
    assert found["unit"] == "patient"
    assert [(column["name"], column["included"], column["kind"]) for column in found["columns"]] == [
        ("ward", True, "categories"), ("pay", False, "numbers"), ("tall", False, "numbers"),
    ]  # fmt: skip
    assert found["columns"][0]["categories"] == ["north", "south", "east"]


def test_no_value_is_in_what_the_page_begins_with(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("pay,ward\n73.125,unheard-of\n")
    found = str(opening(path))
    assert "73.125" not in found
    assert "unheard-of" not in found


def test_the_only_column_is_included(tmp_path):
    pl.DataFrame({"pay": [1.0, 2.0]}).write_csv(tmp_path / "pay.csv")
    (column,) = opening(tmp_path / "pay.csv")["columns"]
    assert column == {"name": "pay", "included": True, "kind": "numbers"}


def test_types_of_a_parquet_file_make_kinds(tmp_path):
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    frame = pl.DataFrame({"day": days, "count": [1, 2], "ward": ["a", "b"], "smokes": [True, False]})
    frame.write_parquet(tmp_path / "p.parquet")
    found = {column["name"]: column for column in opening(tmp_path / "p.parquet")["columns"]}
    assert {name: column["kind"] for name, column in found.items()} == {
        "day": "dates", "count": "numbers", "ward": "categories", "smokes": "categories"
    }  # fmt: skip
    assert found["count"]["step"] == 1
    assert found["smokes"]["categories"] == [True, False]


def test_a_column_that_is_named_takes_the_kind_that_its_type_has(tmp_path):
    pl.DataFrame({"ward": ["a", "b"], "count": [1, 2]}).write_parquet(tmp_path / "p.parquet")
    first, second = opening(tmp_path / "p.parquet", column="ward")["columns"]
    assert (first["name"], first["included"], first["kind"]) == ("ward", True, "categories")
    assert (second["name"], second["included"]) == ("count", False)


def test_without_data_there_are_the_schema_s_columns():
    schema = {"unit": "patient", "columns": {"day": {"bounds": [datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)]}}}
    found = opening(None, schema)
    assert (found["source"], found["unit"], found["names"]) == (None, "patient", ["patient"])
    assert found["columns"] == [
        {"name": "day", "included": True, "kind": "dates", "bounds": ["2024-01-01", "2024-02-01"]}
    ]


def test_blanks_of_a_schema_are_to_be_filled_in_on_the_page(tmp_path):
    path, _ = three_columns(tmp_path)
    found = opening(path, {"columns": {"ward": {"categories": []}, "pay": {"bounds": [], "step": 1}}})
    assert [(column["kind"], column["included"]) for column in found["columns"][:2]] == [
        ("categories", True), ("numbers", True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"columns": {"wage": {"bounds": [0, 1]}}}, "no column 'wage'"),
        ({"unit": "person", "columns": {"pay": {"bounds": [0, 1]}}}, "no column 'person'"),
    ],
)
def test_a_column_that_is_not_there_is_refused_at_once(tmp_path, schema, sentence):
    with pytest.raises(BadInput, match=sentence):
        opening(three_columns(tmp_path)[0], schema)


def test_nothing_at_all_and_unknown_engines_are_refused(tmp_path):
    with pytest.raises(BadInput, match="Name a file, or with --schema"):
        opening()
    with pytest.raises(BadInput, match="engine"):
        opening(three_columns(tmp_path)[0], engine="abacus")
