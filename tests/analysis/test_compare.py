import doctest
import itertools
import math
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import equinoise
from equinoise import BadInput, NotPublicWarning
from equinoise.analysis import compare as comparison
from equinoise.analysis import methods
from equinoise.analysis.method_row import MODELS, PROMISES, promise_of
from equinoise.cli import demo
from equinoise.data.players import Players
from equinoise.statistics import baselines, metrics
from equinoise.synthesis import opendp_models
from tests.helpers.private_tables import envelope

FAST = {"restarts": 2, "time_limit": 1.0, "bins": 41}
METHODS = [method for method in PROMISES if method != "genetic"]
OF_ONE_COLUMN = [method for method in METHODS if method not in MODELS]


@pytest.fixture(scope="module", autouse=True)
def quick_models():
    """Instead of AIM and MST, which are an extra and take seconds: columns that do not depend on each other."""

    def make(counts, request):
        model = np.ones(1)
        for column in range(len(request.sizes)):
            model = np.outer(model, counts((column,)) + 0.5 / request.epsilon).ravel()
        return SimpleNamespace(joint=lambda: model / model.sum())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "make_model", make)
        yield


@pytest.fixture(scope="module")
def pay_comparison():
    """A comparison of one column at two epsilons."""
    return equinoise.compare(demo.pay(), column="wage", bounds=(0, 4000), epsilons=[2, 0.3], grid="paper", **FAST)


def by(found, method, epsilon):
    (row,) = [row for row in found.rows if (row.method, row.epsilon) == (method, epsilon)]
    return row


def test_the_example_in_the_docstring():
    ran = doctest.testmod(comparison)
    assert (ran.attempted, ran.failed) == (4, 0)


def test_every_method_has_a_row_at_every_epsilon(pay_comparison):
    assert pay_comparison.epsilons == (0.3, 2.0)
    padded = [
        method for method in OF_ONE_COLUMN if method not in {"envelope", "pay-once"}
    ]  # which have no room for padding
    assert [(row.epsilon, row.method) for row in pay_comparison.rows] == [(e, m) for e in (0.3, 2.0) for m in padded]
    assert pay_comparison.methods == padded
    assert {left.method for left in pay_comparison.left_out} == {"envelope", "pay-once"}
    for row in pay_comparison.rows:
        assert len(row.metrics) == 10
        assert all(math.isfinite(value) for value in row.metrics.values())
        assert 0 <= row.protected <= pay_comparison.people == 935
        assert row.seconds >= 0
        assert row.promise[0].isupper()
        assert row.promise.endswith(".")


def test_it_agrees_with_optimize(pay_comparison):
    made = equinoise.optimize(demo.pay(), column="wage", bounds=(0, 4000), epsilon=2, restarts=2, bins=41, grid="paper")
    game = by(pay_comparison, "best-response", 2)
    assert {name: game.metrics[name] for name in made.metrics()} == pytest.approx(made.metrics())
    assert game.worst_loss == made.worst_loss
    assert by(pay_comparison, "laplace", 2).metrics.items() >= made.baseline().items()
    assert by(pay_comparison, "bounded-smoothing", 2).metrics.items() >= made.smoothing().items()
    assert set(game.solver) == set(made.solver)
    assert by(pay_comparison, "optimal", 2).metrics["kl"] <= game.metrics["kl"]


