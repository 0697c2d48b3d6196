import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks import plain
from equinoise.data.players import Players
from equinoise.errors import BadInput
from equinoise.game.equilibrium import is_equilibrium
from equinoise.game.game import Game
from equinoise.game.row_store import DenseRows, ProductRows, make_store
from equinoise.game.theorem import always_protecting_scale, self_protecting_scale
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.solvers.best_response import best_response
from equinoise.solvers.solution import Solution
from tests.helpers.drawn_games import KINDS, UTILITIES, counts, epsilons, games, random_profile
from tests.helpers.games import (
    assert_same_losses,
    bag_game,
    bare_grid,
    best_scale,
    joint_game,
    joint_kernel,
    people_in,
    small_game,
)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_payoff_sums_and_losses_are_those_of_everyone_laid_out(kind, data, seed):
    game = data.draw(games([kind], UTILITIES))
    profile = random_profile(game, seed)
    everyone = plain.Everyone(game, profile)
    np.testing.assert_array_equal(everyone.profile, profile)
    rows = plain.person_rows(game)[everyone.types, everyone.scales]
    sums = rows.sum(axis=0).astype(float)
    np.testing.assert_allclose(game.sums(profile), sums, rtol=1e-14)
    np.testing.assert_allclose(game.output(profile).sum(), 1)
    payoff, (protected, utility) = game.payoff(profile), everyone.value(everyone.scales)
    assert payoff.protected == protected
    assert payoff.utility == pytest.approx(utility, abs=1e-12)
    assert payoff.value == protected + payoff.utility
    types, scales = game.groups(profile)
    own, sizes = plain.person_rows(game)[types, scales].astype(float), game.players.sizes[types]
    reached = sums > 0
    with np.errstate(divide="ignore"):
        without = (sums - own)[:, reached] / (game.total_rows - sizes)[:, None]
        losses = np.abs(np.log((sums / game.total_rows)[reached] / without)).max(axis=1)
    assert_same_losses(game.losses(profile), losses)


@given(games(), st.integers(0, 99))
def test_rows_laid_out_and_multiplied_out_are_those_of_kronecker_products(game, seed):
    expected = plain.person_rows(game)
    assert (expected.sum(axis=2) == game.players.sizes[:, None] * game.kernel.total).all()
    profile = random_profile(game, seed)
    types, scales = game.groups(profile)
    homes = game.players.homes
    for store in (make_store(game.players, game.kernel), make_store(game.players, game.kernel, most=0)):
        for i in range(game.players.types):
            for v in range(game.scales):
                np.testing.assert_array_equal(store.row(i, v), expected[i, v])
                low, high = store.reach[i, v]
                assert not np.delete(expected[i, v], np.s_[low:high]).any()
        np.testing.assert_array_equal(store.some(types, scales), expected[types, scales])
        at_home = np.array([expected[i, :, game.players.occupied[home]] for i, home in enumerate(homes)])
        np.testing.assert_array_equal(store.at_home(homes), at_home)
        sums = profile[types, scales] @ expected[types, scales]
        np.testing.assert_allclose(store.sums(types, scales, profile[types, scales]), sums, rtol=1e-14)


@given(games(scales=st.just([0.02, 0.3, 3.0])), st.integers(0, 99))
def test_a_mechanism_has_the_games_rows_and_losses(game, seed):
    profile = random_profile(game, seed)
    types, scales = game.groups(profile)
    made = PerInstance.unchecked(Solution(game, profile, "best-response", False, 0, 0.0, 0.0))
    laid_out = np.concatenate([rows for _, rows in made.laid_out(np.int64)])
    np.testing.assert_array_equal(laid_out, plain.person_rows(game)[types, scales])
    np.testing.assert_allclose(made.losses(), game.losses(profile), rtol=1e-9, atol=1e-12)
    assert made.protected >= game.payoff(profile).protected
    again = made.game()
    np.testing.assert_array_equal(again.players.people, game.players.people)
    np.testing.assert_array_equal(again.players.cells, game.players.cells)
    np.testing.assert_array_equal(again.store.some(types, scales), laid_out)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_equilibrium_check_and_best_responses_agree_with_trying_every_move_of_every_person(kind, data, seed):
    game = data.draw(games([kind], UTILITIES, people=3))
    profile = random_profile(game, seed)
    everyone, stable = plain.Everyone(game, profile), True
    now = everyone.value(everyone.scales)
    for person in range(game.people):
        values = everyone.values(person)
        gains = [(protected - now[0], utility - now[1]) for protected, utility in values]
        assume(all(abs(gain[1]) > 1e-10 or abs(gain[1]) < 1e-13 for gain in gains))
        stable &= not any(gain[0] > 0 or (gain[0] == 0 and gain[1] > 1e-11) for gain in gains)
        best = values[best_scale(game, profile, int(everyone.types[person]), int(everyone.scales[person]))]
        assert best[0] == max(value[0] for value in values)
        assert best[1] >= max(value[1] for value in values if value[0] == best[0]) - 1e-10
    assert is_equilibrium(game, profile) == stable


def test_the_twenty_people_of_whom_an_equilibrium_leaves_one_out():
    """Infinite scale would protect anyone who takes it, whatever others do, and yet nobody takes it."""
    game = small_game([1, 1] + [0] * 11 + [18], [0.2821, math.inf], math.log(1.5))
    assert self_protecting_scale(20, game.epsilon) <= 0.2821
    everyone_small = game.profile_of(np.zeros(3, dtype=np.int64))
    assert game.payoff(everyone_small).protected == 19
    assert is_equilibrium(game, everyone_small)
    assert game.payoff(game.largest_scale_profile()).protected == 20


