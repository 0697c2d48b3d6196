"""Numbers as people write them: the decimal mark, the marks between thousands, and what else may stand beside them.

Nothing is guessed. Where the decimal mark is not said, a number is plain: digits with a point at most. Once it is said,
marks may stand between thousands, if the groups are right; what has them otherwise is text, and refused.
"""

from __future__ import annotations

import re

import polars as pl

from equinoise.formatting import format_number

DECIMALS = (".", ",")
BLANKS = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"

LIMIT = re.compile(r"[<>\u2264\u2265]")
NUMBER = rf"[+-]?[0-9.,{BLANKS}{APOSTROPHES}]*[0-9]"
PERCENT = re.compile(rf"{NUMBER}\s*[%\u2030]|[%\u2030]\s*{NUMBER}")
CURRENCY = r"[$\u00a3\u00a5\u20a0-\u20c0]"
UNIT = re.compile(rf"{NUMBER}\s*(?:{CURRENCY}|[^\W\d_][^\s\d]{{0,11}})|(?:{CURRENCY}|[A-Z]{{3}})\s*{NUMBER}")
DASHES = {"-", "--", "\u2013", "\u2014"}


def to_number(raw: pl.Expr, decimal: str | None = None, separator: str = ",") -> pl.Expr:
    """Text, without blanks around it, as 64-bit floats; null where it is no number.

    Programs put semicolons between fields where people write decimal commas, and points between thousands: there 1.234
    may be either, whoever named the semicolon. So a point is no number in such a file until the decimal mark is said.
    """
    if decimal is None:
        plain = pl.when(~raw.str.contains(".", literal=True)).then(raw) if separator == ";" else raw
        return plain.cast(pl.Float64, strict=False)
    between = f"{_other(decimal)}{BLANKS}{APOSTROPHES}"
    grouped = raw.str.contains(_groups(decimal))
    plain = pl.when(grouped).then(raw.str.replace_all(f"[{between}]", "")).otherwise(raw)
    if decimal == ",":
        pointless = grouped | ~raw.str.contains(".", literal=True)
        plain = pl.when(pointless).then(plain.str.replace(",", ".", literal=True))
    return plain.cast(pl.Float64, strict=False)


def are_numbers(texts: pl.Series) -> bool:
    """Whether all of some texts are numbers, with one decimal mark or the other."""
    found = (pl.select(to_number(pl.lit(texts), mark)).to_series() for mark in DECIMALS)
    return any(not numbers.is_null().any() for numbers in found)


def _groups(decimal: str) -> str:
    """The pattern of a number with one kind of mark between its thousands: one to three digits, then always three. A
    zero in front is no thousand: 0,123 has a decimal comma, whatever was said."""
    kinds = (_other(decimal), BLANKS, APOSTROPHES)
    grouped = "|".join(f"[1-9][0-9]{{0,2}}(?:[{kind}][0-9]{{3}})+" for kind in kinds)
    return f"^[+-]?(?:{grouped})(?:[{decimal}][0-9]*)?$"


def _other(decimal: str) -> str:
    return "," if decimal == "." else "."


def hint_about(text: str, decimal: str | None) -> str | None:
    """What a field seems to be that is no number, and what to do; None where nothing is known of it."""
    if LIMIT.match(text):
        return "That is a limit, as of detection, and no value: replace such fields by numbers, or leave them empty."
    if PERCENT.fullmatch(text):
        return "That is a percentage: replace such fields by plain numbers first."
    if text in DASHES:
        return "A dash may mean zero or missing: write 0 there, or leave the field empty."
    read = {mark: pl.select(to_number(pl.lit(text), mark)).item() for mark in DECIMALS if mark != decimal}
    ways = [
        f"with --decimal {mark} (in Python, decimal={mark!r}) it is {format_number(value)}"
        for mark, value in read.items()
        if value is not None
    ]
    if ways:
        return f"Say which mark is the decimal one: {', '.join(ways)}."
    if UNIT.fullmatch(text):
        return "That is a number with a unit: remove the units first."
    return None
