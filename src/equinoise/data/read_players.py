"""From data to players in one call: the columns and their grid, everyone counted on it, and refusals of too few."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equinoise.data.bags import count_people
from equinoise.data.bounds_cost import bounds_setting
from equinoise.data.columns import named_like_an_id
from equinoise.data.counting import count_rows, find_bounds
from equinoise.data.engines import Engine, engine_for
from equinoise.data.grid import AnyAxis, Axis, Grid
from equinoise.data.make_grid import make_grid
from equinoise.data.players import Players
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import Rows, open_rows
from equinoise.data.schema import LEAVE_OUT, Column, Schema
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import BadInput, EquinoiseWarning, NotPublicWarning, check, is_number
from equinoise.formatting import join_and
from equinoise.settings import USUAL_RULES, check_settings

Bounds = tuple[Any, Any] | Mapping[str, tuple[Any, Any]] | None
Step = float | Mapping[str, float] | None
Categories = Sequence[Any] | Mapping[str, Sequence[Any]] | None
SchemaLike = Schema | Mapping[str, Any] | str | Path | None


def read_players(
    data: Any,
    schema: Schema,
    *,
    check_grid: Callable[[Grid], None],
    bins: int | None = None,
    grid: str = "schema",
    joint: bool | None = True,
    padding_epsilon: float = 1.0,
    percentile: float = 0.9,
    most_rows: int | None = None,
    engine: str = "polars",
    engine_address: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    least: int = 2,
) -> tuple[Players, dict[str, Any]]:
    """The players of some data by a schema (of :func:`columns_asked_for`), at least ``least`` (0 where it must not tell
    whether anybody is there), and how they were counted, as the settings of a saved file tell it. ``check_grid`` may
    refuse the grid before any row is counted, and :func:`make_grid` says whether it is ``joint``. Of the rows of one
    unit, at most ``most_rows`` count."""
    check_settings({"grid": grid, "padding_epsilon": padding_epsilon, "percentile": percentile})
    check_bins(schema, bins)
    text = TextFormat(separator, decimal)
    padding = {"padding_epsilon": float(padding_epsilon), "percentile": float(percentile)}
    with engine_for(data, engine, engine_address) as reader:
        rows, known = open_columns(data, schema, engine=reader, text=text)
        cells = make_grid(known, bins=bins, padding=padding if grid == "paper" else None, joint=joint)
        check_grid(cells)
        players = count_players(rows, cells, most_rows)
        check_players(players, least, units=rows.unit is not None)
        if rows.unit is None:
            warn_of_repeats(data, known.names, text)
    counting = counting_settings(players, public_bounds=not known.peeked, unit=schema.unit, grid=grid, **padding)
    return players, {**counting, **bounds_setting(known)}


def check_bins(schema: Schema, bins: int | None) -> None:
    """Refuse bins that no column would take."""
    if bins is not None:
        check_settings({"bins": bins})
        check(takes_bins(schema), "bins", "left out where every column has categories or bins of its own", bins)


def takes_bins(schema: Schema) -> bool:
    """Whether a schema leaves the bins of a column open."""
    return any(column.categories is None and column.bins is None for column in schema.columns)


def counting_settings(
    players: Players, *, public_bounds: bool, unit: str | None = None, grid: str = "schema",
    padding_epsilon: float = 1.0, percentile: float = 0.9,
) -> dict[str, Any]:  # fmt: skip
    """How players were counted, as the settings of a saved file tell it; the rest is in its axes."""
    columns = [axis.name for axis in players.grid.axes]
    return {
        "column": columns[0] if len(columns) == 1 else columns,
        "public_bounds": public_bounds,
        "unit": unit,
        "grid": grid,
        "padding_epsilon": float(padding_epsilon),
        "percentile": float(percentile),
    }


def columns_asked_for(
    schema: SchemaLike, column: str | Sequence[str] | None, bounds: Bounds, step: Step = None,
    categories: Categories = None, *, missing: str | None = None, outside: str | None = None, unit: str | None = None,
    complete: bool = True,
) -> Schema:  # fmt: skip
    """The schema that settings say: a given one (or some of its columns), or one made of plain options. A column that
    has no name yet is called by :data:`ONLY`. A given one must be ``complete``, unless it is still to be filled in."""
    rules = {key: value for key, value in (("missing", missing), ("outside", outside)) if value is not None}
    check_settings(rules)
    check_settings({"column": column})
    names = [column] if isinstance(column, str) else None if column is None else list(column)
    if schema is None:
        return _schema_of_options(names, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    found = Schema.of(schema)
    told = {"bounds": bounds, "step": step, "categories": categories}
    for name, value in told.items():
        check(value is None, name, "left out where there is a schema: it says them", value)
    if complete:
        found.check_complete(names, f"{LEAVE_OUT}, or name the other columns with --column (in Python, column=).")
    strange = next((name for name in names or () if name not in found.names), None)
    if strange is not None:
        raise BadInput(f"The schema has no column {strange!r}. It has {', '.join(map(repr, found.names))}.")
    columns = [_with_rules(one, rules) for one in found.columns if names is None or one.name in names]
    if unit is not None and found.unit not in {None, unit}:
        raise BadInput(f"The schema says that the unit is {found.unit!r}, and --unit says {unit!r}. Say one.")
    return Schema(tuple(columns), unit or found.unit)


def _with_rules(column: Column, rules: Mapping[str, str]) -> Column:
    """A column with rules for all columns, where it has none of its own: one that says to refuse, refuses."""
    told = {key: value for key, value in rules.items() if getattr(column, key) is None}
    if "outside" in told:
        told["outside"] = outside_rule(told["outside"], column.categories is None)
    return replace(column, **told)  # type: ignore[arg-type]


def outside_rule(rule: str, numbers: bool) -> str:
    """A rule for values outside, of a column of numbers or of one of categories, where to clip is to drop the row."""
    return rule if numbers or rule != "clip" else "drop"


ONLY = "the only column"
"""What the only column is called until the data is opened and has a name for it."""


def _schema_of_options(
    names: list[str] | None, bounds: Bounds, step: Step, categories: Categories, *, missing: str | None,
    outside: str | None, unit: str | None,
) -> Schema:  # fmt: skip
    named = [list(given) for given in (bounds, step, categories) if isinstance(given, Mapping)]
    names = names or list(dict.fromkeys(name for given in named for name in given)) or [ONLY]
    several = len(names) > 1
    if several and bounds is not None and not isinstance(bounds, Mapping):
        raise BadInput("With several columns, bounds must be a dict: {column: (low, high), ...}.")
    check(not isinstance(bounds, Mapping) or len(bounds) > 0, "bounds", "left out or two numbers, (low, high)", bounds)
    for what, given in (("step", step), ("categories", categories)):
        single = given is None or isinstance(given, Mapping) or not several
        check(single, what, "a dict with several columns: {column: ...}", given)
    by_column = {name: _bounds(pair) for name, pair in _by_column(bounds, names[0]).items()}
    strange = next((name for name in by_column if name not in names), None)
    if strange is not None:
        raise BadInput(f"There are bounds for column {strange!r}, which is not among {names}.")
    steps, listed = _by_column(step, names[0]), _by_column(categories, names[0])
    loose = next((name for name in steps if name in names and name not in {**by_column, **listed}), None)
    if loose is not None:
        which = "it" if loose == ONLY else f"column {loose!r}"
        raise BadInput(
            f"A step is counted from the lower bound of its column. Give {which} bounds (--bounds, in Python bounds=)."
        )
    return Schema.from_options(
        names, by_column, steps, listed,
        missing=missing, outside=outside, unit=unit,
    )  # fmt: skip


def _by_column(given: Any, name: str) -> dict[str, Any]:
    return {} if given is None else dict(given) if isinstance(given, Mapping) else {name: given}


def _bounds(pair: Any) -> tuple[Any, Any]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        low = high = None
    numbers = is_number(low) and is_number(high)
    check(numbers or hasattr(low, "toordinal"), "bounds", "two numbers, (low, high), or two dates", pair)
    return low, high


def open_columns(data: Any, schema: Schema, *, engine: Engine | None, text: TextFormat = UNSAID) -> tuple[Rows, Schema]:
    """The rows to count, and the schema completed: bounds left out are read off the data, with a warning; and so is it
    said if a column is called like an identifier."""
    names: Any = None if schema.names == (ONLY,) else list(schema.names)
    raw = [column.name for column in schema.columns if column.categories is not None or column.is_date]
    if names is None and raw:
        raise BadInput("Name the column that has categories, or dates: --column (in Python, column=).")
    if schema.unit in schema.names:
        raise BadInput(f"Column {schema.unit!r} cannot be both the unit and what is counted.")
    rows = open_rows(data, names, engine, keep=False if schema.unit is None else schema.unit, raw=raw, text=text)
    if names is None:
        if rows.unit == rows.columns[0]:
            raise BadInput(f"Column {rows.unit!r} cannot be both the unit and what is counted.")
        schema = replace(schema, columns=(replace(schema.columns[0], name=rows.columns[0]),))
    for name in filter(named_like_an_id, schema.names):
        warnings.warn(
            f"Column {name!r} is called like a name for each person, and is counted as a measurement. If it only tells "
            f"people apart, count another column (and use --unit {name!r}, in Python unit={name!r}, if it repeats).",
            EquinoiseWarning,
            stacklevel=5,
        )
    if schema.peeked:
        warnings.warn(
            f"By the schema, {join_and(schema.peeked)} came from the data, so they are not private: they show in the "
            "grid. Write down what is public instead.",
            NotPublicWarning,
            stacklevel=5,
        )
    columns = []
    for column in schema.columns:
        if not column.is_complete:
            bounds = find_bounds(rows, rows.columns.index(column.name))
            column = replace(column, bounds=bounds, step=None, blank=None, peeked=("bounds",))  # noqa: PLW2901
        columns.append(column)
    return rows, replace(schema, columns=tuple(columns))


def schema_of(
    axes: Sequence[AnyAxis], unit: str | None = None, *, public: bool = True, usual: Mapping[str, str] = USUAL_RULES
) -> Schema:
    """The schema that axes were made from, with the number of bins that was taken; rules that are ``usual`` are not
    said."""
    return Schema(tuple(column_of(axis, public, usual) for axis in axes), unit)


def with_usual_rules(schema: Schema, usual: Mapping[str, str]) -> Schema:
    """A schema that says the ``usual`` rules where it says none: what :func:`schema_of` leaves out."""
    columns = []
    for column in schema.columns:
        outside = column.outside or outside_rule(usual["outside"], column.categories is None)
        columns.append(replace(column, missing=column.missing or usual["missing"], outside=outside))
    return replace(schema, columns=tuple(columns))


def column_of(axis: AnyAxis, public: bool, usual: Mapping[str, str] = USUAL_RULES) -> Column:
    """What a schema says of the column of an axis."""
    unsaid = {**usual, "outside": outside_rule(usual["outside"], isinstance(axis, Axis))}
    told = {"missing": axis.missing, "outside": axis.outside}
    rules: dict[str, Any] = {key: rule for key, rule in told.items() if rule != unsaid[key]} | {"name": axis.name}
    if not isinstance(axis, Axis):
        return Column(categories=axis.names, **rules)
    bounds: Any = tuple(axis.to_value(bound) for bound in (axis.low, axis.high))
    peeked = () if public else ("bounds",)
    return Column(bounds=bounds, step=axis.step_value, bins=axis.number_bins, peeked=peeked, **rules)


def open_axes(
    data: Any, axes: Sequence[AnyAxis], engine: Engine | None, *, keep: bool | str = False, text: TextFormat = UNSAID
) -> Rows:
    """The rows of data by the axes that a mechanism has."""
    raw = [axis.name for axis in axes if not isinstance(axis, Axis) or axis.day_zero is not None]
    return open_rows(data, [axis.name for axis in axes], engine, keep=keep, raw=raw, text=text)


def count_players(rows: Rows, grid: Grid, most_rows: int | None = None) -> Players:
    """People by the cells of their rows; where rows have a unit, by at most ``most_rows`` of a person's rows."""
    return count_rows(rows, grid) if rows.unit is None else count_people(rows, grid, most_rows)


