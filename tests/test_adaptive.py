from dataclasses import replace

import numpy as np
import pytest
from conftest import small_game

from benchmarks.heights import height_game
from equinoise.solvers.adaptive import LARGEST, MOST, adaptive, carried_over, with_new_scales
from equinoise.solvers.best_response import best_response
from equinoise.solvers.genetic import genetic


def solve(game, known):
    return best_response(game, restarts=4, known=known)


@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_scales_that_adapt_beat_a_fixed_list(heights, epsilon):
    game = height_game("wide", epsilon, values=heights)
    found = adaptive(game, solve)
    assert found.protected == game.people
    assert found.equilibrium
    assert found.kl < 0.95 * solve(game, None).kl
    assert len(found.game.kernel.scales) <= MOST


def test_a_solution_is_the_same_mechanism_in_the_finer_game(heights):
    first = solve(height_game("wide", 1.0, values=heights), None)
    finer = with_new_scales(first)
    carried = carried_over(first, finer)
    finer.check_profile(carried)
    np.testing.assert_array_equal(finer.output(carried), first.game.output(first.profile))
    assert finer.payoff(carried) == first.game.payoff(first.profile)
    used = [first.game.kernel.scales[v] for v in np.flatnonzero(first.profile.sum(axis=0))]
    assert set(used) < set(finer.kernel.scales)
    assert solve(finer, carried).kl <= first.kl


def test_a_genetic_population_knows_what_it_is_given(heights):
    game = height_game("wide", 1.0, values=heights[:60])
    good = best_response(game)
    assert genetic(game, generations=1, known=good.profile).divergence <= good.divergence


def test_larger_scales_are_offered_until_everyone_is_protected():
    game = small_game([1, 0, 0, 0, 0, 0, 0, 30], [0.01, 0.1], 0.8)
    assert solve(game, None).protected < game.people
    found = adaptive(game, solve)
    assert found.protected == game.people
    assert 0.1 < found.game.kernel.scales[-1] <= LARGEST


def test_nothing_new_to_offer_ends_it():
    game = small_game([5, 5], [LARGEST / 1.01, LARGEST], 1.0)
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
