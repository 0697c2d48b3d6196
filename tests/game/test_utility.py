import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from benchmarks import plain
from equinoise.errors import BadInput
from equinoise.game.equilibrium import is_equilibrium
from equinoise.game.utility import closeness, feature_gain
from equinoise.solvers.best_response import best_response, rounds
from equinoise.solvers.genetic import Population
from tests.helpers.drawn_games import COLUMNS, KINDS, ONE, games, random_profile
from tests.helpers.games import bare_grid, height_game, small_game


def moments_by_hand(p, q, order):
    z = (np.arange(len(p)) + 0.5) / len(p)
    return sum(abs(np.sum(p * z**m) - np.sum(q * z**m)) for m in range(1, order + 1)) / order


def wasserstein_by_hand(p, q):
    return wasserstein_distance(range(len(p)), range(len(p)), p, q) / (len(p) - 1) if len(p) > 1 else 0.0


BY_HAND = {
    "kl": lambda p, q: entropy(p, q) / math.log(len(p)),
    "js": lambda p, q: jensenshannon(p, q) ** 2 / math.log(2),
    "tv": lambda p, q: np.abs(p - q).sum() / 2,
}
OF_A_COLUMN = {
    "wasserstein": wasserstein_by_hand,
    "moments:1": lambda p, q: moments_by_hand(p, q, 1),
    "moments:3": lambda p, q: moments_by_hand(p, q, 3),
}
NAMES = (*BY_HAND, *OF_A_COLUMN)
names = st.sampled_from(NAMES)


def by_hand(name, shape):
    """A divergence over its ceiling; those of a column are averaged over the columns."""
    if name in BY_HAND:
        return BY_HAND[name]

    def average(p, q):
        tables = [d.reshape(shape) for d in (p, q)]
        axes = range(len(shape))
        alone = [[t.sum(axis=tuple(other for other in axes if other != axis)) for t in tables] for axis in axes]
        return float(np.mean([OF_A_COLUMN[name](*pair) for pair in alone]))

    return average


@given(games(KINDS, NAMES), st.integers(0, 99))
def test_every_utility_against_scipy(game, seed):
    profile = random_profile(game, seed)
    p, q = game.players.histogram.counts / game.total_rows, game.output(profile)
    expected = by_hand(game.utility, game.players.grid.shape)(p, q)
    found = game.divergence(profile) / game.closeness.ceiling
    assert found == pytest.approx(expected, abs=1e-7 if game.utility == "js" else 1e-9)
    assert game.payoff(profile).utility == pytest.approx(min(max(1 - expected, 0), 1), abs=1e-7)
    assert game.kl(profile) == pytest.approx(entropy(p, q), abs=1e-9)


@pytest.mark.parametrize("name", ["kl", "js", "tv"])
@given(counts=st.lists(st.integers(0, 9), min_size=2, max_size=9).filter(any), seed=st.integers(0, 99))
def test_sums_over_cells_for_any_two_distributions(name, counts, seed):
    """Also those that no kernel gives; outside the occupied cells only the mass counts."""
    p = np.array(counts) / sum(counts)
    q = np.random.default_rng(seed).dirichlet(np.ones(len(p)))
    made, n, there = closeness(name, bare_grid([len(p)])), np.array(counts, dtype=float), p > 0
    value = made.curve.divergence(n[there], (q * n.sum())[there])
    assert value / made.ceiling == pytest.approx(BY_HAND[name](p, q), abs=1e-9)
    assert made.curve.divergence(n[there], n[there]) == pytest.approx(0, abs=1e-12)
    assert 0 <= made.utility(value) <= 1


@given(names, st.integers(2, 12))
def test_no_divergence_but_kl_exceeds_its_ceiling(name, cells):
    """Everyone in the first cell, and nobody comes out but in the last."""
    made = closeness(name, bare_grid([cells]))
    if made.curve is None:
        (table,) = made.features
        reached = float(np.abs(table[:, 0] - table[:, -1]).sum())
    else:
        reached = made.curve.divergence(np.array([1.0]), np.array([0.0]))
    assert reached == math.inf if name == "kl" else 0 < reached <= made.ceiling + 1e-12