@given(counts, epsilons)
def test_from_the_always_protecting_scale_on_every_profile_protects_everyone(counts, epsilon):
    b = always_protecting_scale(sum(counts), epsilon)
    game = small_game(counts, [b * 1.0001, 1.3 * b, 5 * b, math.inf], epsilon)
    for seed in range(5):
        assert game.payoff(random_profile(game, seed)).protected == game.people


@given(counts, epsilons)
def test_from_the_self_protecting_scale_on_infinite_scale_protects_a_person(counts, epsilon):
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
    weights = game.kernel.weights[0].copy()
    weights[1, 0] = [1, 2**30, 2**30, 2**31 - 1]  # almost nobody of cell 0 comes out there
    game = replace(game, kernel=replace(game.kernel, weights=(weights,)))
    far = np.array([[0, 3]])
    assert game.divergence(far) > math.log(4)
    assert game.payoff(far).utility == 0
    assert best_scale(game, far, 0, 1) == 1  # nobody alone lifts KL below ln 4, or all stay protected
    near = np.array([[3, 0]])
    assert game.payoff(near).utility > 0


def with_many_people(kind, people):
    if kind == "rows":
        return bag_game([[0, 1, 1]], [people], 3, [0.1], 1.0)
    if kind == "columns":
        return joint_game([[people, 0], [0, 0]], [0.1], 1.0)
    return small_game([people, 0], [0.1], 1.0)


@pytest.mark.parametrize("kind", ["one", "columns", "rows"])
def test_fewer_than_two_people_are_refused(kind):
    with pytest.raises(BadInput, match=r"two people.* There is 1"):
        with_many_people(kind, 1)
    assert with_many_people(kind, 2).people == 2
    with pytest.raises(BadInput, match=r"two people.* There are 0"):
        small_game([0, 0], [0.1], 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
@pytest.mark.parametrize("make", [small_game, joint_game])
def test_epsilon_must_be_positive_and_finite(make, epsilon):
    with pytest.raises(BadInput, match="'epsilon' parameter"):
        make(np.ones((2,) if make is small_game else (2, 2), dtype=int), [0.1], epsilon)


def test_a_game_refuses_a_utility_or_a_kernel_that_is_not_its_own():
    with pytest.raises(BadInput, match="'utility' parameter"):
        joint_game([[1, 1], [0, 0]], [0.1], 1.0, "moments:0")
    players = people_in(bare_grid([2, 3]), [1, 0, 1, 0, 0, 0])
    with pytest.raises(BadInput, match="as many bins"):
        Game(players, joint_kernel("laplace", [0.1], (3, 2)), 1.0)


@pytest.mark.parametrize("profile", [[[1, 0], [0, 0]], [[1, 0]], [[2, -1], [1, 0]], [[1.0, 0.0], [1.0, 0.0]]])
@pytest.mark.parametrize("make", [small_game, joint_game])
def test_a_profile_must_be_the_games(make, profile):
    game = make([1, 1] if make is small_game else [[1, 0], [0, 1]], [0.1, 1.0], 1.0)
    with pytest.raises(BadInput, match="profile"):
        game.check_profile(np.array(profile))


@given(games(KINDS), st.data())
def test_without_one_person_everyone_else_is_as_before(game, data):
    players = game.players
    i = data.draw(st.integers(0, players.types - 1))
    left = players.without_one(i)
    people = dict(zip(bags_of(players), players.people.tolist(), strict=True))
    people[bags_of(players)[i]] -= 1
    assert dict(zip(bags_of(left), left.people.tolist(), strict=True)) == {bag: n for bag, n in people.items() if n}
    assert left.total_rows == players.total_rows - players.sizes[i]
    assert (left.histogram.counts <= players.histogram.counts).all()


def bags_of(players):
    entries = list(zip(players.cells.tolist(), players.times.tolist(), strict=True))
    return [tuple(entries[a:b]) for a, b in zip(players.begins[:-1], players.begins[1:], strict=True)]


@given(counts)
def test_one_row_each_are_players_in_cells(counts):
    grid, cells = bare_grid([len(counts)]), np.flatnonzero(counts)
    one = Players.in_cells(grid, cells, np.array(counts)[cells])
    bags = Players.in_bags(grid, [((cell, 1),) for cell in cells.tolist()], np.array(counts)[cells])
    for name in ("begins", "cells", "times", "people", "sizes", "occupied", "counts", "homes", "owners"):
        np.testing.assert_array_equal(getattr(one, name), getattr(bags, name))
    assert one.single
    assert one.total_rows == one.total_people == sum(counts)
    np.testing.assert_array_equal(one.histogram.counts, counts)


def test_rows_too_many_to_lay_out_are_multiplied_out(monkeypatch):
    for module in ("row_store", "game"):
        monkeypatch.setattr(f"equinoise.game.{module}.MOST_WEIGHTS", 50_000)
    grid = bare_grid([101])
    bags = sorted(((cell, 1), (cell + step, 1)) for cell in range(98) for step in (1, 2, 3))
    players = Players.in_bags(grid, bags, np.ones(len(bags), dtype=np.int64))
    game = Game(players, joint_kernel("laplace", [0.01, 0.1, 3.0], (101,)), 1.0)
    assert isinstance(game.store, ProductRows)
    assert game.output(game.largest_scale_profile()).sum() == pytest.approx(1)
    assert best_response(game, restarts=1).equilibrium
    with pytest.raises(BadInput, match=r"882 groups x 101 cells = 89,082 weights at once.* fewer bins or scales"):
        game.stacked_weights(np.repeat(np.arange(players.types), 3), np.tile(np.arange(3), players.types))
    few = replace(game, players=Players.in_bags(grid, bags[:50], np.ones(50, dtype=np.int64)))
    assert isinstance(few.store, DenseRows)
