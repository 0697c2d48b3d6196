"""A saved mechanism's procedure, to be run again: which it is, whether it can be, and whether it ends as it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from equinoise.errors import BadInput
from equinoise.game.game import Game
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.procedure import Procedure
from equinoise.solvers.solution import Round, Solution

PROCEDURE_SETTINGS = tuple(field.name for field in fields(Procedure))
"""The settings that a procedure has."""


def procedure_of(mechanism: Mechanism) -> Procedure:
    """The procedure that the settings of a mechanism name, if it is one that can be run again for a neighbour."""
    reason = why_not_measured(mechanism)
    if reason is not None:
        raise BadInput(reason)
    return Procedure(**{name: mechanism.settings[name] for name in PROCEDURE_SETTINGS})


def why_not_measured(mechanism: Mechanism) -> str | None:
    """Why the procedure that made a mechanism cannot be run again for a neighbour; None if it can."""
    settings = mechanism.settings
    if not settings.get("public_bounds", True):
        return (
            "The bounds of this mechanism were read off the data, so without one person the grid itself may be another "
            "one and the loss infinite. Make it again with public bounds to measure it end to end."
        )
    if not set(PROCEDURE_SETTINGS) <= set(settings):
        return (
            "This mechanism does not tell all of its settings: it was made by an earlier version of Equinoise. Make it "
            "again to measure it end to end."
        )
    if settings.get("own_start"):
        return (
            "This mechanism was solved from a start of one's own, which is not known for the data without a person. "
            "Make it again without one to measure it end to end."
        )
    if "optimal" in (settings["solver"], mechanism.solver["name"]) and mechanism.solver.get("proven") is not True:
        return (
            "The optimal solver was stopped before it was done (or was not closer than best response), so the time it "
            "had decided the profile, and no neighbour can be solved in the same way. Make it again with a longer time "
            "limit to measure it end to end."
        )
    return None


def gives_same_profile(solution: Solution, mechanism: Mechanism) -> bool:
    """Whether a solution is exactly what the mechanism holds."""
    found = PerInstance.unchecked(solution)
    return (
        found.scales == mechanism.scales
        and found.members.same(mechanism.members)
        and np.array_equal(found.scale_indices, mechanism.scale_indices)
        and all(map(np.array_equal, found.factors, mechanism.factors))
    )


@dataclass(frozen=True)
class Step:
    """A run of best response after a round: KL from the original (nats), and whether everyone is protected."""

    run: int
    round: int
    kl: float
    everyone: bool


def replay_rounds(mechanism: Mechanism, game: Game, tell: Callable[[str], None]) -> tuple[list[Step], bool]:
    """Steps of best response from the saved game's usual starts; and whether it ends at the saved profile.

    All of the first rounds of a run, then ever fewer: nobody sees more of them on a logarithmic axis."""
    steps: list[Step] = []

    def add_step(state: Round) -> None:
        if state.number == 0:  # only says what comes next
            return
        run = (steps[-1].run if steps else 0) + (state.number == 1)
        tell(f"Playing again: run {run}, round {state.number}")
        every = 1 << max(0, state.number.bit_length() - 6)
        if state.number % every == 0 or state.moves == 0:
            everyone = game.payoff(state.profile).protected == game.people
            steps.append(Step(run, state.number, game.kl(state.profile), everyone))

    restarts, seed = mechanism.solver.get("restarts", RESTARTS), mechanism.solver.get("seed", 0)
    solution = best_response(game, restarts=int(restarts), seed=int(seed), progress=add_step)
    return steps, gives_same_profile(solution, mechanism)
