import itertools
import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise.errors import BadInput
from equinoise.privacy.certificate import exp_lower_bound
from equinoise.privacy.envelope_certificate import _public_failure, _Sweep, certify_envelope
from equinoise.synthesis.envelope import POWER_BITS, public_rule
from equinoise.synthesis.envelope_weights import each_without_one, weights, within_reach

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.5, 8.0]
GRIDS = [
    ((2,), (0,)),
    ((5,), (0,)),
    ((7,), (1,)),  # six numbers and the missing
    ((3,), (3,)),
    ((2, 5), (2, 0)),
    ((5, 6), (0, 1)),
    ((3, 2), (1, 2)),
    ((2, 5, 6), (2, 0, 1)),
]
"""Bins of every axis, and how many of them have no order."""


def near(x, z, rule):
    """What a person in cell z counts toward cell x, from the words of the rule."""
    found = rule.height
    here, there = np.unravel_index(x, rule.shape), np.unravel_index(z, rule.shape)
    for a, b, bins, none, factors in zip(here, there, rule.shape, rule.categories, rule.near, strict=True):
        distance = abs(int(a) - int(b))
        together = a == b or (max(a, b) < bins - none and distance < len(factors))
        found = found * (factors[distance] if together else 0) >> 16
    return min(found, rule.cap)


def score(counts, x, rule):
    around = sum(n * near(x, z, rule) for z, n in enumerate(counts) if z != x and n)
    own, others = rule.unit * counts[x], rule.floor(x) + min(rule.cap, around)
    return max(own, min(own + others, rule.alone))


def by_all_subsets(counts, rule):
    """The definition: the least over every smaller dataset."""
    found = []
    for x in range(rule.cells):
        smaller = itertools.product(*(range(n + 1) for n in counts))
        found.append(min(rule.power(sum(counts) - sum(m)) * score(m, x, rule) for m in smaller) >> POWER_BITS)
    return found


def weights_of(counts, rule):
    counts = np.array(counts, dtype=np.int64)
    occupied = np.flatnonzero(counts)
    return weights(occupied, counts[occupied], rule)


def few_people(cells, most):
    return st.lists(st.integers(0, cells - 1), min_size=1, max_size=most).map(
        lambda where: np.bincount(where, minlength=cells).tolist()
    )


@pytest.mark.parametrize(("shape", "categories"), GRIDS)
@settings(max_examples=25)
@given(data=st.data(), epsilon=st.sampled_from(EPSILONS), rows=st.sampled_from([1, 1, 2]))
def test_weights_are_the_definition_over_all_smaller_datasets(shape, categories, data, epsilon, rows):
    rule = public_rule(epsilon, shape, categories, rows_per_person=rows)
    counts = data.draw(few_people(rule.cells, 7))
    assert weights_of(counts, rule).dense() == by_all_subsets(counts, rule)


def assert_private(counts, added, rule, epsilon):
    """People added: no weight falls, none grows beyond e^epsilon, nor do probabilities differ by more."""
    rows = rule.rows_per_person  # e^64 is the largest power that is worked out
    bound = exp_lower_bound(epsilon) if epsilon <= 64 else exp_lower_bound(Fraction(epsilon) / rows) ** rows
    larger = list(counts)
    for cell in added:
        larger[cell] += 1
    without, with_them = weights_of(counts, rule), weights_of(larger, rule)
    for a, b in zip(without.dense(), with_them.dense(), strict=True):
        assert a <= b <= bound * a
        p, q = Fraction(a, without.total), Fraction(b, with_them.total)
        assert p <= bound * q
        assert q <= bound * p


