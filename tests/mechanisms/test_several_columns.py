import numpy as np
import polars as pl
import pytest
from scipy import stats

import equinoise
from equinoise import BadInput, Mechanism, NotPublicWarning, PromiseNotMet
from equinoise.analysis.audit import audit
from tests.conftest import seeded_bytes
from tests.helpers.forged_files import forge

BOUNDS = {"a": (0, 100), "b": (-5, 5)}


@pytest.fixture(scope="module")
def table():
    """A table of 400 people with two columns that go together, and a name for each."""
    random = np.random.default_rng(5)
    a = random.normal(50, 14, 400).clip(0, 100)
    return pl.DataFrame({"a": a, "b": ((a - 50) / 20 + random.normal(0, 0.8, 400)).clip(-5, 5), "id": range(400)})


@pytest.fixture(scope="module")
def mechanism(table):
    """A mechanism of both columns that allows a million draws."""
    return joint(table, draws=10**6)


def joint(people, **settings):
    asked = {"column": ["a", "b"], "bounds": BOUNDS, "epsilon": 1, "bins": 15, "restarts": 2}
    return equinoise.optimize(people, **{**asked, **settings})


def test_one_draw_is_a_row_and_every_column_keeps_its_people(mechanism, table):
    rows = mechanism.sample(3)
    assert rows.shape == (3, 2)
    assert (
        mechanism.histogram.reshape(15, 15).sum(axis=1).tolist()
        == np.bincount([mechanism.grid.axes[0].cell_of(v) for v in table["a"]], minlength=15).tolist()
    )


def test_draws_are_whole_rows_of_the_joint_distribution(mechanism):
    rows = mechanism.sample(60_000, source=seeded_bytes(8))
    where = [np.searchsorted(axis.midpoints(), rows[:, i] - 1e-9) for i, axis in enumerate(mechanism.grid.axes)]
    seen = np.bincount(where[0] * 15 + where[1], minlength=225)
    expected = mechanism.output * len(rows)
    apart = np.outer(*(mechanism.output.reshape(15, 15).sum(axis=1 - i) for i in (0, 1))).ravel() * len(rows)
    for wanted, fits in ((expected, True), (apart, False)):  # columns drawn apart would lose the relation
        big = wanted > 10
        observed, hoped = np.append(seen[big], seen[~big].sum()), np.append(wanted[big], wanted[~big].sum())
        assert (stats.chisquare(observed, hoped).pvalue > 1e-9) == fits


def test_metrics_are_joint_and_by_column(mechanism):
    found = mechanism.metrics()
    assert set(found["columns"]) == {"a", "b"}
    assert found["kl"] >= max(found["columns"][name]["kl"] for name in "ab") - 1e-12
    assert 0 <= found["correlation_loss"] < mechanism.baseline()["correlation_loss"]
    assert found["kl"] < mechanism.baseline()["kl"]


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": lambda weights: np.where(weights > 2**20, weights + 1, weights)},
        {"epsilon": 0.01},
        {"scales": [[1.0], [2.0]]},
        {"scales": [[1.0, 1.0, 1.0]] * 8},
        {"bags": [[[10**6, 1]]]},
        {"change": lambda document: document["bags"].append([[225, 1]])},
        {"delta": 0.5},
        {"kind": "end-to-end"},
    ],
)
def test_a_forged_file_is_refused(table, tmp_path, changes):
    joint(table).save(tmp_path / "j.eq")
    forge(tmp_path / "j.eq")
    assert Mechanism.open(tmp_path / "j.eq").total_people == 400
    forge(tmp_path / "j.eq", **changes)
    with pytest.raises(BadInput, match=r"damaged|tampered"):
        Mechanism.open(tmp_path / "j.eq")


