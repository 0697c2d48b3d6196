"""Counting a large Parquet file by a schema against the engines' own bare group-by of the same keys."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measuring import Part, at_most, holds, note, table
from benchmarks.schema_side import CASES, SIDES, WARDS

ROW_GROUP = 2**20
MOST_TIMES = {"number": 1.3, "category": 1.3, "five": 1.5}
MOST_MEMORY = 1024
TITLES = {"number": "a number with a step", "category": "a category", "five": "five columns"}

ABOUT = """
{rows:,} made-up people in one Parquet file, in row groups of {group:,}: age in whole years (64-bit integers), height in
steps of 0.5 and weight in one decimal (64-bit floats), one of eight wards and one of two sexes (text, as Arrow writes
it: packed in dictionaries within a row group). *Number* is the height alone, in 140 bins of a step; *category* the
ward; *five* all of them, in 8 x 7 x 10 x 8 x 2 = 8,960 cells. *Counted* is what `equinoise optimize` does with a
schema: open, look at the types, put every value into its bin and refuse what is missing, infinite, outside the bounds
or no category. *Bare* is the same engine's own group-by of floor((value - a) * b) for a number and of the column itself
for a category, with the number of rows, which checks nothing. Every line is a process of its own, {repeats} times in
turn; the least of these, of the count alone, by the clock (all cores) and of the processor.
"""


def make_file(path, rows, seed=0):
    """The file, one row group in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, text = np.random.default_rng(seed), pa.string()
    numbers = [("age", pa.int64()), ("height", pa.float64()), ("weight", pa.float64())]
    schema = pa.schema([*numbers, ("ward", text), ("sex", text)])

    def named(names, many):
        codes = pa.array(random.integers(0, len(names), many, dtype=np.int8))
        return pa.DictionaryArray.from_arrays(codes, pa.array(names)).cast(text)

    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, ROW_GROUP):
            many = min(ROW_GROUP, rows - first)
            columns = {
                "age": random.integers(20, 100, many),
                "height": np.round(np.clip(random.normal(175, 10, many), 140, 209.5) * 2) / 2,
                "weight": np.round(np.clip(random.normal(75, 12, many), 30, 189.9), 1),
                "ward": named(WARDS, many),
                "sex": named(["F", "M"], many),
            }
            writer.write_table(pa.table(columns, schema=schema))


def counted(engine, side, case, path, few):
    """One side's word, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.schema_side", engine, side, case, str(path), str(few)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(rows=10**8, repeats=5):
    """All sides of all cases on one file, in turn."""
    told = {(case, *side): [] for case in CASES for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "rows.parquet", Path(folder) / "few.parquet"
        make_file(few, 1000)
        note(f"making {rows:,} rows")
        make_file(path, rows)
        for turn in range(repeats):
            note(f"turn {turn + 1} of {repeats}")
            for (case, engine, side), found in told.items():
                found.append(counted(engine, side, case, path, few))
    return report(told, rows, repeats)


def report(told, rows, repeats):
    """The table and the goals."""

    def least(line, what):
        return min(one[what] for one in told[line])

    lines, goals = [], []
    for case, engine, side in told:
        line, bare = (case, engine, side), (case, engine, "bare")
        clock, processor = least(line, "seconds"), least(line, "processor")
        by_clock, of_processor = clock / least(bare, "seconds"), processor / least(bare, "processor")
        peak = max(one["peak"] for one in told[line]) / 2**20
        lines.append([
            f"{TITLES[case]}, {engine}, {'counted' if side == 'ours' else 'bare'}", f"{clock:.3f}", f"{by_clock:.2f}",
            f"{processor:.3f}", f"{of_processor:.2f}", f"{peak:,.0f}",
        ])  # fmt: skip
        if side == "ours":
            what = f"counting {rows:,} rows by a schema, {TITLES[case]}, {engine}"
            goals.append(at_most(f"{what}, against its bare group-by, by the clock", MOST_TIMES[case], by_clock))
            goals.append(
                at_most(f"{what}, against its bare group-by, of the processor", MOST_TIMES[case], of_processor)
            )
            goals.append(at_most(f"{what}, peak memory", MOST_MEMORY, peak, "MiB"))
    alike = all(
        len({tuple(one["counts"]) for line in told if line[0] == case for one in told[line]}) == 1 for case in CASES
    )
    goals.append(holds(f"the same counts of all {rows:,} rows by a schema in every line of a case", alike))
    header = ["columns and engine", "seconds", "times its bare", "processor, s", "times its bare", "MiB"]
    about = ABOUT.format(rows=rows, group=ROW_GROUP, repeats=repeats)
    return Part("Counting by a schema", [about.strip(), *table(header, lines)], goals)
