"""The attack's statistics: true where they must be, powerful where they can be, and alarmed by broken samplers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import equinoise
from benchmarks import membership
from benchmarks.attack import Column, Row, envelope_pairs, laplace_pair, others_fixed_pairs, page, status
from benchmarks.attack_tables import FIFTH, paid_rows, planted, tasks
from benchmarks.heights import BOUNDS
from benchmarks.membership import Pair, Side, at_least, at_most, attack, attack_many, best_regions, lower_bound
from equinoise import Grid, Histogram, PerInstance
from equinoise.analysis.methods import Methods
from equinoise.data.players import Players
from equinoise.mechanisms.draws import draw_rows, uniform
from equinoise.solvers.best_response import best_response
from equinoise.statistics.baselines import bounded_laplace_kernel, local_epsilon
from tests.conftest import seeded_bytes
from tests.helpers.games import small_game


def at_least_so_many(k, n, p):
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


@pytest.mark.parametrize(("seen", "size"), [(0, 5), (1, 5), (3, 5), (5, 5), (7, 60), (59, 60)])
@pytest.mark.parametrize("error", [0.001, 0.000125, 0.05])
def test_clopper_pearson_is_where_the_binomial_tail_is_the_error(seen, size, error):
    low, high = float(at_least(seen, size, error)), float(at_most(seen, size, error))
    if seen == 0:
        assert low == 0
    else:
        assert at_least_so_many(seen, size, low) == pytest.approx(error, rel=1e-9)
    if seen == size:
        assert high == 1
    else:
        assert 1 - at_least_so_many(seen + 1, size, high) == pytest.approx(error, rel=1e-9)
    assert low <= seen / size <= high


def test_clopper_pearson_of_millions():
    low, high = float(at_least(300, 10**7, 1e-4)), float(at_most(300, 10**7, 1e-4))
    assert stats.binom.sf(299, 10**7, low) == pytest.approx(1e-4, rel=1e-6)
    assert stats.binom.cdf(300, 10**7, high) == pytest.approx(1e-4, rel=1e-6)


def pair(p, q):
    return Pair("someone", (Side.of_weights(p), Side.of_weights(q)))


def randomized_response(odds):
    """Two answers, the true one ``odds`` times as likely: epsilon is ln(odds)."""
    return pair([odds, 1], [1, odds])


@pytest.mark.parametrize("odds", [2, 3, 20])
def test_a_known_epsilon_is_nearly_proven_and_never_exceeded(odds):
    known = randomized_response(odds)
    assert known.loss == pytest.approx(math.log(odds), rel=1e-12)
    bound = attack(known, 400_000, seeded_bytes(odds))
    assert 0.97 * known.loss < bound <= known.loss


def test_whichever_side_gives_itself_away_is_found():
    """A cell that is rare on one side only; the other cells say next to nothing."""
    rare = pair([900, 99, 1], [900, 90, 10])
    assert rare.loss == pytest.approx(math.log(10), rel=1e-12)
    for known in (rare, Pair("someone", rare.sides[::-1])):
        bound = attack(known, 400_000, seeded_bytes(3))
        assert 0.8 * known.loss < bound <= known.loss


def test_the_loss_is_the_largest_log_ratio_and_infinite_where_one_side_never_comes():
    assert pair([1, 2, 5], [2, 2, 4]).loss == pytest.approx(math.log(2), rel=1e-12)
    assert pair([1, 2, 0], [1, 2, 0]).loss == 0
    assert pair([1, 2, 1], [1, 2, 0]).loss == math.inf


def test_bounds_that_hold_only_by_luck_are_rare():
    """At the smallest samples, and at a tight pair, 300 attacks: about 0.3 may fail."""
    known, source = randomized_response(3), seeded_bytes(1)
    bounds = [attack(known, 500, source) for _ in range(300)]
    assert sum(bound > known.loss for bound in bounds) <= 3
    assert np.median(bounds) > 0.5 * known.loss


def test_fresh_draws_are_needed():
    """Two sides alike, 1,000 cells: choosing and testing on the same draws would prove what is not there."""
    alike, source = pair([1] * 1000, [1] * 1000), seeded_bytes(2)
    assert attack(alike, 5000, source) == 0
    p, q = (side.counts(5000, source) for side in alike.sides)
    assert lower_bound(best_regions(p, q, 5000), p, q, 5000) > 0.3


def lonely_pair():
    """A certified mechanism (epsilon 1) with a person far from all others: with them, and without."""
    game = small_game([0, 30, 60, 40, 20, 0, 0, 0, 0, 1], [0.02, 0.2, 1.0, 5.0], 1.0)
    made = PerInstance.from_solution(best_response(game))
    group = int(np.flatnonzero(made.cells == 9)[0])
    others = made.people - (np.arange(len(made.people)) == group)
    sides = tuple(Side(people, made.factors[0], made.weight_total) for people in (made.people, others))
    found = Pair("lonely", sides)
    assert found.loss == pytest.approx(made.losses()[group], rel=1e-9)
    return found


def forgetful(people, weights, totals, size, source):
    """Half of the draws say the cell where the person's row is largest: the noise was forgotten."""
    for rows in draw_rows(people, weights, totals, size // 2, source):
        yield rows
        person = uniform(int(people.sum()), len(rows), source)
        yield weights[0].argmax(axis=1)[np.searchsorted(np.cumsum(people), person, side="right")][:, None]


def too_little_noise(people, weights, totals, size, source):
    """Weights cubed, which triples every log-ratio between them."""
    cubed = weights[0] ** 3
    return draw_rows(people, [cubed], [int(cubed[0].sum())], size, source)


def remainders(people, weights, totals, size, source):
    """A person by the remainder of eight random bits, so that the first ones come out more often; no noise."""
    person = np.frombuffer(source(size), dtype=np.uint8) % int(people.sum())
    yield weights[0].argmax(axis=1)[np.searchsorted(np.cumsum(people), person, side="right")][:, None]


def test_a_sound_sampler_passes_and_one_that_forgets_the_noise_is_caught(monkeypatch):
    known = lonely_pair()
    assert 0.3 * known.loss < attack(known, 400_000, seeded_bytes(5)) <= known.loss <= 1.0
    monkeypatch.setattr(membership, "draw_rows", forgetful)
    assert attack(known, 400_000, seeded_bytes(5)) > 1.0


def test_a_leak_that_the_distributions_do_not_show_is_caught(monkeypatch):
    """The sides are alike on paper; remainders of eight bits make them differ."""
    rows = np.array([[4, 0], [0, 4]])
    known = Pair("someone", (Side(np.array([60, 60]), rows, 4), Side(np.array([100, 100]), rows, 4)))
    assert known.loss == 0
    assert attack(known, 100_000, seeded_bytes(6)) == 0
    monkeypatch.setattr(membership, "draw_rows", remainders)
    assert attack(known, 100_000, seeded_bytes(6)) > 0.05


def composed(epsilon, many, delta):
    """Of so many randomized responses: the least epsilon at delta, from the binomial distribution."""
    true = math.exp(epsilon) / (1 + math.exp(epsilon))
    k = np.arange(many + 1)
    p, q = stats.binom.pmf(k, many, true), stats.binom.pmf(k, many, 1 - true)
    return optimize.brentq(lambda e: np.maximum(p - math.exp(e) * q, 0).sum() - delta, 0, many * epsilon)


def test_many_draws_prove_nearly_what_they_cost_at_a_delta():
    known, many, delta = pair([5, 4], [4, 5]), 10, 0.01
    cost = composed(known.loss, many, delta)
    assert known.loss < cost < many * known.loss
    bound = attack_many(known, many, 100_000, delta, seeded_bytes(7))
    assert 0.85 * cost < bound <= cost
    # Leaving delta out of it, the same draws prove more, which is right only for delta = 0.
    assert cost < attack_many(known, many, 100_000, 0.0, seeded_bytes(7)) <= many * known.loss


def test_many_draws_with_too_little_noise_are_caught(monkeypatch):
    known, many, delta = pair([5, 4], [4, 5]), 10, 1e-6
    cost = composed(known.loss, many, delta)
    assert attack_many(known, many, 50_000, delta, seeded_bytes(8)) <= cost
    monkeypatch.setattr(membership, "draw_rows", too_little_noise)
    assert attack_many(known, many, 50_000, delta, seeded_bytes(8)) > cost


def test_the_pairs_are_those_of_the_heights(heights):
    """The losses of the pairs, in whole numbers, are what the mechanism and the comparison find in floating point."""
    column = Column("heights", heights, BOUNDS)
    made = equinoise.optimize(heights, epsilon=1, bounds=BOUNDS, restarts=1, grid="paper")
    assert [p.loss for p in others_fixed_pairs(column, made)] == pytest.approx(made.losses().tolist(), rel=1e-9)
    plain = column.without_padding
    compared = Methods(Players.of(Histogram(Grid((plain.axis,)), plain.counts)), public_bounds=True).envelope(1.0)
    assert max(p.loss for p in envelope_pairs(plain, 1.0)) == pytest.approx(compared.worst_loss, rel=1e-9)
    rows = bounded_laplace_kernel(column.axis, 1.0)
    assert laplace_pair(column.axis, rows).loss == pytest.approx(local_epsilon(rows, column.axis), rel=1e-6)
    for cell in np.flatnonzero(made.histogram)[[0, 5, -1]]:
        fewer = replace(column, values=column.without(cell)).counts
        assert (made.histogram - fewer).tolist() == (np.arange(101) == cell).astype(int).tolist()


ROW = Row("per-instance", "heights", "163", 1.0, 1.0, 0.9, 0.8, "10")


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (ROW, 0),
        (replace(ROW, bound=0.95), 1),  # more than the distributions give away
        (replace(ROW, bound=1.05, loss=1.1), 1),  # more than is promised
        (replace(ROW, bound=1.05, loss=1.1, promised=None), 0),
        (replace(ROW, needs_power=True), 1),
        (replace(ROW, needs_power=True, bound=0.96, loss=1.0), 0),
    ],
)
def test_the_status_says_whether_all_bounds_hold(row, wrong):
    assert status([ROW, row]) == wrong
    assert ("**" in page([ROW, row])) == bool(wrong)


