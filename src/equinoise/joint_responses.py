"""One person's best response on a joint grid: what an equilibrium is checked by, apart from the compiled rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equinoise.grid import Floats, Ints
from equinoise.joint_groups import Exposed, Groups

if TYPE_CHECKING:
    from equinoise.joint_game import JointGame

CANCELLED = 2.0**-8
"""A sum that falls below this share of itself by a move is added up anew."""


def response(game: JointGame, state: Groups, exposed: Exposed, position: int, scale: int) -> int:
    """Staying is the first candidate, then the scales ascending; a later one must beat the best so far, by a
    protected person or by more than the tolerance in utility."""
    best, best_gain, unprotected = scale, 0.0, int(state.people[exposed.groups].sum())
    gains = _gains(game, state, position, scale)
    for other in range(game.choices):
        gain = gains[other]
        closer = gain > best_gain + game.tolerance
        if other == scale:
            continue
        if not closer and (
            unprotected == 0 or _still_exposed(game, state, exposed, position, scale, other) >= unprotected
        ):
            continue  # nobody more would be protected
        count = _unprotected_after(game, state, position, scale, other)
        if count < unprotected or (count == unprotected and closer):
            best, best_gain, unprotected = other, gain, count
    return best


def _gains(game: JointGame, state: Groups, position: int, scale: int) -> list[float]:
    """N times the fall of the divergence for every scale that one person may move to, as the payoff sees it."""
    rows = np.ones((game.choices, len(game.counts)))
    for axis, weights in enumerate(game.kernel.weights):
        rows *= weights[:, game.bins[position, axis]][:, game.bins[:, axis]]
    near, changes = game.near(state.sums), (rows - rows[scale]) / game.kernel.total
    excess = game.excess(state.sums)
    found = []
    for change in changes:
        gain = game.closeness.gain(game.counts, near, change)
        if excess > 0 or gain < excess:
            gain = min(excess, 0.0) - min(excess - gain, 0.0)
        found.append(gain)
    return found


def _weights(game: JointGame, position: int, scale: int, cells: Ints) -> Floats:
    """The row of someone in (position, scale), in a few cells."""
    bins, own = game.histogram.grid.bins_of(cells), game.bins[position]
    axes = enumerate(game.kernel.weights)
    return np.asarray(np.prod([w[scale, own[axis], bins[:, axis]] for axis, w in axes], axis=0, dtype=np.float64))


def _still_exposed(game: JointGame, state: Groups, exposed: Exposed, position: int, scale: int, other: int) -> int:
    """At least so many are unprotected once one person of (position, scale) is at ``other``: of those who are
    now, whoever still is in the cell where they were found to be."""
    groups, cells, rows = exposed
    change = np.subtract(*(_weights(game, position, v, cells) for v in (other, scale)))
    sums = state.sums[cells] + change
    upper, lower = game.condition.upper * sums, game.condition.lower * sums
    failing = ((rows > upper) | (rows < lower)) & (sums >= CANCELLED * state.sums[cells])
    moving = (state.positions[groups] == position) & (state.scales[groups] == scale)
    return int((state.people[groups] - moving)[failing].sum())


def _unprotected_after(game: JointGame, state: Groups, position: int, scale: int, other: int) -> int:
    """People outside the condition once one person of (position, scale) is at ``other``."""
    group = int(np.flatnonzero((state.positions == position) & (state.scales == scale))[0])
    one, two = game.kernel.factors(np.array([other]), game.bins[[position]])
    row = np.multiply.outer(one[0], two[0]).ravel().astype(np.float64)
    people = state.people.copy()
    people[group] -= 1
    sums = state.sums + (row - state.row(group))
    for cancelled in state.blocks(np.flatnonzero(sums < CANCELLED * state.sums)):
        sums[cancelled] = people @ state.at(cancelled) + row[cancelled]
    largest, smallest = state.extremes
    failing = game.failing(np.maximum(largest, row), np.minimum(smallest, row), sums)
    outside = np.zeros(len(people), dtype=bool)
    for block in state.blocks(failing):
        outside |= game.outside(state.at(block), sums[block])
    return int(people[outside].sum()) + int(game.outside(row[None, failing], sums[failing])[0])
