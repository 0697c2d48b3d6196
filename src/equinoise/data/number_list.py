"""A short list of numbers in a text file, such as where people are expected."""

from __future__ import annotations

from pathlib import Path

from equinoise.errors import BadInput

MOST_CHARACTERS = 10**6


def read_numbers(path: Path) -> list[float]:
    """Numbers separated by commas, semicolons or white space; a first line that is no number is a heading."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{str(path)!r} is not an ordinary file.")
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text"
        raise BadInput(f"The file {str(path)!r} cannot be read: {reason}.") from None
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"The file {str(path)!r} is too long for a list of numbers.")
    lines = text.lstrip("\ufeff").replace(",", " ").replace(";", " ").splitlines()
    if lines and any(letter.isalpha() for letter in lines[0]) and not any(map(_is_number, lines[0].split())):
        lines = lines[1:]
    words = " ".join(lines).split()
    bad = next((word for word in words if not _is_number(word)), None)
    if bad is not None or not words:
        problem = f"has {bad[:40]!r} in it" if bad is not None else "has no number in it"
        raise BadInput(f"The file {str(path)!r} {problem}: it must hold numbers, separated by commas or lines.")
    return [float(word) for word in words]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
