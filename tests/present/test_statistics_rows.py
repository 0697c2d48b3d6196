"""Statistics as people see them: in the terminal, in JSON, in reports, notebooks and on the local page."""

import json
import re
from datetime import date, timedelta
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from equinoise.data.grid import Axis, CategoryAxis
from equinoise.formatting import percent, three_digits
from equinoise.present.report import write_report
from equinoise.present.statistics_rows import StatisticRow, statistics_rows
from equinoise.present.terminal.bars import lines_of
from equinoise.statistics.summaries import compare_rows
from tests.helpers.mechanism_of_every_kind import MECHANISM_KINDS, mechanism

SCHEMA = """
[columns.age]
bounds = [18, 90]
step = 1
bins = 73

[columns.ward]
categories = ["day", "night"]

[columns.weight]
bounds = [40, 120]
step = 5
missing = "category"
"""


def people(rows=500):
    """A table of people: whole ages, wards, and weights in steps of 5, a tenth of them missing."""
    random = np.random.default_rng(12)
    age = random.normal(50, 12, rows).round().clip(18, 90).astype(int)
    weight = (random.normal(70, 12, rows) + age / 4).clip(40, 120) // 5 * 5
    weight[random.random(rows) < 0.1] = np.nan
    return pd.DataFrame({"age": age, "ward": np.where(random.random(rows) < 0.3, "night", "day"), "weight": weight})


def rows_of(p, q, *axes):
    return statistics_rows(SimpleNamespace(statistics=lambda: compare_rows(np.array(p), np.array(q), axes)))


@pytest.fixture
def hospital(folder):
    people().to_csv("people.csv", index=False)
    (folder / "people.toml").write_text(SCHEMA)
    return ["people.csv", "--schema", "people.toml", "--epsilon", "4", "--restarts", "1", "--out", "people.eq"]


def test_json_tells_what_pandas_tells_of_the_file(run, hospital):
    status, out, err = run("optimize", *hospital, "--json")
    assert status == 0, err
    made, file = json.loads(out)["statistics"], people()
    assert json.loads(run("show", "people.eq", "--json")[1])["statistics"] == made
    for name in ("age", "weight"):
        data, column = made["columns"][name]["data"], file[name].dropna()
        assert data["mean"] == pytest.approx(column.mean())
        assert data["standard_deviation"] == pytest.approx(column.std(ddof=0))
        for key, share in (("lower_quartile", 0.25), ("median", 0.5), ("upper_quartile", 0.75)):
            assert data[key] == np.quantile(column, share, method="inverted_cdf")
            assert type(data[key]) is int
    assert made["columns"]["weight"]["data"]["missing"] == pytest.approx(file["weight"].isna().mean())
    shares = file["ward"].value_counts(normalize=True)
    assert made["columns"]["ward"]["data"]["shares"] == pytest.approx(shares.to_dict())
    pairs = {tuple(pair["columns"]): pair for pair in made["associations"]}
    assert pairs["age", "weight"]["data"] == pytest.approx(file["age"].corr(file["weight"]))
    assert pairs["age", "ward"]["data"] == pytest.approx(abs(file["age"].corr((file["ward"] == "day") * 1.0)))


def test_people_see_it_before_the_distances(run, hospital):
    status, out, err = run("optimize", *hospital, "--verbose")
    assert status == 0, err
    found = json.loads(run("show", "people.eq", "--json")[1])["statistics"]
    table, distances = out.split("What the rows tell, at the resolution of the grid")[1].split("Distance from the orig")
    assert "correlation" not in out.split("What the rows tell")[0]
    assert "largest change of a correlation" in distances
    mean = found["columns"]["age"]
    assert re.search(rf"│ age +│ mean +│ +{mean['data']['mean']:.3g} │ +{mean['released']['mean']:.3g} │", table)
    missing = [percent(found["columns"]["weight"][source]["missing"]) for source in ("data", "released")]
    assert re.search(rf"│ +│ missing +│ +{missing[0]} │ +{missing[1]} │", table)
    for name in ("age and ward", "age and weight", "ward and weight"):
        assert f"│ {name} " in table
    assert len([line for line in table.splitlines() if line.startswith("│")]) == 5 + 2 + 6 + 3
    shown = run("show", "people.eq")[1]
    assert table.split("\n", 1)[1].strip() in shown


def test_of_many_categories_the_rarest_are_added_up():
    axis = CategoryAxis("ward", tuple(f"w{number}" for number in range(14)), missing="category")
    p = np.array([1.0] * 2 + [2.0] * 10 + [0.5, 0.5, 3.0]) / 26
    rows = rows_of(p, p[::-1], axis)
    assert [row.statistic for row in rows] == [f"w{number}" for number in range(2, 12)] + [
        "other 4 categories",
        "missing",
    ]
    assert (rows[-2].data, rows[-2].released) == (percent(3 / 26), percent((3 + 0.5 + 2 + 1) / 26))
    assert {row.column for row in rows} == {"ward"}
    eleven = CategoryAxis("ward", axis.names[:11])
    assert [row.statistic for row in rows_of(np.full(11, 1 / 11), np.full(11, 1 / 11), eleven)] == list(eleven.names)


