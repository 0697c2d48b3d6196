"""Answers from rows alone: by hand, by SciPy and by pandas; and columns as files have them."""

import math
from datetime import date
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import equinoise
from equinoise.analysis.answers.row_answers import correlation, count, difference, mean, quantile, ranks, share
from equinoise.analysis.answers.row_table import RowColumn, RowTable, rows_as_they_are, rows_by_schema
from equinoise.data.axis import Axis
from equinoise.data.category_axis import CategoryAxis
from equinoise.errors import BadInput

SCHEMA = {
    "columns": {
        "age": {"bounds": [0, 120], "step": 1, "missing": "category"},
        "stay": {"bounds": [0, 60]},
        "ward": {"categories": ["day", "night", "never"]},
        "code": {"categories": [1, 2], "missing": "category"},
        "day": {"bounds": [date(2024, 1, 1), date(2024, 12, 31)]},
    }
}


def people(rows=301):
    random = np.random.default_rng(5)
    age = random.normal(50, 12, rows).round().clip(0, 120)
    stay = (random.gamma(2, 4, rows) + age / 20).clip(0, 60)
    age[::50] = np.nan
    code = random.integers(1, 3, rows).astype(float)
    code[::40] = np.nan
    return pd.DataFrame(
        {
            "age": age, "stay": stay, "ward": np.where(random.random(rows) < 0.3, "night", "day"), "code": code,
            "day": [date(2024, 1, 1 + i % 30) for i in range(rows)],
        }
    )  # fmt: skip


FRAME = people()


@pytest.fixture(params=["pandas", "polars", "csv", "parquet", "csv as it is", "parquet as it is"])
def table(request, tmp_path):
    frame = pl.from_pandas(FRAME, nan_to_null=True)
    if request.param == "pandas":
        return rows_by_schema(FRAME, equinoise.Schema.of(SCHEMA))
    if request.param == "polars":
        return rows_by_schema(frame, equinoise.Schema.of(SCHEMA))
    path = tmp_path / f"rows.{request.param.split()[0]}"
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return rows_as_they_are(path) if "as it is" in request.param else rows_by_schema(path, equinoise.Schema.of(SCHEMA))


def close(answer, estimate, low, high):
    assert (answer.estimate, answer.low, answer.high) == pytest.approx((estimate, low, high), rel=1e-9)


def test_means_and_their_differences_are_those_of_scipy(table):
    for name in ("age", "stay"):
        held = FRAME[name].dropna()
        known = stats.ttest_1samp(held, 0).confidence_interval(0.9)
        close(mean(table, name, 0.9), held.mean(), *known)
        ward = FRAME["ward"][held.index]
        test = stats.ttest_ind(held[ward == "day"], held[ward == "night"], equal_var=False)
        found = difference(table, name, "ward", "day", "night")
        close(
            found,
            held[ward == "day"].mean() - held[ward == "night"].mean(),
            *test.confidence_interval(0.95),
        )
        assert found.p_value == pytest.approx(test.pvalue)


def test_shares_and_correlations_are_those_of_scipy(table):
    known = stats.binomtest(int((FRAME["ward"] == "day").sum()), len(FRAME))
    close(share(table, "ward", "day"), known.statistic, *known.proportion_ci(method="wilson"))
    both = FRAME[["age", "stay"]].dropna()
    test = stats.pearsonr(both["age"], both["stay"])
    close(correlation(table, "age", "stay"), test.statistic, *test.confidence_interval())


def test_a_category_of_the_missing_is_a_part_of_all(table):
    if table.bounded:
        known = stats.binomtest(int(FRAME["code"].isna().sum()), len(FRAME))
        close(share(table, "code", None), known.statistic, *known.proportion_ci(method="wilson"))
        assert share(table, "age", None).estimate == FRAME["age"].isna().mean()
        assert share(table, "ward", "never").estimate == 0
        assert mean(table.where("code", None), "stay").estimate == pytest.approx(
            FRAME["stay"][FRAME["code"].isna()].mean()
        )


def test_quantiles_are_those_of_numpy_between_order_statistics(table):
    held = np.sort(FRAME["age"].dropna())
    for q in (0.1, 0.5, 0.9):
        found, binomial = quantile(table, "age", q, 0.95), stats.binom(len(held), q)
        low, high = held[int(binomial.ppf(0.025)) - 1], held[int(binomial.ppf(0.975))]
        assert (found.estimate, found.low, found.high) == (np.quantile(held, q, method="inverted_cdf"), low, high)


@pytest.mark.parametrize("q", [0.01, 0.5, 0.93])
@pytest.mark.parametrize("many", [1, 7, 40])
def test_ranks_hold_what_they_say(many, q):
    first, last = ranks(many, q, 0.9)
    below = partial(stats.binom(many, q).cdf)
    assert first == 0 or below(first - 1) <= 0.05 + 1e-12
    assert below(first) > 0.05 or first == many
    assert last > many or 1 - below(last - 1) <= 0.05 + 1e-12
    assert 1 - below(last - 2) > 0.05


