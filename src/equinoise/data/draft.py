"""A draft of a schema: the names and types of columns, with blanks where public knowledge belongs.

Names and types say nothing about people. Values do: none is read unless one asks to peek, and what is then read off
them is marked in the schema.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from polars import selectors

from equinoise.data.columns import NAMELESS, can_be_unit, find_column, named_like_an_id
from equinoise.data.draft_values import MOST_CATEGORIES, fill_in, of_dates, of_numbers, of_text, plain_text
from equinoise.data.engines import frame_of, library_of
from equinoise.data.engines.failures import explain_failures
from equinoise.data.paths import Files, check_same, find_files
from equinoise.data.schema import Column, Schema, table_lines
from equinoise.data.text_fields import ALL_FIELDS, header_of, refuse_repeated, scan
from equinoise.data.text_format import UNSAID, TextFormat
from equinoise.data.toml_text import line_text, value_text
from equinoise.errors import BadInput, NotPublicWarning

BLANKS = "What is public about the columns. Fill in every blank with what anyone would know without the data."
PEEKED = (
    "This schema was drafted by looking at the data, so it is as secret as the data, and 'synthesize' refuses what "
    "'peeked' names. Replace that by what anyone would know without the data, and remove 'peeked'."
)
UNDECIDED = 'A number or a date: bounds = [low, high]. A category: categories = ["one", "another"].'
NUMBERS = "Numbers: [low, high]."
WHOLE = "Whole numbers: [low, high]."
DATES = "Dates: [first, last], such as [2024-01-01, 2024-12-31]."
FOUND = "The bounds were found under differential privacy, at that epsilon. It is of these people: not for other data."
TEXT = 'All categories, such as ["one", "another"].'
BY_TYPE = {UNDECIDED, NUMBERS, WHOLE, DATES, TEXT}
"""Comments that say no more than the head of the file."""

UNPUBLISHED = "Delete the table of a column that is not published, such as names or free text."
HOW_TO_FILL_IN = """\
# A number:    bounds = [0, 120], and step = 1 for whole values, 0.01 for money. Without, rows hold middles of bins.
# A date:      bounds = [2024-01-01, 2024-12-31]
# A category:  categories = ["one", "another"], all that there may be.
# Unless a table says missing = "category", 'synthesize' drops rows without a value. It moves numbers outside the
# bounds to the nearer one, and drops rows of other categories.
# Leave bins out: 'plan' and 'synthesize' choose them, if --people says about how many people there are."""
"""What may stand in a table, and what becomes of values that do not fit."""

Drafted = tuple[Column, str]
"""A column, and a comment on what is to be filled in."""


@dataclass(frozen=True)
class Draft:
    """A schema with blanks, and its file, which has comments: by column, what is to be filled in."""

    schema: Schema
    text: str
    comments: Mapping[str, str]


def make_draft(
    data: Any, *, peek: bool = False, columns: Sequence[str] | None = None, separator: str | None = None,
    decimal: str | None = None, found: Mapping[str, Column] | None = None,
) -> Draft:  # fmt: skip
    """Draft a schema, and its file with comments. Columns that were ``found`` under differential privacy are taken as
    they are.

    Columns that are named like an identifier are no columns, unless they are asked for, but suggested as the unit.
    """
    source = open_source(data, TextFormat(separator, decimal))
    names = [find_column(name, list(source.types), source.name) for name in columns or source.types]
    names = list(dict.fromkeys(names))
    source.check_names(names)
    ids = [] if columns else [name for name in names if named_like_an_id(name) and can_be_unit(source.types[name])]
    kept = [name for name in names if name not in ids] or names
    drafted, left_out = [], []
    for name in kept:
        private = (found or {}).get(name)
        one = _draft_column(source, name, peek) if private is None else (private, FOUND)
        if one is None:
            left_out.append(name)
        else:
            drafted.append(one)
    if not drafted:
        raise BadInput(f"{source.name} has no column of numbers, dates or categories.")
    schema = Schema(tuple(column for column, _ in drafted))
    if peek:
        warnings.warn(PEEKED, NotPublicWarning, stacklevel=3)
    units = [name for name in ids if name not in kept]
    text = _text(drafted, units, {name: source.types[name] for name in left_out}, peek)
    return Draft(schema, text, {column.name: comment for column, comment in drafted})


def _text(drafted: Sequence[Drafted], units: Sequence[str], left_out: Mapping[str, Any], peek: bool) -> str:
    """The file: what to do first, a unit that might be, a table for every column, and what is left out."""
    blank = any(not column.is_complete for column, _ in drafted)
    parts = [f"# {BLANKS}"] if blank else []
    parts += [f"# {sentence.rstrip('.')}." for sentence in PEEKED.split(". ")] if peek else []
    parts += [f"# {UNPUBLISHED}", *([HOW_TO_FILL_IN] if blank else [])]
    paragraphs = ["\n".join(parts)]
    if units:
        suggested = (f"# {line_text('unit', name)}" for name in units)
        paragraphs.append("\n".join(["# If all rows with the same value here are one person's:", *suggested]))
    for column, comment in drafted:
        heading, *lines = table_lines(column)
        paragraphs.append("\n".join([heading, *([f"# {comment}"] if comment not in {"", *BY_TYPE} else []), *lines]))
    if left_out:
        reasons = (f"# {value_text(name)}: values of type {dtype}" for name, dtype in left_out.items())
        paragraphs.append("\n".join(["# Left out, as they are no numbers, dates or categories:", *reasons]))
    return "\n\n".join(paragraphs) + "\n"


