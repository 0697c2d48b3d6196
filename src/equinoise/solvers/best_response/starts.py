"""Where runs of best response begin: random profiles, and everyone with the least noise that hides them at home.

From everyone at the largest scale, or from random profiles, people often settle too early: whoever has moved close
holds the others off. From below, the few whom their neighbourhood does not hide move on; and better still if some of
their neighbours take more noise than they need, and hide them. No kind is always better, so restarts begin from each,
and the best end is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.game import Game

SPARE_PROTECTION = (6.0, 2.0, 12.0, 4.0, 1.5, 8.0, 3.0)
"""How many times the protection that is needed a neighbourhood must offer, restart by restart; over and over."""

SPREAD_SHARE, SPREAD_STEPS = 0.2, 3
"""Share of the people who take more noise than they need, and by how many scales at most: they hide the others."""


RUNS = 2
"""Runs of every restart: from a local profile, and from one with some people spread out."""


def most_runs(game: Game, restarts: int) -> int:
    """How many runs so many restarts make at most."""
    return sum(RUNS + begins_at_random(game, number) for number in range(restarts))


def begins_at_random(game: Game, number: int) -> bool:
    """Whether a restart also begins from a random profile: with several columns that takes longest and is rarely worth
    it, so only the first does."""
    return number == 0 or len(game.players.grid.axes) == 1


def starts(game: Game, restarts: int, seed: int, since: int = 0) -> Iterator[tuple[Ints, Ints]]:
    """Start and order of every run, but for those of the restarts before ``since``.

    The first restart is everyone at the largest scale, types ascending, if that protects everyone: then so does its
    end. The others are a seeded random profile (with several columns, only the first), a local one with some people
    spread out, and a local one. All are visited in seeded random order.
    """
    types = game.players.types
    largest = game.largest_scale_profile()
    protecting = game.unprotected(largest) == 0
    if protecting and since == 0:
        yield largest, np.arange(types)
    even = np.full(game.scales, 1 / game.scales)
    crowd = home_sums(game)
    for restart in range(max(since, int(protecting)), restarts):
        number, random = restart - int(protecting), np.random.default_rng([seed, restart])
        profile, order = random.multinomial(game.players.people, even), random.permutation(types)
        if begins_at_random(game, number):
            yield profile, order
        yield spread_out(game, local_profile(game, 1.0, crowd), random), random.permutation(types)
        order = np.random.default_rng([seed, number]).permutation(types)
        yield local_profile(game, SPARE_PROTECTION[number % len(SPARE_PROTECTION)], crowd), order


def home_sums(game: Game) -> Floats:
    """S in the home cell of each type if everyone has the same scale: types x scales."""
    everyone, cells = np.ones(game.players.types, dtype=np.int64), game.players.occupied[game.players.homes]
    return np.stack([game.sums(game.profile_of(v * everyone))[cells] for v in range(game.scales)], axis=1)


def local_profile(game: Game, spare: float, crowd: Floats | None = None) -> Ints:
    """Everyone at the least noise that would hide them in their home cell if all others had the same.

    ``spare`` asks for so many times what is needed; ``crowd`` may give the :func:`home_sums`. Least noise means to come
    out at home most often; whoever no scale hides gets the largest.
    """
    at_home = game.store.at_home(game.players.homes)
    crowd = home_sums(game) if crowd is None else crowd
    hidden = spare * at_home <= game.condition.upper[:, None] * crowd
    chosen = np.where(hidden, at_home, 0.0).argmax(axis=1)
    return game.profile_of(np.where(hidden.any(axis=1), chosen, game.scales - 1))


def spread_out(game: Game, profile: Ints, random: np.random.Generator) -> Ints:
    """A profile with some people of every type at a random larger scale, who hide the others."""
    more = random.binomial(profile, SPREAD_SHARE)
    steps = random.integers(1, SPREAD_STEPS + 1, game.players.types)
    spread = profile - more
    for types, v in zip(*np.nonzero(more), strict=True):
        spread[types, min(v + steps[types], game.scales - 1)] += more[types, v]
    return spread
