import os
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
from equinoise.ledger import Ledger
from tests.waiting import wait_until

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
def saved(tmp_path):
    people = np.random.default_rng(1).normal(50, 12, 300).clip(0, 100)
    made = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=21, draws=100, restarts=1)
    made.save(tmp_path / "m.eq")
    return tmp_path / "m.eq"


def test_eight_processes_at_once_never_overspend(saved):
    """Together they ask for 144 draws of 100."""
    workers = [
        subprocess.Popen([sys.executable, "-c", DRAW, str(saved), "3"], stdout=subprocess.PIPE) for _ in range(8)
    ]
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    released = [int(output) for output in outputs]
    ledger = Mechanism.open(saved).ledger
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


def test_a_process_killed_while_drawing_has_been_charged(saved):
    done = subprocess.run([sys.executable, "-c", DIE, str(saved)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert Mechanism.open(saved).ledger.spent == 5


def test_killed_at_any_moment_no_row_is_out_uncharged(saved):
    command = [sys.executable, "-c", "from equinoise.cli import main; main()", "sample", str(saved), "-n", "3"]
    began = time.monotonic()
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    usual = time.monotonic() - began
    spent = 3
    for share in np.linspace(0.3, 1.1, 12):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(usual * share)
        process.kill()
        out = process.communicate(timeout=60)[0]
        now = Mechanism.open(saved).ledger.spent
        assert now in (spent, spent + 3)
        assert now == spent + 3 or out == b""
        spent = now


@pytest.mark.parametrize("draws", [0, -5, 1.5, True])
def test_only_a_positive_whole_number_can_be_charged(saved, draws):
    for ledger in (Mechanism.open(saved).ledger, Ledger(10, "digest")):
        with pytest.raises(equinoise.BadInput, match="'draws' parameter"):
            ledger.charge(draws)
        assert ledger.spent == 0


def test_reading_while_others_write_sees_one_state(saved):
    writer = subprocess.Popen([sys.executable, "-c", DRAW, str(saved), "8"], stdout=subprocess.PIPE)
    seen = []
    while writer.poll() is None:
        seen.append(Mechanism.open(saved).ledger.spent)
    assert int(writer.communicate()[0]) == Mechanism.open(saved).ledger.spent == 48
    assert seen == sorted(seen)


def test_a_file_that_cannot_be_charged_releases_nothing(saved):
    opened = Mechanism.open(saved)
    os.rename(saved, saved.with_suffix(".moved"))
    with pytest.raises(equinoise.BadInput, match="no file"):
        opened.sample(1)


def test_a_file_replaced_by_another_mechanism_is_noticed(saved):
    opened = Mechanism.open(saved)
    other = equinoise.optimize(np.arange(50.0), epsilon=2, bounds=(0, 100), bins=21, restarts=1)
    other.save(saved, force=True)
    with pytest.raises(equinoise.BadInput, match="another mechanism"):
        opened.sample(1)
