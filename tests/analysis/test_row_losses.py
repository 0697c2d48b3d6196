"""Losses back to rows, against a plain loop over people."""

import json
import os
import re
import stat
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise import BadInput, Mechanism, optimize, write_losses
from equinoise.analysis import row_losses
from equinoise.analysis.end_to_end import end_to_end
from equinoise.analysis.loss_groups import Groups, Queues
from equinoise.analysis.row_losses import loss_columns
from equinoise.data import text_fields as fields
from equinoise.data.grid import Axis, Grid
from equinoise.data.rows import Rows
from equinoise.errors import NotPublicWarning
from equinoise.game.noise import axis_weights
from equinoise.mechanisms.per_instance import PerInstance
from tests.helpers.private_tables import envelope

RNG = np.random.default_rng(11)
PAY = RNG.normal(50, 12, 300).clip(0, 100).round(1)
AGE = RNG.uniform(18, 70, 300).round()
ASKED = {"epsilon": 1, "bins": 41}
ADDED = ("row", "loss", "scale", "scale_needed")


def plain(mechanism, rows):
    """Every row's (loss, *scales) in six digits, one row after the other; None for a row with a missing value."""
    axes = mechanism.grid.axes
    waiting = defaultdict(list)
    for group, (cell, people) in enumerate(zip(*mechanism.groups(), strict=True)):
        scale = ()
        if mechanism.scales:
            each = mechanism.scales[mechanism.scale_indices[group]]
            scale = tuple(s * (a.padded_high - a.padded_low) for s, a in zip(each, axes, strict=True))
        waiting[int(cell)] += [(*scale, mechanism.losses()[group])] * int(people)
    for line in waiting.values():
        line.sort(key=lambda person: person[:-1])
    found = []
    for row in rows:
        if any(value is None or not np.isfinite(value) for value in row):
            found.append(None)
            continue
        cell = 0
        for axis, value in zip(axes, row, strict=True):
            cell = cell * axis.bins + axis.cell_of(min(max(float(value), axis.low), axis.high))
        *scales, loss = waiting[cell].pop(0)
        found.append(six_digits(loss, *scales))
    assert not any(waiting.values())
    return found


def six_digits(*values):
    return tuple(float(f"{value:.6g}") for value in values)


def read(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path, separator=",\t"[path.suffix == ".tsv"])


def written(path, names=("loss", "scale")):
    frame = (
        pl.read_parquet(path)
        if path.suffix == ".parquet"
        else pl.read_csv(path, separator=",\t"[path.suffix == ".tsv"])
    )
    return [None if None in row else row for row in frame.select(names).rows()]


@pytest.fixture(scope="module")
def mechanism():
    """A mechanism of one column, pay."""
    return optimize(PAY, column="pay", bounds=(0, 100), **ASKED)


@pytest.fixture(scope="module")
def several_scales():
    """A mechanism in most of whose cells people have different scales."""
    offered = (0.05, 0.3, 3.0)
    profile = np.array([[0, 0, 3], [10, 20, 10], [55, 0, 5], [20, 5, 0], [0, 0, 2]])
    cells, scales = np.nonzero(profile)
    return PerInstance(
        grid=Grid((Axis("value", 0.0, 1.0, 5, 0.0),)), noise="laplace", scales=tuple((s,) for s in offered),
        epsilon=2.0, draws=1, begins=np.arange(len(cells) + 1), cells=cells, times=np.ones(len(cells)),
        scale_indices=scales, people=profile[cells, scales],
        factors=(axis_weights("laplace", offered, 5)[scales, cells],), settings={"public_bounds": True},
    )  # fmt: skip


def frame(pay=PAY):
    return pl.DataFrame({"id": range(len(pay)), "pay": pay, "name": [f'a,"{i}"' for i in range(len(pay))]})


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_every_kind_of_file_to_every_kind(tmp_path, mechanism, suffix, ending):
    data, out = tmp_path / f"pay{ending}", tmp_path / f"out{suffix}"
    rows = frame()
    rows.write_parquet(data) if ending == ".parquet" else rows.write_csv(data, separator=",\t"[ending == ".tsv"])
    found = write_losses(mechanism, data, out)
    assert written(out) == plain(mechanism, zip(PAY, strict=True))
    assert stat.S_IMODE(os.stat(out).st_mode) == 0o600
    assert (found.rows, found.left_out, found.columns) == (300, 0, ADDED)
    again = read(out)
    if suffix == ".parquet" and ending != ".parquet":
        assert set(again.drop(*ADDED).dtypes) == {pl.String}  # what a text file holds
        again = again.with_columns(pl.col("id").cast(pl.Int64), pl.col("pay").cast(pl.Float64))
    assert again.drop(*ADDED).equals(rows)


