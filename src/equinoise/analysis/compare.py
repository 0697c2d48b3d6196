"""The game beside what one would use instead, on the same data and grid, at several epsilons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from equinoise.analysis.method_row import MODELS, PROMISES, LeftOut, Row, share_of_one_row
from equinoise.analysis.methods import LOCAL_ROWS, Methods
from equinoise.choices import (
    DecimalMark,
    EngineName,
    GridName,
    MissingRule,
    NoiseName,
    OutsideRule,
    RowsOfUnit,
    ScaleSet,
    SeparatorName,
    UtilityName,
)
from equinoise.data.bounds_cost import warn_uncounted
from equinoise.data.grid import Grid, Histogram
from equinoise.data.players import Players
from equinoise.data.read_players import (
    Bounds,
    Categories,
    SchemaLike,
    columns_asked_for,
    read_players,
    rows_of_a_person,
    schema_of,
)
from equinoise.data.read_players import Step as StepOfColumn
from equinoise.display import VIEWS
from equinoise.errors import BadInput, check, is_whole
from equinoise.formatting import at_most, join_and
from equinoise.game.game import Game
from equinoise.game.kernel import Kernel, make_kernel
from equinoise.settings import LEAST_EPSILON, MOST_DRAWS, check_setting
from equinoise.solvers.procedure import Procedure, make_solver
from equinoise.solvers.solution import Round

TIME_LIMIT_PER_EPSILON = 20.0

Progress = Callable[[float, str, Round | None], None]
Step = tuple[str, Callable[[], Row | LeftOut]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Every method at every epsilon, worked out from one count of the people. As secret as the data."""

    players: Players
    public_bounds: bool
    epsilons: tuple[float, ...]
    rows_to_draw: int
    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...]
    settings: dict[str, Any]

    @property
    def grid(self) -> Grid:
        """The cells that all methods draw from."""
        return self.players.grid

    @property
    def histogram(self) -> Histogram:
        """People per cell."""
        return self.players.histogram

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.players.total_people

    @property
    def title(self) -> str:
        """The columns in words: column 'pay', or columns 'height' and 'weight'."""
        return f"column{'s' * (len(self.grid.axes) > 1)} {self.grid.name}"

    @property
    def methods(self) -> list[str]:
        """The methods that have a row, in the order in which they are shown."""
        return [method for method in PROMISES if any(row.method == method for row in self.rows)]

    @property
    def labels(self) -> dict[str, list[Row]]:
        """The rows of each method and, where several families of noise are compared, of each family."""
        labels: dict[str, list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: self.methods.index(row.method)):
            labels.setdefault(row.label, []).append(row)
        return labels

    def plot(self, path: str | Path, *, force: bool = False) -> None:
        """Save a picture, KL against epsilon, as PNG, SVG or a page, to a file that only its owner can read."""
        VIEWS["comparison"](self, path, force=force)

    def __repr__(self) -> str:
        """One line; a notebook shows the table."""
        epsilons = join_and(map(at_most, self.epsilons))
        return f"<Comparison of {len(self.methods)} methods for {self.title} at epsilon {epsilons}>"

    def _repr_html_(self) -> str:
        return str(VIEWS["comparison in HTML"](self))

    def to_json(self) -> dict[str, Any]:
        """What ``compare --json`` prints, but for ``warnings`` and ``plot``."""
        return {
            "people": self.people,
            "coverage": None if self.players.coverage is None else self.players.coverage.to_json(),
            "cells": self.grid.cells,
            "column": _one_or_all([axis.name for axis in self.grid.axes]),
            "epsilons": list(self.epsilons),
            "rows": self.rows_to_draw,
            "settings": self.settings,
            "results": [row.to_json() for row in self.rows],
            "left_out": [vars(left) for left in self.left_out],
        }