def test_rows_whose_sums_differ_by_axis_are_drawn_as_they_are_certified(table, tmp_path):
    """Twice the one axis and half the other has the same product: draws must not take the usual total for granted."""
    joint(table, draws=10**6).save(tmp_path / "j.eq")

    def shifted(weights):
        rows = weights.reshape(-1, 30).copy()
        rows[:, :15] *= 2
        rows[:, 15:] //= 2
        rows[np.arange(len(rows)), 15 + rows[:, 15:].argmax(axis=1)] += 2**25 - rows[:, 15:].sum(axis=1)
        return rows

    forge(tmp_path / "j.eq", weights=shifted)
    made = Mechanism.read(tmp_path / "j.eq")
    if made.certificate().holds:
        seen = np.bincount(np.concatenate(list(made._draw(20_000, seeded_bytes(1))))[:, 1], minlength=15)
        wanted = made.output.reshape(15, 15).sum(axis=0) * 20_000
        big = wanted > 10
        assert stats.chisquare(seen[big], wanted[big] * seen[big].sum() / wanted[big].sum()).pvalue > 1e-9
    assert not audit(tmp_path / "j.eq").passed


def test_many_draws_within_a_budget(table, tmp_path):
    made = joint(table, delta=1e-6, draws=20)
    assert made.epsilon < 1
    assert made.cost(20) <= 1
    made.save(tmp_path / "j.eq")
    assert "20 draws are allowed and cost at most 1 with delta = 1e-06" in str(
        Mechanism.open(tmp_path / "j.eq").promise
    )


def test_one_scale_per_column_is_never_worse_than_one_for_all(table):
    shared, apart = joint(table), joint(table, scale_per_column=True)
    assert apart.certificate().holds
    assert apart.metrics()["kl"] <= shared.metrics()["kl"] + 1e-12
    assert len(apart.scales) == 64


def test_weights_are_as_named_by_the_scale_of_each_column(table, tmp_path):
    made = joint(table, scale_per_column=True, scales={"a": [20, 900], "b": [0.5, 90]})
    used = [made.scales[index] for index in np.unique(made.scale_indices)]
    assert all(a != b for a, b in used)
    assert made.weights_as_named
    made.save(tmp_path / "j.eq")
    for choose in (lambda a, b: (b, a), lambda a, b: (a, a), lambda a, b: (b, b)):
        forge(tmp_path / "j.eq", scales=[choose(*scale) for scale in made.scales])
        assert not Mechanism.read(tmp_path / "j.eq").weights_as_named


def test_three_columns_and_scales_of_ones_own(table):
    three = table.with_columns(c=pl.col("id") % 7)
    made = joint(three, column=["a", "b", "c"], bounds={**BOUNDS, "c": (0, 6)}, bins=9, epsilon=2)
    assert made.certificate().holds
    assert made.sample(1).shape == (1, 3)
    own = joint(table, scales={"a": [1, 20, 900], "b": [0.1, 2, 90]})
    assert own.scales[-1] == pytest.approx([900 / own.grid.axes[0].range, 90 / own.grid.axes[1].range])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"column": ["a", "a"], "bounds": {"a": (0, 100)}}, "named twice"),
        ({"column": ["a", "none"], "bounds": {"a": (0, 100)}}, "no column 'none'"),
        ({"bounds": (0, 1)}, "must be a dict"),
        ({"bounds": {**BOUNDS, "z": (0, 1)}}, "column 'z'"),
        ({"bins": 3000}, "9,000,000 cells .* at most 2,048 bins"),
        ({"utility": "close"}, "utility"),
        ({"scales": "adaptive", "scale_per_column": True}, "daptive scales"),
        ({"scales": [1, 2]}, "a list for every column"),
        ({"scales": {"a": [1]}}, "none for column 'b'"),
        (
            {"column": "a", "bounds": (0, 100), "scale_per_column": True},
            "_column' parameter must be left out",
        ),
        ({"column": "a", "bounds": (0, 100), "scales": {"a": [1]}}, "one column"),
    ],
)
def test_what_does_not_go_together_is_refused(table, settings, said):
    with pytest.raises(BadInput, match=said):
        joint(table, **settings)


def test_scales_that_protect_not_everyone_are_refused(table):
    with pytest.raises(PromiseNotMet, match="people are left unprotected"):
        joint(table, scales={"a": [0.1, 0.2], "b": [0.1, 0.2]}, bins=61)


def test_bounds_of_one_column_only_are_not_public(table):
    with pytest.warns(NotPublicWarning, match="column 'b'"):
        made = joint(table, bounds={"a": (0, 100)})
    assert "read off the data" in str(made.promise)


def test_the_summary_tells_the_restarts_that_were_asked_for(table):
    assert joint(table, scale_per_column=True, restarts=3).solver["restarts"] == 3
