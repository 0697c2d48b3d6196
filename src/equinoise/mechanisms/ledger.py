"""What has been released: every draw is charged here, durably, before it is made.

A saved file ends in its releases, one line each, and a charge appends a line to it: there is no other file that a
crash could leave behind and a rename could part from it, and whatever names the file has, it is one file. Every line
carries a hash of itself and the line before, so that an edit by hand does not go unnoticed.

A copy of the file has a ledger of its own. So every release is also noted on this computer, in the user's state folder,
under the random identity that the file got when it was saved: of two ledgers with the same identity the longer one
counts, and an older copy catches up with it. Copies that left this computer are beyond that.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from equinoise.atomic_write import sync_folder
from equinoise.errors import BadInput, BudgetSpent, check, is_whole

FORMAT = 7
"""Of saved files; others are refused."""

LOCK_SECONDS = 10
"""How long to wait for other processes that charge the same file; each takes some milliseconds."""

_LINE = re.compile(r"([1-9]\d{0,17}) (\S{1,40}) ([1-9]\d{0,17}) ([0-9a-f]{64})")


@dataclass(frozen=True)
class Release:
    """One release: when, and how many draws."""

    at: str
    draws: int


def next_link(link: str, release: Release) -> str:
    """The hash that ties a release to the one before; the first is tied to the mechanism's digest and identity."""
    return hashlib.sha256(f"{link} {release.at} {release.draws}".encode()).hexdigest()


def lines(link: str, releases: Sequence[Release], first: int = 1) -> str:
    """Releases as a ledger has them: number, time, draws and link, a line each."""
    written = []
    for number, release in enumerate(releases, first):
        link = next_link(link, release)
        written.append(f"{number} {release.at} {release.draws} {link}\n")
    return "".join(written)


def parse(text: str, link: str) -> tuple[Release, ...]:
    """The releases of a ledger, if they add up.

    A last line without an end was being written when its process was stopped: nothing was released for it.
    """
    releases: list[Release] = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        found = _LINE.fullmatch(line)
        release = Release(found[2], int(found[3])) if found else None
        link = "" if release is None else next_link(link, release)
        if found is None or release is None or int(found[1]) != number or found[4] != link:
            raise BadInput("The file's ledger of releases has been changed by hand: nothing can be released from it.")
        releases.append(release)
    return tuple(releases)


@dataclass(frozen=True)
class Place:
    """Where the ledger of a saved mechanism is: its file and the length in bytes of what comes before the releases."""

    path: Path
    identity: str
    start: int


class Ledger:
    """The draws that a mechanism may release (None is any number) and has released, in memory until it is saved."""

    def __init__(self, allowed: int | None, digest: str, place: Place | None = None) -> None:
        self.allowed = allowed
        self.digest = digest
        self._place = place
        self._lock = Lock()
        self._process = os.getpid()
        self._unsaved: tuple[Release, ...] = ()

    @property
    def path(self) -> Path | None:
        """The saved file, if there is one."""
        return None if self._place is None else self._place.path

    @property
    def releases(self) -> tuple[Release, ...]:
        """Every release so far."""
        if self._place is None:
            return self._unsaved
        with _opened(self._place.path, os.O_RDONLY) as file:
            here = self._read(file)
        noted = _noted(self._place.identity)
        if not noted.exists():
            return here
        with _opened(noted, os.O_RDONLY) as file:
            return self._longer(here, _whole(file, 0, self._begin))

    @property
    def spent(self) -> int:
        """Draws released so far."""
        return sum(release.draws for release in self.releases)

    def save(self, write: Callable[[tuple[Release, ...]], Place]) -> None:
        """Let ``write`` save what is released so far to a file, and charge that from then on. None falls between."""
        self._refuse_fork()
        with self._lock:
            if self._place is not None:
                raise BadInput(
                    f"This mechanism is saved as {str(self.path)!r} already. A second file would have a second ledger, "
                    "and the same draws could be released twice."
                )
            self._place = write(self._unsaved)

    def charge(self, draws: int) -> int:
        """Take ``draws`` off what is left, or refuse; on return the charge would survive a power cut.

        Returns how many draws are spent now.
        """
        check(is_whole(draws, 1, 2**53), "draws", "a whole number of at least 1", draws)
        release = Release(datetime.now(UTC).isoformat(timespec="seconds"), int(draws))
        if self._place is None:
            self._refuse_fork()
            with self._lock:
                if self._place is None:  # it may have been saved meanwhile
                    self._unsaved = self._with(self._unsaved, release)
                    return sum(each.draws for each in self._unsaved)
        noted = _noted(self._place.identity, make=True)
        with locked(noted, create=True) as note, locked(self._place.path) as file:
            here, there = self._read(file), _whole(note, 0, self._begin)
            after = self._with(self._longer(here, there), release)
            _append(note, 0, there, after, self._begin)
            if not there:
                sync_folder(noted.parent)  # the name of the note, too, must survive a power cut
            _append(file, self._place.start, here, after, self._begin)
        return sum(each.draws for each in after)

    @property
    def _begin(self) -> str:
        """What the first release is tied to."""
        assert self._place is not None
        return f"{self.digest} {self._place.identity}"

    def _read(self, file: int) -> tuple[Release, ...]:
        """The releases in the saved file, if it still holds this mechanism."""
        assert self._place is not None
        head = heading(self.digest, self._place.identity).encode()
        if os.pread(file, len(head), 0) != head:
            raise BadInput(f"The file {str(self.path)!r} now holds another mechanism. Open it again.")
        return _whole(file, self._place.start, self._begin)

    def _longer(self, here: tuple[Release, ...], noted: tuple[Release, ...]) -> tuple[Release, ...]:
        """Of two ledgers the longer one, if it goes on where the other ends."""
        shared = min(len(here), len(noted))
        if here[:shared] != noted[:shared]:
            raise BadInput(
                f"The file {str(self.path)!r} is a copy, and draws were released from it and from another copy of it: "
                "its ledger does not tell them all. Nothing can be released from it; make a new mechanism."
            )
        return max(here, noted, key=len)

    def _with(self, before: tuple[Release, ...], release: Release) -> tuple[Release, ...]:
        """The releases so far and one more, if that many draws are left."""
        if self.allowed is None:
            return (*before, release)
        left = self.allowed - sum(each.draws for each in before)
        if release.draws > left:
            many = f"only {left:,}" if left else "none"
            raise BudgetSpent(
                f"{release.draws:,} draw{'s were' if release.draws != 1 else ' was'} asked for, but {many} of the "
                f"{self.allowed:,} allowed {'is' if left <= 1 else 'are'} left. Nothing was released.",
                asked=release.draws, left=left, allowed=self.allowed,
            )  # fmt: skip
        return (*before, release)

    def _refuse_fork(self) -> None:
        """Each copy that a fork makes would count its own draws, and none the other's."""
        if os.getpid() != self._process:
            raise BadInput(
                "This mechanism was made by another process, which counts its draws. Save it there, and open the file "
                "in every process that draws."
            )


