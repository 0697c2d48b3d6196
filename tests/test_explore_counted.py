"""Counting once for every grid on offer, and the mechanism that comes of it: the same as optimize's."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise import counting
from equinoise.errors import BadInput, EquinoiseError
from equinoise.explore import shown
from equinoise.explore.asked import Asked, make
from equinoise.explore.counted import count_column
from equinoise.grid import Axis
from tests.exploring import BINS, PEOPLE, count


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(2, 400), st.integers(2, 400))
def test_each_grid_gets_the_counts_it_gets_alone(cells, first, second):
    """Values next to the edges of the grids, where one bit decides."""
    axes = [Axis.padded("value", 0.0, 7.0, bins=bins) for bins in sorted({first, second, 101})]
    edges = np.concatenate([axis.padded_low + np.arange(axis.bins + 1) * axis.width for axis in axes])
    inside = edges[(edges >= 0.0) & (edges <= 7.0)]
    values = np.concatenate([inside[np.array(cells) % len(inside)], [0.0, 7.0]])
    values = np.concatenate([values, np.nextafter(values, 3.0)])
    rows = counting.open_rows(values, "value")
    for together, axis in zip(counting.count_each(rows, axes), axes, strict=True):
        alone = counting.count(rows, axis)
        assert together.grid == alone.grid
        np.testing.assert_array_equal(together.counts, alone.counts)


def test_the_file_is_read_once(tmp_path, monkeypatch):
    pl.DataFrame({"pay": PEOPLE}).write_csv(tmp_path / "pay.csv")
    passes = []
    collect = counting.collect
    monkeypatch.setattr(counting, "collect", lambda *given: passes.append(1) or collect(*given))
    counted = count_column(tmp_path / "pay.csv", column="pay", bounds=(0, 100))
    assert len(passes) == 1
    (tmp_path / "pay.csv").unlink()
    for bins in counted.bins:
        assert make(counted, Asked(1.0, bins=bins)).total_people == 300
    assert len(passes) == 1


def test_a_column_that_names_people_several_times_is_pointed_out(tmp_path):
    pl.DataFrame({"user_id": [i // 3 for i in range(300)], "pay": PEOPLE}).write_csv(tmp_path / "pay.csv")
    (said,) = count_column(tmp_path / "pay.csv", column="pay", bounds=(0, 100)).warnings
    assert "300 rows have only 100 different values" in said


def without_seconds(mechanism):
    found = mechanism.to_json()
    return {**found, "solver": {name: value for name, value in found["solver"].items() if name != "seconds"}}


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1.0},
        {"epsilon": 0.3, "bins": 21, "scales": "adaptive"},
        {"epsilon": 3.0, "bins": 21, "scales": "paper"},
        {"epsilon": 0.5, "draws": 40},
        {"epsilon": 1.0, "bins": 21, "draws": 3, "delta": 1e-6},
        {"epsilon": 1.0, "delta": 1e-4},
        {"epsilon": 0.5, "guarantee": "worst-case"},
        {"epsilon": 1.0, "guarantee": "worst-case", "draws": 500, "delta": 1e-6},
        {"epsilon": 2.0, "bins": 21, "guarantee": "end-to-end"},
    ],
    ids=str,
)
def test_the_mechanism_is_the_one_that_optimize_makes(asked):
    asked = {"bins": 51, **asked}
    ours = make(count(), Asked.from_json(asked))
    theirs = equinoise.optimize(PEOPLE, column="pay", bounds=(0, 100), **asked)
    assert without_seconds(ours) == without_seconds(theirs)
    assert ours.promise == theirs.promise


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
        {"epsilon": 1.0, "guarantee": "always"},
        {"epsilon": 1.0, "guarantee": "worst-case", "scales": "paper"},
        {"epsilon": 1.0, "guarantee": "worst-case", "delta": 1e-6},
        {"epsilon": 1e-8, "guarantee": "worst-case", "draws": 10**6, "delta": 1e-9},
    ],
    ids=str,
)
def test_refusals_are_those_of_optimize_word_for_word(asked):
    with pytest.raises(EquinoiseError) as theirs:
        equinoise.optimize(PEOPLE, column="pay", bounds=(0, 100), bins=51, **asked)
    with pytest.raises(type(theirs.value)) as ours:
        make(count(), Asked.from_json({"bins": 51, **asked}))
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("bins", [52, 0, 51.0, "51", True, None, [51]])
def test_bins_that_were_not_counted_are_refused(bins):
    with pytest.raises(BadInput, match=r"among 21, 51, 401 \(those that were counted"):
        make(count(), Asked.from_json({"epsilon": 1.0, "bins": bins}))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "no epsilon"),
        ({"epsilon": 1, "solver": "optimal"}, "no setting 'solver'"),
        ({"epsilon": 1, "scales": ["wide"]}, "'scales' parameter must be a word"),
        ({"epsilon": 1, "guarantee": 3}, "'guarantee' parameter must be a word"),
    ],
)
def test_what_is_no_setting_is_refused(asked, sentence):
    with pytest.raises(BadInput, match=sentence):
        Asked.from_json(asked)


def test_bounds_read_off_the_data_are_told_and_refused_by_the_stronger_tiers():
    counted = count(bounds=None)
    assert "read off the data" in counted.warnings[0]
    assert not counted.public_bounds
    assert "not private" in make(counted, Asked(1.0, bins=51)).promise
    with pytest.raises(BadInput, match="needs --bounds"):
        make(counted, Asked(1.0, bins=51, guarantee="worst-case"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bounds": (0, 20)}, "--outside clip"),
        ({"bins": (1,)}, "'bins' parameter must be a whole number from 2"),
        ({"bins": ()}, "at most 12 numbers"),
        ({"bins": range(2, 20)}, "at most 12 numbers"),
        ({"missing": "keep"}, "'missing' parameter"),
        ({"engine": "abacus"}, "engine"),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_anything_is_served(options, sentence):
    with pytest.raises(BadInput, match=sentence):
        count(**options)


def test_nobody_is_refused():
    with pytest.raises(BadInput, match="0 usable values"):
        count_column(np.array([np.nan, np.nan]), column="pay", bounds=(0, 1), missing="drop")


def test_one_person_has_the_worst_case_tier_only():
    counted = count_column(np.array([3.0]), column="pay", bounds=(0, 10), bins=BINS)
    assert make(counted, Asked(1.0, bins=51, guarantee="worst-case")).total_people == 1
    with pytest.raises(BadInput, match="at least two people are needed"):
        make(counted, Asked(1.0, bins=51))


def test_what_is_shown_is_the_mechanism_s_own():
    mechanism = make(count(), Asked(1.0, bins=51))
    found = shown.result(mechanism, count(), Asked(1.0, bins=51))
    assert found["promise"] == mechanism.promise
    facts = {name: value for name, value, _ in found["facts"]}
    assert facts["people protected"] == "300"
    assert float(facts["worst loss of one draw"]) == pytest.approx(mechanism.worst_loss, rel=1e-5)
    assert float(facts["KL from the original"]) == pytest.approx(mechanism.metrics()["kl"], rel=1e-3)
    figures = [message["figure"] for message in shown.quick_figures(mechanism)]
    assert [figure["name"] for figure in figures] == ["distribution", "noise", "losses", "cost"]
    distribution = figures[0]
    released = distribution["header"].index("released")
    assert sum(row[released] for row in distribution["rows"]) == pytest.approx(1)
    json.dumps([found, figures, shown.cost(mechanism)], allow_nan=False)


def test_quick_costs_are_never_below_those_that_follow():
    mechanism = make(count(), Asked(1.0, bins=51))
    draws = [1, 10, 100]
    quick, tight = mechanism.costs(draws, tight=False), mechanism.costs(draws)
    for above, exact in zip(quick, tight, strict=True):
        assert above["worst"] >= exact["worst"] * (1 - 1e-9)
        assert {**above, "worst": 0} == {**exact, "worst": 0}


def test_the_command_shown_makes_the_same(folder, run):
    pl.DataFrame({"my pay": PEOPLE}).write_csv("own pay.csv")
    counted = count_column("own pay.csv", column="my pay", bounds=(0, 100), bins=[21], outside="clip")
    asked = Asked(0.25, bins=21, draws=7)
    command = shown.command(counted, asked)
    assert command == (
        "equinoise optimize 'own pay.csv' --column 'my pay' --bounds 'my pay' 0 100 --epsilon 0.25 --bins 21 --draws 7 "
        "--outside clip --out mechanism.eq"
    )
    import shlex

    status, _, _ = run(*shlex.split(command)[1:])
    assert status == 0
    saved = equinoise.Mechanism.open("mechanism.eq")
    assert without_seconds(saved) == without_seconds(make(counted, asked))
