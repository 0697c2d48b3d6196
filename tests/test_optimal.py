import itertools
import math

import numpy as np
import pytest
from conftest import small_game
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.heights import height_game
from equinoise.errors import BadInput
from equinoise.solvers.best_response import best_response
from equinoise.solvers.optimal import optimal
from equinoise.solvers.program import Program

counts = st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(lambda n: 2 <= sum(n) <= 7)
scale_sets = st.sampled_from([[0.02, 0.2, 3.0], [0.05, 0.5], [0.1, 0.4, 1.5]])


def splits(people, choices):
    """Every way to give people scales."""
    for cuts in itertools.combinations(range(people + choices - 1), choices - 1):
        edges = [-1, *cuts, people + choices - 1]
        yield [b - a - 1 for a, b in itertools.pairwise(edges)]


def every_profile(game):
    choices = len(game.kernel.scales)
    for rows in itertools.product(*(list(splits(n, choices)) for n in game.histogram.counts.tolist())):
        yield np.array(rows, dtype=np.int64)


def best_by_enumeration(game):
    """The least KL of all profiles that protect everyone."""
    protecting = (p for p in every_profile(game) if game.payoff(p).protected == game.people)
    return min((game.divergence(p) for p in protecting), default=math.inf)


@settings(max_examples=60)
@given(counts, scale_sets, st.sampled_from([0.7, 1.0, 2.0, 4.0]))
def test_brute_force_agrees(counts, scales, epsilon):
    game = small_game(counts, scales, epsilon)
    if game.condition.lower > 0:
        with pytest.raises(BadInput, match="optimal solver needs an epsilon above"):
            optimal(game)
        return
    best = best_by_enumeration(game)
    found = optimal(game, time_limit=10)
    if math.isinf(best):
        assert found.protected < game.people
        return
    assert found.settings["lower_bound"] <= best + 1e-12
    assert found.protected == game.people
    assert best <= found.kl + 1e-12
    if found.settings["proven"]:
        assert found.kl - best <= max(1e-4, 0.01 * found.kl)


@settings(max_examples=60)
@given(counts, scale_sets, st.sampled_from([0.7, 1.0, 2.0]), st.integers(0, 10**6))
def test_no_row_of_the_program_cuts_off_a_profile_that_protects_everyone(counts, scales, epsilon, pick):
    """The cuts made at any point hold for every protecting profile, and its KL is what the program says."""
    game = small_game(counts, scales, epsilon)
    if game.condition.lower > 0:
        return
    program = Program(game)
    for _ in range(8):
        found = program.solve(5.0)
        assert found is not None
        if program.tighten_tangents(1e-6) + program.add_star_cuts(found[1]) == 0:
            break
    program.forbid_violations(found[1])
    profiles = [p for p in every_profile(game) if game.payoff(p).protected == game.people]
    if not profiles:
        return
    profile = profiles[pick % len(profiles)]
    fractions = profile[program.cells, program.scales] / game.histogram.counts[program.cells]
    assert program.divergence(fractions) == pytest.approx(game.divergence(profile), abs=1e-9)
    for pair, fraction in enumerate(fractions.tolist()):
        program.highs.changeColBounds(pair, fraction, fraction)
    bound, _ = program.solve(5.0)
    assert bound <= game.divergence(profile) + 1e-6


@pytest.mark.parametrize(("epsilon", "kl"), [(1.0, 0.00095), (2.0, 0.0004), (8.0, 0.0001)])
def test_heights_are_solved_and_proven(heights, epsilon, kl):
    game = height_game("wide", epsilon, values=heights)
    found = optimal(game, time_limit=60)
    assert found.settings["proven"]
    assert found.settings["gap"] <= max(1e-4, 0.01 * found.kl)
    assert found.kl <= kl
    assert found.kl <= best_response(game, restarts=8).kl
    assert found.protected == 1844
    assert found.equilibrium


def test_out_of_time_it_says_how_far_it_got(heights):
    found = optimal(height_game("wide", 0.1, values=heights), time_limit=1.5)
    assert not found.settings["proven"]
    assert 0 <= found.settings["lower_bound"] < found.kl
    assert found.settings["gap"] == pytest.approx(found.kl - found.settings["lower_bound"])
    assert found.protected == 1844


def test_a_time_limit_must_be_positive():
    with pytest.raises(BadInput, match="'time_limit' parameter"):
        optimal(small_game([2, 2], [0.1, 1.0], 1.0), time_limit=0)
