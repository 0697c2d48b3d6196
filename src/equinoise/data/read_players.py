"""From data to people per cell: the columns and their grid, everyone counted on it, and refusals of too few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equinoise.data import counting
from equinoise.data import counting_people as counting_units
from equinoise.data.engines import Engine, engine_for
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.data.repeated_names import warn_of_repeats
from equinoise.errors import BadInput, check
from equinoise.settings import check_settings

Bounds = tuple[float, float] | Mapping[str, tuple[float, float]] | None


def count_data(
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
    check_grid: Callable[[Grid], None],
    least: int = 2,
) -> tuple[Players, dict[str, Any]]:
    """The players of some data, at least ``least`` (1 where nothing is ever compared), and how they were counted, as
    the settings of a saved file tell it. ``check_grid`` may refuse the grid before any row is counted."""
    check_unit(unit, unit_rows)
    with engine_for(data, engine, engine_address) as reader:
        rows, grid = open_columns(
            data, column, bounds,
            bins=bins, padding_epsilon=padding_epsilon, percentile=percentile, engine=reader, unit=unit,
        )  # fmt: skip
        check_grid(grid)
        players = count_players(rows, grid, missing=missing, outside=outside, unit_rows=unit_rows)
        check_players(players, least, units=bool(rows.kept))
        if unit is None:
            warn_of_repeats(data, rows.columns)
    public = bounds is not None and (not isinstance(bounds, Mapping) or set(rows.columns) <= set(bounds))
    return players, counting_settings(
        players, public_bounds=public, missing=missing, outside=outside, unit=unit, unit_rows=unit_rows,
        padding_epsilon=padding_epsilon, percentile=percentile,
    )  # fmt: skip


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


def check_unit(unit: Any, unit_rows: str) -> None:
    """Refuse what cannot say whose rows are whose."""
    check_settings({"unit": unit, "unit_rows": unit_rows})


def open_columns(
    data: Any,
    column: str | Sequence[str] | None,
    bounds: Bounds,
    *,
    bins: int,
    padding_epsilon: float,
    percentile: float,
    engine: Engine | None = None,
    unit: str | None = None,
) -> tuple[counting.Rows, Grid]:
    """The rows to count and the grid to count them on; bounds left out are read off the data, with a warning."""
    rows = counting.open_rows(data, column, engine, keep=False if unit is None else unit)
    if unit in rows.columns:
        raise BadInput(f"Column {unit!r} cannot be both the unit and what is counted.")
    given = bounds if isinstance(bounds, Mapping) else {} if bounds is None else dict.fromkeys(rows.columns, bounds)
    check(bounds is None or len(given) > 0, "bounds", "left out or two numbers, (low, high)", bounds)
    if len(rows.columns) > 1 and bounds is not None and not isinstance(bounds, Mapping):
        raise BadInput("With several columns, bounds must be a dict: {column: (low, high), ...}.")
    strange = next((name for name in given if name not in rows.columns), None)
    if strange is not None:
        raise BadInput(f"There are bounds for column {strange!r}, which is not among {list(rows.columns)}.")
    axes = []
    for number, name in enumerate(rows.columns):
        low, high = _two_numbers(given[name]) if name in given else counting.find_bounds(rows, number)
        axes.append(Axis.padded(name, low, high, bins=bins, padding_epsilon=padding_epsilon, percentile=percentile))
    return rows, Grid(tuple(axes))


def _two_numbers(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
        return low + 0.0, high + 0.0
    except (TypeError, ValueError):
        check(False, "bounds", "two numbers, (low, high)", bounds)
        raise


def count_players(rows: counting.Rows, grid: Grid, *, missing: str, outside: str, unit_rows: str = "all") -> Players:
    """The players: people by the cells of their rows, however many there are; ``unit_rows`` says which rows."""
    many = counting_units.people_by_bag if unit_rows == "all" else counting_units.people_once
    return (many if rows.kept else counting.count_jointly)(rows, grid.axes, missing=missing, outside=outside)


def check_players(players: Players, least: int = 2, *, units: bool = False) -> None:
    """Refuse too few people, and data that all looks alike; with a ``least`` of 1, nothing but no people at all."""
    grid, people = players.grid, players.total_people
    several = len(grid.axes) > 1
    has = f"Column{'s' * several} {grid.name} ha{'ve' if several else 's'}"
    if people < least == 1:
        raise BadInput(f"{has} 0 usable values, and at least one person is needed.")
    if least == 1:
        return
    if people < 2:
        values = "usable values of 1 person" if units and people else f"{people} usable value{'s' * (people != 1)}"
        raise BadInput(
            f"{has} {values}, and at least two people are needed: a loss compares the data with and without a person."
        )
    if len(players.occupied) == 1:
        name = has.rsplit(" ", 1)[0].replace("Column", "column")
        raise BadInput(
            f"All {players.total_rows:,} values of {name} fall in one bin: there is no distribution to release. If "
            "they are not all equal, use narrower bounds or more bins."
        )
