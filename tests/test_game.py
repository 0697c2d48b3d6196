import math

import numpy as np
import pytest
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import plain
from equinoise.errors import BadInput
from equinoise.game import always_protecting_scale, self_protecting_scale

counts = st.lists(st.integers(0, 4), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)
epsilons = st.sampled_from([0.05, 0.2, 0.5, 1.0, 2.0])
scale_sets = st.sampled_from([[0.01, 0.2, 3.0], [0.05, 0.5], [0.1, 0.1000001, math.inf], [0.3, 1.0, 2.0, 5.0]])


def random_profile(game, seed):
    choices = len(game.kernel.scales)
    return np.random.default_rng(seed).multinomial(game.histogram.counts, np.full(choices, 1 / choices))


def per_person(game, profile):
    """The same profile, one cell and one scale per person."""
    cells, scales = game.groups(profile)
    return np.repeat(cells, profile[cells, scales]), np.repeat(scales, profile[cells, scales])


def plain_payoff(game, cells, scales):
    weights = game.kernel.weights.astype(float)
    return plain.payoff(cells, scales, weights, game.kernel.total, game.histogram.grid.cells, game.epsilon)


@given(counts, scale_sets, epsilons, st.integers(0, 99))
def test_payoff_on_counts_is_the_payoff_per_person(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    profile = random_profile(game, seed)
    protected, utility = plain_payoff(game, *per_person(game, profile))
    payoff = game.payoff(profile)
    assert payoff.protected == protected
    assert payoff.utility == pytest.approx(utility, abs=1e-12)
    assert payoff.value == protected + payoff.utility


@given(counts, scale_sets, epsilons, st.integers(0, 99))
def test_equilibrium_check_agrees_with_trying_every_move_of_every_person(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    profile = random_profile(game, seed)
    cells, chosen = per_person(game, profile)
    now = plain_payoff(game, cells, chosen)
    better = False
    for person in range(len(cells)):
        for choice in range(len(scales)):
            moved = chosen.copy()
            moved[person] = choice
            then = plain_payoff(game, cells, moved)
            gain = (then[0] - now[0], then[1] - now[1])
            better |= gain[0] > 0 or (gain[0] == 0 and gain[1] > 1e-11)
    assert game.is_equilibrium(profile) == (not better)


def test_the_twenty_people_of_whom_an_equilibrium_leaves_one_out():
    """Infinite scale would protect anyone who takes it, whatever others do, and yet nobody takes it."""
    counts = [1, 1] + [0] * 11 + [18]
    game = small_game(counts, [0.2821, math.inf], math.log(1.5))
    assert self_protecting_scale(20, game.epsilon) <= 0.2821
    everyone_small = np.zeros((14, 2), dtype=np.int64)
    everyone_small[:, 0] = counts
    assert game.payoff(everyone_small).protected == 19
    assert game.is_equilibrium(everyone_small)
    assert game.payoff(game.largest_scale_profile()).protected == 20


@given(st.integers(2, 8), st.data(), epsilons)
def test_from_the_always_protecting_scale_on_every_profile_protects_everyone(bins, data, epsilon):
    counts = data.draw(st.lists(st.integers(0, 4), min_size=bins, max_size=bins).filter(lambda n: sum(n) >= 2))
    b = always_protecting_scale(sum(counts), epsilon)
    game = small_game(counts, [b * 1.0001, 1.3 * b, 5 * b, math.inf], epsilon)
    for seed in range(5):
        assert game.payoff(random_profile(game, seed)).protected == game.people


@given(st.integers(2, 8), st.data(), epsilons)
def test_from_the_self_protecting_scale_on_infinite_scale_protects_a_person(bins, data, epsilon):
    counts = data.draw(st.lists(st.integers(0, 4), min_size=bins, max_size=bins).filter(lambda n: sum(n) >= 2))
    b = self_protecting_scale(sum(counts), epsilon)
    if math.isinf(b):
        assert (sum(counts) - 1) * math.expm1(epsilon) <= 1.001
        return
    game = small_game(counts, [b * 1.0001, 1.3 * b, math.inf], epsilon)
    profile = random_profile(game, 1)
    _, scales = game.groups(profile)
    for loss, scale in zip(game.losses(profile), scales, strict=True):
        assert scale != 2 or loss <= epsilon


def test_theorem_scales_against_their_formulas():
    b = always_protecting_scale(1844, 1.0)
    assert math.expm1(1 / b) == pytest.approx(1844 * math.expm1(1.0))
    c = self_protecting_scale(1844, 1.0)
    assert c * math.expm1(1 / c) == pytest.approx(1843 * math.expm1(1.0))
    assert math.isinf(self_protecting_scale(2, 0.1))


def test_utility_is_clamped_at_zero():
    game = small_game([3, 0, 0, 0], [0.3, math.inf], 1.0)
    weights = game.kernel.weights.copy()
    weights[1, 0] = [1, 2**30, 2**30, 2**31 - 1]  # almost nobody of cell 0 comes out there
    object.__setattr__(game.kernel, "weights", weights)
    far = np.array([[0, 3], [0, 0], [0, 0], [0, 0]])
    assert game.divergence(far) > math.log(4)
    assert game.payoff(far).utility == 0
    assert game.best_response(far, 0, 1) == 1  # nobody alone lifts KL below ln 4, or all stay protected
    near = np.array([[3, 0], [0, 0], [0, 0], [0, 0]])
    assert game.payoff(near).utility > 0


@pytest.mark.parametrize("counts", [[0, 0], [1, 0]])
def test_fewer_than_two_people_are_refused(counts):
    with pytest.raises(BadInput, match="two people"):
        small_game(counts, [0.1], 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_epsilon_must_be_positive_and_finite(epsilon):
    with pytest.raises(BadInput, match="'epsilon' parameter"):
        small_game([1, 1], [0.1], epsilon)


@pytest.mark.parametrize("profile", [[[1, 0], [0, 0]], [[1, 0]], [[2, -1], [1, 0]], [[1.0, 0.0], [1.0, 0.0]]])
def test_a_profile_must_be_the_games(profile):
    game = small_game([1, 1], [0.1, 1.0], 1.0)
    with pytest.raises(BadInput, match="profile"):
        game.check_profile(np.array(profile))
