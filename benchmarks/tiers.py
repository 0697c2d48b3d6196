"""`python -m benchmarks.tiers`: both promises on the same heights, and what one would use instead; writes tiers.md.

Takes some minutes: the optimal solver is solved again without a person of each of 24 cells, at the larger epsilons.
"""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.heights import BOUNDS, heights
from equinoise import compare, optimize, synthesize
from equinoise.analysis.audit import audit

EPSILONS = (0.1, 0.3, 1.0, 2.0)
MANY = {"epsilon": 1.0, "delta": 1e-6, "draws": 500}

PROMISES = {
    "per-instance, best response": (optimize, {"grid": "paper"}),
    "per-instance, best response, one start": (optimize, {"grid": "paper", "restarts": 1}),
    "per-instance, optimal": (optimize, {"grid": "paper", "solver": "optimal", "time_limit": 60}),
    "differential-privacy": (synthesize, {"bins": 25}),  # as many as the paper's grid has within the bounds
}
INSTEAD = ("bounded-smoothing", "additive-smoothing", "dp-histogram")


def made(make, people, again=True, **settings):
    """KL of a mechanism and its worst loss end to end, as text."""
    mechanism = make(people, bounds=BOUNDS, **settings)
    if not again:
        return f"{mechanism.metrics()['kl']:.5f}", "not measured"
    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.eq"
        mechanism.save(file)
        try:
            measured = audit(file, people, end_to_end=True).end_to_end
        except ValueError:  # a time limit decided
            return f"{mechanism.metrics()['kl']:.5f}", "not measured"
    above = f", {measured.above} people above" if measured.above else ""
    return f"{mechanism.metrics()['kl']:.5f}", f"{hundredths(measured.worst)}{above}"


def hundredths(loss):
    """A loss, rounded up."""
    return "inf" if math.isinf(loss) else f"{math.ceil(loss * 100 - 1e-9) / 100:.2f}"


def rows(people):
    """KL, and in brackets the worst loss end to end, for every promise; then the others."""
    for promise, (make, settings) in PROMISES.items():
        slow = "solver" in settings
        asked = [{"epsilon": epsilon, "again": epsilon >= 1 or not slow} for epsilon in EPSILONS]
        cells = ["{} ({})".format(*made(make, people, **one, **settings)) for one in asked]
        usual = set(settings) <= {"grid", "bins"}
        many = make(people, bounds=BOUNDS, **MANY, **settings).metrics()["kl"] if usual else ""
        yield [promise, *cells, f"{many:.5f}" if many else ""]
    found = compare(people, bounds=BOUNDS, epsilons=EPSILONS, grid="paper", restarts=1, time_limit=0.1)
    for method in INSTEAD:
        kl = {row.epsilon: row.metrics["kl"] for row in found.rows if row.method == method}
        any_number = f"{kl[1.0]:.5f}" if method == "dp-histogram" else ""
        yield [method, *(f"{kl[epsilon]:.5f}" for epsilon in EPSILONS), any_number]


def main():
    """Print the table and write it."""
    names = ["promise", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "500 draws at (1, 1e-6)"]
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join(['---'] * len(names))} |"]
    for row in rows(heights()):
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    text = (
        "# Two promises side by side\n\nWritten by `python -m benchmarks.tiers`: 1,844 heights, 101 bins of the padded "
        "range, for differential privacy 25 bins of the bounds. KL from the original and, in brackets, the worst loss "
        "of anyone in the data with everything worked out again without them.\n\n" + "\n".join(lines) + "\n"
    )
    Path(__file__).with_name("tiers.md").write_text(text)


if __name__ == "__main__":
    main()
