"""`python -m benchmarks.envelope`: the envelope on real tables, its constants changed one at a time, and its goals.

Everything is worked out by the package's own weights, in whole numbers; total variation and KL are those of one draw
from the data. Constants are changed by making the public rule with other module constants, or by changing its numbers.
Writes benchmarks/envelope.md, in some minutes on one core.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.envelope_tables import BINS, CHOSEN_ON, GOALS, TRIED_ON, basketball, table
from equinoise.privacy.envelope_certificate import certify_envelope
from equinoise.statistics.baselines import pseudo_count
from equinoise.synthesis import envelope
from equinoise.synthesis.envelope_weights import weights

EPSILONS = (0.1, 0.3, 1.0, 2.0)
HARDLY_TV, HARDLY_KL = 1e-3, 1e-4
"""Less than that is of no interest."""


def module(**constants):
    """The rule with other constants of its module."""

    def make(*given):
        with mock.patch.multiple(envelope, **constants):
            return envelope.public_rule(*given)

    return make


def changed(change):
    """The rule with some of its numbers changed, which stay safe."""

    def make(*given):
        rule = change(envelope.public_rule(*given))
        return replace(rule, alone=max(rule.alone, rule.cap + max(rule.floors)))

    return make


def cap_times(factor):
    return changed(lambda rule: replace(rule, cap=int(rule.cap * factor)))


def floor_times(factor):
    return changed(lambda rule: replace(rule, floors=tuple(int(floor * factor) for floor in rule.floors)))


RULES = {
    "**chosen**": envelope.public_rule,
    "reach 0.05 of the range": module(REACH=Fraction(1, 20)),
    "reach 0.07": module(REACH=Fraction(7, 100)),
    "reach 0.15": module(REACH=Fraction(3, 20)),
    "all around together 0.3": module(TOGETHER=Fraction(3, 10)),
    "all around together 1": module(TOGETHER=Fraction(1)),
    "0.7 of the cap": cap_times(0.7),
    "1.3 of the cap": cap_times(1.3),
    "half the floor": floor_times(0.5),
    "twice the floor": floor_times(2),
    "crowds not alone": changed(lambda rule: replace(rule, alone=rule.unit << 64)),
    "nobody near": changed(lambda rule: replace(rule, height=0)),
}


def output(counts, unordered, epsilon, make):
    """What one draw comes out as, over all cells."""
    flat = counts.ravel()
    occupied = np.flatnonzero(flat)
    return weights(occupied, flat[occupied], make(epsilon, counts.shape, unordered)).probabilities()


def distances(counts, q):
    """Total variation, and KL from the data."""
    p = counts.ravel() / counts.sum()
    seen = p > 0
    return float(np.abs(p - q).sum() / 2), float(p[seen] @ np.log(p[seen] / q[seen]))


def measure(cases, make):
    """Total variation and KL by table, bins and epsilon."""
    return {
        (*case, e): distances(counts, output(counts, unordered, e, make))
        for case, (counts, unordered) in cases.items()
        for e in EPSILONS
    }


def mean(found, which, **of):
    """Geometric mean of total variation (0) or KL (1), over all or over what is named."""
    hardly = (HARDLY_TV, HARDLY_KL)[which]
    chosen = [
        math.log(each[which] + hardly)
        for (name, bins, epsilon), each in found.items()
        if of.get("epsilon") in (None, epsilon) and of.get("bins") in (None, bins) and of.get("name") in (None, name)
    ]
    return math.exp(sum(chosen) / len(chosen))


def cases_of(which):
    """Every table on every grid; those of categories alone once."""
    return {(name, bins): table(name, which, bins) for name in which for bins in (BINS if which[name][2] else BINS[:1])}


def line(cells):
    return "| " + " | ".join(cells) + " |"


def changes(cases, base):
    """Each rule's ratio to the chosen one."""
    yield line(["rule", "TV", "KL", *(f"TV, eps {e:g}" for e in EPSILONS), *(f"TV, {b} bins" for b in BINS)])
    yield line(["---", *["---:"] * (2 + len(EPSILONS) + len(BINS))])
    for label, make in RULES.items():
        found = base if make is envelope.public_rule else measure(cases, make)
        ratios = [mean(found, which) / mean(base, which) for which in (0, 1)]
        ratios += [mean(found, 0, epsilon=e) / mean(base, 0, epsilon=e) for e in EPSILONS]
        ratios += [mean(found, 0, bins=b) / mean(base, 0, bins=b) for b in BINS]
        yield line([label, *(f"{ratio:.3f}" for ratio in ratios)])


