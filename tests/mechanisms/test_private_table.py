import dataclasses
import json
from decimal import Decimal, localcontext
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
from equinoise.mechanisms.draws import draw_weighted
from equinoise.privacy.accounting import Budget, bounded_range_cost, bounded_range_epsilon, bounded_range_order
from equinoise.privacy.certificate import exp_lower_bound
from equinoise.privacy.monotone_certificate import certify_bounded_range
from tests.conftest import seeded_bytes
from tests.helpers.forged_files import forge

BOUNDS = (163, 226)


def tier(people, epsilon=1.0, **settings):
    return equinoise.synthesize(people, epsilon=epsilon, bounds=BOUNDS, **settings)


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
    assert made.epsilon > 1 / 500
    assert made.cost(500) == pytest.approx(1, rel=1e-6)
    assert made.cost(2) == 2 * made.epsilon  # few draws: adding up is better
    assert made.cost(5) < 5 * made.epsilon
    assert "500 draws are allowed and cost at most 1 with delta = 1e-06 together" in str(made.promise)


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
        for x, y in zip(made.weights, without.weights, strict=True):
            p, q = Fraction(x, sum(made.weights)), Fraction(y, sum(without.weights))
            assert p <= bound * q
            assert q <= bound * p


def test_saved_drawn_from_charged_and_audited_like_any_other(heights, tmp_path):
    made = tier(heights, draws=10)
    made.save(tmp_path / "w.eq")
    opened = Mechanism.open(tmp_path / "w.eq")
    assert opened.to_json() == made.to_json()
    assert opened.promise == made.promise
    values = opened.sample(9)
    inside = made.released_values[made.output > 0]
    assert np.isin(values, inside).all()
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
        lambda m: {"weights": [m.weights[0] + 1, *m.weights[1:]]},
        lambda m: {"counts": [m.counts.tolist()[0] + 1, *m.counts.tolist()[1:]]},
        lambda m: {"base": [0.0] * len(m.counts)},
        lambda m: {"rule": {**m.rule.to_json(), "factor": m.rule.factor * 2}},
        lambda m: {"budget": {"epsilon": 0.5, "delta": 1e-6}, "settings": {"epsilon": 0.5}},
        lambda m: {"draws": 501, "settings": {"draws": 501}},
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
    floors = tuple(
        floor + 2**24 * made.rule.unit * int(n) ** 2 for floor, n in zip(made.rule.floors, made.counts, strict=True)
    )
    rule = dataclasses.replace(made.rule, floors=floors)
    weights = tuple(equinoise.synthesis.monotone.weights(made.counts, rule))
    other = dataclasses.replace(made, rule=rule, weights=weights, ledger=None)
    assert "not the public one" in other.certificate().failure
    with pytest.raises(PromiseNotMet, match="certificate does not hold"):
        other.sample(1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"bounds": None}, "needs --bounds"),
        ({"bounds": {}}, "'bounds' parameter must be"),
        ({"bounds": {"value": None}}, "'bounds' parameter must be"),
        ({"draws": 0}, "'draws' parameter must be"),
        ({"delta": 1e-6}, "'delta' parameter must be 0"),
        ({"epsilon": 1e-5}, "at least 0.0001"),
        ({"base": [1, 2, 3]}, "3 numbers, but 24 cells|3 numbers, but 25 cells"),
    ],
)
def test_what_cannot_be_promised_is_refused(heights, settings, said):
    with pytest.raises(BadInput, match=said):
        equinoise.synthesize(heights, **{"epsilon": 1, "bounds": BOUNDS, **settings})


def test_several_columns_are_refused_before_they_are_counted(heights):
    two = pl.DataFrame({"a": heights, "b": heights + 1000})  # the second is not within its bounds
    with pytest.raises(BadInput, match="'column' parameter must be one column"):
        equinoise.synthesize(two, epsilon=1, column=["a", "b"], bounds={"a": BOUNDS, "b": BOUNDS})


def test_more_draws_than_any_epsilon_allows_say_how_many_are_possible(heights):
    with pytest.raises(PromiseNotMet, match="are the most possible") as refused:
        tier(heights, 0.01, delta=1e-6, draws=10**6)
    most = refused.value.facts["most_draws"]
    tier(heights, 0.01, delta=1e-6, draws=most)
    with pytest.raises(PromiseNotMet):
        tier(heights, 0.01, delta=1e-6, draws=most + 1)


def test_what_is_printed_is_never_less_than_what_holds():
    made = tier([190.0, 200.0], delta=1.2345644e-6, draws=20)
    assert "delta = 1.23457e-06" in str(made.promise)
    assert "provided that the base" in str(tier([190.0], base=[1.0] * len(made.counts)).promise)
    with pytest.warns(equinoise.WeakPromiseWarning):
        assert tier([190.0, 200.0], 1e300, delta=0.5, draws=2).certificate().holds


def test_one_person_and_one_bin_are_enough():
    assert tier([190.0]).certificate().holds
    assert tier([190.0] * 5).worst_loss <= 1


def test_a_base_is_saved_and_brings_the_output_closer_when_it_is_right(heights, tmp_path):
    people = heights[::20]
    plain = tier(people, 0.05)
    every = tier(heights, 0.05)
    guided = tier(people, 0.05, base=(every.counts + 0.5).tolist())
    assert guided.metrics()["kl"] < 0.9 * plain.metrics()["kl"]
    guided.save(tmp_path / "b.eq")
    assert audit(tmp_path / "b.eq").passed


budgets = st.tuples(st.floats(0.01, 20), st.sampled_from([1e-9, 1e-6, 1e-3, 0.1]), st.integers(2, 10**6))


