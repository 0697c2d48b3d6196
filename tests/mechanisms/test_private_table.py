import dataclasses
import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import equinoise
from equinoise import BadInput, BudgetSpent, Mechanism, PrivateTable, PromiseNotMet
from equinoise.analysis.audit import audit
from equinoise.data.make_grid import make_grid
from equinoise.mechanisms.draws import draw_weighted
from equinoise.mechanisms.private_table import check_private_grid
from equinoise.privacy.certificate import exp_lower_bound
from equinoise.synthesis.envelope_weights import weights
from tests.conftest import seeded_bytes
from tests.helpers.forged_files import forge
from tests.helpers.private_tables import envelope

BOUNDS = (163, 226)


def tier(people, epsilon=1.0, **settings):
    return envelope(people, **{"epsilon": epsilon, "bounds": BOUNDS, "bins": 25, **settings})


@pytest.mark.parametrize(("epsilon", "most"), [(0.1, 0.006), (0.3, 0.0035), (1, 0.002), (2, 0.0015)])
def test_the_heights_stay_close_and_nobody_exceeds_epsilon(heights, epsilon, most):
    made = tier(heights, epsilon)
    assert isinstance(made, PrivateTable)
    assert made.certificate().holds
    assert made.metrics()["kl"] <= most
    assert made.worst_loss <= epsilon
    assert made.protected == made.total_people == 1844


def test_five_hundred_draws_of_the_heights_within_a_budget(heights):
    made = tier(heights, 1, delta=1e-6, draws=500)
    assert made.metrics()["kl"] <= 0.025
    assert 0.0211 < made.epsilon < 0.0212  # by zCDP alone, 0.0197
    assert made.cost(500) == pytest.approx(1, rel=1e-6)
    assert 1.8 * made.epsilon < made.cost(2) < 2 * made.epsilon
    assert made.cost(5) < 0.8 * 5 * made.epsilon
    assert "of all 500 rows together is at most 1 with delta = 1e-06" in str(made.promise)


def test_losses_are_those_of_making_it_again_without_a_person(heights):
    people = heights[::9]
    made, (cells, _) = tier(people, 0.5), tier(people, 0.5).groups()
    where = np.array([made.grid.axis.cell_of(value) for value in people])
    for cell, loss in zip(cells.tolist(), made.losses().tolist(), strict=True):
        without = tier(np.delete(people, np.flatnonzero(where == cell)[0]), 0.5)
        a, b = made.output, without.output
        seen = a > 0
        assert loss == pytest.approx(np.abs(np.log(a[seen]) - np.log(b[seen])).max(), rel=1e-9)
        bound = exp_lower_bound(0.5)
        for x, y in zip(made.weights.dense(), without.weights.dense(), strict=True):
            p, q = Fraction(x, made.weights.total), Fraction(y, without.weights.total)
            assert p <= bound * q
            assert q <= bound * p


def test_saved_drawn_from_charged_and_audited_like_any_other(heights, tmp_path):
    made = tier(heights, 10, draws=10)
    made.save(tmp_path / "w.eq")
    opened = Mechanism.open(tmp_path / "w.eq")
    assert opened.to_json() == made.to_json()
    assert opened.promise == made.promise
    values = opened.sample(9)
    low, high = BOUNDS
    assert values.to_numpy().min() >= low
    assert values.to_numpy().max() <= high
    with pytest.raises(BudgetSpent):
        opened.sample(2)
    found = audit(tmp_path / "w.eq", heights)
    assert found.passed
    assert found.spent == 9
    assert {group["spent"] for group in found.totals} == {9.0}
    assert not audit(tmp_path / "w.eq", heights[1:]).same_histogram
    json.dumps(found.to_json())


def test_draws_follow_the_weights_however_large_they_are():
    for scale in (1, 2**70):
        weights = [scale * part for part in (1, 2, 3, 4, 0, 10)]
        drawn = np.concatenate(list(draw_weighted(weights, 40_000, seeded_bytes(5))))
        seen = np.bincount(drawn, minlength=6)
        assert seen[4] == 0
        expected = 40_000 * np.array([1, 2, 3, 4, 10]) / 20
        assert stats.chisquare(seen[[0, 1, 2, 3, 5]], expected).pvalue > 1e-9
        assert stats.chisquare(seen[[0, 1, 2, 3, 5]], expected[::-1]).pvalue < 1e-9


