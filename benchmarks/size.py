"""`python -m benchmarks.size`: whether rows of the envelope should cost less where there are many people.

A row of many people touches any one of them rarely. Here is what that would gain, if the cost of D rows went by how
much weight one person can add to a total, which is measured privately first; beside the cost that the package has, and
beside paying once. Nothing here releases anything: weights are in floating point (``size_weights.py``).
Writes benchmarks/size.md, in some minutes on one core. ``python -m benchmarks.size choose`` searches the constants
again, on other tables.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.envelope import distances, line, module, output
from benchmarks.envelope_tables import CHOSEN_ON, TRIED_ON, table
from benchmarks.pay_cases import tables
from benchmarks.pay_once import measure
from benchmarks.size_cost import random_pairs, two_point
from benchmarks.size_weights import around, step_weights
from equinoise.privacy.accounting import Budget, bounded_range_epsilon
from equinoise.synthesis.envelope import public_rule

ROWS, BUDGET = (20, 50, 100, 200), Budget(1.0, 1e-6)
GAIN, ENOUGH = 1.5, 5
"""How many times closer it must be, and on how many of the seven tables, to be worth having."""

PEOPLE_EPSILON, SIZE_EPSILON, SIZE_DELTA = 0.02, 0.1, 1e-7
"""What a noisy number of people costs, and the measured total, and how often its margin may fail."""

EPSILONS = np.geomspace(0.01, 2.0, 120)

TUNED_ON = (
    ("bwght: faminc, bwght", 12), ("bwght: faminc, bwght", 24), ("gpa2: female, sat, hsperc", 12),
    ("gpa2: female, sat, hsperc", 24), ("card: KWW, wage", 24), ("cps91: husage, husearns", 24),
    ("htv: abil, wage", 24), ("wagepan: union, exper, lwage", 12),
)  # fmt: skip
"""Tables of ``envelope_tables`` and their bins; none has a person of the seven."""

TRIES, TRIES_IN_HINDSIGHT = 120, 60


@dataclass(frozen=True)
class Constants:
    """What one person may add (``step``), how far they are near, how much one person in every cell around counts
    together, multiples of the package's floor and cap, and whether crowds count themselves alone."""

    step: float = 1.0
    reach: float = 0.06
    together: float = 2.0
    floor: float = 2.0
    cap: float = 1.2
    alone: bool = False

    def rule(self, epsilon, shape, categories):
        """The package's rule with these numbers."""
        patched = module(TOGETHER=Fraction(self.together), REACH=Fraction(self.reach))
        made = patched(epsilon, shape, categories)
        cap, floors = int(made.cap * self.cap), tuple(int(floor * self.floor) for floor in made.floors)
        return replace(made, cap=cap, floors=floors, alone=max(made.alone, cap + max(floors)))

    def other(self, rng, wide):
        """Constants at random, anywhere or near these."""
        some = wide or rng.random() < 0.3
        together, floor, cap = np.exp(rng.uniform(-1, 1, 3) * math.log(1.4))
        if wide:
            together, floor, cap = np.exp(rng.uniform(*np.log([(0.4, 0.5, 0.5), (6, 4, 2)])))
        return Constants(
            float(rng.choice([1, 1.25, 1.5, 2])) if some else self.step,
            float(rng.choice([0.02, 0.04, 0.06, 0.1, 0.15])) if some else self.reach,
            *(float(new * (1 if wide else old)) for new, old in
              ((together, self.together), (floor, self.floor), (cap, self.cap))),
            bool(rng.random() < 0.5) if some else self.alone,
        )  # fmt: skip


CHOSEN = Constants()


def by_size(counts, categories, constants, each_rows=ROWS, free=False):
    """Epsilon of a row and total variation for each number of rows; EPSILONS are on offer.

    The total is measured with discrete Laplace noise, less a margin and less what one person adds. That noise is left
    out (its median is 0), epsilon of a row is the largest that then holds, as if the noisy number of people had
    foretold the total, and with ``free`` the whole budget is left for rows: each favours this way.
    """

    @cache
    def at(k):
        rule = constants.rule(EPSILONS[k], counts.shape, categories)
        g = step_weights(counts, rule, EPSILONS[k], constants.step, constants.alone)
        most = constants.step * (1 + around(rule))
        total = g.sum() if free else g.sum() - most * (1 - math.log(2 * SIZE_DELTA) / SIZE_EPSILON)
        return (most / total if total > 0 else math.inf), distances(counts, g / g.sum())[0]

    left = BUDGET if free else Budget(BUDGET.epsilon - PEOPLE_EPSILON - SIZE_EPSILON, BUDGET.delta - SIZE_DELTA)
    found = []
    for rows in each_rows:
        low, high = -1, len(EPSILONS)
        while high - low > 1:
            middle = (low + high) // 2
            within = two_point(rows, EPSILONS[middle], at(middle)[0], left.epsilon) <= left.delta
            low, high = (middle, high) if within else (low, middle)
        found.append((EPSILONS[low], at(low)[1]) if low >= 0 else (0.0, 1.0))
    return np.array(found)


