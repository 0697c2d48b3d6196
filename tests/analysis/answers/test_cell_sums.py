"""What sums of noisy counts tell, against all that can come out; and the law of their noise by adding it up."""

import math
from functools import reduce

import numpy as np
import pytest

from equinoise.analysis.answers.cell_sums import cell_sums
from equinoise.analysis.answers.counts import _normal_quantile, noise_probabilities, noise_quantile
from equinoise.analysis.answers.means import _score
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.number_column import number_column
from equinoise.data.grid import Axis
from equinoise.synthesis.noisy_counts import NoiseLaw


def law_of_noise(scale, most):
    k = np.arange(-most, most + 1)
    p = np.exp(-np.abs(k) / scale)
    return k, p / p.sum()


@pytest.mark.parametrize("scale", [0.4, 2.0, 9.0])
@pytest.mark.parametrize("people", [0, 1, 5, 40])
def test_people_and_the_variance_of_noise_are_estimated_without_bias(scale, people):
    k, p = law_of_noise(scale, math.ceil(40 * scale))
    sums = cell_sums((people + k)[:, None], NoiseLaw(scale, 1))
    assert p @ sums.people == pytest.approx(people, abs=1e-9)
    assert p @ sums.variance == pytest.approx(p @ (sums.people - people) ** 2)
    assert p @ sums.variance <= NoiseLaw(scale, 1).variance * (1 + 1e-9)
    if people == 0:
        assert p @ sums.variance < 0.9 * NoiseLaw(scale, 1).variance or scale < 1
        assert p @ sums.third == pytest.approx(p @ sums.people**3)
        assert p @ sums.covariance == pytest.approx(p @ (sums.people * sums.variance))
    if people == 40 and scale < 1:
        fourth = p @ (sums.people - people) ** 4 - 3 * (p @ (sums.people - people) ** 2) ** 2
        assert p @ sums.fourth == pytest.approx(fourth)


@pytest.mark.parametrize("scale", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("cells", [1, 2, 5])
def test_quantiles_of_the_noise_of_several_cells_are_exact(scale, cells):
    most = math.ceil(60 * scale)
    p = reduce(np.convolve, [law_of_noise(scale, most)[1]] * cells)
    middle = most * cells
    points = 1 << 12
    told = noise_probabilities(NoiseLaw(scale, 1), cells, points)[points // 2 - 20 : points // 2 + 21]
    assert np.pad(p, 20)[middle : middle + 41] == pytest.approx(told, abs=1e-12)
    for tail in (0.25, 0.025, 0.0005):
        most_noise = noise_quantile(NoiseLaw(scale, 1), cells, tail)
        assert p[middle + most_noise + 1 :].sum() <= tail
        assert most_noise == 0 or p[middle + most_noise :].sum() > tail


def test_the_normal_law_of_many_cells_is_that_of_the_transform():
    law = NoiseLaw(3.0, 1)
    for tail in (0.1, 0.025, 0.001):
        assert _normal_quantile(law, 500, tail) == pytest.approx(noise_quantile(law, 500, tail), abs=1)


@pytest.mark.parametrize("people", [50, 1000])
def test_the_score_of_a_mean_has_the_variance_that_it_is_said_to_have(people):
    rng, law, axis = np.random.default_rng(9), NoiseLaw(2.0, 1), Axis("x", 0.0, 1.0, 20)
    p = np.exp(-np.arange(20) / 4)
    p /= p.sum()
    mu, runs = float(p @ axis.midpoints()), 4000
    a = -math.expm1(-1 / law.scale)
    values, told = [], []
    for _ in range(runs):
        noisy = rng.multinomial(people, p) + rng.geometric(a, 20) - rng.geometric(a, 20)
        column = number_column(NoisyTable(noisy, (axis,), law), "x")
        score = _score(column, column.values[:, None] - mu, 0.0)
        values.append(score.value[0])
        told.append(score.variance[0])
    deviation = np.std(values)
    assert abs(np.mean(values)) < 6.2 * deviation / math.sqrt(runs)  # a probability of 1e-9
    spread = np.std((np.array(values) - np.mean(values)) ** 2) / math.sqrt(runs)
    assert abs(np.mean(told) - deviation**2) < 6.2 * spread


@pytest.mark.parametrize("people", [0, 3])
def test_the_bin_that_decides_what_is_left_out_counts_less_than_its_people_on_average(people):
    rng, law, left = np.random.default_rng(10), NoiseLaw(2.0, 1), []
    a = -math.expm1(-1 / law.scale)
    for _ in range(4000):
        noisy = rng.poisson(people, 20) + rng.geometric(a, 20) - rng.geometric(a, 20)
        column = number_column(NoisyTable(noisy, (Axis("x", 0.0, 1.0, 20),), law), "x")
        turn, certain = column.turn
        if certain:
            left.append(column.sums.people[turn] - certain - people)
    assert len(left) > 400
    assert np.mean(left) < 6.2 * np.std(left) / math.sqrt(len(left))
