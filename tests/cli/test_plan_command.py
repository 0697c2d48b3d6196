"""``equinoise plan``: no data, some twenty lines, and refusals in a sentence."""

import json

import pytest

from equinoise.cli.main import all_commands
from equinoise.synthesis.choice import NOT_PLANNED
from tests.helpers.quick_simulations import quick_simulations

YEARS = ("--bounds", "years", 0, 15, "--step", "years", 1)
ASKED = ("--people", 300, "--epsilon", 1, "--rows", 20)


@pytest.fixture(autouse=True)
def _quick():
    with quick_simulations():
        yield


def test_it_has_no_data_and_opens_no_file_but_the_schema():
    command = all_commands()["plan"]
    assert {parameter.param_type_name for parameter in command.params} == {"option"}
    paths = {parameter.name for parameter in command.params if "ath" in type(parameter.type).__name__}
    assert paths == {"schema"}


def test_it_says_what_to_expect_in_some_twenty_lines(run):
    status, out, err = run("plan", *YEARS, *ASKED)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) <= 25
    first, second, *_ = out.splitlines()
    assert first == "Grid: 'years' 16 bins of 1."
    assert second.startswith("Plan: pay-once on 16 bins of 'years': with about 300 people total variation 0.0")
    for words in (
        "mean of 'years'",
        "error of the table   further error of drawing 20 rows",
        "1,000 rows",
        "without any data",
    ):
        assert words in out
    assert "Too small" not in out


def test_too_small_is_said_with_what_is_enough(run):
    status, out, _ = run("plan", *YEARS, "--people", 12, "--epsilon", 0.1, "--rows", 200)
    assert status == 0
    assert "Too small: total variation is above 0.3 even with the widest bins. Enough would be about " in out


def test_json_has_all_of_it_and_synthesize_says_the_plan(run):
    status, out, _ = run("plan", "--bounds", "pay", 0, 100, *ASKED, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["method"] == "pay-once"
    assert set(found["errors"]) == {"pay"}
    assert len(found["table"]) == 16
    words = ("synthesize", "pay.csv", "--bounds", "pay", 0, 100, *ASKED, "--out", "rows.csv", "--force")
    status, out, _ = run(*words)
    assert status == 0
    assert f"\nPlan: {found['plan']}\n" in out
    assert json.loads(run(*words, "--json")[1])["plan"] == found["plan"]
    command = json.loads(run("show", "rows.eq", "--json")[1])
    assert command["settings"]["people"] == 300


def test_the_same_rule_is_said_without_people_and_an_override_is_said(run):
    words = ("synthesize", "pay.csv", "--bounds", "pay", 0, 100, "--epsilon", 1, "--out", "rows.csv", "--force")
    closer = "rows drawn from the data itself (envelope) are usually closer at epsilon 1."
    for more, plan in (
        (("--rows", 1), f"envelope, as 1 row is at most the 10 up to which {closer}"),
        (("--rows", 11), f"pay-once, as 11 rows are more than the 10 up to which {closer}"),
        (("--rows", 1, "--method", "pay-once"), "pay-once, as was asked for."),
        (("--rows", 1, "--publish-counts", "counts.json"), "pay-once, because of --publish-counts."),
    ):
        status, out, _ = run(*words, *more)
        assert status == 0
        assert f"Plan: {plan} {NOT_PLANNED}" in out
    status, out, _ = run(*words, "--rows", 1, "--publish-counts", "counts.json", "--people", 300)
    assert "\nPlan: pay-once (because of --publish-counts) on 100 bins of 'pay': with about 300 people " in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*YEARS, "--people", 0, "--epsilon", 1, "--rows", 1), "--people must be a whole number from 1 to "),
        ((*YEARS, "--epsilon", 1, "--rows", 1), "Missing option '--people'"),
        (("--column", "years", *ASKED), "Differential privacy needs --bounds or --categories"),
        ((*YEARS, *ASKED, "--bins", 17), "has 16 values"),
        (("--schema", "blank.toml", *ASKED), "blank.toml, line 2, columns.years.bounds: is blank."),
        (("--schema", "peeked.toml", *ASKED), "By the schema, years.bounds came from the data"),
        (
            ("--bounds", "a", 0, 1, "--bounds", "b", 0, 1, "--bins", 5000, "--method", "pay-once", *ASKED),
            "The grid has 25,000,000 cells; 4,194,304 are the most possible.",
        ),
        ((*YEARS, *ASKED[:-1], "same", "--method", "envelope"), "can only be told by noisy counts"),
        ((*YEARS, *ASKED[:-1], 10**7, "--method", "envelope"), "too many for the envelope at epsilon 1"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value[:30],
)
def test_what_cannot_be_is_refused_in_a_sentence(run, folder, words, sentence):
    (folder / "blank.toml").write_text("[columns.years]\nbounds = []\n")
    (folder / "peeked.toml").write_text('[columns.years]\nbounds = [0, 15]\npeeked = ["bounds"]\n')
    status, out, err = run("plan", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
