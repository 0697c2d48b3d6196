"""What a move takes off the divergence, and what the slopes promise of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.solvers.best_response.gain import SLOPE_ROUNDING, clamped_gain
from tests.helpers.drawn_games import EVERY_UTILITY, games, moved, moves_of, random_profile
from tests.helpers.games import height_game
from tests.helpers.loop_parts import best_block_size, drop_and_bound, find_slope_scores, find_slopes, parts_of

scales = st.just([0.02, 0.3, 2.0])


def slope_scores_by_hand(game, profile, i):
    """What a person of type i takes off by being at each scale: by the slopes of the game's own divergence."""
    if game.closeness.curve is None:
        return game.features[i] @ np.sign(game.gaps(profile)), 1.0
    _, slopes = game.closeness.curve.tangents(game.near(game.sums(profile)) / game.players.counts)
    rows = np.array([game.store.row(i, v)[game.players.occupied] for v in range(game.scales)])
    return rows @ slopes / game.kernel.total, slopes.max()


@given(games(utilities=EVERY_UTILITY, scales=scales, people=60), st.integers(0, 99))
def test_no_move_takes_off_more_than_the_slopes_promise(game, seed):
    profile = random_profile(game, seed)
    parts = parts_of(game, profile)
    rounding, before = find_slopes(parts.aim, parts.state), game.divergence(profile)
    for i, old, new in moves_of(profile):
        find_slope_scores(parts.store, parts.aim, parts.state, parts.buffers, i)
        slope_scores, (by_hand, steepest) = parts.buffers.slope_scores, slope_scores_by_hand(game, profile, i)
        spare = rounding * game.players.sizes[i]
        np.testing.assert_allclose(slope_scores, by_hand, rtol=1e-9, atol=spare)
        assert 0 < rounding <= SLOPE_ROUNDING * max(1.0, steepest) * 1.01
        for block in (1, int(profile[i, old])):
            taken, bound = drop_and_bound(parts.store, parts.aim, parts.state, parts.buffers, spare, i, old, new, block)
            most = block * (slope_scores[new] - slope_scores[old] + spare)
            assert taken - 1e-12 * max(1, abs(taken)) <= bound <= most + 1e-12 * max(1, abs(most))
            fallen = game.total_rows * (before - game.divergence(moved(profile, i, old, new, block)))
            assert taken == pytest.approx(fallen, abs=1e-9, rel=1e-9)


@given(games(utilities=EVERY_UTILITY, scales=scales), st.integers(0, 99))
def test_a_move_gains_what_the_utility_rises(game, seed):
    profile = random_profile(game, seed)
    parts, before, most = (
        parts_of(game, profile),
        game.payoff(profile).utility,
        game.closeness.ceiling * game.total_rows,
    )
    rounding, excess = find_slopes(parts.aim, parts.state), game.excess(profile)
    for i, old, new in moves_of(profile):
        find_slope_scores(parts.store, parts.aim, parts.state, parts.buffers, i)
        taken, _ = drop_and_bound(parts.store, parts.aim, parts.state, parts.buffers, rounding, i, old, new, 1)
        rise = game.payoff(moved(profile, i, old, new)).utility - before
        assert clamped_gain.py_func(taken, excess) == pytest.approx(rise * most, abs=1e-10)


def test_only_what_is_below_the_ceiling_counts():
    seen = clamped_gain.py_func
    assert seen(0.5, -3.0) == 0.5
    assert seen(-0.5, -3.0) == -0.5
    assert seen(-4.0, -3.0) == -3.0  # up to the ceiling
    assert seen(2.0, 3.0) == 0.0  # still above it
    assert seen(4.0, 3.0) == 1.0  # what is below it
    assert seen(-math.inf, 3.0) == 0.0


@pytest.mark.parametrize("utility", ["kl", "js"])
@given(data=st.data(), seed=st.integers(0, 99))
def test_as_many_follow_as_take_off_the_most(utility, data, seed):
    game = data.draw(games(utilities=[utility], scales=scales, people=60))
    profile = random_profile(game, seed)
    parts = parts_of(game, profile)
    rounding = find_slopes(parts.aim, parts.state)
    for i, old, new in moves_of(profile):
        find_slope_scores(parts.store, parts.aim, parts.state, parts.buffers, i)
        most = int(profile[i, old])
        taken = [0.0]
        for block in range(1, most + 1):
            drop, _ = drop_and_bound(parts.store, parts.aim, parts.state, parts.buffers, rounding, i, old, new, block)
            taken.append(drop)
        chosen = best_block_size(parts.aim, parts.state, parts.buffers, old, new, most)
        assert 1 <= chosen <= most
        assert abs(chosen - max(1, int(np.argmax(taken)))) <= 1 or taken[chosen] >= max(taken) - 1e-9


@pytest.mark.parametrize("utility", EVERY_UTILITY)
def test_one_person_among_a_trillion_shows(heights, utility):
    """Against a million people who move alike: for so few of so many, what they take off grows in proportion."""
    game = height_game("wide", 1.0, 10**9, heights, utility=utility)
    profile = random_profile(game, 1)
    parts = parts_of(game, profile)
    rounding = find_slopes(parts.aim, parts.state)
    for i, old, new in moves_of(profile)[::97]:
        find_slope_scores(parts.store, parts.aim, parts.state, parts.buffers, i)
        one, many = (
            drop_and_bound(parts.store, parts.aim, parts.state, parts.buffers, rounding, i, old, new, block)[0]
            for block in (1, 10**3)
        )
        assert one == pytest.approx(many / 10**3, rel=1e-4, abs=1e-9)