def compare(
    data: Any,
    schema: SchemaLike = None,
    column: str | Sequence[str] | None = None,
    *,
    epsilons: Sequence[float],
    rows: int = 1,
    bounds: Bounds = None, step: StepOfColumn = None, categories: Categories = None,
    bins: int | None = None, grid: GridName = "schema",
    noise: NoiseName | Sequence[NoiseName] = "laplace",
    scales: ScaleSet | Sequence[float] | Mapping[str, Sequence[float]] = "wide",
    utility: UtilityName = "kl",
    time_limit: float = TIME_LIMIT_PER_EPSILON,
    genetic: bool = False,
    restarts: int | None = None,
    seed: int = 0,
    missing: MissingRule | None = None, outside: OutsideRule | None = None,
    padding_epsilon: float = 1.0, percentile: float = 0.9,
    unit: str | None = None, unit_rows: RowsOfUnit = "all",
    engine: EngineName = "polars", engine_address: str | None = None,
    separator: SeparatorName | None = None, decimal: DecimalMark | None = None,
    progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """The game and what one would use instead on one column or several, at every epsilon. The data is counted once.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> found = compare(people, epsilons=[1, 2], bounds=(140, 210), bins=41, restarts=2, time_limit=1)
    >>> [row.method for row in found.rows if row.epsilon == 1][:4]
    ['best-response', 'optimal', 'laplace', 'bounded-laplace']

    An epsilon is for so many ``rows`` together: where each of them costs, it has an even share. ``time_limit`` is the
    optimal solver's, in seconds per epsilon. ``genetic`` adds the genetic solver, which is slow. ``progress`` is told
    the epsilon and the method under way and, while a solver runs, its rounds. The other settings are those of
    :func:`equinoise.optimize`, but that ``noise`` may be several families, to see them side by side.
    """
    ordered = check_epsilons(epsilons)
    check_setting("time_limit", time_limit)
    check(progress is None or callable(progress), "progress", "a function or None", progress)
    families = check_families(noise)
    procedures = [
        Procedure(each, scales=scales, utility=utility, restarts=restarts, seed=seed) for each in _shares(ordered, rows)
    ]  # refused before anything is read
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, outside=outside, unit=unit)
    players, counting = read_players(
        data, warn_uncounted(asked), bins=bins, grid=grid, padding_epsilon=padding_epsilon, percentile=percentile,
        most_rows=_one_row(asked.unit, unit_rows), engine=engine, engine_address=engine_address, separator=separator,
        decimal=decimal, check_grid=partial(_check_grid, procedures),
    )  # fmt: skip
    public = bool(counting["public_bounds"])
    solving = {"scales": scales, "seed": seed, "restarts": restarts, "time_limit": time_limit}
    by_epsilon = dict(zip(ordered, procedures, strict=True))
    found, left_out = _run(Methods(players, public, rows), by_epsilon, families, solving, genetic, progress)
    settings = {
        "schema": schema_of(players.grid.axes, public=public).to_json(),
        "public_bounds": public, "bins": bins, "noise": noise if isinstance(noise, str) else list(noise),
        "utility": utility, **solving, "scales": procedures[0].to_json()["scales"],
    }  # fmt: skip
    return Comparison(players, public, ordered, rows, found, left_out, settings)


def _one_row(unit: str | None, unit_rows: str) -> int | None:
    """That one row of a person counts; refused otherwise."""
    most = rows_of_a_person(unit_rows, unit)
    if unit is not None and most is None:
        raise BadInput(
            "What the game is compared with is for one row a person: keep one of each with --unit-rows one (in Python, "
            "unit_rows='one')."
        )
    return most


def _check_grid(procedures: Sequence[Procedure], grid: Grid) -> None:
    for procedure in procedures:
        procedure.check_grid(grid)


