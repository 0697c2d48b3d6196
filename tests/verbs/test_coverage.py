"""What was left out is told to whoever sees the data, and nowhere else."""

import json

import polars as pl
import pytest

import equinoise
from equinoise import Mechanism
from equinoise.data.coverage import Coverage
from equinoise.present.coverage_words import coverage_sentences

PAY = [float(20 + i % 60) for i in range(100)]
WARD = ["x", "y", "z", None] * 25
LEFT_OUT = (
    "Left out: 57 of 103 rows (55.3 %), by column: 'ward' 26 missing and 26 of unknown categories; 'pay' 11 missing."
)
CLIPPED = "Values moved to the nearer bound, by column: 3 of 'pay'."
OTHERS = "Columns of the data that are not used: 'note'; 'id'."
OPTIONS = ["--bounds", "pay", 0, 75, "--categories", "ward", "x,y", "--bins", 10, "--epsilon", 2]


@pytest.fixture
def data(folder):
    """People of whom some are left out, and some have values outside the bounds."""
    pay = [None if i % 10 == 0 else value for i, value in enumerate(PAY)]
    frame = pl.DataFrame({"pay": [*pay, None, 500.0, -3.0], "ward": [*WARD, None, "x", "z"]})
    frame.with_columns(note=pl.lit("n"), id=pl.int_range(pl.len())).write_csv("data.csv")
    return "data.csv"


VERBS = {
    "synthesize": ["synthesize", "data.csv", *OPTIONS, "--rows", 5, "--out", "r.csv", "--save", "m.eq"],
    "optimize": [
        "optimize",
        "data.csv",
        *OPTIONS,
        "--missing",
        "drop",
        "--outside",
        "clip",
        "--restarts",
        1,
        "--out",
        "m.eq",
    ],
    "compare": ["compare", "data.csv", *OPTIONS, "--missing", "drop", "--outside", "clip", "--time-limit", 1],
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_was_left_out_is_told_on_the_screen_and_in_json(run, data, verb):
    status, out, err = run(*VERBS[verb])
    assert status == 0, err
    for sentence in (LEFT_OUT, CLIPPED, OTHERS):
        assert out.splitlines().count(sentence) == 1, out
    force = [] if verb == "compare" else ["--force"]
    told = json.loads(run(*VERBS[verb], *force, "--json")[1])["coverage"]
    assert (told["rows"], told["rows_left_out"], told["people_left_out"]) == (103, 57, 57)


def test_it_is_neither_saved_nor_published(run, data, folder):
    more = ["--method", "pay-once", "--publish-counts", "c.json"]
    assert run(*VERBS["synthesize"], *more)[0] == 0
    assert run("report", "m.eq", "--public", "--out", "public.html")[0] == 0
    assert Mechanism.open("m.eq").coverage is None
    for name in ("m.eq", "r.csv", "c.json", "public.html"):
        text = (folder / name).read_text().lower()
        assert "coverage" not in text
        assert "left out:" not in text


def test_python_has_it_beside_the_mechanism(data):
    schema = {"columns": {"pay": {"bounds": [0, 75], "bins": 10}, "ward": {"categories": ["x", "y"]}}}
    release = equinoise.synthesize(data, schema, epsilon=2, rows=5)
    found = release.mechanism.coverage
    assert (found.rows, found.rows_left_out, found.clipped) == (103, 57, {"pay": 3})
    assert release.mechanism.summary()["coverage"] == found.to_json()
    assert "left out" not in repr(release).lower()


def test_what_is_zero_is_not_told():
    assert coverage_sentences(None) == coverage_sentences(Coverage(rows=3)) == []


def test_people_and_many_columns_are_told_in_few_words():
    many = {f"c{i}": 1 + (i == 6) for i in range(7)}
    told = coverage_sentences(
        Coverage(
            rows=3000, rows_left_out=1, people_left_out=1, missing=many, unit="who", without_unit=1,
            clipped={"a\x1b": 1}, columns_left_out=tuple(many),
        )
    )  # fmt: skip
    assert told == [
        "Left out: 1 of 3,000 rows (0.0333 %) and all rows of 1 person, by column: 'who' (the unit) 1 missing; 'c6' 2 "
        "missing; 'c0' 1 missing; 'c1' 1 missing; 'c2' 1 missing; 3 more.",
        "Values moved to the nearer bound, by column: 1 of 'a<U+001B>'.",
        "Columns of the data that are not used: 'c0'; 'c1'; 'c2'; 'c3'; 'c4'; 2 more.",
    ]
