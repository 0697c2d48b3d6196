"""Many columns: rows drawn from conditional tables, what is saved of them, and what their certificate refuses."""

import itertools
import json
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import stats

import equinoise
from equinoise import BadInput, Mechanism
from equinoise.analysis.audit import audit
from equinoise.errors import EquinoiseError
from equinoise.mechanisms.draws import draw_columns
from equinoise.mechanisms.model_table import TOTAL, whole_rows
from equinoise.privacy.model_certificate import certify_model
from equinoise.statistics.baselines import smooth_counts
from equinoise.statistics.metrics import distances, marginals_of
from equinoise.synthesis import opendp_filter
from tests.conftest import seeded_bytes
from tests.helpers.forged_files import forge
from tests.helpers.many_columns import NUMBERS, SCHEMA, made_by_hand, table

TABLES = [(1, (), np.array([1, 3])), (0, (1,), np.array([[2, 1, 1], [1, 0, 3]])), (2, (0, 1), None)]
TABLES[2] = (2, (0, 1), np.array([[[1, 3], [2, 2]], [[3, 1], [4, 0]], [[0, 4], [1, 3]]]))


@pytest.fixture
def many():
    """A mechanism with 3 x 12 x 13 x 12 x 12 x 12 x 2 x 4 cells, more than are held."""
    return made_by_hand()


def test_draws_are_as_likely_as_the_product_of_their_weights_exactly():
    """All that the random source may say, once each: three numbers from 0 to 3."""
    every = [np.array(part) for part in zip(*itertools.product(range(4), repeat=3), strict=True)]
    calls = iter(every)
    (rows,) = draw_columns(TABLES, 4, 64, lambda count: next(calls).astype("<u8").tobytes())
    for cell in itertools.product(range(3), range(2), range(2)):
        likely = Fraction(1)
        for column, parents, weights in TABLES:
            likely *= Fraction(int(weights[tuple(cell[one] for one in (*parents, column))]), 4)
        assert Fraction(int((rows == cell).all(axis=1).sum()), 64) == likely


def test_many_draws_follow_the_tables_and_not_others():
    def p_value(tables, counts):
        joint = np.einsum("b,ba,abc->abc", *(weights / 4 for _, _, weights in tables))
        seen = joint > 0
        if counts[~seen].any():
            return 0.0
        return stats.chisquare(counts[seen], joint[seen] * counts.sum()).pvalue

    rows = np.concatenate(list(draw_columns(TABLES, 4, 300_000, seeded_bytes(3))))
    counts = np.zeros((3, 2, 2))
    np.add.at(counts, tuple(rows.T), 1)
    assert p_value(TABLES, counts) > 1e-9
    swapped = [TABLES[0], (0, (1,), TABLES[1][2][::-1]), TABLES[2]]
    assert p_value(swapped, counts) < 1e-9


def test_tables_that_do_not_sum_to_the_total_are_not_drawn_from():
    with pytest.raises(ValueError, match="total"):
        next(draw_columns(TABLES, 8, 1))


def test_whole_rows_are_the_probabilities_to_a_trillionth_and_never_zero():
    probabilities = np.random.default_rng(2).dirichlet(np.full(30, 0.1), size=(4, 5))
    probabilities[0, 0] = np.eye(30)[7]
    whole = whole_rows(probabilities)
    assert whole.min() >= 1
    assert (whole.sum(axis=-1) == TOTAL).all()
    assert np.abs(whole / TOTAL - probabilities).max() < 31 / TOTAL


def test_saved_opened_drawn_from_and_audited(many, tmp_path):
    assert not many.joint_held
    many.save(tmp_path / "m.eq")
    opened = Mechanism.open(tmp_path / "m.eq")
    assert opened.to_json() == many.to_json()
    assert opened.promise == many.promise
    assert "the proof is that of OpenDP and AIM (McKenna" in opened.promise.in_one_line
    assert opened.rows_alike == 300
    rows = opened.sample(2000)
    assert rows.columns == list(SCHEMA["columns"])
    for name, public in NUMBERS.items():
        low, high = public["bounds"]
        assert low <= rows[name].min() <= rows[name].max() <= high
    assert set(rows["ward"]) <= {"elective", "emergency", "other"}
    assert rows["stay"].null_count() > 0
    assert audit(tmp_path / "m.eq").passed
    assert not audit(tmp_path / "m.eq", table(seed=8)).passed


def test_what_is_told_of_two_columns_is_of_the_rows_and_of_the_tables(many):
    data = table()
    wards = data["ward"].value_counts(sort=True)
    found = many.statistics()["columns"]["ward"]["data"]["shares"]
    assert found == pytest.approx(dict(zip(wards["ward"], (wards["count"] / 300).to_list(), strict=True)))
    drawn = np.concatenate(list(many._draw(200_000, seeded_bytes(1))))
    pair = many.output_marginal(0, 7)
    counts = np.zeros(pair.shape)
    np.add.at(counts, (drawn[:, 0], drawn[:, 7]), 1)
    assert stats.chisquare(counts.ravel(), 200_000 * pair.ravel()).pvalue > 1e-9
    p = many.original_marginal(0, 7)
    assert 0.5 * np.abs(p - pair).sum() <= many.metrics()["largest_tv_2way"]
    with pytest.raises(BadInput, match="too many to hold"):
        _ = many.original


