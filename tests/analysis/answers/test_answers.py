"""Answers from noisy counts: how often intervals hold the truth, and what they say where there is nothing to say."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from equinoise.analysis.answers import NoisyTable, correlation, count, difference, mean, quantile, share
from equinoise.analysis.answers.answer import NOTHING, SEVERAL
from equinoise.analysis.answers.means import LEAST_P, difference_interval, mean_interval
from equinoise.analysis.answers.number_column import number_column
from equinoise.data.grid import Axis, CategoryAxis
from equinoise.errors import BadInput
from equinoise.synthesis.noisy_counts import NoiseLaw, noise_law

AGE = Axis("age", 18.0, 97.0, 40, 0.5, 1.0)
HOURS = Axis("hours", 0.0, 60.0, 30)
WARD = CategoryAxis("ward", ("elective", "emergency", "day"))
REJECT = 1e-9


def noise(rng, scale, shape):
    a = -math.expm1(-1 / scale)
    return rng.geometric(a, shape) - rng.geometric(a, shape)


def table_of(counts, axes, epsilon=1.0, rows=1):
    return NoisyTable(np.asarray(counts), tuple(axes), noise_law(epsilon, rows))


def crossed(rng, people, law, told=None):
    """Ages in three wards, which differ a little, with noise of a law; the table may be told another one."""
    chances = np.stack(
        [w * np.exp(-(((AGE.midpoints() - mu) / 14) ** 2)) for w, mu in ((5, 50), (3, 55), (2, 50))], axis=1
    )
    chances /= chances.sum()
    counts = rng.multinomial(people, chances.ravel()).reshape(chances.shape)
    return NoisyTable(counts + noise(rng, law.scale, counts.shape), (AGE, WARD), told or law), counts, chances


def truths(counts, chances):
    steps = np.arange(18, 98)
    p = np.repeat(chances / 2, 2, axis=0)
    means = steps @ p / p.sum(axis=0)
    below = np.cumsum(p.sum(axis=1))
    return {
        "mean": steps @ p.sum(axis=1), "median": steps[np.searchsorted(below, 0.5)],
        "quartile": steps[np.searchsorted(below, 0.25)], "share": p[:, 1].sum(), "count": counts[:, 2].sum(),
        "difference": means[0] - means[1],
    }  # fmt: skip


def answers(table):
    yield "mean", mean(table, "age")
    yield "median", quantile(table, "age", 0.5)
    yield "quartile", quantile(table, "age", 0.25)
    yield "share", share(table, "ward", "emergency")
    yield "count", count(table, "ward", "day")
    groups = [number_column(table.where("ward", ward), "age") for ward in ("elective", "emergency")]
    estimate, low, high = difference_interval(*groups, 0.95)
    yield "difference", replace(count(table), estimate=estimate, low=low, high=high)


def held(people, epsilon, told, runs, seed):
    """In how many runs each answer's interval holds the truth."""
    rng, law, found = np.random.default_rng(seed), noise_law(epsilon), {}
    for _ in range(runs):
        table, counts, chances = crossed(rng, people, law, told)
        true = truths(counts, chances)
        for name, answer in answers(table):
            found[name] = found.get(name, 0) + (answer.low - 1e-9 <= true[name] <= answer.high + 1e-9)
    return found


@pytest.mark.parametrize(("people", "epsilon"), [(200, 0.5), (2000, 2.0)])
def test_intervals_hold_the_truth_as_often_as_their_level_says(people, epsilon):
    for name, inside in held(people, epsilon, None, 100, 1).items():
        assert binom.cdf(inside, 100, 0.94) > REJECT, name


def test_intervals_of_another_noise_than_there_is_are_noticed():
    told = NoiseLaw(noise_law(0.5).scale / 4, 1)
    found = held(200, 0.5, told, 100, 1)
    for name in ("mean", "count"):
        assert binom.cdf(found[name], 100, 0.94) < REJECT, name


