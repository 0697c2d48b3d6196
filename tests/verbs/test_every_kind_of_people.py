"""Everything goes with everything: one column or two, one row a person or several, whatever is asked for."""

import json
import math

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput, Mechanism
from equinoise.analysis import audit
from equinoise.analysis.end_to_end import end_to_end
from equinoise.analysis.loss_groups import Groups
from tests.helpers import people
from tests.helpers.forged_files import forge

every_kind = pytest.mark.parametrize("kind", people.KINDS)


def distributions(made):
    """For each group the distribution of one draw with a person of it and without them, by the definition."""
    rows = people.laid_out(made)
    everyone = (made.people.astype(object) @ rows).astype(float)
    for row in rows.astype(float):
        yield everyone / everyone.sum(), (everyone - row) / (everyone - row).sum()


def hockey_stick(p, q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


def renyi(p, q, order):
    return max(math.log((a**order * b ** (1 - order)).sum()) / (order - 1) for a, b in ((p, q), (q, p)))


@every_kind
def test_a_delta_for_one_draw(kind, tmp_path):
    pure, made = people.make(kind, epsilon=0.3), people.make(kind, epsilon=0.3, delta=2e-3)
    assert made.certificate().holds
    assert max(hockey_stick(p, q, 0.3) for p, q in distributions(made)) <= 2e-3
    assert made.worst_loss > 0.3  # which a pure epsilon would not allow
    assert made.metrics()["kl"] < pure.metrics()["kl"]
    assert "at most 0.3 with delta = 0.002" in str(made.promise)
    made.save(tmp_path / "m.eq")
    assert Mechanism.open(tmp_path / "m.eq").certificate() == made.certificate()
    forge(tmp_path / "m.eq", delta=1e-9, settings={"delta": 1e-9})
    with pytest.raises(BadInput, match="certificate does not hold"):
        Mechanism.open(tmp_path / "m.eq")


@every_kind
def test_a_renyi_divergence_for_one_draw(kind, tmp_path):
    pure, made = people.make(kind, epsilon=0.1), people.make(kind, epsilon=0.1, order=3.0)
    assert made.certificate().holds
    assert max(renyi(p, q, 3.0) for p, q in distributions(made)) <= 0.1
    assert made.worst_loss > 0.1
    assert made.metrics()["kl"] < pure.metrics()["kl"]
    assert "the Renyi divergence of order 3 of one draw is at most 0.1" in str(made.promise)
    made.save(tmp_path / "m.eq")
    assert Mechanism.open(tmp_path / "m.eq").certificate() == made.certificate()
    forge(tmp_path / "m.eq", order=200.0, settings={"order": 200.0})
    with pytest.raises(BadInput, match="certificate does not hold"):
        Mechanism.open(tmp_path / "m.eq")


@every_kind
@pytest.mark.parametrize(
    "asked",
    [
        {"solver": "genetic", "generations": 3, "restarts": None, "epsilon": 2},
        {"scales": "adaptive"},
        {"utility": "js"},
        {"utility": "tv"},
        {"utility": "wasserstein"},
        {"utility": "moments:2"},
        {"noise": "staircase"},
        {"draws": 20, "delta": 1e-6},
    ],
    ids=lambda asked: "-".join(map(str, asked.values())),
)
def test_whatever_is_asked_for_is_certified_saved_and_found_again(kind, asked, tmp_path):
    made = people.make(kind, **asked)
    assert made.certificate().holds
    assert made.protected == made.total_people
    assert people.plain_losses(made).max() == pytest.approx(made.worst_loss, rel=1e-9)
    assert made.worst_loss <= made.epsilon
    made.save(tmp_path / "m.eq")
    found = audit.audit(tmp_path / "m.eq", people.data(kind))
    assert found.passed
    assert {"certificate", "weights", "data"} <= set(found.checked)
    json.dumps(found.to_json(), allow_nan=False)


@every_kind
@pytest.mark.parametrize("utility", ["kl", "js", "tv", "wasserstein", "moments:2"])
def test_a_utility_is_served_by_its_own_game(kind, utility):
    """Nobody's own best response to a game of KL is closer, as the utility measures it."""
    made = people.make(kind, utility=utility)
    assert made.solver["equilibrium"]
    game, kl = made.game(), people.make(kind)
    known = np.zeros((kl.players.types, len(kl.scales)), dtype=np.int64)
    types = {bag: number for number, bag in enumerate(sorted(set(kl.bags)))}
    np.add.at(known, ([types[bag] for bag in kl.bags], kl.scale_indices), kl.people)
    ours = np.zeros_like(known)
    np.add.at(ours, ([types[bag] for bag in made.bags], made.scale_indices), made.people)
    assert game.divergence(ours) <= game.divergence(known) + 1e-12


@every_kind
def test_a_start_of_ones_own(kind):
    first = people.make(kind)
    game = first.game()
    made = people.make(kind, start=game.largest_scale_profile())
    assert made.certificate().holds
    assert made.settings["own_start"]
    with pytest.raises(BadInput, match="a table of"):
        people.make(kind, start=game.largest_scale_profile()[1:])


@every_kind
def test_an_audit_knows_its_data_from_other_data(kind, tmp_path):
    people.make(kind, draws=5).save(tmp_path / "m.eq")
    data = people.data(kind)
    assert audit.audit(tmp_path / "m.eq", data.sample(fraction=1, shuffle=True, seed=1)).passed
    others = [data[1:], data.with_columns(a=100 - pl.col("a"))]
    if kind in people.SEVERAL_COLUMNS:
        others.append(data.with_columns(b=-pl.col("b")))
        others.append(data.with_columns(b=pl.col("b").reverse()))  # the same columns, but other pairs
    if kind in people.SEVERAL_ROWS:
        others.append(data.with_columns(who=pl.col("who").reverse()))  # the same rows, but other people's
        others.append(data.with_columns(who=pl.int_range(pl.len())))  # nobody has two
    for other in others:
        found = audit.audit(tmp_path / "m.eq", other)
        assert (found.same_histogram, found.passed) == (False, False)


@every_kind
def test_all_that_draws_cost_is_told_of_everyone(kind, tmp_path):
    made = people.make(kind, draws=20, delta=1e-6)
    made.save(tmp_path / "m.eq")
    made.sample(3)
    found = audit.audit(tmp_path / "m.eq", people.data(kind))
    assert found.spent == 3
    assert sum(group["people"] for group in found.totals) == made.total_people
    assert max(group["allowed"] for group in found.totals) == pytest.approx(made.cost(20))
    assert made.cost(20) <= 1
    assert [group["cell"] for group in found.totals] == [bag[0][0] for bag in made.bags]
    cells = found.cells()
    assert [cell["cell"] for cell in cells] == np.flatnonzero(made.histogram).tolist()
    for cell in cells:
        here = [g for g, bag in enumerate(made.bags) if cell["cell"] in dict(bag)]
        assert cell["people"] == made.people[here].sum()
        assert cell["worst_loss"] == made.losses()[here].max()
        if len(made.grid.axes) == 1:
            scales = np.array([made.scales[made.scale_indices[g]][0] for g in here]) * made.grid.axis.range
            assert cell["average_scale"] == pytest.approx(np.average(scales, weights=made.people[here]))


@every_kind
def test_the_whole_way_through_the_command_line(kind, run, folder):
    people.data(kind, rows=80).write_csv("people.csv")
    people.data(kind, rows=80).reverse().write_parquet("again.parquet")
    words = people.words(kind, epsilon=2, bins=11, restarts=1, draws=9)
    status, out, err = run("optimize", "people.csv", *words, "--out", "m.eq", "--json")
    assert (status, err) == (0, "")
    made, told = Mechanism.open("m.eq"), json.loads(out)
    assert told["people"] == told["protected"] == made.total_people
    assert (told["rows"], told["cells"]) == (80, 121 if kind in people.SEVERAL_COLUMNS else 11)
    assert (told["people"] < 80) == (kind in people.SEVERAL_ROWS)
    for command in (
        ("show", "m.eq"),
        ("cost", "m.eq"),
        ("audit", "m.eq", "--data", "again.parquet"),
        ("sample", "m.eq"),
    ):
        for form in ((), ("--json",)):
            status, out, err = run(*command, *form)
            assert status == 0, (command, err)
            who = "each person" if command[0] == "sample" else f"each of the {made.total_people} people"
            said = " ".join((out + err).split())
            assert f"Per-instance: for {who} in this dataset" in said
            assert ("all rows of that one person removed" in said) == (kind in people.SEVERAL_ROWS)
    columns = 2 if kind in people.SEVERAL_COLUMNS else 1
    assert run("sample", "m.eq", "-n", 3, "--out", "rows.csv")[0] == 0
    assert pl.read_csv("rows.csv").shape == (3, columns)
    assert Mechanism.open("m.eq").ledger.spent == 5


def _added(several):
    """The columns of losses and scales, for several columns of data or for one."""
    each = [f"_{name}" for name in several] or [""]
    return ["loss", *(f"scale{name}" for name in each), *(f"scale_needed{name}" for name in each)]


@every_kind
def test_losses_through_the_command_line(kind, run, folder):
    data = people.data(kind)
    data.write_csv("people.csv")
    assert run("optimize", "people.csv", *people.words(kind), "--out", "m.eq")[0] == 0
    made = Mechanism.open("m.eq")
    status, out, _ = run("losses", "m.eq", "people.csv", "--out", "losses.csv", "--json")
    told = json.loads(out)
    assert (status, told["rows"], told["people"], told["left_out"]) == (0, len(data), made.total_people, 0)
    assert told["worst_loss"] == made.worst_loss
    hardest = Groups.of(made).hardest(10**6)
    assert [{name: line[name] for name in hardest[0]} for line in told["hardest"]] == hardest[:10]
    assert all(np.all(np.less(one["from"], one["to"])) for one in hardest)  # also where a column's bins descend
    found = pl.read_csv("losses.csv")
    assert found.drop(told["columns"]).columns == data.columns
    assert told["columns"] == ["row", *_added(["a", "b"] if kind in people.SEVERAL_COLUMNS else [])]
    assert found["row"].to_list() == list(range(1, len(data) + 1))
    if kind in people.SEVERAL_ROWS:
        alike = found.group_by("who").agg(pl.col(told["columns"][1:]).n_unique()).drop("who")
        assert alike.max().row(0) == (1,) * len(told["columns"][1:])
        everyone = found.unique("who")
    else:
        everyone = found
    expected = np.repeat(made.losses(), made.people)
    np.testing.assert_allclose(np.sort(everyone["loss"].to_numpy()), np.sort(expected), rtol=1e-5)
    cells = [[axis.cell_of(v) for v in data[axis.name]] for axis in made.grid.axes]
    mine, bags = {}, made.bags
    names = data["who"].to_list() if kind in people.SEVERAL_ROWS else range(len(data))
    for who, cell in zip(names, made.grid.cells_of(np.array(cells).T).tolist(), strict=True):
        mine.setdefault(who, []).append(cell)
    known = {}
    for group, bag in enumerate(bags):
        known.setdefault(bag, set()).add(made.losses()[group])
    for who, loss in zip(names, found["loss"].to_list(), strict=True):
        bag = tuple((cell, mine[who].count(cell)) for cell in sorted(set(mine[who])))
        assert any(math.isclose(loss, one, rel_tol=1e-5) for one in known[bag])
    data[1:].write_csv("fewer.csv")
    status, _, err = run("losses", "m.eq", "fewer.csv", "--out", "none.csv")
    assert (status, "is not what the mechanism was made from" in err) == (2, True)
    assert not (folder / "none.csv").exists()


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        *((kind, {}) for kind in people.KINDS),
        *(("both", asked) for asked in ({"delta": 1e-3}, {"order": 4.0}, {"draws": 9, "delta": 1e-6})),
    ],
    ids=str,
)
def test_a_report_through_the_command_line(kind, asked, run, folder):
    people.data(kind).write_csv("people.csv")
    assert run("optimize", "people.csv", *people.words(kind, **asked), "--out", "m.eq")[0] == 0
    for more in ((), ("--public",)):
        status, _, err = run("report", "m.eq", "--out", "page.html", *more, "--force")
        assert status == 0, err
        text = (folder / "page.html").read_text()
        assert ("Per-instance: for each person" in text) == bool(more)
        assert "all rows of that one person" in text or kind not in people.SEVERAL_ROWS


