"""The checker for outsiders: it accepts true files of every kind, and refuses planted false ones for the reason."""

import ast
import hashlib
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from equinoise import BadInput, Mechanism, check
from tests.helpers import people
from tests.helpers.files_of_every_kind import KINDS, PUBLIC, write_file
from tests.helpers.forged_files import forge, read_parts
from tests.helpers.mechanism_of_every_kind import SETTINGS

FILE = Path(check.__file__)


@pytest.fixture(scope="module")
def true_files(tmp_path_factory):
    """A file of every kind, the people of some, and what is public about them."""
    folder = tmp_path_factory.mktemp("true")
    for kind in KINDS:
        write_file(kind, folder)
    return folder


@pytest.fixture
def checked(monkeypatch, capsys):
    """Runs the checker in this process; gives its status and what it prints."""

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["check.py", *map(str, args)])
        status = check.main()
        captured = capsys.readouterr()
        assert captured.err == ""
        return status, captured.out

    return call


@pytest.mark.parametrize("kind", KINDS)
def test_true_files_of_every_kind_keep_their_promise(kind, true_files, checked):
    status, said = checked(true_files / kind)
    assert (status, said.startswith("Promised: ")) == (0, True), said
    assert "\nChecked: " in said
    assert "\nNot checked: " in said
    assert ("not differential privacy" in said) == (kind in {*SETTINGS, "order", "budget"} - {"differential-privacy"})


def test_it_is_one_short_file_of_the_standard_library_alone():
    text = FILE.read_text()
    assert len(text.splitlines()) <= 350
    names = {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    seen = "import sys, equinoise.check; print({'numpy', 'polars', 'pydantic'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_copy_runs_on_a_bare_interpreter(true_files, tmp_path):
    shutil.copy(FILE, tmp_path / "copied.py")
    shutil.copy(true_files / "pay-once", tmp_path / "false.eq")
    forge(tmp_path / "false.eq", scale=0.5)
    for name, status in ((true_files / "two", 0), ("false.eq", 1), ("gone.eq", 2)):
        command = [sys.executable, "-I", "-S", "copied.py", str(name)]
        found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr) == (status, ""), found.stderr


def set_to(**fields):
    """The document with other fields, of which some are those of a field."""
    return lambda path: forge(path, **fields)


def changed(change):
    """The document after a change in place."""
    return lambda path: forge(path, change)


def weighed(change):
    """Other weights; the function changes them in place."""

    def weights(numbers):
        change(numbers)
        return numbers

    return lambda path: forge(path, weights=weights)


def put(numbers, values):
    numbers[: len(values)] = values


def counts_without_noise(path):
    people = Mechanism.read(path).counted.histogram.counts
    forge(path, weights=lambda numbers: np.concatenate([people, numbers[len(people) :]]))


def text_with(old, new):
    """The file with a text in it replaced and nothing made to fit."""

    def plant(path):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return plant


def without_release(path):
    lines = path.read_text().split("\n")
    Mechanism.open(path).sample(1)
    path.write_text("\n".join([*lines[:3], path.read_text().split("\n")[4], ""]))


def rows_of_one(document):
    document["times"][0] += 2


def nearly_all_rows_of_one(path):
    """One person has nearly all rows, and hides the others in a cell that they never come out in: without them it is
    far more likely. No cell is far more likely with them."""

    def weights(numbers):
        rows = numbers.reshape(-1, 21)
        rows[:] = 2**32 // 21
        rows[:, 0] += 2**32 - rows.sum(axis=1)
        rows[0, 19], rows[0, 20] = rows[0, 19] + rows[0, 20], 0
        return rows.ravel()

    forge(path, lambda document: document["bags"][0][0].__setitem__(1, 10**5), weights=weights)


def of_json(refit=True, **fields):
    """A file of noisy counts with other fields, and a digest that is made to fit."""

    def plant(path):
        said = json.loads(path.read_text())
        digest = said.pop("digest")
        for name, value in fields.items():
            said[name] = {**said[name], **value} if isinstance(value, dict) else value
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest() if refit else digest
        path.write_text(json.dumps({**said, "digest": digest}))

    return plant


