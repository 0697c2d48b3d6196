"""Bounds under differential privacy: the law, exactly, beside a plain transcription of it, and what it is good for."""

import inspect
import itertools
import math
import os
import random
from fractions import Fraction

import numpy as np
import pytest

from equinoise.mechanisms import private_bounds
from equinoise.mechanisms.power_draws import Group, _group_of, _powers, draw_group
from equinoise.mechanisms.private_bounds import (
    CELLS,
    FAR_ENDS,
    NEAR_ENDS,
    PARTS,
    Family,
    Level,
    People,
    Place,
    draw_bounds,
)
from tests.conftest import seeded_bytes

PLACES = (0, 3, 9, -8, 20)
"""Where people of the small datasets may be."""


class SmallFamily(Family):
    """Four widths and few windows, so that every interval can be looked at."""

    levels = tuple(Level(Fraction(width), prior) for width, prior in (("1", 3), ("5/4", 2), ("2", 5), ("5", 1)))


SMALL = SmallFamily(2.0, reach=14)


def plain_law(values, score=None):
    """Every interval of the small family by its level, window and option: prior and score, one by one."""
    found = {}
    for number, level in enumerate(SMALL.levels):
        cells = [math.floor(Fraction(value) / level.width) for value in values]
        for start in range(-SMALL.reach, SMALL.reach + 1):
            near = 0 <= start <= 2 or -2 <= start + CELLS <= 0
            for option, (prior, *longer) in enumerate(NEAR_ENDS if near else FAR_ENDS):
                if near:
                    low, high = (0, start + CELLS + longer[0]) if start >= 0 else (start - longer[0], 0)
                else:
                    low, high = start - longer[0], start + CELLS + longer[1]
                    if start >= 0 > low:
                        low, high = 0, high - low
                    elif start + CELLS <= 0 < high:
                        low, high = low - high, 0
                prior *= level.prior * (2**30 // (2 * CELLS + abs(2 * start + CELLS)))  # noqa: PLW2901
                inside = sum(low <= cell < high for cell in cells)
                counts = [cells.count(start + i) for i in range(CELLS)]
                found[number, start, option] = prior, (score or plain_score)(len(cells), inside, counts)
    return found


def plain_score(people, inside, counts):
    within, fullest = sum(counts), max(a + b for a, b in itertools.pairwise(counts))
    spread = min(2 * within, 3 * (people - fullest))
    return min(2 * inside + spread, PARTS * max(0, within - SMALL.spared))


def probabilities(law):
    weights = {place: prior * SMALL.ratio**score for place, (prior, score) in law.items()}
    total = sum(weights.values())
    return {place: weight / total for place, weight in weights.items()}


def people_of(values, family=SMALL):
    return People(*np.unique(np.array(values, dtype=float), return_counts=True), family)


def worst_ratio(most, score=None):
    """The largest ratio of probabilities with one person more, over all datasets of at most so many people."""
    worst = Fraction(0)
    for many in range(most + 1):
        for values in itertools.combinations_with_replacement(PLACES, many):
            before = probabilities(plain_law(values, score))
            for value in PLACES:
                after = probabilities(plain_law([*values, value], score))
                worst = max(worst, *(max(p / after[place], after[place] / p) for place, p in before.items()))
    return worst


def test_one_person_more_or_less_changes_no_probability_by_more_than_the_factor():
    series = sum(Fraction(2) ** k / math.factorial(k) for k in range(30))  # below e^2
    assert SMALL.ratio**PARTS < series
    assert 1 < worst_ratio(2) <= SMALL.ratio**PARTS


def test_a_score_that_weighs_people_too_much_would_be_found_out():
    def score(people, inside, counts):
        return PARTS * (inside + sum(counts))

    assert worst_ratio(1, score) > SMALL.ratio**PARTS


@pytest.mark.parametrize("span", [10**6, 3])
def test_the_law_is_that_of_the_plain_transcription(span):
    values = random.Random(1)
    for _ in range(12):
        some = [values.choice([*PLACES, 1, 2.5, 7, 11.25, -3, 40, 1e9]) for _ in range(values.randrange(7))]
        law = plain_law(some)
        assert sum(prior for prior, _ in law.values()) == SMALL.total
        scored, floor = people_of(some).scored(span)
        rows = zip(map(tuple, scored.places.tolist()), scored.priors.tolist(), scored.scores.tolist(), strict=True)
        found = {place: (prior, score) for place, prior, score in rows}
        assert found == {place: told for place, told in law.items() if told[1] > floor}


def test_draws_fit_the_law():
    """Chi-square at 1e-9; the law of other people is rejected."""
    values, times = np.unique(np.array([3.0] * 6 + [9.0] * 2 + [20.0]), return_counts=True)
    source, drawn = seeded_bytes(3), {}
    for _ in range(400):
        ends = draw_bounds(values, times, SMALL, source)
        drawn[ends] = drawn.get(ends, 0) + 1
    assert misfit(drawn, [3.0] * 6 + [9.0] * 2 + [20.0]) < 6
    assert misfit(drawn, [3.0] + [9.0] * 2 + [20.0] * 6) > 6


def misfit(drawn, values):
    """The largest distance of a count from what is expected, in standard deviations."""
    expected = {}
    for place, p in probabilities(plain_law(values)).items():
        ends = SMALL.bounds(Place(*place))
        expected[ends] = expected.get(ends, 0) + float(p)
    many = sum(drawn.values())
    return max(
        abs(drawn.get(ends, 0) - many * p) / math.sqrt(many * p * (1 - p))
        for ends, p in expected.items()
        if many * p > 5
    )


def test_a_draw_on_the_edge_of_two_groups_takes_more_bits():
    """Two groups of weights 2 : 1, and a number that is 2/3 as far as the first 128 bits tell."""
    asked = []

    def groups(bits):
        asked.append(bits)
        return [Group(1, 1, 1), Group(1, 0, 0)]

    edge = (2 << 256) // 3
    first, more = edge >> 128, edge & (2**128 - 1)
    parts = iter([first.to_bytes(16, "little"), (more + 1).to_bytes(16, "little")])
    assert draw_group(groups, Fraction(2), lambda size: next(parts)) == -1
    assert asked == [128, 256]
    parts = iter([first.to_bytes(16, "little"), (more - 1).to_bytes(16, "little")])
    assert draw_group(groups, Fraction(2), lambda size: next(parts)) == 0


def test_what_is_only_known_from_above_is_worked_out_before_it_is_drawn():
    seen = []

    def groups(bits):
        seen.append(bits)
        return [Group(1, 9, 9), Group(2**20, 0, 8 if bits < 256 else 0)]

    assert draw_group(groups, Fraction(2), lambda size: b"\xff" * size) == -1
    assert seen == [128, 256]


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (np.random.default_rng(1).normal(180, 9, 3000).round(), 150, 260),
        (np.random.default_rng(2).lognormal(10, 0.6, 3000), 0, 10**6),
        (-np.random.default_rng(2).lognormal(1, 0.6, 3000), -60, 10),
    ],
)
def test_bounds_hold_nearly_everyone_and_are_not_far_wider(values, low, high):
    source = seeded_bytes(5)
    for _ in range(5):
        found = tuple(map(float, draw_bounds(*np.unique(values, return_counts=True), Family(0.1), source)))
        assert np.mean((values >= found[0]) & (values <= found[1])) >= 0.95
        assert found[1] - found[0] <= 2 * (values.max() - values.min())
        assert low <= found[0] < found[1] <= high


