"""Kills processes while they draw from a saved file, and counts the rows that came out and the draws charged.

Called as ``python -m tests.helpers.kill_while_drawing SEED KILLS ALLOWED``; prints both as JSON.
A program of its own, so that forks meet no threads of the tests'.
"""

import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import equinoise
from equinoise import EquinoiseError, Mechanism

NAMES = ("a.eq", "b.eq", "c.eq")


def save_mechanism(folder, allowed):
    """Save a mechanism of 60 people that allows this many draws."""
    people = np.random.default_rng(1).normal(50, 12, 60).clip(0, 100)
    mechanism = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=11, draws=allowed, restarts=1)
    mechanism.save(folder / "a.eq")


def draw_until_killed(path, out, die_at):
    """Draw 3 rows until refused, and write a byte for every row. Dies by itself at system call ``die_at``, unless 0."""
    calls = 0

    def dying(call):
        def count_and_call(*arguments):
            nonlocal calls
            calls += 1
            if calls == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments)

        return count_and_call

    if die_at:
        for name in ("pwrite", "ftruncate", "fsync"):
            setattr(os, name, dying(getattr(os, name)))
    while True:
        try:
            os.write(out, b"." * len(Mechanism.open(path).sample(3)))
        except EquinoiseError:
            os._exit(0)


def kill_once(path, seconds, die_at):
    """Rows that came out of a process that is killed after some seconds, or at a system call."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        draw_until_killed(path, write, die_at)
    os.close(write)
    end = time.monotonic() + (5.0 if die_at else seconds)
    rows = 0
    while (remaining := end - time.monotonic()) > 0:
        if select.select([read], [], [], remaining)[0]:
            part = os.read(read, 1000)
            if not part:
                break
            rows += len(part)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while part := os.read(read, 1000):
        rows += len(part)
    os.close(read)
    return rows


def shuffle_names(folder, chance):
    """Rename, link, copy into place or restore an older copy: whatever a user may do to files without editing them."""
    here = [name for name in NAMES if (folder / name).exists()]
    first, second = folder / chance.choice(here), folder / chance.choice(NAMES)
    what = chance.randrange(5)
    if first == second:
        return
    if what == 0:
        os.replace(first, second)
    elif what == 1:
        second.unlink(missing_ok=True)
        os.link(first, second)
    elif what == 2:
        if second.exists() and second.samefile(first):
            return
        shutil.copy(first, second)
    elif what == 3:
        shutil.copy2(first, folder / "copy")
        os.replace(folder / "copy", first)
    elif (folder / "backup").exists():
        shutil.copy(folder / "backup", first)
    else:
        shutil.copy(first, folder / "backup")


def main():
    seed, kills, allowed = map(int, sys.argv[1:])
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name), 0
        save_mechanism(folder, allowed)
        for number in range(kills):
            here = [name for name in NAMES if (folder / name).exists()]
            die_at = chance.randrange(1, 10) if number % 2 else 0
            rows += kill_once(folder / chance.choice(here), chance.uniform(0, 0.03), die_at)
            shuffle_names(folder, chance)
        spent = [Mechanism.open(folder / name).ledger.spent for name in NAMES if (folder / name).exists()]
        print(json.dumps({"rows": rows, "spent": spent}))


if __name__ == "__main__":
    main()