def test_local_promises_are_the_worst_ratio_of_the_rows_and_not_the_epsilon_asked_for(pay_comparison):
    axis = pay_comparison.histogram.grid.axis
    for method in ("laplace", "bounded-laplace", "staircase"):
        row = by(pay_comparison, method, 2)
        rows = comparison.LOCAL_ROWS[method](axis, 2)
        assert row.promised == baselines.local_epsilon(rows, axis)
        assert "not certified" in row.promise
    assert by(pay_comparison, "bounded-laplace", 2).promised <= 2
    assert by(pay_comparison, "staircase", 2).promised > 2
    assert (
        f"{equinoise.formatting.at_most(by(pay_comparison, 'staircase', 2).promised)}-DP"
        in by(pay_comparison, "staircase", 2).promise
    )


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_losses_of_smoothing_are_those_of_fractions(pay_comparison, epsilon):
    """Take one person out of each cell, in fractions, and compare both outputs in every cell."""
    counts, axis = pay_comparison.histogram.counts.tolist(), pay_comparison.histogram.grid.axis
    added = Fraction(baselines.pseudo_count(epsilon))
    for method, inside in (
        ("additive-smoothing", range(axis.bins)),
        ("bounded-smoothing", range(axis.cell_of(0), axis.cell_of(4000) + 1)),
    ):
        worst = 0.0
        for cell in (x for x in inside if counts[x]):
            total = sum(counts) + len(inside) * added
            for x in inside:
                ratio = (counts[x] + added) / total / ((counts[x] - (x == cell) + added) / (total - 1))
                worst = max(worst, abs(math.log(ratio)))
        row = by(pay_comparison, method, epsilon)
        assert row.worst_loss == pytest.approx(worst, rel=1e-9)
        assert row.worst_loss <= epsilon
        assert row.protected == 935


def test_the_losses_of_noise_for_everyone_are_measured(pay_comparison):
    """People's own loss of one draw, from the definition."""
    counts, axis = pay_comparison.histogram.counts, pay_comparison.histogram.grid.axis
    rows = baselines.staircase_kernel(axis, 0.3)
    sums = counts @ rows
    each = [np.abs(np.log(sums / 935 / ((sums - rows[k]) / 934))).max() for k in np.flatnonzero(counts)]
    assert by(pay_comparison, "staircase", 0.3).worst_loss == pytest.approx(max(each))


def test_the_dp_histogram_is_a_mean_of_releases(pay_comparison):
    row = by(pay_comparison, "dp-histogram", 2)
    assert row.releases == 20
    assert row.kl_spread > 0
    assert row.protected == 935
    assert row.worst_loss is None
    assert "not measured" in row.promise
    assert "any number of draws" in row.promise.lower()
    assert 1e-4 < row.metrics["kl"] < 0.05


def test_the_estimate_is_of_noisy_counts_and_without_padding_only(columns_comparison, pay_comparison):
    row = by(columns_comparison, "pay-once", 1)
    assert (row.releases, row.protected, row.promised) == (5, 80, 1.0)
    assert row.metrics["kl"] < by(columns_comparison, "dp-histogram", 1).metrics["kl"] * 1.5
    (left,) = [left for left in pay_comparison.left_out if left.method == "pay-once"]
    assert "without padding" in left.reason


def test_the_promise_of_the_game_is_not_differential_privacy(pay_comparison):
    for method in ("best-response", "optimal"):
        assert "not differential privacy" in by(pay_comparison, method, 0.3).promise
        assert "at most 0.3" in by(pay_comparison, method, 0.3).promise


def test_a_game_that_leaves_someone_out_says_so_and_promises_nothing():
    found = equinoise.compare([0.0] * 30 + [100.0], bounds=(0, 100), epsilons=[0.1], scales=[0.5, 1.0], **FAST)
    row = by(found, "best-response", 0.1)
    assert row.protected < 31
    assert row.promised is None
    assert row.promise == f"Nothing: {31 - row.protected} of 31 people are left unprotected."
    assert by(found, "additive-smoothing", 0.1).protected == 31


def test_bounds_read_off_the_data_weaken_every_promise():
    with pytest.warns(NotPublicWarning) as caught:
        found = equinoise.compare(np.arange(60.0), epsilons=[1], **FAST)
    assert caught[0].filename == __file__
    assert not found.public_bounds
    assert all(row.promise.endswith("; the bounds were read off the data and are not private.") for row in found.rows)


def test_what_a_solver_cannot_take_is_left_out(monkeypatch):
    monkeypatch.setattr("equinoise.solvers.optimal.MOST_PROGRAM_WEIGHTS", 1000)
    found = equinoise.compare(np.arange(60.0), bounds=(0, 60), epsilons=[1], **FAST)
    (left,) = found.left_out
    assert (left.method, left.epsilon) == ("optimal", 1)
    assert "more than memory allows" in left.reason