@every_kind
@pytest.mark.parametrize(
    "asked", [{}, {"delta": 1e-3}, {"order": 4.0}, {"solver": "genetic", "generations": 2, "restarts": None}], ids=str
)
def test_an_end_to_end_audit_through_the_command_line(kind, asked, run, folder):
    people.data(kind, rows=40).write_csv("people.csv")
    words = people.words(kind, **{"epsilon": 3, "bins": 15, "restarts": 1, **asked})
    status, _, err = run("optimize", "people.csv", *words, "--out", "m.eq")
    assert status == 0, err
    status, out, err = run("audit", "m.eq", "--data", "people.csv", "--end-to-end", "--json")
    found, made = json.loads(out), Mechanism.open("m.eq")
    expected = end_to_end(made)
    assert err == ""
    assert status == (1 if expected.above else 0)
    assert found["checked"][-1] == "end-to-end"
    assert found["end_to_end"]["people_above_target"] == expected.above
    assert sum(cell["people"] for cell in found["end_to_end"]["cells"]) == made.total_people
    assert len(found["end_to_end"]["cells"]) == made.players.types
    status, out, _ = run("audit", "m.eq", "--data", "people.csv", "--end-to-end")
    assert "Measured for this dataset, end to end" in " ".join(out.split())


SETTINGS = [
    {},
    {"unit_rows": "one"},
    {"solver": "genetic", "generations": 2, "restarts": None},
    {"delta": 1e-3},
    {"order": 2.0},
    {"delta": 1e-6, "draws": 5},
    {"utility": "tv"},
    {"scales": "adaptive"},
    {"column": ["a", "b"], "bounds": people.BOUNDS},
    {"column": ["a", "b"], "bounds": people.BOUNDS, "scale_per_column": True},
    {"column": ["a", "b"], "bounds": people.BOUNDS, "utility": "wasserstein"},
    {"scale_per_column": True},
    {"unit": "b", "column": "b"},
]


