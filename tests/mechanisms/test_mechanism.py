import dataclasses
import json
import math
import re
import stat

import numpy as np
import pytest
from scipy import stats

import equinoise
from equinoise import BadInput, BudgetSpent, Mechanism, PerInstance, PromiseNotMet
from equinoise.game.equilibrium import is_equilibrium
from equinoise.privacy.accounting import Accountant
from equinoise.solvers.solution import Solution
from tests.conftest import seeded_bytes
from tests.helpers import people as counted
from tests.helpers.forged_files import forge
from tests.helpers.private_tables import envelope


@pytest.fixture
def people():
    """Values of 400 people."""
    return np.random.default_rng(1).normal(50, 12, 400).clip(0, 100)


@pytest.fixture
def mechanism(people):
    """A mechanism of these people that allows 1,000 draws."""
    return equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=41, draws=1000, restarts=2)


@pytest.fixture
def saved_path(mechanism, tmp_path):
    """The path of that mechanism, saved."""
    path = tmp_path / "m.eq"
    mechanism.save(path)
    return path


@pytest.fixture(scope="module", params=counted.KINDS)
def any_mechanism(request):
    """A mechanism of every kind of people, one after the other."""
    return counted.make(request.param, draws=1000)


@pytest.mark.parametrize("kind", counted.KINDS)
def test_saved_and_opened_is_the_same_mechanism(kind, tmp_path):
    made, saved = counted.make(kind, draws=1000), tmp_path / "m.eq"
    made.save(saved)
    opened = Mechanism.open(saved)
    assert opened.to_json() == made.to_json()
    assert opened.bags == made.bags
    for ours, theirs in zip(opened.factors, made.factors, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert opened.losses().tolist() == made.losses().tolist()
    assert opened.promise == made.promise
    assert opened.ledger.digest == made.ledger.digest
    assert opened.certificate() == made.certificate()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert [p.name for p in saved.parent.iterdir()] == ["m.eq"]
    opened.sample(996)
    with pytest.raises(BudgetSpent):
        opened.sample(5)


def test_everyone_is_protected_and_certified(any_mechanism):
    assert any_mechanism.certificate().holds
    assert any_mechanism.solver["equilibrium"]
    assert any_mechanism.protected == any_mechanism.total_people
    assert 0 < any_mechanism.worst_loss <= 1
    assert any_mechanism.histogram.sum() == any_mechanism.total_rows == counted.ROWS
    assert any_mechanism.output.sum() == pytest.approx(1)
    assert (any_mechanism.total_people < any_mechanism.total_rows) == (not any_mechanism.members.single)


def test_losses_and_output_are_those_of_rows_laid_out(any_mechanism):
    rows = counted.laid_out(any_mechanism)
    everyone = (any_mechanism.people.astype(object) @ rows).astype(float)
    np.testing.assert_allclose(any_mechanism.output, everyone / everyone.sum())
    np.testing.assert_allclose(any_mechanism.losses(), counted.plain_losses(any_mechanism), rtol=1e-9)
    assert np.concatenate([rows for _, rows in any_mechanism.laid_out(object)]).tolist() == rows.tolist()
    plain = Accountant(any_mechanism.people, rows, any_mechanism.members.sizes)
    assert any_mechanism.costs([7], 1e-6)[0]["worst"] == plain.worst(7, 1e-6)


def test_show_json_is_enough_to_compute_the_output_and_every_loss(any_mechanism):
    shown = json.loads(json.dumps(any_mechanism.to_json()))
    shape = [axis["bins"] for axis in shown["grid"]["axes"]]
    kernels = [
        equinoise.game.noise.axis_weights("laplace", [choice[axis] for choice in shown["scales"]], bins, total)
        for axis, (bins, total) in enumerate(zip(shape, shown["weight_totals"], strict=True))
    ]
    entry, rows = 0, []
    for group in shown["profile"]:
        rows.append(0.0)
        for place in group["rows"]:
            row = np.array([place["rows"]], float)
            for axis, bin in enumerate(np.unravel_index(place["cell"], shape)):
                assert kernels[axis][group["scale"], bin].tolist() == shown["weights"][axis][entry]
                row = np.kron(row, np.array(shown["weights"][axis][entry], float))
            rows[-1] = rows[-1] + row
            entry += 1
    people, rows = np.array([group["people"] for group in shown["profile"]]), np.array(rows)
    everyone, others = people @ rows, people @ rows - rows
    np.testing.assert_allclose(everyone / everyone.sum(), any_mechanism.output)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log((everyone / everyone.sum()) / (others / others.sum(axis=1)[:, None])))
    np.testing.assert_allclose(np.nanmax(ratio, axis=1), any_mechanism.losses(), rtol=1e-9)


