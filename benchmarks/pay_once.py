"""`python -m benchmarks.pay_once`: how close the estimate comes that is made of noisy counts, paid once.

Against the tidied histogram on the same noisy counts: counts below ln(K)/(2 epsilon) are zero, and every cell gets a
little, 1/(4 epsilon) as `compare` adds it or 1/(20 epsilon). The first is the closer one by KL and the second by total
variation; ours is held against each where it is closer. Means of 10 releases with seeded noise of the same law.
Writes benchmarks/pay_once.md, in some three minutes on one core.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from benchmarks.pay_cases import CHOSEN_ON, columns, misfits, tables
from equinoise.statistics.metrics import kl, tv
from equinoise.synthesis.estimate import estimate

EPSILONS, RELEASES = (0.1, 0.3, 1.0), 10

MORE_RELEASES, MORE_SEED = 200, 987_654
"""Of the worst column alone, with other noise: ten releases of it may be unlucky."""

GOALS = {
    "height x weight, 12 x 12": {1.0: (0.026, 0.021), 0.3: (0.07, 0.061)},
    "height x weight, 24 x 24": {1.0: (0.066, 0.07), 0.3: (0.18, 0.2)},
    "height x weight, 50 x 50": {1.0: (0.19, 0.25), 0.3: (0.37, 0.52)},
    "sex x height x weight, 2 x 12 x 12": {1.0: (0.03, 0.029), 0.3: (0.084, 0.078)},
    "sex x height x weight, 2 x 24 x 24": {1.0: (0.077, 0.082), 0.3: (0.174, 0.192)},
}
"""Total variation and KL by table and epsilon."""


SHARP_END = (
    "So it is a fault, of a small size, and not chance: people end at once there, from one cell to the next, and a "
    "rate that is smooth goes on a little where nobody is. Where cells have this many people and the noise is this "
    "small, there is little to win elsewhere. No remedy was kept. On columns that the constants were chosen on these "
    "were tried: weaker smoothing, an average over how strong it is, more values of phi and of pi, averages over "
    "(phi, pi) weighted by likelihood, a phi of its own for every cell, a share of rough cells, rates that may jump "
    "one cell off, a second start. Weaker smoothing and a share of rough cells come closer at sharp ends, and farther "
    "elsewhere. None of the others comes closer in the geometric mean by more than a few hundredths, and these are "
    "due to heaped columns."
)


def noise(rng, cells, epsilon):
    a = 1 - math.exp(-epsilon)
    return rng.geometric(a, cells) - rng.geometric(a, cells)


def tidied(z, epsilon, little):
    kept = np.where(z < math.log(len(z)) / (2 * epsilon), 0, z) + little / epsilon
    return kept / kept.sum()


def measure(histogram, epsilon, seed):
    """TV and KL of ours, then of the tidied histogram, each at its better addition."""
    counts, found = histogram.counts, []
    p = counts / counts.sum()
    rng = np.random.default_rng([seed, round(1000 * epsilon)])
    for _ in range(RELEASES):
        z = counts + noise(rng, len(counts), epsilon)
        ours = estimate(z, histogram.grid.axes, 1 / epsilon)
        least, most = tidied(z, epsilon, 0.05), tidied(z, epsilon, 0.25)
        found.append((tv(p, ours), kl(p, ours), tv(p, least), kl(p, most)))
    return np.mean(found, axis=0)


def measured(cases):
    return {(name, e): measure(case, e, seed) for seed, (name, case) in enumerate(cases.items()) for e in EPSILONS}


def kl_parts(p, q):
    """What every cell adds to the KL of q from p, none below 0: q where nobody is."""
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0) - p + q


def many_releases(histogram, epsilon):
    """Every cell's part of the KL of ours and of the tidied histogram: releases by two by cells."""
    counts = histogram.counts
    p, rng = counts / counts.sum(), np.random.default_rng(MORE_SEED)
    noisy = [counts + noise(rng, len(counts), epsilon) for _ in range(MORE_RELEASES)]
    both = [(estimate(z, histogram.grid.axes, 1 / epsilon), tidied(z, epsilon, 0.25)) for z in noisy]
    return np.array([[kl_parts(p, q) for q in pair] for pair in both])


