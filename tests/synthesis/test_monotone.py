import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.errors import BadInput
from equinoise.privacy.certificate import exp_lower_bound
from equinoise.privacy.monotone_certificate import certify_monotone
from equinoise.synthesis.monotone import POWER_BITS, each_without_one, public_rule, weights

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.5, 8.0]


def score(counts, x, rule):
    near = dict(enumerate(rule.near))
    around = sum(n * near.get(abs(z - x), 0) for z, n in enumerate(counts) if z != x)
    return rule.unit * counts[x] + rule.floors[x] + min(rule.cap, around)


def by_all_subsets(counts, rule):
    """The definition: the least over every smaller dataset."""
    found = []
    for x in range(rule.cells):
        smaller = itertools.product(*(range(n + 1) for n in counts))
        found.append(min(rule.power(sum(counts) - sum(m)) * score(m, x, rule) for m in smaller) >> POWER_BITS)
    return found


@settings(max_examples=150)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=5), st.sampled_from(EPSILONS))
def test_weights_are_the_definition_over_all_smaller_datasets(counts, epsilon):
    rule = public_rule(epsilon, len(counts))
    assert weights(np.array(counts), rule) == by_all_subsets(counts, rule)


def assert_private(counts, cell, rule, epsilon):
    """One person added to a cell: no weight falls, none grows beyond e^epsilon, nor do probabilities differ by more."""
    bound = exp_lower_bound(epsilon)
    without = weights(np.array(counts), rule)
    larger = list(counts)
    larger[cell] += 1
    with_them = weights(np.array(larger), rule)
    for a, b in zip(without, with_them, strict=True):
        assert a <= b <= bound * a
        p, q = Fraction(a, sum(without)), Fraction(b, sum(with_them))
        assert p <= bound * q
        assert q <= bound * p


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_small_pair_of_neighbours_breaks_it(epsilon):
    for cells, most in ((2, 6), (3, 3), (4, 2)):
        rule = public_rule(epsilon, cells)
        for counts in itertools.product(range(most + 1), repeat=cells):
            for cell in range(cells):
                assert_private(counts, cell, rule, epsilon)


@settings(max_examples=200)
@given(
    st.lists(st.one_of(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**12)), min_size=2, max_size=30),
    st.sampled_from([1e-4, 1e-3, *EPSILONS, 30.0, 1000.0]),
    st.data(),
)
def test_no_odd_pair_of_neighbours_breaks_it(counts, epsilon, data):
    parts = st.lists(st.sampled_from([0.0, 1e-9, 0.3, 5.0]), min_size=len(counts), max_size=len(counts))
    base = data.draw(st.none() | parts)
    if base is not None and sum(base) == 0:
        base[0] = 1.0
    rule = public_rule(epsilon, len(counts), base)
    assert_private(counts, data.draw(st.integers(0, len(counts) - 1)), rule, epsilon)


def test_far_from_anyone_there_is_next_to_nothing_and_crowds_keep_their_share():
    rule = public_rule(1.0, 40)
    counts = np.zeros(40, dtype=np.int64)
    counts[3:6] = 10**6
    found = np.array(weights(counts, rule)) / rule.unit
    assert found[30] == pytest.approx(1 / 40 / math.expm1(1.0), rel=1e-3)
    assert found[4] == pytest.approx(10**6, rel=1e-6)


def certified(counts, rule, epsilon, weights_given, **other):
    numbers = {name: getattr(rule, name) for name in ("unit", "near", "cap", "floors", "factor")} | other
    return certify_monotone(counts, weights_given, epsilon, **numbers)


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.integers(0, 3), st.integers(0, 10**6)), min_size=2, max_size=12),
    st.sampled_from([1e-4, *EPSILONS, 100.0]),
)
def test_the_certificate_works_the_weights_out_again(counts, epsilon):
    rule = public_rule(epsilon, len(counts))
    right = weights(np.array(counts), rule)
    assert certified(counts, rule, epsilon, right).holds
    assert "weight of cell 1" in certified(counts, rule, epsilon, [right[0], right[1] + 1, *right[2:]]).failure


@pytest.mark.parametrize(
    "other",
    [
        {"factor": 2**40},
        {"factor": int(math.e * 2**40)},
        {"floors": (2**40, 2**18, 2**40)},
        {"floors": (2**40, 0, 2**40)},
        {"cap": -1},
        {"near": (5, 9, 1)},
        {"unit": 0},
        {"factor": -2 * 2**40, "cap": 1 << (2**21 + 200)},
        {"cap": 0.5},
    ],
)
def test_a_rule_that_is_not_safe_for_every_dataset_is_refused(other):
    rule = public_rule(1.0, 3)
    assert certified([3, 1, 2], rule, 1.0, weights(np.array([3, 1, 2]), rule)).holds
    assert not certified([3, 1, 2], rule, 1.0, weights(np.array([3, 1, 2]), rule), **other).holds


@settings(max_examples=100)
@given(
    st.lists(st.one_of(st.integers(0, 3), st.integers(0, 10**4)), min_size=2, max_size=40).filter(any),
    st.sampled_from(EPSILONS),
)
def test_taking_one_person_out_changes_only_what_is_within_reach(counts, epsilon):
    rule = public_rule(epsilon, len(counts))
    occupied = [k for k, n in enumerate(counts) if n]
    found = list(each_without_one(np.array(counts), weights(np.array(counts), rule), rule))
    for cell, one in zip(occupied, found, strict=True):
        fewer = [n - (k == cell) for k, n in enumerate(counts)]
        assert one == weights(np.array(fewer), rule)


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ([1.0, 2.0], "2 numbers, but 3 cells"),
        ([1.0, -2.0, 3.0], "Got -2"),
        ([0.0, 0.0, 0.0], "sums to zero"),
        ([1.0, math.nan, 3.0], "Got nan"),
        ([1.0, math.inf, 3.0], "Got inf"),
        (["a", 1, 2], "must be numbers"),
        (5, "must be numbers"),
    ],
)
def test_a_base_that_is_no_distribution_is_refused(base, said):
    with pytest.raises(BadInput, match=said):
        public_rule(1.0, 3, base)


def test_a_base_draws_the_empty_cells_towards_it():
    counts = np.array([50] + [0] * 39)
    rules = public_rule(1, 40), public_rule(1, 40, [0.0] * 39 + [1.0])
    even, tilted = (np.array(weights(counts, rule)) / rule.unit for rule in rules)
    assert tilted[39] == pytest.approx(20.5 * even[39], rel=1e-3)
    assert tilted[38] == pytest.approx(even[38] / 2, rel=1e-3)
