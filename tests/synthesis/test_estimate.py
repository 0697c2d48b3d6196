"""The estimate made of noisy counts: what always holds, the same optimum by another way, and how close it comes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from equinoise.data.grid import Axis, CategoryAxis
from equinoise.errors import BadInput
from equinoise.statistics.metrics import kl
from equinoise.synthesis.count_law import CountLaw, NoisyCells
from equinoise.synthesis.estimate import FIRST, estimate
from equinoise.synthesis.smooth_rate import CellShape, roughness, smooth_rate


def number(bins, missing="refuse"):
    return Axis("number", 0.0, 1.0, bins, missing=missing)


def category(bins):
    return CategoryAxis("category", tuple(f"v{bin}" for bin in range(bins)))


AXES = {
    "one column": [number(30)],
    "missing values": [number(13, "category")],
    "two bins": [number(2)],
    "three bins and a missing one": [number(4, "category")],
    "one category": [category(1), number(9)],
    "categories alone": [category(4), CategoryAxis("other", ("x", "y", "z"))],
    "mixed": [category(2), number(7), Axis("other", 0.0, 1.0, 6, missing="category")],
}


def noise(rng, size, scale):
    p = 1 - math.exp(-1 / scale)
    return rng.geometric(p, size) - rng.geometric(p, size)


def cells_of(axes):
    return math.prod(axis.bins for axis in axes)


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@settings(deadline=None, max_examples=5)
@given(data=st.data(), scale=st.floats(0.05, 200))
def test_probabilities_sum_to_one_are_positive_and_repeat(axes, data, scale):
    most = data.draw(st.sampled_from([0, 3, 1_000, 10**12, 2**62]))
    size = cells_of(axes)
    z = np.array(data.draw(st.lists(st.integers(-100, most), min_size=size, max_size=size)))
    found = estimate(z, axes, scale)
    assert found.shape == (size,)
    assert found.sum() == pytest.approx(1)
    assert found.min() > 0
    assert np.array_equal(found, estimate(z, axes, scale))


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("z", [0, -7])
def test_nothing_seen_is_close_to_even(axes, z):
    found = estimate(np.full(cells_of(axes), z), axes, 2.0)
    assert found == pytest.approx(1 / cells_of(axes), rel=1e-3)


def test_the_order_of_categories_says_nothing():
    rng = np.random.default_rng(3)
    axes = [category(3), number(12), CategoryAxis("other", ("x", "y"))]
    z = (rng.poisson(6, (3, 12, 2)) + noise(rng, (3, 12, 2), 1.0)).astype(np.int64)
    found = estimate(z.ravel(), axes, 1.0).reshape(z.shape)
    turned = estimate(np.ascontiguousarray(z[[2, 0, 1]][:, :, ::-1]).ravel(), axes, 1.0).reshape(z.shape)
    assert turned == pytest.approx(found[[2, 0, 1]][:, :, ::-1], rel=2e-2)


def test_a_missing_value_has_no_neighbours():
    rng = np.random.default_rng(4)
    counts = np.append(np.round(200 * np.exp(-((np.arange(20) - 9) ** 2) / 30)), 900).astype(np.int64)
    found = estimate(counts + noise(rng, 21, 1.0), [number(21, "category")], 1.0)
    assert found[-1] == pytest.approx(900 / counts.sum(), rel=0.02)
    assert found[19] == pytest.approx(7 / counts.sum(), abs=3 / counts.sum())


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 30.0])
@pytest.mark.parametrize(("phi", "pi"), [(0.25, 1.0), (0.02, 0.5), (2.0, 0.15)])
def test_the_tables_are_the_sums_that_they_stand_for(scale, phi, pi):
    z = np.array([-5.0, 0.0, 1.0, 3.0, 9.0])
    u = np.array([-2.0, 0.1, 1.0, 1.7, 2.3])
    value, slope = CountLaw(NoisyCells(z, scale), phi, pi).log_likelihood(u)
    mean = CountLaw(NoisyCells(z, scale), phi, pi).mean_people(u)
    n = np.arange(3_000)

    def exact(cell, u):
        odds, shape = phi * math.exp(u) / pi, 1 / phi
        log = [math.lgamma(k + shape) - math.lgamma(shape) - math.lgamma(k + 1) for k in n]
        prior = pi * np.exp(log + n * math.log(odds) - (n + shape) * math.log1p(odds))
        prior[0] += 1 - pi
        both = prior * np.exp(-np.abs(max(z[cell], 0) - n) / scale) * math.tanh(1 / (2 * scale))
        return math.log(both.sum()), both @ n / both.sum()

    for cell in range(5):
        expected, people = exact(cell, u[cell])
        assert value[cell] == pytest.approx(expected, abs=0.02)
        rise = (exact(cell, u[cell] + 1e-5)[0] - expected) / 1e-5
        assert slope[cell] == pytest.approx(rise, rel=0.03, abs=0.02)
        assert mean[cell] == pytest.approx(people, rel=0.03, abs=1e-4)


def small_case():
    rng = np.random.default_rng(5)
    counts = np.outer([1, 4, 9, 12, 7, 2], [2, 5, 3]).astype(np.int64)
    z = (counts + noise(rng, counts.shape, 1.0)).ravel().astype(np.float64)
    return CountLaw(NoisyCells(z, 1.0), *FIRST), CellShape((6, 3), (6, 0))


def test_the_slope_of_roughness_is_its_slope():
    shape = CellShape((5, 3, 6), (4, 0, 6))
    u = np.random.default_rng(6).normal(size=90)
    found = roughness(u.reshape(shape.bins), shape, 0.5)[1].ravel()
    assert found == pytest.approx(approx_fprime(u, lambda x: roughness(x.reshape(shape.bins), shape, 0.5)[0]), abs=1e-4)


def test_slow_optimisers_find_the_same_optimum_or_one_hardly_better():
    law, shape = small_case()

    def cost(u):
        return roughness(u.reshape(shape.bins), shape, 1.0)[0] - law.log_likelihood(u)[0].sum()

    found = smooth_rate(law, shape, np.full(18, 1.0), 1.0)
    near = minimize(cost, found, method="BFGS", options={"maxiter": 20}).fun
    assert cost(found) == pytest.approx(near, abs=0.02)
    anywhere = minimize(cost, np.full(18, 1.0), method="Powell", options={"maxiter": 40}).fun
    assert cost(found) <= anywhere + 0.5
    assert cost(np.full(18, 1.0)) > anywhere + 10


def tidied(z, scale):
    kept = np.where(z < math.log(len(z)) * scale / 2, 0, z) + scale / 4
    return kept / kept.sum()


def mean_kl(counts, axes, scale, releases=4):
    rng = np.random.default_rng(7)
    pairs = []
    for _ in range(releases):
        z = counts + noise(rng, len(counts), scale)
        pairs.append([kl(counts / counts.sum(), q) for q in (estimate(z, axes, scale), tidied(z, scale))])
    return np.mean(pairs, axis=0)


def bell(bins, people):
    steps = np.linspace(-3, 3, bins)
    return np.random.default_rng(8).multinomial(people, np.exp(-(steps**2) / 2) / np.exp(-(steps**2) / 2).sum())


@pytest.mark.parametrize("scale", [1.0, 10 / 3, 10.0])
def test_smooth_data_comes_out_twice_as_close_as_the_tidied_histogram(scale):
    ours, other = mean_kl(bell(60, 2_000), [number(60)], scale)
    assert ours < 0.6 * other


@pytest.mark.parametrize("scale", [1.0, 10 / 3, 10.0])
def test_bins_that_do_not_fit_the_steps_are_noticed(scale):
    counts = np.zeros(120, dtype=np.int64)
    counts[::2] = bell(60, 5_000)
    ours, other = mean_kl(counts, [number(120)], scale)
    assert ours < 0.8 * other


def test_two_columns_come_out_closer_too():
    counts = np.random.default_rng(9).multinomial(2_000, np.outer(bell(15, 900), bell(15, 900)).ravel() / 900**2)
    ours, other = mean_kl(counts, [number(15), Axis("other", 0.0, 1.0, 15)], 10 / 3)
    assert ours < 0.5 * other


def test_what_is_no_noisy_count_is_refused():
    for z in (np.zeros(4), np.zeros(5, dtype=np.int64), np.zeros((2, 2), dtype=np.int64)):
        with pytest.raises(BadInput, match="must be 4 whole numbers"):
            estimate(z, [number(4)], 1.0)
    for scale in (0, -1.0, math.nan, math.inf, "1"):
        with pytest.raises(BadInput, match="'noise_scale' parameter"):
            estimate(np.zeros(4, dtype=np.int64), [number(4)], scale)
