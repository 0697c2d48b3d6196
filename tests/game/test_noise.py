import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equinoise.choices import NOISES
from equinoise.data.grid import Axis
from equinoise.errors import BadInput
from equinoise.game.game import Game
from equinoise.game.noise import WEIGHT_TOTAL, axis_weights, noise_mass, round_weights, scale_set
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.solvers.best_response import best_response
from tests.helpers.games import bag_game, bare_grid, height_game, joint_game, of_column, people_in

scales = st.one_of(st.floats(1e-6, 1e6), st.sampled_from([1e-290, 1e290, math.inf]))


families = pytest.mark.parametrize("noise", NOISES)


@families
@given(scale=scales, bins=st.integers(2, 40))
def test_integer_rows_sum_to_the_total_and_are_within_one_of_the_exact_mass(noise, scale, bins):
    mass = noise_mass(noise, scale, bins)
    for total in (2**32, 2**10):
        weights = round_weights(mass, total)
        assert (weights.sum(axis=1) == total).all()
        assert (np.abs(weights - mass * total) <= 1).all()
        assert (weights >= 0).all()
        assert (weights.diagonal() >= weights.max(axis=1) - 1).all()


def test_the_largest_remainders_are_rounded_up_and_the_first_of_equal_ones():
    rows = round_weights(np.array([[0.12, 0.33, 0.55], [0.25, 0.25, 0.5], [0.05, 0.35, 0.6]]), 10)
    assert rows.tolist() == [[1, 3, 6], [3, 2, 5], [1, 3, 6]]


@families
@given(scale=st.floats(1e-3, 1e3), bins=st.integers(2, 40))
def test_mass_falls_with_distance_on_both_sides_alike_and_larger_scales_spread_more(noise, scale, bins):
    mass = noise_mass(noise, scale, bins)
    np.testing.assert_allclose(mass, mass[::-1, ::-1], rtol=1e-12)
    assert (np.diff(mass[0]) <= 1e-12).all()
    assert (noise_mass(noise, 2 * scale, bins).diagonal() <= mass.diagonal() + 1e-12).all()


def cut_off(cdf, bins):
    """Mass of every bin around every midpoint, from a distribution function, cut off and renormalized."""
    edges = np.arange(bins + 1) / bins
    middle = (edges[:-1] + edges[1:]) / 2
    mass = np.diff(cdf(edges[None, :] - middle[:, None]), axis=1)
    return mass / mass.sum(axis=1, keepdims=True)


@given(scale=st.floats(1e-3, 10), bins=st.integers(2, 40))
def test_laplace_and_gaussian_are_scipys(scale, bins):
    for noise, theirs in (("laplace", stats.laplace), ("gaussian", stats.norm)):
        expected = cut_off(lambda t, theirs=theirs: theirs.cdf(t, scale=scale), bins)
        np.testing.assert_allclose(noise_mass(noise, scale, bins), expected, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("scale", [0.01, 0.13, 2.0])
def test_staircase_is_its_density_added_up(scale):
    """Steps of width gamma and 1 - gamma scales by turns, down by e once a scale, on a grid finer than any of them."""
    bins, fine = 9, 4000
    t = (np.arange(bins * fine) + 0.5) / (bins * fine) - 0.5 / bins
    steps = np.floor(np.abs(t) / scale + 1 - 1 / (1 + math.exp(0.5)))
    mass = np.exp(-steps).reshape(bins, fine).sum(axis=1)
    np.testing.assert_allclose(noise_mass("staircase", scale, bins)[0], mass / mass.sum(), rtol=2e-3, atol=1e-9)


def test_geometric_and_uniform_mixture_by_hand():
    ratios = noise_mass("geometric", 0.25, 8)[0]
    np.testing.assert_allclose(ratios[1:] / ratios[:-1], math.exp(-1 / 2))
    stay = 1 / (1 + 0.25)
    expected = np.full((4, 4), (1 - stay) / 4) + stay * np.eye(4)
    np.testing.assert_allclose(noise_mass("uniform-mixture", 0.25, 4), expected)


@families
def test_infinite_scale_is_uniform_and_tiny_scale_stays_put(noise):
    np.testing.assert_allclose(noise_mass(noise, math.inf, 7), 1 / 7)
    np.testing.assert_allclose(noise_mass(noise, 1e-12, 7), np.eye(7), atol=1e-12)
    np.testing.assert_allclose(noise_mass(noise, 1e6, 7), 1 / 7, rtol=1e-3)


@families
def test_the_game_protects_everyone_with_every_family(heights, noise):
    several = np.geomspace(0.005, 3, 6).tolist()
    for game in (
        height_game("wide", 1.0, values=heights, noise=noise),
        joint_game(np.arange(12).reshape(3, 4), several, 1.0, noise=noise),
        bag_game([[0, 1], [1], [1, 1, 2], [3], [4, 5]], [5, 20, 30, 20, 5], 6, several, 1.0, noise=noise),
    ):
        found = best_response(game, restarts=2)
        assert found.equilibrium
        assert PerInstance.from_solution(found).certificate().holds


def test_scale_sets():
    axis = Axis.padded("x", 0, 10)
    wide = scale_set("wide", axis, 1.0)
    assert len(wide) == 8
    assert wide[0] == pytest.approx(1 / (20 * 101))
    assert wide[-1] == pytest.approx(3)
    np.testing.assert_allclose(np.diff(np.log(wide)), np.log(wide[1] / wide[0]))
    unit = 10 / axis.range / 2
    assert scale_set("paper", axis, 2.0) == pytest.approx([m * unit for m in (0.2, 0.33, 1, 2, 3)])
    assert scale_set([axis.range, 1.0, 1.0], axis, 1.0) == pytest.approx([1 / axis.range, 1])


@pytest.mark.parametrize("bad", ["tall", [], [0], [-1.0], [math.nan], [math.inf], [1e-320], range(1, 100)])
def test_scales_that_are_none_are_refused(bad):
    with pytest.raises(BadInput, match="'scales' parameter"):
        scale_set(bad, Axis.padded("x", 0, 10), 1.0)


@families
def test_rows_for_some_cells_are_those_of_all_and_the_others_stay_zero(noise):
    cells, scales = np.array([1, 4, 5]), [0.01, 0.3, 2.0]
    some, every = axis_weights(noise, scales, 9, cells=cells), axis_weights(noise, scales, 9)
    np.testing.assert_array_equal(some[:, cells], every[:, cells])
    assert some.sum() == len(scales) * len(cells) * WEIGHT_TOTAL


def test_a_game_needs_rows_only_for_the_cells_with_anyone_in_them():
    players = people_in(bare_grid([4]), [2, 0, 1, 0])
    some, every = (axis_weights("laplace", [0.1, 1.0], 4, cells=cells) for cells in (np.array([0, 2]), None))
    kernel = of_column("laplace", [0.1, 1.0], 4)
    np.testing.assert_array_equal(kernel.weights[0], every)
    game = Game(players, replace(kernel, weights=(some,)), 1.0)
    np.testing.assert_array_equal(game.store.weights, Game(players, kernel, 1.0).store.weights)
