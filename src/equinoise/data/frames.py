"""An array or any dataframe as one that can be counted: with names, and with numbers that are numbers to everyone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from equinoise.data.columns import no_numbers
from equinoise.errors import BadInput

NAMELESS = "value"
"""What a column is called that has no name of its own."""


def as_array(data: Any) -> Any:
    """An array of numbers; what is masked there is missing."""
    try:
        array = np.asarray(data)
    except ValueError:
        raise BadInput("An array must be a table, but its rows have different lengths.") from None
    if array.dtype.kind not in "iuf":
        raise BadInput(f"An array must hold numbers. This one holds {array.dtype}.")
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.float64), np.nan)
    return array.astype(np.float64) if array.dtype.itemsize > 8 else array


def as_frame(data: Any, names: Sequence[str | None], keep: bool | str = False) -> Any:
    """A dataframe or a column of any library; ``names`` are the columns to be counted, ``keep`` those to come along.

    Numbers may be Python objects in pandas, and packed in Arrow; neither is anything to whoever counts.
    """
    eager = named_frame(data)
    if not (eager.implementation.is_pandas() or eager.implementation.is_pyarrow()):
        return eager
    wanted = eager.columns if list(names) == [None] and len(eager.columns) == 1 else names
    if eager.implementation.is_pandas():
        return _without_objects(_without_categories(eager, wanted, keep), wanted)
    return nw.from_native(_unpacked(eager.to_native(), wanted))


def named_frame(data: Any) -> Any:
    """A dataframe with its values as they are. In pandas a name may be anything: it is taken as text."""
    try:
        frame = nw.from_native(_with_names(data), allow_series=True)
    except TypeError:
        raise BadInput(f"Data must be a path, an array or a dataframe. Got {type(data).__name__} instead.") from None
    except nw.exceptions.DuplicateError:
        raise _twice(Counter(getattr(data, "column_names", None) or data.columns).most_common(1)[0][0]) from None
    return frame.to_frame() if isinstance(frame, nw.Series) else frame


def _with_names(data: Any) -> Any:
    native = nw.to_native(data, pass_through=True)
    if not (nw.dependencies.is_pandas_series(native) or nw.dependencies.is_pandas_dataframe(native)):
        return data
    if nw.dependencies.is_pandas_series(native):
        return native.rename(NAMELESS if native.name is None else str(native.name))
    names = [str(name) for name in native.columns]
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise _twice(repeated)
    return native if names == list(native.columns) else native.set_axis(names, axis=1)


def _twice(name: str) -> BadInput:
    return BadInput(f"The dataframe has several columns called {name!r}. Give each a name of its own.")


def _without_categories(frame: Any, wanted: Sequence[str | None], keep: bool | str) -> Any:
    """Categories of pandas that are no text, as the values they stand for: made text by pandas, whole numbers would
    become floats where a row has none."""
    import pandas as pd

    for column in frame.columns:
        series = frame[column].to_native()
        if column in wanted or keep not in {True, column} or not isinstance(series.dtype, pd.CategoricalDtype):
            continue
        kinds = series.cat.categories
        if pd.api.types.infer_dtype(kinds) not in {"string", "empty"}:
            values = np.append(kinds.to_numpy(dtype=object), [None])[series.cat.codes]
            plain = pd.Series(values, index=series.index, name=series.name, dtype=object)
            frame = frame.with_columns(nw.from_native(plain, series_only=True))
    return frame


def _without_objects(frame: Any, wanted: Sequence[str | None]) -> Any:
    """In pandas, decimals are Python objects: make them floats where they are counted, and say what other objects are.
    Floats that are objects become floats everywhere."""
    import pandas as pd

    for column in frame.columns:
        series = frame[column].to_native()
        if series.dtype != object:
            continue
        kind = pd.api.types.infer_dtype(series, skipna=True)
        if column in wanted or kind == "floating":
            frame = frame.with_columns(nw.from_native(_floats(series, kind), series_only=True))
    return frame


def _floats(series: Any, kind: str) -> Any:
    import pandas as pd

    if kind not in {"decimal", "floating", "integer", "mixed-integer-float", "empty"}:
        known = {"boolean": "yes/no values", "date": "dates", "datetime": "dates", "string": "text"}
        raise no_numbers(series.name, known.get(kind, f"Python objects ({kind})"))
    floats = [math.nan if lost else _nearest(value) for value, lost in zip(series, series.isna(), strict=True)]
    return pd.Series(floats, index=series.index, name=series.name, dtype="float64")


def _nearest(value: Any) -> float:
    """A number as a float; as in a text file, what is too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _unpacked(table: Any, wanted: Sequence[str | None]) -> Any:
    """In Arrow, numbers may be packed in dictionaries or in runs of equals, and decimals come in four widths."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        column = table.column(place)
        if pa.types.is_run_end_encoded(kind):
            column = pc.run_end_decode(column)
        elif pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
            column = column.cast(kind.value_type)
        unusual = pa.types.is_decimal(column.type) and (
            not pa.types.is_decimal128(column.type) or column.type.scale < 0
        )
        if name in wanted and unusual:
            column = column.cast(pa.string()).cast(pa.float64())
        if column.type != kind:
            table = table.set_column(place, name, column)
    return table


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def kinds_of_objects(series: Any) -> list[str]:
    """The kinds of Python objects in a column of pandas that cannot name people: objects that are equal must be the
    same text, or one person would be two."""
    import uuid

    if series.dtype != object:
        return []
    kinds = {type(value) for value in series.dropna()}
    fine = all(issubclass(kind, str | int | np.integer | uuid.UUID) and kind is not bool for kind in kinds)
    return [] if fine else sorted(kind.__name__ for kind in kinds)
