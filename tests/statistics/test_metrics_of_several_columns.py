import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from equinoise.data.grid import Axis
from equinoise.statistics.metrics import correlation, joint_metrics, metrics

AXES = (Axis.padded("height", 100, 200, bins=4), Axis.padded("weight", 0, 1, bins=3), Axis.padded("age", 0, 9, bins=2))


def distribution(seed, shape):
    p = np.random.default_rng(seed).gamma(0.5, size=shape)
    return (p / p.sum()).ravel()


@given(st.integers(0, 99), st.integers(2, 3))
def test_joint_metrics_are_scipys_and_those_of_the_columns_alone(seed, columns):
    axes = AXES[:columns]
    shape = tuple(axis.bins for axis in axes)
    p, q = distribution(seed, shape), distribution(seed + 1000, shape)
    found = joint_metrics(p, q, axes)
    assert found["kl"] == pytest.approx(stats.entropy(p, q))
    assert found["js"] == pytest.approx(jensenshannon(p, q) ** 2)
    assert found["tv"] == pytest.approx(np.abs(p - q).sum() / 2)
    assert found["cosine"] == pytest.approx(p @ q / np.sqrt((p @ p) * (q @ q)))
    for i, axis in enumerate(axes):
        others = tuple(j for j in range(columns) if j != i)
        alone = [d.reshape(shape).sum(axis=others) for d in (p, q)]
        assert found["columns"][axis.name] == metrics(*alone, axis.midpoints())


@given(st.integers(0, 99), st.integers(2, 3))
def test_loss_of_correlation_is_numpys_of_repeated_rows(seed, columns):
    axes = AXES[:columns]
    shape = tuple(axis.bins for axis in axes)
    grids = np.meshgrid(*[axis.midpoints() for axis in axes], indexing="ij")
    both = []
    for extra in (0, 1000):
        people = np.random.default_rng(seed + extra).integers(1, 5, np.prod(shape))
        values = [np.repeat(grid.ravel(), people) for grid in grids]
        both.append((people / people.sum(), np.corrcoef(values)))
    (p, before), (q, after) = both
    expected = np.abs(before - after).max()
    assert joint_metrics(p, q, axes)["correlation_loss"] == pytest.approx(expected, abs=1e-12)


def test_correlation_is_undefined_for_a_constant_column():
    p = np.array([[0.5, 0.5], [0.0, 0.0]])
    assert correlation(p, np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None
    axes = (Axis.padded("a", 0, 1, bins=2), Axis.padded("b", 0, 1, bins=2))
    assert joint_metrics(p.ravel(), np.full(4, 0.25), axes)["correlation_loss"] is None
    assert correlation(np.eye(2) / 2, np.array([1.0, 2.0]), np.array([5.0, 3.0])) == pytest.approx(-1)
    same = joint_metrics(np.full(4, 0.25), np.full(4, 0.25), axes)
    assert same["correlation_loss"] == 0
