"""What has been released: every draw is charged here, durably, before it is made.

Each release carries a hash of itself and the one before, and the ledger the last of these, so that an edit by
hand does not go unnoticed. (It is no secret key: whoever owns the file can still copy it.)
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock

from equinoise.errors import BadInput, BudgetSpent, check, is_whole

SCHEMA = """
CREATE TABLE mechanism (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE releases (number INTEGER PRIMARY KEY, at TEXT NOT NULL, draws INTEGER NOT NULL CHECK (draws > 0),
    link TEXT NOT NULL);
CREATE TABLE ledger (spent INTEGER NOT NULL, link TEXT NOT NULL);
"""
WAIT_SECONDS = 60
OUTSIDE_CAUSES = ("database is locked", "readonly database", "unable to open", "disk is full", "disk I/O error")


@dataclass(frozen=True)
class Release:
    """One release: when, and how many draws."""

    at: str
    draws: int


def next_link(link: str, release: Release) -> str:
    """The hash that ties a release to the one before; the first is tied to the mechanism's digest."""
    return hashlib.sha256(f"{link} {release.at} {release.draws}".encode()).hexdigest()


def insert(database: sqlite3.Connection, digest: str, releases: Sequence[Release]) -> None:
    """Fill a new file's ledger."""
    link = digest
    for number, release in enumerate(releases, 1):
        link = next_link(link, release)
        database.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", (number, release.at, release.draws, link))
    database.execute("INSERT INTO ledger VALUES (?, ?)", (sum(release.draws for release in releases), link))


@cache
def _known() -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA)
        return _schema(database)


def _schema(database: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()


def read(database: sqlite3.Connection, digest: str) -> tuple[Release, ...]:
    """The releases of a saved file, if they add up, and if nothing in the file could undo a charge."""
    if _schema(database) != _known():
        raise BadInput("The file's tables have been changed by hand: nothing can be released from it.")
    rows = database.execute("SELECT number, at, draws, link FROM releases ORDER BY number").fetchall()
    releases, link, sound = [], digest, True
    for expected, (number, at, draws, stored) in enumerate(rows, 1):
        sound &= number == expected and isinstance(at, str) and isinstance(draws, int) and draws > 0
        releases.append(Release(at, draws))
        link = next_link(link, releases[-1])
        sound &= link == stored
    heads = database.execute("SELECT spent, link FROM ledger").fetchall()
    if not sound or heads != [(sum(release.draws for release in releases), link)]:
        raise BadInput("The file's ledger of releases has been changed by hand: nothing can be released from it.")
    return tuple(releases)


class Ledger:
    """The draws that a mechanism may release and has released, in memory until its mechanism is saved."""

    def __init__(self, allowed: int, digest: str, path: Path | None = None) -> None:
        self.allowed = allowed
        self.digest = digest
        self.path = path.absolute() if path is not None else None
        self._lock = Lock()
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

    def save(self, path: Path, write: Callable[[tuple[Release, ...]], None]) -> None:
        """Let ``write`` save what is released so far to a file, and charge that from then on. None falls between."""
        with self._lock:
            if self.path is not None:
                raise BadInput(
                    f"This mechanism is saved as {str(self.path)!r} already. A second file would have a second ledger, "
                    "and the same draws could be released twice."
                )
            write(self._unsaved)
            self.path = path.absolute()

    def charge(self, draws: int) -> int:
        """Take ``draws`` off what is left, or refuse; on return the charge would survive a power cut.

        Returns how many draws are spent now.
        """
        check(is_whole(draws, 1, 2**53), "draws", "a whole number of at least 1", draws)
        release = Release(datetime.now(UTC).isoformat(timespec="seconds"), draws)
        with self._lock:  # it may be saved meanwhile
            if self.path is None:
                self._check_left(spent := sum(r.draws for r in self._unsaved), draws)
                self._unsaved = (*self._unsaved, release)
                return spent + draws
        with connect(self.path, to_write=True) as database:
            self._check_same(database)
            before = read(database, self.digest)
            self._check_left(spent := sum(r.draws for r in before), draws)
            ((link,),) = database.execute("SELECT link FROM ledger").fetchall()
            link = next_link(link, release)
            database.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", (len(before) + 1, release.at, draws, link))
            database.execute("UPDATE ledger SET spent = spent + ?, link = ?", (draws, link))
            database.execute("COMMIT")
        return spent + draws

    def _check_left(self, spent: int, draws: int) -> None:
        left = self.allowed - spent
        if draws > left:
            many = f"only {left:,}" if left else "none"
            raise BudgetSpent(
                f"{draws:,} draw{'s were' if draws != 1 else ' was'} asked for, but {many} of the {self.allowed:,} "
                f"allowed {'is' if left <= 1 else 'are'} left. Nothing was released.",
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
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        said = next((cause for cause in OUTSIDE_CAUSES if cause in str(error)), None)
        if said is not None:
            raise BadInput(f"The file {str(path)!r} cannot be used now: {said}.") from None
        raise BadInput(f"The file {str(path)!r} is damaged, or is not a saved mechanism.") from None
    finally:
        if database is not None:
            database.close()
