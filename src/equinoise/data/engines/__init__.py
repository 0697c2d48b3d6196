"""Where files are read and counted: in this process (polars, DuckDB) or by workers (Dask, Spark).

What to count, and what is wrong with a value, is the same expression for all of them (:mod:`equinoise.data.counting`),
and text files are read by the same code wherever it runs (:mod:`equinoise.data.text_fields`). All else that an engine
does in its own way is in its file, behind one Protocol (:mod:`equinoise.data.engines.protocol`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw

from equinoise.choices import ENGINES, load
from equinoise.data.engines.protocol import Engine, InMemory, Library
from equinoise.errors import BadInput, check
from equinoise.formatting import join_or

__all__ = ["Engine", "Library", "connect", "engine_for", "frame_of", "library_of"]

IN_MEMORY = {name: f"equinoise.data.engines.{name}" for name in ("pandas", "pyarrow")}
"""Libraries whose dataframes are counted, and which read no files."""


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
    check(name in ENGINES, "engine", join_or(ENGINES), name)
    try:
        library: type[Engine] = load(ENGINES, name).LIBRARY
    except ImportError as error:
        raise BadInput(
            f"The {name} engine needs an extra: pip install 'equinoise[{name}]' ({str(error).rstrip('.')})."
        ) from None
    if address is not None and not library.takes_address:
        raise BadInput(f"The {name} engine works in this process, so leave --engine-address out (engine_address=None).")
    with library.connect(address) as engine:
        yield engine


def frame_of(data: Any) -> Any:
    """Any dataframe or column as a narwhals frame, with its values as they are."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_series(native) or nw.dependencies.is_pandas_dataframe(native):
        data = load(IN_MEMORY, "pandas").with_text_names(native)
    try:
        frame = nw.from_native(data, allow_series=True)
    except TypeError:
        raise BadInput(f"Data must be a path, an array or a dataframe. Got {type(data).__name__} instead.") from None
    except nw.exceptions.DuplicateError:
        (name, _), *_ = Counter(getattr(data, "column_names", None) or data.columns).most_common(1)
        raise BadInput(f"The dataframe has several columns called {name!r}. Give each a name of its own.") from None
    return frame.to_frame() if isinstance(frame, nw.Series) else frame


def library_of(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> Library:
    """The library that a dataframe is of."""
    kind = frame.implementation
    name = "spark" if kind.is_spark_like() else kind.value
    known = IN_MEMORY | ENGINES
    library: Library = load(known, name).LIBRARY() if name in known else InMemory()
    return library
