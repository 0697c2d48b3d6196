import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput, Mechanism
from equinoise.analysis.audit import audit
from equinoise.present import terminal
from tests.helpers.forged_files import forge
from tests.helpers.private_tables import envelope

BOUNDS = (0, 100)


@pytest.fixture(scope="module")
def people():
    """Values of 120 people."""
    return np.random.default_rng(4).normal(50, 12, 120).clip(0, 100)


def test_bounds_that_were_not_public_cannot_be_made_so_by_leaving_the_key_out(people, tmp_path):
    made = envelope(people, epsilon=1, bounds=BOUNDS)
    made.save(tmp_path / "w.eq")
    forge(tmp_path / "w.eq", settings={"public_bounds": False})
    with pytest.raises(BadInput, match="damaged"):
        Mechanism.read(tmp_path / "w.eq")


def test_a_broken_budget_is_named_and_promises_nothing(run, people):
    envelope(people, epsilon=1, bounds=BOUNDS, delta=1e-6, draws=10).save("w.eq")
    forge("w.eq", budget={"epsilon": 0.01, "delta": 1e-6}, settings={"epsilon": 0.01})
    status, out, _ = run("audit", "w.eq")
    assert status == 1
    assert "cost more than the budget. Nothing is promised" in out
    assert "Differential privacy" not in out
    assert json.loads(run("audit", "w.eq", "--json")[1])["promise"] is None


@pytest.mark.parametrize("rule", [{"factor": 1}, {"factor": 10**400}, {"floors": [1] * 100}])
def test_a_rule_that_makes_no_sense_fails_the_audit_in_words(run, people, rule):
    envelope(people, epsilon=1, bounds=BOUNDS).save("w.eq")
    forge("w.eq", rule=rule)
    status, out, err = run("audit", "w.eq")
    assert status == 1
    assert "certificate does not hold" in out
    assert err == ""


def test_one_person_alone_is_protected_end_to_end(tmp_path):
    envelope([50.0], epsilon=1, bounds=BOUNDS).save(tmp_path / "w.eq")
    assert 0.5 < audit(tmp_path / "w.eq", [50.0], end_to_end=True).end_to_end.worst <= 1
    envelope(np.array([]), epsilon=1, bounds=BOUNDS).save(tmp_path / "nobody.eq")
    found = audit(tmp_path / "nobody.eq", np.array([]), end_to_end=True)
    assert (found.passed, found.end_to_end.worst) == (True, 0)
    assert "0 of 0 people" in found.end_to_end.sentence


