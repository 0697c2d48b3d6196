import copy
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import equinoise
from equinoise import BudgetSpent, Mechanism
from equinoise.mechanisms.ledger import Ledger, state_folder
from tests.helpers.polling import wait_until

DRAW = """
import sys
from equinoise import Mechanism, BudgetSpent
path, tries = sys.argv[1], int(sys.argv[2])
got = 0
for size in [1, 3, 2] * tries:
    try:
        got += len(Mechanism.open(path).sample(size))
    except BudgetSpent:
        pass
print(got)
"""

DIE = """
import os, signal, sys
from equinoise import Mechanism

def source(size):
    os.kill(os.getpid(), signal.SIGKILL)

Mechanism.open(sys.argv[1]).sample(5, source=source)
"""


@pytest.fixture
def saved_path(tmp_path):
    """The path of a saved mechanism that allows 100 draws."""
    people = np.random.default_rng(1).normal(50, 12, 300).clip(0, 100)
    made = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=21, draws=100, restarts=1)
    made.save(tmp_path / "m.eq")
    return tmp_path / "m.eq"


def test_eight_processes_at_once_never_overspend(saved_path):
    """Together they ask for 144 draws of 100."""
    workers = [
        subprocess.Popen([sys.executable, "-c", DRAW, str(saved_path), "3"], stdout=subprocess.PIPE) for _ in range(8)
    ]
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    released = [int(output) for output in outputs]
    ledger = Mechanism.open(saved_path).ledger
    assert sum(released) == ledger.spent
    assert 98 <= ledger.spent <= 100  # at most two are left for a request of three


def test_draws_while_it_is_saved_are_charged_too(tmp_path):
    """A thread draws until nothing is left, while the mechanism is saved: no charge may fall between."""
    people = np.random.default_rng(1).normal(50, 12, 300).clip(0, 100)
    for trial in range(4):
        made = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=21, draws=200, restarts=1)
        released = []

        def draw(made=made, released=released):
            with suppress(BudgetSpent):
                while True:
                    released.append(len(made.sample(1)))

        thread = threading.Thread(target=draw)
        thread.start()
        wait_until("a draw", lambda released=released: released)
        made.save(tmp_path / f"{trial}.eq")
        thread.join(120)
        assert sum(released) == 200 == Mechanism.open(tmp_path / f"{trial}.eq").ledger.spent


