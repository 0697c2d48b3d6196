"""One side of the benchmark of counting by a schema, in a process of its own:

    python -m benchmarks.schema_side polars ours five FILE FEW

Prints one JSON object, as :mod:`benchmarks.counting_side` does.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from functools import partial

import numpy as np

from benchmarks.measuring import peak_memory
from equinoise.data.grid import Axis, CategoryAxis, Grid

WARDS = tuple(f"ward {i}" for i in range(8))


def steps_of(name, low, step, values, bins):
    """A column with a step, as a schema's bounds, step and bins make it."""
    return Axis(name, low, low + step * (values - 1), bins, step / 2, step=step)


CASES = {
    "number": Grid((steps_of("height", 140.0, 0.5, 140, 140),)),
    "category": Grid((CategoryAxis("ward", WARDS),)),
    "five": Grid((
        steps_of("age", 20.0, 1.0, 80, 8), steps_of("height", 140.0, 0.5, 140, 7), Axis("weight", 30.0, 190.0, 10),
        CategoryAxis("ward", WARDS), CategoryAxis("sex", ("F", "M")),
    )),
}  # fmt: skip


def ours(engine, grid, path):
    """What `equinoise optimize` does before it plays: open the file and count, with every check."""
    from equinoise.data.counting import count_rows
    from equinoise.data.engines import connect
    from equinoise.data.read_players import open_axes

    with connect(engine) as connected:
        found = count_rows(open_axes(path, grid.axes, connected), grid)
    counts = np.zeros(grid.cells, dtype=np.int64)
    counts[found.cells] = found.people
    return counts


def bare_polars(grid, path):
    """The same keys and nothing else, as one would write it for polars."""
    import polars as pl

    def key(axis):
        column = pl.col(axis.name)
        is_number = isinstance(axis, Axis)
        return ((column - axis.padded_low) * axis.per_width).floor().alias(axis.name) if is_number else column

    keys = [key(axis) for axis in grid.axes]
    found = pl.scan_parquet(path).group_by(keys).agg(pl.len().alias("people")).collect(engine="streaming")
    return laid_out(grid, {name: found[name].to_numpy() for name in found.columns})


def bare_duckdb(grid, path):
    """The same for DuckDB."""
    import duckdb

    def key(axis):
        if not isinstance(axis, Axis):
            return axis.name
        return f"floor(({axis.name} - ({axis.padded_low!r}::DOUBLE)) * ({axis.per_width!r}::DOUBLE)) AS {axis.name}"

    query = f"SELECT {', '.join(map(key, grid.axes))}, count(*) AS people FROM read_parquet(?) GROUP BY ALL"
    with duckdb.connect(":memory:") as connection:
        return laid_out(grid, connection.execute(query, [path]).fetchnumpy())


def laid_out(grid, found):
    """Counts of all cells, of groups by their keys."""
    bins = []
    for axis in grid.axes:
        keys = np.asarray(found[axis.name])
        bins.append(keys.astype(np.int64) if isinstance(axis, Axis) else [axis.names.index(key) for key in keys])
    counts = np.zeros(grid.cells, dtype=np.int64)
    counts[grid.cells_of(np.stack(bins, axis=1))] = found["people"]
    return counts


BARE = {"polars": bare_polars, "duckdb": bare_duckdb}
SIDES = [(engine, side) for engine in BARE for side in ("ours", "bare")]


def main(engine, side, case, path, few):
    """Count a few rows, which loads all that is loaded on first use; then count once, and tell."""
    for module in ("equinoise.data.counting", f"equinoise.data.engines.{engine}", "equinoise.data.read_players"):
        importlib.import_module(module)
    count = partial(partial(ours, engine) if side == "ours" else BARE[engine], CASES[case])
    count(few)
    clock, processor = time.perf_counter(), time.process_time()
    counts = count(path)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    told = {"seconds": clock, "processor": processor, "peak": peak_memory(), "counts": counts.tolist()}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