@pytest.mark.parametrize(("shape", "categories"), GRIDS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_no_small_pair_of_neighbours_breaks_it(shape, categories, epsilon):
    rule = public_rule(epsilon, shape, categories)
    most = {2: 7, 3: 4, 5: 3, 6: 3, 7: 3}.get(rule.cells, 1)
    for people in range(most + 1):
        for where in itertools.combinations_with_replacement(range(rule.cells), people):
            counts = np.bincount(where, minlength=rule.cells).tolist()
            for cell in range(rule.cells):
                assert_private(counts, [cell], rule, epsilon)


@pytest.mark.parametrize(("shape", "categories"), GRIDS)
@settings(max_examples=40)
@given(data=st.data(), epsilon=st.sampled_from([1e-3, *EPSILONS, 30.0, 1000.0]), rows=st.sampled_from([1, 2, 5]))
def test_no_odd_pair_of_neighbours_breaks_it(shape, categories, data, epsilon, rows):
    cells = math.prod(shape)
    many = st.one_of(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**12))
    counts = data.draw(st.lists(many, min_size=cells, max_size=cells))
    parts = st.lists(st.sampled_from([0.0, 1e-9, 0.3, 5.0]), min_size=cells, max_size=cells).filter(any)
    rule = public_rule(epsilon, shape, categories, base=data.draw(st.none() | parts), rows_per_person=rows)
    added = data.draw(st.lists(st.integers(0, cells - 1), min_size=1, max_size=rows))
    assert_private(counts, added, rule, epsilon)


def test_more_rows_than_were_allowed_for_break_it():
    rule = public_rule(1.0, (5,), rows_per_person=2)
    with pytest.raises(AssertionError):
        assert_private([0] * 5, [2] * 6, rule, 1.0)


@pytest.mark.parametrize("epsilon", [1e-4, *EPSILONS])
@pytest.mark.parametrize("bins", [5, 25, 101])
def test_on_one_column_of_numbers_the_rule_is_a_triangle_over_a_tenth_of_the_range(epsilon, bins):
    rule = public_rule(epsilon, (bins,))
    t = 1 / math.expm1(epsilon)
    parts = np.maximum(0, 1 - np.arange(bins - 1) / (bins / 10))
    cap = min(1, 0.3 + 0.15 * epsilon) * t
    expected = np.minimum(0.5 * parts[parts > 0] / (2 * parts.sum()), cap)
    assert rule.near_table[1:] / rule.unit == pytest.approx(expected, abs=2e-5)
    assert rule.cap / rule.unit == pytest.approx(cap, rel=1e-5)
    assert rule.floor(0) / rule.unit == pytest.approx(t / bins, rel=1e-5)


def test_floors_follow_the_ordered_bins_and_are_part_of_a_smoothing_where_there_are_none():
    t = 1 / math.expm1(1.0)
    for epsilon, part in ((0.1, 0.32), (2, 0.7), (4, 1)):
        rule = public_rule(epsilon, (40,), (40,))
        assert rule.floor(0) / rule.unit == pytest.approx(part / math.expm1(epsilon), rel=1e-5)
    for (shape, categories), expected in {
        ((20, 30), (0, 0)): t / 600,
        ((2, 20, 30), (2, 0, 0)): t / 1200,
        ((9, 20, 30), (9, 0, 0)): t / 1200,
        ((4, 9), (4, 9)): t / 2,
        ((4,), (0,)): t / 2,
        ((21,), (1,)): t / 21,
    }.items():
        rule = public_rule(1.0, shape, categories)
        assert rule.floor(0) / rule.unit == pytest.approx(expected, rel=1e-5), shape


def test_far_from_anyone_there_is_next_to_nothing_and_crowds_keep_their_share():
    rule = public_rule(1.0, (40, 30))
    counts = np.zeros((40, 30), dtype=np.int64)
    counts[3:6, 7:9] = 10**6
    found = weights_of(counts.ravel(), rule)
    dense = np.array(found.dense()).reshape(40, 30) / rule.unit
    assert len(found.cells) < 150
    assert found.probabilities().reshape(40, 30) == pytest.approx(dense / dense.sum(), rel=1e-12)
    assert dense[30, 20] == pytest.approx(1 / 1200 / math.expm1(1.0), rel=1e-3)
    assert dense[4, 7] == pytest.approx(10**6, rel=1e-6)