def by_range(counts, categories):
    """The same of the package's envelope and its cost of many rows."""
    each = [bounded_range_epsilon(BUDGET, rows) for rows in ROWS]
    return np.array([(e, distances(counts, output(counts, categories, e, public_rule))[0]) for e in each])


def search(cases, each_rows, tries, seed=1, free=False):
    """The constants of the least geometric mean of total variation, and that mean: some at random, then some near."""

    def mean(constants):
        found = [by_size(*case, constants, each_rows, free)[:, 1] for case in cases]
        return float(np.exp(np.log(np.maximum(found, 1e-9)).mean()))

    rng, best = np.random.default_rng(seed), CHOSEN
    least = mean(best)
    for k in range(tries):
        constants = best.other(rng, wide=k < tries // 3)
        value = mean(constants)
        if value < least:
            best, least = constants, value
    return best, least


def measured(cases):
    """Epsilon and total variation by range, total variation paid once, both by size, and by size in hindsight."""
    found = {}
    for seed, (name, histogram) in enumerate(cases.items()):
        case = histogram.counts.reshape(histogram.grid.shape), histogram.grid.categories
        once = measure(histogram, BUDGET.epsilon, seed)[0]
        hindsight = np.array([search([case], (rows,), TRIES_IN_HINDSIGHT, free=True)[1] for rows in ROWS])
        found[name] = histogram.people, by_range(*case), once, by_size(*case, CHOSEN), hindsight
        print(name, found[name], file=sys.stderr)
    return found


def times_closer(found):
    """Table by table and for each number of rows: (c), and (c) in hindsight, against the closer of the others."""
    least = np.array([np.minimum(of_range[:, 1], once) for _, of_range, once, _, _ in found.values()])
    return least / [each[3][:, 1] for each in found.values()], least / [each[4] for each in found.values()]


def listed(found):
    yield line(["table", "people", "rows", "(b) epsilon", "(b) TV", "pay once TV", "(c) epsilon", "(c) TV",
                "times closer", "hindsight TV", "times closer"])  # fmt: skip
    yield line(["---", *["---:"] * 10])
    plain, hindsight = times_closer(found)
    for i, (name, (people, of_range, once, of_size, free)) in enumerate(found.items()):
        for k, rows in enumerate(ROWS):
            values = [*of_range[k], once, *of_size[k], plain[i, k], free[k], hindsight[i, k]]
            yield line([name, f"{people:,}", str(rows), *(f"{value:#.3g}" for value in values)])


def verdict(found):
    yield line(["tables of seven", "at all numbers of rows", "geometric mean over them",
                *(f"{rows} rows" for rows in ROWS)])  # fmt: skip
    yield line(["---", *["---:"] * (2 + len(ROWS))])
    for label, ratios in zip(("(c)", "(c) in hindsight"), times_closer(found), strict=True):
        means = np.exp(np.log(ratios).mean(axis=1))
        counted = [(ratios >= GAIN).all(axis=1), means >= GAIN, *(ratios.T >= GAIN)]
        yield line([label, *(str(int(each.sum())) for each in counted)])


def decided(found):
    """The sentence: the first column of the verdict decides, for (c) itself."""
    plain, hindsight = (int((ratios >= GAIN).all(axis=1).sum()) for ratios in times_closer(found))
    outcome = "kept" if plain >= ENOUGH else "not built"
    return (
        f"{plain} of {len(found)} tables ({hindsight} in hindsight), where {ENOUGH} are asked for: it is **{outcome}**."
    )


def checked(times=1000):
    pairs = np.array(list(random_pairs(times)))
    below = int((pairs[:, 0] < pairs[:, 1] - 1e-12).sum())
    closest = float((pairs[:, 1] / np.maximum(pairs[:, 0], 1e-300)).max())
    return f"of {times:,} made-up pairs it is below the truth for {below}, and comes within {1 - closest:.1%} of it"


def main():
    """Write the page, or search the constants."""
    if sys.argv[1:] == ["choose"]:
        cases = [table(name, CHOSEN_ON if name in CHOSEN_ON else TRIED_ON, bins) for name, bins in TUNED_ON]
        print(*search(cases, ROWS, TRIES))
        return
    found = measured(tables())
    text = Path(__file__).with_name("size_text.md").read_text()
    parts = {"decided": decided(found), "verdict": "\n".join(verdict(found)), "tables": "\n".join(listed(found))}
    for name, words in (parts | {"checked": checked()}).items():
        text = text.replace(f"[[{name}]]", words)
    Path(__file__).with_name("size.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
