"""The real column that tests and benchmarks share: heights of basketball players."""

from __future__ import annotations

import numpy as np

from equinoise import Axis, Game, Grid, Histogram
from equinoise.data.players import Players
from equinoise.game.kernel import make_kernel, offered_scales

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


def height_game(scales, epsilon, times=1, values=None, **settings):
    """The game on the heights (or some of them), every person ``times`` over; scales as the command line takes them."""
    axis = Axis.padded("height", *BOUNDS)
    cells = [axis.cell_of(h) for h in (heights() if values is None else values)]
    counts = np.bincount(cells, minlength=axis.bins) * times
    return column_game(axis, counts, offered_scales(scales, Grid((axis,)), epsilon), epsilon, **settings)


def column_game(axis, counts, scales, epsilon, noise="laplace", **settings):
    """The game on a column with so many people in each bin."""
    people = Players.of(Histogram(Grid((axis,)), counts))
    kernel = make_kernel(noise, scales, (axis.bins,), people.cells[:, None])
    return Game(people, kernel, epsilon, **settings)