def test_the_order_of_categories_does_not_matter_and_differences_change_sign():
    table, *_ = crossed(np.random.default_rng(3), 300, noise_law(1.0))
    turned = NoisyTable(table.counts[:, ::-1], (AGE, replace(WARD, names=WARD.names[::-1])), table.law)
    for name, answer in answers(table):
        assert answer == dict(answers(turned))[name]
    there = difference(table, "age", "ward", "elective", "emergency")
    back = difference(turned, "age", "ward", "emergency", "elective")
    ends = (-back.high, -back.estimate, -back.low, back.p_value)
    assert (there.low, there.estimate, there.high, there.p_value) == pytest.approx(ends)


def test_a_column_counted_downwards_has_the_mirrored_answers():
    counts = crossed(np.random.default_rng(4), 300, noise_law(1.0))[0].counts.sum(axis=1)
    mirrored = replace(AGE, low=-97.0, high=-18.0)
    up, down = table_of(counts, [AGE]), table_of(counts[::-1], [mirrored])
    for ask, other in ((mean(up, "age"), mean(down, "age")), (quantile(up, "age", 0.3), quantile(down, "age", 0.7))):
        assert (ask.low, ask.high) == pytest.approx((-other.high, -other.low))


@pytest.mark.parametrize("counts", [np.zeros(40, int), np.full(40, -3), np.eye(1, 40, 7, dtype=int)[0]])
def test_where_nobody_is_to_be_seen_the_answer_is_the_whole_range_and_says_so(counts):
    for answer in (mean(table_of(counts, [AGE], 0.1), "age"), quantile(table_of(counts, [AGE], 0.1), "age", 0.5)):
        assert (answer.low, answer.high, answer.contains) == (18.0, 97.0, (NOTHING,))
    wards = table_of(np.stack([counts, counts, counts], axis=1), [AGE, WARD], 0.1)
    found = share(wards, "ward", "day")
    assert (found.low, found.high, found.contains) == (0.0, 1.0, (NOTHING,))
    found = difference(wards, "age", "ward", "day", "elective")
    assert (found.low, found.high, found.contains, found.p_value) == (-79.0, 79.0, (NOTHING,), 1.0)
    found = count(table_of(np.full(40, -3), [AGE], 0.1))
    assert (found.estimate, found.low) == (0.0, 0.0)
    squared = table_of(np.stack([counts[:30]] * 30, axis=1), [HOURS, replace(HOURS, name="pause")], 0.1)
    found = correlation(squared, "hours", "pause")
    assert -1 <= found.low <= found.high <= 1


def test_without_noise_and_sampling_intervals_close_on_one_value():
    counts = np.zeros(80, int)
    counts[30] = 10**6
    table = table_of(counts, [replace(AGE, bins=80)], 100.0)
    for answer in (mean(table, "age"), quantile(table, "age", 0.5)):
        assert (answer.low, answer.estimate, answer.high) == pytest.approx((48, 48, 48), abs=1e-3)
    assert count(table).low == count(table).high == 10**6
    wards = CategoryAxis("ward", ("a",), "category")
    assert share(table_of([10**6, 0], [wards], 100.0), "ward", "a").low == pytest.approx(1, abs=1e-4)


def test_a_mean_without_noise_is_that_of_the_sample_by_the_textbook():
    rng = np.random.default_rng(5)
    values = np.clip(np.round(rng.normal(50, 12, 5000)), 18, 97)
    axis = replace(AGE, bins=80)
    table = table_of(np.bincount((values - 18).astype(int), minlength=80), [axis], 50.0)
    found, error = mean(table, "age"), values.std(ddof=1) / math.sqrt(5000)
    ends = values.mean() - 1.96 * error, values.mean(), values.mean() + 1.96 * error
    assert (found.low, found.estimate, found.high) == pytest.approx(ends, abs=0.05 * error)


def test_the_missing_have_no_number_but_count_as_a_category():
    counts = np.zeros((41, 3), int)
    counts[10:12], counts[40] = 200, 900
    table = table_of(counts, [replace(AGE, bins=41, missing="category"), WARD], 5.0)
    assert 38 < mean(table, "age").low < mean(table, "age").high < 42
    assert share(table, "age", None).estimate == pytest.approx(2700 / 3900, rel=1e-3)
    assert count(table.where("age", None)).estimate == 2700


