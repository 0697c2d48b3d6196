"""Where files are read and counted: in this process (polars, DuckDB) or by workers (Dask, Spark).

An engine only opens files; what to count, and what is wrong with a value, is the same expression for all of them
(:mod:`equinoise.data.counting`), and text files are read by the same code wherever it runs
(:mod:`equinoise.data.text_fields`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from equinoise.data.paths import Files
from equinoise.errors import BadInput, check
from equinoise.formatting import one_of

ENGINES = ("polars", "duckdb", "dask", "spark")


class Engine(Protocol):
    """What opens files as a frame that narwhals knows."""

    def text(self, files: Files, columns: tuple[str, ...], kept: tuple[str, ...] = ()) -> Any:
        """The columns of text files, as :func:`equinoise.data.text_fields.numbers` gives them."""

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files, under their own names; from DuckDB, these alone and in this order."""


@contextmanager
def engine_for(data: Any, name: str = "polars", address: str | None = None) -> Iterator[Engine | None]:
    """An engine to read the data with, if it is files; a dataframe has its own."""
    if isinstance(data, str | Path):
        with connect(name, address) as engine:
            yield engine
        return
    check(name == "polars", "engine", "left out with a dataframe or an array, which has its own", name)
    check(address is None, "engine_address", "left out with a dataframe or an array", address)
    yield None


@contextmanager
def connect(name: str = "polars", address: str | None = None) -> Iterator[Engine]:
    """An engine, let go of in the end. ``address`` is a running Dask scheduler's or a Spark master's."""
    check(name in ENGINES, "engine", one_of(ENGINES), name)
    if address is not None and name not in {"dask", "spark"}:
        raise BadInput(f"The {name} engine works in this process, so leave --engine-address out (engine_address=None).")
    try:
        module = importlib.import_module(f"equinoise.data.engines.{name}")
    except ImportError as error:
        raise BadInput(
            f"The {name} engine needs an extra: pip install 'equinoise[{name}]' ({str(error).rstrip('.')})."
        ) from None
    with module.connect(address) as engine:
        yield engine
