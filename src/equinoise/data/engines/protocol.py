"""What an engine is: a library of dataframes that names columns, runs queries and hands over rows in its own way, and
reads files besides. To add one, copy a neighbour and name it in :data:`equinoise.choices.ENGINES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Protocol, Self

import narwhals as nw
import polars as pl

from equinoise.data.columns import can_be_unit
from equinoise.data.paths import Files

BATCH_ROWS = 2**17

Frame = nw.LazyFrame[Any]


class Library(Protocol):
    """How the dataframes of one library are used. What is written here suits any that narwhals knows; a library that
    differs has its own version, under the same name."""

    by_text: ClassVar[frozenset[Any]] = frozenset({nw.Decimal, nw.Int128, nw.UInt128})
    """Types of numbers that become the nearest floats only by way of text."""

    def prepare(self, frame: Any, columns: Sequence[str | None], keep: bool | Sequence[str]) -> Any:
        """A dataframe in which the ``columns`` to be counted hold numbers that narwhals knows as such."""
        return frame

    def rename(self, frame: Frame, names: Sequence[str]) -> Frame:
        """A frame with a new name for every column, by place: some libraries take some old names for patterns."""
        return frame.rename(dict(zip(frame.collect_schema().names(), names, strict=True)))

    def as_float(self, value: nw.Expr, dtype: Any) -> nw.Expr:
        """A column as the nearest 64-bit floats. Arrow's own cast misses the nearest float of a decimal, DuckDB's that
        of the widest integers; by way of text, all agree."""
        return (value.cast(nw.String) if type(dtype) in self.by_text else value).cast(nw.Float64)

    def force_scan(self, value: nw.Expr, dtype: Any) -> nw.Expr:
        """A column, none of whose values is taken from what a file says about itself."""
        return value

    def check_unit(self, frame: Frame, column: str, unit: str) -> Frame:
        """A frame that is refused, at the latest when it is read, if the units in its ``column`` are of several kinds.
        ``unit`` is the column's own name."""
        return frame

    def unit_problem(self, frame: Frame, column: str, dtype: Any) -> str | None:
        """What a column holds, if that cannot say whose each row is."""
        if isinstance(dtype, nw.Object):
            return "Python objects (of any kind)"
        return None if can_be_unit(dtype) else str(dtype)

    def collect(self, frame: Frame, *, from_text: bool) -> nw.DataFrame[Any]:
        """The rows of a query that gives few."""
        return frame.collect()

    def stream(self, frame: Frame, *, from_text: bool) -> Iterator[pl.DataFrame]:
        """The rows of a query that gives many: in their order, a batch at a time."""
        yield from frame.collect().to_polars().iter_slices(BATCH_ROWS)


class InMemory(Library):
    """A library with no ways of its own, whose dataframes are in memory already."""


class Engine(Library, Protocol):
    """A library that reads files, in this process or at an address. Errors are explained by
    :mod:`equinoise.data.engines.failures`."""

    takes_address: ClassVar[bool] = False
    """Whether it can work elsewhere than in this process."""

    @classmethod
    def connect(cls, address: str | None) -> AbstractContextManager[Self]:
        """The engine, ready to read, and let go of in the end."""
        return nullcontext(cls())

    def text(self, files: Files, columns: tuple[str, ...], fields: tuple[str, ...] = ()) -> Any:
        """The columns of text files as numbers, and the fields as text: see
        :func:`equinoise.data.text_fields.numbers`."""

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files: these alone and in this order, whatever they are called."""
