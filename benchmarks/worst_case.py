"""`python -m benchmarks.worst_case`: how good the public rule of monotone weights is, and whether another is better.

Rules are judged on eleven real columns, five grids and six epsilons at once, by the geometric mean of KL + 0.0001 (less
than that is of no interest, and a rule that happens to hit one column exactly must not win by it). Constants that are
chosen on some columns are tried on the others, and on ten that were not looked at before.
Writes benchmarks/worst_case.md, in half a minute on one core.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.float_weights import KernelRule, Rule, Smoothing, log_output
from benchmarks.replace_one import bound, exhaustive, measured
from benchmarks.rule_cases import FINER, FRESH, GRIDS, SECTIONS, TRIED, columns, histograms

HARDLY = 1e-4
TARGETS = {0.1: 0.006, 0.3: 0.0035, 1.0: 0.002, 2.0: 0.0015}
FIRST = Rule()
CHOSEN = Rule(shape="triangular", share=0.1, total=0.5, spread=1.0, alone=True)


def epsilon_a_draw(draws, epsilon, delta):
    """The largest e for which so many draws of e^2/8-zCDP each are within (epsilon, delta) together."""
    order = 1 + np.geomspace(1e-2, 1e5, 10_000)

    def total(rho):
        extra = (math.log(1 / delta) - np.log(order)) / (order - 1) + np.log1p(-1 / order)
        return float((rho * order + extra).min())

    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if total(draws * middle**2 / 8) <= epsilon else (low, middle)
    return low


MANY = epsilon_a_draw(500, 1.0, 1e-6)
EPSILONS = (MANY, 0.05, 0.1, 0.3, 1.0, 2.0)


def kl(counts, epsilon, rule):
    """KL of what is drawn from the data."""
    p = counts[counts > 0] / counts.sum()
    return float(p @ (np.log(p) - log_output(counts, epsilon, rule.numbers(epsilon, len(counts)))[counts > 0]))


def measure(rule, cases):
    """KL by column, grid and epsilon."""
    return {(*case, e): kl(counts, e, rule) for case, counts in cases.items() for e in EPSILONS}


def mean(found, *, without=None, column=None, grid=None, epsilon=None, hardly=HARDLY):
    """Geometric mean of KL + 0.0001, over all or over what is named."""
    chosen = [
        math.log(value + hardly)
        for (name, g, e), value in found.items()
        if name != without and column in (None, name) and grid in (None, g) and epsilon in (None, e)
    ]
    return math.exp(sum(chosen) / len(chosen))


def line(cells):
    return "| " + " | ".join(cells) + " |"


def header(names):
    return [line(names), line(["---", *["---:"] * (len(names) - 1)])]


def compared(label, rule, cases, base):
    found = measure(rule, cases)
    ratios = [mean(found) / mean(base), mean(found, hardly=0) / mean(base, hardly=0)]
    ratios += [mean(found, epsilon=e) / mean(base, epsilon=e) for e in EPSILONS]
    ratios += [mean(found, grid=g) / mean(base, grid=g) for g in GRIDS]
    return line([label, *(f"{ratio:.3f}" for ratio in ratios)])


def one_change(cases, base):
    """Each part of the first rule changed alone, the other rules, and the chosen rule with each part changed back."""
    yield from header(["rule", "all", "of KL itself", *(f"eps {e:.3g}" for e in EPSILONS), *(f"K {g}" for g in GRIDS)])
    yield compared("**first**", FIRST, cases, base)
    for section, changes in SECTIONS.items():
        yield line([f"*{section}*", *[""] * 13])
        for label, change in changes.items():
            yield compared(label, replace(FIRST, **change), cases, base)
    yield line(["*Other rules*", *[""] * 13])
    yield compared("additive smoothing", Smoothing(), cases, base)
    for theta, sigma, tau in ((0.03, 3, 0.005), (0.01, 3, 0.005), (0.03, 1, 0.005), (0.03, 3, 0.05)):
        label = f"kernel: theta {theta:g}/sqrt(eps), {sigma} bins, tau {tau:g}"
        yield compared(label, KernelRule(theta, 0.3, sigma, tau), cases, base)
    yield line(["*Chosen rule*", *[""] * 13])
    yield compared("**chosen**", CHOSEN, cases, base)
    back = {
        "no crowds alone": {"alone": False},
        "floor 0.01 t": {"spread": None},
        "reach 5 bins": {"share": None, "reach": 5.0},
        "exponential, 0.025 K": {"shape": "exponential", "share": 0.025},
        "normal, 0.04 K": {"shape": "normal", "share": 0.04},
        "exponential approach, total 0.7": {"bend": "exponential", "total": 0.7},
    }
    for label, change in back.items():
        yield compared(f"but {label}", replace(CHOSEN, **change), cases, base)


def families():
    """Rules with constants left open: everyone's choice is among these."""
    caps = (0.25, 0.3, 0.35)
    bins = itertools.product((0.5, 1.0, 1.5, 2.0), (0.2, 0.3, 0.5), (0.003, 0.01, 0.02, 0.03), caps)
    yield "first form", [Rule(reach=r, near=n, floor=f, cap=c) for r, n, f, c in bins]
    for shape, shares in (
        ("triangular", (0.06, 0.08, 0.1, 0.125, 0.15)),
        ("exponential", (0.015, 0.02, 0.025, 0.03, 0.04)),
    ):
        for alone in (False, True):
            label = f"{shape}, share of K" + (", crowds alone" if alone else "")
            options = itertools.product(shares, (0.35, 0.5, 0.7), (0.5, 1.0, 2.0), caps)
            yield label, [Rule(shape=shape, share=s, total=w, spread=f, cap=c, alone=alone) for s, w, f, c in options]


