"""What a page asks for is what the verbs make; what is refused is refused in their words."""

import json
import shlex
import warnings

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise.errors import BadInput, EquinoiseError, EquinoiseWarning
from equinoise.explore import view
from equinoise.explore.request import PageRequest, schema_from_json
from equinoise.explore.source import Source
from equinoise.solvers import least_epsilon
from tests.helpers.explore_server import PAY, pay_file, three_columns
from tests.helpers.quick_simulations import quick_simulations


def count_now(name, count):
    return count()


def make(path, asked, kept=count_now):
    request = PageRequest.from_json(asked)
    return request.make(Source(path), kept, request.plan(None), None)


def without_seconds(mechanism):
    found = mechanism.to_json()
    return {**found, "solver": {name: value for name, value in found["solver"].items() if name != "seconds"}}


@pytest.fixture(autouse=True)
def plan_quickly():
    """Plans of a second."""
    with quick_simulations():
        yield


@pytest.fixture
def pay(tmp_path):
    """The path of a file of the pay of 300 people."""
    return pay_file(tmp_path)


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1.0},
        {"epsilon": 0.3, "scales": "adaptive"},
        {"epsilon": 3.0, "scales": "paper"},
        {"epsilon": 0.5, "draws": 40},
        {"epsilon": 1.0, "draws": 3, "delta": 1e-6},
        {"epsilon": 1.0, "delta": 1e-4},
    ],
    ids=str,
)
def test_the_game_is_the_one_that_optimize_plays(pay, asked):
    ours = make(pay, {"verb": "optimize", "schema": PAY, **asked})
    theirs = equinoise.optimize(pay, PAY, **asked)
    assert without_seconds(ours) == without_seconds(theirs)
    assert ours.promise == theirs.promise


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1.0, "rows": 5},
        {"epsilon": 0.5, "rows": 1, "people": 300},
        {"epsilon": 1.0, "rows": 500, "delta": 1e-6, "method": "envelope"},
    ],
    ids=str,
)
def test_an_envelope_is_the_one_that_synthesize_makes(pay, asked):
    ours = make(pay, {"schema": PAY, **asked})
    theirs = equinoise.synthesize(pay, PAY, **asked).mechanism
    assert ours.to_json() | {"spent": 0} == theirs.to_json() | {"spent": 0}
    assert ours.promise == theirs.promise


def test_noisy_counts_of_the_page_are_an_example_of_those_that_are_made(pay):
    asked = {"schema": PAY, "epsilon": 1.0, "rows": 200, "people": 300}
    one, two = make(pay, asked), make(pay, asked)
    assert one.method == "pay-once"
    assert one.noisy.tolist() != two.noisy.tolist()
    assert one.settings == equinoise.synthesize(pay, PAY, epsilon=1.0, rows=200, people=300).mechanism.settings
    assert "have other noise" in view.result(one)["example"]


