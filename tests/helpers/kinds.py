"""A small mechanism of every kind, to look at."""

from functools import cache

import numpy as np
import polars as pl

import equinoise

PEOPLE = np.random.default_rng(5).normal(50, 12, 240).clip(0, 100)
EVIL = '</script><img src=x onerror=alert(1)>&".[0]'
PAIR = ["a", EVIL]

ONE = {"bounds": (0, 100), "bins": 21, "restarts": 1}
SETTINGS = {
    "per-instance": {"epsilon": 1, "draws": 5, **ONE},
    "delta": {"epsilon": 1, "delta": 1e-4, **ONE},
    "differential-privacy": {"epsilon": 1, "bounds": (0, 100), "bins": 21, "draws": 3},
    "two": {"epsilon": 2, "column": PAIR, "bounds": dict.fromkeys(PAIR, (0, 100)), "bins": 9, "restarts": 1},
    "three": {"epsilon": 2, "column": list("abc"), "bounds": dict.fromkeys("abc", (0, 100)), "bins": 6, "restarts": 1},
    "rows": {"epsilon": 4, "column": "a", "unit": "who", "draws": 2, **ONE},
    "rows of two": {"epsilon": 6, "column": PAIR, "bounds": dict.fromkeys(PAIR, (0, 100)), "bins": 9, "unit": "who",
                    "restarts": 1},
}  # fmt: skip
KINDS = tuple(SETTINGS)


def columns(people):
    """The same people with four columns, one of them with a name that is hard to bear."""
    rest = {"b": people[::-1], "c": np.roll(people, 3), EVIL: np.roll(people, 7)}
    return pl.DataFrame({"a": people, **rest})


@cache
def mechanism(kind):
    """A mechanism of this kind."""
    return make(kind, PEOPLE)


def make(kind, people):
    """A mechanism of this kind for other people."""
    settings = SETTINGS[kind]
    data = columns(people) if "column" in settings else people
    if "unit" in settings:  # every third row is a second one of the person before
        data = data.with_columns(who=pl.Series([f"p{i - (i % 3 == 1)}" for i in range(len(people))]))
    verb = equinoise.synthesize if kind == "differential-privacy" else equinoise.optimize
    return verb(data, **settings)
