import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.joint import joint_game as players_game
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.certificate import certify, exp_lower_bound
from equinoise.solvers.best_response import best_response
from tests.helpers.games import joint_game


def plainly(people, weights, bound):
    """The condition for every group and cell, in fractions, straight from its definition."""
    n, total = sum(people), math.prod(sum(axis[0]) for axis in weights)
    for cell in product(*(range(len(axis[0])) for axis in weights)):
        rows = [math.prod(axis[g][x] for axis, x in zip(weights, cell, strict=True)) for g in range(len(people))]
        everyone = sum(count * row for count, row in zip(people, rows, strict=True))
        for row in rows:
            p, q = Fraction(everyone, n * total), Fraction(everyone - row, (n - 1) * total)
            if p > bound * q or q > bound * p:
                return False
    return True


def totals_of(weights):
    return [sum(axis[0]) for axis in weights]


@st.composite
def mechanisms(draw):
    groups = draw(st.integers(1, 4))
    people = draw(st.lists(st.integers(1, draw(st.sampled_from([3, 10**12]))), min_size=groups, max_size=groups))
    weights = []
    for _ in range(draw(st.integers(1, 4))):
        bins, total = draw(st.integers(1, 3)), draw(st.sampled_from([7, 1000, 2**15 - 1]))
        cuts = st.lists(st.integers(0, total), min_size=bins - 1, max_size=bins - 1).map(sorted)
        rows = [np.diff([0, *draw(cuts), total]).tolist() for _ in range(groups)]
        weights.append(rows)
    return people, weights


@given(mechanisms(), st.sampled_from([0.1, math.log(2), 1.0, 5.0, 64.0]))
def test_certificate_agrees_with_fractions_from_the_definition(mechanism, epsilon):
    people, weights = mechanism
    found = certify(people, [np.array(axis) for axis in weights], totals_of(weights), epsilon)
    expected = sum(people) >= 2 and plainly(people, weights, exp_lower_bound(epsilon))
    assert found.holds == expected
    assert found.cells == math.prod(len(axis[0]) for axis in weights)


@given(mechanisms(), st.sampled_from([0.1, 1.0, 5.0]))
def test_it_agrees_with_the_certificate_of_one_axis_on_the_rows_laid_out(mechanism, epsilon):
    people, weights = mechanism
    total = math.prod(totals_of(weights))
    rows = []
    for group in range(len(people)):
        row = np.ones(1, dtype=np.int64)
        for axis in weights:
            row = np.kron(row, np.array(axis[group]))
        rows.append(row)
    alone = certify(people, [np.array(rows)], [total], epsilon)
    jointly = certify(people, [np.array(axis) for axis in weights], totals_of(weights), epsilon)
    assert (jointly.holds, jointly.cells) == (alone.holds, alone.cells)
    if sum(people) >= 2:
        assert jointly.failure == alone.failure


@pytest.fixture(scope="module")
def people_weights_totals():
    """People, weights and totals of an equilibrium of two columns, as the certificate takes them."""
    game = players_game(("height", "weight"), 31, 1.0)
    solution = best_response(game, restarts=2)
    made = PerInstance.unchecked(solution)
    return made.people, made.factors, made.totals


def test_a_solution_is_certified_and_its_least_epsilon_is_tight(people_weights_totals):
    people, weights, totals = people_weights_totals
    certificate = certify(people, weights, totals, 1.0)
    assert certificate.holds
    assert certificate.failure is None
    assert (certificate.people, certificate.groups, certificate.cells) == (1844, len(people), 31 * 31)
    game = players_game(("height", "weight"), 31, 1.0)
    worst = float(game.losses(best_response(game, restarts=2).profile).max())
    assert certify(people, weights, totals, worst * (1 + 1e-9)).holds
    assert not certify(people, weights, totals, worst * (1 - 1e-9)).holds


def test_tampering_is_found(people_weights_totals):
    people, weights, totals = people_weights_totals

    def changed(axis, edit):
        copies = [axis_weights.copy() for axis_weights in weights]
        edit(copies[axis])
        return certify(people, copies, totals, 1.0)

    def unbalance(rows):
        rows[0, 0] += 1

    def negate(rows):
        rows[0, 0], rows[0, 1] = -1, rows[0, 1] + rows[0, 0] + 1

    def expose(rows):  # the first group now always comes out in the first bin
        rows[0] = 0
        rows[0, 0] = 2**26

    for axis in (0, 1):
        assert "do not sum" in changed(axis, unbalance).failure
        assert "negative" in changed(axis, negate).failure
    both = [w.copy() for w in weights]
    for rows in both:
        expose(rows)
    assert "with someone" in certify(people, both, totals, 1.0).failure
    assert "do not sum" in certify(people, weights, [totals[0], totals[1] * 2], 1.0).failure
    assert not certify(people[:-1], weights, totals, 1.0).holds
    assert not certify(np.append(people[:-1], 0), weights, totals, 1.0).holds
    assert not certify(people, [w.astype(float) for w in weights], totals, 1.0).holds
    assert not certify(people, [], [], 1.0).holds
    for epsilon in (0.0, -1.0, math.inf, math.nan):
        assert "epsilon" in certify(people, weights, totals, epsilon).failure


def test_without_someone_a_cell_may_be_too_likely():
    people, weights = [1, 1], [np.array([[3, 1], [1, 3]]), np.array([[1], [1]])]
    assert "with" in certify(people, weights, [4, 1], 0.1).failure
    tiny = joint_game([[2, 0], [0, 0]], [1.0], 0.01)
    factors = tiny.kernel.rows_of(np.array([0]), np.array([[0, 0]]))
    assert certify([2], factors, tiny.kernel.totals, 1e-9).holds


@pytest.mark.parametrize(
    ("people", "rows", "epsilon", "said"),
    [
        ([3, 2, 4], [[5, 7], [2, 10], [4, 8]], 0.05, "without someone"),
        ([2, 1, 4], [[8, 2, 2], [7, 1, 4], [3, 2, 7]], 0.1, "with someone"),
    ],
)
def test_each_direction_alone_is_refused(people, rows, epsilon, said):
    """Only the one that is said is above epsilon: see the same rows in the tests of one column."""
    axes = [np.array(rows), np.array([[1, 1]] * len(rows))]
    assert certify(people, axes, [12, 2], epsilon).failure.startswith(said)