def test_where_opendp_fails_its_rows_are_left_out_once(monkeypatch):
    def fail(counts, law):
        raise equinoise.EquinoiseError("OpenDP could not draw the noise (no).")

    monkeypatch.setattr(methods, "noisy_counts", fail)
    found = equinoise.compare(np.arange(60.0), bounds=(0, 60), epsilons=[1, 2], **FAST)
    assert [(left.method, left.epsilon) for left in found.left_out] == [("dp-histogram", None), ("pay-once", None)]
    assert all("could not draw" in left.reason for left in found.left_out)
    assert not {"dp-histogram", "pay-once"} & set(found.methods)


def test_the_genetic_solver_takes_part_when_asked(monkeypatch):
    from equinoise.solvers import genetic

    monkeypatch.setattr(genetic, "PATIENT_GENERATIONS", 2)
    found = equinoise.compare(np.arange(60.0), bounds=(0, 60), epsilons=[1], genetic=True, **FAST)
    assert found.methods == ["best-response", "optimal", "genetic", *OF_ONE_COLUMN[2:]]
    assert by(found, "genetic", 1).solver["name"] == "genetic"


def test_progress_names_the_epsilon_and_the_method():
    seen = []
    equinoise.compare(
        np.arange(60.0), bounds=(0, 60), epsilons=[1], progress=lambda *state: seen.append(state), **FAST
    )  # fmt: skip
    assert [method for _, method, state in seen if state is None] == OF_ONE_COLUMN
    assert {epsilon for epsilon, _, _ in seen} == {1}
    assert any(state is not None and method == "best-response" for _, method, state in seen)


def test_ctrl_c_in_the_optimal_solver_stops_everything():
    def stop(_epsilon, method, state):
        if method == "optimal" and state is not None and state.note:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        equinoise.compare(np.arange(60.0), bounds=(0, 60), epsilons=[1], progress=stop, **FAST)


@pytest.mark.parametrize(
    ("epsilons", "said"),
    [
        ([], "at least one number"),
        (1.0, "a list"),
        ("1,2", "a list"),
        ([1, 1.0], "Epsilon 1 is given more than once"),
        ([1, 0], "'epsilon' parameter"),
        ([-1], "'epsilon' parameter"),
        ([math.inf], "'epsilon' parameter"),
        ([math.nan], "'epsilon' parameter"),
        ([True], "'epsilon' parameter"),
        (["1"], "'epsilon' parameter"),
    ],
)
def test_bad_epsilons(epsilons, said):
    with pytest.raises(BadInput, match=said):
        equinoise.compare([1.0, 2.0], bounds=(0, 3), epsilons=epsilons)


def test_bad_settings():
    for settings in ({"time_limit": 0}, {"restarts": 0}, {"seed": -1}, {"scales": "tall"}, {"missing": "guess"}):
        with pytest.raises(BadInput, match=next(iter(settings))):
            equinoise.compare([1.0, 2.0], bounds=(0, 3), epsilons=[1], **settings)


def test_known_figures_of_the_heights(heights):
    """Deterministic baselines on the 1,844 heights; the DP histogram within a wide margin of its mean."""
    found = equinoise.compare(heights, bounds=(163, 226), epsilons=[0.1, 1], grid="paper", restarts=1, time_limit=0.3)
    expected = {
        "laplace": (1.815, 1.199), "bounded-laplace": (1.815, 1.201), "staircase": (1.800, 1.052),
        "additive-smoothing": (0.3219, 0.02408), "bounded-smoothing": (0.02390, 0.0005633),
    }  # fmt: skip
    for method, figures in expected.items():
        assert [by(found, method, e).metrics["kl"] for e in (0.1, 1)] == pytest.approx(figures, rel=1e-3)
    assert 0.01 < by(found, "dp-histogram", 0.1).metrics["kl"] < 0.1
    assert 0.001 < by(found, "dp-histogram", 1).metrics["kl"] < 0.005
    p = found.histogram.counts / 1844
    q = baselines.laplace_output(p, found.grid.axes, 1)
    assert by(found, "laplace", 1).metrics["kl"] == metrics.kl(p, q)
    made = envelope(heights, bounds=(163, 226), bins=25, epsilon=1)
    assert 0 < made.metrics()["kl"] < 0.0003


