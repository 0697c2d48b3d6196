"""The attacker against `synthesize`: all that comes out of it, with a chosen person in the data and without.

The mechanisms are made by the verb, of dataframes; noise and draws are those of releases. Noisy counts, and rows made
of them, come from the operating system's random source, so their bounds differ a little from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import polars as pl

from benchmarks.membership import Pair, attack, attack_many, attack_outcomes
from equinoise import synthesize
from equinoise.mechanisms.counts_table import whole_weights
from equinoise.mechanisms.draws import draw_weighted
from equinoise.synthesis.estimate import estimated_people
from equinoise.synthesis.noisy_counts import noisy_counts

EXCESS = 1.1
"""What a planted violation has too much of epsilon."""

AT_ONCE = 250_000
"""Noisy counts that are drawn together."""


class CellsSide:
    """Single rows of a mechanism, as the cells that they fall in."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.sums = mechanism.weights.dense()
        self.distribution = mechanism.output

    def draw(self, size, source):
        """Cells, some at a time, by the sampler of releases."""
        grid = self.mechanism.grid
        one_column = len(grid.axes) == 1
        return (drawn if one_column else grid.cells_of(drawn) for drawn in self.mechanism._draw(size, source))

    def counts(self, size, source):
        """How often each cell came out in ``size`` draws."""
        return sum(np.bincount(drawn, minlength=len(self.sums)) for drawn in self.draw(size, source))


