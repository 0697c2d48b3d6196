"""The lines of a ledger, on files made by hand, and what can only be seen at the system call."""

import os
import stat

import pytest

from equinoise import BadInput, BudgetSpent
from equinoise.mechanisms import ledger as module
from equinoise.mechanisms.ledger import Ledger, Place, Release, heading, lines, next_link, state_folder

DIGEST, AT = "d" * 64, "2026-01-01T00:00:00+00:00"


@pytest.fixture(autouse=True)
def _own_notes(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUINOISE_STATE", str(tmp_path / "state"))


@pytest.fixture
def path(tmp_path):
    """A saved file of nothing but a heading; 100 draws are allowed."""
    path = tmp_path / "m.eq"
    path.write_text(heading(DIGEST, "a" * 32))
    return path


def ledger_of(path, allowed=100):
    return Ledger(allowed, DIGEST, Place(path, "a" * 32, len(heading(DIGEST, "a" * 32))))


def note():
    return state_folder() / "releases" / ("a" * 32)


def test_a_line_is_number_time_draws_and_link(path):
    ledger = ledger_of(path)
    assert [ledger.charge(draws) for draws in (3, 4)] == [3, 7]
    written = path.read_text().split("\n", 1)[1]
    begin = f"{DIGEST} {'a' * 32}"
    assert written == note().read_text() == lines(begin, ledger.releases)
    assert [line.split()[0] for line in written.splitlines()] == ["1", "2"]
    assert next_link(begin, Release(AT, 3)) != next_link(begin, Release(AT, 2))
    assert next_link(begin, Release(AT, 3)) != next_link(begin, Release(AT.replace("6", "7", 1), 3))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n2 ", "\n3 "),
        lambda text: text.replace("\n1 ", "\n7 "),
        lambda text: text.replace(" 4 ", " 1 "),
        lambda text: text[:-2] + ("0" if text[-2] != "0" else "1") + "\n",
        lambda text: text.replace("\n2 ", "\n2  "),
        lambda text: text + "3\n",
    ],
)
def test_a_line_that_was_changed_by_hand_is_refused(path, change):
    """Its number, too, which its link says nothing of."""
    ledger = ledger_of(path)
    ledger.charge(3)
    ledger.charge(4)
    path.write_text(change(path.read_text()))
    for use in (lambda: ledger.spent, lambda: ledger.charge(1)):
        with pytest.raises(BadInput, match="changed by hand"):
            use()


def test_the_last_draw_is_released_and_no_further_one(path):
    ledger = ledger_of(path, allowed=10)
    ledger.charge(7)
    with pytest.raises(BudgetSpent, match="only 3"):
        ledger.charge(4)
    assert ledger.charge(3) == 10
    with pytest.raises(BudgetSpent, match="none"):
        ledger.charge(1)


@pytest.mark.parametrize("draws", [0, -1, -100, 2**53 + 1, 1.5, True, None])
def test_what_is_no_number_of_draws_is_charged_nowhere(path, draws):
    for ledger in (Ledger(100, DIGEST), ledger_of(path)):
        with pytest.raises(BadInput, match="draws"):
            ledger.charge(draws)
        assert ledger.spent == 0


def test_a_whole_line_without_an_end_is_no_release_and_does_not_stay(path):
    ledger = ledger_of(path)
    ledger.charge(3)
    (release,) = ledger.releases
    before = path.read_text()
    path.write_text(before + lines(before.split()[-1], [release], 2).rstrip("\n"))
    assert ledger.spent == 3
    assert ledger.charge(5) == 8
    assert ledger_of(path).spent == 8


def test_a_system_that_writes_a_little_at_a_time_is_asked_again(path, monkeypatch):
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, content, at: pwrite(file, content[:7], at))
    assert [ledger_of(path).charge(draws) for draws in (3, 4)] == [3, 7]
    monkeypatch.undo()
    assert path.read_text().count("\n") == 3


def test_note_and_file_are_on_the_disk_with_the_notes_name_before_a_charge_is_over(path, monkeypatch):
    synced, fsync = [], os.fsync

    def record(file):
        status = os.fstat(file)
        synced.append((stat.S_ISDIR(status.st_mode), status.st_ino, status.st_size))
        fsync(file)

    monkeypatch.setattr(os, "fsync", record)
    ledger_of(path).charge(3)
    notes, file = note().stat(), path.stat()
    assert [one[:2] for one in synced] == [
        (False, notes.st_ino),
        (True, note().parent.stat().st_ino),
        (False, file.st_ino),
    ]
    assert [synced[0][2], synced[2][2]] == [notes.st_size, file.st_size]  # all of it was written before


def test_notes_are_their_owners_alone(path):
    ledger_of(path).charge(1)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (note(), note().parent)]
    assert modes == [0o600, 0o700]


def test_a_file_that_goes_while_others_are_waited_for_is_not_charged(path, monkeypatch):
    wait = module._wait_for

    def wait_and_remove(file, name, seconds):
        wait(file, name, seconds)
        name.unlink()

    monkeypatch.setattr(module, "_wait_for", wait_and_remove)
    with pytest.raises(BadInput, match="replaced or removed"):
        ledger_of(path).charge(1)


def test_another_mechanism_in_its_place_is_not_charged(path):
    ledger = ledger_of(path)
    path.write_text(heading("e" * 64, "a" * 32))
    with pytest.raises(BadInput, match="another mechanism"):
        ledger.charge(1)
    assert path.read_text() == heading("e" * 64, "a" * 32)


def test_a_lock_is_for_one_at_a_time(path):
    with module.locked(path), pytest.raises(BadInput, match="in use"), module.locked(path, seconds=0.02):
        pass


def test_the_longer_of_two_ledgers_counts_and_both_catch_up(path, tmp_path):
    older = tmp_path / "older.eq"
    older.write_text(path.read_text())
    ledger_of(path).charge(60)
    assert ledger_of(older).spent == 60
    with pytest.raises(BudgetSpent, match="only 40"):
        ledger_of(older).charge(41)
    assert ledger_of(older).charge(5) == 65
    assert older.read_text().startswith(path.read_text())
    note().write_text("")
    assert ledger_of(older).spent == 65
    assert ledger_of(path).spent == 60


def test_ledgers_that_part_are_refused(path):
    ledger_of(path).charge(3)
    note().write_text("")
    ledger_of(path).charge(4)
    begin = f"{DIGEST} {'a' * 32}"
    note().write_text(lines(begin, [Release(AT, 3), Release(AT, 9)]))
    for use in (lambda: ledger_of(path).spent, lambda: ledger_of(path).charge(1)):
        with pytest.raises(BadInput, match="is a copy"):
            use()


def test_what_is_saved_is_charged_there_with_all_that_was_before(path):
    ledger, kept = Ledger(100, DIGEST), []
    ledger.charge(3)

    def write(releases):
        kept.extend(releases)
        with path.open("a") as file:
            file.write(lines(f"{DIGEST} {'a' * 32}", releases))
        return Place(path, "a" * 32, len(heading(DIGEST, "a" * 32)))

    ledger.save(write)
    assert [release.draws for release in kept] == [3]
    assert ledger.charge(4) == 7 == ledger_of(path).spent
    with pytest.raises(BadInput, match="saved as"):
        ledger.save(write)
