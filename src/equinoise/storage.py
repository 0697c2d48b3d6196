"""The saved file: one SQLite database with the mechanism, which never changes, and its ledger.

It holds the histogram, so it is as secret as the data and only its owner may read it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from equinoise import ledger
from equinoise.documents import DOCUMENT, AnyDocument, ProfileDocument
from equinoise.errors import BadInput
from equinoise.files import BESIDE, write_whole
from equinoise.grid import Ints

APPLICATION_ID = 0x45514E53
FORMAT = 1


def digest_of(document: str, weights: bytes) -> str:
    """What the ledger and a reader recognize a mechanism by."""
    return hashlib.sha256(document.encode() + b"\0" + weights).hexdigest()


def write(path: Path, document: str, weights: Ints, releases: tuple[ledger.Release, ...], *, force: bool) -> None:
    """Write a new saved file, whole or not at all, readable by its owner alone."""
    _settle_journal(path, force=force)
    blob = _pack(weights)
    digest = digest_of(document, blob)
    database = sqlite3.connect(":memory:", isolation_level=None)
    try:
        database.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};" + ledger.SCHEMA
        )
        database.executemany(
            "INSERT INTO mechanism VALUES (?, ?)",
            [("document", document), ("weights", zlib.compress(blob, 9)), ("digest", digest)],
        )
        ledger.insert(database, digest, releases)
        content = database.serialize()
    finally:
        database.close()
    write_whole(path, [content], mode=0o600, force=force)


def read(path: Path) -> tuple[AnyDocument, Ints, str]:
    """The document, the weights and the digest of a saved file, checked as far as can be without maths."""
    with ledger.connect(path) as database:
        if database.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise BadInput(f"The file {str(path)!r} was not saved by Equinoise.")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if FORMAT < version < 1000:
            raise BadInput(
                f"The file {str(path)!r} has format {version}; this version of Equinoise reads format {FORMAT}. "
                "Upgrade Equinoise."
            )
        if version != FORMAT:
            raise BadInput(f"The file {str(path)!r} is damaged: it has no format.")
        stored = dict(database.execute("SELECT key, value FROM mechanism").fetchall())
        try:
            text, digest = str(stored["document"]), str(stored["digest"])
            blob = zlib.decompress(stored["weights"])
        except (KeyError, TypeError, zlib.error):
            raise BadInput(f"The file {str(path)!r} is damaged: parts of the mechanism are missing.") from None
        if digest_of(text, blob) != digest:
            raise BadInput(f"The file {str(path)!r} is damaged or has been changed: its digest does not match.")
        try:
            document = DOCUMENT.validate_json(text)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "document"
            raise BadInput(f"The file {str(path)!r} is damaged: {where} is not as it should be.") from None
        groups = len(document.people) if isinstance(document, ProfileDocument) else 0
        bins = sum(axis.bins for axis in document.axes)
        if len(blob) != 8 * groups * bins:
            raise BadInput(f"The file {str(path)!r} is damaged: its weights are not as they should be.")
        if sum(release.draws for release in ledger.read(database, digest)) > document.draws:
            raise BadInput(f"The file {str(path)!r} has been changed: more was released than it allows.")
        return document, np.frombuffer(blob, dtype="<i8").reshape(groups, bins), digest


def _settle_journal(path: Path, *, force: bool) -> None:
    """A journal that an interrupted release left behind would be played into a new file of the same name."""
    left_over = [p for p in (path.with_name(path.name + end) for end in BESIDE) if p.exists()]
    if left_over and not force:
        raise BadInput(
            f"The file {str(left_over[0])!r} is left over from an interrupted release of another mechanism. "
            "Name another file, or replace it with --force (in Python, force=True)."
        )
    if left_over and path.exists():
        with suppress(BadInput), ledger.connect(path, to_write=True):
            pass  # opening it finishes or undoes the interrupted release
    for journal in left_over:
        journal.unlink(missing_ok=True)


def pack_digest(document: str, weights: Ints) -> str:
    """The digest that a mechanism will have once saved."""
    return digest_of(document, _pack(weights))


def _pack(weights: Ints) -> bytes:
    return weights.astype("<i8").tobytes()
