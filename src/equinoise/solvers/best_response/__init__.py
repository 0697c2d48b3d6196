"""Best response: everyone in turn takes their best scale, from many starts; the best end is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from equinoise.data.grid import Ints
from equinoise.game import equilibrium
from equinoise.game.game import Game
from equinoise.game.row_store import ProductRows
from equinoise.settings import check_settings
from equinoise.solvers.best_response.dynamics import import_loops, rounds
from equinoise.solvers.best_response.starts import most_runs, starts
from equinoise.solvers.solution import Request, Round, Solution

__all__ = ["RESTARTS", "best_response", "most_runs", "rounds", "run_to_end", "solve", "starts", "until_stuck"]

RESTARTS = 8
SETTINGS = {"restarts": RESTARTS}
SUMMARY_NUMBERS = ("restarts",)
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


class _End(NamedTuple):
    """Where a run ended. The least of several is the best; ``run`` decides between equals, and no two share one."""

    unprotected: int
    divergence: float
    run: int
    profile: Ints


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
    where KL slope_scores on, and nobody alone gets across.
    """
    check_settings({"restarts": restarts, "seed": seed})
    import_loops(progress)

    began = time.perf_counter()
    before, order = 0, np.arange(game.players.types)
    runs: Iterator[tuple[Ints, Ints]] = starts(game, restarts, seed) if start is None else iter([(start, order)])
    if start is None and game.utility != "kl":
        first = best_response(replace(game, utility="kl"), restarts=restarts, seed=seed, progress=progress)
        runs, before = chain(runs, [(first.profile, order)]), first.rounds
    if known is not None:
        runs = chain(runs, [(known, order)])
    most = (most_runs(game, restarts) if start is None else 1) + 1
    best, played, least_epsilon = _best_end(game, runs, most, progress)
    fallback = game.largest_scale_profile() if best.unprotected else best.profile
    if _is_slow(game) and progress is not None:
        progress(Round(best.run, 0, 0, best.profile, "Checking that nobody wants to move"))
    return Solution(
        game=game,
        profile=best.profile,
        name="best-response",
        equilibrium=equilibrium.is_equilibrium(game, best.profile),
        rounds=before + played,
        seconds=time.perf_counter() - began,
        least_epsilon=min(least_epsilon if best.unprotected else math.inf, float(game.losses(fallback).max())),
        settings={"restarts": int(restarts), "seed": int(seed), "best_run": best.run},
    )


solve = best_response


def _best_end(
    game: Game, runs: Iterator[tuple[Ints, Ints]], most: int, progress: Callable[[Round], None] | None
) -> tuple[_End, int, float]:
    """The best end of at most so many runs, the rounds of all, and the least worst loss while someone is unprotected:
    of the profiles at which runs began and ended."""
    best: _End | None = None
    played, least_epsilon = 0, math.inf
    for run, (profile, order) in enumerate(runs):
        done = min(run / most, 1.0)
        if _is_slow(game) and progress is not None:
            progress(Round(run, 0, 0, profile, f"Run {run + 1} of {most} begins", done))
        fewest = game.people if best is None else best.unprotected
        for state in until_stuck(rounds(game, profile, order, run=run), fewest):
            played += 1
            if progress is not None:
                progress(replace(state, done=done))
        assert state.unprotected is not None
        if best is None or state.unprotected <= fewest:
            end = _End(state.unprotected, game.divergence(state.profile), run, state.profile)
            best = end if best is None else min(best, end)
        if best.unprotected > 0:
            least_epsilon = min(least_epsilon, *(float(game.losses(one).max()) for one in (profile, state.profile)))
    assert best is not None
    return best, played, least_epsilon


def _is_slow(game: Game) -> bool:
    """Whether a round, or the check of the end, may take minutes."""
    return isinstance(game.store, ProductRows)