class CountsSide:
    """Whole tables of noisy counts, by what they say of the chosen person: the sum over the cells of
    abs(z - without) - abs(z - with), which the likelihood ratio follows."""

    def __init__(self, mechanism, both):
        self.mechanism, self.law = mechanism, mechanism.law
        self.with_them, self.without = both
        self.most = int(np.abs(self.with_them - self.without).sum())

    def counts(self, size, source):
        """How often each of these sums came out, from the least on."""
        own, found = self.mechanism.histogram, np.zeros(2 * self.most + 1, dtype=np.int64)
        for start in range(0, size, AT_ONCE // len(own)):
            length = min(AT_ONCE // len(own), size - start)
            z = noisy_counts(np.tile(own, length), self.law).reshape(length, -1)
            says = (np.abs(z - self.without) - np.abs(z - self.with_them)).sum(axis=1)
            found += np.bincount(says + self.most, minlength=len(found))
        return found


class RowsSide:
    """Sets of rows of which noise is paid for once, by how many of them fall in a cell; one set a release."""

    def __init__(self, mechanism, cell, many):
        self.mechanism, self.cell, self.many = mechanism, cell, many

    @cached_property
    def weights(self):
        """The weights that noisy counts give, worked out once for each table of them."""
        axes, scale = self.mechanism.grid.axes, self.mechanism.law.scale
        return lru_cache(None)(lambda z: whole_weights(estimated_people(np.array(z), axes, scale)).tolist())

    def counts(self, size, source):
        """How often each number of rows came out there, from none to all."""
        own, found = self.mechanism.histogram, np.zeros(self.many + 1, dtype=np.int64)
        for z in noisy_counts(np.tile(own, size), self.mechanism.law).reshape(size, -1).tolist():
            drawn = np.concatenate(list(draw_weighted(self.weights(tuple(z)), self.many, source)))
            found[np.count_nonzero(drawn == self.cell)] += 1
        return found


@dataclass(frozen=True)
class Table:
    """People and a chosen one of them, each a list of rows, by what is public; ``most`` rows of a person count."""

    name: str
    columns: dict
    others: list
    person: list
    most: int | None = None

    def frame(self, people):
        rows = [(number, *row) for number, rows in enumerate(people) for row in rows]
        return pl.DataFrame(rows, schema=["who", *self.columns], orient="row")

    def mechanisms(self, epsilon, **settings):
        """What the verb makes of everyone, and of the others alone."""
        schema = {"columns": self.columns} | ({} if self.most is None else {"unit": "who"})
        whose = {"rows_per_person": self.most or 1}
        return [
            synthesize(self.frame(people), schema, epsilon=epsilon, **whose, **settings).mechanism
            for people in ([*self.others, self.person], self.others)
        ]


WARDS = {"ward": {"categories": ["a", "b", "c", "d"]}}
AGES = {"age": {"bounds": [0, 24], "step": 1}}
BOTH = {"age": {"bounds": [0, 9], "bins": 10}, "ward": {"categories": ["a", "b"], "missing": "category"}}


def alone(crowd):
    return Table(f"a category, {crowd} elsewhere", WARDS, [[("a",)]] * crowd, [("d",)])


def far(crowd):
    return Table(f"25 numbers, {crowd} elsewhere", AGES, [[(12,)]] * crowd, [(24,)])


MIXED = Table("a number clipped, a category missing", BOTH, [[(4.0, "a")]] * 10, [(99.0, None)])
HALF = {"ward": {"categories": ["a", "b"]}}
FIFTH = Table("the fifth of a category, 200 elsewhere", HALF, [[("a",)]] * 200 + [[("b",)]] * 4, [("b",)])
TENTH = Table("the tenth, five visits of which 3 count", HALF, [[("a",)]] * 200 + [[("b",)]] * 9, [("b",)] * 5, 3)
"""Where the estimate begins to believe that anybody is there: rows tell most."""
VISITS = Table("five visits in one cell, 3 count", WARDS, [[("a",)]] * 20, [("d",)] * 5, 3)
ROUND = Table(
    "five visits in three cells, 3 count", WARDS, [[("a",)]] * 20, [("b",), ("b",), ("c",), ("d",), ("d",)], 3
)


@dataclass(frozen=True)
class Task:
    """One attack: what comes out of which table, with how many releases; ``run(epsilon, source)`` gives the loss of the
    pair and the bound that is proven."""

    released: str
    table: Table
    epsilon: float
    draws: str
    run: Callable


def one_row(table, epsilon, draws):
    def run(epsilon, source):
        pair = Pair("", tuple(map(CellsSide, table.mechanisms(epsilon, rows=1, method="envelope"))))
        return pair.loss, attack(pair, draws, source)

    return Task("envelope, 1 row", table, epsilon, f"{draws:,}", run)


def some_rows(table, epsilon, many, releases, delta=0.0):
    def run(epsilon, source):
        made = table.mechanisms(epsilon, rows=many, delta=delta, method="envelope")
        pair = Pair("", tuple(map(CellsSide, made)))
        loss = many * pair.loss if delta == 0 else made[0].cost(many)
        return loss, attack_many(pair, many, releases, delta, source)

    within = "" if delta == 0 else f", delta {delta:g}"
    return Task(f"envelope, {many} rows{within}", table, epsilon, f"{releases:,} x {many}", run)


def counts(table, epsilon, releases):
    def run(epsilon, source):
        made = table.mechanisms(epsilon, rows=1, method="pay-once")
        both = [mechanism.histogram for mechanism in made]
        sides = [CountsSide(mechanism, both) for mechanism in made]
        return float(sides[0].most / sides[0].law.scale), attack_outcomes(*(s.counts for s in sides), releases, source)

    return Task("pay-once, the counts", table, epsilon, f"{releases:,}", run)


def paid_rows(table, epsilon, many, releases):
    def run(epsilon, source):
        made = table.mechanisms(epsilon, rows=many, method="pay-once")
        moved = made[0].histogram - made[1].histogram
        sides = [RowsSide(mechanism, int(moved.argmax()), many) for mechanism in made]
        bound = attack_outcomes(*(s.counts for s in sides), releases, source)
        return float(np.abs(moved).sum() / made[0].law.scale), bound

    return Task(f"pay-once, {many:,} rows", table, epsilon, f"{releases:,} x {many:,}", run)


def tasks(share=1.0):
    """Every attack on `synthesize`, with this share of the draws."""
    draws, releases, sets = (int(share * many) for many in (10_000_000, 150_000, 20_000))
    return [
        one_row(far(20), 0.3, draws), one_row(far(10), 1.0, draws), one_row(far(10), 2.0, draws),
        one_row(alone(50), 1.0, draws), one_row(MIXED, 1.0, draws), one_row(VISITS, 1.0, draws),
        some_rows(alone(5), 1.0, 2, draws // 5), some_rows(alone(10), 1.0, 3, draws // 5),
        some_rows(alone(20), 1.0, 20, draws // 10, 1e-6), some_rows(VISITS, 1.0, 50, draws // 20, 1e-3),
        counts(alone(20), 0.3, releases), counts(alone(20), 1.0, releases), counts(alone(20), 2.0, releases),
        counts(VISITS, 1.0, releases), counts(ROUND, 1.0, releases), counts(MIXED, 1.0, releases // 10),
        paid_rows(FIFTH, 1.0, 1000, sets), paid_rows(TENTH, 1.0, 1000, sets),
    ]  # fmt: skip


def planted(share=1.0):
    """Attacks on mechanisms that are made with too much epsilon, which must show."""
    draws, releases = int(share * 10_000_000), int(share * 150_000)
    return [one_row(alone(50), 1.0, draws), counts(alone(20), 1.0, releases), counts(ROUND, 1.0, releases)]
