"""The saved file: lines of text with the mechanism, which never change, and then its ledger, which grows.

It holds the histogram, so it is as secret as the data and only its owner may read it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from equinoise.atomic_write import write_whole
from equinoise.data.grid import Ints
from equinoise.errors import BadInput
from equinoise.mechanisms import ledger
from equinoise.mechanisms.game_document import PerInstanceDocument
from equinoise.mechanisms.ledger import FORMAT
from equinoise.mechanisms.private_documents import CountsDocument, EnvelopeDocument, ModelDocument

AnyDocument = PerInstanceDocument | EnvelopeDocument | CountsDocument | ModelDocument

DOCUMENT: TypeAdapter[AnyDocument] = TypeAdapter(Annotated[AnyDocument, Field(discriminator="method")])
"""Reads any of them."""

_HEADING = re.compile(rf"equinoise {FORMAT} ([0-9a-f]{{64}}) ([0-9a-f]{{32}})")
_LONGEST_HEADING = 200
SECONDS_TO_REPLACE = 1


@dataclass(frozen=True)
class Saved:
    """What a saved file holds, checked as far as can be without maths."""

    document: AnyDocument
    weights: Ints
    digest: str
    place: ledger.Place


def digest_of(document: str, weights: bytes) -> str:
    """What the ledger and a reader recognize a mechanism by."""
    return hashlib.sha256(document.encode() + b"\0" + weights).hexdigest()


def write(
    path: Path, document: str, weights: Ints, releases: tuple[ledger.Release, ...], *, force: bool
) -> ledger.Place:
    """Write a new saved file, whole or not at all, readable by its owner alone; gives the place of its ledger."""
    blob = _pack(weights)
    digest, identity = digest_of(document, blob), secrets.token_hex(16)
    packed = base64.b64encode(zlib.compress(blob, 9)).decode()
    mechanism = f"{ledger.heading(digest, identity)}{document}\n{packed}\n".encode()
    content = mechanism + ledger.lines(f"{digest} {identity}", releases).encode()
    with free(path) if force else nullcontext():
        write_whole(path, [content], mode=0o600, force=force)
    return ledger.Place(path.absolute(), identity, len(mechanism))


@contextmanager
def charged(path: Path, what: str, *, force: bool) -> Iterator[None]:
    """A file that says, durably, what is paid for a mechanism which is about to be made and saved there.

    If making it fails, nothing was released, and what was there before is there again. If the process is stopped
    meanwhile, the file stays and tells.
    """
    before = path.read_bytes() if force and path.is_file() else None
    write_whole(path, [f"equinoise {FORMAT} charged\n{what}\n".encode()], mode=0o600, force=force)
    try:
        yield
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            write_whole(path, [before], mode=0o600, force=True)
        raise


@contextmanager
def free(path: Path) -> Iterator[None]:
    """A file that is to be replaced, while nobody draws from it; refused if somebody does."""
    if not path.is_file():
        yield
        return
    with ledger.locked(path, seconds=SECONDS_TO_REPLACE):
        yield


def read(path: Path) -> Saved:
    """A saved file, refused unless it is whole and nothing in it was changed."""
    lines = _mechanism_lines(path)
    heading, text, packed, rest = lines
    found = _HEADING.fullmatch(heading)
    if found is None:
        raise BadInput(f"The file {str(path)!r} is damaged: its first line is not as it should be.")
    digest, identity = found[1], found[2]
    try:
        blob = zlib.decompress(base64.b64decode(packed, validate=True))
    except (ValueError, zlib.error):
        raise BadInput(f"The file {str(path)!r} is damaged: parts of the mechanism are missing.") from None
    if digest_of(text, blob) != digest:
        raise BadInput(f"The file {str(path)!r} is damaged or has been changed: its digest does not match.")
    try:
        document = DOCUMENT.validate_json(text)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "document"
        raise BadInput(f"The file {str(path)!r} is damaged: {where} is not as it should be.") from None
    rows, bins = document.weight_shape
    if len(blob) != 8 * rows * bins:
        raise BadInput(f"The file {str(path)!r} is damaged: its weights are not as they should be.")
    spent = sum(release.draws for release in ledger.parse(rest, f"{digest} {identity}"))
    if document.draws is not None and spent > document.draws:
        raise BadInput(f"The file {str(path)!r} has been changed: more was released than it allows.")
    start = sum(len(line.encode()) + 1 for line in lines[:3])
    place = ledger.Place(path.absolute(), identity, start)
    return Saved(document, np.frombuffer(blob, dtype="<i8").reshape(rows, bins), digest, place)


def _mechanism_lines(path: Path) -> list[str]:
    """The first line, the document, the weights, and all the rest."""
    if path.is_dir():
        raise BadInput(f"{str(path)!r} is a folder, not a saved mechanism.")
    try:
        with path.open("rb") as file:
            _check_format(path, file.readline(_LONGEST_HEADING))
            file.seek(0)
            lines = file.read().decode().split("\n", 3)
    except FileNotFoundError:
        raise BadInput(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        raise BadInput(f"The file {str(path)!r} cannot be used now: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"The file {str(path)!r} is damaged.") from None
    if len(lines) < 4:
        raise BadInput(f"The file {str(path)!r} is damaged: parts of the mechanism are missing.")
    return lines


def _check_format(path: Path, heading: bytes) -> None:
    """Refuse files of other kinds and formats, by their first line."""
    if heading.startswith(b"SQLite format 3\0"):
        raise BadInput(
            f"The file {str(path)!r} has format 1, or is a database; this version of Equinoise reads format {FORMAT}. "
            "Make the mechanism again."
        )
    if re.match(rb"equinoise \d{1,9} charged\n", heading):
        raise BadInput(
            f"The file {str(path)!r} says that a mechanism was paid for which is not there: it is being made, or the "
            "process that made it was stopped. Nothing can be released from it; make it again with --force."
        )
    known = re.match(rb"equinoise (\d{1,9}) ", heading)
    if known is None:
        raise BadInput(f"The file {str(path)!r} was not saved by Equinoise.")
    if int(known[1]) != FORMAT:
        remedy = "Upgrade Equinoise" if int(known[1]) > FORMAT else "Make the mechanism again"
        raise BadInput(
            f"The file {str(path)!r} has format {int(known[1])}; this version of Equinoise reads format {FORMAT}. "
            f"{remedy}."
        )


def pack_digest(document: str, weights: Ints) -> str:
    """The digest that a mechanism will have once saved."""
    return digest_of(document, _pack(weights))


def _pack(weights: Ints) -> bytes:
    return weights.astype("<i8").tobytes()