def test_families_of_noise_side_by_side():
    people = np.random.default_rng(3).normal(50, 12, 300).clip(0, 100)
    asked = {"bounds": (0, 100), "bins": 31, "restarts": 2, "time_limit": 1}
    both = equinoise.compare(people, epsilons=[1, 2], noise=["laplace", "gaussian"], **asked)
    for family in ("laplace", "gaussian"):
        alone = equinoise.compare(people, epsilons=[1, 2], noise=family, **asked)
        for epsilon in (1, 2):
            (row,) = (r for r in both.rows if r.label == f"best-response {family}" and r.epsilon == epsilon)
            assert row.metrics == by(alone, "best-response", epsilon).metrics
            assert by(alone, "best-response", epsilon).noise is None
    assert len([row for row in both.rows if row.method == "laplace"]) == 2  # the baselines once for each epsilon
    assert list(both.labels)[:3] == ["best-response laplace", "best-response gaussian", "optimal laplace"]
    for wrong, said in ((["laplace", "laplace"], "more than once"), (["cauchy"], "cauchy"), ([], "at least one")):
        with pytest.raises(BadInput, match=said):
            equinoise.compare(people, epsilons=[1], noise=wrong, **asked)


ONE_COLUMN = {
    ("best-response", 0.3): (0.008800967966622704, 0.9989446886530003, 0.3, 0.2999992587789008),
    ("laplace", 0.3): (2.059511767877367, 0.36635128509273135, 0.30869823108791783, 0.00020009015676474028),
    ("bounded-laplace", 0.3): (2.066603305203173, 0.3640929230553658, 0.2999999998832257, 0.0001939958068066024),
    ("staircase", 0.3): (2.027371354886769, 0.37683987491358567, 0.3821713021383517, 0.00038250422166994855),
    ("additive-smoothing", 0.3): (0.09533830161859579, 0.9994268689079352, 0.3, 0.2990491495123093),
    ("bounded-smoothing", 0.3): (0.01032970606189777, 0.9998831646429556, 0.3, 0.29896474026335795),
    ("best-response", 2): (0.00019547518556832286, 0.9999994890933845, 2.0, 1.9988359106307199),
    ("laplace", 2): (1.0940560704303794, 0.6768981202044794, 2.057988207252781, 0.0022000385740146887),
    ("bounded-laplace", 2): (1.1146593860220126, 0.6705844946015465, 1.9999999992215036, 0.0021011568049181936),
    ("staircase", 2): (0.7854764432073593, 0.7876475860237628, 2.5458155628461845, 0.006749654222088921),
    ("additive-smoothing", 2): (0.0053606754131825425, 0.9999982467673093, 2.0, 1.9989372071534994),
    ("bounded-smoothing", 2): (0.0003604711981711064, 0.9999996428395017, 2.0, 1.998931876817844),
}  # fmt: skip


def test_figures_of_one_column_are_those_from_before_there_were_several(pay_comparison):
    """KL, cosine, the promised epsilon and the worst loss, up to the order in which a machine adds up."""
    for (method, epsilon), figures in ONE_COLUMN.items():
        row = by(pay_comparison, method, epsilon)
        seen = (row.metrics["kl"], row.metrics["cosine"], row.promised, row.worst_loss)
        assert seen == pytest.approx(figures, rel=1e-12), (method, epsilon)


@pytest.fixture(scope="module")
def table():
    """A table of 80 people with three columns that go together."""
    rng = np.random.default_rng(5)
    a = rng.normal(50, 15, 80).clip(0, 100)
    return pd.DataFrame({"a": a, "b": (a + rng.normal(0, 10, 80)).clip(0, 100), "c": rng.uniform(-1, 1, 80)})


