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
from equinoise import Axis
from equinoise.noise import scale_set

MOST_SECONDS = 60

WHOLE = """
import sys
from benchmarks.measuring import peak_memory
from equinoise import cli
try:
    cli.main()
finally:
    print("\\npeak", peak_memory(), file=sys.stderr)
"""
"""The command, with the most memory it ever held (in bytes) as the last word."""

ABOUT = """
A run goes from everyone at the largest scale to its equilibrium, at epsilon 1. Seconds are the processor's, medians
of {repeats} runs, except for the whole command: those are by the clock, of one run. The check is other code than
the solver's, and asks every occupied (cell, scale) pair. Histograms are scaled to so many people, and nobody's cell
is emptied. Incomes (9,275 people, with decimals) occupy more bins than the 1,844 heights, which are whole
centimetres; a quarter of a grid is within bounds. Flat in people means: nowhere more than twice the time at 10^4.
"""


def write_rows(path, columns, count_of):
    """The rows of a column, or of two, as a CSV file; and how the command is to be asked about them."""
    if len(columns) == 1:
        read, bounds = COLUMNS[columns[0]]
        np.savetxt(path, read(), header=columns[0], comments="", fmt="%.17g")
        asked = {columns[0]: bounds}
    else:
        players(*columns).write_csv(path)
        asked = {name: JOINT_BOUNDS[name] for name in columns}
    options = ["--bins", str(count_of)]
    for name, bounds in asked.items():
        options += ["--bounds", name, *map(str, bounds)]
    if len(columns) == 1:
        axis = Axis.padded(columns[0], *asked[columns[0]], bins=count_of)
        scales = np.array(scale_set("wide", axis, 1.0)) * axis.range
        options += ["--scales", ",".join(map(str, scales.tolist()))]
    return options


def command(columns, bins):
    """`equinoise optimize` in a process of its own: seconds, peak memory in MiB, and what it says."""
    note(f"optimize, {' x '.join(columns)}, {bins:,} bins")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        options = write_rows(path, columns, bins)
        words = [sys.executable, "-c", WHOLE, "optimize", str(path), *options, "--epsilon", "1", "--json"]
        began = time.perf_counter()
        ended = subprocess.run(
            [*words, "--out", str(Path(folder) / "it.eq")], check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - began
    return seconds, int(ended.stderr.split()[-1]) / 2**20, json.loads(ended.stdout)


def commands(asked):
    """The whole command on coarse and fine grids."""
    lines, goals = [], []
    for columns, bins in asked:
        seconds, peak, told = command(columns, bins)
        name, sound = " x ".join(columns), told["solver"]["equilibrium"] and told["certificate"]["holds"]
        lines.append([name, f"{bins:,}", f"{seconds:.1f}", f"{peak:.0f}", f"{told['metrics']['kl']:.4f}", sound])
        if len(columns) == 1 and bins == max(BINS):
            what = f"`optimize`, {name}, {bins:,} bins, 8 scales, to a checked and certified equilibrium"
            goals.append(at_most(what, MOST_SECONDS, seconds, "s"))
        goals.append(holds(f"equilibrium and certificate, {name}, {bins:,} bins", sound))
    header = ["columns", "bins of each", "seconds", "peak memory, MiB", "KL", "checked equilibrium and certificate"]
    return table(header, lines), goals


COMMANDS = (
    *(((name,), bins) for name in COLUMNS for bins in (101, 1001, 2001)),
    (("height", "weight"), 51),
    (("height", "weight"), 101),
)


def measure(people=PEOPLE, bins=BINS, scales=SCALES, joint_bins=JOINT_BINS, asked=COMMANDS, repeats=5):
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
    page = [
        "# How best response grows",
        "",
        "Written by `make bench`, with [the other results](results.md).",
        machine(),
    ]
    page.append(ABOUT.format(repeats=repeats).rstrip())
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
