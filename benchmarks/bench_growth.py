"""How best response grows, and the whole command on fine grids: writes growth.md beside the results."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.growth import (
    BINS,
    COLUMNS,
    JOINT_BINS,
    PEOPLE,
    SCALES,
    column_game,
    played,
    two_column_game,
    with_bins,
    with_joint_bins,
    with_people,
    with_scales,
)
from benchmarks.joint import BOUNDS as JOINT_BOUNDS
from benchmarks.joint import players
from benchmarks.measuring import Part, at_most, holds, machine, note, table

MOST_SECONDS = 60

WHOLE = """
import sys, time
from benchmarks.measuring import peak_memory
from equinoise.cli import main as cli
try:
    cli.main()
finally:
    print("\\n", time.process_time(), peak_memory(), file=sys.stderr)
"""
"""The command, with its processor time and the most memory it ever held (in bytes) as the last words."""

ABOUT = """
A run goes from everyone at the largest scale to its equilibrium, at epsilon 1. Seconds are the processor's, medians
of {repeats} runs, and of one run of the whole command, where the clock's stand beside them. The check is other code
than the solver's, and asks every occupied (cell, scale) pair. Histograms are scaled to so many people, and nobody's
cell is emptied. Incomes (9,275 people, with decimals) occupy more bins than the 1,844 heights, which are whole
centimetres; a quarter of a grid is within bounds. Flat in people means: nowhere more than twice the time at 10^4.
"""


def write_rows(path, columns):
    """The rows of a column, or of two, as a CSV file; gives their bounds."""
    if len(columns) > 1:
        players(*columns).write_csv(path)
        return {name: JOINT_BOUNDS[name] for name in columns}
    read, bounds = COLUMNS[columns[0]]
    np.savetxt(path, read(), header=columns[0], comments="", fmt="%.17g")
    return {columns[0]: bounds}


def command(columns, bins):
    """`equinoise optimize` in a process of its own: seconds of clock and processor, peak in MiB, and what it says."""
    note(f"optimize, {' x '.join(columns)}, {bins:,} bins")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        words = [sys.executable, "-c", WHOLE, "optimize", str(path), "--bins", str(bins)]
        for name, bounds in write_rows(path, columns).items():
            words += ["--bounds", name, *map(str, bounds)]
        words += ["--epsilon", "1", "--json", "--out", str(Path(folder) / "it.eq")]
        began = time.perf_counter()
        ended = subprocess.run(words, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
    *_, processor, peak = ended.stderr.split()
    return seconds, float(processor), int(peak) / 2**20, json.loads(ended.stdout)


def commands(asked):
    """The whole command on coarse and fine grids."""
    lines, goals = [], []
    for columns, bins in asked:
        seconds, processor, peak, told = command(columns, bins)
        name, sound = " x ".join(columns), told["solver"]["equilibrium"] and told["certificate"]["holds"]
        kl = f"{told['metrics']['kl']:.4f}"
        lines.append([name, f"{bins:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{peak:.0f}", kl, sound])
        if len(columns) == 1 and bins == max(BINS):
            what = (
                f"`optimize`, {name}, {bins:,} bins, 8 scales, to a checked and certified equilibrium, of the processor"
            )
            goals.append(at_most(what, MOST_SECONDS, processor, "s"))
        goals.append(holds(f"equilibrium and certificate, {name}, {bins:,} bins", sound))
    header = ["columns", "bins of each", "seconds", "processor, s", "peak, MiB", "KL", "checked and certified"]
    return table(header, lines), goals


COMMANDS = (
    *(((name,), bins) for name in COLUMNS for bins in (101, 1001, 2001)),
    (("height", "weight"), 51),
    (("height", "weight"), 101),
)


def measure(people=PEOPLE, bins=BINS, scales=SCALES, joint_bins=JOINT_BINS, asked=COMMANDS, repeats=3):
    """All of it."""
    for game in (column_game("heights"), two_column_game(min(joint_bins))):
        played(game, 1)  # compiled before anything is timed
    kinds = [
        (f"{name} scales, 101 bins", lambda n, name=name: column_game("heights", scales=name, people=n))
        for name in ("wide", "paper")
    ]
    kinds.append(("height x weight, 51 x 51 bins, wide scales", lambda n: two_column_game(51, n)))
    sections = {
        "People": [with_people(*kind, people, repeats) for kind in kinds],
        "Bins": [with_bins(column, bins, repeats) for column in COLUMNS],
        "Scales": [with_scales(column, scales, repeats) for column in COLUMNS],
        "Two axes": [with_joint_bins(joint_bins, repeats)],
        "The whole command: `equinoise optimize --bins K`, 8 scales, 8 restarts, a process of its own": [
            commands(asked)
        ],
    }
    page = ["# How best response grows", "", "Written by `make bench`, with [the other results](results.md)."]
    page += ["", machine(), ABOUT.format(repeats=repeats).rstrip()]
    for title, found in sections.items():
        page += ["", f"## {title}", *(line for lines, _ in found for line in lines)]
    goals = [goal for found in sections.values() for _, some in found for goal in some]
    lines = ["Tables and fitted exponents: [growth](growth.md)."]
    return Part("Growth", lines, merged(goals), {"growth.md": "\n".join(page) + "\n"})


def merged(goals):
    """One line for all the equilibria."""
    checks = [goal for goal in goals if goal.goal == "yes"]
    missed = "; not: ".join(["", *(goal.what for goal in checks if not goal.reached)])
    return [
        *(goal for goal in goals if goal.goal != "yes"),
        holds(f"all ends are checked equilibria{missed}", not missed),
    ]
