"""Damaged files: bytes, lines and fields of saved mechanisms, noisy counts and books change; what opens them runs.

A file that the package opens is checked again by the checker for outsiders, which shares no code with it: what both
accept keeps its promise, whatever was changed in it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.cases import Case
from fuzz.commands import Ending, inside, run, run_checker
from tests.helpers.files_of_every_kind import KINDS, write_file
from tests.helpers.forged_files import forge, read_parts

COUNTS, BOOK = "counts.json", "a.book"
ODD = [None, -1, 0, 1, 2, 3, 0.5, -0.0, 1e-300, 1e308, math.nan, math.inf, 2**31, 2**63, 2**70, 10**400,
       "", "x", "1", "nan", True, False, [], [0], [[]], [[0, 1]], {}, {"a": 1},
       "\x00", "\ud800", "long" * 5000, [0] * 1000]  # fmt: skip
"""What may stand in a field instead of what should."""


@contextmanager
def begin(folder: Path) -> Iterator[Case]:
    """Each file in a folder of its own."""

    def try_one(order: random.Random) -> Counter[str]:
        kind = order.choice(KINDS)
        content = true_file(kind)
        place = Path(tempfile.mkdtemp(dir=folder))
        try:
            with inside(place):
                path = Path("damaged.json" if kind == COUNTS else "damaged.eq")
                path.write_bytes(content)
                damage(order, kind, path)
                return Counter([open_it(order, kind, path)])
        finally:
            shutil.rmtree(place)

    yield try_one


@cache
def true_file(kind: str) -> bytes:
    """What stands in a file of this kind."""
    with tempfile.TemporaryDirectory() as folder, inside(Path(folder)) as place:
        return write_file(kind, place).read_bytes()


def open_it(order: random.Random, kind: str, path: Path) -> str:
    """Whatever reads such a file, in some order; what came of it."""
    before, checked = path.read_bytes(), run_checker(path)
    if kind == BOOK:
        words = [["book", "check", path], ["book", "show", path], ["book", "show", path, "--json"]]
    elif kind == COUNTS:
        words = [["answer", path, order.choice(["count", "mean:a", "share:a", "median:b", "correlation:a,b"])]]
    else:
        questions = ["count", "mean:x", "median:age", "share:ward", "mean:a"]
        words = [["show", path], ["show", path, "--json"], ["audit", path], ["answer", path, order.choice(questions)]]
        words += [
            ["sample", path, "-n", order.choice([1, 2, 10**6])],
            ["losses", path],
            ["cost", path, "--epsilon", "1"],
        ]
        words = order.sample(words, 3)
    endings = []
    for each in words:
        ending = run(*each)
        endings.append(ending)
        if ending.done and each[0] != "answer" and not (each[0] == "sample" and checked.done):
            agree(ending, checked)
        elif each[0] == "sample" and not ending.done:
            ending.require(kind == BOOK or path.read_bytes() == before, "Refused, but charged.")
    opened = any(ending.done for ending in endings)
    if checked.done:
        return "accepted: the promise holds" if opened else "refused in a sentence"
    return "refused in a sentence"


def agree(ending: Ending, checked: Ending) -> None:
    """What a command opens the checker accepts, too."""
    ending.require(checked.done, f"The package opens it, and the checker says: {checked.out}")


def damage(order: random.Random, kind: str, path: Path) -> None:
    """Change the file: its bytes, its lines, or its fields, then with digest and links that fit."""
    if order.random() < 0.35:
        damage_bytes(order, path)
    elif kind == BOOK:
        damage_book(order, path)
    elif kind == COUNTS:
        said = json.loads(path.read_text())
        digest = said.pop("digest")
        change_fields(order)(said)
        if order.random() < 0.8:
            digest = hashlib.sha256(_json(said, sort_keys=True).encode(errors="replace")).hexdigest()
        path.write_text(_json({**said, "digest": digest}), errors="replace")
    elif order.random() < 0.25 and len(read_parts(path)[2]):  # the envelope's are in the document
        forge(path, weights=change_weights(order))
    else:
        forge(path, change_fields(order))


def damage_bytes(order: random.Random, path: Path) -> None:
    """Cut, doubled, changed: bytes or lines."""
    content = bytearray(path.read_bytes())
    for _ in range(order.choice([1, 1, 1, 5])):
        at = order.randrange(len(content) + 1) if order.random() < 0.5 else order.randrange(min(len(content), 200) + 1)
        lines = bytes(content).split(b"\n")
        line = order.randrange(len(lines))
        what = order.randrange(7)
        if what == 0 and at < len(content):
            content[at] ^= 1 << order.randrange(8)
        elif what == 1:
            del content[at:]
        elif what == 2:
            content[at:at] = order.randbytes(order.choice([1, 3, 40]))
        elif what == 3:
            del content[at : at + order.choice([1, 10, 1000])]
        elif what == 4:
            content = bytearray(b"\n".join([*lines[:line], lines[line], *lines[line:]]))
        elif what == 5:
            content = bytearray(b"\n".join([*lines[:line], *lines[line + 1 :]]))
        else:
            content[at : at + 1] = order.choice([b"9", b"-", b"\x00", b"\xff", b"\r\n", b" ", b'"', b"{"])
    path.write_bytes(content)


def change_fields(order: random.Random) -> Callable[[Any], None]:
    """A function that changes fields of a document, or of what stands in them, in place."""

    def change(document: Any) -> None:
        for _ in range(order.choice([1, 1, 1, 2, 4])):
            change_one(order, document)

    return change


def change_one(order: random.Random, document: Any) -> None:
    """Walk down to a field by chance, and change it."""
    holder = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = order.choice(keys)
        value = holder[key]
        if isinstance(value, dict | list) and value and order.random() < 0.85:
            holder = value
            continue
        break
    what = order.randrange(8)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif what == 2 and isinstance(holder, list):
        order.shuffle(holder)
    elif what in {3, 4} and type(value) in {int, float} and abs(value) < 1e300:
        holder[key] = order.choice([value + 1, value - 1, value * 2, -value, value / 2, float(value)])
    elif what == 5 and isinstance(holder, dict):
        holder[order.choice(["x", "", "epsilon", "draws", "kind"])] = order.choice(ODD)
    else:
        holder[key] = copy.deepcopy(order.choice(ODD))


def change_weights(order: random.Random) -> Callable[[Any], Any]:
    """A function from weights to others."""

    def change(weights: Any) -> Any:
        at, other = order.randrange(len(weights)), order.randrange(len(weights))
        what = order.randrange(6)
        if what == 0:
            weights[at] = order.choice([0, -1, 1, 2**32, 2**62, -(2**63), 2**63 - 1])
        elif what == 1:
            weights[at], weights[other] = weights[other], weights[at]
        elif what == 2:
            moved = order.choice([1, 1000, int(weights[other]) // 2])
            weights[at] += np.int64(moved)
            weights[other] -= np.int64(moved)
        elif what == 3:
            return weights[:at]
        elif what == 4:
            return np.concatenate([weights, weights[:other]])
        else:
            order.shuffle(weights)
        return weights

    return change


def damage_book(order: random.Random, path: Path) -> None:
    """Change events of a book, with links that fit or not, or a table of it."""
    with closing(sqlite3.connect(path)) as book, book:
        if order.random() < 0.2:
            table = order.choice(["equinoise_book", "equinoise_event"])
            statements = [f"DROP TABLE {table}", f"DELETE FROM {table}", f"ALTER TABLE {table} RENAME TO other"]
            statements += [
                f"UPDATE {table} SET text = '[]'",
                f"UPDATE {table} SET link = '3'",
                "CREATE TABLE other (a)",
            ]
            book.execute(order.choice([*statements, "UPDATE equinoise_book SET events = -1"]))
            return
        ((first,),) = book.execute("SELECT text FROM equinoise_book")
        said = json.loads(first)
        events = [json.loads(text) for (text,) in book.execute("SELECT text FROM equinoise_event ORDER BY number")]
        whole = {"book": said, "events": events} if order.random() < 0.3 else {"events": events}
        change_fields(order)(whole)
        if not isinstance(whole.get("events"), list):
            return
        first = _json(whole.get("book", said))
        link = hashlib.sha256(f"\n{first}".encode(errors="replace")).hexdigest()
        book.execute("DELETE FROM equinoise_event")
        for number, event in enumerate(whole["events"], 1):
            text = _json(event)
            link = hashlib.sha256(f"{link}\n{text}".encode(errors="replace")).hexdigest()
            book.execute("INSERT INTO equinoise_event VALUES (?, ?, ?)", (number, text, link))
        fits = order.random() < 0.9
        book.execute("UPDATE equinoise_book SET text = ?, events = ?, link = ?",
                     (first, len(whole["events"]), link if fits else "0" * 64))  # fmt: skip


def _json(said: Any, **more: Any) -> str:
    return json.dumps(said, **more)