def test_the_p_value_is_the_level_at_which_the_interval_reaches_no_difference():
    table, *_ = crossed(np.random.default_rng(6), 400, noise_law(1.0))
    found = difference(table, "age", "ward", "elective", "emergency", 0.9)
    assert LEAST_P < found.p_value < 1
    for factor, rejected in ((1.01, True), (0.99, False)):
        again = difference(table, "age", "ward", "elective", "emergency", 1 - factor * found.p_value)
        assert (again.low <= 0 <= again.high) is not rejected


def test_several_rows_a_person_widen_what_is_sampled_and_are_said():
    counts = np.zeros(40, int)
    counts[:] = 900 * np.exp(-(((np.arange(40) - 20) / 8) ** 2))
    alone, together = (mean(NoisyTable(counts, (AGE,), NoiseLaw(0.05, rows)), "age") for rows in (1, 9))
    assert SEVERAL in together.contains
    assert SEVERAL not in alone.contains
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(3, rel=0.03)


def test_limits_make_room_for_a_heap_anywhere_in_its_bin():
    counts = np.full(30, 100)
    counts[15] = 4000  # hours from 30 to 32: all may be 30, or just below 32
    table = table_of(counts, [HOURS], 50.0)
    evenly = counts / counts.sum()
    found = mean(table, "hours")
    for at in (30, 32):
        assert found.low < evenly @ np.where(np.arange(30) == 15, at, HOURS.midpoints()) < found.high
    found = quantile(table, "hours", 0.5)
    assert (found.low, found.high) == (30, 32)


def test_a_correlation_is_found_and_symmetric():
    rng = np.random.default_rng(7)
    drawn = rng.multivariate_normal([30, 30], [[60, 40], [40, 60]], 4000)
    bins = np.clip(drawn // 4, 0, 14).astype(int)
    counts = np.bincount(bins @ [15, 1], minlength=225).reshape(15, 15) + noise(rng, 1.0, (15, 15))
    axes = [Axis(name, 0.0, 60.0, 15) for name in ("hours", "pay")]
    found = correlation(table_of(counts, axes), "hours", "pay", 0.999)
    turned = correlation(table_of(counts.T, axes[::-1]), "hours", "pay", 0.999)
    assert found.low < 2 / 3 < found.high
    assert found.high - found.low < 0.2
    assert (found.low, found.high) == pytest.approx((turned.low, turned.high), abs=1e-6)
    against = correlation(table_of(counts[:, ::-1], axes), "hours", "pay", 0.999)
    assert (against.low, against.high) == pytest.approx((-found.high, -found.low), abs=1e-4)


def test_higher_levels_have_wider_intervals_within_the_bounds():
    table, *_ = crossed(np.random.default_rng(8), 200, noise_law(0.5))
    column = number_column(table, "age")
    widths = [high - low for _, low, high in (mean_interval(column, level) for level in (0.5, 0.8, 0.95, 0.99))]
    assert widths == sorted(widths)
    assert all(18 <= answer.low <= answer.high <= 97 for answer in (mean(table, "age"), quantile(table, "age", 0.01)))


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda t: mean(t, "weight"), "There is no column 'weight'. The columns are 'age' and 'ward'."),
        (lambda t: mean(t, "ward"), "has categories"),
        (lambda t: mean(t, "age", 1.0), "'level' parameter must be a number from 0.5 to 0.9999. Got 1"),
        (lambda t: quantile(t, "age", 1), "'q' parameter must be a number between 0 and 1. Got 1"),
        (lambda t: share(t, "ward", "night"), "no category 'night'. The categories are 'elective', 'emergency' and"),
        (lambda t: count(t, "ward", None), "no category for missing values"),
        (lambda t: share(t, "age", 50), "has numbers, not categories"),
        (lambda t: correlation(t, "age", "age"), "two different columns"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(ask, says):
    with pytest.raises(BadInput, match=says):
        ask(table_of(np.zeros((40, 3), int), [AGE, WARD]))


def test_counts_of_another_shape_are_refused():
    with pytest.raises(BadInput, match="There must be 40 whole noisy counts"):
        table_of(np.zeros(39, int), [AGE])