def test_intervals_hold_the_truth_as_often_as_they_say():
    random, missed = (
        np.random.default_rng(3),
        dict.fromkeys(("mean", "median", "share", "correlation", "difference"), 0),
    )
    truth = {"mean": 25, "median": 25, "share": 0.25, "correlation": 0.6, "difference": 0}
    axes = Axis("a", -50.0, 100.0, 9), Axis("b", -50.0, 100.0, 9), CategoryAxis("w", ("x", "y"))
    times = 400
    for _ in range(times):
        a, b = random.multivariate_normal([25, 25], [[25, 15], [15, 25]], 60).T
        values = a, b, (random.random(60) > 0.25).astype(int)
        columns = {axis.name: RowColumn(axis, held) for axis, held in zip(axes, values, strict=True)}
        table = RowTable(tuple(columns), columns.__getitem__, bounded=True)
        answers = {
            "mean": mean(table, "a", 0.9), "median": quantile(table, "a", 0.5, 0.9),
            "share": share(table, "w", "x", 0.9),
            "correlation": correlation(table, "a", "b", 0.9), "difference": difference(table, "a", "w", "x", "y", 0.9),
        }  # fmt: skip
        for name, answer in answers.items():
            missed[name] += not answer.low <= truth[name] <= answer.high
    for name, many in missed.items():
        assert stats.binom(times, 0.1).sf(many - 1) > 1e-9, name
        assert stats.binom(times, 0.1).cdf(many) > 1e-9, name
    assert stats.binom(times, 0.1).sf(2 * max(missed.values())) < 1e-3  # twice as many would be noticed


def test_few_rows_have_wide_intervals_or_none(tmp_path):
    (tmp_path / "r.csv").write_text("a,w\n3,x\n5,y\n,z\n")
    (tmp_path / "n.csv").write_text("a,w\n")
    loose = rows_as_they_are(tmp_path / "r.csv")
    bound = rows_by_schema(
        tmp_path / "r.csv",
        equinoise.Schema.of({"columns": {"a": {"bounds": [0, 9]}, "w": {"categories": ["x", "y", "z"]}}}),
    )
    for group, mid in (("x", 3.0), ("z", None)):
        for table, ends in ((loose, (None, None)), (bound, (0.0, 9.0))):
            part = table.where("w", group)
            for found in (mean(part, "a"), quantile(part, "a", 0.5)):
                assert (found.estimate, found.low, found.high) == (mid, *ends)
    found = difference(bound, "a", "w", "x", "y")
    assert (found.estimate, found.low, found.high, found.p_value) == (-2, -9, 9, None)
    assert difference(bound, "a", "w", "x", "z").estimate is None
    nobody = rows_as_they_are(tmp_path / "n.csv")
    assert mean(nobody, "a").estimate is None
    with pytest.raises(BadInput, match="Rows do not tell how many people there are"):
        count(bound)


def test_columns_without_a_schema_are_what_they_hold(tmp_path):
    frame = pl.DataFrame(
        {
            "n": ["1", " 2.5 ", "NA", "inf"], "t": ["a", " b", "a ", "?"], "mixed": ["1", "2", "x", ""],
            "yes": [True, False, None, True], "day": [date(2024, 2, 1), None, date(2024, 1, 30), date(2024, 3, 1)],
            "none": [None, None, None, None],
        }
    )  # fmt: skip
    frame.write_csv(tmp_path / "r.csv")
    frame.write_parquet(tmp_path / "r.parquet")
    text, typed = (rows_as_they_are(tmp_path / f"r.{kind}") for kind in ("csv", "parquet"))
    assert text.numbers("n").tolist() == [1, 2.5]
    for table in (text, typed):
        assert table.axis_of("t").names == ("a", "b")
        assert table.values("t").tolist() == [0, 1, 0, 2]
        assert share(table, "t", None).estimate == 0.25
        assert table.axis_of("mixed").names == ("1", "2", "x")
        assert len(table.numbers("none")) == 0
        assert share(table, "yes", "true" if table is text else True).estimate == 0.5
    assert text.axis_of("day").names[0] == "2024-01-30"
    assert typed.axis_of("day").to_value(mean(typed, "day").estimate) == date(2024, 2, 10)
    assert math.isnan(typed.values("day")[1])


def test_rows_that_the_schema_does_not_allow_are_refused(tmp_path):
    for text, said in (("age\n130\n", "130.0"), ("age\nold\n", "text")):
        (tmp_path / "r.csv").write_text(text)
        table = rows_by_schema(tmp_path / "r.csv", equinoise.Schema.of({"columns": {"age": {"bounds": [0, 120]}}}))
        with pytest.raises(BadInput, match=f"Column 'age' has 1 row that the schema does not allow, such as '{said}'"):
            mean(table, "age")
    (tmp_path / "r.csv").write_text("ward\nday\nnoon\n")
    table = rows_by_schema(tmp_path / "r.csv", equinoise.Schema.of({"columns": {"ward": SCHEMA["columns"]["ward"]}}))
    with pytest.raises(BadInput, match="such as 'noon'"):
        share(table, "ward", "day")
