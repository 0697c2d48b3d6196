"""The same people counted in every way there is: with one column or two, with one row each or several."""

from __future__ import annotations

import numpy as np
import polars as pl

import equinoise

ROWS = 240
BOUNDS = {"a": (0, 100), "b": (-5, 5)}
KINDS = ("one column", "two columns", "several rows", "both")
SEVERAL_COLUMNS, SEVERAL_ROWS = ("two columns", "both"), ("several rows", "both")


def table(rows=ROWS, seed=5):
    """Two columns that go together, and a name for every row: people have up to five rows."""
    random = np.random.default_rng(seed)
    a = random.normal(50, 14, rows).clip(0, 100)
    b = ((a - 50) / 20 + random.normal(0, 0.8, rows)).clip(-5, 5)
    return pl.DataFrame({"a": a, "b": b, "who": random.integers(0, rows // 2, rows)})


def asked(kind, **settings):
    """What ``optimize`` is asked, for this kind of people."""
    names = ["a", "b"] if kind in SEVERAL_COLUMNS else ["a"]
    unit = {"unit": "who"} if kind in SEVERAL_ROWS else {}
    bins = 21 if kind in SEVERAL_COLUMNS else 101
    bounds = {name: BOUNDS[name] for name in names}
    return {"column": names, "bounds": bounds, "epsilon": 1, "bins": bins, "restarts": 2, **unit, **settings}


def data(kind, rows=ROWS, seed=5):
    """The rows; the names come with them only where they are used."""
    return table(rows, seed) if kind in SEVERAL_ROWS else table(rows, seed).drop("who")


def make(kind, rows=ROWS, **settings):
    """A mechanism for people of this kind."""
    return equinoise.optimize(data(kind, rows), **asked(kind, **settings))


def words(kind, **settings):
    """The same as :func:`asked`, for the command line."""
    given = asked(kind, **settings)
    said = [word for name, (low, high) in given.pop("bounds").items() for word in ("--bounds", name, low, high)]
    said += [word for name in given.pop("column") for word in ("--column", name)]
    for name, value in given.items():
        said += [] if value is None else [f"--{name.replace('_', '-')}", value]
    return tuple(map(str, said))


def laid_out(made):
    """The weights of one person of each group over all cells, in whole numbers, one row of theirs after the other."""
    rows = []
    for first, last in zip(made.begins[:-1].tolist(), made.begins[1:].tolist(), strict=True):
        row = np.zeros(made.grid.cells, dtype=object)
        for entry in range(first, last):
            part = np.array([int(made.times[entry])], dtype=object)
            for factor in made.factors:
                part = np.kron(part, factor[entry].astype(object))
            row = row + part
        rows.append(row)
    return np.array(rows)


def plain_losses(made):
    """The loss of one person of each group, all of whose rows are removed, by its definition."""
    rows = laid_out(made)
    everyone = (made.people.astype(object) @ rows).astype(float)
    rows = rows.astype(float)
    others = everyone - rows
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log((everyone / everyone.sum()) / (others / others.sum(axis=1)[:, None])))
    return np.nanmax(ratio, axis=1)