def made_up(name, seed, size):
    """Counts, sums and a change of them, and the parts of a divergence that look at them."""
    random, made = np.random.default_rng(seed), closeness(name, bare_grid([6]))
    counts = random.integers(0, 4, 6).astype(float)
    counts[0] += 1
    sums, other = (random.dirichlet(np.ones(6)) * counts.sum() for _ in range(2))
    change, there = size * (other - sums), counts > 0
    if made.curve is None:
        (table,) = made.features
        gaps, steps = table @ (counts - sums), table @ change
        divergences = [np.abs(gaps).sum(), np.abs(gaps - steps).sum()]
        return made, divergences, feature_gain(gaps, steps), np.sign(gaps) @ steps
    n, s, d = counts[there], sums[there], change[there]
    divergences = [n.sum() * made.curve.divergence(n, part) for part in (s, s + d)]
    return made, divergences, made.curve.gain(n, s, d), made.curve.tangents(s / n)[1] @ d


@given(names, st.integers(0, 999), st.sampled_from([0.0, 1e-9, 1e-3, 0.3, 1.0]))
def test_gain_is_the_difference_of_the_divergences(name, seed, size):
    _, (before, after), gained, _ = made_up(name, seed, size)
    assert gained == pytest.approx(before - after, abs=1e-11)


@given(names, st.integers(0, 999), st.sampled_from([1e-9, 1e-3, 0.3, 1.0]))
def test_no_change_gains_more_than_the_slopes_promise_and_small_ones_hardly_less(name, seed, size):
    made, _, gained, promised = made_up(name, seed, size)
    assert gained <= promised + 1e-12
    if size < 1e-6 and made.curve is not None:
        assert gained == pytest.approx(promised, rel=1e-3, abs=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_gain_of_one_person_among_a_trillion_keeps_its_digits(name):
    """Against the same numbers in fractions of a person, where nothing cancels: gain is the slope for tiny changes."""
    counts, sums = np.array([6e11, 1e11, 3e11]), np.array([5.5e11, 1.6e11, 2.9e11])
    change, made = np.array([0.25, -0.5, 0.25]), closeness(name, bare_grid([3]))
    slopes = []
    for size in (1.0, 1e4):
        if made.curve is None:
            (table,) = made.features
            gain = feature_gain(table @ (counts - sums), table @ change * size)
        else:
            gain = made.curve.gain(counts, sums, change * size)
        slopes.append(gain / size)
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-6)


@given(games(KINDS, NAMES), st.integers(0, 99))
def test_features_of_a_profile_are_those_of_its_output(game, seed):
    profile, shape = random_profile(game, seed), game.players.grid.shape
    p, q = game.players.histogram.counts, game.output(profile) * game.total_rows
    expected = [
        table @ (p - q).reshape(shape).sum(axis=tuple(other for other in range(len(shape)) if other != axis))
        for axis, table in enumerate(game.closeness.features)
    ]
    np.testing.assert_allclose(game.gaps(profile), np.concatenate([np.zeros(0), *expected]), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_fast_solver_reaches_the_plain_algorithms_equilibrium(kind, data, seed):
    """With every divergence of :mod:`scipy`'s or by hand, not the game's own."""
    game = data.draw(games([kind], (*OF_A_COLUMN, "kl", "tv"), people=3))
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    divergence = by_hand(game.utility, game.players.grid.shape)
    expected, number = plain.best_response_dynamics(game, start, divergence=divergence)
    assert last.number == number
    np.testing.assert_array_equal(last.profile, expected)
    assert is_equilibrium(game, last.profile)


@settings(max_examples=40)
@given(games(KINDS, NAMES))
def test_a_whole_population_has_the_games_payoffs(game):
    population = Population(game)
    genes = np.random.default_rng(0).integers(0, game.scales, (7, game.people))
    one_by_one = [game.payoff(population.profile(row)).value for row in genes]
    np.testing.assert_allclose(population.payoffs(genes), one_by_one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["js", "tv", "wasserstein", "moments:4"])
@pytest.mark.parametrize("times", [1, 10**6])
def test_each_utility_is_served_best_by_asking_for_it(heights, name, times):
    game = height_game("wide", 1.0, times, heights)
    asked = replace(game, utility=name)
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
    "name",
    [
        "",
        "KL",
        "kl:",
        "kl:1",
        "moments",
        "moments:",
        "moments:0",
        "moments:11",
        "moments:-1",
        "moments:²",
        "moments:03",
    ],
)
def test_unknown_utilities_are_refused(name):
    with pytest.raises(BadInput, match="'utility' parameter"):
        closeness(name, bare_grid([5]))


@given(games([ONE, COLUMNS], ("wasserstein",)))
def test_ceilings_are_those_of_the_whole_grid(game):
    assert closeness("kl", game.players.grid).ceiling == math.log(game.players.grid.cells)
    assert game.closeness.ceiling == 1
