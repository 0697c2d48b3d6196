"""What programs read: one JSON object, or rows as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl


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


def json_rows(rows: pl.DataFrame) -> list[Any]:
    """Drawn rows as JSON has them: of one column its values, of several lists; a date is a text."""
    dates = [name for name, kind in rows.schema.items() if kind == pl.Date]
    table = rows.with_columns(pl.col(name).cast(pl.String) for name in dates)
    return table.to_series().to_list() if table.width == 1 else [list(row) for row in table.rows()]


def csv_rows(names: list[str], frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    """Drawn rows as CSV, with a header."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    yield header.getvalue()
    for part in frames:
        yield part.write_csv(include_header=False)
