"""Small games of every kind: one column, several columns, several rows a person."""

from __future__ import annotations

import numpy as np

from benchmarks.heights import height_game
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.game.game import Game
from equinoise.game.kernel import Kernel, make_kernel
from equinoise.game.noise import WEIGHT_TOTAL, axis_weights

__all__ = [
    "assert_same_losses", "bag_game", "bare_grid", "best_scale", "height_game", "joint_game", "joint_kernel",
    "of_column", "people_in", "small_game",
]  # fmt: skip


def bare_grid(shape):
    """A grid without padding; scales are then in units of the whole range."""
    return Grid(tuple(Axis(f"column {number}", 0.0, 1.0, bins, 0.0) for number, bins in enumerate(shape)))


def of_column(noise, scales, bins, total=WEIGHT_TOTAL):
    """The kernel of one column."""
    scales = sorted(scales)
    return Kernel(noise, tuple((scale,) for scale in scales), (axis_weights(noise, scales, bins, total),), (total,))


def small_game(counts, scales, epsilon, utility="kl", *, noise="laplace", total=WEIGHT_TOTAL, **condition):
    """One column of len(counts) bins."""
    players = people_in(bare_grid([len(counts)]), counts)
    return Game(players, of_column(noise, scales, len(counts), total), epsilon, utility, **condition)


def joint_game(counts, scales, epsilon, utility="kl", *, noise="laplace", **condition):
    """Several columns: as many as ``counts`` has axes; scales are tuples or, for all columns alike, numbers."""
    grid = bare_grid(np.shape(counts))
    return Game(people_in(grid, counts), joint_kernel(noise, scales, grid.shape), epsilon, utility, **condition)


def bag_game(bags, people, shape, scales, epsilon, utility="kl", *, noise="laplace", **condition):
    """Several rows a person: ``people[i]`` have the rows ``bags[i]``, a list of cells; one column if ``shape`` is a
    number of bins. Bags that hold the same cells are one type."""
    grid = bare_grid([shape] if isinstance(shape, int) else shape)
    found = {}
    for bag, many in zip(bags, people, strict=True):
        cells, times = np.unique(bag, return_counts=True)
        key = tuple(zip(cells.tolist(), times.tolist(), strict=True))
        found[key] = found.get(key, 0) + int(many)
    kept = sorted(key for key, many in found.items() if many > 0)
    players = Players.in_bags(grid, kept, np.array([found[key] for key in kept], dtype=np.int64))
    return Game(players, joint_kernel(noise, scales, grid.shape), epsilon, utility, **condition)


def people_in(grid, counts):
    """People with one row each, from how many there are in every cell."""
    counts = np.asarray(counts, dtype=np.int64).ravel()
    cells = np.flatnonzero(counts)
    return Players.in_cells(grid, cells, counts[cells])


def joint_kernel(noise, scales, shape):
    """The kernel of a grid."""
    choices = tuple(scale if isinstance(scale, tuple) else (scale,) * len(shape) for scale in scales)
    return make_kernel(noise, choices, shape)


def best_scale(game, profile, i, scale):
    """The best scale for one person of type i now at ``scale``, everyone else staying, without any shortcut.

    Staying is the first candidate, then the scales in ascending order; a later one must beat the best so far, by a
    protected person or by more than the tolerance in utility.
    """
    sums = game.sums(profile)
    best, best_gain, fewest = scale, 0.0, game.unprotected(profile, sums)
    gains = game.gains(profile, sums, i, scale).tolist()
    for other in range(game.scales):
        if other == scale:
            continue
        moved = profile.copy()
        moved[i, scale] -= 1
        moved[i, other] += 1
        count = game.unprotected(moved)
        if count < fewest or (count == fewest and gains[other] > best_gain + game.tolerance):
            best, best_gain, fewest = other, gains[other], count
    return best


def assert_same_losses(found, expected):
    """Equal up to rounding: a share of 1 - e^-loss is known to 16 digits, so a loss is to about e^loss times that."""
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    known = 1e-9 * expected[finite] + 1e-12 + 4e-16 * np.exp(expected[finite])
    assert (np.abs(found[finite] - expected[finite]) <= known).all()