def _run(
    methods: Methods, procedures: Mapping[float, Procedure], families: Sequence[str], solving: dict[str, Any],
    genetic: bool, progress: Progress | None,
) -> tuple[tuple[Row, ...], tuple[LeftOut, ...]]:  # fmt: skip
    """Every method at every epsilon, each with the procedure of one row; those that could not be run apart."""
    players, grid = methods.players, methods.grid
    rows: list[Row] = []
    left_out: list[LeftOut] = []
    kernels: dict[str, Kernel] = {}
    for epsilon, procedure in procedures.items():
        scales = procedure.offered(grid)
        for family in families:
            if family not in kernels or kernels[family].scales != scales:  # most sets serve every epsilon
                kernels[family] = make_kernel(family, scales, grid.shape, grid.bins_of(players.cells), grid.categories)
        games = [Game(players, kernels[family], procedure.epsilon, procedure.utility) for family in families]
        for name, step in _steps(methods, epsilon, games, progress, {**solving, "keep_when_stopped": False}, genetic):
            if progress is not None:
                progress(epsilon, name, None)
            outcome = step()
            if isinstance(outcome, Row):
                rows.append(outcome)
            elif outcome not in left_out:  # a missing extra is missing at every epsilon
                left_out.append(outcome)
    return tuple(rows), tuple(left_out)


def _steps(
    methods: Methods, epsilon: float, games: list[Game], progress: Progress | None, settings: dict[str, Any],
    slow: bool,
) -> Iterator[Step]:  # fmt: skip
    """The methods at one epsilon, in the order in which they are shown."""

    def play(name: str, game: Game) -> Row | LeftOut:
        seen = None if progress is None else lambda state: progress(epsilon, name, state)
        found = methods.play(name, epsilon, game, make_solver(name, progress=seen, **settings))
        return replace(found, noise=game.kernel.noise) if isinstance(found, Row) and len(games) > 1 else found

    for name in ("best-response", "optimal", *(["genetic"] if slow else [])):
        for game in games:
            yield name if len(games) == 1 else f"{name} {game.kernel.noise}", partial(play, name, game)
    for name in LOCAL_ROWS:
        yield name, partial(methods.local, name, epsilon)
    for name in ("additive-smoothing", "bounded-smoothing"):
        yield name, partial(methods.smoothed, name, epsilon)
    yield "envelope", partial(methods.envelope, epsilon)
    yield "dp-histogram", partial(methods.dp_histogram, epsilon)
    yield "pay-once", partial(methods.paid_once, epsilon)
    if len(methods.grid.axes) > 1:
        for name in MODELS:
            yield name, partial(methods.modelled, name, epsilon)


def _shares(epsilons: Sequence[float], rows: Any) -> list[float]:
    """What one of so many rows may cost, at every epsilon."""
    check(is_whole(rows, 1, MOST_DRAWS), "rows", f"a whole number from 1 to {MOST_DRAWS}", rows)
    most = int(epsilons[0] / LEAST_EPSILON)
    check(rows <= most or rows == 1, "rows", f"at most {most} at epsilon {epsilons[0]:g}", rows)
    return [share_of_one_row(epsilon, rows) for epsilon in epsilons]


def _one_or_all(of_columns: list[str] | dict[str, Any]) -> Any:
    """What JSON says of the only column; of several, all of it."""
    if len(of_columns) > 1:
        return of_columns
    return next(iter(of_columns.values() if isinstance(of_columns, dict) else of_columns))


def check_families(noise: Any) -> list[str]:
    """The families of noise to compare, if there are any, all known and all different."""
    several = isinstance(noise, Sequence) and not isinstance(noise, str)
    families = list(noise) if several else [noise]
    check(len(families) > 0, "noise", "at least one family", noise)
    for family in families:
        check_setting("noise", family)
    repeated = next((family for family in families if families.count(family) > 1), None)
    if repeated is not None:
        raise BadInput(f"The noise {repeated!r} is given more than once. Give every family once.")
    return families


def check_epsilons(epsilons: Any) -> tuple[float, ...]:
    """The epsilons in ascending order, if there are any, all usable and all different."""
    several = isinstance(epsilons, Sequence | np.ndarray) and not isinstance(epsilons, str | bytes)
    check(several and len(epsilons) > 0, "epsilons", "a list of at least one number", epsilons)
    for epsilon in epsilons:
        check_setting("epsilon", epsilon)
    ordered = tuple(sorted(float(epsilon) for epsilon in epsilons))
    repeated = next((a for a, b in pairwise(ordered) if a == b), None)
    if repeated is not None:
        raise BadInput(f"Epsilon {repeated:g} is given more than once. Give every epsilon once.")
    return ordered
