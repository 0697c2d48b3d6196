"""What every solver gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import Ints
from equinoise.display import NotebookDisplay
from equinoise.game.game import Game


@dataclass(frozen=True)
class Request:
    """What is asked of a solver, in public settings alone: what it can do is decided by this, before data is read.

    ``condition`` is ``pure``, ``delta`` or ``renyi``; ``utility`` a name without its number; ``several_rows`` whether
    all rows of a person are taken, which says nothing of whether anyone has several.
    """

    columns: int = 1
    several_rows: bool = False
    condition: str = "pure"
    utility: str = "kl"
    budget: bool = False
    adaptive: bool = False
    per_axis: bool = False
    own_start: bool = False


@dataclass(frozen=True, eq=False)
class Round:
    """The state after one round of a solver.

    ``unprotected`` is how many people are, ``done`` the share of the work under way that is done, ``left`` how many
    seconds it may still take at most, each where it is known.
    """

    run: int
    number: int
    moves: int
    profile: Ints
    note: str = ""
    done: float | None = None
    left: float | None = None
    unprotected: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Solution(NotebookDisplay):
    """A profile of a game, and how it was found.

    ``least_epsilon`` is the worst loss if everyone is protected; otherwise the smallest worst loss of everyone at the
    largest scale and of the profiles at which runs began and ended.
    """

    game: Game
    profile: Ints
    name: str
    equilibrium: bool
    rounds: int
    seconds: float
    least_epsilon: float
    settings: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def protected(self) -> int:
        """People whose loss is within epsilon."""
        return self.game.people - self.game.unprotected(self.profile)

    @cached_property
    def worst_loss(self) -> float:
        """The largest loss of anyone."""
        return float(self.game.losses(self.profile).max())

    @cached_property
    def kl(self) -> float:
        """KL(p || q), whatever the utility."""
        return self.game.kl(self.profile)

    @cached_property
    def divergence(self) -> float:
        """What the utility measures: the same unless another utility was asked for."""
        return self.game.divergence(self.profile)

    def summary(self) -> dict[str, Any]:
        """How it was found, as saved files and JSON tell it."""
        return {
            "name": self.name,
            "equilibrium": self.equilibrium,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 4),
            **self.settings,
        }


Progress = Callable[[Round], None]


def tell(progress: Progress | None, note: str, done: float | None = None) -> None:
    """Tell a watcher what is under way, and the share of it that is done."""
    if progress is not None:
        progress(Round(0, 0, 0, np.zeros((0, 0), dtype=np.int64), note, done))
