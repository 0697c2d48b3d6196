"""The loss of whole procedures, against running everything again from the raw values by hand."""

import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise import BadInput, Mechanism, PromiseNotMet
from equinoise.analysis.end_to_end import Output, end_to_end, exact_output, measure, pure_loss
from equinoise.game.condition import Condition
from equinoise.privacy.loss import quantiles
from equinoise.solvers.procedure import Procedure
from tests.helpers import people
from tests.helpers.games import bare_grid, people_in

PEOPLE = np.random.default_rng(3).normal(50, 15, 60).clip(0, 100).round(1)
ASKED = {"bounds": (0, 100), "bins": 17}


def by_hand(values, **asked):
    """Loss per occupied cell: ``optimize`` called again on the raw values without one of that cell's."""
    full = equinoise.optimize(values, **asked)
    axis, found = full.grid.axis, {}
    for position, value in enumerate(values):
        cell = axis.cell_of(value)
        if cell in found:
            continue
        try:
            other = equinoise.optimize(np.delete(values, position), **asked).output
        except (BadInput, PromiseNotMet):
            found[cell] = math.inf
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(full.output == other, 0.0, np.log(full.output) - np.log(other))
        found[cell] = np.abs(ratios).max()
    return full, found


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1},
        {"epsilon": 0.5, "restarts": 2, "seed": 9, "utility": "tv", "draws": 3},
        {"epsilon": 1, "scales": "adaptive", "restarts": 1},
        {"epsilon": 1, "scales": [1.0, 10.0, 400.0], "noise": "staircase", "restarts": 1},
        {"epsilon": 2, "solver": "genetic", "generations": 3, "scales": [30.0, 400.0]},
        {"epsilon": 2, "solver": "optimal", "restarts": 1, "grid": "paper", "scales": [0.5, 10.0, 400.0]},
        {"epsilon": 1, "delta": 1e-5, "draws": 3, "restarts": 1, "scales": [0.5, 10.0, 400.0]},
    ],
)
def test_it_is_what_solving_again_by_hand_gives(asked):
    full, expected = by_hand(PEOPLE, **ASKED, **asked)
    found = end_to_end(full)
    assert found.cells.tolist() == sorted(expected)
    assert found.people.tolist() == full.histogram[found.cells].tolist()
    assert found.losses == pytest.approx([expected[cell] for cell in sorted(expected)], rel=1e-9, abs=1e-12)
    assert found.target == full.epsilon
    assert found.worst == max(found.losses)
    assert found.above == sum(n for n, loss in zip(found.people, found.losses, strict=True) if loss > full.epsilon)


def without_each(kind, **asked):
    """For people of any kind, the loss of every type: ``optimize`` called again without all rows of one of them."""
    data = people.data(kind, rows=40)
    full, found = equinoise.optimize(data, **asked), {}
    names = data["who"].to_list() if kind in people.SEVERAL_ROWS else list(range(len(data)))
    bins = np.array([[axis.cell_of(value) for value in data[axis.name]] for axis in full.grid.axes]).T
    cells = full.grid.cells_of(bins).tolist()
    for who in dict.fromkeys(names):
        mine = [cell for cell, name in zip(cells, names, strict=True) if name == who]
        bag = tuple((cell, mine.count(cell)) for cell in sorted(set(mine)))
        if bag in found:
            continue
        other = equinoise.optimize(data.filter(np.array([name != who for name in names])), **asked).output
        found[bag] = np.abs(np.log(full.output) - np.log(other)).max()
    return full, found


@pytest.mark.parametrize("kind", people.KINDS)
@pytest.mark.parametrize(
    "more",
    [{}, {"utility": "wasserstein"}, {"draws": 3, "delta": 1e-5}, {"scales": "adaptive"},
     {"solver": "genetic", "generations": 2, "restarts": None}],
    ids=str,
)  # fmt: skip
def test_with_any_kind_of_people_it_is_what_solving_again_by_hand_gives(kind, more):
    full, expected = without_each(kind, **people.asked(kind, **{"epsilon": 4, "bins": 15, "restarts": 1, **more}))
    found = end_to_end(full)
    bags = sorted(expected)
    assert [bag[0][0] for bag in bags] == found.cells.tolist()
    assert found.people.tolist() == full.players.people.tolist()
    assert found.losses == pytest.approx([expected[bag] for bag in bags], rel=1e-9, abs=1e-12)
    assert found.target == full.epsilon
    assert found.above == sum(n for n, loss in zip(found.people, found.losses, strict=True) if loss > full.epsilon)


@pytest.mark.parametrize(
    "values",
    [[10.0, 90.0], [10.0, 10.0, 10.0, 90.0]],
    ids=["one person would be left", "everyone left would be in one cell"],
)
def test_a_neighbour_that_is_refused_counts_as_infinite(values):
    full, expected = by_hand(np.array(values), **ASKED, epsilon=3, scales=[10.0, 1000.0])
    found = end_to_end(full)
    assert found.losses.tolist() == pytest.approx([expected[cell] for cell in found.cells.tolist()])
    assert math.isinf(found.worst)
    assert found.infinite == found.people[np.isinf(found.losses)].sum() > 0
    assert f"infinite for {found.infinite} of them" in found.sentence


