import numpy as np
import pytest

from equinoise import metrics
from equinoise.baselines import laplace_output
from equinoise.grid import Axis


@pytest.mark.parametrize(("epsilon", "expected"), [(1, 1.20), (2, 0.78), (4, 0.39), (8, 0.15)])
def test_laplace_mechanism_on_the_heights(heights, epsilon, expected):
    axis = Axis.padded("height", 163, 226)
    p = np.bincount([axis.cell_of(h) for h in heights], minlength=101) / len(heights)
    assert round(metrics.kl(p, laplace_output(p, axis, epsilon)), 2) == expected


@pytest.mark.parametrize("epsilon", [1e-320, 1e-9, 1e9, 1e308])
def test_extreme_epsilons_give_a_distribution(epsilon):
    p = np.full(11, 1 / 11)
    assert laplace_output(p, Axis.padded("x", 0, 1, bins=11), epsilon).sum() == pytest.approx(1)
