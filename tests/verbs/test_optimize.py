import dataclasses
import doctest
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput, NotPublicWarning, PromiseNotMet
from equinoise.data import axis, schema
from equinoise.solvers.procedure import Procedure
from equinoise.verbs import optimize as pipeline
from equinoise.verbs import synthesize as synthesis


@pytest.mark.parametrize("module", [axis, schema, pipeline, synthesis])
def test_examples_in_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_help_and_package_import_nothing_heavy():
    code = (
        "import sys, equinoise.cli.main; print([m for m in ('numpy', 'polars', 'numba', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_heights_at_every_epsilon(heights):
    for epsilon in (0.1, 0.3, 1, 2, 4, 8):
        made = equinoise.optimize(heights, epsilon=epsilon, bounds=(163, 226), restarts=2)
        assert made.certificate().holds
        assert made.worst_loss <= epsilon
        assert made.solver["equilibrium"]
        assert made.total_people == 1844
        assert made.metrics()["kl"] < made.baseline()["kl"] / 10


def test_a_run_can_be_repeated(heights):
    first, second = (equinoise.optimize(heights, epsilon=1, bounds=(163, 226), restarts=3, seed=5) for _ in range(2))
    assert first.to_json()["profile"] == second.to_json()["profile"]


def test_bounds_left_out_warn():
    with pytest.warns(NotPublicWarning, match="not private"):
        made = equinoise.optimize(np.arange(100.0), epsilon=1, restarts=1)
    assert made.settings["public_bounds"] is False
    assert "bounds were read off the data and are not private" in str(made.promise)
    public = equinoise.optimize(np.arange(100.0), epsilon=1, bounds=(0, 99), restarts=1)
    assert "read off the data" not in str(public.promise)
    assert (made.grid.axis.low, made.grid.axis.high) == (0, 99)


def test_where_nobody_can_protect_everyone_it_says_how_far_it_got():
    values = [0.0] * 30 + [100.0]
    with pytest.raises(PromiseNotMet) as caught:
        equinoise.optimize(values, epsilon=0.1, bounds=(0, 100), bins=21, scales=[0.5, 1.0])
    said, facts = str(caught.value), caught.value.facts
    assert f"{facts['unprotected']} of 31 people are left unprotected" in said
    assert "do not meet the theorem's condition" in said
    assert facts["theorem"]["every_profile_protects"] is False
    assert facts["least_epsilon"] is None or facts["least_epsilon"] > 0.1


def test_the_smallest_epsilon_reached_can_be_asked_for():
    values = np.concatenate([np.linspace(20, 80, 60), [0.0]])
    with pytest.raises(PromiseNotMet) as caught:
        equinoise.optimize(values, epsilon=1e-4, bounds=(0, 100), scales=[50.0, 200.0])
    reached = caught.value.facts["least_epsilon"]
    assert 1e-4 < reached < math.inf
    made = equinoise.optimize(values, epsilon=reached * (1 + 1e-9), bounds=(0, 100), scales=[50.0, 200.0])
    assert made.certificate().holds


@pytest.mark.parametrize(
    ("values", "settings", "said"),
    [
        ([5.0, 5.0, 5.0], {"bounds": (0, 10)}, "fall in one bin"),
        ([5.0], {"bounds": (0, 10)}, "at least two people"),
        ([5.0, 6.0], {"bounds": (0, 10), "epsilon": 0}, "'epsilon' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "epsilon": math.nan}, "'epsilon' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "epsilon": True}, "'epsilon' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "epsilon": "1"}, "'epsilon' parameter"),
        ([5.0, 6.0], {"bounds": 5}, "'bounds' parameter must be two numbers"),
        ([5.0, 6.0], {"bounds": (0, 1, 2)}, "'bounds' parameter must be two numbers"),
        ([5.0, 6.0], {"bounds": "04"}, "'bounds' parameter must be two numbers"),
        ([5.0, 6.0], {"bounds": {"pay": (0, 10)}, "column": "age"}, "There are bounds for column 'pay'"),
        *(
            ([5.0, 6.0], {"bounds": bounds}, "'bounds' parameter")
            for bounds in ({}, {"value": None})  # bounds of the data must not pass for public ones
        ),
        ([5.0, 6.0], {"bounds": (0, 10), "draws": 0}, "'draws' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "percentile": "x"}, "'percentile' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "padding_epsilon": [1]}, "'padding_epsilon' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "scales": 5}, "'scales' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "scales": [1.0, None]}, "'scales' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "solver": "optimal", "time_limit": "x"}, "'time_limit' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "column": 3}, "'column' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "noise": [1]}, "'noise' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "progress": 3}, "'progress' parameter"),
        ([[5.0, 6.0], [7.0]], {"bounds": (0, 10)}, "different lengths"),
        ([5.0, 6.0], {"bounds": (0, 10), "draws": 2.5}, "'draws' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "draws": True}, "'draws' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "epsilon": 1e-12}, "at least 1e-09"),
        ([5.0, 6.0], {"bounds": (0, 10), "bins": 9000}, "at most 2,896 bins"),
        ([5.0, 6.0], {"bounds": (0, 10), "solver": "magic"}, "'solver' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "solver": "optimal", "time_limit": 0}, "'time_limit' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "solver": "optimal", "start": np.eye(2)}, "A profile of this game"),
        ([5.0, 6.0], {"bounds": (0, 10), "missing": "guess"}, "'missing' parameter"),
        ([5.0, 6.0], {"bounds": (0, 10), "outside": "drop"}, "'outside' parameter"),
    ],
)
def test_bad_settings_are_refused(values, settings, said):
    with pytest.raises(BadInput, match=said):
        equinoise.optimize(values, **{"epsilon": 1.0, **settings})