def test_the_page_says_where_epsilon_is_exceeded_end_to_end():
    beyond = replace(ROW, tier="end-to-end", promised=None, loss=2.5, bound=2.0)
    assert "exceeded: heights at 1, at least 2.00" in " ".join(page([ROW, beyond]).split())
    assert "not proven" in page([ROW, replace(beyond, bound=0.5)])


def test_what_synthesize_gives_away_is_attacked_and_too_much_of_it_is_caught():
    """A small share of the draws: no bound is above the loss of its pair, and where more epsilon was planted than the
    attack is sure of, the bound is above what is promised."""
    source = seeded_bytes(9)
    for task in tasks(0.01):
        if "pay-once" not in task.released or ("the counts" in task.released and "clipped" not in task.table.name):
            loss, bound = task.run(task.epsilon, source)
            assert bound <= loss <= task.epsilon * (1 + 1e-12), task
            assert loss > 0.85 * task.epsilon, task
    for task in planted(0.02):
        loss, bound = task.run(1.6 * task.epsilon, source)
        assert task.epsilon < bound <= loss, task


def test_rows_that_are_paid_for_once_tell_no_more_than_their_noisy_counts():
    loss, bound = paid_rows(FIFTH, 1.0, 400, 1500).run(1.0, seeded_bytes(4))
    assert 0.5 < bound <= loss <= 1


@pytest.mark.parametrize(("bound", "wrong"), [(1.04, 0), (0.99, 1), (1.2, 1)])
def test_a_planted_violation_must_be_caught(bound, wrong):
    row = replace(ROW, planted=True, promised=1.0, loss=1.1, bound=bound)
    assert status([ROW, row]) == wrong
    assert ("**" in page([ROW, row])) == bool(wrong)
