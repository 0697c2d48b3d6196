"""Best response: everyone in turn takes their best scale, from many starts; the best end is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from equinoise.data.grid import Ints
from equinoise.game.game import Game
from equinoise.game.row_store import ProductRows
from equinoise.settings import check_settings
from equinoise.solvers.best_response.dynamics import compile_loops, rounds
from equinoise.solvers.best_response.starts import most_runs, starts
from equinoise.solvers.solution import Request, Round, Solution

__all__ = ["RESTARTS", "best_response", "most_runs", "rounds", "run_to_end", "starts", "until_stuck"]

RESTARTS = 8
STUCK = 2
"""Rounds in turn that protect nobody more, after which a run is given up if another has protected more people."""


def supports(request: Request) -> str | None:
    """Why best response cannot do what is asked; None, as it can do all."""
    return None


def run_to_end(game: Game, profile: Ints, order: Ints | None = None) -> Ints:
    """Where best response from a profile ends."""
    for state in rounds(game, profile, order):
        end = state.profile
    return end


def until_stuck(states: Iterator[Round], fewest: int) -> Iterator[Round]:
    """Rounds of a run, up to where it seems lost: more people than ``fewest`` are unprotected, and stay so for rounds.

    Mostly the first rounds protect all whom a run will ever protect; the rest only brings those closer who are.
    """
    unprotected, alike = None, 0
    for state in states:
        yield state
        alike = alike + 1 if state.unprotected == unprotected else 0
        unprotected = state.unprotected
        if alike == STUCK and unprotected is not None and unprotected > fewest:
            return


def best_response(
    game: Game,
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    start: Ints | None = None,
    known: Ints | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Solution:
    """The best end of ``restarts`` restarts: most people protected, then the smallest divergence, then the earliest.

    A given ``start`` replaces all others; a profile ``known`` to be good gets one more run. ``progress`` sees every
    round. For a utility other than KL one more run starts from KL's best end: the other curves are flat or kinked
    where KL leads on, and nobody alone gets across.
    """
    check_settings({"restarts": restarts, "seed": seed})
    compile_loops()

    began = time.perf_counter()
    played, order = 0, np.arange(game.players.types)
    best: tuple[tuple[int, float], int, Ints] | None = None
    least_epsilon = math.inf
    runs: Iterator[tuple[Ints, Ints]] = starts(game, restarts, seed) if start is None else iter([(start, order)])
    if start is None and game.utility != "kl":
        first = best_response(replace(game, utility="kl"), restarts=restarts, seed=seed, progress=progress)
        played = first.rounds
        runs = chain(runs, [(first.profile, order)])
    if known is not None:
        runs = chain(runs, [(known, order)])
    many = (most_runs(game, restarts) if start is None else 1) + 1
    big = isinstance(game.rows, ProductRows)  # there, a round or a check may take minutes
    for number, (profile, turns) in enumerate(runs):
        if big and progress is not None:
            progress(Round(number, 0, 0, profile, f"Run {number + 1} of {many} begins", min(number / many, 1.0)))
        fewest = game.people if best is None else best[0][0]
        for state in until_stuck(rounds(game, profile, turns, run=number), fewest):
            played += 1
            if progress is not None:
                progress(replace(state, done=min(number / many, 1.0)))
        end = state.profile
        assert state.unprotected is not None
        if best is None or state.unprotected <= best[0][0]:
            rank = (state.unprotected, game.divergence(end))
            best = (rank, number, end) if best is None or rank < best[0] else best
        if best[0][0] > 0:
            least_epsilon = min(least_epsilon, *(float(game.losses(one).max()) for one in (profile, end)))
    assert best is not None
    (unprotected, _), winner, end = best
    alternative = game.largest_scale_profile() if unprotected else end
    if big and progress is not None:
        progress(Round(winner, 0, 0, end, "Checking that nobody wants to move"))
    return Solution(
        game=game,
        profile=end,
        name="best-response",
        equilibrium=game.is_equilibrium(end),
        rounds=played,
        seconds=time.perf_counter() - began,
        least_epsilon=min(least_epsilon if unprotected else math.inf, float(game.losses(alternative).max())),
        settings={"restarts": int(restarts), "seed": int(seed), "best_run": winner},
    )
