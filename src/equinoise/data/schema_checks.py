"""What can be wrong with what is said about columns: every mistake by its key, in a sentence.

A file, a dict and a :class:`~equinoise.data.schema.Column` made in Python are all checked here. ``None`` is a key that
is left out, an empty list one that is still to be filled in.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple
from unicodedata import normalize

from equinoise.data.toml_text import Keys, dotted
from equinoise.errors import is_number, is_whole
from equinoise.formatting import format_number, join_and, join_or, shorten
from equinoise.settings import MOST_BINS

MOST_CATEGORIES = 10_000
TOP_KEYS = ("unit", "columns")
COLUMN_KEYS = (
    "bounds", "bounds_epsilon", "bounds_book", "step", "bins", "categories", "missing", "outside", "peeked"
)  # fmt: skip
CAN_BE_PEEKED = ("bounds", "step", "categories")
MISSING = ("refuse", "drop", "category")
OUTSIDE = {"bounds": ("refuse", "clip"), "categories": ("refuse", "drop")}

KINDS = {str: "text", int: "whole numbers", bool: "booleans"}
ONE_KIND = "a list of text, whole numbers or booleans"


class Mistake(NamedTuple):
    """A key, from the outermost table on, and what is wrong with it, as the rest of a sentence."""

    keys: Keys
    sentence: str


def schema_mistakes(document: Any) -> Iterator[Mistake]:
    """All that is wrong with a schema in the form of its file: a unit, and a table for every column."""
    if not isinstance(document, Mapping):
        yield Mistake(
            (), f"must be a table with the keys {join_and(map(repr, TOP_KEYS))}. Got {said(document)} instead."
        )
        return
    yield from _unknown((), document, TOP_KEYS)
    columns = document.get("columns")
    if not isinstance(columns, Mapping) or not columns:
        yield Mistake(("columns",), "must have at least one column, each in a table such as [columns.age].")
        return
    for name, column in columns.items():
        yield from name_mistakes(name)
        if isinstance(column, Mapping):
            yield from _unknown(("columns", str(name)), column, COLUMN_KEYS)
            yield from column_mistakes(str(name), column)
        else:
            yield Mistake(("columns", str(name)), f"must be a table of keys. Got {said(column)} instead.")
    yield from unit_mistakes(document.get("unit"), columns)


def name_mistakes(name: Any) -> Iterator[Mistake]:
    """What is wrong with the name of a column."""
    yield from _text_mistakes(("columns", str(name)), name, "the name of a column")


def unit_mistakes(unit: Any, names: Collection[str]) -> Iterator[Mistake]:
    """What is wrong with the column that says whose each row is."""
    if unit is not None:
        yield from _text_mistakes(("unit",), unit, "the name of a column")
        if isinstance(unit, str) and unit in names:
            yield Mistake(("unit",), f"must not also be a column. Remove {shorten(unit)!r} from one of them.")


def column_mistakes(name: str, given: Mapping[str, Any]) -> Iterator[Mistake]:
    """All that is wrong with what is said about one column."""
    for key, sentence in _column_sentences(given):
        yield Mistake(("columns", name, *key), sentence)


def _column_sentences(given: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    bounds, categories = given.get("bounds"), given.get("categories")
    if bounds is not None and categories is not None:
        yield (), "has both bounds and categories. Keep bounds for numbers or dates, categories for anything else."
        return
    problem = None if is_blank(bounds) else _bounds_problem(bounds)
    if problem is not None:
        yield ("bounds",), problem
    good = bounds if problem is None and not is_blank(bounds) else None
    epsilon, book = given.get("bounds_epsilon"), given.get("bounds_book")
    if epsilon is not None and not (is_finite(epsilon) and epsilon > 0 and not is_blank(bounds)):
        yield ("bounds_epsilon",), f"must be a positive number, of bounds. Got {said(epsilon)} instead."
    if book is not None and not (isinstance(book, str) and epsilon is not None):
        yield ("bounds_book",), f"must be text, beside bounds_epsilon. Got {said(book)} instead."
    yield from _cut_sentences(given, good)
    if categories is not None and not is_blank(categories):
        problem = _categories_problem(categories, given.get("missing"))
        if problem is not None:
            yield ("categories",), problem
    yield from _rule_sentences(given)


def _bounds_problem(bounds: Any) -> str | None:
    """What is wrong with the two ends of a column of numbers or dates."""
    must_be = f"must be two finite numbers or two dates, the lower one first. Got {said(bounds)} instead."
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        return must_be
    if any(isinstance(end, datetime) for end in bounds):
        return "must be dates without a time of day, such as 2024-01-31."
    if all(isinstance(end, str) for end in bounds):
        return f"{must_be} Dates and numbers have no quotes."
    if not all(map(is_finite, bounds)) and not are_dates(bounds):
        return must_be
    low, high = bounds
    if low < high:
        return None
    kind = "dates" if are_dates(bounds) else "numbers"
    return f"must be two different {kind}, the lower one first. Got {said(bounds)} instead."


def _cut_sentences(given: Mapping[str, Any], bounds: Any) -> Iterator[tuple[Keys, str]]:
    """What is wrong with the step and the bins; ``bounds`` are there if nothing is wrong with them."""
    step: Any = given.get("step")
    bins: Any = given.get("bins")
    if given.get("bounds") is None:
        for key in ("step", "bins"):
            if given.get(key) is not None:
                has = "has categories" if given.get("categories") is not None else "has none"
                yield (key,), f"is for a column with bounds, and this one {has}. Leave it out."
        return
    dates = bounds is not None and are_dates(bounds)
    if dates and step is not None and not is_whole(step, 1, 10**7):
        yield ("step",), f"must be a whole number of days, at least 1. Got {said(step)} instead."
    elif step is not None and not (is_finite(step) and step > 0):
        yield ("step",), f"must be a positive number. Got {said(step)} instead."
    elif bounds is not None and (step is not None or dates):
        steps = steps_between(bounds, step)
        if steps.denominator > 1:
            yield ("bounds",), f"must be a whole number of steps of {said(step)} apart. {_nearest(bounds, step, steps)}"
        elif is_whole(bins, 2, MOST_BINS) and bins > steps + 1:
            yield (
                ("bins",),
                f"must be at most {steps + 1}, the number of values from bound to bound. Got {said(bins)} instead.",
            )
    if bins is not None and not is_whole(bins, 2, MOST_BINS):
        yield ("bins",), f"must be a whole number from 2 to {MOST_BINS}. Got {said(bins)} instead."


def _nearest(bounds: Any, step: Any, steps: Fraction) -> str:
    """The upper bound that would fit, if there is one that can be written."""
    whole = max(round(steps), 1)
    try:
        if are_dates(bounds):
            fits = str(date.fromordinal(bounds[0].toordinal() + whole * int(step)))
        else:
            fits = said(float(printed(bounds[0]) + whole * printed(step)))
    except (OverflowError, ValueError):
        return "Give another step."
    return f"The nearest upper bound that fits is {fits}."


def _categories_problem(categories: Any, missing: Any) -> str | None:
    """What is wrong with a list of categories."""
    if not isinstance(categories, list | tuple):
        return f"must be {ONE_KIND}. Got {said(categories)} instead."
    if len(categories) > MOST_CATEGORIES:
        return f"must be at most {MOST_CATEGORIES:,}. There are {len(categories):,}. Put rare ones together."
    kinds = [kind_of(category) for category in categories]
    if None in kinds:
        return f"must be {ONE_KIND}. Got {said(categories[kinds.index(None)])} among them."
    if len(set(kinds)) > 1:
        there = join_and(sorted({KINDS[kind] for kind in kinds if kind is not None}))
        return f"must all be of one kind. There are {there}."
    if kinds[0] is int and not all(-(2**63) <= category < 2**63 for category in categories):
        return "must be whole numbers of at most 64 bits. Write longer ones as text."
    if not all(map(is_unicode, categories)):
        return "must be Unicode text. One of them has half a letter."
    if any(isinstance(category, str) and not category.strip() for category in categories):
        return "must not be empty text, which is a missing value: missing = 'category' gives it a place of its own."
    if len(categories) == 1 and missing != "category":
        return (
            f"has {said(categories[0])} alone, so there is nothing to release. Name another, or let missing values be "
            "one (missing = 'category')."
        )
    return _repeated(categories)


def _repeated(categories: Collection[Any]) -> str | None:
    """Two categories that are one, if there are such: the same, or the same but for blanks around them."""
    seen: dict[Any, Any] = {}
    for category in categories:
        text = normalize("NFC", category) if isinstance(category, str) else category
        plain = text.strip() if isinstance(text, str) else text
        if plain in seen:
            if seen[plain] == text:
                return f"has {said(category)} twice. Keep one of them."
            return f"has {said(seen[plain])} and {said(text)}, which differ in blanks alone. Keep one of them."
        seen[plain] = text
    return None


def _rule_sentences(given: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    """What is wrong with the rules for values that fit nowhere, and with the list of what was read off the data."""
    missing, outside, peeked = given.get("missing"), given.get("outside"), given.get("peeked")
    if missing is not None and not (isinstance(missing, str) and missing in MISSING):
        yield ("missing",), f"must be {join_or(MISSING)}. Got {said(missing)} instead."
    kind = next((key for key in OUTSIDE if given.get(key) is not None), None)
    allowed = ("refuse", "clip", "drop") if kind is None else OUTSIDE[kind]
    if outside is not None and not (isinstance(outside, str) and outside in allowed):
        of = {"bounds": " for a column with bounds", "categories": " for a category"}.get(kind or "", "")
        yield ("outside",), f"must be {join_or(allowed)}{of}. Got {said(outside)} instead."
    if peeked is not None:
        names = isinstance(peeked, list | tuple) and all(isinstance(key, str) for key in peeked)
        if not names or not set(peeked) <= set(CAN_BE_PEEKED) or len(set(peeked)) < len(peeked):
            yield ("peeked",), f"must be a list of {join_or(CAN_BE_PEEKED)}, each once. Got {said(peeked)} instead."


def _text_mistakes(keys: Keys, value: Any, what: str) -> Iterator[Mistake]:
    if not isinstance(value, str):
        yield Mistake(keys, f"must be text, {what}. Got {said(value)} instead.")
    elif not is_unicode(value):
        yield Mistake(keys, f"must be Unicode text, {what}. It has half a letter.")


def _unknown(table: Keys, given: Mapping[Any, Any], known: Collection[str]) -> Iterator[Mistake]:
    for key in given:
        if key not in known:
            hint = _hint(table, str(key), given[key], known)
            yield Mistake((*table, str(key)), f"unknown key {shorten(str(key))!r}. {hint}")


def _hint(table: Keys, key: str, value: Any, known: Collection[str]) -> str:
    """What may be meant by a key that there is not."""
    if table and key in TOP_KEYS:
        return "It stands above all tables."
    if table and isinstance(value, Mapping):
        name = f"{table[-1]}.{key}"
        return f"A name with a dot is in quotes: [{dotted((*table[:-1], name))}]."
    near = difflib.get_close_matches(key.lower(), known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"The keys here are {join_and(map(repr, known))}."


def is_blank(value: Any) -> bool:
    """Whether a key is left out or still to be filled in."""
    return value is None or (isinstance(value, list | tuple) and len(value) == 0)


def is_finite(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    try:
        return is_number(value) and math.isfinite(float(value))
    except OverflowError:
        return False


def are_dates(bounds: Any) -> bool:
    """Whether bounds are two dates."""
    return all(isinstance(end, date) and not isinstance(end, datetime) for end in bounds)


def is_unicode(text: Any) -> bool:
    """Whether text can be written to a file; what is no text can."""
    return not isinstance(text, str) or not any("\ud800" <= letter <= "\udfff" for letter in text)


def kind_of(category: Any) -> type[str] | type[int] | type[bool] | None:
    """What a category is, if it can be one."""
    if isinstance(category, bool):
        return bool
    return str if isinstance(category, str) else int if isinstance(category, Integral) else None


def printed(number: float) -> Fraction:
    """The number that is printed: a tenth for 0.1, where the float is a little more."""
    return Fraction(int(number)) if isinstance(number, Integral) else Fraction(repr(float(number)))


def steps_between(bounds: Any, step: Any) -> Fraction:
    """How many steps there are from the lower bound to the upper one; for dates of so many days, or of one."""
    low, high = bounds
    if are_dates(bounds):
        return Fraction((high - low).days, int(step or 1))
    return (printed(high) - printed(low)) / printed(step)


def said(value: Any) -> str:
    """A value in a sentence, not longer than that allows."""
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list | tuple):
        return shorten(f"[{', '.join(map(said, value[:20]))}]")
    try:
        return shorten(str(value) if isinstance(value, date) else repr(value))
    except ValueError:  # a number with thousands of digits
        return "a very long number"
