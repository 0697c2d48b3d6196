"""Files read and counted by Dask: by threads of this process, or by the workers of a running scheduler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import dask.dataframe as dd
import pandas as pd
import polars as pl

from equinoise.errors import BadInput
from equinoise.fields import Part, no_rows, parts_of
from equinoise.sources import Files

SECONDS_TO_ANSWER = 10


def read_part(part: Part) -> pd.DataFrame:
    """A part of a text file, read on a worker."""
    return _in_pandas(part.read())


def _in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """In Arrow types, which tell a missing number from NaN and need no guess about an empty frame."""
    return frame.to_pandas(use_pyarrow_extension_array=True)


class Dask:
    """The engine; it uses whatever Dask client is open."""

    def text(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of text files, one partition a part."""
        return dd.from_map(read_part, parts_of(files, columns), meta=_in_pandas(no_rows(columns)))

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files."""
        paths = [str(path.absolute()) for path in files.paths]
        return dd.read_parquet(paths, columns=list(columns), dtype_backend="pyarrow", index=False)


@contextmanager
def connect(address: str | None) -> Iterator[Dask]:
    """With an address, work for that scheduler's workers; without, for threads of this process."""
    with nullcontext() if address is None else _client(address):
        yield Dask()


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
