import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equinoise.errors import BadInput
from equinoise.grid import Axis
from equinoise.noise import laplace_kernel, laplace_mass, round_rows, scale_set

scales = st.one_of(st.floats(1e-6, 1e6), st.sampled_from([1e-290, 1e290, math.inf]))


@given(scale=scales, bins=st.integers(2, 40))
def test_integer_rows_sum_to_the_total_and_are_within_one_of_the_exact_mass(scale, bins):
    mass = laplace_mass(scale, bins)
    for total in (2**32, 2**10):
        weights = round_rows(mass, total)
        assert (weights.sum(axis=1) == total).all()
        assert (np.abs(weights - mass * total) <= 1).all()
        assert (weights >= 0).all()
        assert (weights.diagonal() >= weights.max(axis=1) - 1).all()


@given(scale=st.floats(1e-3, 10), bins=st.integers(2, 40))
def test_mass_is_scipys_laplace_cut_off_and_renormalized(scale, bins):
    edges = np.arange(bins + 1) / bins
    middle = (edges[:-1] + edges[1:]) / 2
    cdf = stats.laplace.cdf(edges[None, :], loc=middle[:, None], scale=scale)
    expected = np.diff(cdf, axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(laplace_mass(scale, bins), expected, rtol=1e-6, atol=1e-14)


def test_infinite_scale_is_uniform_and_tiny_scale_stays_put():
    np.testing.assert_allclose(laplace_mass(math.inf, 7), 1 / 7)
    np.testing.assert_array_equal(laplace_mass(1e-12, 7), np.eye(7))


def test_scale_sets():
    axis = Axis.padded("x", 0, 10)
    wide = scale_set("wide", axis, 1.0)
    assert len(wide) == 8
    assert wide[0] == pytest.approx(1 / (20 * 101))
    assert wide[-1] == pytest.approx(3)
    np.testing.assert_allclose(np.diff(np.log(wide)), np.log(wide[1] / wide[0]))
    unit = 10 / axis.range / 2
    assert scale_set("paper", axis, 2.0) == pytest.approx([m * unit for m in (0.2, 0.33, 1, 2, 3)])
    assert scale_set([axis.range, 1.0, 1.0], axis, 1.0) == pytest.approx([1 / axis.range, 1])


@pytest.mark.parametrize("bad", ["tall", [], [0], [-1.0], [math.nan], [math.inf], [1e-320], range(1, 100)])
def test_scales_that_are_none_are_refused(bad):
    with pytest.raises(BadInput, match="'scales' parameter"):
        scale_set(bad, Axis.padded("x", 0, 10), 1.0)


def test_kernel_orders_its_scales():
    kernel = laplace_kernel([3.0, 0.1], 5)
    assert kernel.scales == (0.1, 3.0)
    assert kernel.weights[0, 2, 2] > kernel.weights[1, 2, 2]