def test_a_neighbour_that_cannot_be_protected_counts_as_infinite():
    """With one scale for everyone, an epsilon that five people allow and four do not."""
    values, asked = np.array([10.0, 30.0, 50.0, 70.0, 90.0]), {**ASKED, "scales": [100.0]}
    epsilon = 1.001 * equinoise.optimize(values, **asked, epsilon=5).worst_loss
    full, expected = by_hand(values, **asked, epsilon=epsilon)
    found = end_to_end(full)
    assert found.losses.tolist() == pytest.approx([expected[cell] for cell in found.cells.tolist()])
    assert 1 <= found.infinite <= 5


def exact_loss(one, other):
    with localcontext() as context:
        context.prec = 60
        logs = [
            abs((Decimal(p) * other.total / (Decimal(q) * one.total)).ln())
            for p, q in zip(one.sums, other.sums, strict=True)
            if p or q
        ]
        return max(logs)


@given(st.lists(st.tuples(st.integers(1, 2**70), st.integers(1, 2**70)), min_size=1, max_size=5))
def test_the_loss_is_never_rounded_down(pairs):
    one, other = (Output(column, sum(column)) for column in zip(*pairs, strict=True))
    found, exact = pure_loss(one, other), exact_loss(one, other)
    assert exact <= Decimal(found) <= exact * (1 + Decimal(2) ** -48)
    assert pure_loss(other, one) == found


def test_what_floats_cannot_tell_apart_is_a_loss_all_the_same():
    one, other = Output((2**60, 2**60), 2**61), Output((2**60 + 1, 2**60 - 1), 2**61)
    assert math.log(2**60 / (2**60 - 1)) == 0
    assert pure_loss(one, other) == pytest.approx(2**-60, rel=1e-12)


def test_cells_that_only_one_side_reaches():
    assert pure_loss(Output((4, 0), 4), Output((3, 1), 4)) == math.inf
    assert pure_loss(Output((3, 1), 4), Output((4, 0), 4)) == math.inf
    assert pure_loss(Output((1, 0, 1), 2), Output((2, 0, 2), 4)) == 0


def players_of(*counts):
    return people_in(bare_grid([len(counts)]), counts)


def pure(epsilon, players):
    return Condition(epsilon, players.sizes, players.total_rows)


def test_any_procedure_can_be_measured():
    """Additive smoothing, whose loss is known: of one's own cell or of all others, whichever is larger."""

    def smoothed(players):
        return Output(tuple(n + 2 for n in players.histogram.counts.tolist()), players.total_people + 8)

    found = measure(smoothed, players_of(1, 0, 6, 3), pure(0.3, players_of(1, 0, 6, 3)))
    all_cells = math.log(18 / 17)
    expected = [max(math.log((n + 2) / (n + 1)) - all_cells, all_cells) for n in (1, 6, 3)]
    assert found.cells.tolist() == [0, 2, 3]
    assert found.losses == pytest.approx(expected, rel=1e-12)
    assert found.above == 1
    assert found.quantiles()["0.5"] == pytest.approx(expected[1])
    assert found.quantiles()["1"] == found.worst
    with pytest.raises(PromiseNotMet, match="refuses this dataset"):
        measure(lambda _: None, players_of(1, 1), pure(0.3, players_of(1, 1)))


def test_quantiles_count_people_as_a_mechanism_does():
    made = equinoise.optimize(PEOPLE, **ASKED, epsilon=1, restarts=1)
    assert quantiles(made.losses(), made.people) == made.loss_quantiles()


@pytest.mark.parametrize("kind", people.KINDS)
@pytest.mark.parametrize("asked", [{"delta": 1e-3}, {"order": 3.0}])
def test_other_conditions_are_measured_as_they_are(asked, kind):
    """With one scale for everyone nothing is chosen again, so that end to end is as with fixed noise."""
    scales = {"a": [60.0], "b": [6.0]} if kind in people.SEVERAL_COLUMNS else [60.0]
    made = people.make(kind, rows=60, epsilon=0.5, bins=17, scales=scales, **asked)
    condition = Condition(0.5, made.members.sizes, made.total_rows, made.delta, made.order)
    rows = people.laid_out(made).astype(float)
    expected = condition.divergences(rows, made.people @ rows, np.arange(len(rows)))
    found = end_to_end(made)
    assert found.divergences == pytest.approx(expected, rel=1e-6, abs=1e-15)
    assert found.losses == pytest.approx(made.losses(), rel=1e-9)
    assert found.above == 0
    assert "pure loss" in found.sentence
    apart = condition.between(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.5]))
    assert apart == (0.5 if "delta" in asked else math.inf)


