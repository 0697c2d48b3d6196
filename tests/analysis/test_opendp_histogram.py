import math

import numpy as np
import pytest
from scipy import stats

from equinoise import BadInput
from equinoise.analysis import opendp_histogram as peers


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 100.0])
def test_opendp_vouches_for_the_epsilon_asked_for(epsilon):
    add_noise, promised = peers.noisy_counter(epsilon)
    assert promised <= epsilon
    assert promised == pytest.approx(epsilon)
    noisy = add_noise(np.array([0, 10**12, 5]))
    assert noisy.shape == (3,)
    assert noisy.dtype == np.int64


def test_the_noise_is_discrete_laplace_of_that_epsilon():
    """The true scale fits; one 30 % too small or too large does not. Seedless: rejects at 1e-9."""
    noise = peers.noisy_counter(0.5)[0](np.zeros(20_000, dtype=np.int64))
    seen = np.bincount(np.clip(noise, -12, 12) + 12, minlength=25)

    def fit(epsilon):
        ratio = math.exp(-epsilon)
        inner = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-12.0, 13.0))
        inner[[0, -1]] = ratio**12 / (1 + ratio)
        return stats.chisquare(seen, inner * len(noise)).pvalue

    assert fit(0.5) > 1e-9
    assert fit(0.5 / 0.7) < 1e-9
    assert fit(0.5 / 1.3) < 1e-9


def test_tidying_up_uses_public_numbers_only():
    weights = peers.tidied(np.array([-3, 0, 1, 2, 40]), 1.0)
    assert weights.tolist() == [0.25, 0.25, 1.25, 2.25, 40.25]
    assert peers.tidied(np.array([-3, -1]), 0.1).tolist() == [2.5, 2.5]


def test_without_opendp_it_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    with pytest.raises(BadInput, match=r"pip install 'equinoise\[peers\]'"):
        peers.noisy_counter(1.0)