@pytest.mark.parametrize("kind", counted.KINDS)
def test_draws_follow_the_output_and_are_cell_midpoints(kind):
    made = counted.make(kind, draws=10**6)
    values = made.sample(100_000, frame="numpy", source=seeded_bytes(3))
    assert values.shape == ((100_000, 2) if kind in counted.SEVERAL_COLUMNS else (100_000,))
    bins = []
    for axis, column in zip(made.grid.axes, values.reshape(len(values), -1).T, strict=True):
        assert np.isin(column, axis.midpoints()).all()
        bins.append(np.searchsorted(axis.midpoints(), column))
    seen = np.bincount(made.grid.cells_of(np.stack(bins, axis=1)), minlength=made.grid.cells)
    expected = made.output * len(values)
    big = expected > 10
    observed = np.append(seen[big], seen[~big].sum())
    wanted = np.append(expected[big], expected[~big].sum())
    assert stats.chisquare(observed, wanted).pvalue > 1e-9


def test_quantiles_count_people():
    rows = np.array([[2**32, 0], [2**31, 2**31]])
    m = PerInstance(
        grid=equinoise.Grid((equinoise.Axis.padded("x", 0, 1, bins=2),)), noise="laplace", scales=((1.0,),),
        epsilon=1.0, draws=1, begins=np.arange(3), cells=np.array([0, 1]), times=np.array([1, 1]),
        scale_indices=np.array([0, 0]), people=np.array([3, 97]), factors=(rows,),
    )  # fmt: skip
    rare, usual = m.losses()
    assert rare > usual
    assert m.loss_quantiles((0.5, 0.97, 0.971, 1.0)) == {"0.5": usual, "0.97": usual, "0.971": rare, "1": rare}
    assert m.worst_loss == rare


def test_no_mechanism_is_made_without_a_certificate_that_holds(any_mechanism):
    game = any_mechanism.game()
    smallest = game.profile_of(np.zeros(game.players.types, dtype=np.int64))
    with pytest.raises(PromiseNotMet, match="certificate does not hold"):
        PerInstance.from_solution(Solution(game, smallest, "best-response", False, 0, 0.0, 0.0))


def test_the_game_of_a_mechanism_is_the_one_it_was_made_by(any_mechanism):
    game, profile = (
        any_mechanism.game(),
        np.zeros((any_mechanism.players.types, len(any_mechanism.scales)), dtype=np.int64),
    )
    types = {bag: number for number, bag in enumerate(sorted(set(any_mechanism.bags)))}
    np.add.at(profile, ([types[bag] for bag in any_mechanism.bags], any_mechanism.scale_indices), any_mechanism.people)
    assert is_equilibrium(game, profile)
    np.testing.assert_allclose(game.losses(profile), any_mechanism.losses(), rtol=1e-9)
    np.testing.assert_allclose(game.output(profile), any_mechanism.output, rtol=1e-12)
    assert any_mechanism.game(3.0).epsilon == 3.0


def test_a_mechanism_cannot_be_changed_into_one_that_breaks_its_promise(mechanism, saved_path):
    with pytest.raises(BadInput, match="cannot be changed"):
        dataclasses.replace(mechanism, epsilon=1e-3)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.factors[0][0, 0] = 1
    broken = dataclasses.replace(mechanism, epsilon=1e-3, ledger=None)
    for use in (lambda: broken.sample(1), lambda: broken.save(saved_path, force=True)):
        with pytest.raises(PromiseNotMet, match="certificate does not hold"):
            use()
    same = dataclasses.replace(mechanism)
    same.sample(4)
    assert mechanism.ledger.spent == 4  # a copy shares the ledger


@pytest.mark.parametrize("epsilon", [1.0000004, 0.12345649, 1 / 3])
def test_the_promise_never_rounds_epsilon_down(people, epsilon):
    made = equinoise.optimize(people, epsilon=epsilon, bounds=(0, 100), bins=41, draws=3, restarts=1)
    stated = re.search(r"is at most ([0-9.e-]+) ", str(made.promise)).group(1)
    assert float(stated) >= epsilon
    assert float(re.search(r" = ([0-9.e-]+) together", str(made.promise)).group(1)) >= 3 * epsilon


