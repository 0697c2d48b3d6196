"""People with several rows: bags, the game on them, its certificate and its draws, each by a second route."""

import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import seeded_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.accounting import Accountant
from equinoise.certificate import certify, exp_lower_bound
from equinoise.draws import draw_units
from equinoise.errors import BadInput
from equinoise.game import Game
from equinoise.grid import Axis, Grid, Histogram
from equinoise.noise import make_kernel
from equinoise.privacy import MARGIN, Condition, losses
from equinoise.solvers import Solution
from equinoise.solvers.best_response import best_response, rounds
from equinoise.solvers.unit_starts import mend, unit_starts
from equinoise.unit_fixed_noise import UnitFixedNoise, cut_up
from equinoise.unit_game import UnitGame
from equinoise.units import UnitHistogram, gather, middle_rows

AXIS = Axis.padded("x", 0, 1, bins=6, percentile=0.5)
GRID = Grid((AXIS,))
SCALES = (0.02, 0.3, 3.0)

people_st = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=2, max_size=7)


def histogram_of(people):
    lines = [(who, cell, rows.count(cell)) for who, rows in enumerate(people) for cell in set(rows)]
    units, cells, times = np.array(lines[::-1], dtype=np.int64).T
    return gather(GRID, units, cells, times)


def game_of(people, epsilon=1.0):
    return UnitGame(histogram_of(people), make_kernel("laplace", SCALES, AXIS.bins), epsilon)


def profile_of(game, random):
    return random.multinomial(game.histogram.counts, np.full(len(SCALES), 1 / len(SCALES)))


@given(people_st)
def test_bags_count_people_and_rows(people):
    found = histogram_of(people)
    bags = [tuple(sorted((c, rows.count(c)) for c in set(rows))) for rows in people]
    assert found.bags == tuple(sorted(set(bags)))
    assert found.counts.tolist() == [bags.count(bag) for bag in found.bags]
    everything = [cell for rows in people for cell in rows]
    assert found.by_row.counts.tolist() == np.bincount(everything, minlength=6).tolist()
    assert (found.people, found.total_rows) == (len(people), len(everything))
    assert found.single == all(len(rows) == 1 for rows in people)


@given(people_st)
def test_the_middle_row_is_the_lower_median(people):
    lines = [(who, cell, rows.count(cell)) for who, rows in enumerate(people) for cell in set(rows)]
    units, cells, times = np.array(lines, dtype=np.int64).T
    expected = [sorted(rows)[(len(rows) - 1) // 2] for rows in people]
    assert middle_rows(units, cells, times).tolist() == expected


def test_nobody_has_no_bags():
    none = np.empty(0, dtype=np.int64)
    assert gather(GRID, none, none, none).bags == ()
    assert middle_rows(none, none, none).tolist() == []


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12), st.floats(0.1, 3), st.integers(0, 99))
def test_with_one_row_each_it_is_the_ordinary_game(cells, epsilon, seed):
    game = game_of([[cell] for cell in cells], epsilon)
    plain = Game(Histogram(GRID, np.bincount(cells, minlength=6)), game.kernel, epsilon)
    profile = profile_of(game, np.random.default_rng(seed))
    same = np.zeros((6, len(SCALES)), dtype=np.int64)
    same[[bag[0][0] for bag in game.histogram.bags]] = profile
    np.testing.assert_array_equal(game.sums(profile), plain.sums(same))
    np.testing.assert_allclose(game.losses(profile), plain.losses(same))
    assert game.payoff(profile).protected == plain.payoff(same).protected
    assert game.payoff(profile).utility == pytest.approx(plain.payoff(same).utility, abs=1e-12)
    assert game.is_equilibrium(profile) == plain.is_equilibrium(same)


def plainly(game, profile):
    """Everyone's loss by removing their rows from a list of everyone's, one person at a time."""
    numbers, scales = game.groups(profile)
    found = []
    everyone = [
        (cell, scale)
        for number, scale in zip(numbers.tolist(), scales.tolist(), strict=True)
        for _ in range(int(profile[number, scale]))
        for cell, times in game.histogram.bags[number]
        for _ in range(times)
    ]
    weights = game.kernel.weights
    full = [Fraction(int(sum(weights[s, c, x] for c, s in everyone)), len(everyone)) for x in range(6)]
    for number, scale in zip(numbers.tolist(), scales.tolist(), strict=True):
        left = list(everyone)
        for cell, times in game.histogram.bags[number]:
            for _ in range(times):
                left.remove((cell, scale))
        rest = [Fraction(int(sum(weights[s, c, x] for c, s in left)), max(len(left), 1)) for x in range(6)]
        pairs = [(p, q) for p, q in zip(full, rest, strict=True) if p > 0]
        worst = [math.inf if q == 0 else abs(math.log(p) - math.log(q)) for p, q in pairs]
        found.append((max(worst), [(p, q) for p, q in pairs]))
    return found


