"""Rows as the kind of dataframe that the data came in, with the types that its columns had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from equinoise.data.grid import AnyAxis, Axis
from equinoise.errors import BadInput
from equinoise.formatting import join_or
from equinoise.mechanisms.released_rows import possible_values

FRAMES = ("polars", "pandas", "pyarrow", "numpy")
PANDAS_TYPES = {pl.Int64: "int64", pl.Float64: "float64", pl.Boolean: "bool", pl.Date: "datetime64[s]"}
"""What pandas has for the plain types; for text, whatever it takes."""


@dataclass(frozen=True)
class RowFormat:
    """A kind of dataframe, and the types of its columns in that library's own words; plain ones where there are none.

    It is remembered with a mechanism in memory, and not saved.
    """

    kind: str = "polars"
    types: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Any) -> RowFormat:
        """The format of some data; plain polars for files and whatever rows cannot be given back in."""
        if isinstance(data, np.ndarray | list | tuple):
            return cls("numpy")
        if isinstance(data, pl.DataFrame | pl.LazyFrame):
            return cls("polars", dict(data.collect_schema()))
        kind = type(data).__module__.partition(".")[0]
        if kind == "pandas":
            types = data.dtypes
            return cls(kind, dict(types) if hasattr(types, "items") else {data.name: types})
        if kind == "pyarrow":
            table = getattr(data, "schema", None)
            return cls(kind, {} if table is None else dict(zip(table.names, table.types, strict=True)))
        return cls()

    @property
    def plain(self) -> RowFormat:
        """This kind of dataframe, with the types of the schema: which type a column came in may depend on one person's
        value, as pandas has floats where whole numbers are missing, and only the categories that occur."""
        return RowFormat(self.kind)

    def asked(self, kind: str | None) -> RowFormat:
        """This format, or plain rows of another kind; refuses a kind that there is not."""
        if kind is None or kind == self.kind:
            return self
        if kind not in FRAMES:
            raise BadInput(f"The 'frame' parameter must be {join_or(FRAMES)}. Got {kind!r} instead.")
        return RowFormat(kind)

    def frame(self, rows: pl.DataFrame, axes: Sequence[AnyAxis], *, within: bool = True) -> Any:
        """Rows as a dataframe of this kind; as NumPy, of one column its values alone.

        A column has the type that it came in if everything that it might hold fits, whatever was drawn. Where the
        schema has a bin for what is missing, a type of pandas that cannot say so becomes the one that can. A type that
        lists categories lists the schema's, as its own list may have been read off the data.
        """
        if self.kind == "numpy":
            return rows.to_series().to_numpy() if rows.width == 1 else _to_numpy(rows)
        convert = {"polars": _to_polars, "pandas": _to_pandas, "pyarrow": _to_arrow}[self.kind]
        columns = {}
        for axis in axes:
            dtype = self.types.get(axis.name)
            kept = dtype if dtype is not None and _fits(axis, convert, dtype, within) else None
            columns[axis.name] = convert(rows[axis.name], kept, axis)
        if self.kind == "polars":
            return pl.DataFrame(columns)
        if self.kind == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        import pyarrow as pa

        return pa.table(columns)


def _fits(axis: AnyAxis, convert: Any, dtype: Any, within: bool) -> bool:
    """Whether every value of a column is the same in a type: read back, it is that value, or in a type of floats within
    a thousandth of a bin or a step of it."""
    values = possible_values(axis, within=within)
    try:
        found = convert(values, dtype, axis)
        found = found.to_pylist() if hasattr(found, "to_pylist") else found.to_list()
        return all(_same(axis, a, b) for a, b in zip(found, values.to_list(), strict=True))
    except (ArithmeticError, TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError):
        return False


def _same(axis: AnyAxis, found: Any, value: Any) -> bool:
    if not isinstance(axis, Axis) or axis.day_zero is not None:
        return axis.code_of(found) == axis.code_of(value) >= 0
    finest = min(axis.width, axis.step or axis.width)
    return float(found) == value or (isinstance(found, float) and abs(found - value) <= finest / 1000)


def _to_numpy(rows: pl.DataFrame) -> Any:
    """A table of numbers, or of objects where columns are of several kinds."""
    if all(dtype.is_numeric() for dtype in rows.dtypes):
        return rows.to_numpy()
    return np.array(rows.rows(), dtype=object).reshape(rows.shape)


def _to_polars(values: pl.Series, dtype: Any, axis: AnyAxis) -> pl.Series:
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum(possible_values(axis).cast(pl.String))
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        raise TypeError("a day has no midnight that every time zone knows")
    return values if dtype is None else values.cast(dtype)


def _to_arrow(values: pl.Series, dtype: Any, axis: AnyAxis) -> Any:
    import pyarrow as pa

    values = values.alias("")  # a name with a NUL in it makes polars panic, and an array has none
    if dtype is None:
        return values.to_arrow()
    if pa.types.is_timestamp(dtype) and dtype.tz is not None:
        raise TypeError("a day has no midnight that every time zone knows")
    if pa.types.is_dictionary(dtype):
        index = pa.array(np.arange(len(possible_values(axis))), dtype.index_type)
        names = _to_arrow(possible_values(axis), dtype.value_type, axis)
        made = pa.DictionaryArray.from_arrays(index, names, ordered=dtype.ordered)
        return made.take(pa.array(_places(values, axis), pa.int64()))
    return values.to_arrow().cast(dtype)


def _places(values: pl.Series, axis: AnyAxis) -> list[int | None]:
    """The place of every value among those that are possible; None for what is missing."""
    places = {value: place for place, value in enumerate(possible_values(axis).to_list())}
    return [None if value is None else places[value] for value in values.to_list()]


def _to_pandas(values: pl.Series, dtype: Any, axis: AnyAxis) -> Any:
    import pandas as pd

    listed = values.to_list()
    if dtype is None:
        dtype = PANDAS_TYPES.get(values.dtype)  # type: ignore[call-overload]
    elif isinstance(dtype, pd.CategoricalDtype):
        dtype = pd.CategoricalDtype(possible_values(axis).to_list(), dtype.ordered)
    elif isinstance(dtype, pd.DatetimeTZDtype):
        raise TypeError("a day has no midnight that every time zone knows")
    if axis.missing == "category" and isinstance(dtype, str | np.dtype) and np.dtype(dtype).kind in "iub":
        name = np.dtype(dtype).name
        dtype = "boolean" if name == "bool" else name.replace("int", "Int").replace("uI", "UI")
    return pd.Series(listed, dtype=dtype)
