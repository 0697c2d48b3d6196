from dataclasses import replace

import numpy as np
import pytest

from benchmarks.joint import joint_game as players_game
from equinoise.solvers.adaptive import (
    LARGEST_SCALE,
    MOST_SCALES_AT_ONCE,
    adaptive,
    carry_over,
    shared_scales,
    with_new_scales,
)
from equinoise.solvers.best_response import best_response
from equinoise.solvers.genetic import genetic
from tests.helpers.games import bag_game, height_game, joint_game, small_game


def solve(game, known):
    return best_response(game, restarts=4, known=known)


@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_scales_that_adapt_beat_a_fixed_list(heights, epsilon):
    game = height_game("wide", epsilon, values=heights)
    found = adaptive(game, solve)
    assert found.protected == game.people
    assert found.equilibrium
    assert found.kl < 0.95 * solve(game, None).kl
    assert len(found.game.kernel.scales) <= MOST_SCALES_AT_ONCE


def height_and_weight(heights):
    return players_game(("height", "weight"), 11, 1.0)


def in_threes(heights):
    """Three heights a person, on bins of 7 cm."""
    bins = ((heights - heights.min()) // 7).astype(int)
    bags, people = np.unique(np.sort(bins[:1842].reshape(-1, 3), axis=1), axis=0, return_counts=True)
    return bag_game(bags.tolist(), people.tolist(), int(bins.max()) + 1, np.geomspace(0.005, 3, 6).tolist(), 1.0)


def one_height(heights):
    return height_game("wide", 1.0, values=heights)


kinds = pytest.mark.parametrize("make", [one_height, height_and_weight, in_threes])


@kinds
def test_scales_that_adapt_are_never_worse_whatever_the_data(heights, make):
    game = make(heights)
    found, fixed = adaptive(game, solve), solve(game, None)
    assert found.protected == game.people
    assert found.equilibrium
    assert found.kl < 0.99 * fixed.kl
    assert len(found.game.kernel.scales) <= MOST_SCALES_AT_ONCE


@kinds
def test_a_solution_is_the_same_mechanism_in_the_finer_game(heights, make):
    first = solve(make(heights), None)
    finer = with_new_scales(first)
    carried = carry_over(first, finer)
    finer.check_profile(carried)
    np.testing.assert_allclose(finer.output(carried), first.game.output(first.profile), rtol=1e-14)
    then, before = finer.payoff(carried), first.game.payoff(first.profile)
    assert then.protected == before.protected
    assert then.utility == pytest.approx(before.utility, abs=1e-14)
    used = [first.game.kernel.scales[v] for v in np.flatnonzero(first.profile.sum(axis=0))]
    assert set(used) < set(finer.kernel.scales)
    assert solve(finer, carried).kl <= first.kl


def test_a_genetic_population_knows_what_it_is_given(heights):
    game = height_game("wide", 1.0, values=heights[:60])
    good = best_response(game)
    assert genetic(game, generations=1, known=good.profile).divergence <= good.divergence


FAR_APART = {
    "one column": lambda: small_game([1, 0, 0, 0, 0, 0, 0, 30], [0.01, 0.1], 0.8),
    "several columns": lambda: joint_game([[1, 0, 0], [0, 0, 0], [0, 0, 30]], [0.01, 0.1], 0.8),
    "several rows": lambda: bag_game([[0], [7, 7]], [1, 30], 8, [0.01, 0.1], 0.8),
}


@pytest.mark.parametrize("kind", FAR_APART)
def test_larger_scales_are_offered_until_everyone_is_protected(kind):
    game = FAR_APART[kind]()
    assert solve(game, None).protected < game.people
    found = adaptive(game, solve)
    assert found.protected == game.people
    assert all(0.1 < scale <= LARGEST_SCALE for scale in found.game.kernel.scales[-1])


@pytest.mark.parametrize("settings", [{"delta": 0.01}, {"order": 3.0}, {"utility": "wasserstein"}])
def test_scales_adapt_under_other_conditions_and_utilities(settings):
    game = joint_game([[2, 5, 9], [1, 20, 9], [2, 5, 1]], [0.01, 0.1, 1.0], 1.0, **settings)
    found = adaptive(game, solve)
    assert found.equilibrium
    assert found.divergence <= solve(game, None).divergence
    assert (found.game.delta, found.game.order, found.game.utility) == (game.delta, game.order, game.utility)


def test_one_scale_for_all_columns_is_among_those_for_each():
    game = joint_game([[2, 5], [1, 20]], [(0.1, 0.2), (0.1, 2.0), (1.0, 0.2), (1.0, 2.0)], 1.0)
    shared = shared_scales(game)
    assert shared.kernel.scales == ((0.1, 0.2), (1.0, 2.0))
    found = solve(shared, None)
    carried = game.check_profile(carry_over(found, game))
    np.testing.assert_allclose(game.output(carried), shared.output(found.profile), rtol=1e-14)


def test_nothing_new_to_offer_ends_it():
    game = small_game([5, 5], [LARGEST_SCALE / 1.01, LARGEST_SCALE], 1.0)
    assert with_new_scales(best_response(game)) is None
    assert adaptive(game, solve).game is game


def test_stopped_once_it_goes_on_no_further():
    """Ctrl-C ends the optimal solver with its best so far; the loop around it must not start it again."""
    calls = []

    def stopped(game, known):
        calls.append(known)
        found = best_response(game, restarts=1)
        return replace(found, settings={**found.settings, "stopped": len(calls) == 2})

    found = adaptive(small_game([1, 5, 20, 5, 1], [0.01, 0.3, 3.0], 1.0), stopped)
    assert len(calls) == 2
    assert found.protected == 32
