import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import plain
from equinoise import optimize
from equinoise.game.condition import Condition
from equinoise.game.equilibrium import is_equilibrium
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.certificate import certify, exp_lower_bound
from equinoise.privacy.loss import MARGIN, losses
from equinoise.solvers.best_response import rounds
from equinoise.solvers.solution import Solution
from tests.helpers.drawn_games import CONDITIONS, KINDS, games, random_profile
from tests.helpers.games import assert_same_losses

scales = st.just([0.02, 0.3, 3.0])


def loss_by_removal(rows, sizes, person):
    """The definition, in fractions: the output distribution with everyone, and again without one person's rows."""
    worst = 0.0
    everyone = [sum(column) for column in zip(*rows, strict=True)]
    others = [s - w for s, w in zip(everyone, rows[person], strict=True)]
    n = sum(sizes)
    for s, o in zip(everyone, others, strict=True):
        if s == 0:
            continue
        if o == 0:
            return math.inf
        ratio = Fraction(s, n) / Fraction(o, n - sizes[person])
        worst = max(worst, abs(math.log(ratio)))
    return worst


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_loss_is_the_definition_with_the_person_actually_removed(kind, data, seed):
    game = data.draw(games([kind], scales=st.just([0.05, 0.3, 5.0])))
    profile = random_profile(game, seed)
    types, used = game.groups(profile)
    many = profile[types, used]
    everyone = np.repeat(plain.person_rows(game)[types, used], many, axis=0).tolist()
    sizes = np.repeat(game.players.sizes[types], many).tolist()
    first = np.concatenate([[0], np.cumsum(many)[:-1]])
    expected = [loss_by_removal(everyone, sizes, person) for person in first.tolist()]
    assert_same_losses(game.losses(profile), np.array(expected))


@given(st.integers(2, 60), st.integers(1, 5), st.integers(0, 2))
def test_the_games_condition_is_never_looser_than_the_exact_one(total, rows, off):
    """Around epsilon = ln(R / (R - m)) the lower share is the difference of nearly equal numbers."""
    total += rows
    epsilon = math.log(total / (total - rows))
    for _ in range(off):
        epsilon = math.nextafter(epsilon, 0)
    bound = exp_lower_bound(epsilon)
    condition, left = Condition(epsilon, np.array([rows]), total), Fraction(total - rows, total)
    assert Fraction(condition.lower[0]) >= 1 - bound * left
    assert Fraction(condition.upper[0]) <= 1 - left / bound


@given(st.integers(2, 10**6), st.floats(0.01, 5), st.integers(1, 50))
def test_the_limits_of_a_share_are_where_the_loss_is_epsilon(total, epsilon, rows):
    total += rows
    condition = Condition(epsilon, np.array([1, rows]), total)
    shares = [condition.upper[1]] + [condition.lower[1]] * bool(condition.lower[1] > 0)
    for share in shares:
        at = losses(np.array([[share, 0.0]]), np.array([1.0, 0.0]), total, np.array([rows]))[0]
        assert at <= epsilon
        assert at == pytest.approx(epsilon, abs=1e-4 * epsilon + 1e3 * MARGIN)


def test_only_the_person_there_means_infinite_loss_and_nobody_means_none():
    rows = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 4.0, 0.0]])
    found = losses(rows, rows.sum(axis=0), 3)
    assert math.isinf(found[0])
    assert math.isclose(found[1], math.log(3 / 2), rel_tol=1e-12)  # less likely with them where they never come out


asked = games(
    conditions=(*CONDITIONS, {"order": 1.5}), scales=scales, epsilon=st.sampled_from([0.05, 0.4, 1.5]), people=3
)


@given(asked, st.integers(0, 99))
def test_every_condition_is_played_to_an_equilibrium_that_the_certificate_agrees_with(game, seed):
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    assert game.payoff(last.profile).value >= game.payoff(start).value - 1e-9
    assert is_equilibrium(game, last.profile)
    for profile in (start, last.profile):
        held = PerInstance.unchecked(Solution(game, profile, "best-response", True, 0, 0.0, 0.0)).certificate().holds
        if game.payoff(profile).protected == game.people:
            assert held
        elif held:  # only the margin between the two can tell them apart
            types, used = game.groups(profile)
            found = game.condition.divergences(game.store.some(types, used), game.sums(profile), types).max()
            assert found >= game.condition.limit * (1 - 1e-9)


