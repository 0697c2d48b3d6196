"""Tiny joint games, and the same game laid out in full: every person, every pair of cells."""

from __future__ import annotations

import math

import numpy as np

from benchmarks import plain
from equinoise.grid import Axis, Grid, JointHistogram
from equinoise.joint_game import JointGame
from equinoise.joint_noise import make_joint_kernel


def joint_game(counts, scales, epsilon, utility="kl", noise="laplace"):
    """A game on a bare grid with the shape of ``counts``; scales are tuples or, for all axes alike, numbers."""
    counts = np.asarray(counts, dtype=np.int64)
    grid = Grid(tuple(Axis(f"column {i}", 0.0, 1.0, bins, 0.0) for i, bins in enumerate(counts.shape)))
    cells = np.flatnonzero(counts)
    choices = tuple(s if isinstance(s, tuple) else (s,) * counts.ndim for s in scales)
    kernel = make_joint_kernel(noise, choices, grid.shape)
    return JointGame(JointHistogram(grid, cells, counts.ravel()[cells]), kernel, epsilon, utility)


def dense_weights(game):
    """weights[v, k, x] over pairs of cells, laid out with Kronecker products."""
    found = []
    for v in range(game.choices):
        table = np.ones((1, 1), dtype=np.int64)
        for weights in game.kernel.weights:
            table = np.kron(table, weights[v])
        found.append(table)
    return np.array(found)


def per_person(game, profile):
    """One cell and one scale per person."""
    positions, scales = game.groups(profile)
    people = profile[positions, scales]
    return np.repeat(game.histogram.cells[positions], people), np.repeat(scales, people)


def closeness(name, cells):
    def js(p, q):
        middle = (p + q) / 2
        parts = [np.sum(a[a > 0] * np.log(a[a > 0] / middle[a > 0])) for a in (p, q)]
        return 1 - sum(parts) / 2 / math.log(2)

    return {"kl": plain.closeness, "js": js, "tv": lambda p, q: 1 - np.abs(p - q).sum() / 2}[name]


def dense_payoff(game, cells, scales):
    weights = dense_weights(game).astype(np.float64)
    size = game.histogram.grid.cells
    return plain.payoff(
        cells, scales, weights, game.kernel.total, size, game.epsilon, closeness(game.utility, size)
    )  # fmt: skip
