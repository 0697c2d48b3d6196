"""Plans: what they expect comes out, they are the same every time, and no data has a say in them."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equinoise
from benchmarks import plan as benchmark
from equinoise.data.make_grid import make_grid, with_bins
from equinoise.data.schema import Schema
from equinoise.errors import BadInput
from equinoise.present.plan_rows import step_note
from equinoise.synthesis import expectation
from equinoise.synthesis.choice import AIM, simulated_choice, usual_choice
from equinoise.synthesis.expectation import ENVELOPE, PAY_ONCE, Price, Simulation, cells_within, output
from equinoise.synthesis.populations import MISSING, POPULATIONS, population
from tests.helpers import private_tables
from tests.helpers.quick_simulations import quick_simulations

YEARS = Schema.of({"columns": {"years": {"bounds": [0, 15], "step": 1}}})
MIXED = Schema.of(
    {"columns": {"age": {"bounds": [18, 37], "step": 1}, "ward": {"categories": ["a", "b"], "missing": "category"}}}
)
WARDS = Schema.of({"columns": {"ward": {"categories": ["a", "b", "c"]}}})


@pytest.fixture
def _quick():
    with quick_simulations():
        yield


def test_populations_are_distributions_the_same_for_everybody_and_miss_some_values():
    schema = Schema.of(
        {"columns": {"age": {"bounds": [0, 50], "missing": "category"}, "sex": {"categories": ["f", "m"]}}}
    )
    axes = make_grid(schema).axes
    for number in range(POPULATIONS):
        p = population(axes, number)
        assert p.sum() == pytest.approx(1)
        assert (p > 0).all()
        assert np.array_equal(p, population(axes, number))
        assert p.reshape(101, 2)[-1].sum() == pytest.approx(MISSING)
    assert len({population(axes, number).tobytes() for number in range(POPULATIONS)}) == POPULATIONS


def test_wider_bins_hold_whole_bins_and_values_stay_where_they_are():
    finest = make_grid(MIXED)
    grid = make_grid(with_bins(MIXED, finest, 5))
    cells = cells_within(finest, grid)
    assert (finest.shape, grid.shape) == ((20, 3), (5, 3))
    for cell, wide in enumerate(cells.tolist()):
        (age, ward), (bin, same) = finest.bins_of(np.array([cell]))[0], grid.bins_of(np.array([wide]))[0]
        assert bin == grid.axes[0].cell_of(18 + age)
        assert same == ward


def test_what_comes_out_in_a_simulation_is_what_a_mechanism_draws_from():
    """The envelope's weights of the same people, by the mechanism itself; and noise of the law that is paid for."""
    grid = make_grid(YEARS)
    values = np.random.default_rng(3).integers(0, 16, 60)
    counts = np.bincount(values, minlength=16)
    made = private_tables.envelope(pl.DataFrame({"years": values}), YEARS, epsilon=0.7, draws=3)
    assert np.allclose(made.output, output(ENVELOPE, counts, grid, Price(0.7, 3), 0))
    assert not np.allclose(made.output, output(ENVELOPE, counts, grid, Price(0.7, 4), 0))
    assert output(ENVELOPE, counts, grid, Price(0.7, 10**6), 0) is None


def test_noise_in_a_simulation_has_the_variance_of_what_is_paid_for(monkeypatch):
    seen = []
    monkeypatch.setattr(expectation, "estimate", lambda z, axes, scale: seen.append(z) or np.full(len(z), 1 / len(z)))
    grid = make_grid(Schema.of({"columns": {"x": {"bounds": [0, 1], "bins": 10_000}}}))
    for epsilon, rows_per_person in ((0.5, 1), (1.0, 4)):
        output(PAY_ONCE, np.zeros(10_000, dtype=np.int64), grid, Price(epsilon, 1, 0.0, rows_per_person), 0)
        variance = 2 * (rows_per_person / epsilon) ** 2  # of continuous Laplace noise, a twelfth of 1 more or less
        assert seen[-1].var() == pytest.approx(variance, rel=0.1)
        assert abs(seen[-1].mean()) < 6 * np.sqrt(variance / 10_000)


def test_errors_are_those_of_means_and_shares():
    axes = make_grid(MIXED).axes
    p, q = np.zeros((20, 3)), np.zeros((20, 3))
    p[0, 0] = q[4, 1] = 1
    assert expectation.column_errors(p.ravel(), q.ravel(), axes) == pytest.approx([4, 1])
    q[4, 1], q[0, 0] = 0.25, 0.75
    assert expectation.column_errors(p.ravel(), q.ravel(), axes) == pytest.approx([1, 0.25])


