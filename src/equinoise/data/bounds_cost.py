"""What bounds that were found under differential privacy cost, by a schema."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

from equinoise.data.schema import Column, Schema
from equinoise.data.schema_checks import printed
from equinoise.errors import BadInput, EquinoiseWarning
from equinoise.formatting import at_most, join_and
from equinoise.settings import check_setting


def costly_columns(schema: Schema) -> list[Column]:
    """The columns whose bounds cost something. Every row was a person then, so a unit is refused."""
    found = [column for column in schema.columns if column.bounds_epsilon is not None]
    if found and schema.unit is not None:
        raise BadInput(
            f"The bounds of column {found[0].name!r} were found with every row a person of its own, and by the unit "
            f"{schema.unit!r} a person may have several rows, for whom they cost more. Give other bounds, or make a "
            "table with one row a person first."
        )
    return found


def bounds_epsilon(schema: Schema, *, unless_in: str | None = None) -> Fraction:
    """Epsilon of all bounds of a schema together, as the decimals that are written there; those charged to the book
    with one identity left out."""
    costs = [
        printed(column.bounds_epsilon or 0)
        for column in costly_columns(schema)
        if unless_in is None or column.bounds_book != unless_in
    ]
    return sum(costs, Fraction(0))


def bounds_setting(schema: Schema) -> dict[str, float]:
    """Epsilon of all bounds together, as the settings of a saved file tell it; nothing without such."""
    cost = bounds_epsilon(schema)
    return {"bounds_epsilon": rounded(cost, up=True)} if cost else {}


def epsilon_left(epsilon: float, schema: Schema) -> float:
    """What is left of an epsilon for what is made within the bounds of a schema."""
    check_setting("epsilon", epsilon)
    cost = bounds_epsilon(schema)
    if not cost:
        return epsilon
    left = rounded(printed(epsilon) - cost, up=False)
    if left <= 0:
        names = join_and([repr(column.name) for column in costly_columns(schema)])
        raise BadInput(
            f"By the schema, the bounds of {names} cost epsilon {at_most(float(cost))}, and epsilon is what everything "
            f"may cost together: {at_most(epsilon)} leaves nothing for rows. Ask for more."
        )
    return left


def warn_uncounted(schema: Schema) -> Schema:
    """The schema; with a warning where its bounds cost what a promise does not count."""
    cost = bounds_epsilon(schema)
    if cost:
        warnings.warn(
            f"By the schema, bounds were found under differential privacy with epsilon {at_most(float(cost))}. That is "
            "not in what is promised here: add it.",
            EquinoiseWarning,
            stacklevel=5,
        )
    return schema


def rounded(exact: Fraction, *, up: bool) -> float:
    """The float nearest to a number whose decimals are not below it, or not above it."""
    found = float(exact)
    if up:
        return found if printed(found) >= exact else math.nextafter(found, math.inf)
    return found if printed(found) <= exact else math.nextafter(found, -math.inf)
