"""PyArrow tables: numbers may be packed in dictionaries or in runs of equals, and decimals come in four widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from equinoise.data.engines.protocol import Library


class PyArrow(Library):
    """The library; it reads no files."""

    by_text = Library.by_text | {nw.Int64, nw.UInt64}  # Arrow's own cast refuses integers above 2^53

    def prepare(self, frame: Any, columns: Sequence[str | None], keep: bool | Sequence[str]) -> Any:
        """A table with nothing packed but text, and that in one dictionary a column: Arrow groups by no other. Unusual
        decimals are floats where they are counted."""
        table = frame.to_native().unify_dictionaries()
        for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
            column = table.column(place)
            if pa.types.is_run_end_encoded(kind):
                column = pc.run_end_decode(column)
            elif pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
                column = column.cast(kind.value_type)
            elif pa.types.is_null(kind):  # nothing but missing values
                column = column.cast(pa.float64())
            if name in columns and _is_unusual(column.type):
                column = column.cast(pa.string()).cast(pa.float64())
            if column.type != kind:
                table = table.set_column(place, name, column)
        return nw.from_native(table)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_unusual(kind: Any) -> bool:
    return pa.types.is_decimal(kind) and (not pa.types.is_decimal128(kind) or kind.scale < 0)


LIBRARY = PyArrow
