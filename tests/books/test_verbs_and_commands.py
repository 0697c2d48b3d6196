"""What the verbs charge to a book and when, and the commands about books."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import equinoise
from equinoise import BadInput, Book, BudgetSpent, EquinoiseError
from equinoise.mechanisms.book import Open
from equinoise.mechanisms.book_events import charge_of
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.privacy.book_cost import Cost

STAYS = pl.DataFrame({"days": [1, 2, 2, 3, 3, 3, 4, 9] * 10, "ward": ["a", "b"] * 40})
PUBLIC = {"columns": {"days": {"bounds": [0, 9], "step": 1}, "ward": {"categories": ["a", "b"]}}}


SERVER = os.environ.get("EQUINOISE_TEST_SERVER")
KILLS = 120 if SERVER else 20
COMMAND = ["synthesize", "stays.csv", "--bounds", "days", "0", "9", "--step", "days", "1", "--epsilon", "1",
           "--rows", "9", "--out", "rows.csv"]  # fmt: skip


def synthesize(book, epsilon=1.0, rows=5, **more):
    return equinoise.synthesize(STAYS, PUBLIC, epsilon=epsilon, rows=rows, book=book, **more)


def test_each_method_is_charged_by_what_it_promises(place):
    book = Book.create(place, epsilon=4, delta=1e-5)
    first = synthesize(book, purpose="teaching", method="pay-once")
    synthesize(place, 0.5, method="envelope", delta=1e-6)
    synthesize(book, 0.25, rows=2, method="envelope")
    charges = [entry.charge for entry in book.entries]
    assert [(one.method, one.epsilon, one.delta) for one in charges] == [
        ("pay-once", 1.0, 0.0), ("envelope", 0.5, 1e-6), ("envelope", 0.25, 0.0)
    ]  # fmt: skip
    assert (charges[0].columns, charges[0].purpose) == (["days", "ward"], "teaching")
    assert charges[0].rho == pytest.approx(0.5)
    assert charges[2].rho == pytest.approx(2 * 0.125**2 / 8)
    assert [entry.state for entry in book.entries] == ["finished"] * 3
    assert book.entries[0].note == first.mechanism.ledger.digest
    assert len(first.mechanism.sample(100)) == 100  # all of its budget is charged
    assert len(book.entries) == 3


def test_nothing_is_made_past_the_limit(place, tmp_path):
    book = Book.create(place, epsilon=1.5)
    synthesize(book)
    with pytest.raises(BudgetSpent, match=r"epsilon 0\.5 is left, and 1 was asked for. Nothing was made"):
        synthesize(book, save=tmp_path / "rows.eq")
    assert not (tmp_path / "rows.eq").exists()
    assert len(book.entries) == 1


@pytest.mark.parametrize(("method", "epsilon"), [("envelope", 1e-9), ("envelope", 1e308), ("pay-once", 1e308)])
def test_an_epsilon_that_a_method_cannot_have_is_not_charged(place, method, epsilon):
    """It is public: no data is opened to tell, and no entry is left behind."""
    book = Book.create(place, epsilon=1)
    with pytest.raises(BadInput, match=r"'epsilon' parameter must be at (least 0\.0001|most 1000)"):
        equinoise.synthesize("none.csv", PUBLIC, epsilon=epsilon, rows=1, method=method, book=book)
    assert book.entries == ()


def test_what_fails_before_it_is_made_is_given_back(place, tmp_path, monkeypatch):
    book = Book.create(place, epsilon=1)

    def fail(*args, **more):
        raise EquinoiseError("OpenDP could not draw the noise.")

    monkeypatch.setattr("equinoise.mechanisms.counts_table.noisy_counts", fail)
    with pytest.raises(EquinoiseError, match="could not draw"):
        synthesize(book, method="pay-once", save=tmp_path / "rows.eq")
    assert [entry.state for entry in book.entries] == ["given back"]
    assert not (tmp_path / "rows.eq").exists()
    assert book.left() == 1


def test_it_is_recorded_before_it_is_saved(place, tmp_path, monkeypatch):
    book = Book.create(place, epsilon=1)

    def fail(self, *args, **more):
        assert [entry.state for entry in Book.open(place).entries] == ["made"]
        raise BadInput("The disk is full.")

    monkeypatch.setattr(CountsTable, "save", fail)
    with pytest.raises(BadInput, match="disk is full"):
        synthesize(book, method="pay-once", save=tmp_path / "rows.eq")
    assert [entry.state for entry in book.entries] == ["made"]  # what it cost stays


@pytest.mark.parametrize("method", ["envelope", "pay-once"])
def test_a_file_that_cannot_be_written_costs_nothing(place, tmp_path, method):
    book = Book.create(place, epsilon=1)
    (tmp_path / "rows.eq").write_text("mine")
    for path in (tmp_path / "rows.eq", tmp_path / "none" / "rows.eq", tmp_path):
        with pytest.raises(BadInput, match=r"exists|no folder|is a folder"):
            synthesize(book, method=method, save=path)
    assert (book.entries, book.left()) == ((), 1)


def test_a_killed_process_leaves_a_charge_that_can_be_given_back(place):
    Book.create(place, epsilon=1)
    program = (
        "import os, signal, sys\n"
        "from equinoise.mechanisms import counts_table\n"
        "counts_table.noisy_counts = lambda *args: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from tests.books.test_verbs_and_commands import synthesize\n"
        "synthesize(sys.argv[1], method='pay-once')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, place], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    book = Book.open(place)
    assert [entry.state for entry in book.entries] == ["charged"]
    with pytest.raises(BudgetSpent):
        synthesize(book)
    book.give_back(1, "it was killed")
    synthesize(book)


def test_kills_of_whole_commands_let_out_what_was_charged(place, tmp_path):
    """With a server on a file, too: many kills take their time."""
    for where in (place, str(tmp_path / "file.book")) if SERVER else (place,):
        Book.create(where, epsilon=1000)
        command = [sys.executable, "-m", "tests.helpers.kill_while_making", where, "5", str(KILLS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=500)
        found = json.loads(done.stdout)
        assert found["ends"]["-9"] == KILLS
        assert set(found["ends"]) <= {"-9", "0"}
        states = found["states"]
        assert states.get("charged", 0) > 0  # some were killed between
        assert (found["not in the book"], found["finished without a file"]) == (0, 0)
        assert states["finished"] <= found["files"] <= states["finished"] + states.get("made", 0)
        assert found["rows without a mechanism"] == []
        assert found["total"] == found["charged"]


def test_what_is_not_known_of_an_entry_is_said(place, run):
    book = Book.create(place, epsilon=5)
    for unit in (None, "patient"):
        charge = charge_of("differential-privacy", "pay-once", ["days"], Cost.pure(1), unit=unit)
        Open(book, book._charge(charge)).made("0123456789abcdef" * 4)
    book._charge(charge)
    out = run("book", "show", place)[1]
    assert "made, perhaps not saved" in out
    assert "Entries 1 and 2: made, and counts." in out
    assert "the digest 0123456789ab and 0123456789ab..." in out
    assert "Entry 3: charged, and not made." in out
    assert "Entry 1: without a unit, so that every row counted as a person." in out
    assert [entry["unit"] for entry in json.loads(run("book", "show", place, "--json")[1])["entries"]] == [
        None, "patient", "patient"
    ]  # fmt: skip
    assert "Entries 1 and 2: made" in run("book", "check", place)[1]
    assert json.loads(run("book", "check", place, "--json")[1])["states"] == {"made": 2, "charged": 1}


def test_the_unit_of_a_release_is_in_the_book(place):
    book = Book.create(place, epsilon=2)
    people = STAYS.with_columns(who=pl.int_range(80) // 2)
    for settings in ({"unit": "who", "rows_per_person": 2}, {}):
        equinoise.synthesize(people, PUBLIC, epsilon=1, rows=5, book=book, **settings)
    assert [entry.charge.unit for entry in book.entries] == ["who", None]


@pytest.mark.parametrize("when", ["between", "in a charge"])
def test_a_book_that_goes_away_in_the_middle(place, run, monkeypatch, take_away, when):
    book, bring_back = Book.create(place, epsilon=3), []
    STAYS.write_csv("stays.csv")
    owner, name = (CountsTable, "make") if when == "between" else (Book, "_write")
    work = getattr(owner, name)

    def work_without(*args, **more):
        done = work(*args, **more)
        bring_back.append(take_away(place))
        return done

    monkeypatch.setattr(owner, name, work_without)
    status, out, err = run(*COMMAND, "--method", "pay-once", "--book", place)
    assert (status, out, "There is no book" in err or "cannot be used now" in err) == (2, "", True), err
    assert err.count("\n") == 1
    assert not list(Path().glob("rows*"))
    bring_back[0]()
    states = [entry.state for entry in book.entries]
    assert states == ["charged"] if when == "between" else states in ([], ["charged"])
    assert (book.left(), book.check()) == (3 - len(states), len(states))


def test_an_edited_book_is_refused_on_the_command_line_and_nothing_is_made(place, run, change_table):
    STAYS.write_csv("stays.csv")
    synthesize(Book.create(place, epsilon=3))
    change_table(place, "UPDATE equinoise_event SET text = replace(text, ':1.0', ':0.1') WHERE number = 1")
    game = [
        "optimize",
        "stays.csv",
        "--column",
        "days",
        "--bounds",
        "days",
        "0",
        "9",
        "--epsilon",
        "1",
        "--not-private",
    ]
    for command in (
        ["book", "show", place],
        ["book", "check", place],
        ["book", "give-back", place, "1", "--reason", "x"],
        [*COMMAND, "--book", place],
        [*game, "--out", "rows.eq", "--book", place],
    ):
        status, out, err = run(*command)
        assert (status, out, "was edited or damaged: event 1 does not follow" in err) == (2, "", True), err
    assert not list(Path().glob("rows*"))


def test_another_book_that_takes_its_place_meanwhile_is_refused(place, run, monkeypatch, change_table):
    STAYS.write_csv("stays.csv")
    Book.create(place, epsilon=3)
    verb = sys.modules["equinoise.verbs.synthesize"]
    read = verb.read_players

    def read_and_replace(*args, **more):
        if "://" in place:
            change_table(place, "DROP TABLE equinoise_book, equinoise_event")
        else:
            os.unlink(place)
        Book.create(place, epsilon=9)
        return read(*args, **more)

    monkeypatch.setattr(verb, "read_players", read_and_replace)
    status, _, err = run(*COMMAND, "--book", place)
    assert (status, "was replaced by another one" in err) == (2, True), err
    assert not list(Path().glob("rows*"))
    assert Book.open(place).entries == ()


def test_the_game_is_listed_only_if_one_knows_and_adds_to_nothing(place):
    book = Book.create(place, epsilon=1)
    settings = {"column": "days", "bounds": (0, 9), "step": 1, "epsilon": 1, "draws": 3, "restarts": 1}
    with pytest.raises(BadInput, match="the game promises none"):
        equinoise.optimize(STAYS, book=book, **settings)
    equinoise.optimize(STAYS, book=book, not_private=True, **settings)
    assert (book.entries[0].charge.kind, book.entries[0].charge.epsilon) == ("per-instance", 3.0)
    assert book.left() == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"purpose": "x"}, "'purpose' parameter must be left out without a book"),
        ({"book": "none.book"}, "There is no book 'none.book'"),
        ({"book": "mysql://127.0.0.1/x"}, "A book is a file, or a database postgresql://"),
        ({"book": 7}, "There is no book '7'"),
    ],
    ids=str,
)
def test_books_that_are_none(settings, said):
    with pytest.raises(BadInput, match=said):
        equinoise.synthesize(STAYS, PUBLIC, epsilon=1, rows=5, **settings)


def test_the_commands(place, run, tmp_path, monkeypatch):
    STAYS.write_csv(tmp_path / "stays.csv")
    options = ["--bounds", "days", "0", "9", "--step", "days", "1", "--epsilon", "1", "--rows", "9"]
    assert run("book", "create", place, "--epsilon", "2")[0] == 0
    monkeypatch.setenv("EQUINOISE_BOOK", place)
    data, out = str(tmp_path / "stays.csv"), str(tmp_path / "rows.csv")
    assert run("synthesize", data, *options, "--purpose", "a study", "--out", out)[0] == 0
    assert run("synthesize", data, *options, "--out", out, "--force")[0] == 0
    status, _, err = run("synthesize", data, *options, "--out", str(tmp_path / "more.csv"))
    assert (status, "nothing is left" in err) == (1, True)
    assert not list(tmp_path.glob("more.*"))
    shown = json.loads(run("book", "show", place, "--json")[1])
    assert [entry["purpose"] for entry in shown["entries"]] == ["a study", ""]
    assert (shown["limit"], shown["epsilon_left"]) == ({"epsilon": 2.0, "delta": 0.0}, 0.0)
    status, out, _ = run("book", "show", place)
    assert (status, "100 % spent" in out, "a study" in out) == (0, True, True)
    assert run("book", "show", place, "--plot", "spent.svg")[1].endswith("The plot is in spent.svg.\n")
    assert "adding up" in Path("spent.svg").read_text()
    status, _, err = run("book", "show", place, "--plot", "spent.svg")
    assert (status, "exists" in err) == (2, True)
    assert "none beyond the limit" in run("book", "check", place)[1]
    assert synthesize(False).rows.height == 5  # none is charged
    assert run("demo", "--report", str(tmp_path / "demo.html"))[0] == 0
    assert json.loads(run("book", "check", place, "--json")[1])["events"] == 6
    status, _, err = run("book", "give-back", place, "1", "--reason", "I want it")
    assert (status, "was made" in err) == (2, True)
    assert "Usage" in run("book")[1]
    assert run("book", "create", place, "--epsilon", "2")[0] == 2
    assert run("book", "show", str(tmp_path / "stays.csv"))[0] == 2


def test_many_rows_of_the_envelope_add_up_to_less_than_their_epsilons(place):
    book = Book.create(place, epsilon=2, delta=1e-6)
    for _ in range(3):
        synthesize(book, rows=9, method="envelope")
    least = book.totals()[0]
    assert (least.how, least.epsilon < 2) == ("zCDP", True)


def test_no_file_takes_the_place_of_a_book(run, tmp_path):
    place = str(tmp_path / "patients.eq")
    Book.create(place, epsilon=2)
    STAYS.write_csv(tmp_path / "stays.csv")
    data, out = str(tmp_path / "stays.csv"), str(tmp_path / "rows.csv")
    options = ["--bounds", "days", "0", "9", "--epsilon", "1", "--force", "--json"]
    charged = ["--rows", "2", "--method", "envelope", "--out", out, "--save", place, "--book", place]
    for more in (["synthesize", data, *charged], ["optimize", data, "--out", place]):
        status, _, err = run(*more, *options)
        assert (status, "is a book" in err) == (2, True), err
    with pytest.raises(BadInput, match="is a book"):
        synthesize(place, method="envelope", save=place, force=True)
    assert Book.open(place).entries == ()
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.parametrize("more", [["--save", "./rows.csv"], ["--publish-counts", "rows.eq"]], ids=str)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=str)
def test_one_name_for_two_files_is_refused_before_anything_is_charged(run, tmp_path, monkeypatch, more, force):
    monkeypatch.chdir(tmp_path)
    STAYS.write_csv("stays.csv")
    book = Book.create("patients.book", epsilon=2)
    options = ["--bounds", "days", "0", "9", "--epsilon", "1", "--rows", "9", "--book", "patients.book"]
    status, _, err = run("synthesize", "stays.csv", *options, "--out", "rows.csv", *more, *force)
    assert (status, "is named for two files" in err) == (2, True), err
    assert book.entries == ()
    assert not list(tmp_path.glob("rows*"))
