import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.joint import joint_game as players_game
from equinoise import BadInput, Mechanism, PromiseNotMet, optimize
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.accounting import Accountant, Budget
from equinoise.privacy.certificate import certify
from equinoise.solvers.best_response import best_response
from equinoise.solvers.budget import accountant_of, most_draws, within_budget
from tests.helpers.games import bag_game, height_game


def solve(game):
    return best_response(game, restarts=2)


def test_five_hundred_draws_within_a_budget(heights):
    game = height_game("wide", 1.0, values=heights)
    found = within_budget(game, solve, 500, Budget(1.0, 1e-6))
    assert found.kl <= 0.02
    assert found.protected == 1844
    assert accountant_of(found.game, found.profile).worst(500, 1e-6) <= 1.0
    assert found.game.epsilon > 10 * 1.0 / 500


@pytest.mark.parametrize("kind", ["columns", "rows"])
def test_draws_within_a_budget_whatever_the_data(kind):
    if kind == "columns":
        game = players_game(("height", "weight"), 9, 1.0)
    else:
        game = bag_game([[0, 1], [1], [1, 1, 2], [3], [4, 5]], [50, 200, 300, 200, 50], 6, [0.02, 0.2, 1.0, 3.0], 1.0)
    budget = Budget(1.0, 1e-6)
    found = within_budget(game, solve, 200, budget)
    assert found.protected == game.people
    assert accountant_of(found.game, found.profile).worst(200, 1e-6) <= 1.0
    assert found.game.epsilon > 1.0 / 200
    made = PerInstance.from_solution(found, draws=200, budget=budget)
    assert made.within_budget
    assert made.cost(200) == pytest.approx(accountant_of(found.game, found.profile).worst(200, 1e-6), rel=1e-9)


def test_past_what_is_possible_the_most_draws_are_stated(heights):
    game = height_game([30.0, 100.0], 1.0, values=heights)
    budget = Budget(0.001, 1e-9)
    possible = most_draws(game, budget)
    assert 0 < possible < 10**6
    with pytest.raises(PromiseNotMet, match="draws are possible") as caught:
        within_budget(game, solve, 20 * possible, budget)
    assert caught.value.facts["most_draws"] == possible


@pytest.fixture
def people(heights):
    return heights[:400]


def test_a_budget_that_is_not_kept_lets_nothing_out(people, tmp_path):
    made = optimize(people, bounds=(163, 226), epsilon=1, delta=1e-6, draws=20, bins=9, restarts=1)
    assert made.promised_cost(3) == made.promised_cost(20) == 1.0  # by what is public alone
    for budget in (Budget(0.5, 1e-6), Budget(1.0, 1e-15), Budget(2 * made.cost(1), 1e-6)):
        broken = replace(made, budget=budget, ledger=None)
        for use in (lambda broken=broken: broken.sample(1), lambda broken=broken: broken.save(tmp_path / "m.eq")):
            with pytest.raises(PromiseNotMet, match="more than the budget"):
                use()


def test_budgets_are_saved_checked_and_charged(people, tmp_path):
    made = optimize(people, bounds=(163, 226), epsilon=1, delta=1e-6, draws=50, bins=41, restarts=2)
    assert made.budget == Budget(1.0, 1e-6)
    assert made.cost(50) <= 1.0
    assert made.cost(5) < made.cost(50) < 50 * made.epsilon
    made.save(tmp_path / "m.eq")
    opened = Mechanism.open(tmp_path / "m.eq")
    assert opened.budget == made.budget
    assert "cost at most 1 with delta = 1e-06 together" in str(opened.promise)
    costs = opened.costs([1, 10])
    assert costs[0]["worst"] <= costs[1]["worst"] <= costs[1]["added_up"]
    assert costs[0]["median"] <= costs[0]["added_up"]


def test_one_draw_with_a_delta_or_a_renyi_order(people, tmp_path):
    pure = optimize(people, bounds=(163, 226), epsilon=0.5, bins=41, restarts=2)
    loose = optimize(people, bounds=(163, 226), epsilon=0.5, delta=1e-3, bins=41, restarts=2)
    renyi = optimize(people, bounds=(163, 226), epsilon=0.5, order=4, draws=3, bins=41, restarts=2)
    for made in (loose, renyi):
        assert made.certificate().holds
        assert made.protected == 400
        assert made.metrics()["kl"] <= pure.metrics()["kl"]
        made.save(tmp_path / f"{made.order}.eq")
        assert Mechanism.open(tmp_path / f"{made.order}.eq").promise == made.promise
    assert "delta = 0.001" in str(loose.promise)
    assert "Renyi divergence of order 4" in str(renyi.promise)
    assert "3 x 0.5 = 1.5 together (Renyi divergences of order 4 add up)" in str(renyi.promise)
    assert loose.worst_loss > 0.5


