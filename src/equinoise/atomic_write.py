"""Writing a file whole or not at all, and refusing early what could not be written."""

from __future__ import annotations

import glob
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from equinoise.errors import BadInput

FIRST_PAGE = 4096


def check_writable(path: Path, *sources: Path | None, force: bool, cost: str = "") -> None:
    """Refuse early, before any work or charge, what :func:`write_whole` would refuse late.

    ``sources`` (files, folders or patterns) are never written over, with ``force`` or without. What it would ``cost``
    to replace the file is said in a sentence.
    """
    read = [source for source in sources if source is not None]
    try:
        folder = path.absolute().parent.resolve()
        if any(source.is_dir() and source.resolve() == folder for source in read):
            raise BadInput(f"{str(path)!r} is in the folder being read. Write to another.")
        if any(_matches(path, folder, source) for source in read):
            raise BadInput(f"{str(path)!r} matches the pattern being read. Write to another folder.")
        if path.exists() and any(path.samefile(file) for source in read for file in _files(source)):
            raise BadInput(f"{str(path)!r} is the file being read. Name another to write.")
        if path.is_dir():
            raise BadInput(f"{str(path)!r} is a folder. Name a file to write.")
        if os.path.lexists(path) and not force:
            raise _exists(path, cost)
        _refuse_special(path)
        if not path.absolute().parent.is_dir():
            raise BadInput(f"There is no folder {str(path.absolute().parent)!r} to write {path.name!r} in.")
        probe = folder / f".{secrets.token_hex(8)}.part"
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink()
    except OSError as error:
        if any(str(source) == str(error.filename) for source in read):
            raise BadInput(f"The file {error.filename!r} cannot be read: {error.strerror or error}.") from None
        raise _cannot_write(path, error) from None


def _refuse_special(path: Path) -> None:
    """Nothing takes the place of a book, or of a device, a pipe or a link, such as /dev/null or /dev/stdout."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise BadInput(f"{str(path)!r} is not an ordinary file and is not replaced. Name another.")
    if _is_book(path):
        raise BadInput(f"{str(path)!r} is a book, and what was charged to a book is never forgotten. Name another.")


def _is_book(path: Path) -> bool:
    """Whether a file is a book, by its first page, where SQLite has the names of tables."""
    with suppress(OSError), path.open("rb") as file:
        page = file.read(FIRST_PAGE)
        return page.startswith(b"SQLite format 3\0") and b"equinoise_book" in page
    return False


def _files(source: Path) -> list[Path]:
    """The files that a path, if it is no folder, stands for."""
    return [source] if source.exists() else [Path(name) for name in glob.glob(str(source), recursive=True)]


def _matches(path: Path, folder: Path, pattern: Path) -> bool:
    """Whether a file of that name would be read, too, from then on."""
    if pattern.exists() or not fnmatch(path.name, pattern.name):
        return False
    return any(file.absolute().parent.resolve() == folder and file.name != path.name for file in _files(pattern))


def write_whole(path: Path, content: Iterable[bytes], *, mode: int, force: bool) -> None:
    """Write a file whole or not at all; if making the content fails, there is no file either."""
    with whole_file(path, mode=mode, force=force) as file:
        file.writelines(content)


@contextmanager
def whole_file(path: Path, *, mode: int, force: bool) -> Iterator[IO[bytes]]:
    """Write beside the target, make it durable, then give it its name in one step; clean up on failure.

    Where the file system can, it has no name until then: if the process is killed, nothing private stays behind.
    """
    folder = path.absolute().parent
    part = folder / f".{path.name[:64]}.{secrets.token_hex(8)}.part"
    try:
        unnamed = _open_unnamed(folder, mode)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode) if unnamed is None else unnamed
        try:
            with open(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if unnamed is not None:  # a second name for the open file; src_dir_fd lets the link be followed
                    first = part if force else path
                    os.link(_open_as(unnamed), first, src_dir_fd=unnamed, follow_symlinks=True)
            if force:
                _refuse_special(path)
                os.replace(part, path)
            elif unnamed is None:
                os.link(part, path)  # fails if something appeared there meanwhile
        finally:
            part.unlink(missing_ok=True)
        sync_folder(folder)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise _cannot_write(path, error) from None


def _open_unnamed(folder: Path, mode: int) -> int | None:
    """A file without a name in a folder, where the system and the file system have such."""
    try:
        handle = os.open(folder, os.O_WRONLY | os.O_TMPFILE, mode)
    except (AttributeError, OSError):
        return None
    if os.path.exists(_open_as(handle)):
        return handle
    os.close(handle)
    return None


def _open_as(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _exists(path: Path, cost: str = "") -> BadInput:
    sentence = f"The file {str(path)!r} exists. Name another, or replace it with --force (in Python, force=True)."
    return BadInput(f"{sentence} {cost}".rstrip())


def _cannot_write(path: Path, error: OSError) -> BadInput:
    return BadInput(f"The file {str(path)!r} cannot be written: {error.strerror or error}.")


def sync_folder(folder: Path) -> None:
    """Make the new name durable too, where the file system can; the file itself is there either way."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
