"""One side of the counting benchmark, in a process of its own:

    python -m benchmarks.counting_side polars ours FILE FEW

Prints one JSON object: seconds by the clock and of the processor for the count alone (the rows of FEW are counted
before), the most memory that the process ever held, and the counts.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from functools import partial

import numpy as np

from benchmarks.heights import BOUNDS
from benchmarks.measuring import peak_memory
from equinoise.data.grid import Axis, Grid

COLUMN = "height"
AXIS = Axis.padded(COLUMN, *BOUNDS)
LOW, PER_WIDTH = AXIS.padded_low, AXIS.per_width


def ours(engine, path):
    """What `equinoise optimize` does before it plays: open the file and count, with every check."""
    from equinoise.data.counting import count_rows
    from equinoise.data.engines import connect
    from equinoise.data.rows import open_rows

    with connect(engine) as connected:
        return count_rows(open_rows(path, COLUMN, connected), Grid((AXIS,))).histogram.counts


def bare_polars(path):
    """The same bins and nothing else, as one would write it for polars."""
    import polars as pl

    cell = ((pl.col(COLUMN) - LOW) * PER_WIDTH).floor().alias("cell")
    found = pl.scan_parquet(path).group_by(cell).agg(pl.len().alias("people")).collect(engine="streaming")
    return laid_out(found["cell"].to_numpy(), found["people"].to_numpy())


def bare_duckdb(path):
    """The same for DuckDB."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        query = f"SELECT floor(({COLUMN} - ({LOW!r}::DOUBLE)) * ({PER_WIDTH!r}::DOUBLE)) AS cell, count(*) AS people"
        found = connection.execute(f"{query} FROM read_parquet(?) GROUP BY cell", [path]).fetchnumpy()
    return laid_out(found["cell"], found["people"])


def numpy_alone(path):
    """The same by NumPy's bincount, on one core, in batches that PyArrow reads."""
    import pyarrow.parquet as pq

    counts = np.zeros(AXIS.bins, dtype=np.int64)
    for batch in pq.ParquetFile(path).iter_batches(2**20, columns=[COLUMN]):
        values = batch.column(0).to_numpy(zero_copy_only=False)
        counts += np.bincount(np.floor((values - LOW) * PER_WIDTH).astype(np.int64), minlength=AXIS.bins)
    return counts


def laid_out(cells, people):
    """Counts of all cells."""
    counts = np.zeros(AXIS.bins, dtype=np.int64)
    counts[np.asarray(cells, dtype=np.int64)] = people
    return counts


NEEDED = {
    ("polars", "ours"): ["equinoise.data.counting", "equinoise.data.engines.polars"],
    ("polars", "bare"): ["polars"],
    ("duckdb", "ours"): ["equinoise.data.counting", "equinoise.data.engines.duckdb"],
    ("duckdb", "bare"): ["duckdb"],
    ("numpy", "bare"): ["pyarrow.parquet"],
}
BARE = {"polars": bare_polars, "duckdb": bare_duckdb, "numpy": numpy_alone}


def main(engine, side, path, few):
    """Count a few rows, which loads all that is loaded on first use; then count once, and tell."""
    for module in NEEDED[engine, side]:
        importlib.import_module(module)
    count = partial(ours, engine) if side == "ours" else BARE[engine]
    count(few)
    clock, processor = time.perf_counter(), time.process_time()
    counts = count(path)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    told = {"seconds": clock, "processor": processor, "peak": peak_memory(), "counts": counts.tolist()}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
