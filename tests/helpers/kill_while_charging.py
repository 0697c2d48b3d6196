"""Processes that charge one book at once, race for what is left, or are killed while they do; prints what came of it.

Called as ``python -m tests.helpers.kill_while_charging PLACE kill SEED KILLS SECONDS`` (within which each is killed) or
``PLACE race PROCESSES EPSILON``. A program of its own, so that forks meet no threads of the tests'.
"""

import json
import os
import random
import signal
import sys
import time

from equinoise import BadInput, BudgetSpent
from equinoise.mechanisms.book import Book
from equinoise.mechanisms.book_events import charge_of
from equinoise.privacy.book_cost import Cost


def charge(epsilon):
    return charge_of("differential-privacy", "pay-once", ["age"], Cost.pure(epsilon))


def charge_until_killed(place, epsilon, out):
    """Charge, record and let out (a byte) again and again, until nothing is left."""
    book = Book.open(place)
    while True:
        try:
            with book.charging(charge(epsilon)) as entry:
                entry.made("0" * 64)
        except BudgetSpent:
            os._exit(0)
        os.write(out, b".")


def fork(work):
    """A child that does some work and ends; its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(3)
    return child


def kill(place, seed, kills, seconds):
    """Two processes at a time, killed at random moments: how many let something out, and what the book says."""
    order, left_over = random.Random(seed), 0
    read, write = os.pipe()
    os.set_blocking(read, False)
    for _ in range(kills // 2):
        children = [fork(lambda: charge_until_killed(place, 0.01, write)) for _ in range(2)]
        for child in children:
            time.sleep(order.uniform(seconds / 10, seconds))
            os.kill(child, signal.SIGKILL)
        for child in children:
            left_over += os.waitpid(child, 0)[1] == signal.SIGKILL
    out = 0
    while part := _read(read):
        out += len(part)
    book = Book.open(place)
    states = [entry.state for entry in book.entries]
    total = book.totals()[0].epsilon if states else 0.0
    events = book.check()
    made = states.count("made") + states.count("finished")
    return {"killed": left_over, "out": out, "made": made, "charged": states.count("charged"),
            "total": total, "limit": book.limit.epsilon, "events": events}  # fmt: skip


def _read(file):
    try:
        return os.read(file, 2**16)
    except BlockingIOError:
        return b""


def race(place, processes, epsilon):
    """So many processes want the same epsilon at once: how each ended (0 it was charged, 1 nothing was left)."""
    read, write = os.pipe()

    def work():
        book = Book.open(place)
        os.close(write)
        os.read(read, 1)  # until all are ready
        try:
            with book.charging(charge(epsilon)) as entry:
                entry.made("0" * 64)
            os._exit(0)
        except BudgetSpent:
            os._exit(1)
        except BadInput:
            os._exit(2)

    children = [fork(work) for _ in range(processes)]
    time.sleep(1)
    os.close(write)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    where, what, first, second, *more = sys.argv[1:]
    if what == "kill":
        print(json.dumps(kill(where, int(first), int(second), float(more[0]))))
    else:
        print(json.dumps(race(where, int(first), float(second))))
