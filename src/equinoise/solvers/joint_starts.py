"""Where runs on a joint grid begin.

From everyone at the largest scale nobody is lost, but people who leave it one after the other settle far too early: on
a joint grid most cells have few people, and whoever has moved close holds the others off. Far better ends are reached
from below: everyone begins with the least noise that their neighbourhood could hide, and the few whom it does not hide
move on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equinoise.grid import Ints
from equinoise.joint_game import JointGame
from equinoise.joint_noise import make_joint_kernel
from equinoise.solvers.solution import Solution

SPARE = (6.0, 2.0, 12.0, 4.0, 1.5, 8.0, 3.0)
"""How many times the protection that is needed a neighbourhood must offer, run by run; over and over."""


def local_profile(game: JointGame, spare: float) -> Ints:
    """Everyone at the least noise that would hide them in their own cell if all others had the same.

    ``spare`` asks for so many times what is needed. Least noise means to come out in the own cell most often; whoever
    no choice hides gets the largest scale.
    """
    cells = np.arange(len(game.counts))
    chosen, closest = np.full(len(cells), game.choices - 1), np.zeros(len(cells))
    for choice in range(game.choices):
        profile = np.zeros((len(cells), game.choices), dtype=np.int64)
        profile[:, choice] = game.histogram.counts
        own = np.ones(len(cells))
        for axis, weights in enumerate(game.kernel.weights):
            own *= weights[choice, game.bins[:, axis], game.bins[:, axis]]
        hidden = spare * own <= game.condition.upper * game.sums(profile)[game.histogram.cells]
        better = hidden & (own > closest)
        chosen[better], closest[better] = choice, own[better]
    profile = np.zeros((len(cells), game.choices), dtype=np.int64)
    profile[cells, chosen] = game.histogram.counts
    return profile


def joint_starts(game: JointGame, restarts: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Start and order of every restart: everyone at the largest scale, cells ascending, if that protects everyone; then
    local profiles, visited in seeded random order."""
    largest = game.largest_scale_profile()
    protecting = game.payoff(largest).protected == game.people
    if protecting:
        yield largest, game.occupied
    for number in range(restarts - int(protecting)):
        random = np.random.default_rng([seed, number])
        yield local_profile(game, SPARE[number % len(SPARE)]), random.permutation(game.occupied)


def shared_scales(game: JointGame) -> JointGame:
    """The game in which a person has one scale for all columns: the i-th smallest of each makes the i-th choice."""
    columns = [sorted(set(column)) for column in zip(*game.kernel.scales, strict=True)]
    choices = tuple(zip(*columns, strict=True))
    return replace(game, kernel=make_joint_kernel(game.kernel.noise, choices, game.kernel.shape))


def carried_over(solution: Solution[JointGame], game: JointGame) -> Ints:
    """A solution of that game as a profile of this one: the start of a game with one scale per column, which has too
    many choices to be begun from many sides."""
    profile = np.zeros((len(game.counts), game.choices), dtype=np.int64)
    for choice, scales in enumerate(solution.game.kernel.scales):
        profile[:, game.kernel.scales.index(scales)] = solution.profile[:, choice]
    return profile