@pytest.mark.parametrize(
    "change",
    [
        lambda m: {"epsilon": m.epsilon * 0.99},
        lambda m: {"weights": [m.weights.weights[0] + 1, *m.weights.weights[1:]]},
        lambda m: {"weights": list(m.weights.weights[1:]), "weight_cells": m.weights.cells.tolist()[1:]},
        lambda m: {"people": [m.counted.people.tolist()[0] + 1, *m.counted.people.tolist()[1:]]},
        lambda m: {"base": [0.0] * m.grid.cells},
        lambda m: {"rule": {**m.rule.to_json(), "factor": m.rule.factor * 2}},
        lambda m: {"rule": {**m.rule.to_json(), "near": [[2**16]]}},
        lambda m: {"budget": {"epsilon": 0.5, "delta": 1e-6}, "settings": {"epsilon": 0.5}},
        lambda m: {"draws": 501, "settings": {"rows": 501}},
    ],
)
def test_a_forged_file_is_refused(heights, tmp_path, change):
    made = tier(heights, 1, delta=1e-6, draws=500)
    made.save(tmp_path / "w.eq")
    forge(tmp_path / "w.eq")
    assert Mechanism.open(tmp_path / "w.eq").draws == 500
    forge(tmp_path / "w.eq", **change(made))
    with pytest.raises(BadInput, match="tampered"):
        Mechanism.open(tmp_path / "w.eq")


def test_a_rule_that_may_be_from_the_data_is_refused_however_safe_it_looks(heights):
    """The proof is for public rules: floors that follow the counts would tell them."""
    made = tier(heights, 0.01)
    floors = tuple(made.rule.floors[0] + 2**24 * int(n) ** 2 for n in made.histogram)
    rule = dataclasses.replace(made.rule, floors=floors, alone=made.rule.alone + max(floors))
    found = weights(made.occupied, made.occupied_rows, rule)
    other = dataclasses.replace(made, rule=rule, weights=found, ledger=None)
    assert "not the public one" in other.certificate().failure
    with pytest.raises(PromiseNotMet, match="certificate does not hold"):
        other.sample(1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"bounds": None}, "needs --bounds"),
        ({"bounds": {}}, "'bounds' parameter must be"),
        ({"bounds": {"value": None}}, "'bounds' parameter must be"),
        ({"rows": 0}, "'rows' parameter must be"),
        ({"rows": "some"}, "'rows' parameter must be"),
        ({"rows": "same"}, "can only be told by noisy counts"),
        ({"epsilon": 1e-5}, "at least 0.0001"),
        ({"rows_per_person": 2}, "left out without a unit"),
        ({"method": "magic"}, "'method' parameter must be"),
        ({"base": [1, 2, 3]}, "3 numbers, but the grid has 25 cells"),
    ],
)
def test_what_cannot_be_promised_is_refused(heights, settings, said):
    with pytest.raises(BadInput, match=said):
        equinoise.synthesize(
            heights, **{"epsilon": 1, "rows": 1, "method": "envelope", "bounds": BOUNDS, "bins": 25, **settings}
        )


@pytest.fixture(scope="module")
def ward():
    """A table of 400 people: a number that may be missing, another one, a category."""
    rng = np.random.default_rng(8)
    age = rng.normal(60, 12, 400).clip(18, 100).round().astype(int)
    stay = (age / 12 + rng.exponential(2, 400)).clip(0, 20).round(1)
    return pl.DataFrame({
        "age": age,
        "stay": [None if u < 0.1 else v for u, v in zip(rng.random(400), stay.tolist(), strict=True)],
        "ward": rng.choice(["elective", "emergency", "other"], 400, p=[0.5, 0.4, 0.1]),
    })  # fmt: skip


WARD = {
    "columns": {
        "age": {"bounds": [18, 101], "step": 1, "bins": 21},
        "stay": {"bounds": [0.0, 20.0], "bins": 20, "missing": "category"},
        "ward": {"categories": ["elective", "emergency", "other"]},
    }
}


