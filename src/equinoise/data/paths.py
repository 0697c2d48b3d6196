"""Which files a path means: one file, a folder of them or a pattern; all of one kind and with the same columns."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from equinoise.data.other_files import refuse_no_text, refuse_program_file
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import BadInput

PARQUET = {".parquet", ".pq"}


@dataclass(frozen=True)
class Files:
    """Files to read one after the other, in the order of their names. ``separator`` is there for text only, and the
    ``decimal`` mark if it was said."""

    paths: tuple[Path, ...]
    separator: str | None
    source: str
    decimal: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether these are text files."""
        return self.separator is not None


def find_files(path: Path, text: TextFormat = UNSAID) -> Files:
    """The files that a path means, text read as it was said to be; a clear error if they are not all of one kind."""
    if path.is_dir():
        paths, source = _in_folder(path), f"The data in {str(path)!r}"
    elif not path.exists() and glob.has_magic(str(path)):
        paths, source = _matching(path), f"The data in {str(path)!r}"
    else:
        paths, source = [path], f"The file {str(path)!r}"
    for file in paths:
        if not file.exists():
            raise BadInput(f"There is no file {str(file)!r}.")
        if not file.is_file():
            raise BadInput(f"{str(file)!r} is not an ordinary file. Save the rows to a file first.")
        if file.stat().st_size == 0:
            raise BadInput(f"The file {str(file)!r} is empty.")
    _refuse_twice(paths)
    kinds = {_kind(file, text): file for file in paths}
    if len(kinds) > 1:
        first, second = sorted(str(file) for file in kinds.values())[:2]
        raise BadInput(f"{source} is not all of one kind: there are {first!r} and {second!r}. Name one kind only.")
    (separator,) = kinds
    if separator is None:
        text.check_unsaid("with Parquet files, whose columns have types")
    return Files(tuple(paths), separator, source, text.decimal)


def _in_folder(folder: Path) -> list[Path]:
    """Everything in a folder but hidden files and marks such as ``_SUCCESS``; nothing that counts is passed over."""
    paths = sorted(p for p in folder.iterdir() if not p.name.startswith((".", "_")))
    if not paths:
        raise BadInput(f"The folder {str(folder)!r} is empty. Name a folder of CSV, TSV or Parquet files.")
    inner = next((p for p in paths if p.is_dir()), None)
    if inner is not None:
        raise BadInput(
            f"The folder {str(folder)!r} has a folder in it, {inner.name!r}, which would not be read. Name the files "
            f"with a pattern such as {str(folder / '**' / '*.parquet')!r}."
        )
    return paths


def _matching(pattern: Path) -> list[Path]:
    """What the pattern matches, each once; hidden files and marks are passed over as in a folder, unless it names
    them."""
    matches = {Path(name) for name in glob.glob(str(pattern), recursive=True)}
    paths = sorted(p for p in matches if not p.is_dir() and all(_meant(part, pattern) for part in p.parts))
    if not paths:
        raise BadInput(f"No file matches {str(pattern)!r}.")
    return paths


def _meant(part: str, pattern: Path) -> bool:
    return not part.startswith("_") or any(own.startswith("_") and fnmatch(part, own) for own in pattern.parts)


def _refuse_twice(paths: Sequence[Path]) -> None:
    """Refuse one file under two names: whoever is in it would be two people, who hide each other."""
    by_file: dict[tuple[int, int], Path] = {}
    for path in paths:
        about = path.stat()
        first = by_file.setdefault((about.st_dev, about.st_ino), path)
        if first is not path:
            raise BadInput(
                f"{str(first)!r} and {str(path)!r} are the same file, which would be counted twice. Remove one of them."
            )


def _kind(path: Path, text: TextFormat) -> str | None:
    """A file's separator, or None for Parquet."""
    if path.suffix.lower() in PARQUET:
        return None
    refuse_program_file(path)
    refuse_no_text(path)
    return text.separator_of(path)


def check_same(paths: Sequence[Path], columns: Sequence[list[str]]) -> None:
    """Refuse files whose columns, or the types of them, differ from the first one's."""
    for path, own in zip(paths, columns, strict=True):
        if own != columns[0]:
            extra = next((c for c in own if c not in columns[0]), None)
            lacking = next((c for c in columns[0] if c not in own), None)
            how = f"has {extra}" if extra else f"lacks {lacking}" if lacking else "has them in another order"
            raise BadInput(f"The files must have the same columns, but {str(path)!r} {how}, unlike {str(paths[0])!r}.")