def certified(counts, rule, epsilon, found, **other):
    counts = np.array(counts)
    occupied = np.flatnonzero(counts)
    return certify_envelope(
        occupied.tolist(), counts[occupied].tolist(), found.cells.tolist(), list(found.weights), epsilon,
        rule.to_json() | other,
    )  # fmt: skip


@pytest.mark.parametrize(("shape", "categories"), GRIDS)
@settings(max_examples=25)
@given(data=st.data(), epsilon=st.sampled_from([1e-3, *EPSILONS, 100.0]), rows=st.sampled_from([1, 3]))
def test_the_certificate_works_the_weights_out_again(shape, categories, data, epsilon, rows):
    cells = math.prod(shape)
    many = st.one_of(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**15))
    counts = data.draw(st.lists(many, min_size=cells, max_size=cells).filter(any))
    parts = st.lists(st.sampled_from([0.0, 1e-9, 5.0]), min_size=cells, max_size=cells).filter(any)
    rule = public_rule(epsilon, shape, categories, base=data.draw(st.none() | parts), rows_per_person=rows)
    found = weights_of(counts, rule)
    assert certified(counts, rule, epsilon, found).failure is None
    k, by = data.draw(st.integers(0, len(found.weights) - 1)), data.draw(st.sampled_from([-1, 1, 2**70]))
    planted = [weight + by * (i == k) for i, weight in enumerate(found.weights)]
    wrong = certified(counts, rule, epsilon, replace(found, weights=tuple(planted)))
    assert f"weight of cell {found.cells[k]} " in wrong.failure
    kept = tuple(weight for i, weight in enumerate(found.weights) if i != k)
    assert not certified(counts, rule, epsilon, replace(found, cells=np.delete(found.cells, k), weights=kept)).holds


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_a_weight_that_is_the_rules_with_other_people_gone_is_refused(epsilon):
    """With nobody gone, with a cell's own people gone, or with all who are near: one of them is right, no other."""
    rule, planted = public_rule(epsilon, (7,)), [0, 0, 0]
    for own in range(40):
        counts = [2, 0, 1, own, 1, 0, 3]
        found = weights_of(counts, rule)
        for k, x in enumerate(found.cells.tolist()):
            nears = {z: near(x, z, rule) for z in range(7) if z != x and counts[z]}
            others = rule.floor(x) + min(rule.cap, sum(counts[z] * each for z, each in nears.items()))
            everyone = counts[x] + sum(counts[z] for z, each in nears.items() if each)
            ways = [
                score(counts, x, rule),
                rule.power(counts[x]) * others >> POWER_BITS,
                rule.power(everyone) * rule.floor(x) >> POWER_BITS,
            ]
            assert found.weights[k] <= min(ways)
            for way, weight in enumerate(ways):
                if weight != found.weights[k]:
                    wrong = (*found.weights[:k], weight, *found.weights[k + 1 :])
                    assert not certified(counts, rule, epsilon, replace(found, weights=wrong)).holds
                    planted[way] += weight <= rule.unit * counts[x] + rule.floor(x) + rule.cap
    assert (planted[0] if epsilon > 0.5 else min(planted)) > 0  # such weights are not too large for the cell anyway


@pytest.mark.parametrize(
    "bug",
    [
        {"height": 0},
        {"cap": 0},
        {"alone": 2**40},
        {"near": [[2**16], [2**16]]},
        {"categories": [0, 0]},
        {"shape": [7, 6], "categories": [0, 1]},
        {"rows_per_person": 2},
    ],
)
def test_weights_by_another_rule_are_noticed(bug):
    counts = np.random.default_rng(3).integers(0, 3, 42)
    rule = public_rule(1.0, (6, 7), (0, 1))
    found = weights_of(counts, rule)
    assert certified(counts, rule, 1.0, found).holds
    assert not certified(counts, rule, 1.0, found, **bug).holds