def test_a_table_of_numbers_missing_values_and_categories_from_rows_to_rows(ward, tmp_path):
    made = envelope(ward, WARD, epsilon=300, draws=300)
    assert made.certificate().holds
    assert made.grid.shape == (21, 21, 3)
    assert made.protected == made.total_people == 400
    assert 0 < made.worst_loss <= 1
    assert made.metrics()["tv"] < made.baseline()["tv"] / 2
    made.save(tmp_path / "t.eq")
    opened = Mechanism.open(tmp_path / "t.eq")
    assert opened.to_json() == made.to_json()
    assert opened.output == pytest.approx(made.output, abs=0)
    rows = opened.sample(300)
    assert rows.schema == ward.schema
    assert set(rows["ward"]) <= set(ward["ward"])
    assert 0 < rows["stay"].null_count() < 100
    found = audit(tmp_path / "t.eq", ward)
    assert found.passed
    json.dumps(found.to_json())
    opened.report(tmp_path / "t.html")
    opened.report(tmp_path / "p.html", public=True)


def test_losses_on_a_table_are_those_of_making_it_again_without_a_person(ward):
    few = ward[:60]
    made = envelope(few, WARD, epsilon=0.7)
    assert not made.losses_by_theorem
    cells = [made.grid.cells_of(bins[None])[0] for bins in made.grid.bins_of(made.players.cells)]
    losses = dict(zip(cells, made.losses().tolist(), strict=True))
    of_row = {}
    for i in range(60):
        alone = envelope(few[i : i + 1], WARD, epsilon=0.7)
        of_row[int(alone.occupied[0])] = i
    for cell, i in list(of_row.items())[::7]:
        without = envelope(pl.concat([few[:i], few[i + 1 :]]), WARD, epsilon=0.7)
        expected = np.abs(np.log(made.output) - np.log(without.output)).max()
        assert losses[cell] == pytest.approx(expected, rel=1e-9)


def test_the_order_of_categories_changes_nothing(ward):
    turned = {"columns": {**WARD["columns"], "ward": {"categories": ["other", "emergency", "elective"]}}}
    one, other = (envelope(ward, schema, epsilon=1) for schema in (WARD, turned))
    assert one.output.reshape(21, 21, 3) == pytest.approx(other.output.reshape(21, 21, 3)[:, :, ::-1], rel=1e-12)


def test_sparse_draws_are_those_of_all_weights():
    for scale in (1, 2**70):
        listed, parts = np.array([1, 4, 5]), [3 * scale, 0, 6 * scale]
        drawn = np.concatenate(list(draw_weighted(parts, 40_000, seeded_bytes(6), others=(scale, 8, listed))))
        seen = np.bincount(drawn, minlength=8)
        assert seen[4] == 0
        expected = 40_000 * np.array([1, 3, 1, 1, 0, 6, 1, 1])[[0, 1, 2, 3, 5, 6, 7]] / 14
        seen = seen[[0, 1, 2, 3, 5, 6, 7]]
        assert stats.chisquare(seen, expected).pvalue > 1e-9
        assert stats.chisquare(seen, expected[::-1]).pvalue < 1e-9
    alone = np.concatenate(list(draw_weighted([], 1000, seeded_bytes(7), others=(5, 3, np.zeros(0, dtype=int)))))
    assert set(alone.tolist()) == {0, 1, 2}


def test_more_draws_than_any_epsilon_allows_say_how_many_are_possible(heights):
    with pytest.raises(PromiseNotMet, match="are the most possible") as refused:
        tier(heights, 0.01, delta=1e-6, draws=10**6)
    most = refused.value.facts["most_rows"]
    tier(heights, 0.01, delta=1e-6, draws=most)
    with pytest.raises(PromiseNotMet):
        tier(heights, 0.01, delta=1e-6, draws=most + 1)


