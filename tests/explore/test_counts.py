"""Counting once for every grid on offer, and the mechanism that comes of it: the same as optimize's."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise.data.grid import Axis
from equinoise.data.rows import Rows, open_rows
from equinoise.errors import BadInput, EquinoiseError
from equinoise.explore import view
from equinoise.explore.counts import count_columns
from equinoise.explore.request import PageRequest, make
from equinoise.solvers import least_epsilon
from tests.helpers.counts import count_jointly
from tests.helpers.explore_server import BIN_CHOICES, PAY_VALUES, pay_counts, three_columns
from tests.helpers.private_tables import envelope


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(2, 400), st.integers(2, 400))
def test_each_grid_gets_the_counts_it_gets_alone(cells, first, second):
    """Values next to the edges of the grids, where one bit decides."""
    axes = [Axis("value", 0.0, 7.0, bins) for bins in sorted({first, second, 101})]
    edges = np.concatenate([axis.padded_low + np.arange(axis.bins + 1) * axis.width for axis in axes])
    inside = edges[(edges >= 0.0) & (edges <= 7.0)]
    values = np.concatenate([inside[np.array(cells) % len(inside)], [0.0, 7.0]])
    values = np.concatenate([values, np.nextafter(values, 3.0)])
    counted = count_columns(values, column="value", bounds=(0.0, 7.0), bins=[axis.bins for axis in axes])
    rows = open_rows(values, "value")
    for axis in axes:
        together, alone = counted.on(axis.bins).histogram, count_jointly(rows, (axis,)).histogram
        assert together.grid == alone.grid
        np.testing.assert_array_equal(together.counts, alone.counts)


def test_the_file_is_read_once(tmp_path, monkeypatch):
    pl.DataFrame({"pay": PAY_VALUES}).write_csv(tmp_path / "pay.csv")
    passes = []
    collect = Rows.collect
    monkeypatch.setattr(Rows, "collect", lambda *given: passes.append(1) or collect(*given))
    counted = count_columns(tmp_path / "pay.csv", column="pay", bounds=(0, 100))
    assert len(passes) == 1
    (tmp_path / "pay.csv").unlink()
    for bins in counted.bins:
        assert make(counted, PageRequest(1.0, bins=bins)).total_people == 300
    assert len(passes) == 1


def test_a_column_that_names_people_several_times_is_pointed_out(tmp_path):
    pl.DataFrame({"user_id": [i // 3 for i in range(300)], "pay": PAY_VALUES}).write_csv(tmp_path / "pay.csv")
    (said,) = count_columns(tmp_path / "pay.csv", column="pay", bounds=(0, 100)).warnings
    assert "300 rows have only 100 different values" in said


def made(data, *, promise="per-instance", **settings):
    """What the command of a promise makes."""
    if promise == "per-instance":
        return equinoise.optimize(data, **settings)
    return envelope(data, missing="refuse", outside="refuse", **settings)


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
        {"epsilon": 0.5, "promise": "differential-privacy"},
        {"epsilon": 1.0, "promise": "differential-privacy", "draws": 500, "delta": 1e-6},
    ],
    ids=str,
)
def test_the_mechanism_is_the_one_that_the_command_makes(asked):
    asked = {"bins": 51, **asked}
    ours = make(pay_counts(), PageRequest.from_json(asked))
    theirs = made(PAY_VALUES, column="pay", bounds=(0, 100), **asked)
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
        {"epsilon": 1e-8, "promise": "differential-privacy", "draws": 10**6, "delta": 1e-9},
    ],
    ids=str,
)
def test_refusals_are_those_of_optimize_word_for_word(asked):
    with pytest.raises(EquinoiseError) as theirs:
        made(PAY_VALUES, column="pay", bounds=(0, 100), bins=51, **asked)
    with pytest.raises(type(theirs.value)) as ours:
        make(pay_counts(), PageRequest.from_json({"bins": 51, **asked}))
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"promise": "always"}, "'promise' parameter must be 'per-instance' or 'differential-privacy'"),
        ({"promise": "differential-privacy", "scales": "paper"}, "'scales' parameter must be left out"),
    ],
)
def test_what_no_command_takes_is_refused(asked, sentence):
    with pytest.raises(BadInput, match=sentence):
        make(pay_counts(), PageRequest.from_json({"epsilon": 1.0, "bins": 51, **asked}))


@pytest.mark.parametrize("bins", [52, 0, 51.0, "51", True, None, [51]])
def test_bins_that_were_not_counted_are_refused(bins):
    with pytest.raises(BadInput, match=r"among 21, 51, 401 \(those that were counted"):
        make(pay_counts(), PageRequest.from_json({"epsilon": 1.0, "bins": bins}))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "no epsilon"),
        ({"epsilon": 1, "solver": "optimal"}, "no setting 'solver'"),
        ({"epsilon": 1, "scales": ["wide"]}, "'scales' parameter must be a word"),
        ({"epsilon": 1, "promise": 3}, "'promise' parameter must be a word"),
    ],
)
def test_what_is_no_setting_is_refused(asked, sentence):
    with pytest.raises(BadInput, match=sentence):
        PageRequest.from_json(asked)


def test_bounds_read_off_the_data_are_told_and_refused_with_differential_privacy():
    counted = pay_counts(bounds=None)
    assert "read off the data" in counted.warnings[0]
    assert counted.public == frozenset()
    assert "not private" in str(make(counted, PageRequest(1.0, bins=51)).promise)
    with pytest.raises(BadInput, match="needs --bounds"):
        make(counted, PageRequest(1.0, bins=51, promise="differential-privacy"))


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
        pay_counts(**options)


def test_nobody_is_refused():
    with pytest.raises(BadInput, match="0 usable values"):
        count_columns(np.array([np.nan, np.nan]), column="pay", bounds=(0, 1), missing="drop")


def test_one_person_has_differential_privacy_only():
    counted = count_columns(np.array([3.0]), column="pay", bounds=(0, 10), bins=BIN_CHOICES)
    assert make(counted, PageRequest(1.0, bins=51, promise="differential-privacy")).total_people == 1
    with pytest.raises(BadInput, match="at least two people are needed"):
        make(counted, PageRequest(1.0, bins=51))


def test_what_is_shown_is_the_mechanism_s_own():
    mechanism = make(pay_counts(), PageRequest(1.0, bins=51))
    found = view.result(mechanism, pay_counts(), PageRequest(1.0, bins=51))
    assert found["promise"] == str(mechanism.promise)
    facts = {name: value for name, value, _ in found["facts"]}
    assert facts["people protected"] == "300"
    assert float(facts["worst loss of one draw"]) == pytest.approx(mechanism.worst_loss, rel=0.01)
    assert float(facts["KL from the original"]) == pytest.approx(mechanism.metrics()["kl"], rel=5e-3)
    mean = mechanism.statistics()["columns"]["pay"]
    first, *_ = found["statistics"]["rows"]
    assert first == ["pay: mean", f"{mean['data']['mean']:.3g}", f"{mean['released']['mean']:.3g}"]
    assert found["statistics"]["header"] == ["statistic", "data (in bins)", "released"]
    figures = list(view.quick_figures(mechanism))
    assert [figure["name"] for figure in figures] == ["distribution", "noise", "losses", "cost"]
    distribution = figures[0]
    released = distribution["header"].index("released")
    assert sum(row[released] for row in distribution["rows"]) == pytest.approx(1)
    json.dumps([found, figures, view.cost(mechanism)], allow_nan=False)


def test_quick_costs_are_never_below_those_that_follow():
    mechanism = make(pay_counts(), PageRequest(1.0, bins=51))
    draws = [1, 10, 100]
    quick, tight = mechanism.costs(draws, tight=False), mechanism.costs(draws)
    for above, exact in zip(quick, tight, strict=True):
        assert above["worst"] >= exact["worst"] * (1 - 1e-9)
        assert {**above, "worst": 0} == {**exact, "worst": 0}


def test_the_command_shown_makes_the_same(folder, run):
    pl.DataFrame({"my pay": PAY_VALUES}).write_csv("own pay.csv")
    counted = count_columns("own pay.csv", column="my pay", bounds=(0, 100), bins=[21], outside="clip")
    asked = PageRequest(0.25, bins=21, draws=7)
    command = view.command(counted, asked)
    assert command == (
        "equinoise optimize 'own pay.csv' --column 'my pay' --bounds 'my pay' 0 100 --outside clip --bins 21 "
        "--epsilon 0.25 --draws 7 --out mechanism.eq"
    )
    import shlex

    status, _, _ = run(*shlex.split(command)[1:])
    assert status == 0
    saved = equinoise.Mechanism.open("mechanism.eq")
    assert without_seconds(saved) == without_seconds(make(counted, asked))


@pytest.mark.parametrize("columns", [None, [0], [2], [0, 1], [1, 0], [1, 2], (0, 1, 2)], ids=str)
@pytest.mark.parametrize("asked", [{"epsilon": 2.0}, {"epsilon": 3.0, "bins": 15, "scales": "adaptive"}], ids=str)
def test_some_of_several_columns_are_what_optimize_makes_of_them(columns, asked):
    """Also of people who have no value in a column that takes no part."""
    data, counted = three_columns()
    names = [("pay", "tall", "age")[number] for number in sorted(columns or range(3))]
    limits = {axis.name: (axis.low, axis.high) for axis in counted.axes if axis.name in names}
    asked = {"bins": 9, **asked}
    ours = make(counted, PageRequest.from_json({**asked, "columns": columns}))
    theirs = equinoise.optimize(data, column=names, bounds=limits, missing="drop", **asked)
    assert without_seconds(ours) == without_seconds(theirs)
    assert ours.total_people == (298 if "age" in names else 300)


@pytest.mark.parametrize("columns", [[], [3], [-1], [0, 0], ["pay"], "0", 0, [True], [0.0]], ids=str)
def test_columns_that_were_not_counted_are_refused(columns):
    with pytest.raises(BadInput, match="'columns' parameter must be different numbers from 0 to 2, at least one"):
        make(three_columns()[1], PageRequest(1.0, bins=9, columns=columns))


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1e-5},
        {"draws": 2, "delta": 1e-6, "epsilon": 1e-4},
    ],
    ids=str,
)
def test_refusals_with_several_columns_are_those_of_optimize_word_for_word(asked, monkeypatch):
    monkeypatch.setattr(least_epsilon, "SECONDS", 0.0)  # how far the search gets is up to the clock
    data, counted = three_columns(column=["pay", "tall"])
    asked = {"epsilon": 1.0, "bins": 9, **asked}
    limits = {"pay": (0, 100), "tall": (0, 200)}
    with pytest.raises(EquinoiseError) as theirs:
        made(data, column=["pay", "tall"], bounds=limits, **asked)
    with pytest.raises(type(theirs.value)) as ours:
        make(counted, PageRequest.from_json(asked))
    assert str(ours.value) == str(theirs.value)


def test_columns_that_bounds_name_are_several():
    data, _ = three_columns()
    counted = count_columns(data, bounds={"pay": (0, 100), "tall": (0, 200), "age": (18, 90)}, missing="drop")
    assert counted.bins == (8, 11, 16, 26)


def test_several_columns_are_read_once(tmp_path, monkeypatch):
    data, _ = three_columns()
    data.write_csv(tmp_path / "people.csv")
    passes = []
    collect = Rows.collect
    monkeypatch.setattr(Rows, "collect", lambda *given: passes.append(1) or collect(*given))
    limits = {"pay": (0, 100), "tall": (0, 200)}
    counted = count_columns(tmp_path / "people.csv", column=["pay", "tall"], bounds=limits)
    assert counted.bins == (8, 11, 16, 26, 51, 101)
    assert [counted.on(bins).total_people for bins in counted.bins] == [300] * 6
    assert len(passes) == 1


def test_more_cells_than_a_page_takes_are_refused_before_anything_is_read():
    with pytest.raises(BadInput, match=r"33 bins on each of 3 columns are 35,937 cells, and .* at most 32,768: .* 32,"):
        count_columns("not there.csv", column=["a", "b", "c"], bins=[5, 33])
    _, counted = three_columns(bins=[32])
    assert counted.on(32).grid.cells == 32_768
    assert three_columns(bins=None)[1].bins == (8, 11, 16, 26)


def test_bounds_of_some_columns_are_public_where_only_those_take_part():
    _, counted = three_columns(bounds={"pay": (0, 100)})
    assert ["'tall'" in said or "'age'" in said for said in counted.warnings] == [True, True]
    assert "not private" not in str(make(counted, PageRequest(1.0, bins=9, columns=[0])).promise)
    assert "not private" in str(make(counted, PageRequest(2.0, bins=9, columns=[0, 1])).promise)
    assert view.command(counted, PageRequest(2.0, bins=9, columns=[1, 0])) == (
        "equinoise optimize data --column pay --column tall --bounds pay 0 100 --missing drop --bins 9 --epsilon 2 "
        "--out mechanism.eq"
    )


@pytest.mark.parametrize(("columns", "charts"), [([0, 1], [2, 2, 2, 1]), ([0, 1, 2], [3, 3, 3, 1])], ids=str)
def test_what_is_shown_of_several_columns(columns, charts):
    _, counted = three_columns()
    asked = PageRequest(2.0, bins=9, columns=columns)
    mechanism = make(counted, asked)
    found = view.result(mechanism, counted, asked)
    facts = {name: (value, note) for name, value, note in found["facts"]}
    methods = (mechanism.metrics(), mechanism.smoothing(), mechanism.baseline())
    ours, smoothed, local = (f"{method['correlation_loss']:.3g}" for method in methods)
    assert facts["largest change of a correlation"] == (ours, f"smoothed counts: {smoothed}, Laplace: {local}")
    assert facts["KL from the original"][0] == f"{methods[0]['kl']:.3g}"
    for axis in mechanism.grid.axes:
        assert facts[f"KL of {axis.name!r} alone"][0] == f"{methods[0]['columns'][axis.name]['kl']:.3g}"
    figures = list(view.quick_figures(mechanism))
    assert [len(figure["specs"]) for figure in figures] == charts
    json.dumps([found, figures, view.cost(mechanism)], allow_nan=False)


def test_a_cost_that_takes_too_much_memory_is_a_sentence_and_no_end_of_the_page(monkeypatch):
    _, counted = three_columns(column=["pay", "tall"])
    mechanism = make(counted, PageRequest(2.0, bins=9))
    monkeypatch.setattr("equinoise.mechanisms.per_instance.MOST_COST_WEIGHTS", 10)
    *_, quick = view.quick_figures(mechanism)
    for figure in (quick, view.cost(mechanism)):
        assert figure["specs"] == figure["rows"] == []
        assert figure["caption"].startswith("What many draws cost needs")
