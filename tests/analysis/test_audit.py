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


NOT_COMPARED = "Not checked: the people were not compared with any data (--data)."
NOT_MEASURED = "Not checked: losses end to end were not measured (--end-to-end)."
THE_FILE = [
    "Checked: the certificate holds, in whole numbers.",
    "Checked: the weights are those of the noise and scales that the file names.",
    "Checked: the ledger adds up, with 0 of 1 draw released.",
]
THE_PEOPLE = "Checked: the people are those of this data."


@pytest.fixture
def saved(run, people, folder):
    """People of a file, and the game's mechanism of them, m.eq, with some above the target end to end."""
    (folder / "people.csv").write_text("\n".join(["pay", *map(str, people.tolist())]))
    equinoise.optimize("people.csv", epsilon=0.3, bounds=BOUNDS, bins=101, restarts=1).save("m.eq")
    return "m.eq"


def ending(out):
    """The last lines, from the first thing that was checked on."""
    lines = out.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith(("Checked: ", "FAILED: "))) :]


def test_an_audit_ends_with_what_was_and_what_was_not_checked(run, saved):
    """Without data, a file whose people were multiplied holds together just as well."""
    forge(saved, people=[1000 * n for n in Mechanism.read(saved).people.tolist()])
    status, out, _ = run("audit", saved)
    assert status == 0
    assert ending(out) == [*THE_FILE, NOT_COMPARED, NOT_MEASURED, "The file alone passed its audit."]
    found = json.loads(run("audit", saved, "--json")[1])
    assert found["checked"] == ["certificate", "weights", "ledger"]
    assert (found["failed"], found["not_checked"]) == ([], ["data", "end-to-end"])
    status, out, err = run("audit", saved, "--data", "people.csv", "--end-to-end")
    assert status == 1
    assert "Nothing was measured end to end" in err
    assert ending(out) == [
        *THE_FILE,
        "FAILED: the people are not this data's: the mechanism was made from other rows.",
        NOT_MEASURED,
        "AUDIT FAILED: see above. Release nothing from this file.",
    ]


def test_an_audit_of_data_leaves_only_the_loss_end_to_end_unchecked(run, saved):
    status, out, _ = run("audit", saved, "--data", "people.csv")
    assert (status, ending(out)) == (0, [*THE_FILE, THE_PEOPLE, NOT_MEASURED, "Audit passed."])
    found = audit(saved, "people.csv")
    assert (found.checked, found.failed) == (("certificate", "weights", "ledger", "data"), ())


def test_differential_privacy_has_nothing_to_measure_end_to_end(run, people, folder):
    (folder / "people.csv").write_text("\n".join(["pay", *map(str, people.tolist())]))
    envelope("people.csv", epsilon=1, bounds=BOUNDS, delta=1e-6, draws=10).save("w.eq")
    rest = [
        "Checked: the certificate holds, in whole numbers, for every dataset within the bounds.",
        "Checked: all draws together stay within the budget.",
        "Checked: the weights are those of the public rule.",
        "Checked: the ledger adds up, with 0 of 10 draws released.",
    ]
    assert ending(run("audit", "w.eq")[1]) == [*rest, NOT_COMPARED, "The file alone passed its audit."]
    assert audit("w.eq").not_checked == ("data",)
    assert audit("w.eq", "people.csv").checked == ("certificate", "budget", "weights", "ledger", "data")
    assert ending(run("audit", "w.eq", "--data", "people.csv")[1]) == [*rest, THE_PEOPLE, "Audit passed."]
    status, out, _ = run("audit", "w.eq", "--data", "people.csv", "--end-to-end")
    measured = audit("w.eq", "people.csv", end_to_end=True).end_to_end
    assert measured.above == 0
    assert (status, ending(out)) == (
        0, [*rest, THE_PEOPLE, f"Checked: measured end to end, {measured.in_short}.", "Audit passed."]
    )  # fmt: skip


def test_a_measured_loss_above_the_target_fails_the_audit(run, saved):
    """Who asks for the measurement wants to hear of it, though it is of nothing that was promised."""
    assert run("audit", saved, "--data", "people.csv")[0] == 0
    status, out, _ = run("audit", saved, "--data", "people.csv", "--end-to-end")
    found = audit(saved, "people.csv", end_to_end=True)
    assert found.end_to_end.above > 0
    assert (status, found.passed, found.sound) == (1, False, True)
    assert (found.failed, found.not_checked) == (("end-to-end",), ())
    assert ending(out) == [
        *THE_FILE,
        THE_PEOPLE,
        f"FAILED: measured end to end, {found.end_to_end.above} of 120 people are above 0.3.",
        "AUDIT FAILED: what is promised, everyone else's noise held fixed, holds; losses end to end are above it.",
    ]
    assert json.loads(run("audit", saved, "--data", "people.csv", "--end-to-end", "--json")[1])["promise"] is not None


@pytest.mark.parametrize(
    ("conditions", "target"), [({"delta": 1e-3}, "a delta of 0.001"), ({"order": 4.0}, "a Renyi divergence of 1")]
)
def test_what_is_measured_is_held_against_what_was_asked_for(people, tmp_path, conditions, target):
    equinoise.optimize(people, epsilon=1, bounds=BOUNDS, bins=21, restarts=1, **conditions).save(tmp_path / "m.eq")
    measured = audit(tmp_path / "m.eq", people, end_to_end=True).end_to_end
    assert measured.in_short == f"{measured.above} of 120 people are above {target}"


def test_the_help_of_audit_says_what_its_exit_status_follows_from(run):
    said = " ".join(run("audit", "--help")[1].split())
    assert "Exit status: 0 all that was checked holds; 1 something does not" in said
    assert "one person above the target fails the audit" in said


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
