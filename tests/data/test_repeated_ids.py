"""What looks like a name for each person and has repeats is pointed out; what does not is not; and it costs little."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import equinoise
from equinoise.data import repeated_ids as repeats
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.text_fields import some_text

PEOPLE = 300


def told(data, columns=("x",)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_repeats(data, list(columns))
    return [str(one.message).split("'")[1] for one in caught if one.category is equinoise.SeveralRowsWarning]


def table(many=4 * PEOPLE, seed=3, **columns):
    return pl.DataFrame({"x": np.random.default_rng(seed).uniform(0, 20, many), **columns})


def visits(seed=5, many=4 * PEOPLE):
    """Someone's number for each row, in no order; some have many rows, some none."""
    return np.random.default_rng(seed).integers(1, many // 4 + 1, many)


NAMES = {
    "numbers": visits(),
    "panel": np.repeat(np.arange(PEOPLE), 4),
    "panel by year": np.tile(np.arange(PEOPLE), 4),
    "sparse numbers": np.random.default_rng(1).integers(0, 2**60, PEOPLE)[visits() - 1],
    "codes": [f"p{number:05x}" for number in visits()],
    "whole numbers as text": [str(number) for number in visits()],
    "two registers": np.where(visits() > PEOPLE // 2, 10**6 + visits(), visits()),
    "one repeat": [*range(4 * PEOPLE - 1), 7],
    "some missing": [None if i % 9 == 0 else int(number) for i, number in enumerate(visits())],
}
DRAWN = np.random.default_rng(9)
NO_NAMES = {
    "distinct": np.arange(4 * PEOPLE),
    "distinct codes": [f"p{i}" for i in range(4 * PEOPLE)],
    "sex": DRAWN.choice(["f", "m"], 4 * PEOPLE),
    "ward": DRAWN.integers(0, 40, 4 * PEOPLE),
    "year": DRAWN.integers(1950, 2025, 4 * PEOPLE),
    "age": DRAWN.integers(18, 91, 4 * PEOPLE),
    "country": DRAWN.choice([f"land {i}" for i in range(60)], 4 * PEOPLE),
    "income": np.round(DRAWN.lognormal(10, 0.7, 4 * PEOPLE), -2).astype(int),
    "weight": DRAWN.normal(3400, 500, 4 * PEOPLE).astype(int),
    "hours": np.where(DRAWN.random(4 * PEOPLE) < 0.5, 2080, DRAWN.integers(0, 4000, 4 * PEOPLE)),
    "day": [f"2024-{day // 28 + 1:02}-{day % 28 + 1:02}" for day in DRAWN.integers(0, 336, 4 * PEOPLE)],
    "time": [f"{t // 60:02}:{t % 60:02}" for t in DRAWN.integers(0, 1440, 4 * PEOPLE)],
    "price": [f"{p:.1f}" for p in DRAWN.uniform(0, 50, 4 * PEOPLE)],
    "price with a comma": [f"{p:.1f}".replace(".", ",") for p in DRAWN.uniform(0, 50, 4 * PEOPLE)],
    "price of thousands": [f"1.{p:03}" for p in DRAWN.integers(0, 400, 4 * PEOPLE)],
    "price with both marks": [f"1.{p:03},50" for p in DRAWN.integers(0, 400, 4 * PEOPLE)],
    "half": DRAWN.integers(0, 400, 4 * PEOPLE) / 2,
    "note": [f"{'long sentences are ' * 5}{n}" for n in visits()],
    "truth": DRAWN.random(4 * PEOPLE) < 0.5,
    "one value": ["a"] * (4 * PEOPLE),
    "nothing": [None] * (4 * PEOPLE),
}  # fmt: skip


def kinds_of(frame, folder):
    frame.write_csv(folder / "a.csv")
    frame.write_parquet(folder / "a.parquet", row_group_size=100)
    relation = duckdb.from_arrow(frame.to_arrow())
    return frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), relation, folder / "a.csv", folder / "a.parquet"


@pytest.mark.parametrize("kind", NAMES)
def test_names_that_repeat_are_told_whatever_the_column_is_called(tmp_path, kind):
    frame = table(individual=NAMES[kind])
    for data in kinds_of(frame, tmp_path):
        if kind == "some missing" and isinstance(data, pd.DataFrame):
            continue  # floats there, and then nothing but what the column is called tells
        assert told(data) == ["individual"], type(data)


@pytest.mark.parametrize("kind", NO_NAMES)
def test_what_is_no_name_or_has_no_repeats_is_not(tmp_path, kind):
    for data in kinds_of(table(column=NO_NAMES[kind]), tmp_path):
        assert told(data) == [], type(data)


def test_what_is_counted_is_not_looked_at():
    assert told(table(individual=NAMES["panel"]), ("x", "individual")) == []
    assert told(np.arange(10.0)) == []


def test_many_columns_are_not_all_looked_at_but_those_called_like_names_first(tmp_path):
    columns = {f"c{i}": NAMES["panel"] for i in range(30)}
    found = ["patient_id", *(f"c{i}" for i in range(repeats.MOST_COLUMNS - 1))]
    for data in kinds_of(table(**columns, patient_id=NAMES["panel"]), tmp_path):
        assert told(data) == found, type(data)


def test_categories_do_not_stand_in_the_way_of_names(tmp_path):
    columns = {f"c{i}": np.arange(4 * PEOPLE) % (i + 2) for i in range(19)}
    for data in kinds_of(table(**columns, individual=NAMES["panel"]), tmp_path):
        assert told(data) == ["individual"], type(data)


def large(folder, monkeypatch, frame):
    """The same data when it is more than is looked at."""
    monkeypatch.setattr(repeats, "ROWS_EACH", 80)
    monkeypatch.setattr(repeats, "BYTES_EACH", 2000)
    return kinds_of(frame, folder)


MANY = {
    "numbers": visits(many=4000),
    "panel": np.repeat(np.arange(1000), 4),
    "panel by year": np.tile(np.arange(1000), 4),
    "codes": [f"p{number:05x}" for number in visits(many=4000)],
}


@pytest.mark.parametrize("kind", MANY)
def test_some_rows_are_enough(tmp_path, monkeypatch, kind):
    """Stretches at even distances: a panel of four years shows in those that are a year apart. Of a frame that is not
    in memory only the first rows are looked at, so there a panel by year does not."""
    for data in large(tmp_path, monkeypatch, table(4000, individual=MANY[kind])):
        lazy = isinstance(data, pl.LazyFrame | duckdb.DuckDBPyRelation)
        assert told(data) == ([] if lazy and kind == "panel by year" else ["individual"]), type(data)


def test_the_number_of_rows_looked_at_is_told(tmp_path, monkeypatch):
    *_, parquet = large(tmp_path, monkeypatch, table(individual=NAMES["panel"]))
    with pytest.warns(equinoise.SeveralRowsWarning, match="the 640 of its rows that were looked at have only 164"):
        warn_of_repeats(parquet, ["x"])


@pytest.mark.parametrize("many", [630, 639, 640, 641, 642, 700, 799, 1200])
def test_no_row_is_looked_at_twice(tmp_path, monkeypatch, many):
    """Where names are all different, none repeats, however the stretches fall."""
    frame = table(many, individual=np.arange(10**6, 10**6 + many))
    for data in large(tmp_path, monkeypatch, frame):
        assert told(data) == [], type(data)


@pytest.mark.parametrize("size", [1, 7, 30, 100, 10**6])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_stretches_of_text_are_whole_rows_each_once(tmp_path, size, end, last):
    rows = [f"{i},{'a' * (i % 13)}z" for i in range(200)]
    (tmp_path / "a.csv").write_bytes((end.join(["x,y", *rows]) + end * last).encode())
    found, everything = some_text(tmp_path / "a.csv", ",", 8, size)
    values = [int(x) for x in found["x"]]
    assert values == sorted(set(values))
    assert all(y == "a" * (x % 13) + "z" for x, y in zip(values, found["y"], strict=True))
    assert everything == (size == 10**6)
    assert (values == list(range(200))) == everything


def test_text_in_quotes_is_looked_at_from_its_beginning(tmp_path):
    rows = [f'{i},"a\n{i}"' for i in range(200)]
    (tmp_path / "a.csv").write_text("\n".join(['x,"a ""b"""', *rows]))
    found, everything = some_text(tmp_path / "a.csv", ",", 8, 60)
    assert (found.columns, everything) == (["x", 'a "b"'], False)
    assert found["x"].to_list() == [str(i) for i in range(len(found))]
    assert found['a "b"'].to_list() == [f"a\n{i}" for i in range(len(found))]
    assert 0 < len(found) < 20


def test_a_field_of_very_many_lines_is_cut_off_at_once(tmp_path):
    """A line at a time, this would take minutes."""
    (tmp_path / "a.csv").write_text('x,y\n1,2\n2,"' + "a\n" * 10**6 + '"\n')
    found, everything = some_text(tmp_path / "a.csv", ",", 1, 10**6)
    assert (found["x"].to_list(), everything) == (["1"], False)


def test_files_of_a_folder_are_looked_at_beside_each_other(tmp_path, monkeypatch):
    """Every year a file: names repeat between them, and in none of them."""
    monkeypatch.setattr(repeats, "ROWS_EACH", 120)
    monkeypatch.setattr(repeats, "BYTES_EACH", 4000)
    year = table(PEOPLE, individual=np.arange(PEOPLE))
    for ending in ("csv", "parquet"):
        (tmp_path / ending).mkdir()
        for i in range(20):
            path = tmp_path / ending / f"{2000 + i}.{ending}"
            year.write_csv(path) if ending == "csv" else year.write_parquet(path)
        assert told(tmp_path / ending) == ["individual"]


def test_columns_may_be_called_anything(tmp_path):
    names = ["*", "a.b", "^x.*$", 'a"b']
    for data in kinds_of(table(**dict.fromkeys(names, NAMES["panel"])), tmp_path):
        assert told(data) == names, type(data)


def test_long_texts_of_a_parquet_file_are_not_read(tmp_path, monkeypatch):
    table(note=[f"{'words ' * 20}{i % 300}" for i in range(4 * PEOPLE)]).write_parquet(tmp_path / "a.parquet")
    values, rows = repeats._Sample.values, []
    monkeypatch.setattr(
        repeats._Sample, "values", lambda self, name, first=None: rows.append(first) or values(self, name, first)
    )
    assert told(tmp_path / "a.parquet") == []
    assert rows == [repeats.GLANCE_ROWS]


def test_a_column_that_cannot_be_looked_at_stops_nobody(tmp_path):
    odd = pd.DataFrame(
        {"x": range(400), "a": [{1: 2}] * 400, "b": [1, "a"] * 200, "individual": [i // 2 for i in range(400)]}
    )
    assert told(odd) == ["individual"]
    (tmp_path / "a.csv").write_text("x,y\n1,2,3\n")
    assert told(tmp_path / "a.csv") == []
    assert told(tmp_path / "none.csv") == []


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_command_says_so(folder, run, engine):
    table(individual=NAMES["numbers"]).write_csv("a.csv")
    line = ("--column", "x", "--bounds", "x", "0", "20", "--epsilon", "2", "--bins", "15", "--engine", engine)
    code, _, err = run("optimize", "a.csv", *line, "--out", "a.eq")
    assert (code, "use --unit 'individual'" in " ".join(err.split())) == (0, True)
