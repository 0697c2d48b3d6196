"""How long the command line takes to start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.heights import BOUNDS, heights
from benchmarks.measuring import Part, at_most, note, side_by_side, table

MOST_TIMES = 10

ABOUT = """
Whole processes, by the clock, in turn, medians of {repeats} (of {few} for the last line).
"""


def process(*command):
    subprocess.run(command, check=True, capture_output=True)


def measure(repeats=21, few=5):
    """Python alone, the help, and a whole job."""
    note("starting processes")
    script = str(Path(sys.executable).with_name("equinoise"))
    sides = {
        "python -c pass": lambda: process(sys.executable, "-c", "pass"),
        "equinoise --help": lambda: process(script, "--help"),
    }
    times, _ = side_by_side(sides, repeats)
    bare = times["python -c pass"]
    goals = [at_most("`equinoise --help` against `python -c pass`", MOST_TIMES, times["equinoise --help"] / bare)]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "heights.csv"
        rows.write_text("height\n" + "\n".join(str(h) for h in heights()) + "\n")
        command = [script, "optimize", str(rows), "--bounds", "height", *map(str, BOUNDS)]
        command += ["--epsilon", "1", "--force", "--out", str(Path(folder) / "heights.eq")]
        process(*command)
        last, _ = side_by_side({"equinoise optimize, 1,844 rows, 8 restarts": lambda: process(*command)}, few)
    lines = [[f"`{name}`", f"{taken:.3f}", f"{taken / bare:.1f}"] for name, taken in (times | last).items()]
    about = ABOUT.format(repeats=repeats, few=few)
    return Part("Start-up", [about.strip(), *table(["what", "seconds", "times"], lines)], goals)