@given(budgets)
def test_the_loss_a_draw_uses_the_budget_up_and_is_certified(asked):
    total, delta, draws = asked
    each = bounded_range_epsilon(Budget(total, delta), draws)
    order = bounded_range_order(each, draws, delta)
    assert certify_bounded_range(each, draws, total, delta, order)
    assert bounded_range_cost(each, draws, delta) <= total * (1 + 1e-8)
    assert not certify_bounded_range(each * 1.001, draws, total, delta, order)
    assert each >= total / draws * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "draws", "delta"), [(0.1, 100, 1e-6), (1.0, 10, 1e-3), (0.02, 500, 1e-6)])
def test_the_cost_is_above_that_of_the_worst_pair_of_that_range(epsilon, draws, delta):
    """Randomized response shifted to have log-ratios in [-u, epsilon - u]: every such pair costs no more."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        low, high = -share * epsilon, (1 - share) * epsilon
        q = -np.expm1(low) / (np.exp(high) - np.exp(low))
        p = q * np.exp(high)
        one = pld.from_two_probability_mass_functions(
            {0: np.log(p), 1: np.log1p(-p)}, {0: np.log(q), 1: np.log1p(-q)},
            value_discretization_interval=epsilon / 1000, pessimistic_estimate=False, symmetric=False,
        )  # fmt: skip
        assert one.self_compose(draws).get_epsilon_for_delta(delta) <= bounded_range_cost(epsilon, draws, delta)


def test_the_decimal_check_is_the_formula():
    epsilon, draws, delta, order = 0.05, 400, 1e-7, 9.25
    with localcontext(prec=50):
        a = Decimal(order)
        exact = a * draws * Decimal(epsilon) ** 2 / 8
        exact += (-Decimal(delta).ln() + (a - 1) * ((a - 1) / a).ln() - a.ln()) / (a - 1)
    assert certify_bounded_range(epsilon, draws, float(exact) * (1 + 1e-12), delta, order)
    assert not certify_bounded_range(epsilon, draws, float(exact) * (1 - 1e-12), delta, order)
    for bad in ((0.0, 1, 1.0, 0.1, 2.0), (1.0, 2, 1.0, 0.0, 2.0), (1.0, 2, 1.0, 0.1, 1.0)):
        assert not certify_bounded_range(*bad)


def test_through_the_command_line(run, folder):
    made = ("synthesize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100)
    status, out, err = run(*made, "--epsilon", 1, "--delta", "1e-6", "--draws", 20, "--out", "w.eq", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["kind"] == "differential-privacy"
    assert found["certificate"]["holds"]
    assert found["protected"] == found["people"] == 300
    for command in (("show", "w.eq"), ("cost", "w.eq"), ("audit", "w.eq", "--data", "pay.csv"), ("sample", "w.eq")):
        for form in ((), ("--json",)):
            status, out, err = run(*command, *form)
            assert status == 0, (command, err)
            assert "Differential privacy: for every dataset" in out + err
    cells = len(json.loads(run("show", "w.eq", "--json")[1])["counts"])
    (folder / "base.csv").write_text("share\n" + "\n".join(["1"] * cells) + "\n")
    assert run(*made, "--epsilon", 1, "--base", "base.csv", "--out", "b.eq")[0] == 0
    for text, said in (
        ("1\n2\n", "2 numbers"),
        ("", "has no number in it"),
        ("a b c\n", "has no number in it"),
        ("1\nx\n", "has 'x' in it"),
    ):
        (folder / "base.csv").write_text(text)
        status, out, err = run(*made, "--epsilon", 1, "--base", "base.csv", "--out", "c.eq")
        assert (status, out) == (2, "")
        assert said in err
        assert not (folder / "c.eq").exists()


@settings(max_examples=60)
@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    bins=st.integers(2, 60),
    percentile=st.sampled_from([0.5, 0.6, 0.9, 0.99]),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
@example(low=163.0, width=63.0, bins=101, percentile=0.9, shares=[0, 1])  # both end cells reach over a bound
@example(low=0.0, width=100.0, bins=5, percentile=0.99, shares=[0.2])  # one cell holds both bounds
def test_every_draw_is_within_the_bounds(low, width, bins, percentile, shares):
    high = low + width
    people = np.clip([low + share * width for share in shares], low, high)
    made = equinoise.synthesize(people, epsilon=1, bounds=(low, high), bins=bins, percentile=percentile, draws=100)
    possible = made.released_values[made.output > 0]
    assert ((low <= possible) & (possible <= high)).all()
    assert (np.diff(made.released_values) > 0).all()
    assert np.isin(made.sample(20, source=seeded_bytes(1)), possible).all()


def test_draws_at_the_bounds_wherever_they_are_told(run, folder):
    """163 and 226 lie in the outer halves of their cells: midpoints would be 162.92 and 226.08."""
    (folder / "heights.csv").write_text("height\n" + "163\n226\n" * 200)
    asked = ("--bounds", "height", 163, 226, "--bins", 101, "--epsilon", 5, "--draws", 999)
    assert run("synthesize", "heights.csv", *asked, "--out", "w.eq")[0] == 0
    rows = json.loads(run("sample", "w.eq", "-n", 400, "--json")[1])["rows"]
    lines = run("sample", "w.eq", "-n", 400)[1].splitlines()[1:]
    made = Mechanism.open("w.eq")
    for values in (rows, list(map(float, lines)), made.released_values[made.output > 0.1].tolist()):
        assert (min(values), max(values)) == (163, 226)
    assert "162." not in run("show", "w.eq")[1]
    p, q = made.original, made.output
    assert made.metrics()["wasserstein"] == pytest.approx(
        stats.wasserstein_distance(made.released_values, made.released_values, p, q)
    )
