"""The certificate and the accountant of people with several rows, by removing rows from a list one by one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.accounting import Accountant
from equinoise.privacy.certificate import certify, exp_lower_bound
from equinoise.solvers.budget import accountant_of
from equinoise.solvers.solution import Solution
from tests.helpers.drawn_games import BOTH, COLUMNS, KINDS, ROWS, games, random_profile
from tests.helpers.games import bag_game

SCALES = [0.02, 0.3, 3.0]

bag_games = games([ROWS, BOTH], scales=st.just(SCALES), people=3)


def plainly(game, profile):
    """With and without everyone: each group's, by removing a person's rows from a list of everyone's, one by one."""
    types, scales = game.groups(profile)
    players, cells = game.players, game.players.grid.cells
    bags = [
        [cell for cell, times in zip(players.cells[a:b], players.times[a:b], strict=True) for _ in range(times)]
        for a, b in zip(players.begins[:-1], players.begins[1:], strict=True)
    ]
    groups = list(zip(types.tolist(), scales.tolist(), strict=True))
    everyone = [(cell, v) for i, v in groups for _ in range(int(profile[i, v])) for cell in bags[i]]
    bins = players.grid.bins_of(np.arange(cells)).tolist()

    def weight(cell, v, x):
        axes = enumerate(game.kernel.weights)
        return math.prod(int(weights[v, bins[cell][d], bins[x][d]]) for d, weights in axes)

    def distribution(rows):
        return [Fraction(sum(weight(c, v, x) for c, v in rows), len(rows) * game.kernel.total) for x in range(cells)]

    full, found = distribution(everyone), []
    for i, v in groups:
        left = list(everyone)
        for cell in bags[i]:
            left.remove((cell, v))
        pairs = zip(full, distribution(left), strict=True)
        found.append([(p, q) for p, q in pairs if p > 0])
    return found


def loss(pairs):
    return max(math.inf if q == 0 else abs(math.log(p) - math.log(q)) for p, q in pairs)


def certified(game, profile, *promise):
    """The certificate, given the kernel rows of every bag's cells, group by group."""
    types, scales = game.groups(profile)
    players, entries = game.players, []
    for owner, (i, v) in enumerate(zip(types.tolist(), scales.tolist(), strict=True)):
        for e in range(players.begins[i], players.begins[i + 1]):
            entries.append((owner, v, players.cells[e], players.times[e]))
    owners, chosen, cells, times = np.array(entries).T
    bins = players.grid.bins_of(cells)
    factors = [weights[chosen, bins[:, d]] for d, weights in enumerate(game.kernel.weights)]
    return certify(profile[types, scales], factors, game.kernel.totals, *promise, owners=owners, times=times)


@given(bag_games, st.integers(0, 99))
def test_losses_and_certificate_remove_all_of_a_persons_rows(game, seed):
    profile = random_profile(game, seed)
    plain = plainly(game, profile)
    np.testing.assert_allclose(game.losses(profile), list(map(loss, plain)), rtol=1e-6, atol=1e-12)
    bound = exp_lower_bound(game.epsilon)
    fine = all(p <= bound * q and q <= bound * p for pairs in plain for p, q in pairs)
    assert certified(game, profile, game.epsilon).holds == fine
    if game.payoff(profile).protected == game.people:
        assert fine
    near = min(abs(loss(pairs) - game.epsilon) for pairs in plain) < 1e-6
    assert near or (game.payoff(profile).protected == game.people) == fine


@pytest.mark.parametrize("delta", [0.02, 0.2])
@pytest.mark.parametrize("shape", [6, (2, 3)])
def test_the_other_certificates_remove_them_too(delta, shape):
    people = [[0, 0, 1], [1], [1, 2], [2], [5], [3, 3], [2]]
    game = bag_game(people, [1] * len(people), shape, SCALES, 0.5)
    profile = random_profile(game, 3)
    bound, fine = exp_lower_bound(0.5), True
    for pairs in plainly(game, profile):
        forth, back = sum(max(p - bound * q, 0) for p, q in pairs), sum(max(q - bound * p, 0) for p, q in pairs)
        fine &= max(forth, back) <= Fraction(delta)
    assert certified(game, profile, 0.5, delta).holds == fine
    worst = max(renyi(pairs, 2.0) for pairs in plainly(game, profile))
    assert certified(game, profile, 0.5, 0.0, 2.0).holds == (worst <= 0.5)
    assert math.isinf(worst) or certified(game, profile, worst * 1.001, 0.0, 2.0).holds


def renyi(pairs, order):
    forth = sum(float(p) ** order * float(q) ** (1 - order) for p, q in pairs if q > 0)
    back = sum(float(q) ** order * float(p) ** (1 - order) for p, q in pairs if q > 0)
    return math.inf if any(q == 0 for _, q in pairs) else math.log(max(forth, back)) / (order - 1)


def test_certificates_refuse_what_does_not_belong_together():
    weights = (np.array([[3, 2], [1, 4]]),)
    assert "rows, for each entry" in str(certify([2, 2], weights, [5], 1.0, times=[2]).failure)
    assert "rows, for each entry" in str(certify([2, 2], weights, [5], 1.0, times=[2, 0]).failure)
    assert "do not sum" in str(certify([2, 2], weights, [10], 1.0, times=[2, 1]).failure)
    assert certify([2, 2], weights, [5], 3.0, times=[2, 1]).holds


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_a_mechanisms_certificate_is_that_of_its_entries(kind, data, seed):
    game = data.draw(games([kind], scales=st.just(SCALES)))
    profile = random_profile(game, seed)
    made = PerInstance.unchecked(Solution(game, profile, "best-response", False, 0, 0.0, 0.0), settings={"unit": "who"})
    assert made.certificate() == certified(game, profile, game.epsilon)


@settings(max_examples=25)
@given(games([ROWS, COLUMNS, BOTH], scales=st.just(SCALES), people=3))
def test_many_draws_compose_the_loss_of_all_of_a_persons_rows(game):
    """Two of the same person's rows cost what one row of double weight would: checked on the logarithms themselves."""
    profile = game.largest_scale_profile()
    made = Solution(game, profile, "best-response", False, 0, 0.0, 0.0)
    for accountant in (accountant_of(made), PerInstance.unchecked(made).accountant):
        assert isinstance(accountant, Accountant)
        p, q = accountant.with_and_without
        np.testing.assert_allclose(np.exp(p).sum(), 1)
        np.testing.assert_allclose(np.exp(q).sum(axis=1), 1)
        np.testing.assert_allclose(np.abs(p - q).max(axis=1), game.losses(profile), rtol=1e-9, atol=1e-14)
        assert accountant.worst(5, 1e-6) <= 5 * game.losses(profile).max() * (1 + 1e-6) + 1e-9
