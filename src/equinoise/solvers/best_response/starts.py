"""Where runs of best response begin: random profiles, and everyone with the least noise that hides them at home.

From everyone at the largest scale, or from random profiles, people often settle too early: whoever has moved close
holds the others off. From below, the few whom their neighbourhood does not hide move on; and better still if some of
their neighbours take more noise than they need, and hide them. No kind is always better, so every restart begins from
each, and the best end is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equinoise.game.game import Game
from equinoise.grid import Ints

SPARE = (6.0, 2.0, 12.0, 4.0, 1.5, 8.0, 3.0)
"""How many times the protection that is needed a neighbourhood must offer, restart by restart; over and over."""

SPREAD_SHARE, SPREAD_STEPS = 0.2, 3
"""Share of the people who take more noise than they need, and by how many scales at most: they hide the others."""


def starts(game: Game, restarts: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Start and order of every run.

    The first restart is everyone at the largest scale, types ascending, if that protects everyone: then so does its
    end. The others are a seeded random profile, a local one with some people spread out, and a local one, each visited
    in seeded random order.
    """
    types = game.players.types
    largest = game.largest_scale_profile()
    protecting = game.unprotected(largest) == 0
    if protecting:
        yield largest, np.arange(types)
    even = np.full(game.scales, 1 / game.scales)
    for restart in range(int(protecting), restarts):
        random = np.random.default_rng([seed, restart])
        profile = random.multinomial(game.players.people, even)
        yield profile, random.permutation(types)
        yield spread_out(game, local_profile(game, 1.0), random), random.permutation(types)
        number = restart - int(protecting)
        order = np.random.default_rng([seed, number]).permutation(types)
        yield local_profile(game, SPARE[number % len(SPARE)]), order


def local_profile(game: Game, spare: float) -> Ints:
    """Everyone at the least noise that would hide them in their home cell if all others had the same.

    ``spare`` asks for so many times what is needed. Least noise means to come out at home most often; whoever no scale
    hides gets the largest.
    """
    everyone, at_home = np.arange(game.players.types), game.rows.at_home(game.players.homes)
    cells = game.players.occupied[game.players.homes]
    chosen, closest = np.full(game.players.types, game.scales - 1), np.zeros(game.players.types)
    for v in range(game.scales):
        sums = game.rows.sums(everyone, np.full_like(everyone, v), game.players.people)
        hidden = spare * at_home[:, v] <= game.condition.upper * sums[cells]
        better = hidden & (at_home[:, v] > closest)
        chosen[better], closest[better] = v, at_home[better, v]
    return game.profile_of(chosen)


def spread_out(game: Game, profile: Ints, random: np.random.Generator) -> Ints:
    """A profile with some people of every type at a random larger scale, who hide the others."""
    more = random.binomial(profile, SPREAD_SHARE)
    steps = random.integers(1, SPREAD_STEPS + 1, game.players.types)
    spread = profile - more
    for types, v in zip(*np.nonzero(more), strict=True):
        spread[types, min(v + steps[types], game.scales - 1)] += more[types, v]
    return spread