def test_what_is_printed_is_never_less_than_what_holds():
    made = tier([190.0, 200.0], delta=1.2345644e-6, draws=20)
    assert "delta = 1.24e-06" in str(made.promise)
    assert "provided that the base" in str(tier([190.0], base=[1.0] * made.grid.cells).promise)
    assert tier([190.0, 200.0], 1e300, delta=0.5, draws=2).certificate().holds
    with pytest.warns(equinoise.WeakPromiseWarning, match="no less than one divided"):
        equinoise.synthesize([190.0, 200.0], epsilon=1, delta=0.5, rows=2, bounds=BOUNDS, bins=5)
    with pytest.warns(equinoise.WeakPromiseWarning, match="promises next to nothing"):
        equinoise.synthesize([190.0, 200.0], epsilon=11, rows=2, bounds=BOUNDS, bins=5)


def test_the_promise_is_of_all_rows_together():
    made = tier([190.0, 200.0], 1.0, delta=1e-6, draws=20)
    assert made.epsilon < 0.5
    assert made.promise.epsilon == made.total == 1.0


def test_the_papers_grid_is_refused():
    schema = equinoise.Schema.of({"columns": {"height": {"bounds": [120.0, 230.0], "bins": 25}}})
    check_private_grid(make_grid(schema))
    with pytest.raises(BadInput, match="cells outside the bounds, which nobody can be in"):
        check_private_grid(make_grid(schema, padding={"padding_epsilon": 1.0, "percentile": 0.9}))


def test_one_person_and_one_bin_are_enough():
    assert tier([190.0]).certificate().holds
    assert tier([190.0] * 5).worst_loss <= 1


def test_a_base_is_saved_and_brings_the_output_closer_when_it_is_right(heights, tmp_path):
    people = heights[::20]
    plain = tier(people, 0.05)
    every = tier(heights, 0.05)
    guided = tier(people, 0.05, base=(every.histogram + 0.5).tolist())
    assert guided.metrics()["kl"] < 0.9 * plain.metrics()["kl"]
    guided.save(tmp_path / "b.eq")
    assert audit(tmp_path / "b.eq").passed


def test_through_the_command_line(run, folder):
    made = ("synthesize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--method", "envelope")
    asked = ("--epsilon", 1, "--delta", "1e-6", "--rows", 20)
    status, out, err = run(*made, *asked, "--save", "w.eq", "--out", "r.csv", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["kind"], found["method"], found["rows_drawn"]) == ("differential-privacy", "envelope", 20)
    assert found["certificate"]["holds"]
    assert found["protected"] == found["people"] == 300
    for command in (("show", "w.eq"), ("cost", "w.eq"), ("audit", "w.eq", "--data", "pay.csv")):
        for form in ((), ("--json",)):
            status, out, err = run(*command, *form)
            assert status == 0, (command, err)
            assert "Differential privacy: for every dataset" in out + err
    status, out, err = run("sample", "w.eq")
    assert (status, out) == (1, "")
    assert "none of the 20 allowed" in err
    (cells,) = json.loads(run("show", "w.eq", "--json")[1])["rule"]["shape"]
    (folder / "base.csv").write_text("share\n" + "\n".join(["1"] * cells) + "\n")
    assert run(*made, "--rows", 1, "--epsilon", 1, "--base", "base.csv", "--out", "b.csv")[0] == 0
    assert (folder / "b.eq").exists()
    for text, said in (
        ("1\n2\n", "2 numbers"),
        ("", "has no number in it"),
        ("a b c\n", "has no number in it"),
        ("1\nx\n", "has 'x' in it"),
    ):
        (folder / "base.csv").write_text(text)
        status, out, err = run(*made, "--rows", 1, "--epsilon", 1, "--base", "base.csv", "--out", "c.csv")
        assert (status, out) == (2, "")
        assert said in err
        assert not (folder / "c.eq").exists()
        assert not (folder / "c.csv").exists()


@settings(max_examples=60)
@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    bins=st.integers(2, 60),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
@example(low=163.0, width=63.0, bins=25, shares=[0, 1])
def test_every_draw_is_within_the_bounds(low, width, bins, shares):
    high = low + width
    people = np.clip([low + share * width for share in shares], low, high)
    made = envelope(people, epsilon=1, bounds=(low, high), bins=bins, draws=100)
    drawn = np.asarray(made.sample(20, source=seeded_bytes(1)))
    assert ((low <= drawn) & (drawn <= high)).all()
