"""The real column that tests and benchmarks share: heights of basketball players."""

from __future__ import annotations

import numpy as np

from equinoise import Axis, Game, Grid, Histogram
from equinoise.noise import make_kernel, scale_set

BOUNDS = (163.0, 226.0)


def players():
    """The 1,844 men whose height and weight are known, one row each."""
    import moderndive

    athletes = moderndive.load_basketball_athletes()
    men = athletes.filter(athletes["sex"] == "M").drop_nulls(["height", "weight"])
    return men.unique("id", keep="first", maintain_order=True)


def heights():
    """Their heights in cm."""
    return players()["height"].to_numpy().astype(float)


def height_game(scales, epsilon, times=1, values=None):
    """The game on the heights (or some of them), every person ``times`` over."""
    axis = Axis.padded("height", *BOUNDS)
    cells = [axis.cell_of(h) for h in (heights() if values is None else values)]
    counts = np.bincount(cells, minlength=axis.bins) * times
    kernel = make_kernel("laplace", scale_set(scales, axis, epsilon), axis.bins)
    return Game(Histogram(Grid((axis,)), counts), kernel, epsilon)