def test_the_plan_is_that_of_plan_and_needs_no_data():
    request = PageRequest.from_json({"schema": PAY, "epsilon": 1.0, "rows": 200, "people": 300})
    plan = request.plan(None)
    assert plan.to_json() == equinoise.plan(PAY, people=300, epsilon=1.0, rows=200).to_json()
    told = view.plan(plan, Source(), request)
    assert told["sentence"] == f"Plan: {plan.choice.sentence}"
    assert [table["title"] for table in told["tables"]] == [
        "Expected errors",
        "Expected total variation, by epsilon and rows",
    ]
    assert told["command"].startswith("equinoise synthesize DATA --column pay --bounds pay 0 100 --bins 51 --epsilon 1")
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [({"rows": 5}, "Say about how many people there are"), ({"verb": "optimize"}, "nothing can be said of it without")],
)
def test_where_there_is_no_plan_the_page_says_why(asked, sentence):
    request = PageRequest.from_json({"schema": PAY, "epsilon": 1.0, **asked})
    assert request.plan(None) is None
    assert sentence in view.plan(None, Source(), request)["sentence"]


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1e-5},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": "1"},
        {"epsilon": 10**400},
        {"epsilon": 1.0, "draws": 0},
        {"epsilon": 1.0, "draws": 1.5},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1.0, "scales": "many"},
        {"verb": "synthesize", "epsilon": 1.0, "rows": 0},
        {"verb": "synthesize", "epsilon": 1.0, "rows": "many"},
        {"verb": "synthesize", "epsilon": 1.0, "rows": "same", "method": "envelope"},
        {"verb": "synthesize", "epsilon": 1.0, "rows": 3, "people": 0},
        {"verb": "synthesize", "epsilon": 1.0, "rows": 3, "rows_per_person": 2},
        {"verb": "synthesize", "epsilon": 1e-8, "rows": 10**6, "delta": 1e-9, "method": "envelope"},
    ],
    ids=str,
)
def test_refusals_are_those_of_the_verb_word_for_word(pay, asked, monkeypatch):
    monkeypatch.setattr(least_epsilon, "SECONDS", 0.0)  # how far the search gets is up to the clock
    verb, settings = asked.get("verb", "optimize"), {name: value for name, value in asked.items() if name != "verb"}
    with pytest.raises(EquinoiseError) as theirs:
        getattr(equinoise, verb)(pay, PAY, **settings)
    with pytest.raises(type(theirs.value)) as ours:
        make(pay, {"schema": PAY, **settings, "verb": verb})
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "no epsilon"),
        ({"epsilon": 1, "solver": "optimal"}, "no setting 'solver' of 'synthesize' here"),
        ({"epsilon": 1, "verb": "optimize", "rows": 3}, "no setting 'rows' of 'optimize' here"),
        ({"epsilon": 1, "verb": "optimize", "scales": ["wide"]}, "'scales' parameter must be a word"),
        ({"epsilon": 1, "rows": 3, "method": [1]}, "'method' parameter must be a word"),
        ({"epsilon": 1, "verb": "publish"}, "'verb' parameter must be 'synthesize' or 'optimize'"),
        ({"epsilon": 1, "verb": ["x"]}, "'verb' parameter must be"),
        ({"epsilon": 1, "rows": 3, "schema": None}, "'schema' parameter must be a JSON object"),
        ({"epsilon": 1, "rows": 3, "schema": {}}, "at least one column"),
        ({"epsilon": 1, "rows": 3, "schema": {"columns": []}}, "at least one column"),
        ({"epsilon": 1, "rows": 3, "schema": {"columns": {"pay": 3}}}, "must be a table of keys"),
        ({"epsilon": 1, "rows": 3, "schema": {"columns": {"pay": {"bounds": ["low", 3]}}}}, "two finite numbers"),
        ({"epsilon": 1, "rows": 3, "schema": {"columns": {"pay": {"bounds": [0, 1], "x": 1}}}}, "unknown key 'x'"),
        ({"epsilon": 1, "schema": PAY}, "'rows' parameter must be how many rows"),
        ({"epsilon": 1, "rows": 3, "schema": {"columns": {"pay": {"bounds": []}}}}, "columns.pay.bounds: is blank"),
    ],
    ids=str,
)
def test_what_is_no_request_is_refused(asked, sentence):
    with pytest.raises(BadInput, match=sentence):
        PageRequest.from_json({"schema": PAY, **asked}).plan(None) or PageRequest.from_json({**asked}).columns


def test_dates_are_texts_on_the_page():
    sent = {"columns": {"day": {"bounds": ["2024-01-01", "2024-12-31"], "bins": 12}}}
    schema = schema_from_json(sent)
    assert schema.columns[0].is_date
    assert schema.to_json() == {"columns": {"day": {"bounds": ["2024-01-01", "2024-12-31"], "bins": 12}}}
    with pytest.raises(BadInput, match="two finite numbers or two dates"):
        schema_from_json({"columns": {"day": {"bounds": ["2024-01-01", "soon"]}}})


def test_what_was_read_off_the_data_is_refused(pay):
    peeked = {"columns": {"pay": {**PAY["columns"]["pay"], "peeked": ["bounds"]}}}
    with pytest.raises(BadInput, match="came from the data"):
        make(pay, {"schema": peeked, "epsilon": 1.0, "rows": 3})


def test_several_columns_categories_and_a_unit(tmp_path):
    path, schema = three_columns(tmp_path)
    asked = {"epsilon": 2.0, "rows": 3}
    made = make(path, {"schema": schema, **asked})
    assert made.total_people == 298
    assert made.grid.shape == (9, 9, 3)
    by_patient = {**schema, "unit": "patient"}
    ours = make(path, {"schema": by_patient, **asked, "rows_per_person": 2})
    theirs = equinoise.synthesize(path, by_patient, rows_per_person=2, **asked).mechanism
    assert ours.to_json() | {"spent": 0} == theirs.to_json() | {"spent": 0}
    dropping = {"columns": {name: {**column, "missing": "drop"} for name, column in schema["columns"].items()}}
    game = make(path, {"verb": "optimize", "schema": dropping, "epsilon": 3.0})
    assert without_seconds(game) == without_seconds(equinoise.optimize(path, dropping, epsilon=3.0))


def test_warnings_of_counting_are_told_again_for_what_was_kept(tmp_path):
    path = tmp_path / "visits.csv"
    pl.DataFrame(
        {"patient": [f"p{n // 3}" for n in range(300)], "pay": pl.read_csv(pay_file(tmp_path))["pay"]}
    ).write_csv(path)
    kept = {}

    def keep(name, count):
        kept[name] = kept.get(name) or count()
        return kept[name]

    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EquinoiseWarning)
            make(path, {"schema": PAY, "epsilon": 1.0, "rows": 3}, keep)
        told.append([str(one.message) for one in caught])
    assert len(kept) == 1
    assert told[0] == told[1]
    assert "patient" in told[0][0]


