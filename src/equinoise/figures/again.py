"""A saved mechanism's game, played again: how the solver got there, and what other epsilons would have given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equinoise.fixed_noise import FixedNoise
from equinoise.game import Game
from equinoise.grid import Histogram, JointHistogram
from equinoise.joint_fixed_noise import JointFixedNoise
from equinoise.joint_game import JointGame
from equinoise.joint_noise import make_joint_kernel
from equinoise.noise import make_kernel
from equinoise.solvers import Round, Solution
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.solution import AnyGame
from equinoise.unit_fixed_noise import UnitFixedNoise
from equinoise.unit_game import UnitGame
from equinoise.units import UnitHistogram

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """Where a run stands after a round."""

    run: int
    round: int
    kl: float
    everyone: bool


def game_of(mechanism: FixedNoise, epsilon: float | None = None) -> AnyGame:
    """The game with the saved people, noise, scales and utility, at the saved epsilon of one draw or another one."""
    utility, one = mechanism.settings.get("utility", "kl"), mechanism.epsilon if epsilon is None else epsilon
    grid, counts = mechanism.grid, mechanism.histogram
    occupied = np.flatnonzero(counts)
    if isinstance(mechanism, JointFixedNoise):
        joint = JointHistogram(grid, occupied, counts[occupied])
        kernel = make_joint_kernel(mechanism.noise, mechanism.scales, grid.shape)
        return JointGame(joint, kernel, one, utility)
    rows = make_kernel(mechanism.noise, mechanism.scales, grid.axis.bins, cells=occupied)
    if isinstance(mechanism, UnitFixedNoise):
        people = mechanism.people_by_bag
        bags = tuple(sorted(people))
        units = UnitHistogram(grid, bags, np.array([people[bag] for bag in bags], dtype=np.int64))
        return UnitGame(units, rows, one)
    return Game(Histogram(grid, counts), rows, one, utility, delta=mechanism.delta, order=mechanism.order)


def play(
    game: AnyGame, *, restarts: int, seed: int, seen: Callable[[Round], None] | None = None
) -> Solution[Game] | Solution[JointGame] | Solution[UnitGame]:
    """Best response, on a game of any kind."""
    if isinstance(game, UnitGame):
        return best_response(game, restarts=restarts, seed=seed, progress=seen)
    if isinstance(game, JointGame):
        return best_response(game, restarts=restarts, seed=seed, progress=seen)
    return best_response(game, restarts=restarts, seed=seed, progress=seen)


def replayed(mechanism: FixedNoise, tell: Tell) -> tuple[list[Step], bool]:
    """Best response from the saved game's usual starts, round by round; and whether it ends at the saved profile."""
    game, steps = game_of(mechanism), list[Step]()

    def seen(state: Round) -> None:
        if state.number == 0:  # only says what comes next
            return
        run = (steps[-1].run if steps else 0) + (state.number == 1)
        tell(f"Playing again: run {run}, round {state.number}")
        if _kept(state.number) or state.moves == 0:
            everyone = game.payoff(state.profile).protected == game.people
            steps.append(Step(run, state.number, game.kl(state.profile), everyone))

    restarts, seed = mechanism.solver.get("restarts", RESTARTS), mechanism.solver.get("seed", 0)
    solution = play(game, restarts=int(restarts), seed=int(seed), seen=seen)
    return steps, _same(solution, mechanism)


def _kept(number: int) -> bool:
    """All of the first rounds, then ever fewer: nobody sees more of them on a logarithmic axis."""
    return number % (1 << max(0, number.bit_length() - 6)) == 0


def _same(solution: Solution[Game] | Solution[JointGame] | Solution[UnitGame], mechanism: FixedNoise) -> bool:
    found = solution._shown_mechanism()
    assert isinstance(found, FixedNoise)
    names = ("cells", "scale_indices", "people", "weights")
    return all(np.array_equal(getattr(found, name), getattr(mechanism, name)) for name in names)
