"""The best profile there is, with a proof of how far from best it can be.

Branch and bound on who uses what: linear programs (``linear_program.py``) give lower bounds; their solutions, made
whole and improved by one and two people at a time, give profiles. It ends when they meet, or when time is up, with the
gap as it then is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from equinoise.data.grid import Ints
from equinoise.errors import BadInput, check
from equinoise.game import equilibrium
from equinoise.game.game import Game
from equinoise.solvers.best_response import RESTARTS, best_response
from equinoise.solvers.solution import Request, Round, Solution

TIME_LIMIT = 60.0
SETTINGS = {"time_limit": TIME_LIMIT, "restarts": RESTARTS}
SUMMARY_NUMBERS = ("gap", "lower_bound")

POLISHING, PROVING = 0.2, 0.9
"""Shares of the time after which the first attempts end, and the search."""
MOST_PROGRAM_WEIGHTS = 2**25
"""Programs with more weights than this are refused: a quarter of a gigabyte, several times over."""


def supports(request: Request) -> str | None:
    """Why the optimal solver cannot do what is asked; None, as it can do all."""
    return None


def optimal(
    game: Game,
    *,
    time_limit: float = TIME_LIMIT,
    restarts: int = RESTARTS,
    seed: int = 0,
    start: Ints | None = None,
    known: Ints | None = None,
    keep_when_stopped: bool = True,
    progress: Callable[[Round], None] | None = None,
) -> Solution:
    """The profile of least divergence that protects everyone, within the target gap, or the best found when the time
    limit (in seconds) or Ctrl-C ends the search; the gap says which. Without ``keep_when_stopped``, Ctrl-C is the
    caller's. A ``start`` or ``known`` profile is one beside the others. With an infinite time limit nothing else asks
    the clock, and the same game gives the same profile.
    """
    from equinoise.solvers.optimal.search import SOLVER_ERROR, Search

    check(time_limit > 0, "time_limit", "a positive number of seconds", time_limit)
    check_size(game)
    began = time.perf_counter()
    known = start if known is None else known
    first = best_response(game, restarts=restarts, seed=seed, known=known, progress=progress)
    search = Search(game, first, began + time_limit, progress)
    stopped = False
    try:
        search.deadline = began + PROVING * time_limit
        search.step()
        search.deadline = began + POLISHING * time_limit
        search.polish(restarts, seed)
        search.deadline = began + PROVING * time_limit
        search.run()
        search.deadline = began + time_limit
        search.perturb(seed)
    except KeyboardInterrupt:
        if not keep_when_stopped:
            raise
        stopped = True  # the best so far, with the gap as it is
    best = search.best
    value = game.divergence(best)
    bound = max(search.bound - SOLVER_ERROR, 0.0)
    protecting = search.value < math.inf
    return Solution(
        game=game,
        profile=best,
        name="optimal",
        equilibrium=equilibrium.is_equilibrium(game, best),
        rounds=first.rounds + search.rounds,
        seconds=time.perf_counter() - began,
        least_epsilon=first.least_epsilon,
        settings={
            "restarts": int(restarts),
            "seed": int(seed),
            "time_limit": float(time_limit),
            "lower_bound": min(bound, value) if protecting else bound,
            "gap": max(value - bound, 0.0) if protecting else None,  # what protects not everyone is no optimum
            "proven": search.closed,
            "stopped": stopped,
        },
    )


solve = optimal


def check_size(game: Game) -> None:
    """Refuse what memory would not hold: decided by how many types there may be, not by those there are."""
    cells, scales = game.players.grid.cells, game.scales
    single = int(game.players.sizes.max()) == 1
    types = min(cells, game.people) if single else game.people
    if types * scales * cells > MOST_PROGRAM_WEIGHTS:
        raise BadInput(
            f"The optimal solver looks at up to {types:,} kinds of people x {scales} scales x {cells:,} cells, more "
            f"than memory allows ({MOST_PROGRAM_WEIGHTS:,} in all). Use fewer bins or scales, or best response."
        )
