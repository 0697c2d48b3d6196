"""A file of noisy counts for anybody to use: the counts, the grid that they are of, and the law of their noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from equinoise.atomic_write import write_whole
from equinoise.data.grid import Axis
from equinoise.mechanisms.counts_table import CountsTable

FORMAT = 1


def published_counts(mechanism: CountsTable) -> dict[str, Any]:
    """What the file says: nothing in it but the noisy counts was worked out from the data."""
    law = mechanism.law
    return {
        "equinoise_counts": FORMAT,
        "promise": mechanism.promise.public().in_one_line,
        "epsilon": mechanism.epsilon,
        "bounds_epsilon": mechanism.settings.get("bounds_epsilon", 0.0),
        "noise": {
            "law": "discrete Laplace: k has a probability proportional to exp(-abs(k)/scale), in every cell on its own",
            "scale": law.scale,
            "rows_per_person": law.rows,
        },
        "unit": mechanism.settings.get("unit"),
        "schema": mechanism.schema.to_json(),
        "columns": [
            {"name": axis.name, "kind": "number" if isinstance(axis, Axis) else "category",
             "bins": [axis.bin_label(bin) for bin in range(axis.bins)]}
            for axis in mechanism.grid.axes
        ],
        "order": "the last column's bins run fastest",
        "counts": mechanism.noisy.tolist(),
    }  # fmt: skip


def publish_counts(mechanism: CountsTable, path: Path, *, force: bool = False) -> None:
    """Write them as JSON, to a file that anyone may read."""
    write_whole(path, [json.dumps(published_counts(mechanism)).encode()], mode=0o644, force=force)