def heading(digest: str, identity: str) -> str:
    """The first line of a saved file."""
    return f"equinoise {FORMAT} {digest} {identity}\n"


def _whole(file: int, start: int, link: str) -> tuple[Release, ...]:
    """The releases from a place in a file on."""
    return parse(_rest(file, start).decode("utf-8", "replace"), link)


def _rest(file: int, start: int) -> bytes:
    parts = []
    while part := os.pread(file, 2**20, start):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _append(file: int, start: int, before: Sequence[Release], after: Sequence[Release], link: str) -> None:
    """Let a ledger that ends with ``before`` end with ``after``, and make that durable."""
    for release in before:
        link = next_link(link, release)
    added = lines(link, after[len(before) :], len(before) + 1).encode()
    end = start + _rest(file, start).rfind(b"\n") + 1
    os.ftruncate(file, end)  # an unfinished line is no release, and must not become the beginning of one
    while added:
        written = os.pwrite(file, added, end)
        added, end = added[written:], end + written
    os.fsync(file)


@contextmanager
def locked(path: Path, *, create: bool = False, seconds: float = LOCK_SECONDS) -> Iterator[int]:
    """A file opened to be changed, with no other process between. The lock is the file's, whatever it is called."""
    with _opened(path, os.O_RDWR | (os.O_CREAT if create else 0)) as file:
        _wait_for(file, path, seconds)
        if os.fstat(file).st_nlink == 0:
            raise BadInput(f"The file {str(path)!r} was replaced or removed meanwhile. Open it again.")
        yield file


def _wait_for(file: int, path: Path, seconds: float) -> None:
    try:
        import fcntl
    except ImportError:
        raise BadInput(
            "Saved files can be released from on Linux and macOS: other systems have no such locks."
        ) from None
    until = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise BadInput(f"The file {str(path)!r} is in use by another process. Try again later.") from None
            time.sleep(0.005)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """A file that is there; what the system says of it becomes one sentence."""
    if path.is_dir():
        raise BadInput(f"{str(path)!r} is a folder, not a saved mechanism.")
    try:
        file = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            yield file
        finally:
            os.close(file)
    except FileNotFoundError:
        raise BadInput(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        raise BadInput(f"The file {str(path)!r} cannot be used now: {error.strerror or error}.") from None


def _noted(identity: str, *, make: bool = False) -> Path:
    """Where this computer notes the releases of the saved file with that identity."""
    folder = state_folder() / "releases"
    if make and not folder.is_dir():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"Releases are also noted in {str(folder)!r}, so that an older copy of a file is recognized, and that "
                f"folder cannot be made: {error.strerror or error}. Name another with EQUINOISE_STATE."
            ) from None
    return folder / identity


def state_folder() -> Path:
    """The folder for what this computer remembers: EQUINOISE_STATE, or the user's own."""
    if named := os.environ.get("EQUINOISE_STATE"):
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(base) / "equinoise" if base else Path.home() / ".local" / "state" / "equinoise"
    except RuntimeError:
        raise BadInput(
            "Releases are noted in a folder of the user's, and this user has none. Name one with EQUINOISE_STATE."
        ) from None