def certified(game, profile, *promise):
    """The certificate, given the kernel rows of every bag's cells."""
    numbers, scales = game.groups(profile)
    entries = [
        (owner, scale, cell, times)
        for owner, (number, scale) in enumerate(zip(numbers.tolist(), scales.tolist(), strict=True))
        for cell, times in game.histogram.bags[number]
    ]
    owners, chosen, cells, times = np.array(entries).T
    rows, people = game.kernel.weights[chosen, cells], profile[numbers, scales]
    return certify(people, (rows,), (game.kernel.total,), *promise, owners=owners, times=times)


@given(people_st, st.floats(0.2, 3), st.integers(0, 99))
@settings(deadline=None)
def test_losses_and_certificate_remove_all_of_a_persons_rows(people, epsilon, seed):
    game = game_of(people, epsilon)
    profile = profile_of(game, np.random.default_rng(seed))
    plain = plainly(game, profile)
    np.testing.assert_allclose(game.losses(profile), [loss for loss, _ in plain], rtol=1e-6)
    bound = exp_lower_bound(epsilon)
    fine = all(p <= bound * q and q <= bound * p for _, pairs in plain for p, q in pairs)
    certificate = certified(game, profile, epsilon)
    assert certificate.holds == fine
    if game.payoff(profile).protected == game.people:
        assert fine
    near = min(abs(loss - epsilon) for loss, _ in plain) < 1e-6
    assert near or (game.payoff(profile).protected == game.people) == fine


@pytest.mark.parametrize("delta", [0.02, 0.2])
def test_the_approximate_certificate_removes_them_too(delta):
    people = [[0, 0, 1], [1], [1, 2], [2], [5], [3, 3], [2]]
    game = game_of(people, 0.5)
    profile = profile_of(game, np.random.default_rng(3))
    bound, fine = exp_lower_bound(0.5), True
    for _, pairs in plainly(game, profile):
        total = Fraction(int(game.kernel.total))
        forth = sum(max(p - bound * q, 0) for p, q in pairs) / total
        back = sum(max(q - bound * p, 0) for p, q in pairs) / total
        fine &= max(forth, back) <= Fraction(delta)
    assert certified(game, profile, 0.5, delta).holds == fine
    assert certified(game, profile, 0.5, 0.0, 2.0).holds == (
        max(renyi(pairs, 2.0, int(game.kernel.total)) for _, pairs in plainly(game, profile)) <= 0.5
    )


def renyi(pairs, order, total):
    forth = sum(float(p) ** order * float(q) ** (1 - order) for p, q in pairs if q > 0) / total
    back = sum(float(q) ** order * float(p) ** (1 - order) for p, q in pairs if q > 0) / total
    return math.inf if any(q == 0 for _, q in pairs) else math.log(max(forth, back)) / (order - 1)


def test_certificates_refuse_what_does_not_belong_together():
    weights = (np.array([[3, 2], [1, 4]]),)
    assert "rows, for each entry" in str(certify([2, 2], weights, [5], 1.0, times=[2]).failure)
    assert "rows, for each entry" in str(certify([2, 2], weights, [5], 1.0, times=[2, 0]).failure)
    assert "do not sum" in str(certify([2, 2], weights, [10], 1.0, times=[2, 1]).failure)
    assert certify([2, 2], weights, [5], 3.0, times=[2, 1]).holds


@given(st.lists(st.integers(-3, 2**40), min_size=1, max_size=6), st.integers(1, 2**22), st.integers(1, 2**40))
def test_added_up_rows_are_cut_up_without_loss(weights, size, total):
    """Whatever they are, a tampered file's too: what is certified is what is drawn from."""
    rows, times = cut_up(np.array(weights), size, total)
    assert (times > 0).all()
    assert sum(times.tolist()) == size
    assert [sum(t * w for t, w in zip(times.tolist(), column, strict=True)) for column in rows.T.tolist()] == weights


@given(st.lists(st.integers(0, 2**62), max_size=9), st.integers(1, 2**30), st.sampled_from([10, 17, 2**32]))
def test_added_up_rows_are_cut_up_into_rows_of_one_sum(cuts, size, total):
    weights = np.diff(sorted([0, *(cut % (size * total + 1) for cut in cuts), size * total]))
    rows, times = cut_up(weights, size, total)
    assert (rows >= 0).all()
    assert (rows.sum(axis=1) == total).all()
    assert len(times) <= (2 if size * len(weights) <= total else size.bit_length() + 1)


@given(people_st, st.floats(0.2, 3), st.integers(0, 99))
def test_a_mechanisms_certificate_is_that_of_the_rows_it_was_added_up_from(people, epsilon, seed):
    game = game_of(people, epsilon)
    profile = profile_of(game, np.random.default_rng(seed))
    made = UnitFixedNoise.unchecked(
        Solution(game, profile, "best-response", False, 0, 0.0, 0.0), settings={"unit": "who"}
    )
    assert made.certificate() == certified(game, profile, epsilon)