def test_a_process_killed_while_drawing_has_been_charged(saved_path):
    done = subprocess.run([sys.executable, "-c", DIE, str(saved_path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert Mechanism.open(saved_path).ledger.spent == 5


def test_killed_at_any_moment_no_row_is_out_uncharged(saved_path):
    command = [
        sys.executable,
        "-c",
        "from equinoise.cli.main import main; main()",
        "sample",
        str(saved_path),
        "-n",
        "3",
    ]
    began = time.monotonic()
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    usual = time.monotonic() - began
    spent = 3
    for share in np.linspace(0.3, 1.1, 12):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(usual * share)
        process.kill()
        out = process.communicate(timeout=60)[0]
        now = Mechanism.open(saved_path).ledger.spent
        assert now in (spent, spent + 3)
        assert now == spent + 3 or out == b""
        spent = now


@pytest.mark.parametrize(("kills", "allowed"), [(200, 100_000), (50, 120)])
def test_kills_renames_links_and_copies_let_no_row_out_uncharged(kills, allowed):
    """Whatever happens to the file and its names meanwhile, every ledger tells at least what came out."""
    command = [sys.executable, "-m", "tests.helpers.kill_while_drawing", "1", str(kills), str(allowed)]
    done = subprocess.run(command, capture_output=True, timeout=240, check=True)
    found = json.loads(done.stdout)
    assert 0 < found["rows"] <= min(found["spent"]) <= max(found["spent"]) <= allowed
    assert max(found["spent"]) - found["rows"] <= 3 * kills  # no kill costs more than the draw that it cut off


def test_a_second_name_is_the_same_ledger(saved_path):
    os.link(saved_path, saved_path.with_name("link.eq"))
    Mechanism.open(saved_path.with_name("link.eq")).sample(60)
    assert Mechanism.open(saved_path).ledger.spent == 60
    with pytest.raises(BudgetSpent, match="only 40"):
        Mechanism.open(saved_path).sample(41)


def test_an_older_copy_catches_up(saved_path):
    older = saved_path.with_name("older.eq")
    shutil.copy(saved_path, older)
    Mechanism.open(saved_path).sample(60)
    assert Mechanism.open(older).ledger.spent == 60
    with pytest.raises(BudgetSpent, match="only 40"):
        Mechanism.open(older).sample(41)
    Mechanism.open(older).sample(5)
    assert older.read_text().splitlines()[3:4] == saved_path.read_text().splitlines()[3:]
    shutil.copy(saved_path, saved_path.with_name("third.eq"))
    assert (
        Mechanism.open(saved_path).ledger.spent == Mechanism.open(saved_path.with_name("third.eq")).ledger.spent == 65
    )


def test_releases_that_were_cut_off_by_hand_still_count(saved_path):
    Mechanism.open(saved_path).sample(60)
    saved_path.write_text("\n".join(saved_path.read_text().split("\n")[:3]) + "\n")
    assert Mechanism.open(saved_path).ledger.spent == 60


def test_copies_that_both_released_elsewhere_are_refused(saved_path, tmp_path, monkeypatch):
    """Neither ledger tells of the other's draws: nothing more may come out."""
    other = saved_path.with_name("other.eq")
    shutil.copy(saved_path, other)
    Mechanism.open(saved_path).sample(60)
    monkeypatch.setenv("EQUINOISE_STATE", str(tmp_path / "another computer"))
    Mechanism.open(other).sample(30)
    monkeypatch.undo()
    with pytest.raises(equinoise.BadInput, match="is a copy"):
        Mechanism.open(other).sample(1)
    assert Mechanism.open(saved_path).ledger.spent == 60


def test_a_file_that_comes_from_elsewhere_brings_its_ledger(saved_path, tmp_path, monkeypatch):
    Mechanism.open(saved_path).sample(60)
    monkeypatch.setenv("EQUINOISE_STATE", str(tmp_path / "another computer"))
    with pytest.raises(BudgetSpent, match="only 40"):
        Mechanism.open(saved_path).sample(41)
    Mechanism.open(saved_path).sample(40)
    monkeypatch.undo()
    with pytest.raises(BudgetSpent, match="none"):
        Mechanism.open(saved_path).sample(1)


def test_an_unfinished_line_is_no_release(saved_path):
    """Its process was stopped while it wrote it, so nothing was drawn for it."""
    Mechanism.open(saved_path).sample(3)
    with saved_path.open("a") as file:
        file.write("2 2026-01-01T00")
    assert Mechanism.open(saved_path).ledger.spent == 3
    Mechanism.open(saved_path).sample(4)
    assert Mechanism.open(saved_path).ledger.spent == 7
    assert saved_path.read_text().count("\n") == 5


def test_a_charge_is_made_durable_before_it_counts(saved_path, monkeypatch):
    """What a test cannot see from outside is seen at the system call: written, then synced, in note and file."""
    seen = []
    for name in ("pwrite", "fsync"):
        call = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *given, call=call, name=name: (seen.append((name, given[0])), call(*given))[1]
        )
    opened = Mechanism.open(saved_path)
    opened.ledger.charge(1)
    writes = [number for name, number in seen if name == "pwrite"]
    assert len(set(writes)) == 2
    for file in writes:
        assert seen.index(("pwrite", file)) < seen.index(("fsync", file))


def test_no_folder_for_notes_no_release(saved_path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EQUINOISE_STATE", str(tmp_path / "file"))
    with pytest.raises(equinoise.BadInput, match="EQUINOISE_STATE"):
        Mechanism.open(saved_path).sample(1)
    monkeypatch.undo()
    assert Mechanism.open(saved_path).ledger.spent == 0


def test_a_note_that_was_changed_is_noticed(saved_path):
    Mechanism.open(saved_path).sample(3)
    note = state_folder() / "releases" / saved_path.read_text().split("\n")[0].split()[3]
    note.write_text(note.read_text().replace(" 3 ", " 1 "))
    with pytest.raises(equinoise.BadInput, match="changed by hand"):
        Mechanism.open(saved_path).sample(1)


FORK = """
import os, sys
import numpy as np
import equinoise
made = equinoise.optimize(np.arange(50.0), epsilon=1, bounds=(0, 50), bins=11, draws=10, restarts=1)
def attempt(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        except equinoise.BadInput as error:
            os._exit(7 if "another process" in str(error) else 8)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(attempt(lambda: made.sample(6)), attempt(lambda: made.save(sys.argv[1] + "x")), len(made.sample(6)))
made.save(sys.argv[1])
print(attempt(lambda: made.sample(1)), made.ledger.spent)
"""


def test_a_fork_of_an_unsaved_mechanism_draws_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK, str(tmp_path / "m.eq")],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == [b"7", b"7", b"6", b"0", b"7"]


def test_a_copy_of_a_mechanism_is_itself_and_a_pickle_its_file(saved_path):
    made = equinoise.optimize(np.arange(50.0), epsilon=1, bounds=(0, 50), bins=11, draws=10, restarts=1)
    assert copy.copy(made) is copy.deepcopy(made) is made
    with pytest.raises(equinoise.BadInput, match="Save it first"):
        pickle.dumps(made)
    opened = Mechanism.open(saved_path)
    again = pickle.loads(pickle.dumps(opened))
    again.sample(3)
    assert opened.ledger.spent == 3


HOLD = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_in_use_is_not_replaced(saved_path):
    before = saved_path.read_bytes()
    other = equinoise.optimize(np.arange(50.0), epsilon=2, bounds=(0, 100), bins=21, restarts=1)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(saved_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        with pytest.raises(equinoise.BadInput, match="in use by another process"):
            other.save(saved_path, force=True)
        holder.stdin.close()
    assert saved_path.read_bytes() == before
    other.save(saved_path, force=True)


@pytest.mark.parametrize("draws", [0, -5, 1.5, True])
def test_only_a_positive_whole_number_can_be_charged(saved_path, draws):
    for ledger in (Mechanism.open(saved_path).ledger, Ledger(10, "digest")):
        with pytest.raises(equinoise.BadInput, match="'draws' parameter"):
            ledger.charge(draws)
        assert ledger.spent == 0


def test_reading_while_others_write_sees_one_state(saved_path):
    writer = subprocess.Popen([sys.executable, "-c", DRAW, str(saved_path), "8"], stdout=subprocess.PIPE)
    seen = []
    while writer.poll() is None:
        seen.append(Mechanism.open(saved_path).ledger.spent)
    assert int(writer.communicate()[0]) == Mechanism.open(saved_path).ledger.spent == 48
    assert seen == sorted(seen)


def test_a_file_that_cannot_be_charged_releases_nothing(saved_path):
    opened = Mechanism.open(saved_path)
    os.rename(saved_path, saved_path.with_suffix(".moved"))
    with pytest.raises(equinoise.BadInput, match="no file"):
        opened.sample(1)


def test_a_file_replaced_by_another_mechanism_is_noticed(saved_path):
    opened = Mechanism.open(saved_path)
    other = equinoise.optimize(np.arange(50.0), epsilon=2, bounds=(0, 100), bins=21, restarts=1)
    other.save(saved_path, force=True)
    with pytest.raises(equinoise.BadInput, match="another mechanism"):
        opened.sample(1)
