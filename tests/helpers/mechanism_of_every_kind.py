"""Makes a small mechanism of every kind: each promise, one or several columns, one or several rows per person."""

from functools import cache

import numpy as np
import polars as pl

import equinoise
from tests.helpers.private_tables import envelope

PEOPLE = np.random.default_rng(5).normal(50, 12, 240).clip(0, 100)
HOSTILE_NAME = '</script><img src=x onerror=alert(1)>&".[0]'
PAIR = ["a", HOSTILE_NAME]

ONE_COLUMN = {"bounds": (0, 100), "bins": 21, "restarts": 1}
SETTINGS = {
    "per-instance": {"epsilon": 1, "draws": 5, **ONE_COLUMN},
    "delta": {"epsilon": 1, "delta": 1e-4, **ONE_COLUMN},
    "differential-privacy": {"epsilon": 1, "bounds": (0, 100), "bins": 21, "draws": 3},
    "two": {"epsilon": 2, "column": PAIR, "bounds": dict.fromkeys(PAIR, (0, 100)), "bins": 9, "restarts": 1},
    "three": {"epsilon": 2, "column": list("abc"), "bounds": dict.fromkeys("abc", (0, 100)), "bins": 6, "restarts": 1},
    "rows": {"epsilon": 4, "column": "a", "unit": "who", "draws": 2, **ONE_COLUMN},
    "rows of two": {"epsilon": 6, "column": PAIR, "bounds": dict.fromkeys(PAIR, (0, 100)), "bins": 9, "unit": "who",
                    "restarts": 1},
}  # fmt: skip
MECHANISM_KINDS = tuple(SETTINGS)


def four_columns(people):
    """A table (people x 4 columns) of one column's values, reordered for the others; one column has a hostile name."""
    rest = {"b": people[::-1], "c": np.roll(people, 3), HOSTILE_NAME: np.roll(people, 7)}
    return pl.DataFrame({"a": people, **rest})


@cache
def mechanism(kind):
    """A mechanism of this kind for the 240 people of this module, made once."""
    return make_mechanism(kind, PEOPLE)


def make_mechanism(kind, people):
    """A mechanism of this kind for the people with these values."""
    settings = SETTINGS[kind]
    data = four_columns(people) if "column" in settings else people
    if "unit" in settings:  # every third row is a second one of the person before
        data = data.with_columns(who=pl.Series([f"p{i - (i % 3 == 1)}" for i in range(len(people))]))
    verb = envelope if kind == "differential-privacy" else equinoise.optimize
    return verb(data, **settings)
