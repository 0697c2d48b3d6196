"""Odd values of every kind and where each belongs: one table for every engine, frame and file.

A value's bin is a number; MISSING where it is a missing one, NOWHERE where no bin is for it.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from equinoise.data.codes import MISSING
from equinoise.data.counting import count_rows
from equinoise.data.grid import Axis, Grid
from equinoise.data.make_grid import make_grid
from equinoise.data.rows import open_rows
from equinoise.data.schema import Schema

NOWHERE = -100
LONG = "long " * 400 + "end"


@dataclass(frozen=True)
class Odd:
    """A column by its schema, the type that it comes in, and its values with their bins."""

    says: dict
    dtype: pa.DataType
    values: list

    @property
    def axis(self):
        """The axis, with a bin for what is missing; what fits nowhere is left out, or at the nearer bound."""
        rules = {"missing": "category", "outside": "drop" if "categories" in self.says else "clip"}
        return make_grid(Schema.of({"columns": {"c": self.says | rules}})).axes[0]

    @property
    def raw(self):
        return not isinstance(self.axis, Axis) or self.axis.day_zero is not None

    @property
    def table(self):
        """The values, and the number of each."""
        column = pa.array([value for value, _ in self.values], self.dtype, from_pandas=False)
        return pa.table({"c": column, "i": range(len(column))})

    @property
    def expected(self):
        """The bin of every value."""
        return [self.axis.bins - 1 if bin == MISSING else bin for _, bin in self.values]

    @property
    def is_text(self):
        return self.dtype == pa.string()

    def bins_in(self, data, reader=None):
        """The bin of every value, counted among all of them."""
        many = len(self.values)
        number = Axis("i", 0.0, many - 1.0, many, 0.5, step=1.0)
        rows = open_rows(data, ["c", "i"], reader, raw=["c"] if self.raw else [])
        players = count_rows(rows, Grid((self.axis, number)))
        assert (players.people == 1).all()
        found = np.full(many, NOWHERE)
        bins = players.grid.bins_of(players.cells)
        found[bins[:, 1]] = bins[:, 0]
        return found.tolist()


NAMES = {
    "categories": [
        "a b",
        "A B",
        'say "x"',
        "x,y",
        "two\nlines",
        "caf\u00e9",
        "NA",
        "tab\tx",
        LONG,
        "\u00df",
        "it's",
        "0",
        "1.5",
    ]
}
TEXTS = [
    ("a b", 0), (" a b", 0), ("a b  ", 0), ("\ta b\u00a0", 0), ("a  b", NOWHERE), ("A B", 1), ("A b", NOWHERE),
    ('say "x"', 2), ("say x", NOWHERE), ('"say "x""', NOWHERE), ("x,y", 3), ("x;y", NOWHERE), ("two\nlines", 4),
    ("two lines", NOWHERE), ("two\r\nlines", NOWHERE), ("caf\u00e9", 5), ("cafe\u0301", 5), ("cafe", NOWHERE),
    ("NA", 6), ("na", MISSING), ("N/A", MISSING), ("null", MISSING), ("NaN", MISSING), ("None", MISSING), 
    ("?", MISSING),
    (None, MISSING), ("", MISSING), ("  ", MISSING), ("tab\tx", 7), ("tab x", NOWHERE), (LONG, 8),
    (LONG + "s", NOWHERE),
    ("\u00df", 9), ("ss", NOWHERE), ("\u1e9e", NOWHERE), ("it's", 10), ("0", 11), ("0.0", 11), ("00", NOWHERE),
    ("-0", NOWHERE), ("1.5", 12), ("1.50", NOWHERE), ("\u200ba b", NOWHERE), ("-", NOWHERE),
]  # fmt: skip
CODES = {"categories": [1, 2, 10, 0, -3, 2**53, 2**53 + 1]}
TRUTH = {"categories": [True, False]}
DAYS = {"bounds": [date(2024, 2, 28), date(2024, 3, 2)]}
TENTHS = {"bounds": [0.0, 1.0], "step": 0.1}
FLOATS = [
    (0.0, 0), (-0.0, 0), (0.1, 1), (0.2, 2), (0.3, 3), (0.1 + 0.2, 3), (0.7, 7), (0.1 * 7, 7), (0.9, 9), (1.0, 10),
    (0.04, 0), (0.06, 1), (0.05, 1), (0.25, 3), (0.14999999999999997, 1), (1e-320, 0), (None, MISSING), (nan, MISSING),
    (-1.0, 0), (1.0000000000000002, 10), (7.0, 10), (-1e308, 0), (inf, MISSING), (-inf, MISSING),
]  # fmt: skip

ODD = {
    "texts": Odd(NAMES, pa.string(), TEXTS),
    "texts of codes": Odd(CODES, pa.string(), [
        ("1", 0), ("01", 0), ("+1", 0), ("1.0", 0), (" 1. ", 0), ("1.5", NOWHERE), ("1e0", NOWHERE), ("0x1", NOWHERE),
        ("\u0661", NOWHERE), ("1_0", NOWHERE), ("++1", NOWHERE), ("1,0", NOWHERE), ("-0", 3), ("-3.00", 4),
        ("true", NOWHERE),
        (str(2**53), 5), (str(2**53 + 1), 6), (f"{2**53}.0", NOWHERE), ("inf", NOWHERE), ("nan", MISSING),
        (None, MISSING),
    ]),
    "whole numbers": Odd(CODES, pa.int64(), [
        (1, 0), (2, 1), (3, NOWHERE), (0, 3), (-3, 4), (2**53, 5), (2**53 + 1, 6), (2**53 + 2, NOWHERE),
    ]),
    "small numbers": Odd(CODES, pa.int8(), [(1, 0), (2, 1), (10, 2), (-3, 4), (None, MISSING), (100, NOWHERE)]),
    "wide numbers": Odd(CODES, pa.uint64(), [(1, 0), (2**53 + 1, 6), (2**64 - 1, NOWHERE)]),
    "floats for codes": Odd(CODES, pa.float64(), [
        (1.0, 0), (2.0, 1), (-0.0, 3), (-3.0, 4), (1.5, NOWHERE), (1.0000000000000002, NOWHERE), (2.0**53, NOWHERE),
        (1e300, NOWHERE), (inf, NOWHERE), (-inf, NOWHERE), (nan, MISSING), (None, MISSING),
    ]),
    "short floats for codes": Odd(CODES, pa.float32(), [(1.0, 0), (10.0, 2), (2.5, NOWHERE), (None, MISSING)]),
    "decimals for codes": Odd(CODES, pa.decimal128(6, 2), [
        (Decimal("1.00"), 0), (Decimal("1.50"), NOWHERE), (Decimal("-3.00"), 4), (Decimal("0.00"), 3), (None, MISSING),
    ]),
    "numbers for texts": Odd({"categories": ["1", "01", "2"]}, pa.int32(), [(1, 0), (2, 2), (10, NOWHERE)]),
    "floats for texts": Odd({"categories": ["1", "01", "2"]}, pa.float64(), [
        (1.0, 0), (2.0, 2), (1.5, NOWHERE), (None, MISSING),
    ]),
    "texts of numbers": Odd({"categories": ["1", "01", "2"]}, pa.string(), [
        ("1", 0), ("01", 1), ("001", NOWHERE), ("1.0", 0), ("01.0", NOWHERE), ("+1", NOWHERE), ("1.00", 0),
        ("2.5", NOWHERE),
    ]),
    "truth": Odd(TRUTH, pa.bool_(), [(True, 0), (False, 1), (None, MISSING)]),
    "truth without gaps": Odd(TRUTH, pa.bool_(), [(True, 0), (False, 1)]),
    "truth as words": Odd({"categories": ["False", "True"]}, pa.bool_(), [(True, 1), (False, 0), (None, MISSING)]),
    "truth among words": Odd({"categories": ["true", "maybe"]}, pa.string(), [
        ("true", 0), ("True", NOWHERE), ("maybe", 1), ("1", NOWHERE),
    ]),
    "texts of truth": Odd(TRUTH, pa.string(), [
        ("true", 0), ("True", 0), (" FALSE ", 1), ("t", NOWHERE), ("1", NOWHERE), ("0", NOWHERE), ("yes", NOWHERE),
        (None, MISSING),
    ]),
    "numbers are not true": Odd(TRUTH, pa.int64(), [(1, NOWHERE), (0, NOWHERE), (2, NOWHERE)]),
    "truth is no number": Odd(CODES, pa.bool_(), [(True, NOWHERE), (False, NOWHERE), (None, MISSING)]),
    "dates": Odd(DAYS, pa.date32(), [
        (date(2024, 2, 28), 0), (date(2024, 2, 29), 1), (date(2024, 3, 2), 3), (date(1066, 10, 14), 0),
        (date(2999, 1, 1), 3),
        (None, MISSING),
    ]),
    **{f"moments, {unit}": Odd({"bounds": [date(1969, 12, 30), date(1970, 1, 2)]}, pa.timestamp(unit), [
        (datetime(1969, 12, 30), 0), (datetime(1969, 12, 31), 1), (datetime(1969, 12, 31, 23, 59, 59, 999000), 1),
        (datetime(1970, 1, 1), 2), (datetime(1970, 1, 1, 0, 0, 0, 1000), 2), (datetime(1970, 1, 2, 23, 59), 3),
        (datetime(1960, 1, 1), 0), (None, MISSING),
    ]) for unit in ("ms", "us", "ns")},
    "moments in UTC": Odd(DAYS, pa.timestamp("us", "UTC"), [
        (datetime(2024, 2, 28, 0, 0), 0), (datetime(2024, 2, 28, 23, 59, 59), 0), (datetime(2024, 2, 29, 0, 0, 1), 1),
        (None, MISSING),
    ]),
    "texts of dates": Odd(DAYS, pa.string(), [
        ("2024-02-28", 0), (" 2024-02-29 ", 1), ("2024-02-29 23:59", 1), ("2024-02-29T23:59:59.999999999", 1),
        ("2024-02-29T23:59:59Z", 1), ("2024-03-01 00:00:00+00:00", 2), ("1066-10-14", 0), ("NA", MISSING),
        ("", MISSING), (None, MISSING),
    ]),
    "tenths": Odd(TENTHS, pa.float64(), FLOATS),
    "tenths in wide bins": Odd(TENTHS | {"bins": 4}, pa.float64(), [
        (0.0, 0), (0.2, 0), (0.25, 1), (0.3, 1), (0.5, 1), (0.55, 2), (0.6, 2), (0.8, 2), (0.9, 3), (1.0, 3),
        (None, MISSING),
    ]),
    "tenths in short floats": Odd(TENTHS, pa.float32(), [(0.1, 1), (0.2, 2), (0.3, 3), (0.7, 7), (0.9, 9), (1.0, 10)]),
    "tenths in decimals": Odd(TENTHS, pa.decimal128(4, 2), [
        (Decimal("0.10"), 1), (Decimal("0.30"), 3), (Decimal("0.25"), 3), (Decimal("0.24"), 2), (Decimal("1.00"), 10),
        (None, MISSING),
    ]),
    "whole steps": Odd({"bounds": [-2, 100], "step": 1}, pa.int16(), [
        (-2, 0), (0, 2), (100, 102), (101, 102), (-3, 0), (None, MISSING),
    ]),
    "no step": Odd({"bounds": [0.0, 1.0], "bins": 10}, pa.float64(), [
        (0.0, 0), (-0.0, 0), (0.05, 0), (0.1, 1), (0.95, 9), (1.0, 9), (0.9999999999999999, 9), (1.1, 9),
        (-5e-324, 0), (nan, MISSING),
    ]),
}  # fmt: skip

NO_DATES = [
    "2024-02-30", "2024-2-3", "20240229", "2024-W09-4", "29.02.2024", "2024-02-290", "2024-02-29 25:00", "2024-02-29x",
    "2024-02-29T23:59:59+02:00", "1",
]  # fmt: skip
"""Texts that are in no one way a date."""


def in_chunks(table):
    return pa.concat_tables([table.slice(i, 1) for i in range(len(table))])


def in_dictionary(table):
    return table.set_column(0, "c", table["c"].dictionary_encode())


def one_dictionary_each(table):
    return pa.concat_tables([in_dictionary(table.slice(i, 3)) for i in range(0, len(table), 3)])


def plain_objects(table):
    return table.to_pandas().assign(c=pd.Series(table["c"].to_pylist(), dtype=object))


NULLABLE = {
    **{pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int64(): pd.Int64Dtype()},
    pa.uint64(): pd.UInt64Dtype(),
    **{pa.float32(): pd.Float32Dtype(), pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()},
    pa.string(): pd.StringDtype(),
}
FRAMES = {
    "polars": pl.from_arrow,
    "polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "arrow": lambda table: table,
    "arrow, chunks": in_chunks,
    "pandas": lambda table: table.to_pandas(),
    "pandas, arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, nullable": lambda table: table.to_pandas(types_mapper=NULLABLE.get),
    "pandas, objects": plain_objects,
}
"""Frames of every type."""

FRAMES_OF_TEXT = {
    "polars, categories": lambda table: pl.from_arrow(table).cast({"c": pl.Categorical}),
    "polars, enum": lambda table: pl.from_arrow(table).cast(
        {"c": pl.Enum(table["c"].drop_null().unique().to_pylist())}
    ),
    "pandas, categories": lambda table: table.to_pandas().astype({"c": "category"}),
    "arrow, dictionary": in_dictionary,
    "arrow, dictionaries": one_dictionary_each,
    "arrow, large": lambda table: table.set_column(0, "c", table["c"].cast(pa.large_string())),
}

FILES = {
    "polars.csv": lambda table, path: pl.from_arrow(table).write_csv(path),
    "quoted.csv": lambda table, path: pl.from_arrow(table).write_csv(path, quote_style="always"),
    "polars.tsv": lambda table, path: pl.from_arrow(table).write_csv(path, separator="\t"),
    "pandas.csv": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "polars.parquet": lambda table, path: pl.from_arrow(table).write_parquet(path, row_group_size=3),
    "arrow.parquet": lambda table, path: pq.write_table(table, path, row_group_size=2),
    "plain.parquet": lambda table, path: pq.write_table(table, path, use_dictionary=False, store_schema=False),
    "pandas.parquet": lambda table, path: table.to_pandas().to_parquet(path),
}
FILES_OF_TEXT = {
    "dictionary.parquet": lambda table, path: pq.write_table(in_dictionary(table), path),
    "categories.parquet": lambda table, path: FRAMES_OF_TEXT["polars, categories"](table).write_parquet(path),
    "enum.parquet": lambda table, path: FRAMES_OF_TEXT["polars, enum"](table).write_parquet(path),
}


def frames_for(odd):
    """The frames that the values of a case can be in."""
    return FRAMES | (FRAMES_OF_TEXT if odd.is_text else {})


def files_for(odd):
    """The files that the values of a case can be in."""
    return FILES | (FILES_OF_TEXT if odd.is_text else {})
