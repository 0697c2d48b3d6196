"""What it costs to look for names that repeat: the whole `optimize` with and without that look, and such a column."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.counting_side import COLUMN
from benchmarks.heights import BOUNDS
from benchmarks.measuring import Part, at_most, holds, note, table

ROW_GROUP = 2**20
MOST_TIMES = 1.3
MOST_MEMORY = 1024
SIDES = {
    "no such column": ("plain", "looked"),
    "not looked at": ("named", "unlooked"),
    "looked at": ("named", "looked"),
}

ABOUT = """
Made-up heights as for counting, alone and beside a column `individual` of whole numbers, drawn at random from half as
many as there are rows: {rows:,} rows of Parquet, {text_rows:,} of CSV. Every figure is of a whole `equinoise
optimize`, a process of its own from start to end, {repeats} times in turn; the least by the clock, the most memory.
*Not looked at* is the same command on the same file with the look for repeated names taken out of it.
"""


def make_files(folder, ending, rows, seed=0):
    """Two files of the same heights, one with names beside them; some rows in memory at a time."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    random = np.random.default_rng(seed)
    fields = {"plain": [(COLUMN, pa.float64())], "named": [("individual", pa.int64()), (COLUMN, pa.float64())]}
    kind = pq.ParquetWriter if ending == "parquet" else pc.CSVWriter
    paths = {name: Path(folder) / f"{name}.{ending}" for name in fields}
    writers = {name: kind(str(paths[name]), pa.schema(fields[name])) for name in fields}
    for first in range(0, rows, ROW_GROUP):
        many = min(ROW_GROUP, rows - first)
        made = {
            COLUMN: np.clip(random.normal(195, 10, many), *BOUNDS),
            "individual": random.integers(0, max(rows // 2, 1), many),
        }
        for name, writer in writers.items():
            schema = pa.schema(fields[name])
            writer.write_table(pa.table({column: made[column] for column in schema.names}, schema=schema))
    for writer in writers.values():
        writer.close()
    return paths


def optimized(engine, look, path, out):
    """Seconds of one whole command, with what it tells."""
    command = [sys.executable, "-m", "benchmarks.optimize_side", engine, look, str(path), str(out)]
    began = time.perf_counter()
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {**told, "seconds": time.perf_counter() - began}


def measure(rows=10**8, text_rows=10**7, repeats=3, engines=("polars", "duckdb")):
    """All sides, in turn, on Parquet by these engines and on text by polars."""
    told = {}
    for ending, many, readers in (("parquet", rows, engines), ("csv", text_rows, ("polars",))):
        with tempfile.TemporaryDirectory() as folder:
            note(f"making {many:,} rows of {ending}")
            paths = make_files(folder, ending, many)
            for turn in range(repeats):
                note(f"turn {turn + 1} of {repeats}")
                for engine in readers:
                    for side, (file, look) in SIDES.items():
                        found = optimized(engine, look, paths[file], Path(folder) / "out.eq")
                        told.setdefault((ending, many, engine), {}).setdefault(side, []).append(found)
    return report(told, rows, text_rows, repeats)


def report(told, rows, text_rows, repeats):
    """The table and the goals."""
    lines, goals, as_expected = [], [], True
    for (ending, many, engine), sides in told.items():
        seconds = {side: min(one["seconds"] for one in found) for side, found in sides.items()}
        peaks = {side: max(one["peak"] for one in found) / 2**20 for side, found in sides.items()}
        ratios = {side: seconds["looked at"] / seconds[side] for side in seconds}
        for side in sides:
            name = f"{engine}, {many:,} rows of {ending}, {side}"
            lines.append([name, f"{seconds[side]:.2f}", f"{ratios[side]:.2f}", f"{peaks[side]:,.0f}"])
            as_expected &= all(one["told"] == (side == "looked at") for one in sides[side])
        what = f"optimize, {many:,} rows of {ending}, {engine}: looking for repeated names"
        goals.append(at_most(f"{what}, against not looking", MOST_TIMES, ratios["not looked at"]))
        goals.append(at_most(f"{what}, against no such column", MOST_TIMES, ratios["no such column"]))
        goals.append(at_most(f"{what}, peak memory", MOST_MEMORY, peaks["looked at"], "MiB"))
    goals.append(holds("repeated names are pointed out where they are looked for, and nowhere else", as_expected))
    about = ABOUT.format(rows=rows, text_rows=text_rows, repeats=repeats)
    header = ["command", "seconds", "looked at takes times this", "MiB"]
    return Part("Looking for names that repeat", [about.strip(), *table(header, lines)], goals)
