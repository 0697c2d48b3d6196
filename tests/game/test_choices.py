"""A family of noise, a utility or a solver of one's own: a module and a line in a list are all it takes."""

import math
import sys
from types import ModuleType

import numpy as np
import pytest

import equinoise
from equinoise import choices
from equinoise.game.equilibrium import is_equilibrium
from equinoise.solvers.solution import Solution

PEOPLE = np.random.default_rng(5).normal(50, 15, 200).clip(0, 100)
USUAL = {"epsilon": 1.0, "bounds": (0, 100), "bins": 21, "draws": 3}


@pytest.fixture
def listed(monkeypatch):
    """Puts a module made of these names into a list of choices, for one test."""

    def add(chosen, name, **declared):
        module = ModuleType(f"{name}_of_ones_own")
        vars(module).update(declared)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(chosen, name, module.__name__)

    return add


def opened_again(made, tmp_path):
    """The mechanism as its file tells it."""
    made.save(tmp_path / "a.eq")
    opened = equinoise.Mechanism.open(tmp_path / "a.eq")
    assert opened.certificate().holds
    assert opened.to_json() == made.to_json()
    return opened


def triangle(width, bins):
    """Falls to nothing in a straight line, four scales away; a little is left everywhere."""
    return np.maximum(1 - np.arange(bins) * width / 4, 1e-3)


def test_a_noise_family_of_ones_own_is_used_saved_and_opened(listed, tmp_path):
    with pytest.raises(equinoise.BadInput, match=r"'noise' parameter must be 'laplace', .* or 'uniform-mixture'"):
        equinoise.optimize(PEOPLE, noise="triangle", **USUAL)
    listed(choices.NOISES, "triangle", by_distance=triangle)
    made = equinoise.optimize(PEOPLE, noise="triangle", **USUAL)
    assert not np.array_equal(made.output, equinoise.optimize(PEOPLE, **USUAL).output)
    opened = opened_again(made, tmp_path)
    assert opened.noise == "triangle"
    assert len(opened.sample(3)) == 3
    with pytest.raises(equinoise.BadInput, match="or 'triangle'"):
        equinoise.optimize(PEOPLE, noise="square", **USUAL)


def shares_below(bins, percent):
    """One feature: how many come out in the lower so many percent of the range."""
    return (np.arange(bins) < bins * percent / 100)[None, :] * 1.0


def test_a_utility_of_ones_own_is_used_saved_and_opened(listed, tmp_path):
    with pytest.raises(equinoise.BadInput, match="'wasserstein' or 'moments:N' with N from 1 to 10"):
        equinoise.optimize(PEOPLE, utility="below:30", **USUAL)
    declared = {"LABEL": "share below", "NUMBERS": range(1, 100), "ceiling": lambda cells: 1.0}
    listed(choices.UTILITIES, "below", features=shares_below, **declared)
    made = equinoise.optimize(PEOPLE, utility="below:30", **USUAL)
    below = [float(np.sum(q[: math.ceil(21 * 0.3)])) for q in (made.original, made.output)]
    usual = equinoise.optimize(PEOPLE, **USUAL)
    assert abs(below[0] - below[1]) <= abs(below[0] - float(np.sum(usual.output[: math.ceil(21 * 0.3)])))
    assert below[0] == pytest.approx(below[1], abs=1e-3)
    opened = opened_again(made, tmp_path)
    assert opened.settings["utility"] == "below:30"
    assert equinoise.optimize(PEOPLE, utility="below:30", solver="optimal", time_limit=5, **USUAL).certificate().holds
    with pytest.raises(equinoise.BadInput, match="or 'below:N' with N from 1 to 99"):
        equinoise.optimize(PEOPLE, utility="below:100", **USUAL)


def everyone_alike(game, *, seed, start, known, progress, steps):
    """The least noise, of the largest ``steps`` scales, that protects everyone if all have the same."""
    types = game.players.types
    for scale in range(game.scales - steps, game.scales):
        profile = game.profile_of(np.full(types, scale))
        if game.unprotected(profile) == 0:
            break
    worst = float(game.losses(profile).max())
    return Solution(game, profile, "alike", is_equilibrium(game, profile), 1, 0.0, worst, {"steps": steps})


def test_a_solver_of_ones_own_is_used_saved_and_opened(listed, tmp_path):
    with pytest.raises(equinoise.BadInput, match="'solver' parameter must be 'best-response', 'genetic' or 'optimal'"):
        equinoise.optimize(PEOPLE, solver="alike", **USUAL)
    listed(
        choices.SOLVERS, "alike",
        SETTINGS={"steps": 4}, SUMMARY_NUMBERS=("steps",), solve=everyone_alike,
        supports=lambda request: "Alike takes one column." if request.columns > 1 else None,
    )  # fmt: skip
    made = equinoise.optimize(PEOPLE, solver="alike", **USUAL)
    assert made.solver["name"] == "alike"
    assert made.solver["steps"] == 4
    assert len(set(made.scale_indices.tolist())) == 1
    assert opened_again(made, tmp_path).solver == made.solver
    two = np.stack([PEOPLE, PEOPLE[::-1]], axis=1)
    with pytest.raises(equinoise.BadInput, match="Alike takes one column"):
        equinoise.optimize(two, solver="alike", epsilon=1.0, column=["a", "b"], bounds={"a": (0, 100), "b": (0, 100)})
