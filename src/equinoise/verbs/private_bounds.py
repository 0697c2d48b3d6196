"""Bounds that nobody knows, found in the data under differential privacy, and what they cost."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from equinoise.choices import DecimalMark, SeparatorName
from equinoise.data.bounds_cost import rounded
from equinoise.data.distinct_numbers import distinct_numbers
from equinoise.data.draft import make_draft
from equinoise.data.read_players import SchemaLike, Step
from equinoise.data.schema import Column, Schema
from equinoise.data.text_format import TextFormat
from equinoise.errors import BadInput, check, is_number
from equinoise.mechanisms.private_bounds import Family, draw_bounds
from equinoise.privacy.book_cost import Cost, as_written
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY
from equinoise.settings import MOST_TOTAL_EPSILON, check_settings
from equinoise.verbs.account import Account, BookLike

METHOD = "bounds"
"""What a book calls it."""


def private_bounds(
    data: Any,
    column: str | Sequence[str],
    *,
    epsilon: float,
    schema: SchemaLike = None,
    step: Step = None,
    separator: SeparatorName | None = None, decimal: DecimalMark | None = None,
    book: BookLike = None, purpose: str | None = None,
) -> Schema:  # fmt: skip
    """A schema with bounds of columns of numbers, which may be published: differential privacy with ``epsilon`` for
    each column, one row being one person.

    >>> import polars as pl
    >>> pay = pl.DataFrame({"income": [20, 25, 30, 35, 40, 45, 50, 60, 80, 150] * 200})
    >>> found = private_bounds(pay, "income", epsilon=0.1, step=1)
    >>> low, high = found.columns[0].bounds
    >>> low <= 30 and high >= 60 and found.columns[0].bounds_epsilon == 0.1
    True

    The columns are those of a ``schema``, whose other columns stay as they are, or alone. Values are multiples of a
    ``step``, if there is one. What the bounds cost stands in the schema, and counts towards the epsilon of
    :func:`equinoise.synthesize`; a ``book`` is charged before anything is drawn, and refuses what is beyond its limit.
    """
    check_settings({"epsilon": epsilon, "column": column})
    check(epsilon <= MOST_TOTAL_EPSILON, "epsilon", f"at most {MOST_TOTAL_EPSILON:g} for bounds", epsilon)
    text = TextFormat(separator, decimal)
    names = list(dict.fromkeys([column] if isinstance(column, str) else column))
    account = Account.of(book, purpose)
    given = None if schema is None else Schema.of(schema)
    blanks = [_with_step(one, step) for one in _blank_columns(data, names, given, text)]
    people = [distinct_numbers(data, one.name, text) for one in blanks]
    epsilons = Fraction(len(blanks)) * as_written(epsilon)
    with account.recording(DIFFERENTIAL_PRIVACY, METHOD, names, Cost.pure(rounded(epsilons, up=True))) as record:
        families = [Family(float(epsilon), one.step) for one in blanks]
        drawn = [draw_bounds(*one, family) for one, family in zip(people, families, strict=True)]
        identity = None if account.book is None else account.book.identity
        found = {one.name: _filled(one, ends, epsilon, identity) for one, ends in zip(blanks, drawn, strict=True)}
        told = {name: one.to_dict() for name, one in found.items()}
        record(hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest())
    if given is None:
        return Schema(tuple(found.values()))
    return replace(given, columns=tuple(found.get(one.name, one) for one in given.columns))


def _blank_columns(data: Any, names: Sequence[str], schema: Schema | None, text: TextFormat) -> list[Column]:
    """The columns to find bounds of, without any; refused are those of no numbers, by schema and types alone."""
    drafted = make_draft(data, columns=names, separator=text.separator, decimal=text.decimal).schema.columns
    blank = {column.name: column for column in drafted}
    if schema is not None:
        strange = next((name for name in names if name not in schema.names), None)
        if strange is not None:
            raise BadInput(f"The schema has no column {strange!r}. It has {', '.join(map(repr, schema.names))}.")
        if schema.unit is not None:
            raise BadInput(
                f"By the schema, rows with the same {schema.unit!r} are one person's, and bounds are found with every "
                "row a person of its own. Make a table with one row a person first."
            )
        blank |= {column.name: column for column in schema.columns if column.name in names}
    for name in names:
        column = blank.get(name)
        if column is None or column.categories is not None or column.blank == "categories" or column.is_date:
            raise BadInput(f"Column {name!r} is none of numbers, and bounds are found of numbers alone.")
        if column.bins is not None and column.step is not None:
            raise BadInput(
                f"Leave the bins of column {name!r} out until its bounds are known: few steps have few bins."
            )
    return [blank[name] for name in names]


def _with_step(column: Column, step: Step) -> Column:
    """A column without bounds, and with the step that was said, if one was."""
    said = step.get(column.name) if isinstance(step, Mapping) else step
    check(said is None or (is_number(said) and 0 < said < math.inf), "step", "a positive number", said)
    if said is not None and float(said).is_integer():
        said = int(said)
    kept = tuple(key for key in column.peeked if key != "bounds")
    blank = replace(column, bounds=None, bounds_epsilon=None, bounds_book=None, step=None, bins=None, peeked=kept)
    return replace(blank, blank="bounds", step=column.step if said is None else said, bins=column.bins)


def _filled(blank: Column, ends: tuple[Fraction, Fraction], epsilon: float, book: str | None) -> Column:
    """A column with its bounds: whole numbers where all values are."""
    whole = blank.step is not None and all(end.denominator == 1 for end in (*ends, as_written(blank.step)))
    low, high = (int(end) if whole else float(end) for end in ends)
    return replace(blank, bounds=(low, high), blank=None, bounds_epsilon=float(epsilon), bounds_book=book)
