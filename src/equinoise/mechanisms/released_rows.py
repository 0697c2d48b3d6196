"""Drawn cells as rows of a table: values of the schema's own types, each one that the schema allows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from equinoise.data.grid import AnyAxis, Axis, CategoryAxis, Ints
from equinoise.mechanisms.draws import RandomBytes, uniform

TYPES: dict[type, Any] = {str: pl.String, bool: pl.Boolean, int: pl.Int64}
"""Of categories, by what the first one is."""


def rows_of_bins(
    axes: Sequence[AnyAxis], bins: Ints, source: RandomBytes = os.urandom, *, within: bool = True
) -> pl.DataFrame:
    """Rows of values of drawn bins (rows x axes). Of a bin of several steps, each comes out equally often, which tells
    nothing of the data; of a bin without a step, its midpoint does, or the bound that it is beyond; what is missing is
    null. Unless ``within``, midpoints of the paper's padding are left outside the bounds."""
    columns = [_column(axis, bins[:, number], source, within) for number, axis in enumerate(axes)]
    return pl.DataFrame({axis.name: column for axis, column in zip(axes, columns, strict=True)})


def _column(axis: AnyAxis, bins: Ints, source: RandomBytes, within: bool) -> pl.Series:
    if isinstance(axis, CategoryAxis):
        return pl.Series([*axis.names, None], dtype=TYPES[type(axis.names[0])]).gather(bins)
    known = bins < axis.number_bins
    held = np.where(known, bins, 0)
    if axis.step is None:
        values = possible_values(axis, within=within).gather(held)
    else:
        first = axis.first_steps
        values = _step_values(axis, first[held] + _within(np.diff(first)[held], source))
    return values if known.all() else pl.select(pl.when(pl.Series(known)).then(values)).to_series()


def possible_values(axis: AnyAxis, *, within: bool = True) -> pl.Series:
    """All values that may come out of a column besides null; with a step, the first two and the last."""
    if isinstance(axis, CategoryAxis):
        return pl.Series(axis.names, dtype=TYPES[type(axis.names[0])])
    if axis.step is not None:
        return _step_values(axis, np.unique([0, 1, axis.steps - 1]))
    middles = axis.midpoints()
    return pl.Series(np.clip(middles, axis.low, axis.high) if within else middles)


def _within(sizes: Ints, source: RandomBytes) -> Ints:
    """A whole number below each of these sizes, every one equally likely."""
    found = np.zeros(len(sizes), dtype=np.int64)
    for size in np.unique(sizes[sizes > 1]).tolist():
        here = sizes == size
        found[here] = uniform(size, int(here.sum()), source)
    return found


def _step_values(axis: Axis, steps: Ints) -> pl.Series:
    """The values of steps, from the first on: whole numbers, dates, or the floats nearest to their decimals."""
    assert axis.step is not None
    if axis.day_zero is not None:
        days = date.fromisoformat(axis.day_zero).toordinal() - date(1970, 1, 1).toordinal()
        return pl.Series((days + steps * int(axis.step)).astype(np.int32)).cast(pl.Date)
    if axis.whole:
        return pl.Series(int(axis.low) + steps * int(axis.step))
    low, step = Decimal(repr(axis.low)), Decimal(repr(axis.step))
    digits = max(-int(part.as_tuple().exponent) for part in (low, step))
    if digits > 15 or max(abs(low), abs(Decimal(repr(axis.high)))) * 10**digits >= 2**53:
        return pl.Series(np.clip(axis.low + steps * axis.step, axis.low, axis.high))
    return pl.Series((int(low.scaleb(digits)) + steps * int(step.scaleb(digits))) / 10**digits)