def told(rule):
    width = (
        f"{rule.reach:g} bins, near {rule.near:g}" if rule.share is None else f"{rule.share:g} K, total {rule.total:g}"
    )
    floor = f"{rule.floor:g} t" if rule.spread is None else f"{rule.spread:g} t/K"
    return f"{width}, floor {floor}, cap {rule.cap:g}"


def left_out(cases, base):
    """Constants chosen on all columns, and on all but one and tried on that one."""
    yield from header(["family", "chosen on all columns", "ratio there", "ratio on columns left out", "worst column"])
    for label, rules in families():
        found = [measure(rule, cases) for rule in rules]
        best = min(range(len(rules)), key=lambda i: mean(found[i]))
        ratios = {}
        for name in columns(TRIED):
            other = min(range(len(rules)), key=lambda i: mean(found[i], without=name))
            ratios[name] = mean(found[other], column=name) / mean(base, column=name)
        worst = max(ratios, key=ratios.get)
        tried = math.exp(np.mean(np.log(list(ratios.values()))))
        ratio = mean(found[best]) / mean(base)
        yield line([label, told(rules[best]), f"{ratio:.3f}", f"{tried:.3f}", f"{worst} {ratios[worst]:.3f}"])


def by_column(which, cases, base):
    """Plain KL, without the 0.0001."""
    found = measure(CHOSEN, cases)
    yield from header(["column", "people", "ratio", *(f"eps {e:.3g}" for e in EPSILONS)])
    for name, (values, *_) in columns(which).items():
        pairs = [f"{base[name, '101 padded', e]:.6f} → {found[name, '101 padded', e]:.6f}" for e in EPSILONS]
        yield line([name, f"{len(values):,}", f"{mean(found, column=name) / mean(base, column=name):.3f}", *pairs])
    yield line(["all", "", f"{mean(found) / mean(base):.3f}", *[""] * len(EPSILONS)])


def targets(cases):
    counts = cases["players height", "101 padded"]
    yield from header(["epsilon", "at most", "first", "chosen"])
    for e, target in {MANY: 0.025, **TARGETS}.items():
        label = f"500 draws at (1, 1e-6): {e:.4f} each" if e == MANY else f"{e:g}"
        yield line([label, f"{target:g}", f"{kl(counts, e, FIRST):.5f}", f"{kl(counts, e, CHOSEN):.5f}"])


def finer():
    cases = histograms(TRIED, FINER)
    base = measure(FIRST, cases)
    yield from header(["rule", *(f"K {g}" for g in FINER)])
    rules = {
        "chosen": CHOSEN,
        "chosen, 20 bins": replace(CHOSEN, share=None, reach=20.0),
        "chosen, half as wide": replace(CHOSEN, share=CHOSEN.share / 2),
    }
    for label, rule in rules.items():
        found = measure(rule, cases)
        yield line([label, *(f"{mean(found, grid=g) / mean(base, grid=g):.3f}" for g in FINER)])


def replaced(cases):
    sizes = ((2, 1), (2, 6), (2, 20), (3, 6), (4, 4))
    people = (1_844, 10_000, 100_000)
    names = ["rule", "eps", *(f"{k} cells, N = {n}" for k, n in sizes), "heights, measured"]
    yield from header([*names, *(f"proven, K = 25, N = {n:,}" for n in people)])
    for label, rule in (("first", FIRST), ("chosen", CHOSEN)):
        for e in (0.1, 0.3, 1.0, 2.0):
            cells = [f"{exhaustive(rule, e, *size):.4f}" for size in sizes]
            cells.append(f"{measured(rule, e, cases['players height', '101 padded']):.4f}")
            yield line([label, f"{e:g}", *cells, *(f"{bound(rule, e, 25, n):.4f}" for n in people)])


def main():
    cases, others = histograms(TRIED, GRIDS), histograms(FRESH, GRIDS)
    base = measure(FIRST, cases)
    text = Path(__file__).with_name("worst_case_text.md").read_text()
    tables = {
        "targets": targets(cases), "one_change": one_change(cases, base), "left_out": left_out(cases, base),
        "by_column": by_column(TRIED, cases, base), "fresh": by_column(FRESH, others, measure(FIRST, others)),
        "finer": finer(), "replaced": replaced(cases),
    }  # fmt: skip
    for name, lines in tables.items():
        text = text.replace(f"[[{name}]]", "\n".join(lines))
    Path(__file__).with_name("worst_case.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
