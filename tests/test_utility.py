import math

import numpy as np
import pytest
from conftest import small_game
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance
from test_game import counts, epsilons, random_profile, scale_sets

from benchmarks import plain
from benchmarks.heights import height_game
from equinoise.errors import BadInput
from equinoise.game import Game
from equinoise.solvers.best_response import best_response, rounds
from equinoise.solvers.genetic import Population
from equinoise.utility import LINEAR, named


def middles(p):
    return (np.arange(len(p)) + 0.5) / len(p)


def moments_by_hand(p, q, order):
    z = middles(p)
    return sum(abs(np.sum(p * z**m) - np.sum(q * z**m)) for m in range(1, order + 1)) / order


BY_HAND = {
    "kl": lambda p, q: entropy(p, q) / math.log(len(p)),
    "js": lambda p, q: jensenshannon(p, q) ** 2 / math.log(2),
    "tv": lambda p, q: np.abs(p - q).sum() / 2,
    "wasserstein": lambda p, q: wasserstein_distance(range(len(p)), range(len(p)), p, q) / (len(p) - 1),
    "moments:1": lambda p, q: moments_by_hand(p, q, 1),
    "moments:3": lambda p, q: moments_by_hand(p, q, 3),
}
names = st.sampled_from(sorted(BY_HAND))


def utility_by_hand(name):
    return lambda p, q: min(max(1 - BY_HAND[name](p, q), 0.0), 1.0)


def with_utility(game, name):
    return Game(game.histogram, game.kernel, game.epsilon, name)


@given(names, st.lists(st.integers(0, 9), min_size=2, max_size=9).filter(any), st.integers(0, 99))
def test_every_utility_against_scipy(name, counts, seed):
    p = np.array(counts) / sum(counts)
    q = np.random.default_rng(seed).dirichlet(np.ones(len(p)))
    utility = named(name, len(p))
    value = float(utility.divergence(p, q))
    assert value / utility.ceiling == pytest.approx(BY_HAND[name](p, q), abs=1e-9)
    assert utility.divergence(p, p) == pytest.approx(0, abs=1e-12)
    assert utility.divergence(p, np.stack([q, p])) == pytest.approx([value, 0], abs=1e-12)
    assert 0 <= utility.scaled(value) <= 1


@given(names, st.integers(2, 12))
def test_no_divergence_but_kl_exceeds_its_ceiling(name, cells):
    ends = np.eye(cells)[[0, -1]]
    utility = named(name, cells)
    reached = float(utility.divergence(ends[0], ends[1]))
    assert reached == math.inf if name == "kl" else 0 < reached <= utility.ceiling + 1e-12


@given(names, st.integers(0, 999), st.sampled_from([0.0, 1e-9, 1e-3, 0.3, 1.0]))
def test_gain_is_the_difference_of_the_divergences(name, seed, size):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, 6).astype(float)
    counts[0] += 1
    sums, other = random.dirichlet(np.ones(6)) * counts.sum(), random.dirichlet(np.ones(6)) * counts.sum()
    change = size * (other - sums)
    utility, people = named(name, 6), counts.sum()
    before, after = (utility.divergence(counts / people, s / people) for s in (sums, sums + change))
    assert utility.gain(counts, sums, change) == pytest.approx(people * (before - after), abs=1e-12)


@given(names, st.integers(0, 999), st.sampled_from([1e-9, 1e-3, 0.3, 1.0]))
def test_no_change_gains_more_than_the_slopes_promise_and_small_ones_hardly_less(name, seed, size):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, 6).astype(float)
    counts[0] += 1
    sums, other = (random.dirichlet(np.ones(6)) * counts.sum() for _ in range(2))
    change = size * (other - sums)
    utility = named(name, 6)
    promised, gained = utility.slopes(counts, sums) @ change, utility.gain(counts, sums, change)
    assert gained <= promised + 1e-12
    if size < 1e-6 and utility.kind != LINEAR:
        assert gained == pytest.approx(promised, rel=1e-3, abs=1e-14)


def test_slopes_where_nobody_comes_out():
    counts, sums = np.array([1.0, 0.0, 2.0]), np.array([0.0, 0.0, 3.0])
    for name in ("kl", "js"):
        slopes = named(name, 3).slopes(counts, sums)
        assert np.isfinite(slopes).all()
        assert slopes[0] > 100 * abs(slopes[2]) > abs(slopes[1]) or name == "js"
        assert slopes @ np.array([0.0, 0.0, 1.0]) == slopes[2]


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_gain_of_one_person_among_a_trillion_keeps_its_digits(name):
    """Against the same numbers in fractions of a person, where nothing cancels: gain is the slope for tiny changes."""
    counts, sums = np.array([6e11, 1e11, 3e11]), np.array([5.5e11, 1.6e11, 2.9e11])
    change = np.array([0.25, -0.5, 0.25])
    slope = np.array([named(name, 3).gain(counts, sums, change * size) / size for size in (1.0, 1e4)])
    assert slope[0] == pytest.approx(slope[1], rel=1e-6)


@given(names, counts, scale_sets, epsilons, st.integers(0, 99))
def test_fast_solver_reaches_the_plain_algorithms_equilibrium(name, counts, scales, epsilon, seed):
    game = with_utility(small_game(counts, scales, epsilon), name)
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    expected, number = plain.best_response_dynamics(game, start, utility=utility_by_hand(name))
    assert last.number == number
    np.testing.assert_array_equal(last.profile, expected)
    assert game.is_equilibrium(last.profile)


@settings(max_examples=40)
@given(names, counts, scale_sets, epsilons)
def test_a_whole_population_has_the_games_payoffs(name, counts, scales, epsilon):
    game = with_utility(small_game(counts, scales, epsilon), name)
    population = Population(game)
    genes = np.random.default_rng(0).integers(0, len(scales), (7, game.people))
    one_by_one = [game.payoff(population.profile(row)).value for row in genes]
    np.testing.assert_allclose(population.payoffs(genes), one_by_one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["js", "tv", "wasserstein", "moments:4"])
@pytest.mark.parametrize("times", [1, 10**6])
def test_each_utility_is_served_best_by_asking_for_it(heights, name, times):
    game = height_game("wide", 1.0, times, heights)
    asked = with_utility(game, name)
    ours, theirs = best_response(asked, restarts=4), best_response(game, restarts=4)
    assert ours.equilibrium
    assert ours.protected == game.people
    assert ours.divergence <= asked.divergence(theirs.profile) + 1e-9


def test_small_steps_along_a_kink_do_not_take_ages():
    scales = [0.010067740111019454, 3.5842911759451024, 9.145697534409301]
    people = [948524, 257993, 949875, 904704]
    game = small_game(people, scales, 1.3917865588966851, noise="staircase", utility="moments:10")
    found = best_response(game, restarts=2, seed=1)
    assert found.equilibrium
    assert found.rounds < 10_000


@pytest.mark.parametrize(
    "name", ["", "KL", "moments", "moments:", "moments:0", "moments:11", "moments:-1", "moments:²"]
)
def test_unknown_utilities_are_refused(name):
    with pytest.raises(BadInput, match="'utility' parameter"):
        named(name, 5)