def test_fields_of_text_pass_through_as_they_are(tmp_path):
    text = 'pay,"a ""b",\n 10 ,"x,y",00\n50,"",+1e3\n\n9e1,,"l\nm"\nNA,é, z\n'
    (tmp_path / "a.csv").write_text(text)
    made = optimize(tmp_path / "a.csv", column="pay", bounds=(0, 100), missing="drop", epsilon=3, bins=25)
    write_losses(made, tmp_path / "a.csv", tmp_path / "b.csv")
    kept = pl.read_csv(tmp_path / "b.csv", infer_schema=False)
    assert kept.drop(*ADDED).equals(pl.read_csv(tmp_path / "a.csv", infer_schema=False))
    assert kept["loss"].is_null().to_list() == [False, False, True, False, True]


def test_rows_of_a_cell_take_scales_as_they_come_smallest_first(tmp_path, several_scales):
    middles = several_scales.grid.axis.midpoints()
    values = RNG.permutation(np.repeat(middles, [3, 40, 60, 25, 2]))
    write_losses(several_scales, values, tmp_path / "a.parquet")
    found = written(tmp_path / "a.parquet")
    assert found == plain(several_scales, zip(values, strict=True))
    second = [scale for value, (_, scale) in zip(values, found, strict=True) if value == middles[1]]
    assert second == [0.05] * 10 + [0.3] * 20 + [3.0] * 10


GROUPS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=12)


@given(GROUPS, st.randoms(), st.integers(1, 9))
def test_queues_are_lists_whatever_the_batches(groups, random, size):
    cells, people = (np.array(part) for part in zip(*sorted(groups), strict=True))
    grid = Grid((Axis("value", 0.0, 1.0, 10, 0.0),))
    made = Groups(
        grid, cells, cells, np.stack([cells, cells], axis=1), people, np.zeros(len(cells)), np.zeros((len(cells), 1)),
        np.zeros((len(cells), 1)),
    )  # fmt: skip
    rows = np.repeat(cells, people)
    random.shuffle(rows)
    lines = {int(cell): [g for g in range(len(cells)) if cells[g] == cell for _ in range(people[g])] for cell in cells}
    expected = [lines[int(cell)].pop(0) for cell in rows]
    queues, found = Queues(made, "It"), []
    for first in range(0, len(rows), size):
        found += queues.take(rows[first : first + size]).tolist()
    queues.check_empty()
    assert found == expected
    with pytest.raises(BadInput, match="more people in"):
        queues.take(rows[:1])
    with pytest.raises(BadInput, match=r"people in cell 9 .*knows none"):
        queues.take(np.array([9]))


def test_several_columns_have_a_scale_each(tmp_path):
    limits = {"age": (18, 70), "pay": (0, 100)}
    for apart in (False, True):
        data = pl.DataFrame({"pay": PAY, "id": range(300), "age": AGE})
        made = optimize(data, column=["age", "pay"], bounds=limits, epsilon=2, bins=9, scale_per_column=apart)
        out = tmp_path / f"{apart}.csv"
        found = write_losses(made, data, out)
        names = ("loss", "scale_age", "scale_pay")
        assert found.columns == ("row", *names, "scale_needed_age", "scale_needed_pay")
        assert written(out, names) == plain(made, zip(AGE, PAY, strict=True))
        assert pl.read_csv(out).columns == ["pay", "id", "age", *found.columns]
        assert len(found.to_json()["hardest"][0]["scale_needed"]) == len(found.to_json()["hardest"][0]["from"]) == 2


def test_with_differential_privacy_nobody_has_a_scale(tmp_path):
    made = envelope(PAY, column="pay", bounds=(0, 100), epsilon=2, bins=15)
    found = write_losses(made, frame(), tmp_path / "a.csv")
    assert found.columns == ("row", "loss")
    assert pl.read_csv(tmp_path / "a.csv").columns == ["id", "pay", "name", "row", "loss"]
    assert written(tmp_path / "a.csv", ("loss",)) == plain(made, zip(PAY, strict=True))
    assert found.to_json()["hardest"][0]["scale_needed"] is None


def test_one_person_alone_has_no_bound_on_their_loss(tmp_path):
    made = envelope([5.0], bounds=(0, 10), epsilon=1, bins=5)
    assert write_losses(made, [5.0], tmp_path / "a.csv").to_json()["worst_loss"] == np.inf
    assert (tmp_path / "a.csv").read_text() == "value,row,loss\n5.0,1,inf\n"