def test_the_budget_is_kept_in_memory_and_moves_to_the_file(mechanism, tmp_path):
    mechanism.sample(10)
    path = tmp_path / "m.eq"
    mechanism.save(path)
    assert Mechanism.open(path).ledger.spent == 10
    Mechanism.open(path).sample(5)
    mechanism.sample(985)
    with pytest.raises(BudgetSpent, match="none of the 1,000 allowed is left"):
        Mechanism.open(path).sample(1)
    with pytest.raises(BadInput, match="saved as"):
        mechanism.save(tmp_path / "again.eq")


def test_a_refused_release_charges_nothing(mechanism):
    with pytest.raises(BudgetSpent, match="1,001 draws were asked for, but only 1,000"):
        mechanism.sample(1001)
    for n in (0, -1, 1.5):
        with pytest.raises(BadInput, match="'n' parameter"):
            mechanism.sample(n)
    assert mechanism.ledger.spent == 0


def test_a_saved_mechanism_survives_a_change_of_folder(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=41, restarts=1)
    made.save("here.eq")
    monkeypatch.chdir("/")
    assert len(made.sample(1)) == 1


def test_an_existing_file_is_kept_unless_forced(mechanism, tmp_path):
    path = tmp_path / "m.eq"
    path.write_text("precious")
    with pytest.raises(BadInput, match="exists"):
        mechanism.save(path)
    assert path.read_text() == "precious"
    mechanism.save(path, force=True)
    assert Mechanism.open(path).total_people == 400


def with_weights(text, packed):
    heading, document, _, rest = text.split("\n", 3)
    return "\n".join([heading, document, packed, rest])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"epsilon": 1.0', '"epsilon": 9.0', 1), "digest does not match"),
        (
            lambda text: "\n".join([*text.split("\n")[:2], "eJwDAAAAAAE=", *text.split("\n")[3:]]),
            "digest does not match",
        ),
        (lambda text: "\n".join([*text.split("\n")[:2], "?", *text.split("\n")[3:]]), "missing"),
        (lambda text: text[: text.index("\n1 ")], "missing"),
        (lambda text: text.replace("+00:00 7 ", "+00:00 1 "), "ledger of releases has been changed"),
        (lambda text: text + "\n", "ledger of releases has been changed"),
        (lambda text: text + "2 2026-01-01T00:00:00+00:00 5 " + "0" * 64 + "\n", "ledger of releases has been changed"),
        (lambda text: text.replace("\n1 ", "\n2 "), "ledger of releases has been changed"),
        (lambda text: text.replace("\n1 ", "\n01 "), "ledger of releases has been changed"),
        (lambda text: text.replace("equinoise 7", "equinoise 8", 1), "format 8; .* Upgrade"),
        (lambda text: text.replace("equinoise 7", "equinoise 2", 1), "format 2; .* Make the mechanism again"),
        (lambda text: text.replace("equinoise 7 ", "equinoise 7 ../../", 1), "first line"),
        (lambda text: text.replace("equinoise", "equinoises", 1), "not saved by Equinoise"),
        (lambda text: "SQLite format 3\0" + text, "format 1"),
    ],
)
def test_a_changed_file_is_refused(saved_path, change, said):
    Mechanism.open(saved_path).sample(7)
    saved_path.write_text(change(saved_path.read_text()))
    with pytest.raises(BadInput, match=said):
        Mechanism.open(saved_path)


def test_a_consistent_forgery_still_needs_a_certificate(saved_path):
    """Lowering epsilon and making the digest fit again is caught by the certificate."""

    def lower(document):
        document["epsilon"] = document["settings"]["epsilon"] = 1e-6

    forge(saved_path, lower)
    with pytest.raises(BadInput, match="certificate does not hold"):
        Mechanism.open(saved_path)