LIMITS = {"a": (0, 100), "b": (0, 100), "c": (-1, 1)}


@pytest.fixture(scope="module", params=["ab", "abc"])
def columns_comparison(request, table):
    """A comparison of two and of three columns, one after the other."""
    columns = list(request.param)
    limits = {name: LIMITS[name] for name in columns}
    return equinoise.compare(table, column=columns, bounds=limits, epsilons=[1], bins=7, restarts=2, time_limit=1)


def test_several_columns_have_every_method(columns_comparison):
    assert columns_comparison.methods == METHODS
    assert not columns_comparison.left_out
    names = [axis.name for axis in columns_comparison.grid.axes]
    found = columns_comparison.to_json()
    assert (found["column"], found["cells"], found["people"]) == (names, 7 ** len(names), 80)
    expected = {name: {"bounds": list(map(float, LIMITS[name])), "bins": 7} for name in names}
    assert found["settings"]["schema"] == {"columns": expected}
    for row in columns_comparison.rows:
        assert set(row.metrics) == {
            "kl",
            "js",
            "tv",
            "jaccard",
            "cosine",
            "correlation_loss",
            "association_loss",
            "columns",
            "tv_1way",
            "tv_2way",
            "mean_error",
            "median_error",
        }
        assert set(row.metrics["columns"]) == set(names)
        assert row.metrics["kl"] >= max(one["kl"] for one in row.metrics["columns"].values())
        assert row.promised is not None


def test_what_models_promise_and_that_their_extra_is_named_where_it_is_missing(table, columns_comparison, monkeypatch):
    for method in MODELS:
        row = by(columns_comparison, method, 1)
        assert (row.promised, row.releases, row.protected) == (1, 3, 80)
        assert "are 1-DP" in row.promise
        assert promise_of(method, epsilon=1, columns=4).delta == 1e-6  # of more columns, where that is closer
        assert "by the theorem of OpenDP" in row.promise
    monkeypatch.setattr(methods, "make_model", opendp_models.make_model)
    monkeypatch.setitem(sys.modules, "mbi", None)
    people = Players.of(columns_comparison.histogram)
    left = methods.Methods(people, True).modelled("aim", 1.0)
    assert (left.method, left.epsilon) == ("aim", None)
    assert "pip install 'equinoise[aim]'" in left.reason


