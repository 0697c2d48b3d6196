"""The file of noisy counts: read back as it was written, and refused however it was edited."""

import json
from datetime import date

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise.data.axis import Axis
from equinoise.data.category_axis import CategoryAxis
from equinoise.data.grid import Grid
from equinoise.data.schema import Schema
from equinoise.errors import BadInput
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.published_counts import PublishedCounts, digest_of, publish_counts, read_counts
from equinoise.synthesis.noisy_counts import noise_law
from tests.helpers.private_tables import paid_once

PEOPLE = pl.DataFrame(
    {
        "age": [18, 40, 40, 77] * 10,
        "a:b=c,d": ["x, y", "z", "z", None] * 10,
        "day": [date(2024, 1, 5)] * 40,
        "kg": [30.25, 71.5, 200.0, 64.0] * 10,
        "code": [1, 2, 3, 2] * 10,
        "yes": [True, False, True, True] * 10,
        "who": list("abcdefghij") * 4,
    }
)
COLUMNS = {
    "age": {"bounds": [18, 100], "step": 1, "bins": 7, "missing": "category"},
    "a:b=c,d": {"categories": ["x, y", "z"], "missing": "category", "outside": "refuse"},
    "day": {"bounds": [date(2024, 1, 1), date(2024, 12, 30)], "step": 7, "bins": 3},
    "kg": {"bounds": [30.1, 200], "bins": 5, "missing": "refuse"},
    "code": {"categories": [1, 2, 3]},
    "yes": {"categories": [True, False]},
    "tenth": {"bounds": [0.1, 0.7], "step": 0.1, "bins": 3},
}
SCHEMAS = {
    "numbers": {"columns": {name: COLUMNS[name] for name in ("age", "kg")}},
    "categories and dates": {"columns": {name: COLUMNS[name] for name in ("a:b=c,d", "day", "code", "yes")}},
    "several rows": {"unit": "who", "columns": {"code": COLUMNS["code"], "kg": COLUMNS["kg"]}},
    "no bins": {"columns": {"age": {"bounds": [0, 99], "step": 1}, "kg": {"bounds": [0, 1e3]}}},
    "steps": {"columns": {"age": {"bounds": [0.5, 120.5], "step": 0.5, "bins": 50}}},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("epsilon", [0.1, 3])
def test_what_is_read_is_what_was_written(tmp_path, schema, epsilon):
    made = paid_once(PEOPLE, schema, epsilon=epsilon, rows_per_person=3 if "unit" in schema else 1)
    publish_counts(made, tmp_path / "counts.json")
    found = read_counts(tmp_path / "counts.json")
    assert found.grid == made.grid
    assert found.law == made.law
    assert found.schema == made.schema
    assert np.array_equal(found.counts, made.noisy)
    assert found.promise == made.promise.public()
    said = json.loads((tmp_path / "counts.json").read_text())
    (tmp_path / "pretty.json").write_text(json.dumps(said, indent=2, sort_keys=True))
    assert read_counts(tmp_path / "pretty.json").to_json() == said


@pytest.fixture(scope="module")
def said():
    """What a file of two columns says."""
    axes = (
        Axis("age", 18.0, 25.0, 4, 0.5, step=1.0, missing="drop", outside="clip"),
        CategoryAxis("ward", ("elective", "emergency"), "drop", "drop"),
    )
    counts = np.array([3, -1, 4, 1, 5, 9, -2, 6])
    made = CountsTable.__new__(CountsTable)
    made.__dict__.update(
        grid=Grid(axes), epsilon=0.123456789, law=noise_law(0.123456789), noisy=counts, settings={"public_bounds": True}
    )
    return PublishedCounts.of(made).to_json()


def test_a_release_publishes_its_counts_and_one_without_says_so(tmp_path):
    release = equinoise.synthesize([1.0, 2.0, 2.0] * 9, epsilon=1, rows=3, bounds=(0, 5), bins=5, method="pay-once")
    release.publish_counts(tmp_path / "c.json")
    assert equinoise.Release.open(tmp_path / "c.json").count()[0] == release.count()[0]
    rows = equinoise.synthesize([1.0, 2.0], epsilon=1, rows=1, bounds=(0, 5), bins=5, method="envelope")
    for without in (rows, equinoise.Release.open(tmp_path / "c.json")):
        with pytest.raises(BadInput, match="no noisy counts to publish"):
            without.publish_counts(tmp_path / "d.json")


def test_the_format_stays_what_it_is(said):
    """A file that was written once is read by every later version with this number."""
    assert said["digest"] == "7ab206efd101e40671682f8b55f840c38cf14c8e921117eb724281b1837041c1"


def edited(said, change):
    found = json.loads(json.dumps(said))
    change(found)
    return found


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(found):
        for key in keys:
            found = found[key]
        found[last] = value

    return change


EDITS = {
    "a count": put("counts", 2, 400),
    "a count less": lambda found: found["counts"].pop(),
    "a count more": lambda found: found["counts"].append(0),
    "counts in rows": lambda found: found.update(counts=[found["counts"]]),
    "a count with a fraction": put("counts", 0, 1.5),
    "a count that is whole as a float": put("counts", 0, 3.0),
    "a count that is true": put("counts", 0, True),
    "a count of more than 64 bits": put("counts", 0, 2**63),
    "a text for a count": put("counts", 0, "3"),
    "no counts": lambda found: found.pop("counts"),
    "another epsilon": put("epsilon", 1.0),
    "no epsilon": put("epsilon", None),
    "an epsilon of 0": put("epsilon", 0),
    "less noise": put("noise", "scale", 1.0),
    "more rows of a person": put("noise", "rows_per_person", 2),
    "another law": put("noise", "law", "Gaussian"),
    "no noise": put("noise", []),
    "wider bounds": put("schema", "columns", "age", "bounds", [18, 33]),
    "bounds that are none": put("schema", "columns", "age", "bounds", [25, 18]),
    "bounds that are dates": put("schema", "columns", "age", "bounds", ["2024-01-01", "2024-01-08"]),
    "bounds that are text": put("schema", "columns", "age", "bounds", ["a", "b"]),
    "blank bounds": put("schema", "columns", "age", "bounds", []),
    "other bins": put("schema", "columns", "age", "bins", 2),
    "no bins": lambda found: found["schema"]["columns"]["age"].pop("bins"),
    "categories in another order": put("schema", "columns", "ward", "categories", ["emergency", "elective"]),
    "a category renamed": put("columns", 1, "bins", ["elective", "urgent"]),
    "a column renamed": put("columns", 0, "name", "years"),
    "a column less": lambda found: found["schema"]["columns"].pop("ward"),
    "an unknown key": put("more", 1),
    "an unknown key of a column": put("schema", "columns", "age", "mean", 20),
    "a unit": put("unit", "ward"),
    "another promise": put("promise", "Nothing is promised."),
    "another order": put("order", "the first column's bins run fastest"),
    "a schema that is a list": put("schema", []),
    "a schema without columns": put("schema", {}),
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_an_edit_is_noticed_and_one_with_a_digest_made_anew_if_it_does_not_agree(tmp_path, said, change):
    path = tmp_path / "counts.json"
    found = edited(said, change)
    path.write_text(json.dumps(found))
    with pytest.raises(BadInput, match=r"is damaged or has been changed: its digest does not match\.$"):
        read_counts(path)
    del found["digest"]
    path.write_text(json.dumps({**found, "digest": digest_of(found)}))
    if change is EDITS["a count"]:  # a digest is no signature
        assert read_counts(path).counts[2] == 400
    else:
        with pytest.raises(
            BadInput, match=r"has been changed: what it says (cannot be|does not agree with its schema)"
        ):
            read_counts(path)


FILES = {
    "empty": (b"", "is empty."),
    "blanks": (b" \n", "is empty."),
    "text": (b"age,ward\n1,a\n", "is not whole JSON."),
    "not UTF-8": (b"\xff\xfe", "is not whole JSON."),
    "nested without end": (b"[" * 100_000, "is not whole JSON."),
    "not a number": (b'{"equinoise_counts": NaN}', "is not whole JSON."),
    "a key twice": (b'{"equinoise_counts": 2, "equinoise_counts": 2}', "is not whole JSON."),
    "a long number": (b'{"equinoise_counts": ' + b"1" * 9999 + b"}", "is not whole JSON."),
    "a list": (b"[2]", "has no noisy counts: it was not written by --publish-counts of Equinoise."),
    "other JSON": (b'{"format": 2}', "has no noisy counts: it was not written by --publish-counts of Equinoise."),
    "an earlier format": (b'{"equinoise_counts": 1}', "has format 1 of noisy counts; this version of Equinoise reads "),
    "a later format": (b'{"equinoise_counts": 3}', "reads format 2. Upgrade Equinoise."),
    "no format": (b'{"equinoise_counts": "2"}', "is damaged: its format is '2'."),
    "nothing else": (b'{"equinoise_counts": 2}', "its digest does not match."),
}


@pytest.mark.parametrize(("content", "sentence"), FILES.values(), ids=FILES)
def test_other_files_are_refused_as_what_they_are(tmp_path, content, sentence):
    path = tmp_path / "counts.json"
    path.write_bytes(content)
    with pytest.raises(BadInput) as refusal:
        read_counts(path)
    assert sentence in str(refusal.value)


def test_a_file_that_was_cut_off_is_refused(tmp_path, said):
    text = json.dumps(said)
    for length in range(1, len(text), 37):
        (tmp_path / "counts.json").write_text(text[:length])
        with pytest.raises(BadInput, match="it is not whole JSON"):
            read_counts(tmp_path / "counts.json")


def test_a_folder_and_a_file_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(BadInput, match="is a folder, not a file of noisy counts"):
        read_counts(tmp_path)
    with pytest.raises(BadInput, match="There is no file"):
        read_counts(tmp_path / "counts.json")


def test_bounds_and_refusals_are_in_the_promise_of_counts():
    column = {"bounds": [0, 9], "bins": 3, "bounds_epsilon": 0.25}
    for rule, refuses in (("drop", False), ("refuse", True)):
        schema = Schema.of({"columns": {"age": {**column, "missing": rule}}})
        found = PublishedCounts(0.5, schema, noise_law(0.5), np.zeros(3, dtype=np.int64)).promise
        assert (found.epsilon, found.bounds_epsilon, found.refuses) == (0.75, 0.25, refuses)
