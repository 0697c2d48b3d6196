"""TOML as text: how keys and values are written, how a file is read, and on which line of it every key stands.

Python reads TOML and writes none, and does not say where it found a key. What is here is small because a schema is:
the lines are looked for after the text was read, so that it is known to be TOML.
"""

from __future__ import annotations

import re
import tomllib
from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput

MOST_BYTES = 10**7
LONGEST_LINE = 100

Keys = tuple[str, ...]
Lines = dict[Keys, int]
"""The line on which a key, from the outermost table on, first stands."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SPACE = re.compile(r"[ \t]*")
STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}'  # over several lines; up to two quotes may be before those that end it
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'',
    re.DOTALL,
)
PLAIN = re.compile(r"[^,\]}#\n]*")
"""A number, a date or a truth value."""


def key_text(key: str) -> str:
    """A key as TOML has it, in quotes where it needs them."""
    return key if BARE.fullmatch(key) else _quoted(key)


def dotted(keys: Sequence[str]) -> str:
    """A key within tables, as TOML has it: ``columns.age.step``."""
    return ".".join(map(key_text, keys))


def value_text(value: Any) -> str:
    """A value as TOML has it: text, a number, a truth value, a date, or a list of them."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_text, value))}]"
    return value.isoformat() if isinstance(value, date) else repr(value)


def line_text(key: str, value: Any) -> str:
    """A key and its value; a list that is too long for a line has one for each of its values."""
    line = f"{key_text(key)} = {value_text(value)}"
    if len(line) <= LONGEST_LINE or not isinstance(value, list | tuple):
        return line
    return "\n".join([f"{key_text(key)} = [", *(f"    {value_text(item)}," for item in value), "]"])


def _quoted(text: str) -> str:
    """Text in quotes, with every letter to be seen."""
    return f'"{"".join(ESCAPES.get(letter) or _visible(letter) for letter in text)}"'


def _visible(letter: str) -> str:
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04X}" if ord(letter) < 2**16 else f"\\U{ord(letter):08X}"


def read_toml(path: Path) -> tuple[dict[str, Any], Lines]:
    """What a file says, and the lines of its keys; a clear error if it is not TOML."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{str(path)!r} is not an ordinary file. Name a TOML file.")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise BadInput(f"The file {str(path)!r} is not UTF-8 text. Save it as UTF-8 and try again.") from None
    except OSError as error:
        raise BadInput(f"The file {str(path)!r} cannot be read: {error.strerror or error}.") from None
    if len(content) > MOST_BYTES:
        raise BadInput(f"The file {str(path)!r} is too long for a schema.")
    try:
        return tomllib.loads(text), lines_of(text)
    except RecursionError:
        raise BadInput(f"{path}: is not a schema: it has lists within lists within lists.") from None
    except tomllib.TOMLDecodeError as error:
        raise _no_toml(path, text, str(error)) from None
    except ValueError:
        raise BadInput(f"{path}: has a number of more than 4,300 digits. No column has such.") from None


def _no_toml(path: Path, text: str, said: str) -> BadInput:
    """The error for text that is not TOML, with the line."""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", said)
    line = f", line {found[1] or text.rstrip().count(chr(10)) + 1}" if found else ""
    why = said[: found.start()] if found else said
    hint = " Text needs quotes." if why == "Invalid value" else ""
    table = re.fullmatch(r"Cannot declare (\(.*\)) twice", why)
    if table is not None:
        why = f"Cannot declare {dotted(literal_eval(table[1]))} twice"
    return BadInput(f"{path}{line}: is not TOML: {why[:1].lower()}{why[1:120].rstrip('.')}.{hint}")


def lines_of(text: str) -> Lines:
    """The line of every key of a text that is TOML. Where it cannot be told, keys are left out."""
    scanner = _Scanner(text)
    with suppress(IndexError, ValueError, RecursionError):  # not as simple as a schema is
        scanner.document()
    return scanner.lines


class _Scanner:
    """Goes through a text that is TOML, from key to key."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.lines: Lines = {}
        self._line, self._counted = 1, 0

    def document(self) -> None:
        """Tables and keys, to the end."""
        table: Keys = ()
        self._skip(BLANK)
        while self.place < len(self.text):
            if self._at("["):
                many = self._at("[[")
                self.place += 1 + many
                table = self._key(())
                self.place += 1 + many
            else:
                self._pair(table)
            self._skip(BLANK)

    def _pair(self, table: Keys) -> None:
        keys = self._key(table)
        self.place += 1  # the equals sign
        self._value(keys)

    def _key(self, table: Keys) -> Keys:
        """The keys of a dotted key within a table, each noted with its line, up to what follows them."""
        keys = table
        while True:
            self._skip(SPACE)
            if self._at('"') or self._at("'"):
                part = str(tomllib.loads(f"key = {self._take(STRING)}")["key"])
            else:
                part = self._take(BARE)
            keys = (*keys, part)
            self.lines.setdefault(keys, self._line_here())
            self._skip(SPACE)
            if not self._at("."):
                return keys
            self.place += 1

    def _value(self, keys: Keys) -> None:
        """Past a value; the keys of a table within braces are noted, too."""
        self._skip(SPACE)
        if self._at("[") or self._at("{"):
            inner, end = (self._value, "]") if self._at("[") else (self._pair, "}")
            self.place += 1
            self._skip(BLANK)
            while not self._at(end):
                if self.place >= len(self.text):
                    raise IndexError
                inner(keys)
                self._skip(BLANK)
                self.place += self._at(",")
                self._skip(BLANK)
            self.place += 1
        else:
            self._take(STRING if self._at('"') or self._at("'") else PLAIN)

    def _at(self, mark: str) -> bool:
        return self.text.startswith(mark, self.place)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        self._take(pattern)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.place)
        if found is None:
            raise ValueError
        self.place = found.end()
        return found[0]

    def _line_here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line
