import math

import pytest
from hypothesis import given, settings

from equinoise.formatting import at_most
from equinoise.solvers.best_response import best_response
from equinoise.solvers.least_epsilon import LeastEpsilon, least_epsilon
from tests.helpers.games import bag_game, height_game, joint_game, small_game
from tests.solvers.test_optimal import counts, every_profile


@settings(max_examples=60)
@given(counts)
def test_brute_force_lies_between_what_is_proven_and_what_is_found(counts):
    game = small_game(counts, [0.05, 0.25], 1e-3)
    least = min(float(game.losses(profile).max()) for profile in every_profile(game))
    known = least_epsilon(best_response(game, restarts=1))
    assert known.proven * (1 - 1e-6) <= least <= known.found + 1e-12
    if 0.01 < least < math.inf:
        assert known.found <= 1.01 * known.proven


@pytest.mark.parametrize(
    "game",
    [
        joint_game([[2, 0], [1, 3]], [0.05, 0.25], 1e-3),
        bag_game([[0, 1], [2], [3, 3, 1]], [2, 3, 1], 4, [0.05, 0.25], 1e-3),
        bag_game([[0, 1], [2], [3, 3, 1]], [2, 3, 1], (2, 2), [0.05, 0.25], 1e-3),
    ],
)
def test_so_it_does_with_several_columns_or_rows(game):
    least = min(float(game.losses(profile).max()) for profile in every_profile(game))
    known = least_epsilon(best_response(game, restarts=1))
    assert known.proven * (1 - 1e-6) <= least <= known.found + 1e-12
    assert known.found <= 1.01 * known.proven


def test_on_real_people_the_least_epsilon_is_usable_and_nothing_below_is(heights):
    game = height_game([3.0, 8.0], 0.01, values=heights)
    solution = best_response(game)
    assert solution.protected < game.people
    known = least_epsilon(solution)
    assert known.proven <= known.found <= 1.002 * known.proven
    assert best_response(height_game([3.0, 8.0], known.found * (1 + 1e-9), values=heights)).protected == game.people


@pytest.mark.parametrize("scales", [[1 / 204, 1 / 48], [1 / 224.4, 1 / 52.8]])
def test_what_is_stated_can_be_asked_for_even_where_floats_are_coarse(scales):
    game = small_game([1, 0, 0, 3, 0, 2], scales, 1.0)
    known = least_epsilon(best_response(game))
    assert 19 < known.found < 22
    again = small_game([1, 0, 0, 3, 0, 2], scales, float(at_most(known.found)))
    assert best_response(again).protected == 6


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (LeastEpsilon(0.5, 0.4999), "allow is 0.5: ask for that"),
        (LeastEpsilon(0.5, 0.3), "at most 0.5 (and above 0.3): ask"),
        (LeastEpsilon(0.5, 0.0), "at most 0.5: ask"),
        (LeastEpsilon(0.05, 0.0), "use the optimal solver"),
        (LeastEpsilon(math.inf, 0.0), "at any epsilon"),
    ],
)
def test_what_is_said_about_it(known, said):
    assert said in known.sentence(0.1)


def test_scales_that_change_with_epsilon_are_no_help():
    assert "ask for" not in LeastEpsilon(0.5, 0.4999).sentence(0.1, fixed=False)
