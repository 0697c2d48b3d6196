"""Columns that look like identifiers of people and have repeats: then a row is not a person, and that is said.

This is a courtesy, so it costs little, however large the data: it looks at some rows, always the same ones, here and
not on a cluster. A quarter of a million rows show repeats among many more: of 100 million in any order, two for each
person, some 300 pairs are among them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from polars import selectors

from equinoise.data.bags import clean_units
from equinoise.data.columns import can_be_unit, named_like_an_id
from equinoise.data.engines import frame_of, library_of
from equinoise.data.number_marks import are_numbers
from equinoise.data.paths import Files, find_files
from equinoise.data.text_fields import header_of, some_text
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.errors import SeveralRowsWarning

STRETCHES, ROWS_EACH, BYTES_EACH = 8, 2**15, 2**21
MOST_COLUMNS, MOST_LAZY, MOST_GLANCES = 8, 20, 50

LEAST_IDS = 100
MOST_ROWS_EACH = 20
MOST_ROWS_EACH_IF_NAMED = 100
MOST_OF_ONE = 10
"""Times as many rows as there are for each value on average. A quantity has values that are far more common."""

GLANCE_ROWS, LONGEST_ID, LONGEST_TEXT = 1000, 64, 256
DATE = r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?$|^\d{1,2}:\d{2}(:\d{2})?"
WHOLE = r"^[-+]?\d+$"


def warn_of_repeats(data: Any, columns: Sequence[str], text: TextFormat = UNSAID) -> None:
    """Say so if another column than these looks like a name for each person and has repeats."""
    for name, values, all_rows in _likely_ids(data, columns, text):
        counts = values.drop_nulls().value_counts(name="rows")["rows"]
        rows, different, most = int(counts.sum()), len(counts), int(counts.max() or 0)  # type: ignore[arg-type]
        if named_like_an_id(name):
            repeats = 1 < different < rows <= MOST_ROWS_EACH_IF_NAMED * different
        else:
            many = LEAST_IDS <= different < rows <= MOST_ROWS_EACH * different
            repeats = many and most * different <= MOST_OF_ONE * rows and not _is_quantity(values)
        if repeats:
            where = f"its {rows:,} rows" if all_rows else f"the {rows:,} of its rows that were looked at"
            warnings.warn(
                f"Column {name!r} looks like a name for each person, and {where} have only {different:,} "
                f"different values. Every row is taken for a person of its own, which protects rows, not people: if "
                f"rows with the same {name!r} are one person's, use --unit {name!r} (in Python, "
                f"unit={name!r}).",
                SeveralRowsWarning,
                stacklevel=5,
            )


def _is_quantity(values: pl.Series) -> bool:
    """Whether these are numbers with fractions or crowded somewhere, dates, times or whole sentences: no names."""
    known = values.drop_nulls()
    if known.dtype == pl.String:
        if known.str.contains(WHOLE).all():
            return _crowded(known.cast(pl.Float64))
        return are_numbers(known) or bool(known.str.contains(DATE).all()) or _is_long(known)
    return known.dtype.is_float() or _crowded(known.cast(pl.Float64))


def _is_long(text: pl.Series) -> bool:
    return int(text.str.len_chars().sum()) > LONGEST_ID * len(text)


def _crowded(numbers: pl.Series) -> bool:
    """Whether the lower, the middle or the upper half of the range has more than three quarters of the rows, as it is
    with quantities: how large people's numbers are says nothing of how many rows they have."""
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    quarters = ((numbers - low) / ((high - low) / 4)).floor().clip(0, 3).cast(pl.Int64)
    rows = np.bincount(quarters.to_numpy(), minlength=4)
    return bool((rows[:-1] + rows[1:]).max() > 0.75 * len(numbers))


def _likely_ids(data: Any, columns: Sequence[str], text: TextFormat) -> Iterator[tuple[str, pl.Series, bool]]:
    """Other columns that may be identifiers, of those rows that are looked at, and whether these are all rows."""
    if isinstance(data, np.ndarray | list | tuple):
        return
    with suppress(Exception):  # engines have classes of their own for what they cannot do, and nobody asked for this
        files = isinstance(data, str | Path)
        sample = _sample_files(find_files(Path(data), text)) if files else _sample_frame(frame_of(data), columns)
        many = 0
        for name in _candidates(sample.types, columns)[:MOST_GLANCES]:
            values = None
            with suppress(Exception):
                if named_like_an_id(name) or _may_be_ids(sample.values(name, GLANCE_ROWS)):
                    values = sample.values(name)
            if values is not None:
                yield name, values, sample.all_rows
                many += 1
            if many == MOST_COLUMNS:
                return


