"""Whose rows are whose: the same people in every engine, from frames, text and Parquet."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from equinoise.data import text_fields as fields
from equinoise.data.grid import Axis
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput, SeveralRowsWarning
from tests.helpers.counts import count_units

AXIS = Axis.padded("pay", 0, 100, bins=11)


def people(many=400):
    rng = np.random.default_rng(3)
    names = [f"p{n:03}" for n in rng.integers(0, many // 4, many)]
    return pl.DataFrame(
        {
            "user_id": names,
            "number": rng.integers(0, 2**60, many // 4)[rng.integers(0, 9, many)],
            "pay": rng.uniform(0, 100, many),
        }
    )


def told(data, unit, engine=None, **settings):
    return [part.tolist() for part in count_units(open_rows(data, "pay", engine, keep=unit), (AXIS,), **settings)]


@pytest.mark.parametrize("unit", ["user_id", "number"])
def test_frames(frame_of, unit):
    frame = people()
    assert told(frame_of(frame.to_arrow()), unit) == told(frame, unit)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(tmp_path, engine, ending, monkeypatch):
    monkeypatch.setattr(fields, "PART_BYTES", 2000)
    frame, path = people(), tmp_path / f"a.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path, row_group_size=50)
    plain = told(frame, "user_id")
    assert told(path, "user_id", engine) == plain
    by_hand = {}
    for name, pay in zip(frame["user_id"], frame["pay"], strict=True):
        by_hand[name, AXIS.cell_of(pay)] = by_hand.get((name, AXIS.cell_of(pay)), 0) + 1
    numbers = {name: i + 1 for i, name in enumerate(sorted(set(frame["user_id"])))}
    assert plain == [
        list(column) for column in zip(*sorted((numbers[n], c, t) for (n, c), t in by_hand.items()), strict=True)
    ]


def test_the_word_about_frames(frame_of):
    frame = people(800).rename({"user_id": "individual"}).with_columns(once=pl.int_range(800))
    with pytest.warns(SeveralRowsWarning, match="'individual' .* its 800 rows have only 19"):
        warn_of_repeats(frame_of(frame.to_arrow()), ["pay"])


def test_missing_names(frame_of):
    table = pa.table({"id": pa.array(["a", None, "b", "a"]), "pay": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(BadInput, match="the unit, is missing in 1 row"):
        told(frame_of(table), "id")
    assert told(frame_of(table), "id", missing="drop")[0] in ([1, 2], [1, 1, 2])
