"""`python -m benchmarks.ceiling`: the least mean total variation that any sampler of one row can have, how far others
are above it.

A sampler of one row is a distribution over K cells for every histogram; ``ceiling_text.md`` says what is averaged over
which of them. Cells have no names: of the histograms that are permutations of each other one is enough, as the linear
program is convex and the mean of its solutions is one.
Writes benchmarks/ceiling.md, in seconds on one core.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
from highspy import HighsModelStatus

from equinoise.solvers.optimal.highs import add_constraint, new_highs
from equinoise.statistics.baselines import pseudo_count
from equinoise.synthesis.envelope import public_rule
from equinoise.synthesis.envelope_weights import weights

CELLS, PEOPLE, EPSILONS, BEYOND, GOAL = (2, 3, 4), (1, 2, 4, 6, 9, 12), (0.3, 1.0, 2.0), 6, 1.3


def sorted_histograms(people, cells, most=None):
    """Histograms of so many people, one for all its permutations: counts descend."""
    if cells == 0:
        yield from [()] if people == 0 else []
        return
    for first in range(min(people, people if most is None else most), -1, -1):
        yield from ((first, *rest) for rest in sorted_histograms(people - first, cells - 1, first))


def permutations(histogram):
    """How many different histograms are permutations of this one."""
    return math.factorial(len(histogram)) // math.prod(math.factorial(n) for n in Counter(histogram).values())


def optimum(cells, people, epsilon):
    """The least mean total variation of any epsilon-DP sampler of one row."""
    histograms = [h for n in range(people + BEYOND + 1) for h in sorted_histograms(n, cells)]
    column = {key: i for i, key in enumerate((h, n) for h in histograms for n in sorted(set(h)))}
    highs, factor = new_highs(), math.exp(epsilon)
    many = len(column)
    highs.addVars(
        2 * many, np.zeros(2 * many), np.full(2 * many, np.inf)
    )  # probabilities, and how far below p they are
    totals = Counter()
    for histogram in histograms:
        totals[sum(histogram)] += permutations(histogram)
    for histogram in histograms:
        counts, size = Counter(histogram), sum(histogram)
        add_constraint(highs, 1, 1, [column[histogram, n] for n in counts], list(counts.values()))
        if 1 <= size <= people:
            for n, times in counts.items():
                q = column[histogram, n]
                highs.changeColCost(many + q, times * permutations(histogram) / totals[size] / people)
                add_constraint(highs, n / size, np.inf, [q, many + q], [1, 1])
        if size < people + BEYOND:
            for one, other in neighbours(histogram):
                for a, b in ((column[one], column[other]), (column[other], column[one])):
                    add_constraint(highs, -np.inf, 0, [a, b], [1, -factor])
    highs.run()
    assert highs.getModelStatus() == HighsModelStatus.kOptimal
    return highs.getInfo().objective_function_value


def neighbours(histogram):
    """Cells before and after somebody comes, as the histogram and the people of the cell."""
    for n in set(histogram):
        larger = list(histogram)
        larger[larger.index(n)] += 1
        larger = tuple(sorted(larger, reverse=True))
        yield (histogram, n), (larger, n + 1)
        for other, times in Counter(histogram).items():
            if other != n or times > 1:
                yield (histogram, other), (larger, other)


def mean_total_variation(output, cells, people):
    """Over all histograms of a number of people, and over the numbers; ``output`` treats all cells alike."""
    of_size = []
    for size in range(1, people + 1):
        found = [(h, permutations(h)) for h in sorted_histograms(size, cells)]
        total = sum(times * np.abs(np.array(h) / size - output(np.array(h))).sum() / 2 for h, times in found)
        of_size.append(total / sum(times for _, times in found))
    return float(np.mean(of_size))


def envelope(epsilon, cells):
    """The envelope's output by histogram, on cells without order."""
    rule = public_rule(epsilon, (cells,), (cells,))

    def output(counts):
        occupied = np.flatnonzero(counts)
        return weights(occupied, counts[occupied], rule).probabilities()

    return output


def smoothing(epsilon, cells):
    """Additive smoothing: t people in every cell."""
    t = pseudo_count(epsilon)
    return lambda counts: (counts + t) / (counts.sum() + cells * t)


SAMPLERS = (envelope, smoothing)


def rows():
    """K, N, epsilon, the optimum, and the ratio of each sampler to it."""
    for epsilon in EPSILONS:
        for cells in CELLS:
            for people in PEOPLE:
                least = optimum(cells, people, epsilon)
                ratios = [mean_total_variation(make(epsilon, cells), cells, people) / least for make in SAMPLERS]
                yield epsilon, cells, people, least, *ratios


def main():
    """Write the page."""
    found, text = list(rows()), Path(__file__).with_name("ceiling_text.md").read_text()
    lines = [
        "| epsilon | K | N | optimum, TV | envelope | additive smoothing, Reveal-or-Obscure |",
        "| ---: " * 6 + "|",
    ]
    lines += [f"| {e:g} | {k} | {n} | {o:.4f} | {a:.3f} | {b:.3f} |" for e, k, n, o, a, b in found]
    above = [f"K = {k}, N = {n}: {a:.2f}" for e, k, n, _, a, _ in found if e == 1 and a > GOAL]
    within = sum(1 for e, _, _, _, a, _ in found if e == 1) - len(above)
    verdict = f"The envelope is within it in {within} of {within + len(above)} cases; not in {'; '.join(above)}."
    page = text.replace("[[table]]", "\n".join(lines)).replace("[[verdict]]", verdict)
    Path(__file__).with_suffix(".md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
