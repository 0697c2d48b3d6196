import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.game.condition import Condition
from equinoise.solvers.optimal.demands import demands
from tests.helpers.games import small_game

SETTINGS = [{}, {"delta": 0.05}, {"delta": 1e-3}, {"delta": 1e-9}, {"order": 1.001}, {"order": 3.0}, {"order": 100.0}]


def exceeds(condition, weight, total, size, at):
    """Whether a divergence of two outcomes, a cell with S = ``at`` and the rest, is beyond the limit."""
    p, q = at / total, (at - weight) / (total - size)
    if condition.kind == 0:
        return weight > condition.upper[0] * at
    return condition.between(np.array([p, 1 - p]), np.array([q, 1 - q])) > condition.limit


@pytest.mark.parametrize("setting", SETTINGS)
@given(
    weight=st.floats(1e-6, 1.0),
    total=st.integers(3, 5000),
    size=st.integers(1, 2),
    epsilon=st.sampled_from([1e-3, 0.1, 1.0, 4.0]),
)
def test_below_a_demand_two_outcomes_give_someone_away_and_above_it_they_do_not(setting, weight, total, size, epsilon):
    condition = Condition(epsilon, np.array([size]), total, **setting)
    demand = float(demands(condition, np.array([[weight]]), np.array([0]))[0, 0])
    assert weight * (1 - 1e-8) <= demand <= weight * total / size * (1 + 1e-9)
    below, above = demand * (1 - 1e-5), demand * (1 + 1e-5)
    if below > weight:
        assert exceeds(condition, weight, total, size, below)
    if weight < above < weight * total / size:
        assert not exceeds(condition, weight, total, size, above)


@pytest.mark.parametrize("setting", SETTINGS)
def test_where_nobody_comes_out_nobody_demands_anything(setting):
    game = small_game([2, 3], [0.1, 1.0], 1.0, **setting)
    assert demands(game.condition, np.zeros((1, 2)), np.array([0])).tolist() == [[0.0, 0.0]]