def refusal(data, settings):
    """What is said, if anything is; nobody's rows are in it."""
    asked = {"column": "a", "bounds": {"a": (0, 100)}, "epsilon": 4, "bins": 9, "restarts": 1, "unit": "who"}
    try:
        equinoise.optimize(data, **{**asked, **settings})
    except BadInput as refused:
        return str(refused)
    except equinoise.PromiseNotMet:  # this depends on the data, and says so
        return None
    return None


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_with_a_unit_what_is_refused_does_not_depend_on_whether_anybody_has_two_rows(settings):
    several = people.table(60)
    single = several.with_columns(who=pl.int_range(pl.len()))
    two = single.with_columns(who=pl.col("who").clip(lower_bound=1))  # one person has two
    said = {refusal(data, settings) for data in (several, single, two)}
    assert len(said) == 1, said


@pytest.mark.parametrize("settings", [{}, {"delta": 1e-3}, {"order": 2.0}, {"delta": 1e-6, "draws": 5}], ids=str)
def test_with_a_unit_what_is_told_in_public_does_not_depend_on_whether_anybody_has_two_rows(settings):
    several = people.table(60)
    single = several.with_columns(who=pl.int_range(pl.len()))
    asked = {"column": "a", "bounds": (0, 100), "epsilon": 4, "bins": 9, "restarts": 1, "unit": "who", **settings}
    one, other = (equinoise.optimize(data, **asked) for data in (single, several))
    assert str(one.promise.public()) == str(other.promise.public())
    assert type(one) is type(other)
    assert set(one.to_json()) == set(other.to_json())
    assert one.settings == other.settings
    assert "rows with the same 'who' are one person's, 60 rows in all" in str(one.promise)
