"""From rows to differentially private weights in one call: a public rule, and no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from equinoise.data.grid import Grid
from equinoise.data.read_players import Bounds, read_players
from equinoise.errors import BadInput, check
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.settings import check_settings
from equinoise.solvers.procedure import warn_of_delta
from equinoise.solvers.solution import Round, tell
from equinoise.verbs.progress import takes_progress_flag


@takes_progress_flag
def synthesize(
    data: Any,
    *,
    epsilon: float,
    column: str | None = None,
    bounds: Bounds = None,
    bins: int = 101,
    draws: int = 1,
    delta: float = 0.0,
    missing: str = "refuse", outside: str = "refuse",
    padding_epsilon: float = 1.0, percentile: float = 0.9,
    base: Sequence[float] | None = None,
    unit: str | None = None, unit_rows: str = "all",
    engine: str = "polars", engine_address: str | None = None,
    separator: str | None = None, decimal: str | None = None,
    progress: Callable[[Round], None] | bool | None = None,
) -> Mechanism:  # fmt: skip
    """A differentially private mechanism for one column of numbers about people, certified for every dataset.

    No game is played: a public rule of epsilon, the number of cells within the bounds and draws gives every cell a
    weight. ``bounds`` must be given. ``base`` may say where to expect people, one number for each cell within the
    bounds. With a ``unit``, ``unit_rows`` must be ``one``. The other settings are those of :func:`equinoise.optimize`.

    >>> import numpy as np
    >>> people = np.random.default_rng(7).normal(175, 9, 500).clip(140, 210)
    >>> mechanism = synthesize(people, epsilon=1, bounds=(140, 210))
    >>> mechanism.kind, mechanism.certificate().holds, len(mechanism.sample(1))
    ('differential-privacy', True, 1)
    """
    assert not isinstance(progress, bool)  # watched
    check_promise(epsilon, draws, delta, public_bounds=bounds is not None)
    one = unit is None or unit_rows == "one"
    check(one, "unit_rows", "'one' with differential privacy, whatever rows people have", unit_rows)
    players, counting = read_players(
        data, column, bounds,
        bins=bins, missing=missing, outside=outside, padding_epsilon=padding_epsilon, percentile=percentile, unit=unit,
        unit_rows=unit_rows, engine=engine, engine_address=engine_address, separator=separator, decimal=decimal,
        check_grid=check_one_column, least=1,
    )  # fmt: skip
    warn_of_delta(delta, players.total_people)
    tell(progress, "Working out the weights")
    return PrivateTable.make(players.histogram, epsilon=epsilon, draws=draws, delta=delta, base=base, settings=counting)


def check_promise(epsilon: Any, draws: Any, delta: Any, *, public_bounds: bool) -> None:
    """Refuse what cannot be promised, before any data is read."""
    check_settings({"epsilon": epsilon, "draws": draws, "delta": delta})
    if not public_bounds:
        raise BadInput(
            "Differential privacy needs --bounds (in Python, bounds=): bounds read off the data depend on one person."
        )
    check(draws > 1 or delta == 0, "delta", "0 for one draw with differential privacy, which needs none", delta)


def check_one_column(grid: Grid) -> None:
    """Refuse several columns."""
    names = [axis.name for axis in grid.axes]
    check(len(names) == 1, "column", "one column with differential privacy: take each alone", names)
