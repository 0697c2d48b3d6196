"""A file of every kind that something can be checked of: saved mechanisms of both verbs, noisy counts, a book."""

from dataclasses import replace

import numpy as np
import polars as pl

import equinoise
from equinoise import Mechanism
from equinoise.mechanisms.book import Book
from equinoise.mechanisms.book_events import charge_of
from equinoise.mechanisms.published_counts import publish_counts
from equinoise.privacy.book_cost import Cost
from tests.helpers import people
from tests.helpers.many_columns import made_by_hand
from tests.helpers.mechanism_of_every_kind import ONE_COLUMN, PEOPLE, SETTINGS, mechanism
from tests.helpers.private_tables import envelope, paid_once

PUBLIC = """unit = "who"
[columns.age]
bounds = [18, 100]
step = 1
bins = 7
[columns.ward]
categories = ["elective", "emergency"]
[columns.admitted]
bounds = [2024-01-01, 2024-12-31]
bins = 4
missing = "category"
[columns.code]
categories = [1, 2, 3]
missing = "category"
"""
BOUNDS = {"bounds": (0, 100), "bins": 21}
OF_TWO = {"column": ["a", "b"], "bounds": people.BOUNDS, "unit": "who", "rows_per_person": 2, "bins": 9}


def mixed_table():
    """Numbers, categories, dates and codes of people with up to four rows, some outside, some missing."""
    rng, rows = np.random.default_rng(4), 200
    return pl.DataFrame(
        {
            "who": [f"p{i // 3}" if i % 11 else "" for i in range(rows)],
            "age": [None if i % 17 == 0 else int(age) for i, age in enumerate(rng.integers(10, 110, rows))],
            "ward": rng.choice(["elective", " emergency ", "other", "NA"], rows),
            "admitted": rng.choice(["2024-01-01", "2024-06-30T10:00:00", "2025-02-01", "NA"], rows),
            "code": rng.choice(["1", "02", "+3", "2.0", ""], rows),
        }
    )


def rows_of_people():
    """Up to some rows of every person."""
    return people.table().with_columns(who=pl.col("who").cast(pl.String))


def mixed_data(folder):
    """The mixed table as a file, and its schema."""
    mixed_table().write_csv(folder / "mixed.csv")
    (folder / "mixed.toml").write_text(PUBLIC)
    return str(folder / "mixed.csv"), folder / "mixed.toml"


MAKE = {
    **{kind: lambda folder, kind=kind: mechanism(kind) for kind in SETTINGS},
    "order": lambda folder: equinoise.optimize(PEOPLE, epsilon=1, order=4, **ONE_COLUMN),
    "budget": lambda folder: equinoise.optimize(PEOPLE, epsilon=1, delta=1e-6, draws=3, **ONE_COLUMN),
    "composed": lambda folder: envelope(PEOPLE, epsilon=1, delta=1e-6, draws=60, **BOUNDS),
    "zcdp": lambda folder: envelope(PEOPLE, epsilon=1, delta=1e-6, draws=900, **BOUNDS),
    "base": lambda folder: envelope(PEOPLE, epsilon=1, base=range(1, 22), **BOUNDS),
    "several": lambda folder: envelope(rows_of_people(), epsilon=2, draws=3, **OF_TWO),
    "pay-once": lambda folder: paid_once(PEOPLE, epsilon=1, **BOUNDS),
    "pay-once several": lambda folder: paid_once(rows_of_people(), epsilon=2, **OF_TWO),
    "aim": lambda folder: made_by_hand(),
    "mixed": lambda folder: envelope(*mixed_data(folder), epsilon=2, draws=2, rows_per_person=2),
    "mixed counts": lambda folder: paid_once(*mixed_data(folder), epsilon=2, rows_per_person=3),
}
"""A mechanism of every kind; some are made of files in a folder."""

KINDS = (*MAKE, "counts.json", "a.book")


def write_file(kind, folder):
    """A file of this kind in a folder, as it should be; its path."""
    path = folder / kind
    if kind == "counts.json":
        publish_counts(MAKE["pay-once several"](folder), path)
    elif kind == "a.book":
        book = Book.create(path, epsilon=1, delta=1e-4)
        for cost in (Cost.pure(0.3), Cost(0.3, 1e-5, 0.01), Cost.pure(0.3)):
            with book.charging(charge_of("differential-privacy", "envelope", ["a"], cost)) as entry:
                entry.made("0" * 64)
    else:
        replace(MAKE[kind](folder), ledger=None).save(path)  # with draws of its own, whatever other tests drew
    if kind == "per-instance":
        Mechanism.open(path).sample(3)
    return path