def smoothing(cases):
    """What additive smoothing has in place of the envelope."""
    return {
        (*case, e): distances(counts, (flat := counts.ravel() + pseudo_count(e)) / flat.sum())
        for case, (counts, _) in cases.items()
        for e in EPSILONS
    }


def by_table(cases, base):
    """Total variation of every table at epsilon 1, by bins; over all, its ratio to additive smoothing's."""
    other = smoothing(cases)
    yield line(["table", "people", *(f"{b} bins" for b in BINS), "of additive smoothing's TV", "KL"])
    yield line(["---", *["---:"] * (3 + len(BINS))])
    for name in dict.fromkeys(name for name, _ in cases):
        people = int(cases[name, BINS[0]][0].sum())
        each = [f"{base[name, b, 1.0][0]:.4f}" if (name, b) in cases else "" for b in BINS]
        ratios = [mean(base, which, name=name) / mean(other, which, name=name) for which in (0, 1)]
        yield line([name, f"{people:,}", *each, *(f"{ratio:.3f}" for ratio in ratios)])


def goals():
    """Total variation of one draw at epsilon 1."""
    yield line(["data", "cells", "at most", "TV", "KL"])
    yield line(["---", *["---:"] * 4])
    names = {"men": "height x weight, 1,844 men", "both": "sex x height x weight, 2,776 players"}
    for (people, bins), most in GOALS.items():
        counts, unordered = basketball(people, bins)
        tv, kl = distances(counts, output(counts, unordered, 1.0, envelope.public_rule))
        yield line([names[people], " x ".join(map(str, counts.shape)), f"{most:g}", f"{tv:.4f}", f"{kl:.4f}"])


def large():
    """Seconds for weights and certificate on 10^6 cells with 2,000 of them occupied."""
    yield line(["grid", "people", "epsilon", "weights, s of one core", "certificate, s"])
    yield line(["---", *["---:"] * 4])
    rng = np.random.default_rng(0)
    for shape in ((1000, 1000), (100, 100, 100)):
        for epsilon in (1.0, 0.1):
            occupied = np.sort(rng.choice(10**6, 2000, replace=False))
            people, rule = rng.integers(1, 9, 2000), envelope.public_rule(epsilon, shape)
            began = time.process_time()
            found = weights(occupied, people, rule)
            half = time.process_time()
            verdict = certify_envelope(
                occupied.tolist(), people.tolist(), found.cells.tolist(), found.weights, epsilon, rule.to_json()
            )
            assert verdict.holds
            seconds = f"{half - began:.0f}", f"{time.process_time() - half:.0f}"
            yield line([" x ".join(map(str, shape)), f"{people.sum():,}", f"{epsilon:g}", *seconds])


def main():
    """Write the page."""
    chosen_on, tried_on = cases_of(CHOSEN_ON), cases_of(TRIED_ON)
    base, other = measure(chosen_on, envelope.public_rule), measure(tried_on, envelope.public_rule)
    text = Path(__file__).with_name("envelope_text.md").read_text()
    tables = {
        "goals": goals(), "changes": changes(chosen_on, base), "tried": changes(tried_on, other),
        "chosen_tables": by_table(chosen_on, base), "tried_tables": by_table(tried_on, other), "large": large(),
    }  # fmt: skip
    for name, lines in tables.items():
        text = text.replace(f"[[{name}]]", "\n".join(lines))
    Path(__file__).with_name("envelope.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