def test_a_delta_that_lets_somebody_be_given_away_is_pointed_out():
    people = np.linspace(20, 80, 50)
    with pytest.warns(equinoise.WeakPromiseWarning, match=r"A delta of 0\.02 is no less than one divided by"):
        equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=21, delta=0.02, restarts=1)
    equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=21, delta=0.019, restarts=1)  # none here


def test_two_people_can_be_protected():
    made = equinoise.optimize([2.0, 7.0], epsilon=1, bounds=(0, 10))
    assert made.certificate().holds


def test_the_time_of_adaptive_scales_is_all_of_it():
    people = np.random.default_rng(3).normal(50, 10, 200).clip(0, 100)
    asked = {"epsilon": 0.5, "bounds": (0, 100), "bins": 31, "scales": "adaptive"}
    made = equinoise.optimize(people, **asked, solver="optimal", time_limit=4)
    assert made.solver["time_limit"] == 4
    assert made.solver["seconds"] > 0
    assert not made.solver["stopped"]


def test_what_was_asked_for_is_kept_and_makes_the_same_procedure_again(tmp_path):
    people = np.arange(60.0)
    made = equinoise.optimize(
        people, epsilon=2, bounds=(0, 60), bins=np.int64(21), delta=0, draws=np.int64(2), restarts=np.int32(2), seed=3
    )
    made.save(tmp_path / "m.eq")
    settings = equinoise.Mechanism.open(tmp_path / "m.eq").settings
    assert settings == made.settings
    asked = {field.name: settings[field.name] for field in dataclasses.fields(Procedure)}
    again = Procedure(**asked).solve(made.players)
    cells, scales = again.game.groups(again.profile)
    np.testing.assert_array_equal(again.profile[cells, scales], made.people)


@pytest.mark.parametrize(
    "column", [{"bounds": [0, 9], "step": 1, "bins": 5}, {"categories": [0, 1, 2, 3]}], ids=["bins", "categories"]
)
@pytest.mark.parametrize(("verb", "more"), [(equinoise.optimize, {"restarts": 1}), (equinoise.synthesize, {"rows": 5})])
def test_bins_that_no_column_takes_are_refused(verb, more, column):
    data = pl.DataFrame({"a": [0, 1, 2, 3] * 5, "b": [0, 5] * 10})
    with pytest.raises(BadInput, match="'bins' parameter must be left out where every column has categories or bins"):
        verb(data, schema={"columns": {"a": column}}, epsilon=1, bins=4, **more)
    verb(data, schema={"columns": {"a": column, "b": {"bounds": [0, 9]}}}, epsilon=1, bins=4, **more)


@pytest.mark.parametrize("named", [{"column": "a", "step": 1}, {"step": {"a": 1}, "column": ["a", "b"]}])
def test_a_step_without_bounds_is_refused(named):
    with pytest.raises(BadInput, match="A step is counted from the lower bound of its column"):
        equinoise.optimize(pl.DataFrame({"a": [0, 1, 2, 3], "b": [1, 2, 3, 4]}), **named, epsilon=1)
