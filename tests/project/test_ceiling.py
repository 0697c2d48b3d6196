"""The linear program of ``benchmarks/ceiling.py`` against what can be worked out by hand, and all histograms."""

import itertools
import math

import numpy as np
import pytest

from benchmarks.ceiling import envelope, mean_total_variation, optimum, permutations, smoothing, sorted_histograms


def test_histograms_are_all_up_to_permutations():
    every = [h for h in itertools.product(range(6), repeat=3) if sum(h) == 5]
    found = list(sorted_histograms(5, 3))
    assert sorted({tuple(sorted(h, reverse=True)) for h in every}) == sorted(found)
    assert sum(map(permutations, found)) == len(every)


def test_for_one_person_the_optimum_is_known():
    """From a uniform draw of nobody, the other cells can fall by e^epsilon and the person's own take what is left."""
    for cells in (2, 3):
        for epsilon in (0.3, 1.0):
            fall = (cells - 1) * math.exp(-epsilon) / cells
            rise = 1 - math.exp(epsilon) / cells
            assert optimum(cells, 1, epsilon) <= max(fall, rise) + 1e-9
    assert optimum(2, 1, 1.0) == pytest.approx(0.5 / math.e, rel=1e-6)


@pytest.mark.parametrize("make", [envelope, smoothing])
def test_no_sampler_is_below_the_optimum(make):
    for cells, people in ((2, 3), (3, 4)):
        output = make(1.0, cells)
        found = mean_total_variation(output, cells, people)
        assert found > optimum(cells, people, 1.0)
        every = [h for h in itertools.product(range(people + 1), repeat=cells) if 1 <= sum(h) <= people]
        sizes = [[h for h in every if sum(h) == n] for n in range(1, people + 1)]
        plain = [np.mean([np.abs(np.array(h) / n - output(np.array(h))).sum() / 2 for h in some])
                 for n, some in enumerate(sizes, 1)]  # fmt: skip
        assert found == pytest.approx(np.mean(plain))
