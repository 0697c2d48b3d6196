"""Exact draws against OpenDP's Laplace noise on as many values."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.heights import BOUNDS, heights
from benchmarks.measuring import Part, at_least, note, side_by_side, table
from equinoise import optimize

LEAST_TIMES = 10

ABOUT = """
{n:,} draws from the certified mechanism of the 1,844 heights (epsilon 1, wide scales), by `sample` and so charged
to the ledger: whole numbers by rejection from the operating system's random source, no float decides. OpenDP adds
its Laplace noise of scale 63, the width of the bounds, to {n:,} heights: discrete Laplace on whole numbers, and
Laplace on floats. Both are made for privacy; NumPy's generator is not, and shows what neither exactness nor a
secure source costs. By the clock, in turn, medians of {repeats}.
"""


def laplace(kind):
    """OpenDP's measurement for a vector of numbers of a kind."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    atom = dp.atom_domain(T="i64") if kind == "i64" else dp.atom_domain(T="f64", nan=False)
    return dp.m.make_laplace(dp.vector_domain(atom), dp.l1_distance(T=kind), scale=BOUNDS[1] - BOUNDS[0])


def measure(n=100_000, repeats=7):
    """Seconds for as many values of each."""
    values = np.tile(heights(), math.ceil(n / len(heights())))[:n]
    whole, floats = np.rint(values).astype(np.int64).tolist(), values.tolist()
    mechanism = optimize(heights(), epsilon=1, bounds=BOUNDS, draws=10**9, restarts=1, grid="paper")
    discrete, continuous = laplace("i64"), laplace("f64")
    sides = {
        "Equinoise, exact draws": lambda: mechanism.sample(n),
        "OpenDP, discrete Laplace on whole numbers": lambda: discrete(whole),
        "OpenDP, Laplace on floats": lambda: continuous(floats),
        "NumPy, Laplace on floats, seeded generator": lambda: values + np.random.default_rng(0).laplace(0, 63, n),
    }
    note(f"{n:,} values")
    times, _ = side_by_side(sides, repeats)
    ours = times["Equinoise, exact draws"]
    lines = [[name, f"{n / taken:,.0f}", f"{taken / ours:.3g}"] for name, taken in times.items()]
    peers = [name for name in times if name.startswith("OpenDP")]
    goals = [at_least(f"draws a second against {name}", LEAST_TIMES, times[name] / ours) for name in peers]
    about = ABOUT.format(n=n, repeats=repeats)
    return Part("Draws", [about.strip(), *table(["what", "a second", "time, times ours"], lines)], goals)