def the_worst_again(found, cases):
    """The worst ratio of the KL of one column in many other releases, with its standard error, and where it arises."""
    name, epsilon = max(found, key=lambda case: found[case][1] / found[case][3])
    parts = many_releases(cases[name], epsilon)
    sums, cells = parts.sum(axis=2), parts.mean(axis=0)
    ours, other = sums.mean(axis=0)
    error = np.std(sums[:, 0] - ours / other * sums[:, 1], ddof=1) / other / math.sqrt(MORE_RELEASES)
    nobody = cells[:, cases[name].counts == 0].sum(axis=1)
    return (
        f"{name}, epsilon {epsilon:g}, in {MORE_RELEASES} releases with other seeds: {ours / other:.2f} with a "
        f"standard error of {error:.2f}, KL {ours:.5f} against {other:.5f}. Cells with nobody in them have "
        f"{nobody[0]:.5f} of it against {nobody[1]:.5f}; the others {ours - nobody[0]:.5f} against "
        f"{other - nobody[1]:.5f}."
    )


def line(cells):
    return "| " + " | ".join(cells) + " |"


def listed(found):
    yield line(["table", "epsilon", "TV", "KL", "TV tidied", "KL tidied", "TV ratio", "KL ratio"])
    yield line(["---", *["---:"] * 7])
    for (name, e), (near, far, near_tidied, far_tidied) in found.items():
        values = [near, far, near_tidied, far_tidied, near / near_tidied, far / far_tidied]
        yield line([name, f"{e:g}", *(f"{value:.3f}" if value >= 0.01 else f"{value:.5f}" for value in values)])


def verdict(label, value, most):
    return f"- {label}: {value:.3f}, at most {most:g}: {'reached' if value <= most else '**missed**'}"


def ratios(found, label, kl_mean, kl_most, tv_mean=None, tv_most=None):
    by_kl = {case: row[1] / row[3] for case, row in found.items()}
    by_tv = {case: row[0] / row[2] for case, row in found.items()}
    for name, values, mean, most in (("KL", by_kl, kl_mean, kl_most), ("total variation", by_tv, tv_mean, tv_most)):
        if mean is not None:
            geometric = math.exp(np.mean(np.log(list(values.values()))))
            worst = max(values, key=values.get)
            yield verdict(f"{label}, {name} against the tidied histogram, geometric mean", geometric, mean)
            yield verdict(f"{label}, the worst ({worst[0]}, epsilon {worst[1]:g})", values[worst], most)


def against_goals(found):
    yield line(["table", "epsilon", "TV", "at most", "KL", "at most", ""])
    yield line(["---", *["---:"] * 5, "---"])
    for name, goals in GOALS.items():
        for e, (near_most, far_most) in goals.items():
            near, far = found[name, e][:2]
            reached = "reached" if near <= near_most and far <= far_most else "**missed**"
            yield line([name, f"{e:g}", f"{near:.4f}", f"{near_most:g}", f"{far:.4f}", f"{far_most:g}", reached])


def large(side=1000, people=1_000_000):
    """Seconds of a million cells, made-up people."""
    rng = np.random.default_rng(0)
    bins = np.clip(rng.multivariate_normal([0.5, 0.5], [[0.02, 0.01], [0.01, 0.02]], people) * side, 0, side - 1)
    cells = bins.astype(int) @ [side, 1]
    z = np.bincount(cells, minlength=side * side) + noise(rng, side * side, 1.0)
    from equinoise.data.grid import Axis

    start = time.process_time()
    estimate(z, [Axis("a", 0.0, 1.0, side), Axis("b", 0.0, 1.0, side)], 1.0)
    return time.process_time() - start


def main():
    single = columns()
    many, one, odd = measured(tables()), measured(single), measured(misfits())
    start = time.process_time()
    measure(tables()["sex x height x weight, 2 x 24 x 24"], 1.0, 0)
    seconds = (time.process_time() - start) / RELEASES
    text = [
        "# The estimate made of noisy counts, paid once", "", " ".join(__doc__.split("\n\n")[1].split()), "",
        f"Constants were chosen on {CHOSEN_ON}. What follows is other data. It was looked at twice before the rule "
        "was final: ages with bounds too wide came out worse there, so rates may jump; and the sparsest table missed "
        "its goal, so fits begin at blurred counts. How freely and how blurred was chosen on the data above.", "",
        "It was looked at once more when the rule was final, as one column misses its goal: in more releases of that "
        "one, to know chance from fault.", "",
        "## Tables, against goals", "", *against_goals(many), "",
        *ratios(many, "Seven tables", 0.5, 0.7, 1.0, 1.25), *ratios(one, "One column", 0.75, 1.05),
        *ratios(odd, "Every other bin empty", 0.75, 1.05),
        verdict("Seconds of 2 x 24 x 24, one core", seconds, 2), verdict("Seconds of 1000 x 1000", large(), 40), "",
        "## The column that is worst", "", the_worst_again(one, single), "", SHARP_END, "",
        "## Tables", "", *listed(many), "", "## One column", "", *listed(one), "",
        "## Bins of half a step", "", *listed(odd), "",
    ]  # fmt: skip
    Path(__file__).with_name("pay_once.md").write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
