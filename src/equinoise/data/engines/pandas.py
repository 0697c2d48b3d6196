"""pandas dataframes: names, decimals and categories may be any Python objects there, and become text and numbers."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Sequence
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from equinoise.data.columns import NAMELESS, not_numbers
from equinoise.data.engines.protocol import Frame, Library
from equinoise.errors import BadInput
from equinoise.formatting import join_and

NUMBERS = {"decimal", "floating", "integer", "mixed-integer-float", "empty"}
"""What pandas calls Python objects that are numbers."""


class Pandas(Library):
    """The library; it reads no files."""

    by_text = Library.by_text | {nw.Int64, nw.UInt64}  # may be in Arrow, whose own cast refuses integers above 2^53

    def prepare(self, frame: Any, columns: Sequence[str | None], keep: bool | Sequence[str]) -> Any:
        """A dataframe with decimals as floats where they are counted, and floats as floats everywhere; categories that
        come along are the values they stand for, unless they are text."""
        for column in frame.columns:
            series = original = frame[column].to_native()
            if (
                column not in columns
                and (keep is True or (keep and column in keep))
                and isinstance(series.dtype, pd.CategoricalDtype)
            ):
                series = _without_categories(series)
            if series.dtype == object:
                kind = pd.api.types.infer_dtype(series, skipna=True)
                if keep is not True and keep and column in keep:
                    _refuse_true_and_one(series, kind)
                series = _floats(series, kind) if column in columns or kind == "floating" else series
            if series is not original:
                frame = frame.with_columns(nw.from_native(series, series_only=True))
        return frame

    def unit_problem(self, frame: Frame, column: str, dtype: Any) -> str | None:
        """What a column holds, if that cannot say whose each row is: Python objects that are equal must be the same
        text, or one person would be two."""
        series = frame.select(column).collect()[column].to_native() if isinstance(dtype, nw.Object) else None
        if series is None or series.dtype != object:
            return super().unit_problem(frame, column, dtype)
        kinds = {type(value) for value in series.dropna()}
        fine = all(issubclass(kind, str | int | np.integer | uuid.UUID) and kind is not bool for kind in kinds)
        return None if fine else f"Python objects ({join_and(sorted(kind.__name__ for kind in kinds))})"


def with_text_names(data: pd.Series | pd.DataFrame) -> Any:
    """A column or a dataframe with names that are text: in pandas a name may be anything."""
    if isinstance(data, pd.Series):
        return data.rename(NAMELESS if data.name is None else str(data.name))
    names = [str(name) for name in data.columns]
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise BadInput(f"The dataframe has several columns called {repeated!r}. Give each a name of its own.")
    return data if names == list(data.columns) else data.set_axis(names, axis=1)


def _without_categories(series: pd.Series) -> pd.Series:
    """Made text by pandas, categories that are whole numbers would become floats where a row has none."""
    kinds = series.cat.categories
    if pd.api.types.infer_dtype(kinds) in {"string", "empty"}:
        return series
    values = np.append(kinds.to_numpy(dtype=object), [None])[series.cat.codes]
    return pd.Series(values, index=series.index, name=series.name, dtype=object)


def _refuse_true_and_one(series: pd.Series, kind: str) -> None:
    """To pandas True is 1, so which of them a group of both shows depends on the order of the rows."""
    if kind.startswith("mixed"):
        kinds = {type(value) for value in series.dropna()}
        if any(issubclass(kind, bool | np.bool_) for kind in kinds) and any(
            issubclass(kind, Number) and not issubclass(kind, bool | np.bool_) for kind in kinds
        ):
            raise BadInput(f"Column {series.name!r} holds both yes/no values and numbers. Make them all of one kind.")


def _floats(series: pd.Series, kind: str) -> pd.Series:
    if kind not in NUMBERS:
        known = {"boolean": "yes/no values", "date": "dates", "datetime": "dates", "string": "text"}
        raise not_numbers(series.name, known.get(kind, f"Python objects ({kind})"))
    floats = [math.nan if lost else _nearest(value) for value, lost in zip(series, series.isna(), strict=True)]
    return pd.Series(floats, index=series.index, name=series.name, dtype="float64")


def _nearest(value: Any) -> float:
    """A number as a float; as in a text file, what is too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


LIBRARY = Pandas