@pytest.mark.parametrize("order", [None, 3.0])
def test_whoever_the_other_certificates_refuse_the_game_has_unprotected(order):
    """Right at the divergence as floating point has it, and a little above: rounding never lets anyone through."""
    rng, refused = np.random.default_rng(4), np.zeros(3)
    for _ in range(300):
        people, weights = rng.integers(1, 5, 3), rng.multinomial(2**20, rng.dirichlet(np.ones(4), 3))
        sums, ones, everyone = (people @ weights).astype(float), np.ones(3, dtype=np.int64), int(people.sum())

        def condition(limit, ones=ones, everyone=everyone):
            if order is not None:
                return Condition(limit, ones, everyone, order=order)
            return Condition(0.01, ones, everyone, delta=limit)

        found = condition(0.1).divergences(weights.astype(float), sums, np.arange(3)).max()
        for at, limit in enumerate((found, found * (1 - 1e-12), found * (1 - 2e-7))):
            asked = condition(limit)
            held = certify(people, (weights,), (2**20,), asked.epsilon, asked.delta, asked.order).holds
            refused[at] += not held
            assert held or asked.outside(weights.astype(float), sums, np.arange(3)).any()
    assert refused[0] > 0
    assert refused[2] == 300


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_divergences_against_the_definitions(kind, data, seed):
    game = data.draw(games([kind], scales=scales))
    profile = random_profile(game, seed)
    types, used = game.groups(profile)
    rows, sums = game.store.some(types, used), game.sums(profile)
    condition = [
        Condition(0.4, game.players.sizes, game.total_rows, **kind) for kind in ({"delta": 0.1}, {"order": 3.0})
    ]
    for index, row in enumerate(rows):
        p, q = sums / sums.sum(), (sums - row) / (sums - row).sum()
        forth, back = (np.maximum(a - math.exp(0.4) * b, 0).sum() for a, b in ((p, q), (q, p)))
        found = condition[0].divergences(rows, sums, types)[index]
        assert math.isclose(found, max(forth, back), rel_tol=1e-9, abs_tol=1e-14)
        assert math.isclose(condition[0].between(p, q), max(forth, back), rel_tol=1e-9, abs_tol=1e-14)
        if (q > 0).all():
            renyi = [math.log(np.sum(a**3 * b**-2.0)) / 2 for a, b in ((p, q), (q, p))]
            found = condition[1].divergences(rows, sums, types)[index]
            assert math.isclose(found, max(renyi), rel_tol=1e-6, abs_tol=1e-12)
            assert math.isclose(condition[1].between(p, q), max(renyi), rel_tol=1e-6, abs_tol=1e-12)


def test_what_a_pure_condition_bounds_is_the_largest_log_ratio_either_way():
    condition = Condition(1.0, np.array([1]), 10)
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.75, 0.0])
    assert condition.between(p, q) == condition.between(q, p) == pytest.approx(math.log(2))
    assert math.isinf(condition.between(p, np.array([1.0, 0.0, 0.0])))


@pytest.mark.parametrize("order", [30.0, 700.0, 3000.0, 10_000.0])
@given(game=games(epsilon=st.sampled_from([0.5, 1.0, 3.0])), seed=st.integers(0, 99))
def test_who_is_protected_by_a_pure_epsilon_is_so_at_every_renyi_order(order, game, seed):
    """Renyi divergences are at most the largest log ratio, and near it at large orders; floats must not give out."""
    profile = random_profile(game, seed)
    types, scales = game.groups(profile)
    rows, sums = game.store.some(types, scales), game.sums(profile)
    pure = Condition(game.epsilon, game.players.sizes, game.total_rows)
    renyi = Condition(game.epsilon, game.players.sizes, game.total_rows, order=order)
    largest, found = pure.divergences(rows, sums, types), renyi.divergences(rows, sums, types)
    assert (found <= largest * (1 + 1e-9) + 1e-12).all()
    least = np.log(np.min(sums[sums > 0] / sums.sum())) / (order - 1)  # a cell's own term alone
    assert (found[np.isfinite(largest)] >= largest[np.isfinite(largest)] + least - 1e-9 - 3 / order).all()
    assert np.array_equal(np.isinf(found), np.isinf(largest))


@given(
    game=games(conditions=({"order": 1000.0}, {"order": 10_000.0}), epsilon=st.sampled_from([0.5, 3.0])),
    seed=st.integers(0, 99),
)
def test_large_renyi_orders_are_counted_alike_by_the_loop(game, seed):
    for state in rounds(game, random_profile(game, seed)):
        assert state.unprotected == game.unprotected(state.profile)
    assert is_equilibrium(game, state.profile)


def test_a_large_renyi_order_needs_no_more_noise_than_a_pure_epsilon():
    people = np.random.default_rng(7).normal(50, 12, 300).clip(0, 100)
    settings = {"epsilon": 1, "bounds": (0, 100), "bins": 21, "restarts": 2}
    pure = optimize(people, **settings)
    assert optimize(people, **settings, order=10_000).metrics()["kl"] <= pure.metrics()["kl"] * 1.05


def test_a_loss_may_be_where_its_person_never_comes_out():
    """With them a cell of others is less likely: 1/8, and 1/4 without; the cell that is theirs has 7/8 and 3/4."""
    rows = np.array([[4.0, 0.0], [3.0, 1.0]])
    assert losses(rows, rows.sum(axis=0), 2)[0] == pytest.approx(math.log(2), rel=1e-12)