@pytest.mark.parametrize(
    ("schema", "price", "most"),
    [
        (YEARS, Price(1.0, 1), 10), (YEARS, Price(0.1, 1), 10), (YEARS, Price(3.0, 1), 3), (WARDS, Price(1.0, 1), 2),
        (YEARS, Price(1.0, 1, 1e-6), 22), (YEARS, Price(0.1, 1, 1e-6), 30),
    ],
)  # fmt: skip
def test_without_a_number_of_people_the_method_is_by_epsilon_delta_and_rows(schema, price, most):
    for rows, method in ((1, ENVELOPE), (most, ENVELOPE), (most + 1, PAY_ONCE), (10**6, PAY_ONCE)):
        asked = Price(price.epsilon, rows, price.delta)
        found = usual_choice(schema, asked, method=None, bins=None)
        assert (found.method, found.schema) == (method, schema)
        assert f"the {most:,} up to which" in found.sentence
    assert usual_choice(schema, price, method=PAY_ONCE, bins=None).method == PAY_ONCE
    assert usual_choice(schema, price, method=None, bins=None, same=True).method == PAY_ONCE


@pytest.mark.usefixtures("_quick")
def test_a_plan_is_the_same_every_time_and_synthesize_follows_it():
    people = pl.DataFrame({"years": [3, 4, 4, 5, 12]})
    asked = {"people": 40, "epsilon": 1, "rows": 50}
    first, second = (equinoise.plan(YEARS, **asked) for _ in range(2))
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    release = equinoise.synthesize(people, YEARS, **asked)
    assert release.mechanism.method == first.method
    assert release.mechanism.grid.shape == first.grid.shape
    settings = release.mechanism.settings
    assert (settings["people"], settings["plan"]) == (40, first.choice.sentence)
    table = {(row.epsilon, row.rows): row.tv for row in first.table}
    assert len(table) == 16
    assert first.method == PAY_ONCE
    assert table[1.0, 100] == first.expectation.errors.tv
    assert table[0.1, 100] > table[0.3, 100] > table[1.0, 100] > table[3.0, 100]


@settings(max_examples=12)
@given(st.lists(st.integers(0, 15), min_size=1, max_size=60), st.sampled_from([1, 10, 11]))
def test_no_data_has_a_say_in_method_and_bins(values, rows):
    """Whoever the people are, and however many: without their number by the rule, with a public one by simulation."""
    found = []
    for data in (values, [0] * 300):
        for people in (None, 30):
            with quick_simulations():
                release = equinoise.synthesize(
                    pl.DataFrame({"years": data}), YEARS, epsilon=1, rows=rows, people=people
                )
            found.append((release.mechanism.method, release.mechanism.grid, release.mechanism.settings["plan"]))
    assert found[:2] == found[2:]
    assert found[0][0] == (ENVELOPE if rows <= 10 else PAY_ONCE)


def test_the_choice_is_made_before_any_data_is_opened(monkeypatch):
    def choose(*args, **told):
        raise InterruptedError

    monkeypatch.setattr("equinoise.verbs.table_request.usual_choice", choose)
    with pytest.raises(InterruptedError):
        equinoise.synthesize("no such file.csv", YEARS, epsilon=1, rows=1)


@pytest.mark.usefixtures("_quick")
def test_method_and_bins_that_were_asked_for_are_taken():
    simulation = Simulation.of(make_grid(YEARS), 10_000)
    assert simulated_choice(YEARS, simulation, Price(1.0, 200)).method == PAY_ONCE
    found = simulated_choice(YEARS, simulation, Price(1.0, 200), method=ENVELOPE)
    assert (found.method, "as was asked for" in found.sentence) == (ENVELOPE, True)
    found = simulated_choice(YEARS, Simulation.of(make_grid(YEARS, bins=4), 5), Price(0.5, 200), bins=4)
    assert found.expectation.grid.shape == (4,)
    own = Schema.of({"columns": {"years": {"bounds": [0, 15], "step": 1, "bins": 8}}})
    found = simulated_choice(own, Simulation.of(make_grid(own), 5), Price(0.5, 200))
    assert (found.expectation.grid.shape, "on the schema's bins: " in found.sentence) == ((8,), True)


@pytest.mark.usefixtures("_quick")
def test_the_bins_that_were_chosen_are_named():
    columns = {name: {"bounds": [0, 1], "step": 1} for name in "abcde"} | {"ward": {"categories": ["x", "y"]}}
    for several, words in (("abcd", "2 bins of 'c' and those of 1 more column: "), ("abcde", "of 2 more columns: ")):
        schema = Schema.of({"columns": {name: columns[name] for name in several}})
        found = simulated_choice(schema, Simulation.of(make_grid(schema), 10_000), Price(1.0, 200))
        assert f"{PAY_ONCE} on 2 bins of 'a', 2 bins of 'b', " in found.sentence
        assert words in found.sentence
    schema = Schema.of({"columns": {"ward": columns["ward"]}})
    sentence = simulated_choice(schema, Simulation.of(make_grid(schema), 10_000), Price(1.0, 200)).sentence
    assert " on the schema's categories: " in sentence


