"""What docs/proof-pay-once.md needs: noise of the loss that was asked for; an estimate that fails for none of it."""

import dataclasses
import math

import numpy as np
import opendp.prelude as dp
import pytest

from equinoise.data.grid import Axis
from equinoise.errors import EquinoiseError
from equinoise.mechanisms.counts_table import whole_weights
from equinoise.privacy.counts_certificate import certify_noisy_counts
from equinoise.synthesis.estimate import estimated_people
from equinoise.synthesis.noisy_counts import MOST_ROWS, noise_law, noisy_counts
from tests.helpers.private_tables import paid_once

ENDS = [-(2**63), 2**63 - 1]


@pytest.mark.parametrize(("epsilon", "rows"), [(1e-9, MOST_ROWS), (1.0, 1), (1000.0, 1)])
def test_any_noisy_counts_and_any_scale_have_weights(epsilon, rows):
    axes, law = (Axis("x", 0.0, 1.0, 6),), noise_law(epsilon, rows)
    for counts in (np.full(6, ENDS[0], dtype=np.int64), np.array([*ENDS, 0, 1, -1, 5], dtype=np.int64)):
        found = whole_weights(estimated_people(counts, axes, law.scale))
        assert found.min() >= 1
        assert sum(found.tolist()) < 2**62


def test_noise_of_another_loss_is_not_drawn(monkeypatch):
    make = dp.m.make_laplace
    monkeypatch.setattr(dp.m, "make_laplace", lambda *space, scale: make(*space, scale=0.7 * scale))
    with pytest.raises(EquinoiseError, match="its loss of"):
        noisy_counts(np.zeros(3, dtype=np.int64), noise_law(1.0))


def test_the_certificate_asks_for_noise_for_all_rows_of_a_person():
    def holds(scale, sizes=(1, 3), rows=3):
        return certify_noisy_counts(sizes, rows, scale, [0, 0], [1, 1], 2, 0.25).holds

    assert holds(12.0)
    assert not holds(math.nextafter(12.0, 0))
    assert not holds(12.0, sizes=(1, 4))
    assert not holds(12.0, sizes=(1, 4), rows=4)


def test_weights_that_are_not_the_estimates_are_refused():
    made = paid_once([1.0, 2.0, 2.0], bounds=(0, 9), bins=5, epsilon=1)
    assert made.certificate().holds
    other = dataclasses.replace(made, weights=made.weights[::-1] + 2**44 * np.eye(1, 5, dtype=np.int64)[0], ledger=None)
    assert "not those of the estimate" in other.certificate().failure
