"""What ``benchmarks/size.py`` measures, against all outcomes, all datasets and all ways to take people out."""

import itertools
import math

import numpy as np
import pytest

from benchmarks.envelope import distances
from benchmarks.size import CHOSEN, ROWS, Constants, by_size, decided, search
from benchmarks.size_cost import enumerated, random_pairs, two_point
from benchmarks.size_weights import around, least, step_weights

SHAPE, CATEGORIES = (2, 5), (2, 0)


def test_the_bound_is_never_below_all_outcomes():
    pairs = np.array(list(random_pairs(300)))
    assert (pairs[:, 0] >= pairs[:, 1] - 1e-12).all()
    assert (pairs[:, 1] > 0.9 * pairs[:, 0])[pairs[:, 0] > 0].any()


def test_less_growth_than_there_is_would_be_noticed():
    epsilon, growth, draws, total = 0.5, 0.02, 3, 0.4
    hit = growth / math.expm1(epsilon)
    p, q = np.array([hit, 1 - hit]), np.array([hit * math.exp(epsilon), 1 - hit])
    truth = enumerated(p, q / q.sum(), draws, total)
    assert two_point(draws, epsilon, growth, total) >= truth > two_point(draws, epsilon, 0.9 * growth, total)


@pytest.mark.parametrize("alone", [math.inf, 3.3])
def test_weights_are_the_least_over_all_ways_to_take_people_out(alone):
    """Each stays, is taken out by the factor, or by the step."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        own, counts, nears = int(rng.integers(0, 5)), rng.integers(1, 3, 2), np.array([0.5, 0.2])
        epsilon, step, floor, cap = (
            rng.uniform(0.05, 1.5),
            rng.uniform(1, 3),
            10 ** rng.uniform(-2, 0),
            rng.uniform(0.1, 1.5),
        )
        people = [(1.0, True)] * own + [(near, False) for near in np.repeat(nears, counts)]
        found = math.inf
        for way in itertools.product("sfp", repeat=len(people)):
            stay = [person for person, each in zip(people, way, strict=True) if each == "s"]
            n, s = sum(mine for _, mine in stay), floor + min(cap, sum(near for near, mine in stay if not mine))
            paid = sum(near for (near, _), each in zip(people, way, strict=True) if each == "p")
            found = min(found, math.exp(epsilon * way.count("f")) * max(n, min(n + s, alone)) + step * paid)
        assert least(own, nears, counts, floor, cap, alone, epsilon, step) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("constants", [CHOSEN, Constants(step=1.5, reach=0.3, floor=0.5, alone=True)])
def test_nobody_changes_the_weights_of_any_small_dataset_by_more(constants):
    """By the factor, the step and the total; and two rows cost what they cost by all outcomes, or less."""
    epsilon = 0.7
    rule = constants.rule(epsilon, SHAPE, CATEGORIES)
    most, near = constants.step * (1 + around(rule)), rule.near_table[0] / rule.unit
    assert most > constants.step

    def weigh(people):
        counts = np.bincount(people, minlength=10).reshape(SHAPE)
        return step_weights(counts, rule, epsilon, constants.step, constants.alone)

    for people in itertools.combinations_with_replacement(range(10), 3):
        before = weigh(people)
        for z in (0, 7):
            after = weigh((*people, z))
            far = [abs(x - z) if x // 5 == z // 5 else len(near) for x in range(10)]
            counts = np.array([1.0 if d == 0 else near[d] if d < len(near) else 0.0 for d in far])
            assert (after >= before * (1 - 1e-12)).all()
            assert (
                after <= np.minimum(math.exp(epsilon) * before, before + constants.step * counts) * (1 + 1e-12)
            ).all()
            assert after.sum() <= before.sum() + most
            truth = enumerated(before / before.sum(), after / after.sum(), 2, 0.3)
            assert truth <= two_point(2, epsilon, most / before.sum(), 0.3) + 1e-12


def test_more_rows_are_farther_and_a_free_total_is_closer():
    counts = np.random.default_rng(0).poisson(60, SHAPE)
    near, free = by_size(counts, CATEGORIES, CHOSEN), by_size(counts, CATEGORIES, CHOSEN, free=True)
    assert len(near) == len(ROWS)
    assert (np.diff(near[:, 1]) >= 0).all()
    assert (free[:, 1] <= near[:, 1]).all()
    assert search([(counts, CATEGORIES)], ROWS[:1], 3, free=True)[1] <= free[0, 1]
    assert near[-1, 1] < distances(counts, np.full(10, 0.1))[0]


def test_the_criterion_asks_for_all_numbers_of_rows():
    good, bad = np.array([[0.1, 0.1]] * 4), np.array([[0.1, 0.1]] * 3 + [[0.1, 0.14]])
    other = np.full((4, 2), 0.2)
    found = {str(k): (100, other, 0.2, good if k < 5 else bad, good[:, 1]) for k in range(7)}
    assert "5 of 7 tables (7 in hindsight)" in decided(found)
    assert "kept" in decided(found)
    found["0"] = 100, other, 0.2, bad, good[:, 1]
    assert "not built" in decided(found)
