import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import small_game
from hypothesis import assume, given
from hypothesis import strategies as st
from test_game import counts, epsilons, random_profile, scale_sets

from benchmarks import plain
from benchmarks.heights import height_game
from equinoise.errors import BadInput
from equinoise.solvers.best_response import SINGLES_UP_TO, best_response, rounds, starts


@given(counts, scale_sets, epsilons, st.integers(0, 99))
def test_fast_solver_reaches_the_plain_algorithms_equilibrium(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    for start in (game.largest_scale_profile(), random_profile(game, seed)):
        *_, last = rounds(game, start)
        expected, number = plain.best_response_dynamics(game, start)
        np.testing.assert_array_equal(last.profile, expected)
        assert last.number == number
        assert game.is_equilibrium(last.profile)


def test_fast_solver_reaches_the_plain_algorithms_equilibrium_on_real_people(heights):
    game = height_game([2.0, 10.0, 200.0], 0.5, values=heights[:150])
    start = random_profile(game, 3)
    *_, last = rounds(game, start)
    expected, number = plain.best_response_dynamics(game, start)
    np.testing.assert_array_equal(last.profile, expected)
    assert last.number == number


@given(counts, scale_sets, epsilons, st.integers(0, 99))
def test_every_round_raises_the_payoff_and_nobody_is_lost(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    start = random_profile(game, seed)
    before = game.payoff(start)
    for state in rounds(game, start):
        game.check_profile(state.profile)
        after = game.payoff(state.profile)
        gained = (after.protected, after.utility) > (before.protected, before.utility)
        assert gained if state.moves else after == before
        before = after


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("scales", ["wide", "paper"])
@pytest.mark.parametrize("times", [1, 10**6, 10**9])
def test_equilibrium_protects_everyone_however_many_people(heights, epsilon, scales, times):
    game = height_game(scales, epsilon, times, heights)
    solution = best_response(game, restarts=1)
    assert solution.equilibrium
    assert game.is_equilibrium(solution.profile)
    assert solution.protected == game.people
    assert solution.worst_loss <= epsilon


@pytest.mark.parametrize("utility", ["kl", "js"])
def test_rounds_do_not_grow_with_people(heights, utility):
    numbers = []
    for times in (10**4, 10**6, 5 * 10**8):
        game = replace(height_game("wide", 1.0, times, heights), utility=utility)
        protected, divergence = game.people, math.inf
        for state in rounds(game, game.largest_scale_profile()):
            payoff = game.payoff(state.profile)
            assert payoff.protected == protected
            assert game.divergence(state.profile) <= divergence
            divergence = game.divergence(state.profile)
        assert game.is_equilibrium(state.profile)
        numbers.append(state.number)
    assert max(numbers) <= 1.2 * min(numbers)


@given(st.lists(st.sampled_from([0, 1, 2, 5_000, 10**6, 10**11]), min_size=3, max_size=7), epsilons, st.integers(0, 9))
def test_many_at_once_lose_nobody_next_to_a_few(people, epsilon, seed):
    """Crowds that follow one another must stop where a rare neighbour would be left unprotected."""
    assume(max(people) > SINGLES_UP_TO and np.count_nonzero(people) > 1)
    game = small_game(people, [0.01, 0.1, 1.0, 3.0], epsilon)
    for start in (game.largest_scale_profile(), random_profile(game, seed)):
        before = game.payoff(start).protected
        for state in rounds(game, start):
            protected = game.payoff(state.profile).protected
            assert protected >= before
            before = protected
        assert game.is_equilibrium(state.profile)


def test_cancellation_at_huge_counts_loses_nobody():
    """Nearly everyone leaves a cell at once: S falls by a factor 1e7, and floats alone would misjudge what is left."""
    for people, scales, epsilon in (
        ([712966203441, 0, 2], [0.001, 8.029030224227272], 0.6931471804794771),
        ([10**12, 0, 0, 3, 1], [0.002, 0.5, 9.0], 0.5),
        ([10**12, 1, 10**6, 3], [0.001, 0.01, 4.0], 0.4054651081081644),
    ):
        game = small_game(people, scales, epsilon)
        for start in (game.largest_scale_profile(), random_profile(game, 1)):
            protected = game.payoff(start).protected
            for number, state in enumerate(rounds(game, start), 1):
                assert game.payoff(state.profile).protected >= protected
                protected = game.payoff(state.profile).protected
                assert number < 3000
            assert game.is_equilibrium(state.profile)


def test_restarts_keep_the_best_and_repeat_with_the_seed(heights):
    game = height_game("wide", 1.0, values=heights)
    one, five = best_response(game, restarts=1), best_response(game, restarts=5, seed=3)
    again = best_response(game, restarts=5, seed=3)
    assert five.kl <= one.kl
    np.testing.assert_array_equal(five.profile, again.profile)
    ends = [s.profile for s in (best_response(game, restarts=2, seed=seed) for seed in range(4))]
    assert any((ends[0] != end).any() for end in ends[1:])


def test_twenty_restarts_beat_the_papers_figures(heights):
    for epsilon, theirs in ((0.1, 0.0512), (0.3, 0.0393), (1.0, 0.0066), (2.0, 0.0045)):
        assert best_response(height_game("wide", epsilon, values=heights), restarts=20).kl <= theirs


def test_where_not_everyone_can_be_protected_it_still_ends_at_an_equilibrium():
    game = small_game([1, 0, 0, 0, 30], [0.01, 0.02], 0.1)
    solution = best_response(game, restarts=3)
    assert solution.equilibrium
    assert solution.protected < game.people
    assert solution.least_epsilon > 0.1


def test_starts_are_the_largest_scale_where_it_protects_and_random_otherwise(heights):
    easy, hard = height_game("wide", 1.0, values=heights), small_game([1, 0, 0, 0, 30], [0.01, 0.02], 0.1)
    first, second = starts(easy, 2, 0)
    np.testing.assert_array_equal(first[0], easy.largest_scale_profile())
    assert (second[0] != first[0]).any()
    (only,) = starts(hard, 1, 0)
    assert (only[0] != hard.largest_scale_profile()).any()


def test_a_given_start_is_used_and_checked():
    game = small_game([1, 1] + [0] * 11 + [18], [0.2821, math.inf], math.log(1.5))
    start = np.zeros((14, 2), dtype=np.int64)
    start[:, 0] = game.histogram.counts
    stuck = best_response(game, start=start)
    assert stuck.protected == 19
    np.testing.assert_array_equal(stuck.profile, start)
    assert best_response(game, restarts=1).protected == 20
    with pytest.raises(BadInput, match="profile"):
        best_response(game, start=start[:3])


def test_progress_sees_every_round(heights):
    seen = []
    solution = best_response(height_game("paper", 4.0, values=heights), restarts=2, progress=seen.append)
    assert len(seen) == solution.rounds
    assert {state.restart for state in seen} == {0, 1}
    assert seen[-1].moves == 0


@pytest.mark.parametrize("settings", [{"restarts": 0}, {"restarts": 1.5}, {"seed": -1}])
def test_settings_are_checked(settings):
    with pytest.raises(BadInput, match="parameter"):
        best_response(small_game([1, 1], [0.1], 1.0), **settings)