def _may_be_ids(few: pl.Series) -> bool:
    """Whether the first rows are worth a further look: no categories, and no texts by the gigabyte."""
    return few.n_unique() * MOST_ROWS_EACH >= len(few) and not (few.dtype == pl.String and _is_long(few.drop_nulls()))


def _candidates(types: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Columns of whole numbers or text, after those that are named like an identifier."""
    others = {name: dtype for name, dtype in types.items() if name not in columns and can_be_unit(dtype)}
    named = [name for name in others if named_like_an_id(name)]
    return [*named, *(name for name, dtype in others.items() if name not in named and not dtype.is_float())]


@dataclass(frozen=True)
class _Sample:
    """Some rows: what types their columns have, stretches of them, and whether these are all rows."""

    types: Mapping[str, Any]
    stretches: Sequence[pl.LazyFrame | nw.DataFrame[Any]]
    all_rows: bool
    from_text: bool = False

    def values(self, name: str, first: int | None = None) -> pl.Series:
        """A column, or its first rows: whole numbers, floats or text; what is none of these is nobody's name."""
        some = self.stretches if first is None else [self.stretches[0].head(first)]
        values = pl.concat([_column(stretch, name) for stretch in some]).alias("ids")
        if values.dtype.is_numeric():
            return values.fill_nan(None) if values.dtype.is_float() else values
        plain = isinstance(values.dtype, pl.String | pl.Categorical | pl.Enum)
        return clean_units(values.cast(pl.String), self.from_text) if plain else values.clear()


def _column(stretch: pl.LazyFrame | nw.DataFrame[Any], name: str) -> pl.Series:
    if isinstance(stretch, nw.DataFrame):
        return stretch[name].to_polars()
    return stretch.select(selectors.by_name(name)).collect().to_series()  # polars takes some names for patterns


def _sample_files(files: Files) -> _Sample:
    """Stretches at even distances, in as many files, read by polars whatever the engine."""
    chosen = [files.paths[i] for i in _even(len(files.paths), STRETCHES)]
    each, all_files = STRETCHES // len(chosen), len(chosen) == len(files.paths)
    if files.separator is not None:
        texts = [some_text(path, files.separator, each, BYTES_EACH) for path in chosen]
        whole = all_files and all(all_rows for _, all_rows in texts)
        types = dict.fromkeys(header_of(files), nw.String())
        return _Sample(types, [text.lazy() for text, _ in texts], whole, from_text=True)
    scans = [pl.scan_parquet(path, glob=False) for path in chosen]
    sizes = [int(scan.select(pl.len()).collect().item()) for scan in scans]
    parts = [scan.slice(*place) for scan, size in zip(scans, sizes, strict=True) for place in _stretches(size, each)]
    whole = all_files and all(size <= each * ROWS_EACH for size in sizes)
    return _Sample(nw.from_native(scans[0]).collect_schema(), parts, whole)


def _sample_frame(frame: Any, columns: Sequence[str]) -> _Sample:
    """Stretches of what is in memory, the first rows of anything else."""
    types = frame.collect_schema()
    if isinstance(frame, nw.LazyFrame):
        most, ours = STRETCHES * ROWS_EACH, {name: f"column {i}" for i, name in enumerate(types)}
        names = _candidates(types, columns)[:MOST_LAZY]
        fields = [_short(nw.col(ours[name]), types[name]) for name in names]
        head = library_of(frame).rename(frame, list(ours.values())).select(*fields).head(most).collect().to_polars()
        return _Sample(types, [pl.LazyFrame(dict(zip(names, head, strict=True)))], len(head) < most)
    places = _stretches(len(frame), STRETCHES)
    return _Sample(types, [frame[a : a + rows] for a, rows in places], len(frame) <= STRETCHES * ROWS_EACH)


def _short(field: nw.Expr, dtype: Any) -> nw.Expr:
    return field.str.slice(0, LONGEST_TEXT) if isinstance(dtype, nw.String) else field


def _stretches(rows: int, most: int) -> list[tuple[int, int]]:
    """Where stretches begin and how many rows they have: all rows, if there are not more."""
    if rows <= most * ROWS_EACH:
        return [(0, rows)]
    return [(place, ROWS_EACH) for place in _even(rows, most)]


def _even(size: int, most: int) -> list[int]:
    """At most so many places, at even distances, from the first to the last but for one distance."""
    return [size * i // most for i in range(most)] if size > most else list(range(size))
