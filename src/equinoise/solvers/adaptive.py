"""Scales that are no fixed list: solve, offer new scales next to those in use, solve again, while that pays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from equinoise.game import Game
from equinoise.grid import Ints
from equinoise.noise import MOST_WEIGHTS, make_kernel
from equinoise.solvers.solution import Solution

WORTH = (0.01, 1e-5)
"""Go on while the divergence falls by at least this share, and by at least this much."""

MOST = 24
"""Scales on offer at once: time grows with them, and those in use are few."""

NEAREST = 1.02
"""Scales closer to each other than this factor are one."""

LARGEST = 1000.0
"""In units of the padded range: beyond this, more noise hardly changes anything."""


def adaptive(game: Game, solve: Callable[[Game, Ints | None], Solution]) -> Solution:
    """The best solution with the scales that it asks for; ``solve`` gets a game and a profile known to be good.

    Scales in use stay on offer, so every solution is a profile of the next game too, and the payoff never falls.
    """
    best = solve(game, None)
    while not best.settings.get("stopped"):
        finer = with_new_scales(best)
        if finer is None:
            break
        found = solve(finer, carried_over(best, finer))
        worse = (-found.protected, found.divergence) >= (-best.protected, best.divergence)
        fall = best.divergence - found.divergence
        worth_it = found.protected > best.protected or fall >= max(WORTH[0] * best.divergence, WORTH[1])
        best = best if worse else found
        if not worth_it or found.settings.get("stopped"):
            break
    return best


def with_new_scales(solution: Solution) -> Game | None:
    """The same game with new scales halfway (in logarithm) from each scale in use to its neighbours on offer.

    Of the others only those neighbours stay. Beyond the largest scale there is a half step more; below the smallest
    nothing. None if there is nothing new to offer.
    """
    game, offered = solution.game, solution.game.kernel.scales
    used = set(np.flatnonzero(solution.profile.sum(axis=0)).tolist())
    step = math.sqrt(max(offered[-1] / offered[-2], 2.0)) if len(offered) > 1 else 2.0
    kept = {offered[v] for v in used}
    wanted = []
    for v in sorted(used, key=lambda v: -int(solution.profile[:, v].sum())):
        for neighbour in {v - 1, v + 1} & set(range(len(offered))):
            kept.add(offered[neighbour])
            wanted.append(math.sqrt(offered[v] * offered[neighbour]))
        if v == len(offered) - 1:
            wanted.append(min(offered[v] * step, LARGEST))
    room = min(MOST, MOST_WEIGHTS // game.histogram.grid.cells**2)
    before = len(kept)
    for scale in wanted:
        if len(kept) < room and all(max(scale / k, k / scale) >= NEAREST for k in kept):
            kept.add(scale)
    if len(kept) == before:
        return None
    kernel = game.kernel
    bins = game.histogram.grid.cells
    return replace(game, kernel=make_kernel(kernel.noise, tuple(kept), bins, kernel.total, game.occupied))


def carried_over(solution: Solution, finer: Game) -> Ints:
    """The solution's profile as one of the finer game."""
    profile = np.zeros((len(solution.profile), len(finer.kernel.scales)), dtype=np.int64)
    for v, scale in enumerate(solution.game.kernel.scales):
        if solution.profile[:, v].any():
            profile[:, finer.kernel.scales.index(scale)] = solution.profile[:, v]
    return profile