def test_errors_and_marginals_are_pandas_of_rows_written_out(columns_comparison):
    """Rows of what is released, a million of them, and of the data; the errors to what rounding to a row can move."""
    grid, many = columns_comparison.grid, 10**6
    values = grid.bins_of(np.arange(grid.cells))
    names = [axis.name for axis in grid.axes]
    cells = pd.DataFrame({axis.name: axis.midpoints()[values[:, i]] for i, axis in enumerate(grid.axes)})
    data = cells.loc[np.repeat(cells.index, columns_comparison.histogram.counts)]
    weights = baselines.smooth_counts(columns_comparison.histogram.counts, 1.0, np.arange(grid.cells))
    edges = np.rint(np.cumsum(weights) / weights.sum() * many).astype(int)
    released = cells.loc[np.repeat(cells.index, np.diff(edges, prepend=0))]
    found = by(columns_comparison, "additive-smoothing", 1).metrics
    spread = data.std(ddof=0)
    assert found["mean_error"] == pytest.approx(((released.mean() - data.mean()).abs() / spread).mean(), abs=1e-3)
    medians = [frame.quantile(interpolation="lower") for frame in (data, released)]
    assert found["median_error"] == pytest.approx(((medians[1] - medians[0]).abs() / spread).mean(), abs=1e-5)
    changes = (released.corr() - data.corr()).abs().to_numpy()
    assert found["correlation_loss"] == pytest.approx(changes.max(), abs=1e-3)
    for many in (1, 2):
        each = []
        for some in map(list, itertools.combinations(names, many)):
            shares = [frame.groupby(some).size() / len(frame) for frame in (data, released)]
            each.append(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
        assert found[f"tv_{many}way"] == pytest.approx(np.mean(each), abs=1e-3)
    both = [found["tv_1way"], found["tv_2way"], found["tv"]]
    assert both == sorted(both)


def test_several_rows_share_epsilon_where_each_of_them_costs(table):
    """The figures of a method whose rows cost are those of one row at a share; the others' are not touched."""
    asked = {"column": ["a", "b"], "bounds": {"a": (0, 100), "b": (0, 100)}, "bins": 7, "restarts": 2, "time_limit": 1}
    four = equinoise.compare(table, epsilons=[2], rows=4, **asked)
    one, whole = (equinoise.compare(table, epsilons=[epsilon], **asked) for epsilon in (0.5, 2))
    assert four.to_json()["rows"] == 4
    for row in four.rows:
        assert (row.epsilon, row.protected) == (2, 80 if row.worst_loss is None else row.protected)
        costs = PROMISES[row.method].draws is not None
        same = by(one, row.method, 0.5) if costs else by(whole, row.method, 2)
        if (
            row.releases is None and row.method != "optimal"
        ) or row.method in MODELS:  # else by chance, or by the clock
            assert row.metrics == same.metrics
            assert (row.protected, row.worst_loss) == (same.protected, same.worst_loss)
        assert row.promised == (2 if costs else same.promised)
        said = "all 4 draws together: " if costs else ("every value: ", "any number of draws: ")
        assert row.promise.lower().startswith(said)
        assert ("0.5 a draw" in row.promise) == costs
    for rows in (0, 1.5, True, "same", 10**10):
        with pytest.raises(BadInput, match="rows"):
            equinoise.compare(table, epsilons=[1], rows=rows, **asked)


def test_several_columns_agree_with_optimize(columns_comparison, table):
    names = [axis.name for axis in columns_comparison.grid.axes]
    limits = {name: LIMITS[name] for name in names}
    made = equinoise.optimize(table, column=names, bounds=limits, epsilon=1, bins=7, restarts=2)
    game = by(columns_comparison, "best-response", 1)
    assert game.metrics["kl"] == pytest.approx(made.metrics()["kl"])
    assert game.worst_loss == made.worst_loss
    assert by(columns_comparison, "laplace", 1).metrics.items() >= made.baseline().items()
    assert by(columns_comparison, "bounded-smoothing", 1).metrics.items() >= made.smoothing().items()


@pytest.mark.parametrize("method", comparison.LOCAL_ROWS)
@pytest.mark.parametrize("at_once", [1, 2**22])
def test_noise_on_several_columns_is_that_of_products_laid_out(columns_comparison, method, at_once, monkeypatch):
    """Everything again from one kernel of cells x cells, the product of the columns' by Kronecker."""
    monkeypatch.setattr(methods, "AT_ONCE", at_once)
    axes, counts = columns_comparison.grid.axes, columns_comparison.histogram.counts
    rows = np.ones((1, 1))
    for axis in axes:
        rows = np.kron(rows, comparison.LOCAL_ROWS[method](axis, 1 / len(axes)))
    row = methods.Methods(columns_comparison.players, True).local(method, 1)
    sums = counts @ rows
    assert row.metrics["kl"] == pytest.approx(metrics.kl(counts / 80, sums / 80), rel=1e-12)
    each = np.array([np.abs(np.log(sums / 80 / ((sums - rows[k]) / 79))).max() for k in np.flatnonzero(counts)])
    assert row.worst_loss == pytest.approx(each.max(), rel=1e-9)
    assert row.protected == counts[counts > 0][each <= 1].sum()
    inside = rows[within(axes)]
    assert row.promised == pytest.approx(np.log(inside.max(axis=0) / inside.min(axis=0)).max(), rel=1e-9)
    assert row == replace(by(columns_comparison, method, 1), seconds=row.seconds)


def within(axes):
    """The cells within the bounds of every column, one by one."""
    bins = [range(axis.cell_of(axis.low), axis.cell_of(axis.high) + 1) for axis in axes]
    return [int(np.ravel_multi_index(cell, [axis.bins for axis in axes])) for cell in itertools.product(*bins)]


def test_the_losses_of_smoothing_on_several_columns_are_those_of_fractions(columns_comparison):
    counts, added = columns_comparison.histogram.counts.tolist(), Fraction(baselines.pseudo_count(1.0))
    for method, inside in (
        ("additive-smoothing", range(columns_comparison.grid.cells)),
        ("bounded-smoothing", within(columns_comparison.grid.axes)),
    ):  # fmt: skip
        total, worst = 80 + len(inside) * added, 0.0
        for cell in (x for x in inside if counts[x]):
            own = (counts[cell] + added) / total / ((counts[cell] - 1 + added) / (total - 1))
            worst = max(worst, abs(math.log(own)), abs(math.log((total - 1) / total)))
        row = by(columns_comparison, method, 1)
        assert row.worst_loss == pytest.approx(worst, rel=1e-9)
        q = np.zeros(columns_comparison.grid.cells)
        q[list(inside)] = [float((counts[x] + added) / total) for x in inside]
        assert row.metrics["tv"] == pytest.approx(metrics.tv(np.array(counts) / 80, q), rel=1e-9)


def test_the_noisy_counts_of_several_columns_are_those_within_all_bounds(columns_comparison, monkeypatch):
    asked = []

    def no_noise(counts, law):
        asked.append(counts)
        return counts

    monkeypatch.setattr(methods, "noisy_counts", no_noise)
    row = methods.Methods(columns_comparison.players, True).dp_histogram(4.0)
    assert asked[0].tolist() == columns_comparison.histogram.counts[within(columns_comparison.grid.axes)].tolist()
    kept = asked[0] + 1 / 16
    assert row.metrics["kl"] == pytest.approx(metrics.kl(asked[0] / 80, kept / kept.sum()), rel=1e-9)
    assert row.kl_spread == pytest.approx(0, abs=1e-12)


def test_several_columns_take_scales_of_their_own_families_and_one_row_a_person(table):
    asked = {"column": ["a", "c"], "bounds": {"a": (0, 100), "c": (-1, 1)}, "bins": 5, "restarts": 1, "time_limit": 0.5}
    scales = {"a": [20, 900.0], "c": [0.5, 18.0]}
    found = equinoise.compare(table, epsilons=[1, 2], scales=scales, noise=["laplace", "gaussian"], **asked)
    assert found.settings["scales"] == scales
    assert list(found.labels)[:2] == ["best-response laplace", "best-response gaussian"]
    twice = pd.concat([table, table]).assign(who=[*range(80), *range(80)])
    once = equinoise.compare(twice, epsilons=[1], unit="who", unit_rows="one", **asked)
    assert once.histogram.counts.tolist() == found.histogram.counts.tolist()


def test_bounds_of_one_of_two_columns_are_not_public(table):
    with pytest.warns(NotPublicWarning, match="'b'"):
        found = equinoise.compare(
            table, column=["a", "b"], bounds={"a": (0, 100)}, bins=5, restarts=1, time_limit=0.5, epsilons=[1]
        )
    assert not found.public_bounds
    assert all(row.promise.endswith("; the bounds were read off the data and are not private.") for row in found.rows)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"unit": "who"}, "for one row a person: keep one of each"),
        ({"scales": [1.0, 2.0], "column": ["a", "b"]}, "Scales for several columns are"),
        ({"bins": 5000, "column": ["a", "b"]}, "needs more memory than is sensible"),
        ({"restarts": 10**6, "column": ["a", "b"]}, "take hours"),
        ({"bounds": (0, 1), "column": ["a", "b"]}, "bounds must be a dict"),
    ],
)
def test_refusals_with_several_columns_come_before_anything_is_counted(table, settings, said, monkeypatch):
    monkeypatch.setattr("equinoise.data.read_players.count_players", None)
    with pytest.raises(BadInput, match=said):
        equinoise.compare(table, epsilons=[1], **{"bounds": {"a": (0, 100), "b": (0, 100)}, **settings})