def test_about_as_many_rows_as_were_counted_are_by_noisy_counts(many):
    assert [replace(many, noisy_rows=noisy, ledger=None).rows_alike for noisy in (77.4, 0.2, -5.0)] == [77, 1, 1]


def test_every_command_has_an_answer(many, run, folder):
    data = table()
    data.write_csv("ward.csv")
    many.save("m.eq")
    for command in ("show", "cost", "audit", "sample"):
        for form in ((), ("--json",)):
            status, out, err = run(command, "m.eq", *form)
            assert (status, "Traceback" in err) == (0, False), (command, err)
            assert "the proof is that of OpenDP and AIM" in (out + err).replace("The proof", "the proof")
    status, out, _ = run("audit", "m.eq", "--data", "ward.csv")
    assert status == 0
    assert out.splitlines()[-2:] == [
        "Not checked: that the model is private, which is proven by OpenDP and AIM (McKenna, Mullins, Sheldon, Miklau "
        "2022).",
        "Audit passed.",
    ]
    assert run("losses", "m.eq", "ward.csv", "--out", "l.csv")[0] == 0
    for public in ((), ("--public",)):
        status, out, err = run("report", "m.eq", *public, "--out", f"r{len(public)}.html")
        assert (status, err) == (0, "")
    assert all("What each person risks" in (folder / f"r{n}.html").read_text() for n in (0, 1))
    status, out, err = run("audit", "m.eq", "--data", "ward.csv", "--end-to-end")
    assert status == 2
    assert "the theorem of OpenDP and AIM" in err


SOUND = {
    "sizes": [1, 2], "rows_per_person": 2, "bins": (3, 2), "parents": [(1, ()), (0, (1,))],
    "tables": [[1, 3], [2, 1, 1, 1, 1, 2]], "total": 4, "proven": 1.0, "epsilon": 1.0, "delta": 0.0,
}  # fmt: skip
FALSE = {
    "more than epsilon": {"proven": float(np.nextafter(1, 2))},
    "no epsilon": {"epsilon": float("inf")},
    "no delta": {"delta": 1.0},
    "more rows": {"sizes": [1, 3]},
    "not every column": {"parents": [(1, ()), (1, ())]},
    "drawn after it": {"parents": [(1, (0,)), (0, ())]},
    "belong together": {"tables": [[1, 3], [2, 1, 1]]},
    "some row could not come out": {"tables": [[0, 4], [2, 1, 1, 1, 1, 2]]},
    "do not sum": {"tables": [[1, 3], [2, 1, 1, 1, 1, 3]]},
    "a possible size": {"total": 2**62},
    "do not sum to what they are drawn from": {"tables": [[1, 3], [2, 1, 1, 1, 1, 1]]},
}


@pytest.mark.parametrize("failure", FALSE)
def test_the_certificate_refuses_what_is_not_so(failure):
    assert certify_model(**SOUND).holds
    found = certify_model(**{**SOUND, **FALSE[failure]})
    assert not found.holds
    assert failure in found.failure


FORGED = {
    "certificate": [
        {"proven": 1.5}, {"weights": lambda weights: weights + np.eye(1, len(weights), dtype=np.int64)[0]},
        {"weights": lambda weights: np.where(weights == weights.min(), 0, weights)},
        {"change": lambda document: document["drawn"].reverse()},
    ],
    "damaged": [
        {"draws": 5}, {"rows_per_person": 2}, {"change": lambda document: document["drawn"].pop()},
        {"change": lambda document: document["drawn"][1]["parents"].append(90)}, {"budget": {"delta": 1e-6}},
        {"change": lambda document: document["axes"].pop()}, {"solver": {"name": "best"}}, {"delta": 0.1},
        {"change": lambda document: document["drawn"][1].update(column=document["drawn"][0]["column"])},
        {"weights": lambda weights: weights[:-1]},
        {"change": lambda document: document["cells"].__setitem__(-1, 2**62)},
    ],
    "more than its budget": [{"budget": {"epsilon": 2.0}, "settings": {"epsilon": 2.0}}],
}  # fmt: skip


@pytest.mark.parametrize(("said", "change"), [(said, change) for said, all_of in FORGED.items() for change in all_of])
def test_a_forged_file_is_refused(many, tmp_path, said, change):
    many.save(tmp_path / "m.eq")
    forge(tmp_path / "m.eq", **change)
    with pytest.raises(BadInput, match=said):
        Mechanism.open(tmp_path / "m.eq")


