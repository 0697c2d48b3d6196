"""Whether a profile is an equilibrium: no single person can raise the payoff by changing scale.

This is the check of what the solvers found, and shares no code with them. Every occupied (cell, scale) pair is asked
for every other scale. Divergences are convex in S, so a move gains at most what the slopes promise, and that rules most
moves out at once. While everyone is protected, a move that is left must also keep everyone so; the two largest and the
two smallest rows of every cell decide that (two, because one may be the mover's own).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from equinoise.grid import Floats, Ints
from equinoise.privacy import PURE

if TYPE_CHECKING:
    from equinoise.game import Game

ROUNDING = 2.0**-40
"""What rounding may hide in a product of a row with the slopes, as a share of the largest that it could be."""


def is_equilibrium(game: Game, profile: Ints) -> bool:
    """Whether staying is everyone's best response."""
    profile = game.check_profile(profile)
    sums = game.sums(profile)
    cells, scales = game.groups(profile)
    unprotected = game.unprotected(profile, sums)
    if unprotected > 0 or game.condition.kind != PURE:
        asked = range(len(cells)) if unprotected > 0 else sorted({group for group, _ in promising(game, profile, sums)})
        return all(game.best_response(profile, int(cells[g]), int(scales[g])) == scales[g] for g in asked)
    rows = game.rows[scales, cells]
    largest, smallest = Outermost(rows), Outermost(-rows)
    upper, lower = game.condition.upper, game.condition.lower
    excess = game.excess(sums)
    for group, scale in promising(game, profile, sums):
        row = game.rows[scale, cells[group]]
        change = row - rows[group]
        then, leaving = sums + change, bool(profile[cells[group], scales[group]] == 1)
        most, least = largest.with_row(row, group, leaving), -smallest.with_row(-row, group, leaving)
        if (most > upper * then).any() or (least < lower * then).any():
            continue
        if game.gain(sums, change, excess) > game.tolerance:
            return False
    return True


def promising(game: Game, profile: Ints, sums: Floats) -> Iterator[tuple[int, int]]:
    """The moves that may gain, by the slopes: number of the group, and the scale to move to."""
    cells, scales = game.groups(profile)
    slopes = game.closeness.slopes(game.histogram.counts.astype(np.float64), sums / game.kernel.total)
    leads = np.stack([np.einsum("gx,x->g", rows[cells], slopes) for rows in game.rows], axis=1) / game.kernel.total
    gains = leads - leads[np.arange(len(cells)), scales][:, None]
    found = gains + ROUNDING * np.abs(slopes).max() > game.tolerance
    found[np.arange(len(cells)), scales] = False
    for group, scale in zip(*np.nonzero(found), strict=True):
        yield int(group), int(scale)


class Outermost:
    """The two largest rows in every cell, and whose the largest is."""

    def __init__(self, rows: Floats) -> None:
        cells = np.arange(rows.shape[1])
        self.owner = rows.argmax(axis=0)
        self.first = rows[self.owner, cells]
        others = rows.copy()
        others[self.owner, cells] = -np.inf
        self.second = others.max(axis=0)

    def with_row(self, row: Floats, group: int, leaving: bool) -> Floats:
        """The largest with one more row, and without that of a group if the last of it is leaving."""
        left = np.where(self.owner == group, self.second, self.first) if leaving else self.first
        return np.asarray(np.maximum(left, row))
