"""Files read and counted by Dask: by threads of this process, or by the workers of a running scheduler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import dask
import dask.dataframe as dd
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

from equinoise.data.engines.protocol import Engine, Frame
from equinoise.data.paths import Files
from equinoise.data.text_fields import Part, no_rows, our_names, parts_of
from equinoise.errors import BadInput

SECONDS_TO_ANSWER = 10
PIECE_ROWS = 2**20
STREAMED_PARTITIONS = 4


def read_part(part: Part) -> pd.DataFrame:
    """A part of a text file, read on a worker."""
    return _in_pandas(part.read())


def read_rows(path: str, first: int, rows: int, names: tuple[str, ...]) -> pd.DataFrame:
    """Some rows of a Parquet file, read on a worker. Dask's own reader takes some paths and names for patterns, and
    decimals for objects."""
    frame = pl.scan_parquet(path, glob=False)
    ours = {name: f"column {i}" for i, name in enumerate(names)}
    frame = frame.rename(our_names(frame.collect_schema().names(), ours)).select(ours.values())
    return _in_pandas(frame.slice(first, rows).collect()).set_axis(names, axis=1)


def _pieces(path: str) -> Iterator[tuple[str, int, int]]:
    """A file, the first of some rows of it and how many: whole row groups together, so that none is read twice."""
    metadata, first, end = pq.read_metadata(path), 0, 0
    for group in range(metadata.num_row_groups):
        end += metadata.row_group(group).num_rows
        if end - first >= PIECE_ROWS:
            yield path, first, end - first
            first = end
    if end > first or end == 0:
        yield path, first, end - first


def _in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """In Arrow types, which tell a missing number from NaN and need no guess about an empty frame."""
    return frame.to_pandas(use_pyarrow_extension_array=True)


class Dask(Engine):
    """The engine; it uses whatever Dask client is open."""

    takes_address = True

    @classmethod
    @contextmanager
    def connect(cls, address: str | None) -> Iterator[Self]:
        """With an address, work for that scheduler's workers; without, for threads of this process."""
        with nullcontext() if address is None else _client(address):
            yield cls()

    def text(self, files: Files, columns: tuple[str, ...], fields: tuple[str, ...] = ()) -> Any:
        """The columns of text files, one partition a part."""
        parts = parts_of(files, columns, fields=fields)
        return dd.from_map(read_part, parts, meta=_in_pandas(no_rows(columns, fields)))

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files, one partition about a million rows."""
        pieces = [piece for path in files.paths for piece in _pieces(str(path.absolute()))]
        empty = read_rows(str(files.paths[0]), 0, 0, columns)
        return dd.from_map(read_rows, *zip(*pieces, strict=True), names=columns, meta=empty)

    def check_unit(self, frame: Frame, column: str, unit: str) -> Any:
        """A frame, refused once it is read if the units in a partition are of another kind than the frame says."""
        return nw.from_native(_with_units_alike(frame.to_native(), column, unit)).lazy()

    def stream(self, frame: Frame, *, from_text: bool) -> Iterator[pl.DataFrame]:
        """The rows in their order, some partitions at a time."""
        parts = frame.to_native().to_delayed()
        for first in range(0, len(parts), STREAMED_PARTITIONS):
            for part in dask.compute(*parts[first : first + STREAMED_PARTITIONS]):
                yield pl.from_pandas(part)


def _with_units_alike(frame: Any, column: str, unit: str) -> Any:
    """Partitions have types of their own: in one with a row without a unit, whole numbers may be floats, and 7 would
    be 7.0 there; so it would be in categories, unless they are text. What looks are functions within a function, so
    that workers are sent them and need no Equinoise.
    """

    def kind(units: Any) -> str:
        import pandas
        from pandas.api import types

        if isinstance(units.dtype, pandas.CategoricalDtype):
            units = units.cat.categories.to_series()
        packed: Any = getattr(units.dtype, "pyarrow_dtype", None)
        if str(packed).startswith("dictionary"):
            units = pandas.Series(dtype=pandas.ArrowDtype(packed.value_type))
        if types.is_object_dtype(units.dtype):
            inferred = str(types.infer_dtype(units, skipna=True))
            return {"string": "text", "empty": "text", "integer": "whole numbers"}.get(inferred, inferred)
        known = {"whole numbers": types.is_integer_dtype, "floats": types.is_float_dtype, "text": types.is_string_dtype}
        return next((name for name, is_one in known.items() if is_one(units.dtype)), str(units.dtype))

    def check(part: Any) -> Any:
        held = kind(part[column])
        if held not in allowed and part[column].notna().any():
            raise ValueError(
                f"BadInput: Column {unit!r} cannot be the unit: it holds {held} in a partition of the dataframe, "
                f"and should hold {' or '.join(allowed)} in all of them. Convert it first."
            )
        return part

    meta = frame._meta[column]
    categories, own = isinstance(meta.dtype, pd.CategoricalDtype), kind(meta)
    allowed = ["text"] if categories else [own] if own == "floats" else ["whole numbers", "text"]  # where 7 is the same
    return frame.map_partitions(check, meta=frame._meta)


@contextmanager
def _client(address: str) -> Iterator[None]:
    from distributed import Client

    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL)  # a worker that is lost is started again elsewhere; that is no news to a person
    try:
        try:
            client = Client(address, timeout=SECONDS_TO_ANSWER)
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(
                f"There is no Dask scheduler at {address!r} ({str(error).splitlines()[0][:120]}). Give the address "
                "that it prints, such as tcp://127.0.0.1:8786."
            ) from None
        with client:
            if not client.scheduler_info()["workers"]:
                raise BadInput(f"The Dask scheduler at {address!r} has no workers. Start some and try again.")
            yield
    finally:
        log.setLevel(level)


LIBRARY = Dask
