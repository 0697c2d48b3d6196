"""`python -m benchmarks.peers`: paying once beside AIM and MST, and every method of `compare` on one table.

AIM and MST are OpenDP's (the extra `aim`), with pure epsilon, as everything here: on most tables of two and three
columns they are closer with it than with a delta of 1e-6. Of the tidied histogram, on the noisy counts that are paid
for once, the addition with the lower total variation is taken. Means of 4 releases; AIM and MST draw from the
system's random source, so figures differ a little from run to run. The least of AIM's and MST's total variation is
what paying once is held against. Writes benchmarks/peers.md, in some ten minutes on one core.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from benchmarks.pay_cases import players, tables
from benchmarks.pay_once import line, noise, tidied, verdict
from equinoise.analysis.compare import compare
from equinoise.statistics.metrics import marginal_distances, marginals_of, tv
from equinoise.synthesis.estimate import estimate
from equinoise.synthesis.opendp_filter import ALGORITHMS, ModelRequest
from equinoise.synthesis.opendp_models import counts_of_columns, make_model

EPSILONS, RELEASES = (0.3, 1.0), 4

METHODS = ("pay once", "tidied", *(name.upper() for name in ALGORITHMS))
MOST = 0.5

SCHEMA = {
    "columns": {
        "sex": {"categories": ["F", "M"]},
        "height": {"bounds": [140, 230], "step": 1, "bins": 12},
        "weight": {"bounds": [40, 160], "step": 1, "bins": 12},
    }
}
ROWS = (1, 100)


def releases(histogram, epsilon, seed):
    """What each method has, one release after the other: its name, a distribution over the cells, and CPU seconds."""
    counts, grid = histogram.counts, histogram.grid
    rng = np.random.default_rng([seed, round(1000 * epsilon)])
    cells = np.flatnonzero(counts)
    exact = counts_of_columns(grid.bins_of(cells), counts[cells], grid.shape)
    for _ in range(RELEASES):
        z = counts + noise(rng, len(counts), epsilon)
        began = time.process_time()
        yield "pay once", estimate(z, grid.axes, 1 / epsilon), time.process_time() - began
        yield "tidied", tidied(z, epsilon, 0.05), 0.0
        for name in ALGORITHMS:
            began = time.process_time()
            request = ModelRequest(grid.shape, epsilon, algorithm=name)
            yield name.upper(), make_model(exact, request).joint(), time.process_time() - began


def measure(histogram, epsilon, seed):
    """Of every method the mean TV of the joint cells, of two columns and of single ones, and the median CPU seconds."""
    p, axes = histogram.counts / histogram.counts.sum(), histogram.grid.axes
    found = {name: [] for name in METHODS}
    for name, q, seconds in releases(histogram, epsilon, seed):
        marginals = marginal_distances(marginals_of(p, axes), marginals_of(q, axes), len(axes))
        found[name].append((tv(p, q), marginals["tv_2way"], marginals["tv_1way"], seconds))
    return {name: (*np.mean(each, axis=0)[:3], float(np.median(each, axis=0)[3])) for name, each in found.items()}


def ratio(found, part=0):
    """TV of paying once over the least of AIM's and MST's."""
    return found["pay once"][part] / min(found[name.upper()][part] for name in ALGORITHMS)


def listed(found, part):
    yield line(["table", "epsilon", *METHODS, "pay once / the better of AIM and MST"])
    yield line(["---", *["---:"] * (2 + len(METHODS))])
    for (name, e), each in found.items():
        cells = [f"{each[method][part]:.3g}" for method in METHODS]
        yield line([name, f"{e:g}", *cells, f"{ratio(each, part):.3g}"])


def verdicts(found):
    for (name, e), each in found.items():
        yield verdict(f"{name}, epsilon {e:g}", ratio(each), MOST)
    yield verdict("Geometric mean", math.exp(np.mean([math.log(ratio(each)) for each in found.values()])), MOST)


def compared():
    """Every method on one table, at one row and at several, as `equinoise compare` has them."""
    one, many = (compare(players(), SCHEMA, epsilons=[1], rows=rows) for rows in ROWS)
    of_one = {row.method: row for row in one.rows}
    yield line([
        "method", "promise", "TV, 1 row", "TV, joint", "1-way", "2-way", "means", "medians", "correlation", "seconds",
    ])  # fmt: skip
    yield line(["---", "---", *["---:"] * 8])
    for row in many.rows:
        m = row.metrics
        parts = [
            of_one[row.method].metrics["tv"],
            m["tv"],
            m["tv_1way"],
            m["tv_2way"],
            m["mean_error"],
            m["median_error"],
            m["correlation_loss"],
        ]
        promise = row.promise.partition(" for every dataset")[0].partition(" between")[0]
        promise = promise.partition(", everyone else")[0]
        yield line([
            f"`{row.method}`", promise, *(f"{part:.3g}" for part in parts),
            "<0.01" if row.seconds < 0.01 else f"{row.seconds:.2g}",
        ])  # fmt: skip


def main():
    beside = list(compared())
    found = {(name, e): measure(case, e, seed) for seed, (name, case) in enumerate(tables().items()) for e in EPSILONS}
    seconds = [
        f"{name} {np.median([each[name][3] for each in found.values()]):.2g}" for name in METHODS if name != "tidied"
    ]
    text = [
        "# Paying once beside AIM, MST and the rest", "", " ".join(__doc__.split("\n\n")[1].split()), "",
        "## Every method on one table", "",
        f"Sex x height x weight of 2,776 basketball players, 2 x 12 x 12 cells, epsilon 1 for {ROWS[1]} rows together; "
        f"the third column is for one row. From `equinoise.compare` with that schema and `rows={ROWS[1]}`. Errors of "
        "means and medians are in standard deviations, that of correlation is its change.", "",
        *beside, "",
        "## Total variation against the better of AIM and MST", "", *verdicts(found), "",
        f"Median CPU seconds of a release: {', '.join(seconds)}.", "",
        "## Joint cells", "", *listed(found, 0), "", "## Two columns at a time, mean", "", *listed(found, 1), "",
        "## Single columns, mean", "", *listed(found, 2), "",
    ]  # fmt: skip
    Path(__file__).with_name("peers.md").write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
