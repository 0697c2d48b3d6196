"""Kills `synthesize` and `optimize` while they charge a book, and holds what came out against what the book says.

Called as ``python -m tests.helpers.kill_while_making PLACE SEED KILLS``; prints both as JSON. Half of the kills come
after some time, half at a call of a Python function; both anywhere from the first to the last. A program of its own, so
that forks meet no threads of the tests': before them everything is loaded, and no dataframe is worked on.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numba
import numpy as np

from equinoise import BadInput, Mechanism
from equinoise.cli import main as command_line
from equinoise.mechanisms.book import Book

EPSILON = 0.125
DATA = "stays.csv"
LOADED = (
    "equinoise.cli.optimize", "equinoise.cli.synthesize", "equinoise.data.write_rows",
    "equinoise.mechanisms.counts_table", "equinoise.present.notebook", "equinoise.present.terminal",
    "equinoise.verbs.optimize", "equinoise.verbs.synthesize", "numba.typed", "opendp.prelude", "scipy.fft",
    "scipy.optimize", "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite",
)  # fmt: skip
COLUMN = ["--bounds", "days", "0", "9", "--step", "days", "1", "--epsilon", str(EPSILON), "--json"]
COMMANDS = {
    "counts": ["synthesize", "--rows", "5", "--method", "pay-once"],
    "envelope": ["synthesize", "--rows", "2", "--method", "envelope"],
    "game": ["optimize", "--not-private", "--restarts", "1"],
}


def start(kind, name, place, calls_to_live=None):
    """A child that runs a command for NAME.eq, and for NAME.csv if it is ``synthesize``; with the end of a pipe by
    which it tells how many functions it called. It dies at a call, if so many are given."""
    read, write = os.pipe()
    child = os.fork()
    if child != 0:
        os.close(write)
        return child, read
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"
        if calls == calls_to_live:
            os.kill(os.getpid(), signal.SIGKILL)

    command, *more = COMMANDS[kind]
    out = f"{name}.{'eq' if command == 'optimize' else 'csv'}"
    sys.argv = ["equinoise", command, DATA, *COLUMN, *more, "--out", out, "--book", place]
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    status = 3
    try:
        if calls_to_live is not None:
            sys.setprofile(count)
        command_line.main()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.setprofile(None)
        os.write(write, str(calls).encode())
        os._exit(status)


def end(child, read):
    """How a child ended, and how many functions it called, if it lived to tell."""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = os.read(read, 100)
    os.close(read)
    return status, int(told or 0)


def kill(place, order, kills):
    """Run commands one after the other, each killed at some moment, until so many were; how the others ended."""
    seconds, calls, ends = {}, {}, Counter()
    for kind in COMMANDS:
        begun = time.monotonic()
        status, calls[kind] = end(*start(kind, f"{kind}-counted", place, 2**62))
        seconds[kind] = time.monotonic() - begun
        ends[status] += 1
    tries = 0
    while ends[-signal.SIGKILL] < kills:
        tries += 1
        kind = order.choice(list(COMMANDS))
        if tries % 2:
            child, read = start(kind, f"{kind}-{tries}", place, order.randrange(1, calls[kind]))
        else:
            child, read = start(kind, f"{kind}-{tries}", place)
            time.sleep(order.uniform(0, seconds[kind]))
            os.kill(child, signal.SIGKILL)
        ends[end(child, read)[0]] += 1
    return ends


def what_came_out(folder):
    """The digest of every mechanism that can be opened, also of files that got no name yet; and names of files of rows
    beside which there is none."""
    opened = {}
    for path in sorted(folder.iterdir()):
        if path.suffix != ".csv":
            with suppress(BadInput):
                opened[path] = Mechanism.open(path).ledger.digest
    rows = [path for path in folder.glob("*.csv") if path.name != DATA]
    return Counter(opened.values()), [str(path) for path in rows if path.with_suffix(".eq") not in opened]


def main(place, seed, kills):
    for name in LOADED:
        import_module(name)
    numba.njit(lambda x: x + 1)(np.zeros(1))  # numba itself gets ready
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path(DATA).write_text("days\n" + "".join(f"{number % 10}\n" for number in range(80)))
        ends = kill(place, random.Random(seed), kills)
        files, bare_rows = what_came_out(Path(name))
    book = Book.open(place)
    made, finished = (
        Counter(entry.note for entry in book.entries if entry.state in states)
        for states in (("made", "finished"), ("finished",))
    )  # of the same data and settings the game and the envelope come out the same
    found = {
        "ends": {str(status): many for status, many in ends.items()},
        "states": Counter(entry.state for entry in book.entries),
        "methods": Counter(entry.charge.method for entry in book.entries),
        "files": files.total(),
        "not in the book": (files - made).total(),
        "finished without a file": (finished - files).total(),
        "rows without a mechanism": bare_rows,
        "total": book.totals()[0].epsilon,
        "charged": EPSILON * sum(entry.counts for entry in book.entries),
        "events": book.check(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
