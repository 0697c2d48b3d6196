"""One column: found by its name, and refused unless it holds numbers or, as the unit, can say whose each row is."""

from __future__ import annotations

import difflib
import re
from typing import Any

import narwhals as nw

from equinoise.errors import BadInput

MOST_DIGITS = 38
UTC_NAMES = {"UTC", "Etc/UTC", "Etc/GMT", "GMT", "Z", "+00:00"}
NAMELESS = "value"
"""What a column is called that has no name of its own."""

LIKE_AN_ID = re.compile(
    r"(^|[^a-z])(id|ids|uid|uuid|guid|ssn|nr|person|patient|user|customer|client|member|subject|respondent|employee|"
    r"worker|student|pupil|participant)([^a-z]|$)"
    r"|(user|person|patient|customer|client|member|subject|case|respondent|employee|emp|student|participant|p)id$"
)


def named_like_an_id(name: str) -> bool:
    """Whether a column's own name says that it tells people apart."""
    return LIKE_AN_ID.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) is not None


def find_column(column: str | None, names: list[str], source: str) -> str:
    """The name of the column that is meant, among ``names``; it may be left out where there is only one, unless that
    one is called like an identifier."""
    if column is None:
        if len(names) == 1 and named_like_an_id(names[0]):
            raise BadInput(
                f"{source} has one column, {names[0]!r}, which is called like a name for each person. If it is the "
                f"measurement, say so with --column {names[0]!r} (in Python, column={names[0]!r})."
            )
        if len(names) == 1:
            return names[0]
        raise BadInput(
            f"{source} has {len(names)} columns: name one with --column (in Python, column=). It has {_listed(names)}."
        )
    if column in names:
        return column
    lowered = {name.lower(): name for name in names}
    near = [lowered[n] for n in difflib.get_close_matches(column.lower(), lowered, n=3, cutoff=0.6)]
    hint = f"Did you mean {_listed(near)}?" if near else f"It has {_listed(names)}."
    several = next((name for name in names if column in re.split(r"\s*[,;\t|]\s*", name)), None)
    if several is not None:
        hint = (
            f"If {several!r} is several, another mark separates them: of a text file, name it with --separator (in "
            "Python, separator=)."
        )
    raise BadInput(f"{source} has no column {column!r}. {hint}")


def _listed(names: list[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(repr(name) for name in names[:8]) + more


def check_type(column: str, dtype: Any) -> None:
    """Refuse what is no column of numbers, and say what it is."""
    if not dtype.is_numeric():
        known = {"String": "text", "Boolean": "yes/no values", "Date": "dates", "Datetime": "dates"}
        raise not_numbers(column, known.get(type(dtype).__name__, f"values of type {dtype}"))


def check_raw_type(column: str, dtype: Any) -> None:
    """Refuse what can be neither a category nor a date."""
    zone = getattr(dtype, "time_zone", None)
    if zone is not None and zone not in UTC_NAMES:
        raise BadInput(
            f"Column {column!r} holds times of the zone {zone!r}, and on which day one of them falls depends on the "
            "zone. Convert it to dates first, in the zone that counts."
        )
    kinds = nw.String | nw.Categorical | nw.Enum | nw.Boolean | nw.Date | nw.Datetime | nw.Object
    if not (isinstance(dtype, kinds) or dtype.is_numeric()):
        raise BadInput(f"Column {column!r} holds values of type {dtype}, which are neither categories nor dates.")


def not_numbers(column: str, kind: str) -> BadInput:
    """The error for what is no column of numbers."""
    return BadInput(
        f"Column {column!r} holds {kind}, not numbers. List its categories (--categories, or in a schema), give two "
        "dates as its bounds if it has dates, or convert it to numbers first."
    )


def check_digits(column: str, digits: int | None) -> None:
    """Refuse decimals that are too long: polars cannot read them, and DuckDB reads them as something else."""
    if digits is not None and digits > MOST_DIGITS:
        raise BadInput(
            f"Column {column!r} holds decimals of {digits} digits, and at most {MOST_DIGITS} can be read. Convert it "
            "to floats or shorter decimals first."
        )


def can_be_unit(dtype: Any) -> bool:
    """Whether a column of this type may say whose each row is."""
    plain = isinstance(dtype, nw.String | nw.Categorical | nw.Enum | nw.Object)
    return bool(plain or dtype.is_integer() or dtype.is_float())


def not_a_unit(column: str, held: Any) -> BadInput:
    """The error for a column that cannot say whose each row is."""
    return BadInput(f"Column {column!r} cannot be the unit: it holds {held}. Name one of whole numbers or text.")
