"""What a page asks for, and the mechanism it gets: the one that the command line makes of the same settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.data.read_players import check_players, counting_settings
from equinoise.errors import BadInput, check
from equinoise.explore.counts import ColumnCounts
from equinoise.formatting import join_or
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.mechanisms.private_table import check_private_grid
from equinoise.settings import SETTINGS, check_settings
from equinoise.solvers.procedure import Procedure
from equinoise.solvers.solution import Round
from equinoise.synthesis.choice import method_sentence
from equinoise.verbs.optimize import play

PER_INSTANCE, DIFFERENTIAL_PRIVACY = PROMISES = ("per-instance", "differential-privacy")
"""What may be promised: by ``optimize``, and by ``synthesize``."""


@dataclass(frozen=True)
class PageRequest:
    """The settings that a page moves. Their values are checked where the command checks its own.

    ``columns`` are the numbers of those that take part, in the order in which they were named; None is all.
    """

    epsilon: float
    bins: int = 101
    scales: str = SETTINGS["scales"].default
    promise: str = PER_INSTANCE
    draws: int = SETTINGS["draws"].default
    delta: float = SETTINGS["delta"].default
    columns: Sequence[int] | None = None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> PageRequest:
        """Settings as a page sends them; what is none of them, or of another type, is refused."""
        known = cls.__dataclass_fields__
        strange = next((name for name in given if name not in known), None)
        if strange is not None:
            raise BadInput(f"There is no setting {str(strange)[:40]!r} here. There are {', '.join(known)}.")
        if "epsilon" not in given:
            raise BadInput("There is no epsilon. Give one, such as 1.")
        for name in ("scales", "promise"):
            check(isinstance(given.get(name, ""), str), name, "a word", given.get(name))
        return cls(**given)


def make(counted: ColumnCounts, request: PageRequest, progress: Callable[[Round], None] | None = None) -> Mechanism:
    """The mechanism, or the refusal that the command line prints."""
    check(request.promise in PROMISES, "promise", join_or(PROMISES), request.promise)
    private = request.promise == DIFFERENTIAL_PRIVACY
    target: dict[str, Any] = {"epsilon": request.epsilon, "draws": request.draws, "delta": request.delta}
    procedure = Procedure(scales=request.scales, **target)
    players = counted.on(request.bins, request.columns)
    public = counted.public.issuperset(axis.name for axis in players.grid.axes)
    if private:
        plain = request.scales == SETTINGS["scales"].default
        check(plain, "scales", "left out with differential privacy, which has no game", request.scales)
        check_settings(target)
        if not public:
            raise BadInput("Differential privacy needs --bounds: bounds read off the data depend on one person.")
        check_private_grid(players.grid)
    else:
        procedure.check_grid(players.grid)
    check_players(players, 1 if private else 2)
    counting = counting_settings(players, public_bounds=public)
    if private:
        chosen = {"method": EnvelopeTable.method, "plan": method_sentence(EnvelopeTable.method), "people": None}
        return EnvelopeTable.make(
            players, epsilon=request.epsilon, rows=request.draws, delta=request.delta,
            settings={**counting, **chosen, "rows": request.draws, "rows_per_person": 1},
        )  # fmt: skip
    return play(players, procedure, {**counting, "unit_rows": "all"}, progress=progress)
