"""What the width of an interval mostly comes from: more people, a larger epsilon or finer bins then narrow it."""

import numpy as np
import pytest

from equinoise.analysis import answers
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.width import mostly_from
from equinoise.data.category_axis import CategoryAxis
from equinoise.data.grid import Axis
from equinoise.synthesis.noisy_counts import noise_law


@pytest.mark.parametrize(
    ("reaches", "part"),
    [
        ([(3.0, 1.0, 1.0)], "bins"),
        ([(0.0, 2.0, 1.0)], "noise"),
        ([(0.0, 1.0, 2.0)], "people"),
        ([(1.0, 1.0, 1.0)], None),
        ([(0.0, 0.0, 0.0)], None),
        ([(1.0, 0.0, 0.0)], "bins"),
        ([(0.0, 1.0, 2.0), (0.0, 4.0, 0.0)], "noise"),
    ],
)
def test_the_part_that_is_more_than_half_is_named(reaches, part):
    assert mostly_from(*reaches) == part


def table(counts, epsilon, low=0.0, high=100.0, wards=None):
    """Counts with drawn noise, of a column without steps, and maybe of two wards."""
    counts = np.asarray(counts, dtype=np.int64)
    law, random = noise_law(epsilon), np.random.default_rng(4)
    odds = 1 - np.exp(-1 / law.scale)
    noise = random.geometric(odds, counts.shape) - random.geometric(odds, counts.shape)
    axes = (Axis("cost", low, high, len(counts), 0.0), *([CategoryAxis("ward", ("a", "b"))] if wards else []))
    return NoisyTable(counts + noise, axes, law)


BELL = np.exp(-(((np.arange(40) - 12) / 6) ** 2))


def test_few_people_and_a_small_epsilon_are_noise():
    few = table(BELL * 10, 0.2)
    assert answers.mean(few, "cost").mostly in {"noise", None}
    assert answers.mean(table(BELL * 20, 0.3), "cost").mostly == "noise"


def test_many_people_without_a_heap_are_their_sampling():
    many = table(BELL * 3000, 1)
    assert answers.mean(many, "cost").mostly == "people"
    assert answers.quantile(many, "cost", 0.5).mostly in {"people", None}


def test_a_heap_in_a_wide_bin_is_the_bins():
    counts = np.array([200, 9000, 250, 100])
    heap = table(counts, 1)
    assert answers.mean(heap, "cost").mostly == "bins"
    assert answers.quantile(heap, "cost", 0.5).mostly == "bins"


def test_values_that_are_known_exactly_owe_nothing_to_bins():
    axis = Axis("age", 0.0, 9.0, 10, 0.0, step=1.0)
    counts = np.array([0, 900, 0, 500, 3000, 0, 0, 800, 0, 0])
    exact = NoisyTable(counts, (axis,), noise_law(1))
    for answer in (answers.mean(exact, "age"), answers.quantile(exact, "age", 0.5)):
        assert answer.mostly != "bins"
        assert not any("bins" in part for part in answer.contains)


def test_shares_and_differences_have_a_part_and_counts_have_none():
    both = np.stack([BELL * 3000, BELL * 2000], axis=1)
    two = table(both, 1, wards=True)
    assert answers.share(two, "ward", "a").mostly == "people"
    assert answers.difference(two, "cost", "ward", "a", "b").mostly == "people"
    assert answers.count(two).mostly is None
    few = table(both // 400, 0.2, wards=True)
    assert answers.share(few, "ward", "a").mostly == "noise"


def test_bins_and_bounds_are_said_with_their_numbers():
    answer = answers.mean(table(BELL * 300, 1, high=10000.0), "cost")
    (bins,) = (part for part in answer.contains if part.startswith("the bins"))
    assert bins.startswith("the bins ('cost' is known only to bins of 250, so people count as evenly spread")
    clipped = Axis("cost", 0.0, 10000.0, 40, 0.0, outside="clip")
    told = answers.mean(NoisyTable((BELL * 300).astype(np.int64), (clipped,), noise_law(1)), "cost")
    assert told.contains[-1] == "values of 'cost' below 0 or above 10,000 count as 0 or 10,000"
