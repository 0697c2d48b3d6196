"""The numbers of a column that differ, and how many rows have each, in one pass."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np

from equinoise.data.bad_values import refuse_text
from equinoise.data.engines import engine_for
from equinoise.data.engines.failures import explain_failures
from equinoise.data.grid import Floats, Ints
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import open_rows
from equinoise.data.text_fields import VALUE
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import SeveralRowsWarning


def distinct_numbers(data: Any, column: str, text: TextFormat = UNSAID) -> tuple[Floats, Ints]:
    """The values, ascending, and the rows with each. Text is refused; what is missing or infinite is left out."""
    with engine_for(data) as engine:
        rows = open_rows(data, [column], engine, text=text)
        refuse_text(rows, 0)
        value = nw.col(f"{VALUE} 0").cast(nw.Float64).alias("value")
        with explain_failures(rows.source, is_text=rows.from_text):  # dataframes in memory are grouped at once
            query = rows.frame.select(value).group_by("value").agg(nw.len().alias("rows"))
        found = rows.collect(query)
    values = np.asarray(found["value"].to_numpy(), dtype=np.float64) + 0.0  # 0 may come as -0
    finite = np.isfinite(values)
    different, place = np.unique(values[finite], return_inverse=True)
    times = np.zeros(len(different), dtype=np.int64)
    np.add.at(times, place, np.asarray(found["rows"].to_numpy(), dtype=np.int64)[finite])
    _warn_of_repeats(data, column, text)
    return different, times


def _warn_of_repeats(data: Any, column: str, text: TextFormat) -> None:
    """Say so if a person seems to have several rows, of which each would count as a person."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_repeats(data, [column], text)
    for one in caught:
        found = str(one.message).partition(" Every row")[0]
        warnings.warn(
            f"{found} Every row counts as a person of its own, so bounds cost a person with several rows more. If rows "
            "are not people, make a table with one row a person first.",
            SeveralRowsWarning,
            stacklevel=4,
        )