def test_a_column_of_nobody_and_steps_have_bounds():
    nobody = np.empty(0), np.empty(0, dtype=np.int64)
    low, high = draw_bounds(*nobody, Family(0.1, step=0.25), seeded_bytes(1))
    assert low < high
    assert {(4 * low).denominator, (4 * high).denominator} == {1}
    assert not len(people_of([]).scored(10)[0].scores)


VALUES = [3.0] * 6 + [9.0] * 2 + [20.0]


@pytest.mark.parametrize("bits", [2, 128])
def test_weights_of_all_groups_are_those_of_the_law(monkeypatch, bits):
    """Those with a score above a floor one by one, all others together."""
    seen = []
    monkeypatch.setattr(private_bounds, "draw_group", lambda groups, *rest: seen.extend(groups(bits)) or 0)
    draw_bounds(*np.unique(VALUES, return_counts=True), SMALL, seeded_bytes(1))
    *groups, rest = seen
    law = {}
    for prior, score in plain_law(VALUES).values():
        law[score] = law.get(score, 0) + prior
    assert {group.high: group.weight for group in groups} == {s: w for s, w in law.items() if s > rest.high}
    assert rest == (sum(weight for score, weight in law.items() if score <= rest.high), 0, rest.high)
    assert (rest.high > 0) == (bits == 2)


