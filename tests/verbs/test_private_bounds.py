"""Private bounds from data to what is released within them: what they cost, where it stands, and that it is counted."""

import json
import math
import tomllib
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput, Book, BudgetSpent, EquinoiseWarning, Mechanism, Schema
from equinoise.data.bounds_cost import bounds_setting, epsilon_left
from equinoise.privacy.book_cost import Cost
from equinoise.verbs.account import Account

PAY = pl.DataFrame({"pay": np.random.default_rng(4).lognormal(3, 0.5, 2000).round(1), "ward": ["a", "b"] * 1000})


@pytest.fixture
def book(tmp_path):
    return Book.create(tmp_path / "patients.book", epsilon=1)


def with_wards(schema):
    return {"columns": {**schema.to_dict()["columns"], "ward": {"categories": ["a", "b"]}}}


def test_without_a_book_the_cost_is_in_the_total_of_what_is_released(tmp_path):
    found = equinoise.private_bounds(PAY, "pay", epsilon=0.1)
    assert found.to_dict()["columns"]["pay"]["bounds_epsilon"] == 0.1
    assert Schema.of(tomllib.loads(found.to_toml())) == found
    schema = with_wards(found)
    for method in ("pay-once", "envelope"):
        release = equinoise.synthesize(
            PAY, schema, epsilon=1, rows=5, method=method, save=tmp_path / f"{method}.eq", bins=10
        )
        assert release.mechanism.budget.epsilon == 0.9
        assert release.promise.epsilon == 1
        assert "epsilon 1 (0.1 of it for the bounds) for everything" in release.promise.in_one_line
        assert "of the bounds, which were found for 0.1 of it, and of" in str(release.promise)
        assert "at most 1 with delta = 0" in str(release.promise)
        assert Mechanism.read(tmp_path / f"{method}.eq").promise == release.promise
    other = equinoise.synthesize(PAY, schema, epsilon=1, rows=5, column="ward")
    assert other.promise.bounds_epsilon == 0
    assert other.mechanism.budget.epsilon == 1


def test_a_book_is_charged_once_and_another_one_again(book, tmp_path):
    found = equinoise.private_bounds(PAY, "pay", epsilon=0.1, book=book, purpose="bounds of pay")
    assert found.columns[0].bounds_book == book.identity
    release = equinoise.synthesize(PAY, with_wards(found), epsilon=0.5, rows=5, book=book)
    charges = [(entry.charge.method, entry.charge.epsilon, entry.state) for entry in book.entries]
    assert charges == [("bounds", 0.1, "finished"), (release.mechanism.method, 0.4, "finished")]
    assert book.totals()[0].epsilon == 0.5
    other = Book.create(tmp_path / "other.book", epsilon=1)
    release = equinoise.synthesize(PAY, with_wards(found), epsilon=0.5, rows=5, book=other)
    assert [entry.charge.epsilon for entry in other.entries] == [0.5]
    assert release.promise.epsilon == 0.5
    cost = Account(other).with_bounds(Cost.pure(0.4), found)
    assert cost.rho == pytest.approx((0.4**2 + 0.1**2) / 2)


def test_nothing_is_drawn_before_the_book_is_charged(book, monkeypatch):
    def draw(*args):
        assert [entry.state for entry in Book.open(book.place).entries] == ["charged"]
        raise KeyboardInterrupt

    monkeypatch.setattr("equinoise.verbs.private_bounds.draw_bounds", draw)
    with pytest.raises(KeyboardInterrupt):
        equinoise.private_bounds(PAY, "pay", epsilon=0.1, book=book)
    assert [entry.state for entry in book.entries] == ["given back"]
    with pytest.raises(BudgetSpent, match="Nothing was made"):
        equinoise.private_bounds(PAY, ["pay"], epsilon=1.5, book=book)


def test_what_is_left_and_what_is_not_counted_is_said(monkeypatch):
    found = equinoise.private_bounds(PAY, "pay", epsilon=0.3, step=0.1)
    low, high = found.columns[0].bounds
    assert round(low * 10) == pytest.approx(low * 10)
    assert (found.columns[0].step, low < 20 < high) == (0.1, True)
    with pytest.raises(BadInput, match=r"cost epsilon 0\.3.*0\.3 leaves nothing"):
        equinoise.synthesize(PAY, found, epsilon=0.3, rows=5)
    monkeypatch.setattr("equinoise.verbs.plan.TableRequest.plan", lambda request, *rest: request)
    assert equinoise.plan(found, people=100, epsilon=1.3, rows=1).epsilon == 1
    with pytest.warns(EquinoiseWarning, match=r"epsilon 0\.3. That is not in what is promised here"):
        mechanism = equinoise.optimize(PAY, found, epsilon=1, bins=4, outside="clip")
    assert "with epsilon 0.3, which is not in this" in str(mechanism.promise)


