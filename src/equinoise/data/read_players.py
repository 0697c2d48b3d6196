"""From data to players in one call: the columns and their grid, everyone counted on it, and refusals of too few."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equinoise.data.bad_values import Rules
from equinoise.data.bags import count_people
from equinoise.data.columns import named_like_an_id
from equinoise.data.counting import count_rows, find_bounds
from equinoise.data.engines import Engine, engine_for
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import Rows, open_rows
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import BadInput, EquinoiseWarning, check
from equinoise.settings import check_settings

Bounds = tuple[float, float] | Mapping[str, tuple[float, float]] | None


def read_players(
    data: Any,
    column: str | Sequence[str] | None,
    bounds: Bounds,
    *,
    bins: int,
    missing: str,
    outside: str,
    padding_epsilon: float,
    percentile: float,
    unit: str | None,
    unit_rows: str,
    engine: str,
    engine_address: str | None,
    separator: str | None,
    decimal: str | None,
    check_grid: Callable[[Grid], None],
    least: int = 2,
) -> tuple[Players, dict[str, Any]]:
    """The players of some data, at least ``least`` (1 where nothing is ever compared), and how they were counted, as
    the settings of a saved file tell it. ``check_grid`` may refuse the grid before any row is counted."""
    rules, padding = Rules(missing, outside), {"padding_epsilon": padding_epsilon, "percentile": percentile}
    check_settings({"unit": unit, "unit_rows": unit_rows})
    text = TextFormat(separator, decimal)
    with engine_for(data, engine, engine_address) as reader:
        rows, grid = open_columns(data, column, bounds, bins=bins, engine=reader, unit=unit, text=text, **padding)
        check_grid(grid)
        players = count_players(rows, grid, rules, unit_rows)
        check_players(players, least, units=bool(rows.fields))
        if unit is None:
            warn_of_repeats(data, rows.columns, text)
    public = bounds is not None and (not isinstance(bounds, Mapping) or set(rows.columns) <= set(bounds))
    return players, counting_settings(
        players, public_bounds=public, missing=missing, outside=outside, unit=unit, unit_rows=unit_rows, **padding
    )


def counting_settings(
    players: Players, *, public_bounds: bool, missing: str, outside: str, unit: str | None = None,
    unit_rows: str = "all", padding_epsilon: float = 1.0, percentile: float = 0.9,
) -> dict[str, Any]:  # fmt: skip
    """How players were counted, as the settings of a saved file tell it."""
    columns = [axis.name for axis in players.grid.axes]
    return {
        "column": columns[0] if len(columns) == 1 else columns,
        "public_bounds": public_bounds,
        "missing": missing,
        "outside": outside,
        "unit": unit,
        "unit_rows": unit_rows,
        "padding_epsilon": float(padding_epsilon),
        "percentile": float(percentile),
    }


def open_columns(
    data: Any,
    column: str | Sequence[str] | None,
    bounds: Bounds,
    *,
    engine: Engine | None,
    unit: str | None = None,
    text: TextFormat = UNSAID,
    **axis_settings: Any,
) -> tuple[Rows, Grid]:
    """The rows to count and the grid to count them on, its axes made with the settings of :meth:`Axis.padded`; bounds
    left out are read off the data, with a warning; and so is it said if a column is called like an identifier."""
    rows = open_rows(data, column, engine, keep=False if unit is None else unit, text=text)
    if unit in rows.columns:
        raise BadInput(f"Column {unit!r} cannot be both the unit and what is counted.")
    if len(rows.columns) > 1 and bounds is not None and not isinstance(bounds, Mapping):
        raise BadInput("With several columns, bounds must be a dict: {column: (low, high), ...}.")
    by_column = bounds if isinstance(bounds, Mapping) else {} if bounds is None else {rows.columns[0]: bounds}
    check(bounds is None or len(by_column) > 0, "bounds", "left out or two numbers, (low, high)", bounds)
    strange = next((name for name in by_column if name not in rows.columns), None)
    if strange is not None:
        raise BadInput(f"There are bounds for column {strange!r}, which is not among {list(rows.columns)}.")
    for name in filter(named_like_an_id, rows.columns):
        warnings.warn(
            f"Column {name!r} is called like a name for each person, and is counted as a measurement. If it only tells "
            f"people apart, count another column (and use --unit {name!r}, in Python unit={name!r}, if it repeats).",
            EquinoiseWarning,
            stacklevel=5,
        )
    axes = []
    for number, name in enumerate(rows.columns):
        low, high = _two_numbers(by_column[name]) if name in by_column else find_bounds(rows, number)
        axes.append(Axis.padded(name, low, high, **axis_settings))
    return rows, Grid(tuple(axes))


def _two_numbers(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
        return low + 0.0, high + 0.0
    except (TypeError, ValueError):
        check(False, "bounds", "two numbers, (low, high)", bounds)
        raise


def count_players(rows: Rows, grid: Grid, rules: Rules, unit_rows: str = "all") -> Players:
    """People by the cells of their rows; where rows have a unit, ``unit_rows`` says which of a person's rows."""
    return count_people(rows, grid, rules, unit_rows) if rows.fields else count_rows(rows, grid, rules)


def check_players(players: Players, least: int = 2, *, units: bool = False) -> None:
    """Refuse too few people, and data that all looks alike; with a ``least`` of 1, nothing but no people at all."""
    grid, people = players.grid, players.total_people
    several = len(grid.axes) > 1
    column = f"column{'s' * several} {grid.name}"
    has = f"{column.replace('c', 'C', 1)} ha{'ve' if several else 's'}"
    if least == 1:
        if people < 1:
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
