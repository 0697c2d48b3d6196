"""The scale that people of each group need for themselves, whatever they carry: who is hard to protect.

In the game people carry noise for two reasons. Someone with few people near needs it, or a draw would give them away.
And someone who would be protected with little may carry much, because it falls on others and hides them: any of the
people of a full cell can do that, and which of them does is arbitrary.

So the scale that a person needs is the least on offer with which they would be protected, everyone else's noise held
fixed. That is asked for the person of each type who carries the least.
"""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.game import Game
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance


def scales_needed(mechanism: Mechanism) -> Floats:
    """The least scale on every axis with which a person of each group would be protected, in data units: groups x axes,
    or x 0 where nobody has a scale."""
    scales = mechanism.group_scales
    if not isinstance(mechanism, PerInstance) or not scales.shape[1]:
        return scales
    game = mechanism.game()
    number = {bag: i for i, bag in enumerate(game.players.bags)}
    types = np.array([number[bag] for bag in mechanism.bags])
    sums = game.store.sums(types, mechanism.scale_indices, mechanism.people)
    ascending = np.argsort(np.array(mechanism.scales).sum(axis=1), kind="stable")
    rank = np.argsort(ascending)
    least = np.full(game.players.types, len(rank))
    np.minimum.at(least, types, rank[mechanism.scale_indices])
    needed = np.array([_least_protected(game, sums, i, ascending[: least[i] + 1]) for i in range(game.players.types)])
    ranges = np.array([axis.range for axis in mechanism.grid.axes])
    return np.asarray(np.array(mechanism.scales)[needed[types]] * ranges)


def least_scale(mechanism: Mechanism) -> Floats:
    """The least scale on offer on every axis, in data units; of no axis where nobody has a scale."""
    if not mechanism.scales:
        return np.zeros(0)
    least = min(mechanism.scales, key=sum)
    return np.array([share * axis.range for share, axis in zip(least, mechanism.grid.axes, strict=True)])


def _least_protected(game: Game, sums: Floats, i: int, scales: Ints) -> int:
    """The first of these scales with which a person of type i would be protected, who has the last of them now."""
    now = scales[-1]
    others = sums - game.store.row(i, now)
    for scale in scales[:-1].tolist():
        row = game.store.row(i, scale)
        if not game.condition.outside(row[None], others + row, np.array([i]))[0]:
            return int(scale)
    return int(now)
