"""What has been released: every draw is charged here, durably, before it is made.

Each release carries a hash of itself and the one before, and the ledger the last of these, so that an edit by
hand does not go unnoticed. (It is no secret key: whoever owns the file can still copy it.)
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from equinoise.errors import BadInput, BudgetSpent

SCHEMA = """
CREATE TABLE releases (number INTEGER PRIMARY KEY, at TEXT NOT NULL, draws INTEGER NOT NULL, link TEXT NOT NULL);
CREATE TABLE ledger (spent INTEGER NOT NULL, link TEXT NOT NULL);
"""
WAIT_SECONDS = 60
OUTSIDE_CAUSES = ("database is locked", "readonly database", "unable to open", "disk is full", "disk I/O error")


@dataclass(frozen=True)
class Release:
    """One release: when, and how many draws."""

    at: str
    draws: int


def chain(digest: str, releases: Sequence[Release]) -> str:
    """The hash that ties these releases, in this order, to the mechanism with this digest."""
    link = digest
    for release in releases:
        link = hashlib.sha256(f"{link} {release.at} {release.draws}".encode()).hexdigest()
    return link


def insert(database: sqlite3.Connection, digest: str, releases: Sequence[Release]) -> None:
    """Fill a new file's ledger."""
    for number, release in enumerate(releases, 1):
        link = chain(digest, releases[:number])
        database.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", (number, release.at, release.draws, link))
    spent = sum(release.draws for release in releases)
    database.execute("INSERT INTO ledger VALUES (?, ?)", (spent, chain(digest, releases)))


def read(database: sqlite3.Connection, digest: str) -> tuple[Release, ...]:
    """The releases of a saved file, if they add up."""
    rows = database.execute("SELECT number, at, draws FROM releases ORDER BY number").fetchall()
    releases = tuple(Release(str(at), int(draws)) for _, at, draws in rows)
    heads = database.execute("SELECT spent, link FROM ledger").fetchall()
    spent = sum(release.draws for release in releases)
    numbers_run = [number for number, _, _ in rows] == list(range(1, len(rows) + 1))
    if not numbers_run or heads != [(spent, chain(digest, releases))]:
        raise BadInput("The file's ledger of releases has been changed by hand: nothing can be released from it.")
    return releases


class Ledger:
    """The draws that a mechanism may release and has released, in memory until its mechanism is saved."""

    def __init__(self, allowed: int, digest: str, path: Path | None = None) -> None:
        self.allowed = allowed
        self.digest = digest
        self.path = path
        self._unsaved: tuple[Release, ...] = ()

    @property
    def releases(self) -> tuple[Release, ...]:
        """Every release so far."""
        if self.path is None:
            return self._unsaved
        with connect(self.path) as database:
            self._check_same(database)
            return read(database, self.digest)

    @property
    def spent(self) -> int:
        """Draws released so far."""
        return sum(release.draws for release in self.releases)

    def bind(self, path: Path) -> None:
        """From now on, charge the saved file."""
        self.path = path

    def charge(self, draws: int) -> None:
        """Take ``draws`` off what is left, or refuse; on return the charge would survive a power cut."""
        release = Release(datetime.now(UTC).isoformat(timespec="seconds"), draws)
        if self.path is None:
            self._check_left(sum(r.draws for r in self._unsaved), draws)
            self._unsaved = (*self._unsaved, release)
            return
        with connect(self.path, to_write=True) as database:
            self._check_same(database)
            before = read(database, self.digest)
            self._check_left(sum(r.draws for r in before), draws)
            link = chain(self.digest, (*before, release))
            database.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", (len(before) + 1, release.at, draws, link))
            database.execute("UPDATE ledger SET spent = spent + ?, link = ?", (draws, link))
            database.execute("COMMIT")

    def _check_left(self, spent: int, draws: int) -> None:
        left = self.allowed - spent
        if draws > left:
            raise BudgetSpent(
                f"{draws:,} draw{'s were' if draws != 1 else ' was'} asked for, but only {left:,} of the "
                f"{self.allowed:,} allowed {'is' if left == 1 else 'are'} left. Nothing was released.",
                asked=draws, left=left, allowed=self.allowed,
            )  # fmt: skip

    def _check_same(self, database: sqlite3.Connection) -> None:
        if database.execute("SELECT value FROM mechanism WHERE key = 'digest'").fetchall() != [(self.digest,)]:
            raise BadInput(f"The file {str(self.path)!r} now holds another mechanism. Open it again.")


@contextmanager
def connect(path: Path, *, to_write: bool = False) -> Iterator[sqlite3.Connection]:
    """A saved file within one transaction, so that what is read belongs together however many others write.

    What SQLite says about a bad file becomes one sentence. A writer must commit.
    """
    if not path.exists():
        raise BadInput(f"There is no file {str(path)!r}.")
    if path.is_dir():
        raise BadInput(f"{str(path)!r} is a folder, not a saved mechanism.")
    database: sqlite3.Connection | None = None
    try:
        database = sqlite3.connect(
            path.absolute().as_uri() + "?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
        yield database
    except sqlite3.DatabaseError as error:
        said = next((cause for cause in OUTSIDE_CAUSES if cause in str(error)), None)
        if said is not None:
            raise BadInput(f"The file {str(path)!r} cannot be used now: {said}.") from None
        raise BadInput(f"The file {str(path)!r} is damaged, or is not a saved mechanism.") from None
    finally:
        if database is not None:
            database.close()
