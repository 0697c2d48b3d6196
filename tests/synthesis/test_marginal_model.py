import itertools

import numpy as np
import pytest

from equinoise.errors import BadInput
from equinoise.synthesis.marginal_model import ConditionalTable, MarginalModel


def made_model(seed=3, sizes=(3, 2, 4, 2)):
    """Drawn in the order 2, 0, 3, 1, with two parents at most."""
    rng = np.random.default_rng(seed)
    tables = []
    for column, parents in ((2, ()), (0, (2,)), (3, (0, 2)), (1, (3,))):
        table = rng.random([*(sizes[parent] for parent in parents), sizes[column]])
        tables.append(ConditionalTable(column, parents, table / table.sum(axis=-1, keepdims=True)))
    return MarginalModel(tuple(tables), 100.0, 1.0)


def product(model):
    """P(x) of every cell, one at a time, as the docstring has it."""
    joint = np.ones(model.sizes)
    for cell in itertools.product(*map(range, model.sizes)):
        for table in model.tables:
            joint[cell] *= table.table[tuple(cell[column] for column in table.columns)]
    return joint


def test_the_joint_distribution_is_the_product_of_the_tables():
    model = made_model()
    assert model.sizes == (3, 2, 4, 2)
    np.testing.assert_allclose(model.joint(), product(model).ravel(), rtol=1e-12)


def test_marginals_are_sums_of_the_joint_distribution_in_the_order_asked_for():
    model = made_model()
    joint = product(model)
    for many in (1, 2, 3):
        for columns in itertools.permutations(range(4), many):
            left = sorted(set(range(4)) - set(columns))
            sums = joint.sum(axis=tuple(left))
            wanted = np.transpose(sums, [sorted(columns).index(column) for column in columns])
            np.testing.assert_allclose(model.marginal(columns), wanted, rtol=1e-12)


def test_a_joint_grid_that_cannot_be_held_is_refused_and_its_marginals_are_not():
    bins = 32
    rng = np.random.default_rng(5)
    first = ConditionalTable(0, (), rng.dirichlet(np.ones(bins)))
    chain = [ConditionalTable(i, (i - 1,), rng.dirichlet(np.ones(bins), size=bins)) for i in range(1, 12)]
    model = MarginalModel((first, *chain), 100.0, 1.0)
    with pytest.raises(BadInput, match="can be held"):
        model.joint()
    steps = np.linalg.multi_dot([np.diag(first.table), *(table.table for table in chain)])
    np.testing.assert_allclose(model.marginal((0, 11)), steps, rtol=1e-10)
