"""Limits of scores against laws that are known, and the width of intervals against the textbook, noise or not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from equinoise.analysis.answers import NoisyTable, correlation, count, mean, means, quantile, quantiles, share
from equinoise.analysis.answers.counts import _normal_quantile, noise_quantile
from equinoise.analysis.answers.number_column import number_column
from equinoise.analysis.answers.scores import Score, least_accepted, shorter
from equinoise.data.grid import Axis, CategoryAxis
from equinoise.synthesis.noisy_counts import NoiseLaw

SHARP = NoiseLaw(0.02, 1)
"""Noise that is 0."""


def score(**parts):
    usual = {"value": 0.0, "variance": 1.0, "third": 0.0, "covariance": 0.0, "fourth": 0.0, "unsure": 0.0, "size": 1.0}
    return Score(**(usual | parts))


@pytest.mark.parametrize("tail", [0.1, 0.025, 0.001])
def test_the_most_of_a_score_is_the_quantile_of_its_law(tail):
    gamma = stats.gamma(400)
    assert score(variance=400, third=800).most(tail) == pytest.approx(gamma.isf(tail) - 400, rel=0.01)
    assert score(variance=400, third=-800).most(tail) == pytest.approx(400 - gamma.ppf(tail), rel=0.01)
    law, cells = NoiseLaw(30.0, 1), 20
    found = score(variance=cells * law.variance, fourth=cells * law.variance * (1 + 3 * law.variance)).most(tail)
    assert found == pytest.approx(noise_quantile(law, cells, tail), rel=0.005)
    assert score(unsure=2 / 40).most(tail) == pytest.approx(stats.t(40).isf(tail), rel=0.01)


def test_a_score_that_shares_people_with_its_variance_is_skewed_the_other_way():
    drawn = np.random.default_rng(1).exponential(1, (100_000, 100))
    student = (drawn.mean(axis=1) - 1) / drawn.std(axis=1, ddof=1) * 10
    parts = {"fourth": 6 / 100, "unsure": 8 / 100}
    told = [float(score(third=g, covariance=g, **parts).most(0.025)) for g in (0.2, -0.2)]
    assert told == pytest.approx([np.quantile(student, 0.975), -np.quantile(student, 0.025)], abs=0.04)


def test_the_score_that_can_be_expected_to_reject_more_is_taken():
    wide, narrow = score(value=9.0, variance=9.0), score(value=7.0)
    for cost, taken in ((3.0, narrow), (5.0, wide)):
        assert shorter(wide, narrow, np.array(cost), 0.025) == taken.excess(0.025)


def test_the_least_number_that_is_not_rejected_is_found():
    found = least_accepted(lambda x: 3.21 - x, np.linspace(0, 10, 65))
    assert 3.21 <= found < 3.2105
    assert least_accepted(lambda x: x + 1, np.linspace(0, 10, 65)) is None


def width(answer):
    return answer.high - answer.low


def table_of(counts, axis, law=SHARP):
    return NoisyTable(np.asarray(counts), (axis,), law)


LEVELS = pytest.mark.parametrize(("level", "z"), [(0.95, 1.95996), (0.8, 1.28155)])
WARD, HOURS = CategoryAxis("ward", ("a", "b")), Axis("hours", 0.0, 80.0, 80)


@LEVELS
def test_shares_have_the_variance_of_people_and_noise(level, z):
    for scale, rows in ((0.02, 1), (30.0, 1), (30.0, 4)):
        law = NoiseLaw(scale, rows)
        found = share(table_of([1000, 1000], WARD, law), "ward", "a", level)
        error = math.sqrt(rows * 500 + law.variance / 2) / 2000
        assert width(found) == pytest.approx(2 * z * error, rel=0.05)
    few = share(table_of([4, 46], WARD), "ward", "a", level)
    for side, limit in ((1, few.low), (-1, few.high)):
        law = stats.binom(50, limit)
        as_far = (law.sf(4) if side == 1 else law.cdf(3)) + law.pmf(4) / 2
        assert as_far == pytest.approx((1 - level) / 2, rel=0.25)


@LEVELS
@pytest.mark.parametrize("q", [0.5, 0.25])
def test_quantiles_and_means_have_the_variance_of_people_and_noise(level, z, q):
    counts, at = np.full(80, 125), HOURS.midpoints() - 40
    for scale, rows in ((0.02, 1), (10.0, 1), (10.0, 4)):
        law = NoiseLaw(scale, rows)
        table = table_of(counts, HOURS, law)
        error = math.sqrt(rows * 1e4 * q * (1 - q) + law.variance * 80 * q * (1 - q)) / 125
        assert width(quantile(table, "hours", q, level)) == pytest.approx(2 * z * error, rel=0.05)
        error = math.sqrt(rows * 125 * (at @ at) + law.variance * (at @ at)) / 1e4
        assert width(mean(table, "hours", level)) == pytest.approx(2 * z * error, rel=0.05)


@LEVELS
def test_correlations_have_the_variance_of_people_and_noise(level, z):
    edges = np.linspace(-4, 4, 41)
    middles = (edges[:-1] + edges[1:]) / 2
    law = stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])
    counts = np.round(5000 * 0.04 * law.pdf(np.stack(np.meshgrid(middles, middles), axis=-1))).astype(int)
    axes = (Axis("a", -4.0, 4.0, 40), Axis("b", -4.0, 4.0, 40))
    for rows in (1, 4):
        found = correlation(NoisyTable(counts, axes, NoiseLaw(0.02, rows)), "a", "b", level)
        assert width(found) == pytest.approx(2 * z * 0.75 * math.sqrt(rows / 5000), rel=0.05)
        assert found.low < 0.5 < found.high
    coarse = counts.reshape(10, 4, 10, 4).sum(axis=(1, 3))
    found = correlation(NoisyTable(coarse, tuple(replace(axis, bins=10) for axis in axes), SHARP), "a", "b", level)
    assert found.low < 0.5 < found.high


@LEVELS
def test_counts_have_the_tails_of_their_noise(level, z):
    law = NoiseLaw(5.0, 1)
    table = NoisyTable(np.full((1, 2), 400), (Axis("one", 0.0, 1.0, 1), WARD), law)
    for cells, found in ((1, count(table, "ward", "a", level)), (2, count(table, level=level))):
        most = noise_quantile(law, cells, (1 - level) / 2)
        assert (found.low, found.estimate, found.high) == (400 * cells - most, 400 * cells, 400 * cells + most)
    a, most = math.exp(-1 / 5), noise_quantile(law, 1, (1 - level) / 2)
    assert a ** (most + 1) / (1 + a) <= (1 - level) / 2 < a**most / (1 + a)
    wide = NoiseLaw(1000.0, 1)
    for tail in ((1 - level) / 2, 0.001):
        assert _normal_quantile(wide, 4, tail) == pytest.approx(noise_quantile(wide, 4, tail), rel=0.06)


def test_what_the_bin_that_decides_counts_less_moves_limits_outwards():
    counts = np.where(np.arange(80) < 20, 500, 0)
    columns = []
    for certain in (0.0, 50.0):
        columns.append(number_column(table_of(counts, HOURS, NoiseLaw(20.0, 1)), "hours"))
        columns[-1].__dict__["turn"] = (19, certain)
    lows = [means._lower_limit(column, 10.0, 0.95) for column in columns]
    assert lows[0] - lows[1] == pytest.approx(50 * (19.5 - 10) / 10_000, rel=0.1)
    lows = [quantiles._lower_limit(column, 0.5, 0.95, None) for column in columns]
    assert lows[0] - lows[1] == pytest.approx(0.5 * 50 / 500, rel=0.1)
