"""The envelope's budget to the last unit, and losses where a person moves all of the weight."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from equinoise.mechanisms.saved_file import DOCUMENT
from equinoise.privacy.accounting import Budget
from tests.helpers.private_tables import envelope


@pytest.fixture(scope="module")
def three():
    """Three rows that add up."""
    return envelope(
        pl.DataFrame({"age": [20, 30, 30, 40]}), column="age", bounds=(0, 100), bins=5, epsilon=1.0, draws=3
    )


def test_rows_are_within_the_budget_to_the_last_unit(three):
    assert three.within_budget
    more = math.nextafter(1 / 3, 1)
    assert 3 * more == 1.0 < 3 * Fraction(more)  # as floats they add up to the budget
    assert not replace(three, epsilon=more, ledger=None).within_budget
    for budget in (None, Budget(0.99, 0.0)):
        assert not replace(three, budget=budget, ledger=None).within_budget


@pytest.mark.parametrize("counts", [[5], [1], [40, 1], [3, 3]])
def test_losses_count_both_directions_and_cells_out_of_reach(counts):
    """Where nearly everyone is in one cell, a person takes more from all others than they add to their own."""

    def made(people):
        ages = [10.0] * people[0] + [70.0] * sum(people[1:])
        return envelope(pl.DataFrame({"age": ages}), column="age", bounds=(0, 100), bins=30, epsilon=1.0)

    fewer = [made([n - (i == k) for i, n in enumerate(counts)]).output for k in range(len(counts))]
    exact = [np.abs(np.log(made(counts).output / other)).max() for other in fewer]
    assert made(counts).losses() == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("changes", [{"shape": [10]}, {"categories": [1]}])
def test_a_file_whose_rule_is_of_another_grid_is_refused(three, changes):
    document = json.loads(three._document())
    DOCUMENT.validate_json(json.dumps(document))
    document["rule"] |= changes
    with pytest.raises(ValidationError):
        DOCUMENT.validate_json(json.dumps(document))