@pytest.mark.parametrize(
    "other",
    [
        {"factor": 2**40},
        {"factor": int(math.e * 2**40)},
        {"floors": [2**18]},
        {"floors": [0]},
        {"floors": [2**40] * 5},
        {"cap": -1},
        {"cap": 0.5},
        {"alone": 2**26},
        {"alone": 2**28 + 5, "cap": 0, "height": 0},
        {"cap": 2**62},
        {"near": [[2**16 + 1]]},
        {"near": [[]]},
        {"near": [[2**16] * 8]},
        {"height": 2**60},
        {"unit": 0},
        {"shape": [2**25]},
        {"rows_per_person": 0},
        {"rows_per_person": 10**5},
        {"factor": -2 * 2**40, "cap": 1 << (2**21 + 200)},
    ],
)
def test_a_rule_that_is_not_safe_for_every_dataset_is_refused(other):
    rule = public_rule(1.0, (7,))
    counts = [3, 1, 2, 0, 0, 0, 5]
    assert certified(counts, rule, 1.0, weights_of(counts, rule)).holds
    assert not certified(counts, rule, 1.0, weights_of(counts, rule), **other).holds


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize(("rows", "floors"), [(1, [2**23]), (3, [2**30, *[2**35] * 6]), (2, [2**55])])
def test_the_factor_of_a_rule_leaves_exactly_what_rounding_needs(epsilon, rows, floors):
    """E (1 + h) (1 + 1/floor) is at most (1/(1 + h) - 1/floor) e^(epsilon/rows), for the least floor, and no more so
    with the next factor."""
    h, least = Fraction(1, 2**42), Fraction(1, floors[0])
    most = (1 / (1 + h) - least) / ((1 + h) * (1 + least)) * exp_lower_bound(Fraction(epsilon) / rows)
    rule = public_rule(epsilon, (7,), rows_per_person=rows).to_json() | {"floors": floors, "alone": 2**70}
    largest = math.floor(most * 2**40)
    assert _public_failure(epsilon, rule | {"factor": largest}) is None
    assert "by more than e^epsilon" in _public_failure(epsilon, rule | {"factor": largest + 1})


def test_powers_are_rounded_down_by_the_rule_and_by_its_check():
    """So that e[j + 1] is at most E e[j]: rounded up, one person more would change a weight by more than E."""
    rule = public_rule(0.3, (7,))
    found = weights_of([0, 0, 0, 50, 0, 0, 2], rule)
    sweep = _Sweep([3, 6], [50, 2], found.cells.tolist(), found.weights, rule.to_json())
    sweep._prepare_powers()
    for powers in ([rule.power(j) for j in range(60)], sweep.powers.tolist()):
        assert len(powers) > 5
        for one, following in itertools.pairwise(powers):
            assert 0 <= one * rule.factor - (following << 40) < 1 << 40