@pytest.fixture(scope="module")
def mechanism():
    """A mechanism of the people of this module."""
    return equinoise.optimize(PEOPLE, **ASKED, epsilon=1, restarts=1)


def with_settings(made, solver=None, **changed):
    settings = {name: value for name, value in {**made.settings, **changed}.items() if value != "left out"}
    solver = {**made.solver, **(solver or {})}
    return replace(made, settings=settings, solver=solver, ledger=None)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"public_bounds": False}, "read off the data"),
        ({"own_start": True}, "a start of one's own"),
        ({"seed": "left out"}, "earlier version"),
        ({"solver": {"name": "optimal", "proven": False}}, "longer time limit"),
    ],
)
def test_what_cannot_be_run_again_is_refused(mechanism, changed, match):
    with pytest.raises(BadInput, match=match):
        end_to_end(with_settings(mechanism, **changed))


def test_bounds_read_off_the_data_are_refused():
    with pytest.warns(equinoise.NotPublicWarning):
        made = equinoise.optimize(PEOPLE, bins=25, epsilon=1, restarts=1)
    with pytest.raises(BadInput, match="public bounds"):
        end_to_end(made)


def test_a_profile_that_does_not_come_out_again_is_not_measured(mechanism):
    with pytest.raises(PromiseNotMet, match="does not give the saved profile"):
        end_to_end(with_settings(mechanism, utility="js"))


def test_the_game_can_exceed_its_target_end_to_end(heights):
    """The case in the docs, with one start: the certificate holds, and yet."""
    made = equinoise.optimize(heights, bounds=(163, 226), epsilon=1, restarts=1)
    assert made.certificate().holds
    found = end_to_end(made)
    assert found.worst == pytest.approx(1.92, abs=0.01)
    assert 0 < found.above < 100


def test_progress_is_told(mechanism):
    seen = []
    end_to_end(mechanism, seen.append)
    many = len(np.unique(mechanism.cells))
    assert len(seen) == many + 1
    assert seen[-1].note == f"Without a person of type {many} of {many}"


def test_outputs_are_exact_beyond_64_bits(mechanism):
    solution = Procedure(1.0, restarts=1).solve(mechanism.players)
    many = replace(solution.game, players=replace(mechanism.players, people=mechanism.players.people * 2**40))
    found = exact_output(replace(solution, game=many, profile=solution.profile * 2**40))
    once = exact_output(solution)
    assert found.sums == tuple(s * 2**40 for s in once.sums)
    assert sum(once.sums) == once.total


OPTIMIZE = [
    "--bounds",
    "pay",
    "0",
    "100",
    "--grid",
    "paper",
    "--bins",
    "25",
    "--restarts",
    "1",
    "--epsilon",
    "1",
    "--out",
    "pay.eq",
]


def test_the_command(run, folder):
    status, _, err = run("optimize", "pay.csv", *OPTIMIZE)
    assert status == 0, err
    status, out, _ = run("audit", "pay.eq", "--data", "pay.csv", "--end-to-end", "--plot", "losses.svg", "--json")
    found = json.loads(out)
    measured = found["end_to_end"]
    expected = end_to_end(Mechanism.open("pay.eq"))
    assert (status, found["passed"]) == (0, True)
    assert measured["worst"] == expected.worst
    assert measured["quantiles"] == expected.quantiles()
    assert measured["people_above_target"] == expected.above
    assert [cell["loss"] for cell in measured["cells"]] == expected.losses.tolist()
    assert [cell["cell"] for cell in measured["cells"]] == [cell["cell"] for cell in found["losses"]["cells"]]
    picture = (folder / "losses.svg").read_text()
    assert f"{expected.above} of 300 people are above the target 1" in picture
    assert (folder / "losses.svg").stat().st_mode & 0o777 == 0o600
    status, out, _ = run("audit", "pay.eq", "--data", "pay.csv", "--end-to-end")
    assert status == 0
    assert "Measured for this dataset, end to end" in out
    assert "guaranteed" not in out
    assert f"{expected.above} of 300 people are above the target 1" in out


def test_the_command_refuses_what_it_cannot_measure(run, folder):
    run("optimize", "pay.csv", *OPTIMIZE)
    status, _, err = run("audit", "pay.eq", "--end-to-end")
    assert status == 2
    assert "--data" in err
    status, _, err = run("audit", "pay.eq", "--data", "pay.csv", "--plot", "losses.svg")
    assert status == 2
    assert "--end-to-end" in err
    (folder / "other.csv").write_text("pay\n1\n50\n60\n")
    status, out, _ = run("audit", "pay.eq", "--data", "other.csv", "--end-to-end", "--plot", "losses.svg", "--json")
    assert status == 1
    assert json.loads(out)["end_to_end"] is None
    assert not (folder / "losses.svg").exists()