@pytest.mark.parametrize(
    ("column", "more", "said"),
    [
        ("ward", {}, "is none of numbers"),
        ("pai", {}, "Did you mean|has no column"),
        ("pay", {"epsilon": 0}, "epsilon"),
        ("pay", {"epsilon": 11}, "at most 10 for bounds"),
        ("pay", {"step": -1}, "step"),
        ("pay", {"schema": {"unit": "ward", "columns": {"pay": {"bounds": []}}}}, "every row a person of its own"),
        ("pay", {"schema": {"columns": {"ward": {"categories": ["a", "b"]}}}}, "The schema has no column 'pay'"),
    ],
)
def test_what_has_no_bounds_is_refused(column, more, said):
    with pytest.raises(BadInput, match=said):
        equinoise.private_bounds(PAY, column, **{"epsilon": 0.1, **more})


def test_bounds_that_were_found_for_rows_are_not_for_people_with_several():
    schema = {"unit": "ward", "columns": {"pay": {"bounds": [0, 100], "bounds_epsilon": 0.1}}}
    with pytest.raises(BadInput, match="every row a person of its own"):
        equinoise.synthesize(PAY, schema, epsilon=1, rows=5)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"bounds": [0, 1], "bounds_epsilon": -1}, "bounds_epsilon: must be a positive number"),
        ({"bounds": [], "bounds_epsilon": 0.1}, "of bounds"),
        ({"bounds": [0, 1], "bounds_book": "a"}, "bounds_book: must be text, beside bounds_epsilon"),
    ],
)
def test_mistakes_in_a_schema_are_told(keys, said):
    with pytest.raises(BadInput, match=said):
        Schema.of({"columns": {"pay": keys}})


def test_the_command_fills_in_bounds_and_tells_their_cost(run, book):
    PAY.write_csv("people.csv")
    place = book.place
    status, out, err = run("schema", "people.csv", "--private-bounds", "pay", "--epsilon", 0.1, "--step", "pay", 0.1,
                           "--book", place, "--out", "people.toml")  # fmt: skip
    assert (status, "1 of 2 columns left" in out, "cost epsilon 0.1" in out, err) == (0, True, True, "")
    found = Schema.open("people.toml")
    assert found.columns[0].bounds_book == book.identity
    assert found.columns[0].step == 0.1
    status, out, err = run("schema", "people.csv", "--private-bounds", "pay", "--epsilon", 0.2, "--json")
    assert json.loads(out)["bounds_epsilon"] == 0.2
    status, out, err = run("schema", "people.csv", "--private-bounds", "pay", "--epsilon", 0.2)
    assert tomllib.loads(out)["columns"]["pay"]["bounds_epsilon"] == 0.2
    assert "No book was charged" in err
    assert len(book.entries) == 1


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--private-bounds", "pay"], 2, "needs --epsilon"),
        (["--private-bounds", "pie", "--epsilon", "0.1"], 2, "pie"),
        (["--private-bounds", "ward", "--epsilon", "0.1"], 2, "text"),
        (["--private-bounds", "pay", "--epsilon", "0.1", "--column", "ward"], 2, "Add --column 'pay'"),
        (["--private-bounds", "pay", "--epsilon", "0.1", "--peek"], 2, "Take one of them"),
        (["--epsilon", "0.1"], 2, "--epsilon is for --private-bounds"),
        (["--private-bounds", "pay", "--epsilon", "2", "--book", "patients.book"], 1, "Nothing was made"),
    ],
)
def test_bad_input_makes_nothing(run, book, options, status, said):
    PAY.head(50).write_csv("people.csv")
    found, out, err = run("schema", "people.csv", *options, "--out", "people.toml")
    assert (found, out) == (status, "")
    assert said in err
    assert not book.entries
    with pytest.raises(BadInput):
        Schema.open("people.toml")


def test_bounds_of_several_columns_cost_the_sum_of_their_epsilons(book, monkeypatch):
    seen = []

    def draw(values, times, family):
        seen.append(family.epsilon)
        return Fraction(0), Fraction(9)

    monkeypatch.setattr("equinoise.verbs.private_bounds.draw_bounds", draw)
    found = equinoise.private_bounds(PAY.with_columns(age=2 * pl.col("pay")), ["pay", "age"], epsilon=0.1, book=book)
    assert seen == [0.1, 0.1] == [column.bounds_epsilon for column in found.columns]
    assert [entry.charge.epsilon for entry in book.entries] == [0.2]


def test_costs_of_bounds_are_rounded_against_whoever_pays():
    def of(*epsilons):
        columns = {f"c{i}": {"bounds": [0, 1], "bounds_epsilon": one} for i, one in enumerate(epsilons)}
        return Schema.of({"columns": columns})

    assert bounds_setting(of(0.1, 0.2)) == {"bounds_epsilon": 0.3}
    assert epsilon_left(1, of(0.1, 0.2)) == 0.7
    assert bounds_setting(of(0.1, 1e-18)) == {"bounds_epsilon": math.nextafter(0.1, 1)}
    assert epsilon_left(1, of(1e-18)) == math.nextafter(1, 0)
