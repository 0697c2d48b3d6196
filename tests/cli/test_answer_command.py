"""``equinoise answer``: one table of answers, JSON or a file of them, and refusals in a sentence."""

import json
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.ask import Answers
from equinoise.mechanisms.base import Mechanism
from equinoise.present.report.pages import _answers, public_page

SCHEMA = """
[columns.age]
bounds = [18, 100]
step = 1
bins = 41

[columns.ward]
categories = ["elective", "emergency"]

[columns.day]
bounds = [2024-01-01, 2024-12-31]
bins = 12
"""

OF_WHOM = (
    "Of people who have a value in all of 'age', 'ward' and 'day', and one of the listed categories in 'ward': others "
    "were left out."
)


@pytest.fixture
def published(folder, run):
    """A table of people's stays, and what was published of it."""
    random = np.random.default_rng(8)
    wards = np.where(random.random(900) < 0.4, "emergency", "elective")
    ages = (random.normal(50, 12, 900) + 9 * (wards == "emergency")).round().clip(18, 100).astype(int)
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 12, 31), eager=True).sample(
        900, with_replacement=True, seed=1
    )
    pl.DataFrame({"age": ages, "ward": wards, "day": days}).write_csv("stays.csv")
    (folder / "stays.toml").write_text(SCHEMA)
    words = ("--epsilon", 1, "--rows", 800, "--out", "rows.csv", "--publish-counts", "counts.json", "--json")
    status, out, err = run("synthesize", "stays.csv", "--schema", "stays.toml", *words)
    assert (status, err) == (0, "")
    return json.loads(out)


