"""Where runs of people with several rows begin: always from profiles that protect everyone, if any is found.

While someone is unprotected every candidate asks for everyone's protection anew, which with thousands of different bags
takes long. So random profiles are mended first: whoever is unprotected takes the largest scale, until nobody is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from equinoise.grid import Ints
from equinoise.unit_game import UnitGame

MOST_MENDING = 100


def unit_starts(game: UnitGame, restarts: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Start and order of every restart: everyone at the largest scale, bags ascending; then mended random profiles, in
    seeded random order. If not even the first protects everyone, it is the only one but for those that do."""
    yield game.largest_scale_profile(), game.occupied
    choices = len(game.kernel.scales)
    for restart in range(1, restarts):
        random = np.random.default_rng([seed, restart])
        profile = random.multinomial(game.histogram.counts, np.full(choices, 1 / choices))
        if mend(game, profile):
            yield profile, random.permutation(game.occupied)


def mend(game: UnitGame, profile: Ints) -> bool:
    """Give whoever is unprotected the largest scale, in place, over and over; whether everyone is protected then."""
    for _ in range(MOST_MENDING):
        bags, scales = game.groups(profile)
        outside = game.exposed(bags, game.rows[bags, scales], game.sums(profile))
        if not outside.any():
            return True
        bags, scales = bags[outside], scales[outside]
        if (scales == profile.shape[1] - 1).all():
            return False
        people = profile[bags, scales]
        profile[bags, scales] = 0
        np.add.at(profile[:, -1], bags, people)
    return False