NOT_AN_ENVELOPE = {
    "a factor that needs more powers than their rounding allows": (
        {"factor": 2**40 + 2**26, "alone": 2**60},
        "more than",
    ),
    "a nearness above one": ({"near": [[2**16 + 1]]}, "not one of an envelope"),
    "a nearness below zero": ({"near": [[2**16, -1]]}, "not one of an envelope"),
    "more than a person": (lambda rule: {"height": rule["unit"] + 1}, "not one of an envelope"),
    "a cell without a floor": ({"floors": [2**30] * 6 + [0], "alone": 2**60}, "not one of an envelope"),
    "a crowd below its cap": (
        lambda rule: {"alone": 2**61 - 1, "cap": 2**61 - rule["floors"][0]},
        "not one of an envelope",
    ),
    "a crowd too small": (
        lambda rule: {"alone": -(-rule["unit"] * 2**40 // (rule["factor"] - 2**40)) - 1},
        "not one of",
    ),
    "rows of another number": ({"rows_per_person": 2}, "by more than e^epsilon"),
}


@pytest.mark.parametrize("bug", NOT_AN_ENVELOPE)
def test_each_condition_of_the_proof_is_asked_for_by_itself(bug):
    """Whatever the data: so nothing else, such as weights that do not follow, is there to refuse it."""
    rule = public_rule(1.0, (7,)).to_json() | {"cap": 0}
    fine = {"alone": -(-rule["unit"] * 2**40 // (rule["factor"] - 2**40))}
    assert _public_failure(1.0, rule | fine) is None
    change, said = NOT_AN_ENVELOPE[bug]
    changed = rule | fine | (change(rule) if callable(change) else change)
    assert said in _public_failure(1.0, changed)


@pytest.mark.parametrize(
    ("cells", "people", "weight_cells"),
    [
        ([0, 3], [2, 0], [0, 3]), ([0, 0], [1, 1], [0, 3]), ([0, 3], [1, 1], [3, 0]), ([0, 7], [1, 1], [0, 3]),
        ([0], [1, 1], [0, 3]),
    ],
)  # fmt: skip
def test_lists_that_do_not_belong_together_are_refused(cells, people, weight_cells):
    found = certify_envelope(cells, people, weight_cells, [2**30] * 2, 1.0, public_rule(1.0, (7,)).to_json())
    assert "belong together" in found.failure


@pytest.mark.parametrize(("shape", "categories"), GRIDS)
@settings(max_examples=20)
@given(data=st.data(), epsilon=st.sampled_from(EPSILONS))
def test_taking_one_person_out_changes_only_what_is_within_reach(shape, categories, data, epsilon):
    rule = public_rule(epsilon, shape, categories)
    counts = np.array(data.draw(few_people(rule.cells, 12)))
    occupied = np.flatnonzero(counts)
    full = weights_of(counts, rule).dense()
    for cell, (targets, found) in zip(occupied, each_without_one(occupied, counts[occupied], rule), strict=True):
        assert targets.tolist() == within_reach(cell, rule).tolist()
        fewer = counts - (np.arange(len(counts)) == cell)
        expected = weights_of(fewer, rule).dense()
        assert found == [expected[x] for x in targets]
        assert all(expected[x] == full[x] for x in set(range(rule.cells)) - set(targets.tolist()))


def test_a_million_cells_take_seconds():
    rng = np.random.default_rng(5)
    rule = public_rule(1.0, (1000, 1000))
    where = np.clip(rng.normal(500, 40, (2, 500)).astype(int), 0, 999)
    counts = np.bincount(np.ravel_multi_index(where, (1000, 1000)), minlength=10**6)
    began = time.perf_counter()
    found = weights_of(counts, rule)
    assert certified(counts, rule, 1.0, found).holds
    assert time.perf_counter() - began < 60
    assert 10**5 < len(found.cells) < 10**6


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ([1.0, 2.0], "2 numbers, but the grid has 3 cells"),
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
        public_rule(1.0, (3,), base=base)


@pytest.mark.parametrize(("epsilon", "rows"), [(1e-5, 1), (1e-3, 100), (math.inf, 1), (1.0, 0), (1.0, 2.5)])
def test_an_epsilon_or_rows_that_no_rule_is_for_are_refused(epsilon, rows):
    with pytest.raises(BadInput):
        public_rule(epsilon, (3,), rows_per_person=rows)


def test_a_base_draws_the_empty_cells_towards_it():
    counts = [50] + [0] * 39
    rules = public_rule(1, (40,)), public_rule(1, (40,), base=[0.0] * 39 + [1.0])
    even, tilted = (np.array(weights_of(counts, rule).dense()) / rule.unit for rule in rules)
    assert tilted[39] == pytest.approx(20.5 * even[39], rel=1e-3)
    assert tilted[38] == pytest.approx(even[38] / 2, rel=1e-3)