AXIS = {"name": "value", "low": 0.0, "high": 100.0, "bins": 41, "padding": 160.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"axes": [{**AXIS, "low": -1e308, "high": 1.7e308, "padding": 1e308}]},
        {"axes": [{**AXIS, "low": 200.0}]},
        {"axes": [{**AXIS, "bins": 10**12}]},
        {"scales": [[-1.0], [1.0]]},
        {"scales": [[2.0], [1.0]] * 4},
        {"scales": [[1.0, 1.0]] * 8},
        {"draws": 10**30},
        {"draws": 1},
        {"bags": [], "people": [], "scale_indices": []},
        {"bags": [[[0, 1]]]},
        {"bags": [[]]},
        {"cells": [0]},
        {"people": [2**61] * 5},
        {"epsilon": -1.0},
        {"noise": "[/x]"},
        {"settings": {"missing": [1]}},
        {"settings": {"epsilon": 0.01}},
        {"settings": {"draws": 1}},
        {"settings": {"delta": 1e-9}},
        {"settings": {"order": 2.0}},
        {"settings": {"noise": "gaussian"}},
        {"settings": {"column": "other"}},
        {"settings": {"unit_rows": "one"}},
        {"solver": {"equilibrium": "yes"}},
        {"solver": {"restarts": None}},
        {"solver": {"name": "optimal"}},
        {"weight_total": 2**52},
        {"solver": {"best_run": math.inf}},
    ],
)
def test_a_forged_file_that_makes_no_sense_is_refused(saved_path, changes):
    Mechanism.open(saved_path).sample(3)
    forge(saved_path)
    assert Mechanism.open(saved_path).ledger.spent == 3
    forge(saved_path, **changes)
    with pytest.raises(BadInput, match=r"damaged|changed"):
        Mechanism.open(saved_path)


def test_a_file_that_released_more_than_it_allows_is_refused(saved_path):
    Mechanism.open(saved_path).sample(3)
    forge(saved_path, draws=3, settings={"draws": 3})
    assert Mechanism.open(saved_path).draws == 3
    forge(saved_path, draws=2, settings={"draws": 2})
    with pytest.raises(BadInput, match="more was released than it allows"):
        Mechanism.open(saved_path)


def test_a_file_with_weights_of_another_size_is_refused(saved_path):
    forge(saved_path, weights=lambda weights: weights[:-1])
    with pytest.raises(BadInput, match="weights are not as they should be"):
        Mechanism.open(saved_path)


def test_an_audit_notices_weights_of_other_noise(saved_path):
    """More noise than the file says passes the certificate, but is not what is stated."""
    from equinoise.analysis.audit import audit

    assert audit(saved_path).passed
    forge(saved_path, weights=lambda weights: np.roll(weights.reshape(-1, 41), 1, axis=1))
    found = audit(saved_path)
    assert found.same_kernel is False
    assert not found.passed


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(200), b"id,pay\n1,2\n", bytes(5000)])
def test_what_is_no_saved_mechanism_is_refused(tmp_path, content):
    path = tmp_path / "x.eq"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"not saved by Equinoise|format 1"):
        Mechanism.open(path)


def test_every_truncation_and_many_flipped_bytes_are_refused_or_harmless(mechanism, saved_path):
    whole = saved_path.read_bytes()
    random = np.random.default_rng(0)
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        saved_path.write_bytes(whole[:size])
        with pytest.raises(BadInput):
            Mechanism.open(saved_path)
    for place in random.integers(0, len(whole), 150).tolist():
        saved_path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            opened = Mechanism.open(saved_path)
        except BadInput:
            continue
        assert opened.ledger.digest == mechanism.ledger.digest  # the flip hit unused space
        assert opened.to_json() == mechanism.to_json()


def test_no_such_file_and_a_folder(tmp_path):
    with pytest.raises(BadInput, match="no file"):
        Mechanism.open(tmp_path / "none.eq")
    with pytest.raises(BadInput, match="folder"):
        Mechanism.open(tmp_path)


@pytest.mark.parametrize("draws", ["3", 3, [], [0], [1.5], [2.0], [True], ["3"], [10**10]])
def test_numbers_of_draws_that_have_no_cost(mechanism, people, draws):
    worst = envelope(people, epsilon=1, bounds=(0, 100), bins=41)
    for each in (mechanism, worst):
        with pytest.raises(BadInput, match="'draws' parameter must be"):
            each.costs(draws)


@pytest.mark.parametrize("delta", [0, 2, -1, "0.1", float("nan")])
def test_a_delta_that_draws_have_no_cost_for(mechanism, delta):
    with pytest.raises(BadInput, match="'delta' parameter must be"):
        mechanism.costs([1], delta=delta)


def test_whoever_is_beyond_delta_is_not_told_to_be_protected(people):
    made = equinoise.optimize(people, epsilon=0.1, delta=0.002, bounds=(0, 100), bins=11, draws=1, restarts=1)
    assert made.protected == made.total_people
    stricter = dataclasses.replace(made, delta=1e-12, ledger=None)
    assert not stricter.certificate().holds
    assert stricter.protected < made.total_people
