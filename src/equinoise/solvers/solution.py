"""What every solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from equinoise.game import Game
from equinoise.grid import Ints
from equinoise.joint_game import JointGame
from equinoise.shown import Shown
from equinoise.unit_game import UnitGame

if TYPE_CHECKING:
    from equinoise.mechanism import Mechanism

AnyGame = Game | JointGame | UnitGame

G = TypeVar("G", bound=AnyGame, default=Game)
"""The kind of game: on one axis, one row a person, unless another is said."""


@dataclass(frozen=True, eq=False)
class Round:
    """The state after one round of a solver.

    ``done`` is the share of the work under way that is done, ``left`` how many seconds it may still take at most, each
    where it is known.
    """

    restart: int
    number: int
    moves: int
    profile: Ints
    note: str = ""
    done: float | None = None
    left: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown, Generic[G]):
    """A profile of a game, and how it was found.

    ``least_epsilon`` is the smallest worst loss of everyone at the largest scale and of the profiles at which runs
    began and ended.
    """

    game: G
    profile: Ints
    name: str
    equilibrium: bool
    rounds: int
    seconds: float
    least_epsilon: float
    settings: dict[str, Any] = field(default_factory=dict)

    def _shown_mechanism(self) -> Mechanism:
        """As a mechanism for one draw that may not hold: only to be looked at."""
        from equinoise.fixed_noise import FixedNoise
        from equinoise.joint_fixed_noise import JointFixedNoise
        from equinoise.unit_fixed_noise import UnitFixedNoise

        if isinstance(self.game, JointGame):
            return JointFixedNoise.unchecked(self)
        if isinstance(self.game, UnitGame):
            return UnitFixedNoise.unchecked(self)
        return FixedNoise.unchecked(self)

    @property
    def protected(self) -> int:
        """People whose loss is within epsilon."""
        return self.game.payoff(self.profile).protected

    @property
    def worst_loss(self) -> float:
        """The largest loss of anyone."""
        return float(self.game.losses(self.profile).max())

    @property
    def kl(self) -> float:
        """KL(p || q), whatever the utility."""
        return self.game.kl(self.profile)

    @property
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