@given(st.integers(2, 10**6), st.floats(0.01, 5), st.integers(1, 50))
def test_the_limits_of_a_share_are_where_the_loss_is_epsilon(total, epsilon, rows):
    total += rows
    condition = Condition(epsilon, total, rows=rows)
    shares = [condition.upper] + [condition.lower] * (condition.lower > 0)
    for share in shares:
        at = losses(np.array([[share, 0.0]]), np.array([1.0, 0.0]), total, np.array([rows]))[0]
        assert at <= epsilon
        assert at == pytest.approx(epsilon, abs=1e-4 * epsilon + 1e3 * MARGIN)


@given(people_st, st.floats(0.3, 3), st.integers(0, 20))
@settings(deadline=None, max_examples=40)
def test_the_compiled_rounds_are_the_plain_best_responses(people, epsilon, seed):
    game = game_of(people, epsilon)
    random = np.random.default_rng(seed)
    profile, order = profile_of(game, random), random.permutation(game.occupied)
    (first, *_) = rounds(game, profile, order)
    plain = profile.copy()
    for bag in order.tolist():
        waiting = plain[bag].copy()
        for scale in range(len(SCALES)):
            while waiting[scale] > 0 and (best := game.best_response(plain, bag, scale)) != scale:
                plain[bag, scale] -= 1
                plain[bag, best] += 1
                waiting[scale] -= 1
    np.testing.assert_array_equal(first.profile, plain)


@given(people_st, st.floats(0.3, 3))
@settings(deadline=None, max_examples=30)
def test_solutions_are_equilibria_by_the_plain_check(people, epsilon):
    game = game_of(people, epsilon)
    found = best_response(game, restarts=3)
    groups = zip(*(part.tolist() for part in game.groups(found.profile)), strict=True)
    stay = all(game.best_response(found.profile, bag, scale) == scale for bag, scale in groups)
    assert found.equilibrium
    assert stay


def test_the_equilibrium_check_can_fail():
    game = game_of([[0, 1]] * 30 + [[2]] * 30, 2.0)
    assert not game.is_equilibrium(game.largest_scale_profile())
    assert best_response(game).equilibrium


def test_mended_starts_protect_everyone():
    random = np.random.default_rng(5)
    people = [random.integers(0, 6, random.integers(1, 5)).tolist() for _ in range(60)]
    game = game_of(people, 0.8)
    begun = list(unit_starts(game, 5, 0))
    assert len(begun) == 5
    assert all(game.payoff(profile).protected == game.people for profile, _ in begun)
    apart = UnitGame(game_of([[0] * 9, [5], [5]]).histogram, make_kernel("laplace", (0.02, 0.03), 6), 0.1)
    assert not mend(
        apart, np.array([[0, 1], [1, 1]])
    )  # those who are alone at the largest scale, too, cannot be helped


def test_rows_come_out_as_often_as_their_weights():
    people, sizes = np.array([3, 1]), np.array([1, 4])
    weights = np.array([[4, 4, 0], [0, 8, 24]])
    drawn = np.concatenate(list(draw_units(people, sizes, weights, 8, 200_000, seeded_bytes(1))))
    expected = people @ weights / (7 * 8)
    found = np.bincount(drawn, minlength=3) / len(drawn)
    assert np.abs(found - expected).max() < 7 * 0.5 / math.sqrt(len(drawn))


def test_many_draws_compose_the_loss_of_all_of_a_persons_rows():
    """Two of the same person's rows cost what one row of double weight would: checked on the logarithms themselves."""
    game = game_of([[0, 1], [0, 1], [2], [3], [3, 3, 4]], 2.0)
    profile = game.largest_scale_profile()
    numbers, scales = game.groups(profile)
    accountant = Accountant(profile[numbers, scales], game.weights(profile), game.histogram.sizes[numbers])
    p, q = accountant.with_and_without
    np.testing.assert_allclose(np.exp(p).sum(), 1)
    np.testing.assert_allclose(np.exp(q).sum(axis=1), 1)
    np.testing.assert_allclose(np.abs(p - q).max(axis=1), game.losses(profile), rtol=1e-9)
    assert accountant.worst(5, 1e-6) <= 5 * game.losses(profile).max() * (1 + 1e-6)


def test_too_many_bags_and_lonely_people_are_refused():
    big = Axis.padded("x", 0, 1, bins=2001)
    bags = tuple(((cell, 1), (cell + 1, 1)) for cell in range(1900)) * 3
    with pytest.raises(BadInput, match="too many to play"):
        UnitGame(
            UnitHistogram(Grid((big,)), bags, np.ones(5700, dtype=np.int64)),
            make_kernel("laplace", [0.1] * 8, 2001),
            1.0,
        )
    with pytest.raises(BadInput, match="There is 1"):
        game_of([[0, 1, 2]])