def test_dropped_rows_have_neither_and_clipped_ones_are_at_the_bound(tmp_path):
    values = [*PAY.tolist(), None, float("nan"), float("inf"), -3.0, 1e9, 0.0, 100.0]
    data = pl.DataFrame({"pay": values})
    made = optimize(data, bounds=(0, 100), missing="drop", outside="clip", **ASKED)
    found = write_losses(made, data, tmp_path / "a.parquet")
    assert written(tmp_path / "a.parquet") == plain(made, [(v,) for v in values])
    assert (found.rows, found.left_out) == (307, 3)
    kept = pl.read_parquet(tmp_path / "a.parquet")
    assert kept.select("pay").equals(data)
    assert kept[["loss", "scale"]].null_count().row(0) == (3, 3)


def frames():
    objects = pd.DataFrame({"pay": [Decimal(str(v)) for v in PAY], "id": range(300)}, index=RNG.permutation(300))
    table = pa.table({"id": range(300), "pay": PAY})
    return {
        "pandas": pd.DataFrame({"id": range(300), "pay": PAY}, index=RNG.permutation(300)),
        "decimals in pandas": objects,
        "series": pl.Series("pay", PAY),
        "eager": frame(),
        "lazy": frame().lazy(),
        "pyarrow": table,
        "array": PAY,
        "list": PAY.tolist(),
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_every_dataframe(tmp_path, mechanism, kind):
    write_losses(mechanism, frames()[kind], tmp_path / "a.parquet")
    assert written(tmp_path / "a.parquet") == plain(mechanism, zip(PAY, strict=True))
    kept = pl.read_parquet(tmp_path / "a.parquet")
    assert kept["pay"].cast(pl.Float64).to_list() == PAY.tolist()
    if "id" in kept.columns:
        assert kept["id"].to_list() == list(range(300))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_files_come_in_the_order_of_their_names_and_in_parts(tmp_path, mechanism, monkeypatch, engine, ending):
    """The largest is last; text is cut into many parts."""
    monkeypatch.setattr(fields, "PART_BYTES", 100)
    monkeypatch.setattr("equinoise.data.engines.duckdb.BATCH_ROWS", 7)
    folder, rows, seen = tmp_path / "a [1]", frame(), []
    folder.mkdir()
    for name, some in (("1", rows[:10]), ("2", rows[10:40]), ("3", rows[40:])):
        some.write_csv(folder / f"{name}.csv") if ending == ".csv" else some.write_parquet(folder / f"{name}.parquet")
    for data in (folder, str(tmp_path / f"*/*{ending}")):
        out = tmp_path / f"{len(seen)}.csv"
        write_losses(mechanism, data, out, engine=engine, progress=seen.append)
        assert written(out) == plain(mechanism, zip(PAY, strict=True))
        assert pl.read_csv(out)["id"].to_list() == list(range(300))
    assert seen[-1] == 300
    assert sorted(set(seen)) == seen[-len(set(seen)) :]


def test_types_pass_through(tmp_path, mechanism):
    rows = frame().with_columns(
        pl.col("id").cast(pl.UInt16).alias("small"),
        pl.lit("2020-02-29").str.to_date().alias("day"),
        pl.lit("2020-02-29 01:02:03").str.to_datetime().alias("time"),
        pl.col("pay").cast(pl.Decimal(10, 1)).alias("exact"),
        pl.col("name").cast(pl.Categorical).alias("kind"),
        pl.col("id").is_in([5]).alias("flag"),
        pl.concat_list("id", "id").alias("list"),
    )
    rows.write_parquet(tmp_path / "a.parquet")
    write_losses(mechanism, tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert pl.read_parquet(tmp_path / "b.parquet").drop(*ADDED).equals(rows)
    with pytest.raises(BadInput, match="Column 'list' has values of type List"):
        write_losses(mechanism, tmp_path / "a.parquet", tmp_path / "b.csv")
    write_losses(mechanism, rows.drop("list"), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[6].startswith("5,")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.parquet", "b.csv", "b.parquet"]


TWO_COLUMNS = ("row", "loss", "scale_a", "scale_b", "scale_needed_a", "scale_needed_b")


@pytest.mark.parametrize(
    ("scaled", "taken", "names"),
    [
        (["pay"], ["id", "pay"], ADDED),
        ([], ["scale"], ("row", "loss")),
        (["pay"], ["Loss"], tuple(f"{name}_2" for name in ADDED)),
        (["pay"], ["scale", "loss_2"], tuple(f"{name}_3" for name in ADDED)),
        (["a", "b"], ["scale", "pay"], TWO_COLUMNS),
        (["a", "b"], ["scale_b"], tuple(f"{name}_2" for name in TWO_COLUMNS)),
    ],
)
def test_names_that_are_taken_get_a_number(scaled, taken, names):
    assert loss_columns(scaled, taken) == names
    assert loss_columns(scaled, taken, end_to_end=True)[:-1] == names
    assert loss_columns(scaled, [*taken, "END_TO_END"], end_to_end=True)[-1] not in {*taken, "end_to_end"}


def test_losses_of_two_mechanisms_side_by_side(tmp_path, mechanism):
    other = optimize(PAY, column="pay", bounds=(0, 100), epsilon=0.5, bins=41)
    write_losses(mechanism, frame(), tmp_path / "a.csv")
    write_losses(other, tmp_path / "a.csv", tmp_path / "b.csv")
    assert written(tmp_path / "b.csv") == plain(mechanism, zip(PAY, strict=True))
    assert written(tmp_path / "b.csv", ("loss_2", "scale_2")) == plain(other, zip(PAY, strict=True))


def visits(text=False):
    """People with one to three rows each, some without a name and some without a number, in no order."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(150), rng.integers(1, 4, 150))
    pay = rng.normal(50, 12, len(who)).clip(0, 100).round()
    order = rng.permutation(len(who))
    names = [None if i % 40 == 3 else f"{' ' * (i % 2) if text else ''}p{who[i]}" for i in order]
    return pl.DataFrame({"who": names, "pay": [None if i % 50 == 7 else float(pay[i]) for i in order]})


def plain_units(mechanism, rows):
    """The same as ``plain`` where rows have names: one person after the other, by their first row."""
    axis, one, mine = mechanism.grid.axis, mechanism.settings["unit_rows"] == "one", defaultdict(list)
    for who, value in rows:
        if who is not None and value is not None:
            mine[who.strip()].append(axis.cell_of(value))
    waiting = defaultdict(list)
    for group, people in enumerate(mechanism.people.tolist()):
        bag, scale = mechanism.bags[group], mechanism.scales[mechanism.scale_indices[group]][0] * axis.range
        waiting[tuple(c for c, times in bag for _ in range(times))] += [(scale, mechanism.losses()[group])] * people
    found = {}
    for who, cells in mine.items():
        cells.sort()
        line = waiting[(cells[(len(cells) - 1) // 2],) if one else tuple(cells)]
        line.sort()
        scale, loss = line.pop(0)
        found[who] = six_digits(loss, scale)
    assert not any(waiting.values())
    return [None if who is None or value is None else found[who.strip()] for who, value in rows]


@pytest.mark.parametrize("unit_rows", ["all", "one"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", "frame"])
def test_all_rows_of_a_person_have_that_persons(tmp_path, unit_rows, ending):
    rows, data = visits(text=ending == ".csv"), tmp_path / f"a{ending}"
    if ending == "frame":
        data = rows
    else:
        rows.write_csv(data) if ending == ".csv" else rows.write_parquet(data)
    asked = {"epsilon": 2, "bins": 25, "missing": "drop", "unit": "who", "unit_rows": unit_rows}
    made = optimize(data, column="pay", bounds=(0, 100), **asked)
    found = write_losses(made, data, tmp_path / "b.parquet")
    assert written(tmp_path / "b.parquet") == plain_units(made, rows.rows())
    assert found.left_out == sum(None in row for row in rows.rows())
    assert found.to_json()["people"] == made.total_people < found.rows
    assert all(row["from"] < row["to"] for row in found.groups.hardest(99))

    lost = rows.filter(pl.col("who").str.strip_chars() != "p7")
    swapped = rows.with_columns(pl.col("pay").shuffle(seed=1))
    assert sorted(swapped["pay"].drop_nulls()) == sorted(rows["pay"].drop_nulls())
    for other in (lost, swapped):
        with pytest.raises(BadInput, match="is not what the mechanism was made from"):
            write_losses(made, other, tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()


def test_a_unit_with_one_row_each(tmp_path):
    data = pl.DataFrame({"who": range(300), "pay": PAY})
    made = optimize(data, column="pay", bounds=(0, 100), unit="who", **ASKED)
    write_losses(made, data, tmp_path / "a.csv")
    assert written(tmp_path / "a.csv") == plain(made, zip(PAY, strict=True))
    with pytest.raises(BadInput, match="has no column 'who'"):
        write_losses(made, data.drop("who"), tmp_path / "b.csv")
    with pytest.raises(BadInput, match="a person with other rows than anyone's"):
        write_losses(made, data.with_columns(pl.col("who") // 2), tmp_path / "b.csv")


CHANGES = {
    "fewer": (lambda p: p[:-1], "fewer people in"),
    "more": (lambda p: [*p, p[0]], "more people in"),
    "elsewhere": (lambda p: [*p, 0.01], "people in cell .* where the mechanism knows none"),
    "moved": (lambda p: [*p[1:], p[np.argmax(np.abs(p - p[0]))]], "people in cell"),
    "missing": (lambda p: [*p, None], "missing or infinite values in column 'pay'"),
    "infinite": (lambda p: [*p, float("inf")], "missing or infinite values in column 'pay'"),
    "outside": (lambda p: [*p, -1.0], "values outside the bounds in column 'pay'"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_other_rows_get_no_file(tmp_path, mechanism, change, suffix):
    how, said = CHANGES[change]
    data, out = pl.DataFrame({"pay": how(PAY)}), tmp_path / f"a{suffix}"
    with pytest.raises(BadInput, match=f"is not what the mechanism was made from: it has .*{said}"):
        write_losses(mechanism, data, out)
    assert list(tmp_path.iterdir()) == []


def test_text_among_numbers_gets_no_file(tmp_path, mechanism):
    (tmp_path / "a.csv").write_text("pay\n" + "\n".join(map(str, PAY)) + "\nabc\n")
    with pytest.raises(BadInput, match="it has text in column 'pay'"):
        write_losses(mechanism, tmp_path / "a.csv", tmp_path / "b.csv")
    (tmp_path / "a.csv").write_text("pay\n" + "\n".join(map(str, PAY)) + ",5\n")
    with pytest.raises(BadInput, match="more fields than its header"):
        write_losses(mechanism, tmp_path / "a.csv", tmp_path / "b.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_what_is_there_is_not_replaced_without_a_word(tmp_path, mechanism):
    data, out, file = tmp_path / "pay.csv", tmp_path / "out.csv", tmp_path / "pay.eq"
    frame().write_csv(data)
    optimize(data, column="pay", bounds=(0, 100), **ASKED).save(file)
    out.write_text("mine")
    refusals = [
        (out, {}, "exists"),
        (data, {"force": True}, "is the file being read"),
        (tmp_path / "out.txt", {}, "must end in .csv, .tsv or .parquet"),
        (tmp_path / "no" / "out.csv", {}, "There is no folder"),
    ]
    for path, more, said in refusals:
        with pytest.raises(BadInput, match=said):
            write_losses(file, data, path, **more)
    assert out.read_text() == "mine"
    with pytest.raises(BadInput, match="in the folder being read"):
        write_losses(file, tmp_path, out, force=True)
    named = tmp_path / "mechanism.csv"
    named.write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match="is the file being read"):
        write_losses(named, data, named, force=True)
    write_losses(file, data, out, force=True)
    assert written(out) == plain(Mechanism.open(file), zip(PAY, strict=True))


def test_a_failure_while_writing_leaves_what_was_there(tmp_path, mechanism, monkeypatch):
    out = tmp_path / "a.parquet"
    out.write_text("mine")

    def full(self, batch):
        raise MemoryError

    monkeypatch.setattr(row_losses._LossWriter, "add_losses", full)
    with pytest.raises(MemoryError):
        write_losses(mechanism, PAY, out, force=True)
    assert (out.read_text(), len(list(tmp_path.iterdir()))) == ("mine", 1)


def test_files_whose_other_columns_differ_are_refused(tmp_path, mechanism):
    rows = frame()
    (tmp_path / "in").mkdir()
    rows[:100].write_parquet(tmp_path / "in" / "1.parquet")
    rows[100:].with_columns(pl.col("id").cast(pl.Int32)).write_parquet(tmp_path / "in" / "2.parquet")
    with pytest.raises(BadInput, match="has 'id' of type Int32, unlike"):
        write_losses(mechanism, tmp_path / "in", tmp_path / "a.csv")


def test_a_changed_mechanism_is_not_believed(tmp_path, mechanism):
    with pytest.raises(BadInput, match=r"nothing\.eq"):
        write_losses(tmp_path / "nothing.eq", PAY, tmp_path / "a.csv")
    with pytest.raises(BadInput, match="has no column 'pay'"):
        write_losses(mechanism, pl.DataFrame({"wage": PAY}), tmp_path / "a.csv")
    with pytest.raises(BadInput, match="'engine' parameter must be left out"):
        write_losses(mechanism, PAY, tmp_path / "a.csv", engine="duckdb")


def test_the_hardest_need_the_largest_scales(mechanism):
    groups = Groups.of(mechanism)
    hardest = groups.hardest(99)
    keys = [(line["scale_needed"], line["loss"]) for line in hardest]
    assert keys == sorted(keys, reverse=True)
    assert {line["cell"]: line["people"] for line in hardest} == {
        cell: people for cell, people in enumerate(mechanism.histogram.tolist()) if people
    }
    axis = mechanism.grid.axis
    for line in hardest:
        assert line["from"] < axis.midpoints()[line["cell"]] < line["to"]
        assert sum(part["people"] for part in line["carried"]) == line["people"]
        assert max(part["loss"] for part in line["carried"]) == line["loss"]
        assert line["scale_needed"] <= min(part["scale"] for part in line["carried"])


def crowd_and_loners():
    """270 people in a crowd and three far from everyone, the rows 101, 201 and 273."""
    rng = np.random.default_rng(3)
    pay = rng.normal(1040, 120, 270).round().tolist()
    pay.insert(100, 3900.0)
    pay.insert(200, 3100.0)
    return [*pay, 20.0]


def test_who_stands_out_is_listed_by_row_and_who_hides_others_is_not(tmp_path):
    pay = crowd_and_loners()
    made = optimize(pay, bounds=(0, 4000), epsilon=1)
    found = write_losses(made, pay, tmp_path / "a.csv")
    hardest = found.hardest()
    assert sorted(row for line in hardest[:3] for row in line["rows"]) == [101, 201, 273]
    assert all(line["values"] == [pay[row - 1] for row in line["rows"]] for line in hardest)
    assert all(len(line["rows"]) + line["more_rows"] == line["people"] for line in hardest)
    crowd = [line for line in found.groups.hardest(999) if line["people"] > 20]
    assert max(part["scale"] for line in crowd for part in line["carried"]) > 10 * min(made.group_scales.min(), 99)
    assert {line["scale_needed"] for line in crowd} == {made.scales[0][0] * 4000}
    table = pl.read_csv(tmp_path / "a.csv")
    assert table["row"].to_list() == list(range(1, 274))
    assert table["value"].to_list() == pay
    assert found.to_json()["people_standing_out"] == int((table["scale_needed"] > made.scales[0][0] * 4000).sum()) >= 3
    assert not found.stands_out[found.groups.people > 20].any()
    hides = found.groups.hides_others
    assert found.to_json()["people_hiding_others"] == int((table["scale"] > table["scale_needed"]).sum()) > 0
    assert hides.any()
    assert not hides.all()


def test_a_lone_middle_value_ranks_above_outliers_who_stand_close_together(tmp_path):
    crowd = np.random.default_rng(3).normal(1040, 120, 270).round().tolist()
    pay = [*crowd, 2000.0, 3900.0, 3905.0, 3910.0, 3915.0, 3920.0]
    found = write_losses(optimize(pay, bounds=(0, 4000), epsilon=1), pay, tmp_path / "a.csv")
    needed = {value: line["scale_needed"] for line in found.hardest() for value in line["values"]}
    assert needed[2000.0] > 100 * needed[3910.0]


@pytest.mark.parametrize("size", [10_000, 7])
def test_all_who_stand_out_are_listed_if_wanted(tmp_path, monkeypatch, size):
    """More than ten cells of them, in one batch of rows or in many: the same rows as in the file."""
    lone = [1000.0 * number for number in range(6, 40, 2)]
    pay = [*np.random.default_rng(3).normal(2000, 60, 400).round().tolist(), *lone]
    made = optimize(pay, bounds=(0, 40000), epsilon=1, bins=200)
    stream = Rows.stream

    def small(self, frame):
        for batch in stream(self, frame):
            yield from batch.iter_slices(size)
            yield batch.head(0)

    monkeypatch.setattr(Rows, "stream", small)
    few, found = (write_losses(made, pay, tmp_path / f"{v}.csv", verbose=v) for v in (False, True))
    least = made.scales[0][0] * 40000
    table = pl.read_csv(tmp_path / "True.csv").filter(pl.col("scale_needed") > least * 1.00001)
    listed = [line for line in found.hardest() if line["scale_needed"] > least]
    assert len(few.hardest()) == 10 < len(listed) == found.lines_standing_out == few.lines_standing_out
    assert found.hardest()[:10] == few.hardest()
    assert sum(line["people"] for line in listed) == len(table) == found.to_json()["people_standing_out"]
    rows = table.sort("scale_needed", descending=True)["scale_needed"].to_list()
    assert rows == [six_digits(line["scale_needed"])[0] for line in listed for _ in range(line["people"])]
    assert all(line["values"] == [pay[row - 1] for row in line["rows"]] for line in listed)
    assert all(len(line["rows"]) + line["more_rows"] == line["people"] for line in listed)


def test_the_scale_needed_is_the_least_that_protects_one_person_alone(mechanism):
    """Against a plain loop: one person's row exchanged for another, everyone else's as they are."""
    game, groups = mechanism.game(), Groups.of(mechanism)
    cells, scales = mechanism.cells.tolist(), mechanism.scale_indices.tolist()
    width = mechanism.grid.axis.range
    rows = {(c, v): axis_weights(mechanism.noise, [s for (s,) in mechanism.scales], 41)[v, c]
            for c in set(cells) for v in range(len(mechanism.scales))}  # fmt: skip
    sums = sum(n * rows[c, v].astype(float) for c, v, n in zip(cells, scales, mechanism.people.tolist(), strict=True))
    for line in groups.hardest(99):
        mine = min(v for c, v in zip(cells, scales, strict=True) if c == line["cell"])
        for v in range(mine + 1):
            row = rows[line["cell"], v].astype(float)
            then = sums - rows[line["cell"], mine] + row
            ratio = np.abs(np.log(then / game.people) - np.log((then - row) / (game.people - 1))).max()
            if ratio <= 1 - 1e-9:
                break
        assert line["scale_needed"] == pytest.approx(mechanism.scales[v][0] * width)


def test_losses_end_to_end_are_those_of_an_audit(tmp_path):
    pay = crowd_and_loners()
    made = optimize(pay, bounds=(0, 4000), epsilon=1, bins=40)
    notes = []
    found = write_losses(made, pay, tmp_path / "a.csv", end_to_end=True, measuring=notes.append)
    measured = end_to_end(made)
    assert [state.done for state in notes if state.done] == sorted(state.done for state in notes if state.done) != []
    hardest = found.hardest()
    assert [line["end_to_end"] for line in hardest] == sorted(measured.losses.tolist(), reverse=True)[:10]
    known = dict(zip(measured.cells.tolist(), measured.losses.tolist(), strict=True))
    table = pl.read_csv(tmp_path / "a.csv")
    expected = [six_digits(known[made.grid.axis.cell_of(value)])[0] for value in pay]
    assert table["end_to_end"].to_list() == expected
    assert found.to_json()["end_to_end"] == measured.sentence


def test_losses_end_to_end_of_people_with_several_rows(tmp_path):
    rows = visits().drop_nulls()
    made = optimize(rows, column="pay", bounds=(0, 100), epsilon=3, bins=6, unit="who")
    write_losses(made, rows, tmp_path / "a.parquet", end_to_end=True)
    measured = end_to_end(made)
    known = {tuple(bag): loss for bag, loss in zip(made.players.bags, measured.losses.tolist(), strict=True)}
    mine = defaultdict(list)
    for who, value in rows.rows():
        mine[who].append(made.grid.axis.cell_of(value))
    found = pl.read_parquet(tmp_path / "a.parquet")
    for who, loss in zip(found["who"], found["end_to_end"], strict=True):
        bag = tuple((cell, mine[who].count(cell)) for cell in sorted(set(mine[who])))
        assert loss == six_digits(known[bag])[0]


def test_other_people_are_refused_before_anything_is_measured(tmp_path, mechanism):
    told = []
    with pytest.raises(BadInput, match="is not what the mechanism was made from: it has other people"):
        write_losses(mechanism, PAY[:-1], tmp_path / "a.csv", end_to_end=True, measuring=told.append)
    assert not told
    assert not list(tmp_path.iterdir())


def test_losses_end_to_end_with_differential_privacy_are_those_of_a_draw(tmp_path):
    made = envelope(PAY, column="pay", bounds=(0, 100), epsilon=2, bins=15)
    found = write_losses(made, frame(), tmp_path / "a.parquet", end_to_end=True)
    table = pl.read_parquet(tmp_path / "a.parquet")
    assert found.columns == ("row", "loss", "end_to_end")
    assert table["loss"].to_list() == table["end_to_end"].to_list()
    assert len(found.hardest()) == min(10, found.lines)


def test_what_an_audit_cannot_measure_is_refused_before_anything_is_written(tmp_path):
    with pytest.warns(NotPublicWarning):
        made = optimize(PAY, epsilon=1, bins=41)
    with pytest.raises(BadInput, match="bounds of this mechanism were read off the data"):
        write_losses(made, PAY, tmp_path / "a.csv", end_to_end=True)
    assert not list(tmp_path.iterdir())


def test_the_screen_says_that_it_lists_ten_of_more_cells_and_lists_all_if_wanted(run, folder):
    lone = [1000.0 * number for number in range(6, 40, 2)]
    crowd = np.random.default_rng(3).normal(2000, 60, 400).round().tolist()
    pl.DataFrame({"wage": [*crowd, *lone]}).write_csv("wage.csv")
    words = ("--bounds", "wage", 0, 40000, "--epsilon", 1, "--bins", 200, "--out", "wage.eq")
    assert run("optimize", "wage.csv", *words)[0] == 0
    status, out, _ = run("losses", "wage.eq", "wage.csv", "--out", "few.csv")
    assert status == 0
    assert "Hardest to protect first: 10 of " in out
    many = int(re.search(r"The list has 10 of their (\d+) cells; --verbose lists all\.", out)[1])
    assert many > 10
    status, out, _ = run("losses", "wage.eq", "wage.csv", "--out", "all.csv", "--verbose")
    assert status == 0
    assert f"Hardest to protect first: {many} of " in out
    assert "--verbose lists all" not in out


def test_the_command(run, folder):
    optimizing = ["optimize", "pay.csv", "--bounds", "pay", "0", "100", "--epsilon", "1", "--bins", "41"]
    assert run(*optimizing, "--out", "pay.eq")[0] == 0
    status, out, err = run("losses", "pay.eq", "pay.csv", "--out", "losses.csv")
    assert status == 0, err
    assert "Hardest to protect first: " in out
    assert " of 300 people need more than the least scale on offer, 0." in out
    assert " in units of 'pay'. " in out
    assert "Sorted by 'scale_needed', largest first, the file begins with them." in out
    assert "Hard to protect: few people are near" in out
    assert "people in the cell" in out
    assert "which of them carries it is arbitrary" in out
    assert "300 rows, in the order of the data, with the new columns 'row', 'loss', 'scale' and 'scale_needed'" in out
    assert "as secret as the data" in out
    status, out, err = run("losses", "pay.eq", "pay.csv", "--out", "losses.parquet", "--engine", "duckdb", "--json")
    told = json.loads(out)
    assert (status, err, told["rows"], told["people"], told["left_out"]) == (0, "", 300, 300, 0)
    assert told["columns"] == list(ADDED)
    assert told["worst_loss"] <= told["epsilon"] == 1
    assert told["end_to_end"] is None
    assert set(told["hardest"][0]) == {
        "cell", "from", "to", "people", "scale_needed", "carried", "loss", "rows", "values", "more_rows"
    }  # fmt: skip
    assert "as secret as the data" in told["note"]
    both = [pl.read_csv("losses.csv"), pl.read_parquet("losses.parquet").select(ADDED)]
    assert both[0].select(ADDED).equals(both[1])
    assert both[0]["loss"].max() == six_digits(told["worst_loss"])[0]

    status, out, _ = run("losses", "pay.eq", "pay.csv", "--out", "again.csv", "--end-to-end")
    assert (status, "end to end" in out, "sorted by the loss end to end" in out) == (0, True, True)
    assert "Measured for this dataset, end to end" in out
    assert re.search(r"\(\d+ of \d+ in the cell\)", out)
    assert pl.read_csv("again.csv").columns[-1] == "end_to_end"

    assert run("losses", "pay.eq", "pay.csv", "--out", "losses.csv")[0] == 2
    assert run("losses", "pay.eq", "pay.csv", "--out", "losses.csv", "--force")[0] == 0
    (folder / "other.csv").write_text("pay\n50\n")
    status, out, _ = run("losses", "pay.eq", "other.csv", "--out", "no.csv", "--json")
    assert (status, "is not what the mechanism was made from" in json.loads(out)["error"]) == (2, True)
    assert not (folder / "no.csv").exists()
    status, out, _ = run("losses", "--help")
    assert (status, "smallest scale first" in " ".join(out.split())) == (0, True)


def test_the_list_has_those_who_stand_out_or_says_that_nobody_does(run, folder):
    for name, pay in (("few", crowd_and_loners()), ("all", [100.0] * 50 + [300.0] * 50)):
        pl.DataFrame({"pay": pay}).write_csv(f"{name}.csv")
        asked = ("--bounds", "pay", 0, 4000, "--epsilon", 1, "--bins", 40, "--out", f"{name}.eq")
        assert run("optimize", f"{name}.csv", *asked)[0] == 0
        status, out, _ = run("losses", f"{name}.eq", f"{name}.csv", "--out", f"{name} losses.csv")
        assert status == 0
        if name == "all":
            assert "Nobody needs more than the least scale on offer" in out
            assert "Hardest to protect first: 2 of 2 cells" in out
        else:
            found = pl.read_csv("few losses.csv")
            need = found.filter(pl.col("scale_needed") > pl.col("scale_needed").min())["pay"].n_unique()
            listed = [line for line in out.splitlines() if line.startswith("│")]
            assert 3 <= len(listed) <= min(need, 10)
            assert all(f" {row} │" in out for row in (101, 201, 273))


def test_nobody_is_listed_where_a_theorem_bounds_everyone_alike(run, folder):
    asked = ("--bounds", "pay", 0, 100, "--bins", 10, "--epsilon", 1, "--rows", 5, "--method", "pay-once")
    assert run("synthesize", "pay.csv", *asked, "--out", "rows.csv")[0] == 0
    status, out, err = run("losses", "rows.eq", "pay.csv", "--out", "losses.csv")
    assert (status, err) == (0, "")
    assert "Nobody is harder to protect than others" in out
    assert "Hardest" not in out


def test_the_name_is_public():
    assert equinoise.write_losses is write_losses