def of_book(change):
    """A book whose events are changed, a list of them in place, and whose chain is made to fit."""

    def plant(path):
        with closing(sqlite3.connect(path)) as book, book:
            ((first,),) = book.execute("SELECT text FROM equinoise_book")
            events = [json.loads(text) for (text,) in book.execute("SELECT text FROM equinoise_event ORDER BY number")]
            change(events)
            link = hashlib.sha256(f"\n{first}".encode()).hexdigest()
            book.execute("DELETE FROM equinoise_event")
            for number, event in enumerate(events, 1):
                link = hashlib.sha256(f"{link}\n{json.dumps(event)}".encode()).hexdigest()
                book.execute("INSERT INTO equinoise_event VALUES (?, ?, ?)", (number, json.dumps(event), link))
            book.execute("UPDATE equinoise_book SET events = ?, link = ?", (len(events), link))

    return plant


def by_sql(statement):
    """A book after a statement, with nothing made to fit."""

    def plant(path):
        with closing(sqlite3.connect(path)) as book, book:
            book.execute(statement)

    return plant


CHARGE = {"at": "now", "columns": ["a"], "event": "charge", "kind": "differential-privacy", "purpose": "",
          "method": "pay-once", "delta": 0}  # fmt: skip
LOSS, RULE, CELL = r"loss is above epsilon", r"The rule is not one by which nobody", r"The weight of cell \d+ is not"
COST, SMALL, TOO_MANY = r"each cost more than", r"Noise of scale \S+ is too small", r"Somebody has \d+ rows, and may"
OUTSIDE, LIMIT, ROW = (
    r"rows are in no cells of the grid",
    r"everything costs more than the limit",
    r"Weights of a row are",
)
TWICE = r"A cell has two weights"
NOISE, CHAIN, FOLLOWS = r"The noise adds up to", r"not open", r"Event \d+ does not follow"

HARMLESS = {"budget", "base", "draws", "order"}
"""Fields that may say nothing."""

