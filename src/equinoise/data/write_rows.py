"""Writing rows that stream by to a CSV, TSV or Parquet file: whole or not at all."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import polars as pl

from equinoise.atomic_write import whole_file
from equinoise.data.paths import PARQUET
from equinoise.data.text_format import SEPARATORS
from equinoise.errors import BadInput, EquinoiseError


def check_suffix(path: Path) -> None:
    """Refuse a name that does not say what to write."""
    if path.suffix.lower() not in {*SEPARATORS, *PARQUET}:
        raise BadInput(f"{str(path)!r} must end in .csv, .tsv or .parquet, so that it is clear how to write it.")


def write_frames(path: Path, frames: Iterator[pl.DataFrame], *, force: bool, mode: int = 0o600) -> None:
    """Write frames of the same columns one below the other, for the owner alone or as ``mode`` says. If making one
    fails, there is no file."""
    with whole_file(path, mode=mode, force=force) as file:
        try:
            if path.suffix.lower() in PARQUET:
                _parquet(file, frames)
            else:
                _text(file, frames, SEPARATORS[path.suffix.lower()])
        except pl.exceptions.PolarsError as error:
            reason = str(error).strip().splitlines()[0][:160]
            of_system = re.search(r"IO error: (.+) \(os error", reason)  # a full disk, say
            reason = reason if of_system is None else of_system[1]
            raise BadInput(f"The file {str(path)!r} cannot be written: {reason}.") from None


def _text(file: IO[bytes], frames: Iterator[pl.DataFrame], separator: str) -> None:
    for number, frame in enumerate(frames):
        for name, dtype in frame.schema.items():
            if dtype.is_nested() or dtype.base_type() in {pl.Binary, pl.Object, pl.Duration}:
                raise BadInput(
                    f"Column {name!r} has values of type {dtype}, which text cannot hold. Write a .parquet file."
                )
        out = io.BytesIO()
        frame.write_csv(out, separator=separator, include_header=number == 0)
        file.write(out.getbuffer())


def _parquet(file: IO[bytes], frames: Iterator[pl.DataFrame]) -> None:
    """Polars writes what it is given in turn: frames do not pile up."""
    first = next(frames)
    failed: list[Exception] = []

    def source(columns: Any, predicate: Any, most: Any, size: Any) -> Iterator[pl.DataFrame]:
        try:
            yield first
            for frame in frames:
                yield frame if frame.schema == first.schema else frame.cast(first.schema)
        except Exception as error:
            failed.append(error)
            raise

    from polars.io.plugins import register_io_source

    try:
        register_io_source(source, schema=first.schema).sink_parquet(file, engine="streaming")
    except Exception:
        if failed and isinstance(failed[0], EquinoiseError | MemoryError):
            raise failed[0] from None  # and not what polars makes of it
        raise
