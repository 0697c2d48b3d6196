"""What rows tell, by two routes: from probabilities of cells, and by NumPy, pandas and SciPy from rows written out."""

import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import association as scipy_association

import equinoise
from equinoise.data.grid import Axis, CategoryAxis
from equinoise.statistics import summaries
from equinoise.statistics.summaries import column_statistics, compare_rows
from tests.conftest import seeded_bytes

SHARES = {"lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75}


def stepped(low="0", step="1", steps=7, bins=3, *, name="x", missing="refuse", day_zero=None):
    """A column of steps; low and step as decimals."""
    high = Decimal(low) + (steps - 1) * Decimal(step)
    total = bins + (missing == "category")
    return Axis(
        name, float(low), float(high), total, float(step) / 2, step=float(step), missing=missing, day_zero=day_zero
    )


def values_of_bins(axis):
    """The values that come out of every bin, each equally often: of categories and what is missing one."""
    if isinstance(axis, CategoryAxis):
        return [[name] for name in axis.names] + [[None]] * (axis.missing == "category")
    if axis.step is None:
        ends = np.linspace(axis.padded_low, axis.padded_high, axis.number_bins + 1)
        bins = [[float(np.clip((a + b) / 2, axis.low, axis.high))] for a, b in pairwise(ends)]
        return bins + [[None]] * axis.categories
    low, step = Decimal(repr(axis.low)), Decimal(repr(axis.step))
    bins = [[] for _ in range(axis.number_bins)]
    for number in range(axis.steps):
        bins[number * axis.number_bins // axis.steps].append(float(low + number * step))
    return bins + [[None]] * axis.categories


def written_out(counts, axes):
    """Rows as a table: every cell's rows with all values of the cell equally often, so each row several times over."""
    values = [values_of_bins(axis) for axis in axes]
    most = math.prod(math.lcm(*map(len, bins)) for bins in values)
    rows = []
    for cell, count in np.ndenumerate(np.asarray(counts).reshape([axis.bins for axis in axes])):
        each = list(product(*(bins[place] for bins, place in zip(values, cell, strict=True))))
        rows += each * (int(count) * most // len(each))
    return pd.DataFrame(rows, columns=[axis.name for axis in axes])


def check_numbers(found, column):
    """Hold statistics of a column of numbers against NumPy's of its rows."""
    rows = np.array([value for value in column if value is not None and not pd.isna(value)], dtype=float)
    near = {"rel": 1e-9, "abs": 1e-5}  # midpoints are rounded to a millionth of a bin
    assert found["mean"] == pytest.approx(rows.mean(), **near)
    assert found["standard_deviation"] == pytest.approx(rows.std(ddof=0), **near)
    for name, share in SHARES.items():
        assert found[name] == pytest.approx(np.quantile(rows, share, method="inverted_cdf"), **near)
    assert found.get("missing", 0.0) == pytest.approx(column.isna().mean(), abs=1e-12)


@st.composite
def number_axes(draw):
    missing = draw(st.sampled_from(["refuse", "category"]))
    if draw(st.booleans()):
        steps = draw(st.integers(2, 12))
        bins, low, step = (
            draw(st.integers(1, steps)),
            draw(st.integers(-50, 50)),
            draw(st.sampled_from(["1", "0.1", "5"])),
        )
        return stepped(str(low), step, steps, bins, missing=missing)
    low, length = draw(st.integers(-9, 9)), draw(st.integers(1, 9))
    bins, padding = draw(st.integers(1, 9)), draw(st.sampled_from([0.0, 0.7]))
    return Axis("x", float(low), float(low + length), bins + (missing == "category"), padding, missing=missing)


@given(number_axes(), st.data())
def test_numbers_are_numpys_of_rows_written_out(axis, data):
    counts = data.draw(st.lists(st.integers(0, 6), min_size=axis.bins, max_size=axis.bins))
    counts[0] += 1
    p = np.array(counts) / sum(counts)
    check_numbers(column_statistics(p, axis), written_out(counts, [axis])["x"])


@given(st.integers(0, 999))
def test_quartiles_are_values_that_come_out(seed):
    axis = stepped("-0.3", "0.1", 11, 4)
    p = np.random.default_rng(seed).gamma(0.3, size=4) + 1e-12
    found = column_statistics(p / p.sum(), axis)
    possible = {round(number / 10 - 0.3, 10) for number in range(11)}
    assert {found[name] for name in SHARES} <= possible
    assert found["lower_quartile"] <= found["median"] <= found["upper_quartile"]


def test_a_median_between_two_halves_is_the_lower_one_however_the_halves_add_up():
    for people in (10, 30, 98, 1000):
        axis = stepped(steps=people, bins=people)
        assert column_statistics(np.full(people, 1 / people), axis)["median"] == people // 2 - 1


def test_many_steps_are_not_written_out():
    axis = stepped("0", "0.01", 10**9, 5)
    found = column_statistics(np.full(5, 0.2), axis)
    assert found["median"] == pytest.approx(5e6, abs=0.02)
    assert found["standard_deviation"] == pytest.approx(1e7 / math.sqrt(12), rel=1e-6)


@pytest.mark.parametrize("planted", ["standard_deviation", "mean", *SHARES, "missing"])
def test_a_wrong_statistic_would_be_found(planted):
    axis, counts = stepped(missing="category"), [5, 2, 3, 1]
    found = column_statistics(np.array(counts) / 11, axis)
    rows = written_out(counts, [axis])["x"]
    check_numbers(found, rows)
    with pytest.raises(AssertionError):
        check_numbers({**found, planted: found[planted] + 0.01}, rows)


def test_a_bin_of_several_steps_is_not_its_middle(monkeypatch):
    axis, counts = stepped(), [5, 2, 3]
    rows = written_out(counts, [axis])["x"]
    monkeypatch.setattr(summaries, "bin_moments", lambda axis, **_: (axis.midpoints(), np.zeros(axis.number_bins)))
    with pytest.raises(AssertionError):
        check_numbers(column_statistics(np.array(counts) / 10, axis), rows)


def test_whole_numbers_stay_whole_and_decimals_the_nearest_floats():
    whole = column_statistics(np.full(3, 1 / 3), stepped("10", "5", 7, 3))
    assert [type(whole[name]) for name in SHARES] == [int, int, int]
    assert (
        column_statistics(np.array([0.0, 0.0, 1.0]), stepped("0.1", "0.1", 3, 3))["median"] == 0.3
    )  # 0.1 + 0.2 is not


def test_rows_on_a_padded_grid_are_beyond_the_bounds_unless_they_stay_within():
    axis = Axis.padded("x", 0, 1, bins=5)
    first = np.array([1.0, 0, 0, 0, 0])
    assert column_statistics(first, axis, within=True)["mean"] == 0
    assert column_statistics(first, axis, within=False)["mean"] == axis.midpoints()[0] < 0


@given(st.lists(st.integers(0, 5), min_size=366, max_size=366).filter(any))
@settings(max_examples=20)
def test_dates_are_dates_and_their_spread_is_in_days(counts):
    axis = stepped("0", "1", 366, 366, day_zero="2024-01-01")
    found = column_statistics(np.array(counts) / sum(counts), axis)
    days = sorted(date(2024, 1, 1) + timedelta(day) for day, many in enumerate(counts) for _ in range(many))
    for name, share in SHARES.items():
        assert found[name] == str(days[math.ceil(Fraction(share) * len(days)) - 1])
    numbers = np.array([day.toordinal() for day in days])
    assert found["standard_deviation"] == pytest.approx(numbers.std())
    assert abs(date.fromisoformat(found["mean"]).toordinal() - numbers.mean()) <= 0.5 + 1e-9


def test_shares_of_categories_are_pandas():
    axis = CategoryAxis("ward", ("b", "a", "c"), missing="category")
    counts = [3, 0, 4, 2]
    found = column_statistics(np.array(counts) / 9, axis)
    shares = written_out(counts, [axis])["ward"].value_counts(normalize=True, dropna=False)
    assert found["shares"] == pytest.approx({"b": shares["b"], "a": 0, "c": shares["c"]})
    assert found["missing"] == pytest.approx(2 / 9)
    assert list(found["shares"]) == ["b", "a", "c"]
    codes = column_statistics(np.array([0.25, 0.75]), CategoryAxis("smokes", (True, False)))
    assert codes == {"shares": {"true": 0.25, "false": 0.75}}


def test_where_nobody_has_a_value_there_is_nothing_to_tell():
    found = column_statistics(np.array([0.0, 0.0, 0.0, 1.0]), stepped(missing="category"))
    assert found.pop("missing") == 1
    assert set(found.values()) == {None}


def correlation_ratio(rows, number, category):
    """Eta by groups of pandas."""
    rows = rows[rows[number].notna()].assign(**{category: rows[category].fillna("none")})
    means = rows.groupby(category)[number].transform("mean")
    return means.std(ddof=0) / rows[number].std(ddof=0)


AXES = (
    stepped(name="a", missing="category"),
    Axis("b", 0.0, 1.0, 3),
    CategoryAxis("c", ("u", "v"), missing="category"),
    CategoryAxis("d", ("M", "F")),
)


@given(st.integers(0, 999))
@settings(max_examples=30)
def test_associations_are_pandas_and_scipys_of_rows_written_out(seed):
    shape = tuple(axis.bins for axis in AXES)
    both = [np.random.default_rng(seed + extra).integers(0, 3, math.prod(shape)) for extra in (0, 1000)]
    found = compare_rows(*(counts / counts.sum() for counts in both), AXES)
    pairs = {tuple(pair["columns"]): pair for pair in found["associations"]}
    measures = {pair: each["measure"] for pair, each in pairs.items()}
    assert measures == {
        ("a", "b"): "correlation", ("c", "d"): "cramers_v",
        **dict.fromkeys([("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")], "correlation_ratio"),
    }  # fmt: skip
    for source, counts in zip(("data", "released"), both, strict=True):
        rows = written_out(counts, AXES)
        known = rows[rows["a"].notna()].astype({"a": float})
        assert pairs["a", "b"][source] == pytest.approx(known["a"].corr(known["b"]))
        for pair in (("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")):
            assert pairs[pair][source] == pytest.approx(correlation_ratio(rows.astype({"a": float}), *pair))
        table = pd.crosstab(rows["c"].fillna("none"), rows["d"])
        assert pairs["c", "d"][source] == pytest.approx(scipy_association(table, method="cramer"))
        for number, name in enumerate(["a", "b"]):
            alone = counts.reshape(shape).sum(axis=tuple(i for i in range(4) if i != number))
            check_numbers(found["columns"][name][source], written_out(alone, [AXES[number]])[name])
    swapped = compare_rows(*(counts / counts.sum() for counts in reversed(both)), AXES)
    assert [pair["data"] for pair in swapped["associations"]] == [pair["released"] for pair in found["associations"]]


def test_an_association_of_a_constant_column_is_undefined():
    axes = (stepped(name="a", bins=7), stepped(name="b", bins=7))
    one = np.zeros((7, 7))
    one[3] = 1 / 7
    (pair,) = compare_rows(one.ravel(), np.full(49, 1 / 49), axes)["associations"]
    assert (pair["data"], pair["released"]) == (None, pytest.approx(0, abs=1e-12))


def test_statistics_of_the_release_are_those_of_drawn_rows():
    """Of 40,000 seeded draws: no further off than would happen once in 10^9 by chance."""
    random = np.random.default_rng(8)
    sex = random.choice(["M", "F"], 400)
    people = pd.DataFrame({"age": (random.normal(40, 9, 400) + 8 * (sex == "M")).round().clip(18, 90), "sex": sex})
    schema = {"columns": {"age": {"bounds": [18, 90], "step": 1, "bins": 12}, "sex": {"categories": ["M", "F"]}}}
    many = 40_000
    made = equinoise.optimize(people, schema, epsilon=0.1, draws=many, restarts=1)
    rows, found = made.sample(many, source=seeded_bytes(4)), made.statistics()
    age, data = found["columns"]["age"]["released"], found["columns"]["age"]["data"]
    drawn = rows["age"].to_numpy().astype(float)
    error = 6.2 * age["standard_deviation"] / math.sqrt(many)
    assert drawn.mean() == pytest.approx(age["mean"], abs=error)
    assert drawn.std() == pytest.approx(age["standard_deviation"], abs=2 * error)
    for name, share in SHARES.items():
        assert (drawn < age[name]).mean() <= share + 6.2 * 0.5 / math.sqrt(many)
        assert (drawn <= age[name]).mean() >= share - 6.2 * 0.5 / math.sqrt(many)
    shares = found["columns"]["sex"]["released"]["shares"]
    assert (rows["sex"] == "M").mean() == pytest.approx(shares["M"], abs=6.2 * 0.5 / math.sqrt(many))
    (pair,) = found["associations"]
    assert correlation_ratio(pd.DataFrame(rows), "age", "sex") == pytest.approx(pair["released"], abs=0.03)
    assert abs(drawn.std() - data["standard_deviation"]) > 2 * error  # what is released is not the data