FALSE = [
    ("per-instance", set_to(epsilon=0.5, settings={"epsilon": 0.5}), LOSS),
    ("per-instance", set_to(epsilon=0.9), "The settings say another epsilon"),
    ("per-instance", set_to(epsilon=-1.0, settings={"epsilon": -1.0}), "Epsilon is not above 0"),
    ("per-instance", weighed(lambda w: put(w, [2**32, *[0] * 20])), LOSS),
    ("per-instance", weighed(lambda w: put(w, [w[0] + 1])), ROW),
    ("per-instance", weighed(lambda w: put(w, [w[0] + w[1] + 5, -5])), ROW),
    ("per-instance", lambda path: forge(path, weights=lambda w: w[:-21]), ROW),
    ("per-instance", changed(lambda d: d.update(people=[1] * len(d["people"]))), LOSS),
    ("per-instance", changed(lambda d: d["people"].__setitem__(0, 0)), OUTSIDE),
    ("per-instance", changed(lambda d: d["people"].__setitem__(0, 2.5)), OUTSIDE),
    ("per-instance", changed(lambda d: d["bags"].__setitem__(-1, [[21, 1]])), OUTSIDE),
    ("per-instance", changed(lambda d: d["bags"].__setitem__(0, [[0, 2]])), TOO_MANY),
    ("per-instance", set_to(draws=2, settings={"draws": 2}), "3 draws were released, not 2"),
    ("per-instance", text_with(" 3 ", " 1 "), "Release 1 does not follow"),
    ("per-instance", without_release, "Release 1 does not follow"),
    ("per-instance", text_with('"epsilon": 1.0', '"epsilon": 2.0'), "The digest is not that"),
    ("delta", set_to(delta=0.0, settings={"delta": 0.0}), LOSS),
    ("delta", set_to(delta=1e-9, settings={"delta": 1e-9}), "with more probability than 1e-09"),
    ("delta", set_to(delta=-1e-4, settings={"delta": -1e-4}), "delta not from 0"),
    ("order", set_to(order=200.0, settings={"order": 200.0}), "Renyi divergence of order 200.0 is above"),
    ("order", set_to(order=0.5, settings={"order": 0.5}), "order not above 1"),
    ("order", set_to(epsilon=0.02, settings={"epsilon": 0.02}), "Renyi divergence of order 4.0 is above"),
    ("two", weighed(lambda w: put(w, [2**26, *[0] * 8, 2**26, *[0] * 8])), LOSS),
    ("three", set_to(epsilon=0.3, settings={"epsilon": 0.3}), LOSS),
    ("rows", set_to(settings={"unit": None}), TOO_MANY),
    ("rows", set_to(settings={"unit_rows": "one"}), TOO_MANY),
    ("rows", changed(lambda d: d["bags"][0][0].__setitem__(1, 200)), LOSS),
    ("rows", nearly_all_rows_of_one, LOSS),
    ("rows of two", set_to(epsilon=0.5, settings={"epsilon": 0.5}), LOSS),
    ("differential-privacy", changed(lambda d: d["weights"].__setitem__(3, d["weights"][3] + 1)), CELL),
    ("differential-privacy", changed(lambda d: (d["weights"].pop(), d["weight_cells"].pop())), CELL),
    ("differential-privacy", changed(lambda d: d["people"].__setitem__(0, d["people"][0] + 1)), CELL),
    ("differential-privacy", changed(lambda d: d["rule"].update(factor=d["rule"]["factor"] * 2)), RULE),
    ("differential-privacy", changed(lambda d: d["rule"]["near"][0].__setitem__(1, 2**17)), RULE),
    ("differential-privacy", changed(lambda d: d["rule"].update(height=d["rule"]["unit"] + 1)), RULE),
    ("differential-privacy", changed(lambda d: d["rule"].update(floors=[1])), RULE),
    ("differential-privacy", changed(lambda d: d["rule"].update(cap=d["rule"]["alone"])), RULE),
    ("differential-privacy", changed(lambda d: d["rule"].update(alone=d["rule"]["unit"] // 9)), RULE),
    ("differential-privacy", changed(lambda d: d["rule"].update(floors=d["rule"]["floors"] * 21)), RULE),
    ("differential-privacy", set_to(rows_per_person=2, settings={"rows_per_person": 2}), RULE),
    ("differential-privacy", set_to(draws=4, settings={"rows": 4}), COST),
    ("differential-privacy", set_to(budget={"epsilon": 0.5}, settings={"epsilon": 0.5}), COST),
    ("composed", set_to(draws=61, settings={"rows": 61}), COST),
    ("composed", set_to(budget={"delta": 9e-7}, settings={"delta": 9e-7}), COST),
    ("zcdp", set_to(draws=901, settings={"rows": 901}), COST),
    ("base", changed(lambda d: d["weights"].__setitem__(0, d["weights"][0] - 1)), CELL),
    ("base", changed(lambda d: (d["weights"].pop(0), d["weight_cells"].pop(0))), CELL),
    ("composed", changed(lambda d: [d[name].insert(0, d[name][0]) for name in ("weights", "weight_cells")]), TWICE),
    ("composed", changed(lambda d: (d["weights"].append(9**9), d["weight_cells"].append(0))), TWICE),
    ("several", changed(rows_of_one), TOO_MANY),
    ("pay-once", set_to(scale=0.999), SMALL),
    ("pay-once", set_to(rows_per_person=2, settings={"rows_per_person": 2}), SMALL),
    ("pay-once", set_to(epsilon=0.9, budget={"epsilon": 0.9}, settings={"epsilon": 0.9}), SMALL),
    ("pay-once", set_to(budget={"epsilon": 0.9}, settings={"epsilon": 0.9}), SMALL),
    ("mixed counts", counts_without_noise, NOISE),
    ("pay-once", weighed(lambda w: put(w, [9000])), NOISE),
    ("pay-once", weighed(lambda w: w.__setitem__(-1, 0)), "not a whole number from 1 on"),
    ("pay-once several", changed(rows_of_one), TOO_MANY),
    ("aim", set_to(proven=1.01), "OpenDP proved more than promised"),
    ("aim", weighed(lambda w: put(w, [0])), "A weight is not a whole number from 1 on"),
    ("aim", changed(rows_of_one), TOO_MANY),
    ("counts.json", of_json(noise={"scale": 0.9}), SMALL),
    ("counts.json", of_json(noise={"rows_per_person": 3}), SMALL),
    ("counts.json", of_json(epsilon=1.5), SMALL),
    ("counts.json", of_json(counts=[1, 2]), "not one whole number for each of 81 cells"),
    ("counts.json", of_json(counts=[0.5] * 81), "not one whole number for each of 81 cells"),
    ("counts.json", of_json(refit=False, counts=[1] * 81), "Its digest does not match"),
    ("counts.json", of_json(bounds_epsilon=0.5), "says less than epsilon 2.5"),
    ("counts.json", of_json(promise="With epsilon 0.1 for everything"), "says less than epsilon 2"),
    ("a.book", by_sql("UPDATE equinoise_event SET text = replace(text, '0.3', '0.1') WHERE number = 1"), FOLLOWS),
    ("a.book", by_sql("DELETE FROM equinoise_event WHERE number = 2"), FOLLOWS),
    ("a.book", by_sql("DELETE FROM equinoise_event WHERE number = 9"), "does not end with the event"),
    ("a.book", by_sql("UPDATE equinoise_book SET text = replace(text, '1.0', '9.0')"), FOLLOWS),
    ("a.book", of_book(lambda events: events[0].update(epsilon=0.5, rho=3.0)), LIMIT),
    ("a.book", of_book(lambda events: events[3].update(delta=6e-5, rho=None)), LIMIT),
    ("a.book", of_book(lambda events: events.append({**events[0], "epsilon": 0.2, "rho": None})), LIMIT),
    ("a.book", of_book(lambda events: events.append({"event": "given back", "entry": 9, "reason": ""})), CHAIN),
    ("a.book", of_book(lambda events: events.append({"event": "given back", "entry": 1, "reason": ""})), CHAIN),
    ("a.book", of_book(lambda events: events.append(events[1])), CHAIN),
    ("a.book", of_book(lambda events: events[2].update(event="given back")), CHAIN),
    ("a.book", of_book(lambda events: events.pop(0)), CHAIN),
    ("a.book", of_book(lambda events: events.append({**CHARGE, "epsilon": 0.4, "rho": 0})), "a rho that cannot be"),
    ("a.book", of_book(lambda events: events[0].update(epsilon=-0.3)), "charges an epsilon"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "plant", "reason"), FALSE, ids=[f"{i} {one[0]}" for i, one in enumerate(FALSE)])
def test_planted_false_files_are_refused_for_the_reason(kind, plant, reason, true_files, tmp_path, checked):
    assert len(FALSE) >= 40
    path = Path(shutil.copy(true_files / kind, tmp_path / kind))
    plant(path)
    status, said = checked(path)
    assert status == 1, said
    assert re.search(reason, said), said


def test_one_unit_of_weight_more_than_epsilon_allows_is_refused_here_and_by_the_package(true_files, tmp_path, checked):
    weights = np.frombuffer(read_parts(true_files / "per-instance")[2], "<i8")
    others = np.cumsum(weights[1:21])

    def move(units):
        """So much weight of the first row moves to its first cell, that of the next ones first."""
        path, left = (
            Path(shutil.copy(true_files / "per-instance", tmp_path / "moved.eq")),
            np.maximum(others - units, 0),
        )
        forge(path, weights=lambda w: np.concatenate([[w[0] + units], np.diff(left, prepend=0), w[21:]]))
        return path

    within, beyond = 0, int(others[-1])
    assert checked(move(beyond))[0] == 1
    while beyond - within > 1:
        middle = (within + beyond) // 2
        within, beyond = (middle, beyond) if checked(move(middle))[0] == 0 else (within, middle)
    assert Mechanism.open(move(within)).epsilon == 1
    with pytest.raises(BadInput, match="certificate does not hold"):
        Mechanism.open(move(beyond))


@pytest.mark.parametrize("kind", ["mixed", "mixed counts"])
def test_people_are_counted_again_by_code_of_its_own(kind, true_files, checked, tmp_path):
    data, schema = true_files / "mixed.csv", true_files / "mixed.toml"
    status, said = checked(true_files / kind, "--data", data, "--schema", schema)
    assert (status, "people, with" in said) == (0, True), said
    other = tmp_path / "other.csv"
    for old, new, reason in (("\np1,", "\np2,", "The people are not those of other.csv"),
                             ("elective", "other", "The people are not those of other.csv")):  # fmt: skip
        assert old in data.read_text()
        other.write_text(data.read_text().replace(old, new))
        status, said = checked(true_files / kind, "--data", other)
        assert (status, reason in said) == (1, True), said
    other = tmp_path / "other.toml"
    for old, new, reason in (("step = 1", "step = 2", "Column 'age' has other step"), ("100]", "90]", "other bounds"),
                             ('"who"', '"name"', "The schema's unit is 'name'"), ("2024-12-31", "2025-12-31", "bounds"),
                             ("1, 2, 3", "3, 2, 1", "Column 'code' has other categories")):  # fmt: skip
        other.write_text(PUBLIC.replace(old, new))
        status, said = checked(true_files / kind, "--data", data, "--schema", other)
        assert (status, reason in said) == (1, True), said


@pytest.mark.parametrize("kind", people.KINDS)
def test_people_of_the_game_are_counted_again(kind, tmp_path, checked):
    made = people.make(kind, restarts=1, epsilon=2)
    made.save(tmp_path / "m.eq")
    people.data(kind).write_csv(tmp_path / "people.csv")
    people.data(kind, seed=6).write_csv(tmp_path / "others.csv")
    assert checked(tmp_path / "m.eq", "--data", tmp_path / "people.csv")[0] == 0
    status, said = checked(tmp_path / "m.eq", "--data", tmp_path / "others.csv")
    assert (status, "The people are not those of others.csv" in said) == (1, True), said


def test_what_is_no_file_of_equinoise_cannot_be_checked_and_is_no_traceback(true_files, tmp_path, checked):
    path = tmp_path / "odd"
    for content in (b"", b"{", b"[]", b"{}", b"\xff\x00", b"SQLite format 3\0", b"equinoise 7 charged\nmuch\n",
                    (true_files / "two").read_bytes().replace(b"equinoise 7", b"equinoise 8"),
                    (true_files / "two").read_bytes()[:200]):  # fmt: skip
        path.write_bytes(content)
        status, said = checked(path)
        assert (status, "cannot be checked: " in said) == (2, True), said
    assert checked(tmp_path)[0] == checked(tmp_path / "gone")[0] == 2
    assert checked(true_files / "two", "--data", tmp_path / "gone.csv")[0] == 2
    assert checked(true_files / "a.book", "--data", true_files / "mixed.csv")[0] == 2


def test_damage_at_random_is_refused_in_one_sentence(true_files, tmp_path, checked):
    rng = random.Random(5)
    for kind in ("rows", "composed", "pay-once", "aim", "mixed"):
        said, path = json.loads(read_parts(true_files / kind)[1]), tmp_path / kind
        for name in rng.sample(sorted(set(said) - {"solver", "noise", "scales", "scale_indices", "noisy_rows"}), 6):
            for odd in (None, "x", -1, float("nan"), [], {}):
                shutil.copy(true_files / kind, path)
                forge(path, lambda document, name=name, odd=odd: document.update({name: odd}))
                status, said = checked(path)
                assert status in {1, 2} or (not odd and name in HARMLESS), (kind, name, odd, said)
                assert status == 0 or said.count("\n") == 1


def test_a_huge_epsilon_keeps_nobody_busy(true_files, tmp_path, checked):
    for kind in ("composed", "per-instance"):
        for epsilon in (2.0**31, 1e308):
            path = Path(shutil.copy(true_files / kind, tmp_path / "huge.eq"))
            forge(path, epsilon=epsilon, settings={"epsilon": epsilon})
            before = time.process_time()
            assert checked(path)[0] in {0, 1, 2}
            assert time.process_time() - before < 5
            with suppress(BadInput):
                Mechanism.open(path)
            assert time.process_time() - before < 10
