"""What the different values of a column show: bounds, a step, or categories. Whoever uses it looks at the data."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from equinoise.data.number_marks import are_numbers, hint_about, to_number
from equinoise.data.paths import Files
from equinoise.data.schema import Column
from equinoise.data.schema_checks import printed
from equinoise.data.text_fields import MISSING_MARKS
from equinoise.errors import BadInput

MOST_CATEGORIES = 50
MOST_DECIMALS = 4
MOST_WHOLE = 10**15
"""So many digits are the same number in a float and in print."""

Shown = dict[str, Any]
"""Keys of a column that its values show; none, if they show nothing."""


def fill_in(blank: tuple[Column, str], shown: Shown) -> tuple[Column, str]:
    """A column with what its values show in place of blanks, and a comment; what cannot be stays blank."""
    column, comment = blank
    many = len(shown.get("categories") or ())
    if many > MOST_CATEGORIES:
        return column, f"{comment} There are more than {MOST_CATEGORIES} different values."
    if not shown or ("categories" in shown and not many):
        return column, f"{comment} There are no values."
    keys = [key for key in ("bounds", "step", "categories") if shown.get(key) not in (None, getattr(column, key))]
    try:
        return replace(column, **shown, blank=None, peeked=tuple(keys)), "Read off the data, thus not public."
    except BadInput:  # whose words would quote the data
        return column, f"{comment} What the data shows cannot be filled in."


def plain_text(values: pl.Series) -> pl.Series:
    """The different texts of a column without blanks around them, and without those that are missing."""
    plain = values.str.strip_chars().drop_nulls().unique()
    return plain.filter(~plain.str.to_lowercase().is_in(MISSING_MARKS))


def of_text(column: str, values: pl.Series, files: Files) -> Shown:
    """What texts show: bounds if all are numbers, or all dates; otherwise categories. Refuses numbers of which nobody
    said what their marks mean."""
    if not len(values):
        return {}
    numbers = pl.select(to_number(pl.lit(values), files.decimal, files.separator or ",")).to_series()
    if not numbers.is_null().any():
        return of_numbers(numbers)
    if files.decimal is None and are_numbers(values):
        unclear = values.filter(numbers.is_null()).sort()[0]
        raise BadInput(f"Column {column!r} has numbers such as {unclear!r}. {hint_about(unclear, None)}")
    dates = values.str.to_date("%Y-%m-%d", strict=False)
    return {"categories": sorted(values.head(MOST_CATEGORIES + 1))} if dates.is_null().any() else of_dates(dates)


def of_dates(values: pl.Series) -> Shown:
    """The first and the last day."""
    days = values.cast(pl.Date).drop_nulls().to_list()
    if not days:
        return {}
    first, last = min(days), max(days)
    if first == last:
        first, last = (first, last + timedelta(1)) if last < date.max else (first - timedelta(1), last)
    return {"bounds": (first, last)}


def of_numbers(values: pl.Series, type_step: float | int | None = None) -> Shown:
    """The least and the greatest number, and the greatest step of which all are multiples, if they have few decimals;
    if there is one number alone, the step that its digits or its type have."""
    if values.dtype.is_integer():
        whole, digits = values.drop_nulls().to_list(), 0
        if not whole:
            return {}
        if max(map(abs, whole)) >= MOST_WHOLE:
            return {"bounds": _apart(min(whole), max(whole), 1), "step": type_step}
    else:
        floats = values.cast(pl.Float64).drop_nulls().to_numpy()
        floats = floats[np.isfinite(floats)]
        if not len(floats):
            return {}
        found = _as_whole(floats)
        if found is None:
            low, high = float(floats.min()), float(floats.max())
            return {"bounds": _apart(low, high, max(1.0, abs(low))), "step": type_step}
        whole, digits = found
    low, high = min(whole), max(whole)
    if low == high:
        only, step = _number(low, digits), type_step or _number(1, digits)
        return {"bounds": (only, _plain(printed(only) + printed(step))), "step": step}
    step = _number(math.gcd(*whole), digits)
    return {"bounds": (_number(low, digits), _number(high, digits)), "step": step}


def _as_whole(floats: Any) -> tuple[list[int], int] | None:
    """Floats as whole numbers of the least power of ten that has them all, and how many digits that is; None if there
    is no such with few digits."""
    for digits in range(MOST_DECIMALS + 1):
        with np.errstate(over="ignore"):
            scaled = np.rint(floats * 10.0**digits)
        if np.abs(scaled).max() >= MOST_WHOLE:
            return None
        if (scaled / 10.0**digits == floats).all():
            return scaled.astype(np.int64).tolist(), digits
    return None


def _apart(low: Any, high: Any, by: Any) -> tuple[Any, Any]:
    return (low, high) if low < high else (low, low + by)


def _number(whole: int, digits: int) -> float | int:
    return float(Fraction(whole, 10**digits)) if digits else whole


def _plain(number: Fraction) -> float | int:
    return int(number) if number.denominator == 1 else float(number)
