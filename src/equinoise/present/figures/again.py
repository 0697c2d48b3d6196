"""A saved mechanism's game, played again: how the solver got there, and what other epsilons would have given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from equinoise.analysis.replay import gives
from equinoise.game.game import Game
from equinoise.mechanisms.base import Mechanism
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.solution import Round

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """Where a run stands after a round."""

    run: int
    round: int
    kl: float
    everyone: bool


def replayed(mechanism: Mechanism, game: Game, tell: Tell) -> tuple[list[Step], bool]:
    """Best response from the saved game's usual starts, round by round; and whether it ends at the saved profile."""
    steps = list[Step]()

    def seen(state: Round) -> None:
        if state.number == 0:  # only says what comes next
            return
        run = (steps[-1].run if steps else 0) + (state.number == 1)
        tell(f"Playing again: run {run}, round {state.number}")
        if _kept(state.number) or state.moves == 0:
            everyone = game.payoff(state.profile).protected == game.people
            steps.append(Step(run, state.number, game.kl(state.profile), everyone))

    restarts, seed = mechanism.solver.get("restarts", RESTARTS), mechanism.solver.get("seed", 0)
    solution = best_response(game, restarts=int(restarts), seed=int(seed), progress=seen)
    return steps, gives(solution, mechanism)


def _kept(number: int) -> bool:
    """All of the first rounds, then ever fewer: nobody sees more of them on a logarithmic axis."""
    return number % (1 << max(0, number.bit_length() - 6)) == 0
