"""How a text file is written: what separates its fields, told or recognized from the header, and the decimal mark."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

from equinoise.choices import SEPARATOR_MARKS
from equinoise.errors import BadInput, check
from equinoise.settings import check_settings

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
"""What the endings of text files say."""

HEADER_BYTES = 2**16


@dataclass(frozen=True)
class TextFormat:
    """What was said of text files: the ``separator``, a mark or its name, and the ``decimal`` mark; None where nothing
    was. Then a file's ending and header tell the separator, and numbers must be plain."""

    separator: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        check_settings(vars(self))

    def check_unsaid(self, why: str) -> None:
        """Refuse what was said where there is no text to read."""
        for name, value in vars(self).items():
            check(value is None, name, f"left out {why}", value)

    def separator_of(self, path: Path) -> str:
        """The mark between the fields of a text file."""
        if self.separator is not None:
            return SEPARATOR_MARKS.get(self.separator, self.separator)
        suffix = path.suffix.lower()
        if suffix not in SEPARATORS:
            raise BadInput(
                f"{str(path)!r} must end in .csv, .tsv or .parquet, so that it is clear how to read it. For text with "
                "another ending, name what separates its fields with --separator (in Python, separator=)."
            )
        return _recognize(path, SEPARATORS[suffix])


UNSAID = TextFormat()


def _recognize(path: Path, usual: str) -> str:
    """The mark in the header, outside of quotes, if the usual one is not there: the header is public, and no row has a
    say. A header without any has one column."""
    with path.open("rb") as file:
        unquoted = re.sub(rb'"[^"]*("|$)', b"quoted", file.read(HEADER_BYTES).removeprefix(BOM_UTF8))
    header = unquoted.lstrip(b"\r\n").partition(b"\n")[0]
    found = {name: mark for name, mark in SEPARATOR_MARKS.items() if mark.encode() in header}
    if usual in found.values() or not found:
        return usual
    if len(found) > 1:
        raise BadInput(
            f"The header of {str(path)!r} has no {_name(usual)} in it, but several other marks that may separate its "
            f"fields. Name the one that does: --separator {' or --separator '.join(found)} (in Python, separator=)."
        )
    return next(iter(found.values()))


def _name(mark: str) -> str:
    return next(name for name, other in SEPARATOR_MARKS.items() if other == mark)