def test_an_interval_with_a_score_is_not_drawn_among_those_without(monkeypatch):
    law = plain_law(VALUES)
    scored, empty = (next(place for place, (_, s) in law.items() if (s > 0) is wanted) for wanted in (True, False))
    drawn = iter([Place(*scored), Place(*empty)])
    monkeypatch.setattr(private_bounds, "draw_group", lambda groups, *rest: groups(128) and -1)
    monkeypatch.setattr(Family, "draw_place", lambda family, source: next(drawn))
    found = draw_bounds(*np.unique(VALUES, return_counts=True), SMALL, seeded_bytes(1))
    assert found == SMALL.bounds(Place(*empty)) != SMALL.bounds(Place(*scored))


def test_each_of_some_weights_comes_out_where_its_share_begins(monkeypatch):
    numbers = iter(range(6))
    monkeypatch.setattr(private_bounds, "uniform", lambda limit, size, source: np.array([next(numbers)]))
    assert [private_bounds.draw_one(np.array([1, 2, 3]), None) for _ in range(6)] == [0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("start", [0, 3, -30])
def test_bounds_with_a_step_are_rounded_outwards(start):
    family, step = Family(1.0, step=0.7), Fraction(7, 10)
    for option in range(len(NEAR_ENDS)):
        low, high = (int(end) * family.levels[2].width for end in private_bounds.ends(np.array(start), option))
        found = family.bounds(Place(2, start, option))
        assert low - step < found[0] <= low < high <= found[1] < high + step
        assert [(end / step).denominator for end in found] == [1, 1]


def test_bounds_are_of_the_bytes_of_the_operating_system():
    for draw in (draw_bounds, draw_group):
        assert inspect.signature(draw).parameters["source"].default is os.urandom


def test_the_first_and_last_number_of_a_share_are_of_its_group():
    """Two shares of a half: no more bits are needed for the numbers beside the edge."""
    for number, group in ((2**127 - 1, 0), (2**127, -1), (0, 0), (2**128 - 1, -1)):
        parts = iter([number.to_bytes(16, "little")])
        found = draw_group(lambda bits: [Group(1, 1, 1), Group(2, 0, 0)], Fraction(2), lambda size: next(parts))  # noqa: B023
        assert found == group


@pytest.mark.parametrize(("power", "group"), [(0, 0), (8, 1)])
def test_what_is_only_known_from_above_may_be_nothing(power, group):
    """A number that is in the share of one group or another, as all others weigh 2^20 or 2^28."""

    def groups(bits):
        return [Group(1, 9, 9), Group(1, 8, 8), Group(2**20, power if bits > 128 else 0, power if bits > 128 else 8)]

    parts = iter([(600 << 100).to_bytes(16, "little"), bytes(16)])
    assert draw_group(groups, Fraction(2), lambda size: next(parts)) == group


def test_whole_numbers_around_powers_are_around_them():
    exponents, ratio = [170, 165, 100, 99, 0], Fraction(10, 7)
    for exponent, (low, high) in zip(exponents, _powers(exponents, ratio, 256), strict=True):
        exact = 2**256 * ratio ** (exponent - 170)
        assert low <= exact <= high < low + 200
        assert (low < high) == (exponent < 170)


def test_a_group_is_told_only_if_it_has_every_number_that_begins_so():
    """Of few bits, for every number, beside the exact shares."""
    chosen, told = random.Random(2), []
    for ratio in [Fraction(10, 7), Fraction(8, 7), Fraction(5, 2)] * 10:
        groups = [Group(chosen.randrange(1, 99), power, power) for power in range(9, -1, -1)]
        shares = [group.weight * ratio**group.high for group in groups]
        edges = [sum(shares[:i]) / sum(shares) for i in range(len(shares) + 1)]
        for number in range(2**5):
            group = _group_of(number, 5, groups, ratio)
            told.append(group)
            if group is not None:
                assert edges[group] <= Fraction(number, 2**5)
                assert Fraction(number + 1, 2**5) <= edges[group + 1]
    assert set(range(5)) < set(told)
