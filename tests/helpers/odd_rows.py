"""One odd row beside everyone else's: whatever it holds, the others are read as they are without it, or nobody is."""

import csv
import datetime
import math
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from equinoise import BadInput
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from tests.helpers.counts import count, count_units

AXIS = Axis.padded("x", 0, 100, bins=151, percentile=0.5)
PEOPLE, ODD_CELL = 6, AXIS.cell_of(90.0)

NAMES = {
    "small numbers": list(range(PEOPLE)),
    "large numbers": [10**18 + i for i in range(PEOPLE)],
    "text": ["1", "1.0", "01", "a", "A", "é"],
}
ODD_NAMES = {
    "none": None, "nan": math.nan, "half": 1.5, "wide": 2**63, "wider": 2**70, "negative": -1, "yes": True,
    "blank": " ", "letter": "x", "digit": "1", "float in text": "1.0", "quote": 'a"b', "lines": "a\nb",
    "infinite": math.inf, "decimal": Decimal("1.50"), "bytes": b"1", "day": datetime.date(2020, 1, 1),
    "uuid": UUID(int=1), "NA": pd.NA, "mark": "NA",
}  # fmt: skip

VALUES = {
    "floats": [7 * i + 0.25 for i in range(PEOPLE)],
    "whole numbers": [7 * i for i in range(PEOPLE)],
    "decimals": [Decimal(7 * i) + Decimal("0.1") for i in range(PEOPLE)],
}
ODD_VALUES = {
    "none": None, "nan": math.nan, "infinite": -math.inf, "text": "x", "digit": "5", "yes": True, "half": 1.5,
    "decimal": Decimal("5.123456789"), "wide": 2**63, "wider": 2**70, "beyond floats": 10**400, "NA": pd.NA,
    "mark": "NA", "complex": 1 + 2j, "day": datetime.date(2020, 1, 1), "short float": np.float32(1.1),
    "quote": '6"', "lines": "5\n5",
}  # fmt: skip


def in_pandas(columns):
    return pd.DataFrame(columns)


def one_by_one(make, glue):
    """Everyone's rows first and the last one after them, each with types of their own."""

    def made(columns):
        return glue([make({k: v[:-1] for k, v in columns.items()}), make({k: v[-1:] for k, v in columns.items()})])

    return made


def text_file(path, quoting=csv.QUOTE_MINIMAL):
    def made(columns):
        with path.open("w", newline="") as file:
            rows = csv.writer(file, quoting=quoting)
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))
        return path

    return made


def files(folder):
    """Files of every origin; to be read by any engine."""
    parquet, text = folder / "a.parquet", folder / "a.csv"

    def written(write, path):
        def made(columns):
            write(columns)
            return path

        return made

    return {
        "text": text_file(text),
        "text in quotes": text_file(text, csv.QUOTE_ALL),
        "text of pandas": written(lambda c: in_pandas(c).to_csv(text, index=False), text),
        "text of polars": written(lambda c: pl.DataFrame(c, strict=False).write_csv(text), text),
        "parquet of arrow": written(lambda c: pq.write_table(pa.table(c), parquet), parquet),
        "parquet of pandas": written(lambda c: in_pandas(c).to_parquet(parquet), parquet),
        "parquet of polars": written(lambda c: pl.DataFrame(c, strict=False).write_parquet(parquet), parquet),
        "parquet of categories": written(
            lambda c: in_pandas({k: pd.Categorical(v) if k == "who" else v for k, v in c.items()}).to_parquet(parquet),
            parquet,
        ),
    }


def made(make, columns):
    """The frame, or None where the library refuses to make one of these."""
    try:
        return make(columns)
    except BaseException as error:  # polars panics
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return None


def shares(data, engine):
    """The cells of every person, each a set; the odd row's is no part of it."""
    who, cells, _ = count_units(open_rows(data, "x", engine, keep="who"), (AXIS,), missing="drop", outside="clip")
    people = {}
    for person, cell in zip(who.tolist(), cells.tolist(), strict=True):
        people.setdefault(person, set()).add(cell)
    return sorted(sorted(found - {ODD_CELL}) for found in people.values() if found != {ODD_CELL})


def changed_by_names(make, names, engine=None, odd=None):
    """The odd names that change whose the others' rows are; and how many were refused, and counted."""
    who, x = NAMES[names] * 2, [float(7 * i) for i in range(2 * PEOPLE)]
    truth = [[AXIS.cell_of(x[i]), AXIS.cell_of(x[i + PEOPLE])] for i in range(PEOPLE)]
    if shares(make({"x": x, "who": who}), engine) != truth:
        return ["without any"], 0, 0
    return compared(
        odd or ODD_NAMES, truth, lambda one: made(make, {"x": [*x, 90.0], "who": [*who, one]}),
        lambda data: shares(data, engine),
    )  # fmt: skip


def changed_by_values(make, values, engine=None, odd=None):
    """The same for values: which change the cells of others."""
    x, who = VALUES[values], [f"p{i}" for i in range(PEOPLE)]

    def cells(data):
        return count(open_rows(data, "x", engine), AXIS, missing="drop", outside="clip").counts

    plain = cells(make({"x": x, "who": who}))
    if np.flatnonzero(plain).tolist() != [AXIS.cell_of(float(v)) for v in x]:
        return ["without any"], 0, 0

    def others(data):
        more = cells(data) - plain
        return bool((more >= 0).all() and more.sum() <= 1)

    return compared(odd or ODD_VALUES, True, lambda one: made(make, {"x": [*x, one], "who": [*who, "odd"]}), others)


def compared(odd, truth, frame_with, look):
    changed, refused, counted = [], 0, 0
    for name, one in odd.items():
        data = frame_with(one)
        if data is None:
            continue
        try:
            found = look(data)
        except BadInput:
            refused += 1
            continue
        counted += 1
        if found != truth:
            changed.append(name)
    return changed, refused, counted