def _draft_column(source: Source, name: str, peek: bool) -> Drafted | None:
    """A column by its type, with what its values show if they may be looked at; None if it cannot be counted."""
    dtype = source.types[name]
    blank = _by_type(name, None if source.from_text else dtype)
    if blank is None or blank[0].is_complete or not peek:
        return blank
    if isinstance(dtype, nw.Object):
        return blank
    if isinstance(dtype, nw.Enum) and not source.from_text:
        return fill_in(blank, {"categories": list(dtype.categories)})
    values = source.distinct(name)
    if source.files is not None:
        return fill_in(blank, of_text(name, plain_text(values), source.files))
    if dtype.is_numeric():
        return fill_in(blank, of_numbers(values, blank[0].step))
    if isinstance(dtype, nw.Date | nw.Datetime):
        return fill_in(blank, of_dates(values))
    texts = sorted(plain_text(values.cast(pl.String)).to_list()[: MOST_CATEGORIES + 1])
    return fill_in(blank, {"categories": texts})


def _by_type(name: str, dtype: Any) -> Drafted | None:
    """A column with a blank, by its type alone; without a type, or with a type of any objects, it may be anything."""
    if dtype is None or isinstance(dtype, nw.Object):
        return Column(name=name), UNDECIDED
    if isinstance(dtype, nw.Boolean):
        return Column(name=name, categories=(True, False)), ""
    if dtype.is_integer():
        return Column(name=name, blank="bounds", step=1), WHOLE
    if isinstance(dtype, nw.Decimal):
        return Column(name=name, blank="bounds", step=_decimal_step(getattr(dtype, "scale", None))), NUMBERS
    if dtype.is_float():
        return Column(name=name, blank="bounds"), NUMBERS
    if isinstance(dtype, nw.Date | nw.Datetime):
        return Column(name=name, blank="bounds"), DATES
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        return Column(name=name, blank="categories"), TEXT
    return None


def _decimal_step(digits: int | None) -> float | int | None:
    """The step of decimals with so many digits after the point."""
    if digits is None:
        return None
    return float(Fraction(1, 10**digits)) if digits > 0 else 1


@dataclass(frozen=True)
class Source:
    """Data as a draft sees it: the types of its columns (all text, for text files), and, on request, the different
    values of one of them."""

    name: str
    types: Mapping[str, Any]
    distinct: Callable[[str], pl.Series]
    from_text: bool = False
    files: Files | None = None

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse a column of which a text file has two."""
        if self.from_text and self.files is not None:
            refuse_repeated(self.files, names, list(self.types))


def open_source(data: Any, text: TextFormat = UNSAID) -> Source:
    """The types of a path, an array or any dataframe; no values are read."""
    if isinstance(data, str | Path):
        with explain_failures(f"The file {str(data)!r}", is_text=True):
            files = find_files(Path(data), text)
        with explain_failures(files.source, is_text=files.is_text):
            return _text_source(files) if files.is_text else _parquet_source(files)
    text.check_unsaid("with data that is no text file")
    if isinstance(data, np.ndarray | list | tuple):
        data = _array(data)
    with explain_failures("The dataframe", is_text=False):
        return _frame_source(frame_of(data))


def _text_source(files: Files) -> Source:
    def distinct(name: str) -> pl.Series:
        with explain_failures(files.source, is_text=True):
            text = scan(files.paths, files.separator or ",").select(selectors.by_name(name)).unique()
            return text.collect(engine="streaming", optimizations=ALL_FIELDS).to_series()

    return Source(files.source, dict.fromkeys(header_of(files), nw.String()), distinct, from_text=True, files=files)


def _parquet_source(files: Files) -> Source:
    schemas = [pl.scan_parquet(path, glob=False).collect_schema() for path in files.paths]
    check_same(files.paths, [[f"{name!r} of type {dtype}" for name, dtype in schema.items()] for schema in schemas])

    def distinct(name: str) -> pl.Series:
        with explain_failures(files.source, is_text=False):
            rows = pl.scan_parquet(list(files.paths), glob=False).select(selectors.by_name(name)).unique()
            return rows.collect(engine="streaming").to_series()

    return Source(files.source, nw.from_native(pl.LazyFrame(schema=schemas[0])).collect_schema(), distinct)


def _frame_source(frame: Any) -> Source:
    types, library = frame.collect_schema(), library_of(frame)

    def distinct(name: str) -> pl.Series:
        with explain_failures("The dataframe", is_text=False):
            ours = library.rename(frame, [f"column {i}" for i in range(len(types))])
            value = nw.col(f"column {types.names().index(name)}")
            named = isinstance(types[name], nw.Categorical | nw.Enum)
            rows = ours.lazy().select(value.cast(nw.String) if named else value).unique()
            return library.collect(rows, from_text=False).to_polars().to_series()

    return Source("The dataframe", types, distinct)


def _array(data: Any) -> pl.Series:
    """An array as a column without a name."""
    try:
        array = np.asarray(data)
        if array.ndim == 1:
            return pl.Series(NAMELESS, array)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        pass
    raise BadInput("An array must have one dimension: one value per row.")
