"""What programs read: one JSON object, or rows as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from equinoise.data.grid import Floats


def print_json(value: dict[str, Any]) -> None:
    """One JSON object; numbers that JSON cannot hold become null."""
    sys.stdout.write(json.dumps(finite(value), allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """A value with null for numbers that JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


def csv_rows(names: list[str], values: Iterable[Floats]) -> Iterator[str]:
    """Drawn rows as CSV, with a header. There are only as many different values as bins."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    yield header.getvalue()
    for part in values:
        columns = []
        for column in part.reshape(len(part), -1).T:
            different, which = np.unique(column, return_inverse=True)
            columns.append(np.array([repr(float(value)) for value in different])[which].tolist())
        yield "\n".join(map(",".join, zip(*columns, strict=True))) + "\n"
