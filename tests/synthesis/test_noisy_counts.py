"""Noise on counts: its law, its loss in fractions, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from equinoise.errors import BadInput, EquinoiseError
from equinoise.synthesis import noisy_counts as module
from equinoise.synthesis.noisy_counts import NoiseLaw, noise_law, noisy_counts

SIGNIFICANCE = 1e-9


def p_value(noise, scale):
    """Of a chi-square test of whole-number noise against the discrete Laplace law; rare values are one class."""
    reach = max(2, math.ceil(6 * scale))
    values = np.arange(-reach, reach + 1)
    a = math.exp(-1 / scale)
    expected = (1 - a) / (1 + a) * a ** np.abs(values)
    seen = np.bincount(np.clip(noise, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    tail = (1 - expected.sum()) / 2
    expected = np.concatenate([[tail], expected, [tail]]) * len(noise)
    return stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue


@pytest.mark.parametrize(("epsilon", "rows"), [(1.0, 1), (0.3, 1), (2.0, 7)])
def test_the_noise_follows_its_law_and_no_scale_near_it(epsilon, rows):
    law = noise_law(epsilon, rows)
    noise = noisy_counts(np.full(60_000, 5), law) - 5
    assert p_value(noise, law.scale) > SIGNIFICANCE
    assert p_value(noise, 0.7 * law.scale) < SIGNIFICANCE
    assert p_value(noise, 1.3 * law.scale) < SIGNIFICANCE
    assert noise.var() == pytest.approx(law.variance, rel=0.1)


def test_cells_have_noise_of_their_own():
    first, second = noisy_counts(np.zeros(20_000, dtype=np.int64), noise_law(1.0)).reshape(2, -1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.07
    assert not np.array_equal(first, second)


@settings(deadline=None)
@given(st.floats(1e-9, 1e3), st.integers(1, 10**6))
def test_the_scale_is_the_least_that_costs_no_more_than_asked_for(epsilon, rows):
    law, target = noise_law(epsilon, rows), min(Fraction(epsilon), Fraction(repr(epsilon)))
    assert law.exact_loss == Fraction(rows) / Fraction(law.scale) <= target
    assert Fraction(math.nextafter(law.scale, 0)) * target < rows
    assert law.exact_loss <= Fraction(law.loss) <= Fraction(epsilon)
    assert Fraction(math.nextafter(law.loss, 0)) < law.exact_loss


@pytest.mark.parametrize(("epsilon", "rows"), [(1e-9, 10**6), (1e3, 1), (0.1, 3), (1 / 3, 7)])
def test_opendp_agrees_on_the_loss_also_at_the_ends(epsilon, rows):
    law = noise_law(epsilon, rows)
    assert float(module._measurement(law).map(rows)) == pytest.approx(law.loss, rel=1e-12)
    assert noisy_counts(np.array([0, 10**15]), law).dtype == np.int64


def test_large_epsilons_leave_the_counts_alone():
    assert noisy_counts(np.array([3, 0, 10**15]), noise_law(1000)).tolist() == [3, 0, 10**15]
    assert noise_law(1000).variance == 0.0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e-10, 1e4, "1", True])
def test_bad_epsilons_are_refused(epsilon):
    with pytest.raises(BadInput, match="'epsilon' parameter"):
        noise_law(epsilon)


@pytest.mark.parametrize("rows", [0, -1, 1.5, 10**6 + 1, None])
def test_bad_numbers_of_rows_are_refused(rows):
    with pytest.raises(BadInput, match="'rows' parameter"):
        noise_law(1.0, rows)


@pytest.mark.parametrize("counts", [[], [[1, 2]], [0.5, 1.0], [-1, 2], [10**15 + 1]])
def test_bad_counts_are_refused(counts):
    with pytest.raises(BadInput, match="'counts' parameter"):
        noisy_counts(np.array(counts), noise_law(1.0))


def test_a_failure_of_opendp_is_a_sentence(monkeypatch):
    with pytest.raises(EquinoiseError, match=r"^OpenDP could not draw the noise \(.*negative.*\)\. No noisy counts"):
        noisy_counts(np.array([1]), NoiseLaw(-1.0, 1))

    def disagree(law):
        raise ValueError("its loss is not ours")

    monkeypatch.setattr(module, "_measurement", disagree)
    with pytest.raises(EquinoiseError, match=r"draw the noise \(its loss is not ours\)"):
        noisy_counts(np.array([1]), noise_law(1.0))


@pytest.mark.parametrize("factor", [1 - 1e-9, 1 + 1e-9, 0.5, 2.0])
def test_nothing_comes_out_if_opendp_finds_another_loss(monkeypatch, factor):
    import opendp.prelude as dp

    make = dp.m.make_laplace

    class Other:
        def __init__(self, *space, scale):
            self.made = make(*space, scale=scale)

        def map(self, rows):
            return self.made.map(rows) * factor

        def __call__(self, counts):
            return self.made(counts)

    monkeypatch.setattr(dp.m, "make_laplace", Other)
    with pytest.raises(EquinoiseError, match=r"its loss of .* is not the"):
        noisy_counts(np.array([1, 2]), noise_law(0.5))
