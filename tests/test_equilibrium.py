from dataclasses import replace

import numpy as np
import pytest
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st
from test_game import counts, epsilons, random_profile, scale_sets

from benchmarks.heights import height_game
from equinoise.equilibrium import Outermost
from equinoise.solvers.best_response import rounds

conditions = st.sampled_from([{}, {"delta": 0.01}, {"order": 3.0}])
utilities = st.sampled_from(["kl", "js", "tv", "wasserstein"])


def nobody_moves(game, profile):
    cells, scales = game.groups(profile)
    return all(game.best_response(profile, k, v) == v for k, v in zip(cells, scales, strict=True))


@given(counts, scale_sets, epsilons, utilities, conditions, st.integers(0, 99))
def test_the_check_says_what_everyones_best_response_says(counts, scales, epsilon, utility, condition, seed):
    game = replace(small_game(counts, scales, epsilon, utility=utility), **condition)
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    for profile in (start, last.profile):
        assert game.is_equilibrium(profile) == nobody_moves(game, profile)
    assert game.is_equilibrium(last.profile)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_one_person_off_an_equilibrium_of_real_people_is_seen(heights, epsilon):
    game = height_game("wide", epsilon, values=heights)
    *_, last = rounds(game, game.largest_scale_profile())
    assert game.is_equilibrium(last.profile)
    random, seen = np.random.default_rng(1), 0
    for _ in range(10):
        profile = last.profile.copy()
        cell = random.choice(game.occupied)
        profile[cell, random.choice(np.flatnonzero(profile[cell]))] -= 1
        profile[cell, random.integers(profile.shape[1])] += 1
        stable = game.is_equilibrium(profile)
        assert stable == nobody_moves(game, profile)
        seen += not stable
    assert seen >= 5


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 99))
def test_the_outermost_rows_are_those_of_the_groups_left(groups, cells, seed):
    rows = np.random.default_rng(seed).integers(0, 4, (groups, cells)).astype(float)
    outermost, new = Outermost(rows), np.full(cells, 1.0)
    for group in range(groups):
        left = np.vstack([np.delete(rows, group, axis=0), new])
        np.testing.assert_array_equal(outermost.with_row(new, group, leaving=True), left.max(axis=0))
        np.testing.assert_array_equal(outermost.with_row(new, group, leaving=False), np.vstack([rows, new]).max(axis=0))
