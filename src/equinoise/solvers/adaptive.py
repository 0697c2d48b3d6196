"""Scales that are no fixed list: solve, offer new scales next to those in use, solve again, while that pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from equinoise.data.grid import Ints
from equinoise.game.game import Game
from equinoise.game.kernel import AxisScales, make_kernel
from equinoise.game.noise import MOST_WEIGHTS
from equinoise.solvers.solution import Request, Solution

WORTH = (0.01, 1e-5)
"""Go on while the divergence falls by at least this share, and by at least this much."""

MOST_SCALES_AT_ONCE = 24
"""Scales on offer at once: time grows with them, and those in use are few."""

NEAREST = 1.02
"""Scales closer to each other than this factor are one."""

LARGEST_SCALE = 1000.0
"""In units of the padded range: beyond this, more noise hardly changes anything."""


def supports(request: Request) -> str | None:
    """Why scales cannot adapt to what is asked; None if they can."""
    if request.own_start:
        return "Adaptive scales are others than those a start of one's own is for. Leave out one of the two."
    if request.scale_per_column:
        return "Adaptive scales are for all columns together: those of each column alone would be too many."
    return None


def adaptive(game: Game, solve: Callable[[Game, Ints | None], Solution]) -> Solution:
    """The best solution with the scales that it asks for; ``solve`` gets a game and a profile known to be good.

    Scales in use stay on offer, so every solution is a profile of the next game too, and the payoff never falls.
    """
    best = solve(game, None)
    while not best.settings.get("stopped"):
        finer = with_new_scales(best)
        if finer is None:
            break
        found = solve(finer, carry_over(best, finer))
        worse = (-found.protected, found.divergence) >= (-best.protected, best.divergence)
        fall = best.divergence - found.divergence
        worth_it = found.protected > best.protected or fall >= max(WORTH[0] * best.divergence, WORTH[1])
        best = best if worse else found
        if not worth_it or found.settings.get("stopped"):
            break
    return best


def with_new_scales(solution: Solution) -> Game | None:
    """A game with new scales halfway (in logarithm) from each scale in use to its neighbours on offer.

    Of the others only those neighbours stay. Beyond the largest scale there is a half step more if anyone uses it, or
    is not protected; below the smallest nothing. None if there is nothing new to offer. With several columns, a scale
    is one for each.
    """
    game, offered = solution.game, np.array(solution.game.kernel.scales)
    used = set(np.flatnonzero(solution.profile.sum(axis=0)).tolist())
    if solution.protected < game.people:
        used.add(len(offered) - 1)
    step = np.sqrt(np.maximum(offered[-1] / offered[-2], 2.0)) if len(offered) > 1 else 2.0
    offers = {tuple(offered[v].tolist()) for v in used}
    candidates = []
    for v in sorted(used, key=lambda v: -int(solution.profile[:, v].sum())):
        for neighbour in {v - 1, v + 1} & set(range(len(offered))):
            offers.add(tuple(offered[neighbour].tolist()))
            candidates.append(np.sqrt(offered[v] * offered[neighbour]))
        if v == len(offered) - 1:
            candidates.append(np.minimum(offered[v] * step, LARGEST_SCALE))
    room = min(MOST_SCALES_AT_ONCE, MOST_WEIGHTS // sum(bins**2 for bins in game.kernel.shape))
    before = len(offers)
    for scale in candidates:
        if len(offers) < room and all(np.maximum(scale / k, k / scale).max() >= NEAREST for k in map(np.array, offers)):
            offers.add(tuple(scale.tolist()))
    if len(offers) == before:
        return None
    return with_scales(game, tuple(sorted(offers)))


def carry_over(solution: Solution, game: Game) -> Ints:
    """A solution's profile as one of a game that offers the scales it uses, among others."""
    profile = np.zeros((len(solution.profile), game.scales), dtype=np.int64)
    for v, scales in enumerate(solution.game.kernel.scales):
        if solution.profile[:, v].any():
            profile[:, game.kernel.scales.index(scales)] = solution.profile[:, v]
    return profile


def shared_scales(game: Game) -> Game:
    """The game in which a person has one scale for all columns: the i-th smallest of each makes the i-th choice."""
    columns = [sorted(set(column)) for column in zip(*game.kernel.scales, strict=True)]
    return with_scales(game, tuple(zip(*columns, strict=True)))


def with_scales(game: Game, scales: AxisScales) -> Game:
    """The game with other scales on offer."""
    bins = game.players.grid.bins_of(game.players.cells)
    return replace(game, kernel=make_kernel(game.kernel.noise, scales, game.kernel.shape, bins, game.kernel.categories))
