import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.joint import joint_game as players_game
from equinoise.game.equilibrium import Outermost, is_equilibrium
from equinoise.solvers.best_response import best_response, rounds
from tests.helpers.drawn_games import CONDITIONS, EVERY_UTILITY, games, random_profile
from tests.helpers.games import bag_game, best_scale, height_game


def nobody_moves(game, profile):
    types, scales = game.groups(profile)
    return all(best_scale(game, profile, i, v) == v for i, v in zip(types.tolist(), scales.tolist(), strict=True))


@given(games(utilities=EVERY_UTILITY, conditions=CONDITIONS), st.integers(0, 99))
def test_the_check_says_what_everyones_best_response_says(game, seed):
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    for profile in (start, last.profile):
        assert is_equilibrium(game, profile) == nobody_moves(game, profile)
    assert is_equilibrium(game, last.profile)


def players(epsilon, heights):
    return height_game("wide", epsilon, values=heights)


def height_and_weight(epsilon, heights):
    return players_game(("height", "weight"), 11, epsilon)


def in_pairs(epsilon, heights):
    """Two heights a person, in whole bins of 4 cm."""
    bins = ((heights - heights.min()) // 4).astype(int)
    pairs = bins[: len(bins) // 2 * 2].reshape(-1, 2)
    found, people = np.unique(np.sort(pairs, axis=1), axis=0, return_counts=True)
    scales = np.geomspace(0.005, 3, 6).tolist()
    return bag_game(found.tolist(), people.tolist(), int(bins.max()) + 1, scales, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("make", [players, height_and_weight, in_pairs])
def test_one_person_off_an_equilibrium_of_real_people_is_seen(heights, epsilon, make):
    game = make(epsilon, heights)
    *_, last = rounds(game, game.largest_scale_profile())
    assert is_equilibrium(game, last.profile)
    random, seen = np.random.default_rng(1), 0
    for _ in range(10):
        profile = last.profile.copy()
        i = random.integers(len(profile))
        profile[i, random.choice(np.flatnonzero(profile[i]))] -= 1
        profile[i, random.integers(profile.shape[1])] += 1
        stable = is_equilibrium(game, profile)
        assert stable == nobody_moves(game, profile)
        seen += not stable
    assert seen >= 5


def test_the_check_can_fail():
    game = bag_game([[0, 1], [2]], [30, 30], 6, [0.02, 0.3, 3.0], 2.0)
    assert not is_equilibrium(game, game.largest_scale_profile())
    assert best_response(game).equilibrium


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 99))
def test_the_outermost_rows_are_those_of_the_groups_left(groups, cells, seed):
    rows = np.random.default_rng(seed).integers(0, 4, (groups, cells)).astype(float)
    outermost = Outermost(cells)
    for group, row in enumerate(rows):
        outermost.add(row, group)
    for group in range(groups):
        left = np.vstack([np.delete(rows, group, axis=0), np.full(cells, -np.inf)])
        np.testing.assert_array_equal(outermost.without(group, True), left.max(axis=0))
        np.testing.assert_array_equal(outermost.without(group, False), rows.max(axis=0))
