"""What a page asks for, and the mechanism it gets: the one that ``equinoise optimize`` makes of the same settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.errors import BadInput, check
from equinoise.explore.counted import Counted
from equinoise.mechanism import Mechanism
from equinoise.people import check_players
from equinoise.pipeline import check_columns, check_guarantee, make_from, settings_of
from equinoise.procedure import Procedure
from equinoise.solvers import Round

SCALES = ("wide", "adaptive", "paper")


@dataclass(frozen=True)
class Asked:
    """The settings that a page moves. Their values are checked where ``optimize`` checks its own.

    ``columns`` are the numbers of those that take part, in the order in which they were named; None is all.
    """

    epsilon: float
    bins: int = 101
    scales: str = "wide"
    guarantee: str = "fixed-noise"
    draws: int = 1
    delta: float = 0.0
    columns: Sequence[int] | None = None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Asked:
        """Settings as a page sends them; what is none of them, or of another type, is refused."""
        known = cls.__dataclass_fields__
        strange = next((name for name in given if name not in known), None)
        if strange is not None:
            raise BadInput(f"There is no setting {str(strange)[:40]!r} here. There are {', '.join(known)}.")
        if "epsilon" not in given:
            raise BadInput("There is no epsilon. Give one, such as 1.")
        for name in ("scales", "guarantee"):
            check(isinstance(given.get(name, ""), str), name, "a word", given.get(name))
        return cls(**given)


def make(counted: Counted, asked: Asked, progress: Callable[[Round], None] | None = None) -> Mechanism:
    """The mechanism, or the refusal that the command line prints."""
    procedure = Procedure(asked.epsilon, scales=asked.scales, draws=asked.draws, delta=asked.delta)
    players = counted.on(asked.bins, asked.columns)
    names = [axis.name for axis in players.grid.axes]
    public = counted.public.issuperset(names)
    check_guarantee(asked.guarantee, procedure, True if public else None)
    procedure.check_grid(players.grid)
    check_columns(asked.guarantee, len(names))
    check_players(players, 1 if asked.guarantee == "worst-case" else 2)
    settings = settings_of(
        procedure, guarantee=asked.guarantee, columns=names, public_bounds=public, missing=counted.missing,
        outside=counted.outside,
    )  # fmt: skip
    return make_from(players, procedure, guarantee=asked.guarantee, settings=settings, progress=progress)
