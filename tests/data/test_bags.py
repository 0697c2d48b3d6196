"""People with several rows: bags, their certificate and their draws, each by a second route."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.data.bags import bag_of_each, middle_rows
from equinoise.data.grid import Axis, Grid
from equinoise.mechanisms.draws import draw_rows
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.accounting import Accountant
from equinoise.privacy.certificate import certify, exp_lower_bound
from equinoise.solvers.budget import accountant_of
from equinoise.solvers.solution import Solution
from tests.conftest import seeded_bytes
from tests.helpers.drawn_games import BOTH, COLUMNS, KINDS, ROWS, games, random_profile
from tests.helpers.games import bag_game

AXIS = Axis.padded("x", 0, 1, bins=6, percentile=0.5)
GRID = Grid((AXIS,))
SCALES = [0.02, 0.3, 3.0]

people_st = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=2, max_size=7)
bag_games = games([ROWS, BOTH], scales=st.just(SCALES), people=3)


def lines_of(people):
    """Lines of (person, cell, rows), as counting gives them."""
    lines = [(who, cell, rows.count(cell)) for who, rows in enumerate(people) for cell in set(rows)]
    return np.array(lines[::-1], dtype=np.int64).T


@given(people_st)
def test_bags_count_people_and_rows(people):
    found, which = bag_of_each(*lines_of(people))
    bags = [tuple(sorted((c, rows.count(c)) for c in set(rows))) for rows in people]
    assert found == tuple(sorted(set(bags)))
    assert [found[number] for number in which.tolist()] == bags


@given(people_st)
def test_the_middle_row_is_the_lower_median(people):
    expected = [sorted(rows)[(len(rows) - 1) // 2] for rows in people]
    assert middle_rows(*lines_of(people)).tolist() == expected


def test_nobody_has_no_bags():
    none = np.empty(0, dtype=np.int64)
    assert bag_of_each(none, none, none)[0] == ()
    assert middle_rows(none, none, none).tolist() == []


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


def test_rows_come_out_as_often_as_their_weights():
    """Three people with one row and one with four: two in one cell, two in another."""
    people, times = np.array([3, 1, 1]), np.array([1, 2, 2])
    weights = np.array([[4, 4, 0], [0, 4, 4], [0, 0, 8]])
    (drawn,) = draw_rows(people * times, [weights], [8], 200_000, seeded_bytes(1))
    expected = (people * times) @ weights / (7 * 8)
    found = np.bincount(drawn[:, 0], minlength=3) / len(drawn)
    assert np.abs(found - expected).max() < 7 * 0.5 / math.sqrt(len(drawn))


@pytest.mark.parametrize("shape", [6, (3, 2)])
def test_a_mechanism_draws_from_the_games_output(shape):
    game = bag_game([[0, 1, 1], [2], [3, 3, 4, 5]], [30, 20, 40], shape, [0.1, 3.0], 60.0)
    profile = random_profile(game, 1)
    made = PerInstance.unchecked(Solution(game, profile, "best-response", False, 0, 0.0, 0.0))
    drawn = np.concatenate(list(made._draw(200_000, seeded_bytes(2))))
    cells = drawn if drawn.ndim == 1 else game.players.grid.cells_of(drawn)
    found = np.bincount(cells, minlength=6) / len(cells)
    assert np.abs(found - game.output(profile)).max() < 7 * 0.5 / math.sqrt(len(cells))
    np.testing.assert_allclose(made.output, game.output(profile), rtol=1e-12)


@settings(max_examples=25)
@given(games([ROWS, COLUMNS, BOTH], scales=st.just(SCALES), people=3))
def test_many_draws_compose_the_loss_of_all_of_a_persons_rows(game):
    """Two of the same person's rows cost what one row of double weight would: checked on the logarithms themselves."""
    profile = game.largest_scale_profile()
    made = Solution(game, profile, "best-response", False, 0, 0.0, 0.0)
    for accountant in (accountant_of(made.game, made.profile), PerInstance.unchecked(made).accountant):
        assert isinstance(accountant, Accountant)
        p, q = accountant.with_and_without
        np.testing.assert_allclose(np.exp(p).sum(), 1)
        np.testing.assert_allclose(np.exp(q).sum(axis=1), 1)
        np.testing.assert_allclose(np.abs(p - q).max(axis=1), game.losses(profile), rtol=1e-9, atol=1e-14)
        assert accountant.worst(5, 1e-6) <= 5 * game.losses(profile).max() * (1 + 1e-6) + 1e-9