@pytest.mark.usefixtures("_quick")
def test_few_people_get_wider_bins_and_many_the_schemas():
    shapes = []
    for people in (20, 2_000):
        simulation = Simulation.of(make_grid(YEARS), people)
        shapes.append(simulated_choice(YEARS, simulation, Price(0.3, 200)).expectation.grid.shape)
    assert shapes[0] < shapes[1] == (16,)


@pytest.mark.usefixtures("_quick")
def test_what_is_said_to_be_enough_is_enough():
    asked = {"epsilon": 0.1, "rows": 100}
    found = equinoise.plan(YEARS, people=15, **asked)
    assert found.too_small
    assert found.expectation.errors.tv > 0.3
    assert found.enough_people > 15
    assert found.enough_epsilon > 0.1
    assert not equinoise.plan(YEARS, people=found.enough_people, **asked).too_small
    assert not equinoise.plan(YEARS, people=15, epsilon=found.enough_epsilon, rows=100).too_small
    with pytest.raises(BadInput, match=r"Epsilon 0\.001 is too small for anything: .* Enough would be epsilon"):
        equinoise.plan(YEARS, people=15, epsilon=0.001, rows=100)


def test_bins_that_no_column_takes_are_refused_as_synthesize_does():
    asked = {"epsilon": 1, "rows": 10, "bins": 5}
    said = []
    for verb in (
        equinoise.plan,
        lambda schema, **more: equinoise.synthesize(pl.DataFrame({"ward": ["a"]}), schema, **more),
    ):
        with pytest.raises(BadInput, match="'bins' parameter must be left out where every column has") as refusal:
            verb(WARDS, people=100, **asked)
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_more_cells_than_a_joint_grid_holds_are_left_to_aim():
    columns = {f"c{number}": {"categories": [*range(10)]} for number in range(7)}
    asked = {"people": 1000, "epsilon": 1, "rows": 10}
    with pytest.raises(BadInput, match="10,000,000 cells; 4,194,304 are the most possible"):
        equinoise.plan({"columns": columns}, method=PAY_ONCE, **asked)
    found = equinoise.plan({"columns": columns}, **asked)
    assert (found.method, found.expectation, found.table) == (AIM, None, ())
    assert "10,000,000 joint cells" in repr(found)
    assert found.to_json()["tv"] is None
    assert usual_choice(Schema.of({"columns": columns}), Price(1.0, 10), method=None, bins=None).method == AIM


def test_real_tables_come_out_as_expected_and_the_method_is_the_closer_one():
    """Two cases of the benchmark, which has twenty: paid once, and one row of the envelope."""
    for number in (0, 4):
        found = benchmark.measure(*benchmark.CASES[number], *benchmark.SETTINGS[number])
        assert found["near"]
        assert found["closer"]


def test_people_who_are_spread_evenly_would_not_be_what_comes_out(monkeypatch):
    """The benchmark can fail: where few people are in each cell, how they lie together decides."""
    name, columns = benchmark.CASES[3]
    rows, grid = benchmark.rows_of(name, columns), make_grid(Schema.of({"columns": columns}))
    counts = benchmark.counted(rows, *grid.axes).counts
    truth = benchmark.came_out(counts, grid, Price(1.0, 1))[ENVELOPE]
    for even in (False, True):
        if even:
            monkeypatch.setattr(expectation, "population", lambda axes, number: np.full(2500, 1 / 2500))
        expected = Simulation.of(grid, len(rows)).tv(ENVELOPE, Price(1.0, 1), grid)
        assert (abs(expected / truth - 1) > benchmark.WITHIN) == even


@pytest.mark.usefixtures("_quick")
def test_a_notebook_shows_a_plan():
    shown = equinoise.plan(WARDS, people=100, epsilon=1, rows=10)._repr_html_()
    assert "Expected total variation" in shown
    assert "share of &#x27;ward&#x27;, the largest error" in shown
    assert "Plan: " in shown


def test_columns_without_a_step_are_said_to_come_out_as_middles_of_bins(run, folder):
    columns = {"pay": {"bounds": [0, 100], "bins": 12}, "age": {"bounds": [0, 100], "step": 1, "bins": 12}}
    plan = equinoise.plan({"columns": columns}, people=5000, epsilon=1, rows=5)
    sentence = "Without a step, rows hold the middles of bins: 'pay' (12 bins)."
    assert step_note(plan) == f"{sentence} Give a step, such as 1, or 0.01 for money."
    assert "&#x27;pay&#x27; (12 bins). Give a step" in plan._repr_html_()
    _, out, _ = run("plan", "--bounds", "pay", 0, 100, "--bins", 12, "--people", 5000, "--epsilon", 1, "--rows", 5)
    assert "'pay' (12 bins)" in " ".join(out.split())
    assert step_note(equinoise.plan({"columns": {"age": columns["age"]}}, people=5000, epsilon=1, rows=5)) == ""