def test_of_many_pairs_the_strongest_are_shown():
    axes = [CategoryAxis(name, ("a", "b")) for name in "uvwxyz"]
    p = np.full(64, 1 / 64)
    p[0] += 1
    pairs = rows_of(p / p.sum(), p / p.sum(), *axes)[12:]
    assert len(pairs) == 11
    assert {row.column for row in pairs[:10]} <= {f"{a} and {b}" for a, b in combinations("uvwxyz", 2)}
    assert pairs[-1] == StatisticRow("other 5 pairs", "go together less", "", "")


def test_what_is_undefined_is_a_dash_and_a_name_stays_on_its_line():
    axis = Axis("a\nb" + "c" * 90, 0.0, 1.0, 2, missing="category")
    row, *_ = rows_of([0, 1.0], [0.5, 0.5], axis)
    assert row.data == "-"
    assert row.released == "0.5"
    assert row.column.startswith("a<U+000A>b")
    assert len(row.column) < 60


def test_dates_are_dates_with_days_between_them():
    axis = Axis("day", 0.0, 9.0, 10, 0.5, step=1.0, day_zero="2024-02-25")
    rows = {row.statistic: row.data for row in rows_of(np.full(10, 0.1), np.full(10, 0.1), axis)}
    assert rows["median"] == "2024-02-29"
    assert rows["standard deviation (days)"] == "2.87"


@pytest.mark.parametrize(
    ("value", "text"), [(999.6, "1,000"), (-1234.5, "-1,234"), (12.345, "12.3"), (0.0, "0"), (999.4, "999")]
)
def test_three_digits_without_powers_of_ten(value, text):
    assert three_digits(value) == text


@pytest.mark.parametrize("kind", MECHANISM_KINDS)
def test_every_kind_is_told_of_in_notebooks(kind):
    made = mechanism(kind)
    shown = made._repr_html_()
    assert "What the rows tell" in shown
    for row in statistics_rows(made):
        assert f"<td>{row.data}</td><td>{row.released}</td>" in shown


def test_a_report_has_them_after_the_picture_and_a_public_one_never(tmp_path):
    made = mechanism("per-instance")
    write_report(made, tmp_path / "private.html")
    write_report(made, tmp_path / "public.html", public=True)
    private, public = ((tmp_path / name).read_text() for name in ("private.html", "public.html"))
    places = [private.index(f'<section id="{name}"') for name in ("distribution", "statistics", "noise", "metrics")]
    assert places == sorted(places)
    section = private[places[1] : places[2]]
    for row in statistics_rows(made):
        assert f"{row.named[0]}</th><td>{row.data}</td><td>{row.released}</td>" in section
        assert f"<td>{row.data}</td><td>{row.released}</td>" not in public
    assert "What the rows tell" not in public
    assert 'id="statistics"' not in public
    assert "means, quartiles, shares and correlations, of the data and of what is released" in public
    for numbers in made.statistics()["columns"].values():
        for each in numbers.values():
            assert f"{each['mean']:.3g}" not in re.sub(r"<(style|script).*?</\1>", "", public, flags=re.DOTALL)


@pytest.mark.parametrize("most", [1, 2, 3, 18])
@pytest.mark.parametrize("step", [None, 5.0])
def test_the_missing_have_a_line_of_their_own(most, step):
    axis = Axis("x", 0.0, 60.0, 14, 0.0 if step is None else 2.5, step=step, missing="category")
    p, q = np.full(14, 1 / 14), np.arange(1, 15) / 105
    lines = lines_of(axis, p, q, most)
    assert lines[-1] == ("missing", p[13], q[13])
    assert not any("missing" in line.label for line in lines[:-1])
    assert sum(line.original for line in lines) == pytest.approx(1)
    assert len(lines) <= max(most, 2)
    p[[12, 13]], q[12] = 0, 0.5
    lines = lines_of(axis, p / p.sum(), q / q.sum(), most)
    assert [line.label for line in lines[-2:]] == ["missing", "elsewhere"]
    assert lines[-2].original == 0


def test_where_all_are_missing_there_is_one_line_and_the_rest():
    axis = Axis("x", 0.0, 60.0, 3, missing="category")
    lines = lines_of(axis, np.array([0, 0, 1.0]), np.array([0.25, 0.25, 0.5]))
    assert lines == [("missing", 1.0, 0.5), ("elsewhere", 0.0, 0.5)]


def test_a_run_of_dates_says_where_it_begins():
    axis = Axis("day", 0.0, 364.0, 365, 0.5, step=1.0, day_zero="2024-01-01")
    lines = lines_of(axis, np.full(365, 1 / 365), np.full(365, 1 / 365), 10)
    starts = [date(2024, 1, 1) + timedelta(37 * number) for number in range(10)]
    assert [line.label for line in lines] == [f"from {day}" for day in starts]