def test_what_is_read_is_never_written_over(run, folder):
    (folder / "base.txt").write_text("1\n" * 25)
    made = ("synthesize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1)
    status, _, err = run(*made, "--rows", 1, "--base", "base.txt", "--out", "r.csv", "--save", "base.txt", "--force")
    assert status == 2
    assert "is the file being read" in err
    assert (folder / "base.txt").read_text().startswith("1\n")


@pytest.mark.parametrize("draws", ["inf", "nan", "1e18", "1,nan", "2.5", "0"])
def test_numbers_of_draws_that_are_none_are_named(run, folder, draws):
    made = ("optimize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1, "--restarts", 1)
    assert run(*made, "--out", "m.eq")[0] == 0
    status, _, err = run("cost", "m.eq", "--draws", draws)
    assert status == 2
    assert "whole numbers from 1" in err


def test_a_reader_that_has_enough_rows_is_no_error(people, tmp_path):
    equinoise.optimize(people, epsilon=1, bounds=BOUNDS, bins=21, draws=10**6, restarts=1).save(tmp_path / "m.eq")
    words = ["equinoise", "sample", "m.eq", "-n", "200000"]
    code = f"import sys; from equinoise.cli.main import main; sys.argv = {words}; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0


def test_an_audit_says_what_it_did_not_check(run, people, folder):
    """Without data, a file whose people were multiplied holds together just as well."""
    (folder / "people.csv").write_text("\n".join(["pay", *map(str, people.tolist())]))
    made = equinoise.optimize("people.csv", epsilon=1, bounds=BOUNDS, bins=21, restarts=1)
    made.save("m.eq")
    forge("m.eq", people=[1000 * n for n in made.people.tolist()])
    status, out, _ = run("audit", "m.eq")
    assert (status, out.splitlines()[-1]) == (
        0,
        "The file alone passed its audit. Not checked: whether these are the people of any data (--data); the "
        "loss with the noise worked out again without each person (--end-to-end).",
    )
    found = json.loads(run("audit", "m.eq", "--json")[1])
    assert found["checked"] == ["certificate", "weights"]
    assert found["not_checked"] == ["data", "end-to-end"]
    assert run("audit", "m.eq", "--data", "people.csv")[0] == 1
    equinoise.optimize("people.csv", epsilon=1, bounds=BOUNDS, bins=21, restarts=1).save("n.eq")
    assert run("audit", "n.eq", "--data", "people.csv")[1].splitlines()[-1] == (
        "Audit passed. Not checked: the loss with the noise worked out again without each person (--end-to-end)."
    )
    assert audit("n.eq", "people.csv").checked == ("certificate", "weights", "data")


def test_differential_privacy_has_nothing_to_measure_end_to_end(run, people, folder):
    (folder / "people.csv").write_text("\n".join(["pay", *map(str, people.tolist())]))
    envelope("people.csv", epsilon=1, bounds=BOUNDS, delta=1e-6, draws=10).save("w.eq")
    assert audit("w.eq").not_checked == ("data",)
    assert audit("w.eq", "people.csv").checked == ("certificate", "budget", "weights", "data")
    assert run("audit", "w.eq", "--data", "people.csv")[1].splitlines()[-1] == "Audit passed."
    assert run("audit", "w.eq", "--data", "people.csv", "--end-to-end")[1].splitlines()[-1] == "Audit passed."


def test_a_measured_loss_above_the_target_fails_the_audit(run, people, folder):
    (folder / "people.csv").write_text("\n".join(["pay", *map(str, people.tolist())]))
    equinoise.optimize("people.csv", epsilon=0.3, bounds=BOUNDS, bins=101, restarts=1).save("m.eq")
    assert run("audit", "m.eq", "--data", "people.csv")[0] == 0
    status, out, _ = run("audit", "m.eq", "--data", "people.csv", "--end-to-end")
    found = audit("m.eq", "people.csv", end_to_end=True)
    assert found.end_to_end.above > 0
    assert (status, found.passed, found.sound) == (1, False, True)
    assert found.not_checked == ()
    assert out.splitlines()[-1] == (
        f"AUDIT FAILED: {found.end_to_end.above} of 120 people are above the target end to end. What is certified "
        "holds everyone else's noise fixed."
    )
    assert "Release nothing" not in out


def end_to_end_audit(folder, frame, **settings):
    """An audit of people in a file, with losses measured end to end."""
    frame.write_csv(folder / "people.csv")
    made = equinoise.optimize(folder / "people.csv", restarts=1, **settings)
    made.save(folder / "people.eq")
    return equinoise.audit(folder / "people.eq", folder / "people.csv", end_to_end=True)


def two_columns(folder):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.normal(50, 10, 60).clip(0, 100) for name in "ab"})
    return end_to_end_audit(folder, frame, column=["a", "b"], bounds=dict.fromkeys("ab", (0, 100)), bins=15, epsilon=4)


def four_rows_each(folder):
    who = np.repeat(np.arange(20), 4)
    values = np.where(np.arange(80) % 2 == 0, 20.0, 80.0) + (who % 2) * 7
    return end_to_end_audit(
        folder, pl.DataFrame({"who": who, "v": values}), column="v", bounds=(0, 100), bins=41, epsilon=6, unit="who"
    )


@pytest.mark.parametrize("audit", [two_columns, four_rows_each])
def test_every_cell_has_the_end_to_end_loss_of_its_own_people(audit, tmp_path, capsys):
    found = audit(tmp_path)
    players, losses = found.mechanism.players, found.end_to_end.losses
    for row in found.cells():
        here = [i for i, bag in enumerate(players.bags) if row["cell"] in dict(bag)]
        assert row["end_to_end"] == max(losses[i] for i in here)
    terminal.show_audit(found, None)
    lines = [line.split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    shown = {int(cells[1]): float(cells[-2]) for cells in lines if cells[1].strip().isdigit()}
    assert shown == {row["cell"]: float(f"{row['end_to_end']:.4g}") for row in found.cells() if row["cell"] in shown}
    assert len(shown) == min(len(found.cells()), 25)


def test_without_a_measurement_there_is_none_to_show_or_draw(people, tmp_path):
    equinoise.optimize(people, epsilon=1, bounds=BOUNDS, bins=21, restarts=1).save(tmp_path / "m.eq")
    found = equinoise.audit(tmp_path / "m.eq")
    assert {row["end_to_end"] for row in found.cells()} == {None}
    with pytest.raises(BadInput, match="ask the audit for them with end_to_end=True"):
        found.plot(tmp_path / "m.svg")
