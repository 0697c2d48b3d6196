"""Numbers, names and lists as people read them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context


def at_most(value: float) -> str:
    """A number in three digits, rounded up: what is said to be an upper bound must be one. A number that six digits
    tell exactly, as people write them, stays as it is."""
    if not math.isfinite(value) or float(f"{value:g}") == value:
        return f"{value:g}"
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(value)):g}"


def format_number(value: float) -> str:
    """A number as people read it, with all its digits if six do not tell it."""
    return short if float(short := f"{value:g}") == value else repr(float(value))


def three_digits(value: float) -> str:
    """A number in three digits, without powers of ten where people do without."""
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e12 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share in three digits and few letters."""
    if share == 0:
        return "0 %"
    return "<0.01 %" if share < 0.0001 else f"{100 * share:.3g} %"


def printable(text: str) -> str:
    """A name from outside on one line, with every letter to be seen: none breaks a line, or turns what follows."""
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in text)


def shell_quote(words: Iterable[str]) -> str:
    """Words as a shell reads them; a letter that cannot be seen is spelled out ($'...', as bash and zsh have it)."""
    return " ".join(shlex.quote(word) if word.isprintable() else _spelled(word) for word in words)


def _spelled(word: str) -> str:
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    parts = (letter if letter.isprintable() else _code(ord(letter)) for letter in plain)
    return f"$'{''.join(parts)}'"


def _code(number: int) -> str:
    """Always as many digits as there can be, so that a digit after them is not taken for one of them."""
    return f"\\x{number:02x}" if number < 0x80 else f"\\U{number:08x}"


def shorten(text: str, most: int = 60) -> str:
    """A long text cut in the middle."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-(most // 2) :]}"


def join_or(names: Iterable[str]) -> str:
    """Names as a choice: 'a', 'b' or 'c'."""
    return _joined(map(repr, names), "or")


def join_and(words: Iterable[str]) -> str:
    """Words as a list: a, b and c."""
    return _joined(words, "and")


def _joined(words: Iterable[str], by: str) -> str:
    *most, last = words
    return f"{', '.join(most)} {by} {last}" if most else last