def test_a_missing_extra_is_named_and_nothing_is_saved_or_charged(monkeypatch, run, folder):
    table().write_csv("ward.csv")
    (folder / "s.toml").write_text(equinoise.Schema.of(SCHEMA).to_toml())
    monkeypatch.setitem(sys.modules, "mbi", None)
    asked = ("synthesize", "ward.csv", "--schema", "s.toml", "--epsilon", 1, "--rows", 20, "--out", "r.csv")
    status, out, err = run(*asked, "--method", "aim")
    assert (status, out) == (2, "")
    assert "pip install 'equinoise[aim]'" in err
    explicit = {name: {**public, "bins": 30} for name, public in NUMBERS.items()}
    (folder / "s.toml").write_text(equinoise.Schema.of({"columns": {**SCHEMA["columns"], **explicit}}).to_toml())
    status, out, err = run(*asked)
    assert (status, out) == (2, "")
    assert "joint cells are too many to count, so --method aim is taken. AIM and MST need" in err
    assert not {path.name for path in folder.iterdir()} & {"r.csv", "r.eq"}


def test_parts_that_have_moved_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(opendp_filter, "PARTS", {"math": ("sqrt", "no_such_part")})
    with pytest.raises(EquinoiseError, match=r"no math\.no_such_part, which AIM and MST need"):
        opendp_filter.check_parts()


def test_a_model_that_cannot_be_made_leaves_nothing_behind(monkeypatch, tmp_path):
    def fails(counts, request):
        assert (tmp_path / "m.eq").read_text().startswith("equinoise ")  # charged before anything is drawn
        raise EquinoiseError("OpenDP could not make the model (planted). Nothing was released.")

    monkeypatch.setattr("equinoise.verbs.table_request.check_parts", dict)
    monkeypatch.setattr("equinoise.mechanisms.model_table.make_model", fails)
    with pytest.raises(EquinoiseError, match="planted"):
        equinoise.synthesize(table(), SCHEMA, epsilon=1, rows=5, method="aim", save=tmp_path / "m.eq")
    assert list(tmp_path.iterdir()) == []


def test_aim_is_taken_where_the_schema_makes_more_than_a_million_cells(monkeypatch):
    explicit = {name: {**public, "bins": 30} for name, public in NUMBERS.items()}
    grids = {}

    def keep(grid):
        grids["taken"] = grid
        raise EquinoiseError("far enough")

    monkeypatch.setattr("equinoise.verbs.table_request.check_parts", dict)
    monkeypatch.setattr("equinoise.verbs.table_request.check_model_grid", keep)
    for columns in ({**SCHEMA["columns"], **explicit}, {**SCHEMA["columns"], **explicit, "pulse": NUMBERS["pulse"]}):
        with pytest.raises(EquinoiseError, match="far enough"):
            equinoise.synthesize(table(), {"columns": columns}, epsilon=1, rows=5)
        assert grids.pop("taken").cells > 10**6
    assert equinoise.synthesize(table(), SCHEMA, epsilon=1, rows=50).mechanism.method == "pay-once"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"age": NUMBERS["age"]}, "two columns or more"),
        ({f"c{i}": {"bounds": [0, 1], "bins": 1000} for i in range(7)}, "combinations"),
        ({f"c{i}": {"bounds": [0, 1], "bins": 5000} for i in range(3)}, "Every two columns together"),
    ],
)
def test_columns_that_aim_cannot_take_are_refused_before_counting(monkeypatch, columns, said):
    monkeypatch.setattr("equinoise.verbs.table_request.check_parts", dict)
    data = pl.DataFrame({name: [0.5, 20.0] for name in columns})
    with pytest.raises(BadInput, match=said):
        equinoise.synthesize(data, {"columns": columns}, epsilon=1, rows=5, method="aim")


def test_json_has_all_that_rows_are_drawn_by(many):
    found = json.loads(json.dumps(many.to_json()))
    assert [one["column"] for one in found["drawn"]] == [7, 6, 5, 4, 3, 2, 1, 0]
    for one, weights in zip(found["drawn"], found["weights"], strict=True):
        assert np.asarray(weights).shape == tuple(many.grid.shape[c] for c in (*one["parents"], one["column"]))


def test_marginals_without_the_joint_are_those_of_the_joint(monkeypatch):
    """On a grid that can be held, both ways: the data's, the draw's, and those of what it is held against."""
    small = made_by_hand(bins=3)
    assert small.joint_held
    axes, p = small.grid.axes, small.original
    smoothed = smooth_counts(small.histogram, 1.0, np.arange(small.grid.cells))
    joint = {
        "original_marginal": p, "output_marginal": small.output, "laplace_marginal": small.laplace_output(),
        "smoothing_marginal": smoothed / smoothed.sum(),
    }  # fmt: skip
    monkeypatch.setattr(type(small), "joint_held", False)
    for name, whole in joint.items():
        for columns in [(3,), (0, 2), (1, 7)]:
            wanted = marginals_of(whole, axes)(*columns)
            np.testing.assert_allclose(getattr(small, name)(*columns), wanted, rtol=1e-9, err_msg=name)
    pairs = list(itertools.combinations(range(8), 2))
    apart = [np.abs(marginals_of(p - small._output, axes)(*pair)).sum() / 2 for pair in pairs]
    found = small.metrics()
    assert (found["tv_2way"], found["largest_tv_2way"]) == pytest.approx((np.mean(apart), max(apart)))
    assert found["columns"]["ward"] == pytest.approx(distances(p, small._output, axes)["columns"]["ward"])
