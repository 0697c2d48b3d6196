import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st
from test_game import random_profile

from equinoise.certificate import certify, exp_lower_bound
from equinoise.privacy import Condition, losses
from equinoise.solvers.best_response import rounds

counts = st.lists(st.integers(0, 4), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)


def loss_by_removal(rows, people):
    """The definition, in fractions: the output distribution with everyone, and again without one person."""
    worst = 0.0
    everyone = [sum(column) for column in zip(*rows, strict=True)]
    others = [s - w for s, w in zip(everyone, rows[people], strict=True)]
    n = len(rows)
    for s, o in zip(everyone, others, strict=True):
        if s == 0:
            continue
        if o == 0:
            return math.inf
        ratio = Fraction(s, n) / Fraction(o, n - 1)
        worst = max(worst, abs(math.log(ratio)))
    return worst


@given(counts=counts, data=st.data())
def test_loss_is_the_definition_with_the_person_actually_removed(counts, data):
    game = small_game(counts, [0.05, 0.3, 5.0], 1.0, total=2**12)
    profile = np.array([data.draw(st.permutations([n, 0, 0])) for n in counts])
    cells, scales = game.groups(profile)
    everyone = [
        game.kernel.weights[v, k].tolist() for k, v in zip(cells, scales, strict=True) for _ in range(profile[k, v])
    ]
    first = np.concatenate([[0], np.cumsum(profile[cells, scales])[:-1]])
    expected = [loss_by_removal(everyone, i) for i in first]
    np.testing.assert_allclose(game.losses(profile), expected, rtol=1e-9, atol=1e-12)


@given(st.integers(2, 60), st.integers(0, 2))
def test_the_games_condition_is_never_looser_than_the_exact_one(people, off):
    """Around epsilon = ln(N / (N - 1)) the lower share is the difference of nearly equal numbers."""
    epsilon = math.log(people / (people - 1))
    for _ in range(off):
        epsilon = math.nextafter(epsilon, 0)
    bound = exp_lower_bound(epsilon)
    condition = Condition(epsilon, people)
    assert Fraction(condition.lower) >= 1 - bound * Fraction(people - 1, people)
    assert Fraction(condition.upper) <= 1 - Fraction(people - 1, people) / bound


def test_only_the_person_there_means_infinite_loss_and_nobody_means_none():
    rows = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 4.0, 0.0]])
    found = losses(rows, rows.sum(axis=0), 3)
    assert math.isinf(found[0])
    assert math.isclose(found[1], math.log(3 / 2), rel_tol=1e-12)  # less likely with them where they never come out


conditions = st.sampled_from([{"delta": 0.02}, {"delta": 0.3}, {"order": 2.0}, {"order": 1.5}, {"order": 30.0}])


@given(counts=counts, asked=conditions, epsilon=st.sampled_from([0.05, 0.4, 1.5]), seed=st.integers(0, 99))
def test_other_conditions_play_to_an_equilibrium_that_the_certificate_agrees_with(counts, asked, epsilon, seed):
    game = replace(small_game(counts, [0.02, 0.3, 3.0], epsilon), **asked)
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    assert game.payoff(last.profile).value >= game.payoff(start).value - 1e-9
    assert game.is_equilibrium(last.profile)
    for profile in (start, last.profile):
        cells, scales = game.groups(profile)
        weights = game.kernel.weights[scales, cells]
        held = certify(profile[cells, scales], (weights,), (game.kernel.total,), epsilon, game.delta, game.order).holds
        if game.payoff(profile).protected == game.people:
            assert held
        elif held:  # only the margin between the two can tell them apart
            found = game.condition.divergences(game.rows[scales, cells], game.sums(profile)).max()
            assert found >= game.condition.limit


@given(counts=counts, seed=st.integers(0, 99))
def test_divergences_against_the_definitions(counts, seed):
    game = small_game(counts, [0.02, 0.3, 3.0], 0.4)
    profile = random_profile(game, seed)
    cells, scales = game.groups(profile)
    rows, sums = game.rows[scales, cells], game.sums(profile)
    for row, index in zip(rows, range(len(rows)), strict=True):
        p, q = sums / sums.sum(), (sums - row) / (sums - row).sum()
        forth, back = (np.maximum(a - math.exp(0.4) * b, 0).sum() for a, b in ((p, q), (q, p)))
        found = Condition(0.4, game.people, delta=0.1).divergences(rows, sums)[index]
        assert found == max(forth, back) or math.isclose(found, max(forth, back), rel_tol=1e-9, abs_tol=1e-14)
        if (q > 0).all():
            renyi = [math.log(np.sum(a**3 * b**-2.0)) / 2 for a, b in ((p, q), (q, p))]
            found = Condition(0.4, game.people, order=3.0).divergences(rows, sums)[index]
            assert math.isclose(found, max(renyi), rel_tol=1e-6, abs_tol=1e-12)
