"""`python -m benchmarks.books`: 10,000 charges to one book by two processes that are killed again and again.

On a file, and on a PostgreSQL server that is started for it (Debian's package), both at the same time. Two processes
charge a book until its limit refuses them. Each writes down what it was told was charged, and is killed (kill -9) after
1 to 20 seconds, chosen at random, and started again. In the end everything that was told is in the book, the book is at
its limit and not beyond, and its check passes. Writes benchmarks/books.md, in some minutes; fails if a charge was lost
or one was too many.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from statistics import median

from benchmarks.measuring import machine
from equinoise.errors import BadInput, BudgetSpent
from equinoise.mechanisms.book import Book
from equinoise.mechanisms.book_events import charge_of
from equinoise.privacy.book_cost import Cost
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY
from tests.helpers.postgresql_server import running_server

CHARGES, EPSILON = 10_000, 0.01
SHORTEST, LONGEST = 1.0, 20.0
"""Seconds that a process lives."""

PROCESSES = 2
TIMED = 1_000
"""First and last charges whose time is told."""

ROWS = {
    "charges": "charges in the book",
    "kills": "processes killed",
    "lost": "told as charged, and not in the book",
    "charged": "charged, and stopped before it was made",
    "made": "made, and stopped before it was recorded as saved",
    "finished": "recorded as saved",
    "beyond": "epsilon beyond the limit of 100",
    "events": "events, all checked in the end",
    "seconds": "seconds for all",
    "rate": "charges a second",
    "first": "milliseconds of a charge: median of the first 1,000",
    "last": "of the last 1,000",
    "opening": "seconds to open the book in the end",
}


def charge_until_refused(place: str, told: int) -> None:
    """Charge mechanisms and record them, and write down each: its entry and the seconds that it took."""
    book = Book.open(place)
    while True:
        begun = time.perf_counter()
        charge = charge_of(DIFFERENTIAL_PRIVACY, "pay-once", ["age", "ward"], Cost.pure(EPSILON), purpose="a benchmark")
        try:
            with book.charging(charge) as entry:
                os.write(told, f"{entry.number}\n".encode())
                entry.made("0" * 64)
        except BudgetSpent:
            os._exit(0)
        except BadInput:  # others held it for too long
            os._exit(2)
        os.write(told, f"{entry.number} {time.perf_counter() - begun}\n".encode())


def start(place: str, told: int) -> int:
    """A process that charges; its number."""
    child = os.fork()
    if child == 0:
        try:
            charge_until_refused(place, told)
        finally:
            os._exit(3)
    return child


def run_and_kill(place: str, told: int, order: random.Random) -> int:
    """Processes that are killed and started again, until each ended because nothing was left; how many were killed."""
    ends: dict[int, float] = {}
    kills = refused = 0
    while refused < PROCESSES:
        while len(ends) + refused < PROCESSES:
            ends[start(place, told)] = time.monotonic() + order.uniform(SHORTEST, LONGEST)
        time.sleep(0.02)
        for child, end in list(ends.items()):
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            done, status = os.waitpid(child, 0 if time.monotonic() > end else os.WNOHANG)
            if done:
                del ends[child]
                code = os.waitstatus_to_exitcode(status)
                kills += code == -signal.SIGKILL
                refused += code == 0
                if code > 2:
                    raise RuntimeError("A process failed.")
    return kills


def measure(place: str, charges: int) -> dict[str, float]:
    """What came of so many charges on one book."""
    limit = Fraction(charges, 100)
    Book.create(place, epsilon=float(limit))
    with tempfile.TemporaryDirectory() as folder:
        told = os.open(Path(folder) / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        begun = time.monotonic()
        kills = run_and_kill(place, told, random.Random(1))
        seconds = time.monotonic() - begun
        os.close(told)
        lines = [line.split() for line in (Path(folder) / "told").read_text().splitlines()]
    begun = time.monotonic()
    book = Book.open(place)
    opening = time.monotonic() - begun
    entries = {entry.number: entry for entry in book.entries}
    lost = [number for number, *_ in lines if int(number) not in entries or not entries[int(number)].counts]
    lost += [number for number, *done in lines if done and entries[int(number)].state == "charged"]
    spent = sum(Fraction(repr(entry.charge.epsilon)) for entry in entries.values() if entry.counts)
    times = sorted((int(number), float(done[0])) for number, *done in lines if done)
    few = min(TIMED, len(times) // 3)
    states = Counter(entry.state for entry in entries.values())
    return {
        "charges": len(entries), "kills": kills, "lost": len(lost),
        **{state: states[state] for state in ("charged", "made", "finished")},
        "beyond": float(max(spent - limit, Fraction(0))), "events": book.check(), "seconds": seconds,
        "rate": len(entries) / seconds, "first": 1000 * median(t for _, t in times[:few]),
        "last": 1000 * median(t for _, t in times[-few:]), "opening": opening,
    }  # fmt: skip


def holds(found: dict[str, float], charges: int) -> bool:
    """Whether nothing was lost and nothing was charged beyond the limit."""
    return found["lost"] == 0 and found["beyond"] == 0 and found["charges"] == charges


def text(files: dict[str, float], server: dict[str, float]) -> str:
    """The page."""
    table = "\n".join(f"| {name} | {_number(files[key])} | {_number(server[key])} |" for key, name in ROWS.items())
    return (
        f"# 10,000 charges to one book, with kills\n\n{machine()} `python -m benchmarks.books` wrote this.\n\n"
        "Two processes charge epsilon 0.01 again and again to a book that allows 100, until it refuses. Each is killed "
        "(kill -9) after 1 to 20 seconds, chosen at random, and started again; then it opens the book, which reads and "
        "checks all of it. A charge is three transactions, each of them on the disk before the next: charged, made, "
        "saved. Both databases are measured at the same time, on one disk, beside other work.\n\n"
        f"| | file (SQLite) | PostgreSQL |\n| --- | ---: | ---: |\n{table}\n"
    )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}" if value else "0"


def main(charges: int) -> int:
    """Measure both side by side, each in a process of its own, and write the page."""
    with tempfile.TemporaryDirectory() as folder, running_server() as server, ProcessPoolExecutor(2) as pool:
        places = f"{folder}/a.book", f"{server}/postgres"
        files, on_server = pool.map(measure, places, (charges, charges))
    print(files, on_server, sep="\n")
    if charges == CHARGES:
        (Path(__file__).parent / "books.md").write_text(text(files, on_server))
    return 0 if holds(files, charges) and holds(on_server, charges) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CHARGES))