def test_what_is_shown_is_the_mechanism_s_own(pay):
    mechanism = make(pay, {"verb": "optimize", "schema": PAY, "epsilon": 1.0})
    found = view.result(mechanism)
    assert found["in_full"] == str(mechanism.promise)
    assert found["promise"] == mechanism.promise.in_one_line
    facts = {name: value for name, value, _ in found["facts"]}
    assert facts["people protected"] == "300"
    assert float(facts["worst loss of one draw"]) == pytest.approx(mechanism.worst_loss, rel=0.01)
    mean = mechanism.statistics()["columns"]["pay"]
    first, *_ = found["statistics"]["rows"]
    assert first == ["pay: mean", f"{mean['data']['mean']:.3g}", f"{mean['released']['mean']:.3g}"]
    figures = list(view.quick_figures(mechanism))
    assert [figure["name"] for figure in figures] == ["distribution", "noise", "losses", "cost"]
    released = figures[0]["header"].index("released")
    assert sum(row[released] for row in figures[0]["rows"]) == pytest.approx(1)
    json.dumps([found, figures, view.cost(mechanism)], allow_nan=False)


def test_of_rows_to_publish_pictures_and_statistics_are_shown(tmp_path):
    path, schema = three_columns(tmp_path)
    mechanism = make(path, {"schema": schema, "epsilon": 1.0, "rows": 3})
    found, figures = view.result(mechanism), list(view.quick_figures(mechanism))
    assert found["facts"] == []
    assert found["promise"].startswith("Differential privacy with epsilon 1")
    assert [figure["name"] for figure in figures] == ["distribution", "map"]
    assert [len(figure["specs"]) for figure in figures] == [3, 2]
    json.dumps([found, figures], allow_nan=False)


def test_quick_costs_are_never_below_those_that_follow(pay):
    mechanism = make(pay, {"verb": "optimize", "schema": PAY, "epsilon": 1.0})
    quick, tight = mechanism.costs([1, 10, 100], tight=False), mechanism.costs([1, 10, 100])
    for above, exact in zip(quick, tight, strict=True):
        assert above["worst"] >= exact["worst"] * (1 - 1e-9)
        assert {**above, "worst": 0} == {**exact, "worst": 0}


def test_the_command_shown_makes_the_same(folder, run):
    pl.DataFrame({"my pay": np.linspace(0, 100, 300)}).write_csv("own pay.csv")
    schema = {"columns": {"my pay": {"bounds": [0, 90], "bins": 21, "outside": "clip"}}}
    asked = {"verb": "optimize", "schema": schema, "epsilon": 0.25, "draws": 7}
    command = view.command(Source("own pay.csv"), PageRequest.from_json(asked))
    assert command == (
        "equinoise optimize 'own pay.csv' --column 'my pay' --bounds 'my pay' 0 90 --outside clip --bins 21 "
        "--epsilon 0.25 --draws 7 --out mechanism.eq"
    )
    status, _, _ = run(*shlex.split(command)[1:])
    assert status == 0
    assert without_seconds(equinoise.Mechanism.open("mechanism.eq")) == without_seconds(make("own pay.csv", asked))
    private = PageRequest.from_json({"schema": schema, "epsilon": 1.0, "rows": 3, "people": 300})
    status, _, err = run(*shlex.split(view.command(Source("own pay.csv"), private))[1:], "--force")
    assert status == 0, err


def test_a_cost_that_takes_too_much_memory_is_a_sentence_and_no_end_of_the_page(tmp_path, monkeypatch):
    path, schema = three_columns(tmp_path)
    two = {"columns": {name: schema["columns"][name] for name in ("pay", "tall")}}
    mechanism = make(path, {"verb": "optimize", "schema": two, "epsilon": 2.0})
    monkeypatch.setattr("equinoise.mechanisms.per_instance.MOST_COST_WEIGHTS", 10)
    *_, quick = view.quick_figures(mechanism)
    for figure in (quick, view.cost(mechanism)):
        assert figure["specs"] == figure["rows"] == []
        assert figure["caption"].startswith("What many draws cost needs")


def test_without_data_nothing_is_made():
    with pytest.raises(BadInput, match="there is the plan alone"):
        make(None, {"schema": PAY, "epsilon": 1.0, "rows": 3})


def test_bounds_that_were_found_privately_are_in_the_epsilon(pay):
    found = {"columns": {"pay": {**PAY["columns"]["pay"], "bounds_epsilon": 0.25}}}
    asked = {"schema": found, "epsilon": 1.0, "rows": 1}
    made = make(pay, asked)
    assert made.epsilon == 0.75
    assert made.promise.epsilon == 1.0
    theirs = equinoise.synthesize(pay, found, epsilon=1.0, rows=1).mechanism
    assert made.to_json() | {"spent": 0} == theirs.to_json() | {"spent": 0}