TABLES = {
    "several columns": {"column": ["a", "b"], "bounds": {"a": (163, 226), "b": (163, 226)}},
    "several rows": {"column": "a", "bounds": (163, 226), "unit": "who"},
    "both": {"column": ["a", "b"], "bounds": {"a": (163, 226), "b": (163, 226)}, "unit": "who"},
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    "asked", [{"delta": 1e-3}, {"order": 4, "draws": 3}, {"delta": 1e-6, "draws": 10}], ids=["delta", "renyi", "budget"]
)
def test_every_target_whatever_the_data(people, tmp_path, kind, asked):
    table = pl.DataFrame({"a": people, "b": np.roll(people, 7), "who": np.arange(400) // 2})
    table = table if "unit" in TABLES[kind] else table.drop("who")
    made = optimize(table, epsilon=1, bins=9, restarts=2, **TABLES[kind], **asked)
    assert made.certificate().holds
    assert made.protected == made.total_people == (400 if kind == "several columns" else 200)
    assert made.within_budget
    made.save(tmp_path / "m.eq")
    opened = Mechanism.open(tmp_path / "m.eq")
    assert opened.promise == made.promise
    assert opened.cost(made.draws) == made.cost(made.draws)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"delta": -0.1}, "'delta' parameter"),
        ({"delta": 1.0}, "'delta' parameter"),
        ({"delta": 1e-12}, "'delta' parameter"),
        ({"order": 1.0}, "'order' parameter"),
        ({"order": float("nan")}, "'order' parameter"),
        ({"order": 2.0, "delta": 0.1}, "'delta' parameter"),
    ],
)
def test_bad_targets(people, asked, said):
    with pytest.raises(BadInput, match=said):
        optimize(people, bounds=(163, 226), epsilon=0.5, bins=41, restarts=1, **asked)


def test_the_command_line_tells_the_cost(run, folder):
    pay = ["pay.csv", "--column", "pay", "--bounds", "pay", "0", "100", "--bins", "31", "--out", "pay.eq"]
    assert run("optimize", *pay, "--epsilon", "1", "--delta", "1e-6", "--draws", "40")[0] == 0
    status, out, _ = run("cost", "pay.eq", "--draws", "1,40", "--json", "--plot", "cost.svg")
    told = json.loads(out)
    assert status == 0
    assert [row["draws"] for row in told["costs"]] == [1, 40]
    assert told["costs"][1]["worst"] <= 1
    assert "worst person" in (folder / "cost.svg").read_text()
    assert "losses added up" in run("cost", "pay.eq", "--draws", "1,40")[1]
    run("sample", "pay.eq", "-n", "3")
    found = json.loads(run("audit", "pay.eq", "--json")[1])
    totals = found["ledger"]["totals"]
    assert max(group["allowed"] for group in totals) <= 1
    assert max(group["spent"] for group in totals) == pytest.approx(found["ledger"]["declared_cost"])
    assert sum(group["people"] for group in totals) == 300
    for bad in ("0", "1.5", "x", "", "1e12"):
        assert run("cost", "pay.eq", "--draws", bad)[0] == 2
    assert run("cost", "pay.eq", "--delta", "2")[0] == 2


@pytest.mark.parametrize(
    "asked",
    [{"delta": 1e-3, "draws": 50}, {"delta": 1e-3, "order": 2.0}, {"order": 2.0, "budget": Budget(1.0, 1e-6)}],
)
def test_what_does_not_go_together_is_no_mechanism(people, asked):
    """Epsilons of different kinds must not be added up as if they were one, in a file or in Python."""
    made = optimize(people, bounds=(163, 226), epsilon=0.5, bins=41, restarts=1)
    with pytest.raises(BadInput, match="not two of them"):
        replace(made, ledger=None, **asked)


def test_a_budget_so_small_that_a_draw_would_be_below_the_least_epsilon(people):
    with pytest.raises(PromiseNotMet, match="draws are possible"):
        optimize(people, bounds=(163, 226), epsilon=0.01, delta=1e-6, draws=10**9, bins=41, restarts=1)


def test_before_anything_is_released_nothing_was_spent():
    found = Accountant(np.array([1, 2]), np.array([[1, 1, 2], [0, 2, 2]]))
    assert found.bounds(0, 0.1).tolist() == [0, 0]


def test_a_huge_order_is_a_verdict_and_no_error():
    rows = np.array([[4, 12, 0], [0, 8, 8]])
    assert not certify([1, 299], (rows,), (16,), 1000.0, order=10_000.0).holds