def rows_of_a_person(unit_rows: str, unit: str | None) -> int | None:
    """How many rows of a person count at most by the setting ``unit_rows``; None if all do."""
    check_settings({"unit": unit, "unit_rows": unit_rows})
    return 1 if unit_rows == "one" else None


def most_rows_of(settings: Mapping[str, Any]) -> int | None:
    """How many rows of a person count at most, by the settings of a saved file; None if all do."""
    return settings.get("rows_per_person") or (1 if settings.get("unit_rows") == "one" else None)


def check_players(players: Players, least: int = 2, *, units: bool = False) -> None:
    """Refuse too few people, and data that all looks alike; with a ``least`` below 2, only fewer people than that."""
    grid, people = players.grid, players.total_people
    several = len(grid.axes) > 1
    column = f"column{'s' * several} {grid.name}"
    has = f"{column.replace('c', 'C', 1)} ha{'ve' if several else 's'}"
    if least < 2:
        if people < least:
            raise BadInput(f"{has} 0 usable values, and at least one person is needed.")
        return
    if people < 2:
        values = "usable values of 1 person" if units and people else f"{people} usable value{'s' * (people != 1)}"
        raise BadInput(
            f"{has} {values}, and at least two people are needed: a loss compares the data with and without a person."
        )
    if len(players.occupied) == 1:
        raise BadInput(
            f"All {players.total_rows:,} values of {column} fall in one bin: there is no distribution to release. If "
            "they are not all equal, use narrower bounds or more bins."
        )
