"""Counting a large Parquet file against the engines' own bare group-by, and against NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.counting_side import COLUMN, NEEDED
from benchmarks.heights import BOUNDS
from benchmarks.measuring import Part, at_most, holds, note, table

ROW_GROUP = 2**20
MOST_TIMES = 1.3
MOST_MEMORY = 1024

ABOUT = """
{rows:,} made-up heights (normal, mean 195, standard deviation 10, held within the bounds) as 64-bit floats in one
Parquet file, in row groups of {group:,}. *Counted* is what `equinoise optimize` does with it: open, look at the
types, put every value into one of 101 bins and refuse what is missing, infinite or outside the bounds. *Bare* is
the same engine's own group-by of floor((value - a) * b) with the number of rows, on the same file, which checks
nothing. NumPy does the same arithmetic and a bincount, on one core, in batches that PyArrow reads. Every line is a
process of its own, {repeats} times in turn; the least of these, which a busy machine disturbs least, of the count
alone (a few rows of another file are counted first, so that everything is loaded), by the clock (all cores) and of
the processor. Peak memory is the whole process's, and the most of all its turns.
"""


def make_file(path, rows, seed=0):
    """The file, one row group in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, schema = np.random.default_rng(seed), pa.schema([(COLUMN, pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, ROW_GROUP):
            values = np.clip(random.normal(195, 10, min(ROW_GROUP, rows - first)), *BOUNDS)
            writer.write_table(pa.table({COLUMN: values}, schema=schema))


def counted(engine, side, path, few):
    """One side's word, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.counting_side", engine, side, str(path), str(few)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(rows=10**8, repeats=5):
    """All sides on one file, in turn."""
    told = {side: [] for side in NEEDED}
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "rows.parquet", Path(folder) / "few.parquet"
        make_file(few, 1000)
        note(f"making {rows:,} rows")
        make_file(path, rows)
        for turn in range(repeats):
            note(f"turn {turn + 1} of {repeats}")
            for side in NEEDED:
                told[side].append(counted(*side, path, few))
    return report(told, rows, repeats)


def report(told, rows, repeats):
    """The table and the goals."""

    def least(side, what):
        return min(one[what] for one in told[side])

    lines, goals = [], []
    for side in told:
        bare = (side[0], "bare")
        seconds, processor = least(side, "seconds"), least(side, "processor")
        peak = max(one["peak"] for one in told[side]) / 2**20
        name = f"{side[0]}, {'counted' if side[1] == 'ours' else 'bare'}"
        lines.append([
            name, f"{seconds:.3f}", f"{seconds / least(bare, 'seconds'):.2f}",
            f"{least(('numpy', 'bare'), 'seconds') / seconds:.2f}", f"{processor:.3f}",
            f"{processor / least(bare, 'processor'):.2f}", f"{peak:,.0f}",
        ])  # fmt: skip
        if side[1] == "ours":
            what = f"counting {rows:,} rows, {side[0]}"
            by_clock, of_processor = seconds / least(bare, "seconds"), processor / least(bare, "processor")
            goals.append(at_most(f"{what}, against its bare group-by, by the clock", MOST_TIMES, by_clock))
            goals.append(at_most(f"{what}, against its bare group-by, of the processor", MOST_TIMES, of_processor))
            goals.append(at_most(f"{what}, peak memory", MOST_MEMORY, peak, "MiB"))
    alike = {tuple(one["counts"]) for found in told.values() for one in found}
    goals.append(holds(f"the same counts of all {rows:,} rows in every line", len(alike) == 1))
    header = ["engine", "seconds", "times its bare", "times as fast as NumPy", "processor, s", "times its bare", "MiB"]
    about = ABOUT.format(rows=rows, group=ROW_GROUP, repeats=repeats)
    return Part("Counting", [about.strip(), *table(header, lines)], goals)
