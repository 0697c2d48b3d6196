"""The parts of composing many draws, one by one: what is kept back, added and rounded, so that none is lost unseen."""

import math

import numpy as np
import pytest

from equinoise.privacy.composition import (
    BEYOND,
    ERROR,
    ROUND_OFF,
    _Draw,
    _most,
    _Sums,
    _tilted_sums,
    _Way,
    composed,
)

HALVES, QUARTERS = np.log([0.5, 0.5]), np.log([0.25, 0.75])


@pytest.mark.parametrize("draws", [1, 30])
def test_a_thousandth_of_delta_is_kept_back_and_what_one_side_alone_gives_is_taken_off(draws):
    way = _Way.of(HALVES, QUARTERS, draws, 0.1, 1e-3)
    assert way.left == pytest.approx(0.0999, rel=1e-12)
    alone = _Way.of(np.log([1e-4, 1 - 1e-4]), np.array([-math.inf, 0.0]), draws, 0.1, 1e-3)
    assert alone.left == pytest.approx(0.0999 - (1 - (1 - 1e-4) ** draws), rel=1e-9)
    assert alone.left <= 0.0999 + math.expm1(draws * math.log1p(-1e-4))


def test_losses_have_a_reserve_and_are_rounded_up():
    """Also one that is a whole number of steps: floating point may have it a little too low."""
    ratio = float(HALVES[0] - QUARTERS[0])
    for steps in (1, 4, 1024):
        way = _Way.of(HALVES, QUARTERS, 3, 0.1, ratio / steps)
        assert way.one.places[0] == steps + 1
        least = (HALVES - QUARTERS + 0.99 * ERROR) / (ratio / steps)
        assert (way.one.places >= least).all()
        assert (way.one.places <= least + 1 + 1e-6).all()


def test_both_ways_count_also_where_the_one_of_the_lower_bound_costs_more():
    rng, crossed = np.random.default_rng(2), 0
    for _ in range(60):
        p, q = (np.log(rng.dirichlet(np.full(2, 2.0))) for _ in range(2))
        ways = [_Way.of(one, other, 2, 0.3, 1e-3) for one, other in ((p, q), (q, p))]
        each = [way.epsilon() for way in ways]
        assert composed(p, q, 2, 0.3, 1e-3) == composed(q, p, 2, 0.3, 1e-3) == max(each)
        crossed += (ways[0].bound > ways[1].bound) != (each[0] > each[1])
    assert crossed > 0


@pytest.mark.parametrize("tilt", [0.01, 0.5, 3.0, 200.0])
def test_what_stands_beside_a_share_is_at_most_what_is_said(tilt):
    z = np.geomspace(1e-6, 50, 20_000) / max(tilt, 1)
    largest = float((np.exp(-tilt * z) * -np.expm1(-z)).max())
    assert largest <= _most(tilt) * (1 + 1e-12)
    assert largest == pytest.approx(_most(tilt), rel=1e-3)


@pytest.mark.parametrize("off", [0.0, 1e-9])
def test_whatever_shares_may_be_off_by_is_added_to_delta(off):
    sums = _Sums(np.arange(8) * 0.5, np.zeros(8), off, 2.0, 0.3)
    assert sums.log_delta(1.0) == pytest.approx(0.3 - 2.0 + math.log(8 * ROUND_OFF + off * _most(2.0)), rel=1e-12)
    known = _Sums(np.arange(8) * 0.5, np.eye(8)[4], off, 2.0, 0.3)  # a loss of 2, all of it
    least = math.exp(-2.0) * -math.expm1(-1.0)
    assert math.exp(known.log_delta(1.0) - 0.3 + 2.0) == pytest.approx(
        least + 8 * ROUND_OFF + off * _most(2.0), rel=1e-12
    )


@pytest.mark.parametrize(("draws", "tilt"), [(1, 1.0), (17, 0.3), (200, 4.0)])
def test_the_error_that_is_added_is_the_one_of_the_proof(draws, tilt):
    """2 (D + 1)(h + 3 u) times the norm of (|z| + h)^(D - 1), of the whole transform, and what is beyond the window."""
    one = _Draw(np.log([0.3, 0.6, 0.1]), np.array([5, -3, 2]), 0.02)
    found = _tilted_sums(one, draws, tilt)
    size = len(found.shares)
    h = 16 * math.log2(size) * ROUND_OFF
    z = np.fft.fft(np.bincount(one.places % size, weights=one.tilted(tilt), minlength=size))
    norm = math.sqrt(((np.abs(z) + h) ** (2 * draws - 2)).sum())
    proof = 2 * (draws + 1) * (h + 3 * ROUND_OFF) * norm + BEYOND
    assert proof * (1 - 1e-9) <= found.off <= 1.5 * proof
    assert found.off > BEYOND


@pytest.mark.parametrize("tilt", [0.5, 5.0, 40.0])
def test_next_to_nothing_lies_above_the_window(tilt):
    one, draws = _Draw(np.log([0.2, 0.8]), np.array([7, -2]), 0.01), 400
    low, high = one.window(draws, tilt)
    shares = one.tilted(tilt)
    hits = np.arange(draws + 1)
    logs = [math.lgamma(draws + 1) - math.lgamma(k + 1) - math.lgamma(draws - k + 1) for k in hits.tolist()]
    likely = np.exp(np.array(logs) + hits * math.log(shares[0]) + (draws - hits) * math.log(shares[1]))
    places = 7 * hits - 2 * (draws - hits)
    assert likely[places > high].sum() <= BEYOND
    assert likely[places < low].sum() <= BEYOND
    assert (high - low) < 0.7 * 9 * draws


@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_the_epsilon_that_is_told_is_within_delta_and_hardly_less_is(delta):
    way = _Way.of(HALVES, QUARTERS, 20, delta, 1e-2)
    sums = _tilted_sums(way.one, 20, way.tilt)
    found = sums.epsilon(way.left, way.bound)
    assert sums.log_delta(found) <= math.log(way.left)
    assert sums.log_delta(found - sums.step / 8) > math.log(way.left)
    assert found == way.epsilon()
