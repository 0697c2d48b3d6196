"""Whom answers are about, by the public rules of the columns: the people whom no column left out."""

from __future__ import annotations

from collections.abc import Sequence

from equinoise.data.read_players import with_usual_rules
from equinoise.data.schema import Schema
from equinoise.formatting import join_and, printable, shorten
from equinoise.settings import PRIVATE_RULES

MOST_NAMED = 6
"""Columns that are named; of more the number is said."""


def complete_cases(schema: Schema, rows_per_person: int | None = None) -> str:
    """A sentence on who was left out of every answer, whichever columns it is about; nothing where nobody can have
    been. ``rows_per_person``: how many of each count at most, if that is known."""
    columns = with_usual_rules(schema, PRIVATE_RULES).columns
    listed = [column for column in columns if column.categories is not None and column.outside == "drop"]
    needed = {
        "a value": [column.name for column in columns if column.missing == "drop"],
        "one of the listed categories": [column.name for column in listed if column.missing != "category"],
        "one of the listed categories or none": [column.name for column in listed if column.missing == "category"],
    }
    parts = [f"{what} in {_named(names)}" for what, names in needed.items() if names]
    if not parts:
        return ""
    by_row = schema.unit is not None and rows_per_person != 1
    return f"Of {'rows that' if by_row else 'people who'} have {', and '.join(parts)}: others were left out."


def _named(columns: Sequence[str]) -> str:
    names = [repr(shorten(printable(name), 40)) for name in columns]
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} more columns"]
    return f"{'all of ' * (len(names) > 1)}{join_and(names)}"
