"""Who was left out of answers, from the public schema alone."""

import polars as pl
import pytest

import equinoise
from equinoise.analysis.answers.complete_cases import complete_cases
from equinoise.data.schema import Schema

NUMBERS = {"bounds": [0, 100]}
WARD = {"categories": ["a", "b"]}


def sentence(unit=None, rows=None, **columns):
    return complete_cases(Schema.of({"columns": columns} | ({} if unit is None else {"unit": unit})), rows)


def test_the_usual_rules_leave_out_whoever_lacks_a_value_or_has_an_unlisted_category():
    assert sentence(age=NUMBERS) == "Of people who have a value in 'age': others were left out."
    assert sentence(age=NUMBERS, cost=NUMBERS) == (
        "Of people who have a value in all of 'age' and 'cost': others were left out."
    )
    assert sentence(age=NUMBERS, ward=WARD) == (
        "Of people who have a value in all of 'age' and 'ward', and one of the listed categories in 'ward': others "
        "were left out."
    )


def test_rules_that_the_schema_says_come_before_the_usual_ones():
    assert sentence(age={**NUMBERS, "missing": "refuse"}) == ""
    assert (
        sentence(age={**NUMBERS, "missing": "category"}, ward={**WARD, "missing": "refuse", "outside": "refuse"}) == ""
    )
    assert sentence(age={**NUMBERS, "missing": "category"}, cost=NUMBERS) == (
        "Of people who have a value in 'cost': others were left out."
    )
    assert sentence(ward={**WARD, "missing": "category"}) == (
        "Of people who have one of the listed categories or none in 'ward': others were left out."
    )
    assert sentence(ward={**WARD, "missing": "refuse"}) == (
        "Of people who have one of the listed categories in 'ward': others were left out."
    )


def test_where_people_have_several_rows_rows_are_left_out():
    assert sentence("id", 3, age=NUMBERS) == "Of rows that have a value in 'age': others were left out."
    assert sentence("id", age=NUMBERS).startswith("Of rows that ")
    assert sentence("id", 1, age=NUMBERS).startswith("Of people who ")


def test_of_many_columns_some_are_named():
    names = [f"c{number}" for number in range(9)]
    assert sentence(**dict.fromkeys(names[:6], NUMBERS)).count("'c") == 6
    assert sentence(**dict.fromkeys(names, NUMBERS)) == (
        "Of people who have a value in all of 'c0', 'c1', 'c2', 'c3', 'c4' and 4 more columns: others were left out."
    )


@pytest.mark.parametrize("method", ["pay-once", "envelope"])
def test_every_release_says_it_whatever_was_missing(method, tmp_path):
    schema = Schema.of({"columns": {"age": {**NUMBERS, "bins": 4}, "ward": WARD}})
    whole = pl.DataFrame({"age": [10.0, 60.0, 80.0], "ward": ["a", "b", "a"]})
    said = set()
    for data in (whole, whole.with_columns(age=pl.Series([None, 60.0, 80.0]))):
        release = equinoise.synthesize(data, schema, epsilon=1, rows=5, method=method)
        release.rows.write_csv(tmp_path / "rows.csv")
        opened = equinoise.Release.open(tmp_path / "rows.csv", schema)
        said |= {release.median("age").of_whom, opened.median("age").of_whom}
        assert release.median("age").to_json()["of_whom"] in said
    assert said == {sentence(age=NUMBERS, ward=WARD)}
    assert equinoise.Release.open(tmp_path / "rows.csv").median("age").of_whom == ""