def answers(run, *words):
    status, out, err = run("answer", *words, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_rows_have_answers_as_a_table_as_json_and_in_a_file(run, published, folder):
    asked = ("rows.csv", "mean:age", "share:ward", "difference:age:ward=emergency,elective", "--schema", "stays.toml")
    status, out, err = run("answer", *asked, "--level", 0.9)
    assert (status, err) == (0, "")
    header, _, *lines = out.splitlines()
    assert header.split() == ["question", "estimate", "90", "%", "interval", "p-value"]
    rows = pl.read_csv("rows.csv")
    assert lines[0].startswith("mean of age ")
    assert f" {rows['age'].mean():.1f} " in lines[0]
    assert " % to " in lines[1]
    assert lines[4] == "The intervals contain the sampling error of the rows. Each is 90 % on its own."
    assert lines[5] == OF_WHOM
    assert lines[6].startswith(
        "These are answers from rows alone: what the mechanism that made the rows changed is not"
    )
    found = answers(run, *asked, "mean:day", "--by", "ward", "--out", "answers.csv")
    assert [answer["group"] for answer in found["answers"]] == [
        "ward = elective", "ward = emergency", None, None, None, None, "ward = elective", "ward = emergency", None
    ]  # fmt: skip
    alone = answers(run, *asked, "mean:day")["answers"]
    assert [answer for answer in found["answers"] if answer["group"] is None] == alone
    assert found["answers"][0]["estimate"] == pytest.approx(rows.filter(ward="elective")["age"].mean())
    assert found["answers"][6]["low"] < found["answers"][6]["estimate"] < found["answers"][6]["high"]
    assert found["promise"] is None
    assert found["of_whom"] == OF_WHOM
    table = pl.read_csv("answers.csv")
    assert table["question"].to_list() == [answer["question"] for answer in found["answers"]]
    assert table["group"].to_list() == [answer["group"] or "all" for answer in found["answers"]]
    assert table["estimate"][0] == f"{found['answers'][0]['estimate']:.6g}"
    assert table["estimate"][6] == found["answers"][6]["estimate"]
    assert set(table["contains"]) == {"rows"}


def test_counts_have_answers_of_every_kind_and_the_saved_mechanism_the_same(run, published):
    asked = (
        "mean:age", "median:day", "quantiles:age:0.1,0.9", "count", "count:ward", "count:ward=emergency", "share:ward",
        "correlation:age,day", "difference:age:ward=emergency,elective",
    )  # fmt: skip
    found = answers(run, "counts.json", *asked)
    assert {**answers(run, "rows.eq", *asked), "file": "counts.json"} == found
    by_name = {answer["question"]: answer for answer in found["answers"]}
    assert len(by_name) == 11
    for answer in by_name.values():
        assert answer["low"] <= answer["estimate"] <= answer["high"]
        assert "the privacy noise" in answer["contains"]
        assert answer["level"] == 0.95
    assert found["note"].startswith("Of one release, use these answers: ")
    assert found["of_whom"] == OF_WHOM
    assert found["promise"].startswith("Differential privacy with epsilon 1 ")
    counts = equinoise.Release.open("counts.json").counts.counts
    assert by_name["count of all"]["estimate"] == counts.sum()
    assert by_name["median of day"]["estimate"].startswith("2024-")
    status, out, _ = run("answer", "counts.json", *asked, "--by", "ward")
    assert status == 0
    assert "count of all ward = elective " in " ".join(out.split())
    assert "count of all all " in " ".join(out.split())
    assert "Of one release, use these answers: " in out
    assert f"\nValues outside the bounds count as the bounds. {OF_WHOM}\n" in out
    assert "; those of " in out
    assert "Each is 95 % on its own." in out
    status, out, _ = run("answer", "counts.json", *asked, "--by", "ward", "--verbose")
    assert status == 0
    assert f"\n{OF_WHOM}\n{found['note']}\n" in out
    assert "'age' is known only to bins of up to 3, so people count as evenly spread over theirs" in out
    assert "Values of 'age' below 18 or above 100 count as 18 or 100, in the answer as in its interval." in out
    assert "count of ward = elective all " in " ".join(out.split())


def test_below_a_few_answers_there_are_four_short_lines_and_the_promise(run, published):
    status, out, _ = run("answer", "counts.json", "median:age", "mean:age")
    assert status == 0
    *_, contain, width, whom, use, promise = out.splitlines()
    assert len(out.splitlines()) == 4 + 5
    assert contain == (
        "The intervals contain the privacy noise, the sampling of people and the width of the bins. Each is 95 % on "
        "its own."
    )
    assert width.startswith("Most of the width of ")
    assert " comes from the " in width
    assert whom == f"Values outside the bounds count as the bounds. {OF_WHOM}"
    assert use == "Of one release, use these answers: they know their noise, its rows do not. In full: --verbose."
    assert promise.startswith("Differential privacy ")
    found = equinoise.Release.open("counts.json").median("age")
    assert repr(found).endswith("In full: to_json().")
    assert "Values outside the bounds count as the bounds." in found._repr_html_()
    assert "It is 95 % on its own." in found._repr_html_()


def test_a_file_of_answers_has_six_digits_and_a_word_for_each_part(run, published, folder):
    found = answers(
        run, "counts.json", "mean:age", "count", "share:ward", "median:day", "--by", "ward", "--out", "a.csv"
    )["answers"]
    lines = (folder / "a.csv").read_text().splitlines()
    assert lines[0] == "question,group,estimate,low,high,level,contains,p_value,mostly"
    assert '"noise, people, bins, bounds"' in lines[1]
    assert all(len(line) < 140 for line in lines)
    numbers = [word for line in lines[1:] for word in line.split(",") if word[:1].isdigit() and "-" not in word]
    assert numbers
    assert all(len(word.replace(".", "").lstrip("0")) <= 7 for word in numbers)
    assert [answer["mostly"] in {None, "noise", "people", "bins"} for answer in found] == [True] * len(found)
    release = equinoise.Release.open("counts.json")
    assert [answer.group for answer in release.mean("age", by="ward")] == ["ward = elective", "ward = emergency"]
    large = Answers((Answer("count of all", None, 12345678.0, 12345670.5, 0.000123456789, 0.95, ()),)).to_frame()
    assert large.select("estimate", "low", "high").row(0) == (12345678.0, 12345670.0, 0.000123457)


def test_synthesize_shows_answers_beside_the_data_to_the_custodian_alone(run, published):
    found = answers(run, "counts.json", "mean:age", "median:age", "share:ward", "mean:day", "median:day")["answers"]
    shown = published["answers"]
    assert [{key: value for key, value in one.items() if key != "data"} for one in shown] == found
    stays = pl.read_csv("stays.csv", try_parse_dates=True)
    assert shown[0]["data"] == pytest.approx(stays["age"].mean(), abs=0.5)
    assert shown[1]["data"] == pytest.approx(stays["age"].median(), abs=1)
    assert shown[3]["data"] == pytest.approx((stays["ward"] == "emergency").mean())
    made = Mechanism.open("rows.eq")
    (section,) = _answers(made)
    _, table = section.blocks[-2:]
    assert [row[0] for row in table.rows] == [one["question"] for one in shown]
    assert table.rows[3][3] == f"{100 * shown[3]['data']:.1f} %"
    assert _answers(equinoise.synthesize("stays.csv", "stays.toml", epsilon=1, rows=1).mechanism) == []
    assert "share of ward" not in public_page(made, datetime.now(UTC)).html()
    words = ("synthesize", "stays.csv", "--schema", "stays.toml", "--epsilon", 1, "--force", "--out", "more.csv")
    for method, rows, verbose, mark in (
        ("pay-once", 20, (), "The intervals are answers from the noisy counts alone"),
        ("pay-once", 20, ("--verbose",), "Answers from the noisy counts, beside the data"),
        ("envelope", 2, (), None),
    ):
        status, out, _ = run(*words, "--rows", rows, "--method", method, *verbose)
        assert status == 0
        assert (mark in out) if mark else ("noisy counts" not in out)


REFUSED = {
    ("counts.json",): "Ask at least one question: mean:COLUMN; median:COLUMN; ",
    ("counts.json", "mean:agee"): "has no column 'agee'. Did you mean 'age'?",
    ("counts.json", "share:ward=urgent"): "has no category 'urgent'. It has 'elective', 'emergency'.",
    ("counts.json", "quantiles:age:1.5"): "A quantile is a number between 0 and 1, such as 0.9. Got 1.5 instead.",
    ("counts.json", "mean:ward"): "Column 'ward' has categories, and no mean, quantile or correlation.",
    ("counts.json", "mean:age", "--by", "wrd"): "has no column 'wrd'. Did you mean 'ward'?",
    ("counts.json", "mean:age", "--by", "day"): "Column 'day' has numbers, and no categories.",
    ("counts.json", "mean:age", "--level", 1): "--level must be a number from 0.5 to 0.9999. Got 1 instead.",
    ("counts.json", "mean:age", "--schema", "stays.toml"): "has its own schema. Leave --schema out",
    ("edited.json", "mean:age"): "is damaged or has been changed: its digest does not match.",
    ("format.json", "mean:age"): "has format 1 of noisy counts; this version of Equinoise reads format 2.",
    ("empty.json", "mean:age"): "The file 'empty.json' is empty.",
    ("empty.csv", "mean:age"): "The file 'empty.csv' is empty.",
    ("folder.json", "mean:age"): "'folder.json' is a folder, not a file of noisy counts.",
    ("folder", "mean:age"): "The folder 'folder' is empty.",
    ("stays.toml", "mean:age"): "must be a file of noisy counts (.json), rows (.csv, .tsv or .parquet) or a saved mech",
    ("nothing.json", "mean:age"): "There is no file 'nothing.json'.",
    ("nothing.csv", "mean:age"): "There is no file 'nothing.csv'.",
    ("envelope.eq", "mean:age"): "has no noisy counts: only those that are paid for once have (--method pay-once).",
    ("pay.csv", "mean:age", "--schema", "stays.toml"): "The file 'pay.csv' has no column 'age'. It has 'id', 'pay'.",
    ("pay.csv", "mean:age"): "The file 'pay.csv' has no column 'age'.",
    ("rows.csv", "count:ward"): "Rows do not tell how many people there are",
    ("rows.csv", "mean:age", "--out", "answers.txt"): "must end in .csv, .tsv or .parquet",
    ("rows.csv", "mean:age", "--out", "rows.csv"): "is the file being read.",
}  # fmt: skip


def test_what_cannot_be_answered_is_refused_in_a_sentence(run, published, folder):
    text = (folder / "counts.json").read_text()
    (folder / "edited.json").write_text(text.replace('"counts": [', '"counts": [1, ', 1))
    (folder / "format.json").write_text(text.replace('"equinoise_counts": 2', '"equinoise_counts": 1'))
    for name in ("empty.json", "empty.csv"):
        (folder / name).touch()
    for name in ("folder.json", "folder"):
        (folder / name).mkdir()
    made = ("--bounds", "pay", 0, 100, "--epsilon", 1, "--rows", 1, "--method", "envelope", "--out", "envelope.csv")
    assert run("synthesize", "pay.csv", *made)[0] == 0
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for words, sentence in REFUSED.items():
        status, out, err = run("answer", *words)
        assert (status, out) == (2, ""), words
        assert sentence in err, err
        assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_release_is_asked_in_python(published):
    rows = equinoise.Release.open("rows.csv", "stays.toml")
    for found in (rows.mean("age", by="ward"), rows.quantiles("age", [0.1, 0.9]), rows.share("ward")):
        assert isinstance(found, equinoise.Answers)
        assert len(found) == 2
        assert all(isinstance(answer, equinoise.Answer) for answer in found)
        assert str(found[1].question) in repr(found)
        assert str(found[1].question) in found._repr_html_()
        assert "others were left out." in found._repr_html_()
    assert rows.median("day")[0].estimate.year == 2024
    assert rows.difference("age", by="ward", between=("emergency", "elective"))[0].p_value < 0.05
    assert len(rows.share("ward", "emergency")) == 1
    made = equinoise.synthesize("stays.csv", "stays.toml", epsilon=1, rows=50, method="envelope")
    assert made.mean("age")[0].estimate == pytest.approx(made.rows["age"].mean())
    paid = equinoise.synthesize(pl.read_csv("stays.csv", try_parse_dates=True), "stays.toml", epsilon=1, rows=50)
    assert paid.count()[0].estimate == paid.mechanism.noisy.sum()
    assert paid.count("ward", by=None)[1].question == "count of ward = emergency"
    assert repr(rows) == "Rows with the columns 'age', 'ward', 'day'."
    with pytest.raises(equinoise.BadInput, match="The question is about 'ward', so it cannot be answered by"):
        rows.share("ward", by="ward")
    with pytest.raises(equinoise.BadInput, match="The 'between' parameter must be two categories of 'ward'"):
        rows.difference("age", by="ward", between="emergency")
    with pytest.raises(equinoise.BadInput, match="opened from a published file, which has no mechanism"):
        rows.report("report.html")
    counts = equinoise.Release.open("counts.json")
    assert counts.promise.in_one_line in repr(counts)
    assert "Noisy counts with the columns" in counts._repr_html_()
