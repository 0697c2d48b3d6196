"""Kills at random moments of processes that charge, make and draw: what came out was charged before.

Each case runs one of the tests' programs, which kill processes of their own, and holds its figures against each other.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equinoise.mechanisms.book import Book
from fuzz.cases import Case, Lost

KILLS, ALLOWED = 12, 10_000


@contextmanager
def begin(folder: Path) -> Iterator[Case]:
    """Each case has a book of its own."""

    def try_one(order: random.Random) -> Counter[str]:
        place, seed = Path(tempfile.mkdtemp(dir=folder)), str(order.randrange(10**6))
        what = order.choice([drawing, making, charging])
        return Counter({"out what was charged": what(place, seed)})

    yield try_one


def program(name: str, *words: object) -> dict[str, Any]:
    """What a program of the tests prints."""
    command = [sys.executable, "-m", f"tests.helpers.{name}", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Lost(f"{name} {words} ended with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def require(holds: object, found: dict[str, Any]) -> None:
    """Something that must hold of what a program found."""
    if not holds:
        raise Lost(f"What came out is not what was charged: {found}")


def drawing(place: Path, seed: str) -> int:
    """Kills of draws from one saved file, with renames, links and copies between; how many."""
    found = program("kill_while_drawing", seed, KILLS, ALLOWED)
    require(found["rows"] <= min(found["spent"]) <= max(found["spent"]) <= ALLOWED, found)
    return KILLS


def making(place: Path, seed: str) -> int:
    """Kills of commands that charge a book and make a mechanism; how many."""
    Book.create(place / "a.book", epsilon=1000)
    found = program("kill_while_making", place / "a.book", seed, KILLS)
    states = found["states"]
    require(set(found["ends"]) <= {"-9", "0"}, found)
    require(found["not in the book"] == found["finished without a file"] == 0, found)
    require(found["rows without a mechanism"] == [] and found["total"] == found["charged"], found)
    require(found["files"] <= states.get("finished", 0) + states.get("made", 0), found)
    return int(found["ends"]["-9"])


def charging(place: Path, seed: str) -> int:
    """Kills of two processes at a time that charge one book; how many."""
    Book.create(place / "a.book", epsilon=50)
    found = program("kill_while_charging", place / "a.book", "kill", seed, KILLS, 0.3)
    require(found["out"] <= found["made"] and found["total"] <= found["limit"], found)
    return int(found["killed"])
