import dataclasses
import datetime
import json
import math
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput
from equinoise.data.grid import Axis, Grid, number_axes
from equinoise.data.players import Players
from equinoise.formatting import at_most
from equinoise.present.figures import FIGURES, make_figure, theme
from equinoise.present.figures.cost import promised_cost
from equinoise.present.figures.joint_map import bins_per_square, coarsen
from equinoise.present.figures.losses import hardest_groups
from equinoise.present.figures.per_bin import noise_at_places, occupied_span, places
from equinoise.present.report import write_report
from equinoise.solvers.procedure import Procedure
from equinoise.statistics import baselines
from tests.helpers import people
from tests.helpers.games import small_game
from tests.helpers.mechanism_of_every_kind import HOSTILE_NAME, MECHANISM_KINDS, PEOPLE, four_columns, mechanism
from tests.helpers.private_tables import envelope


@pytest.fixture(scope="module")
def mechanisms():
    """A mechanism of every kind, by its kind."""
    return {kind: mechanism(kind) for kind in MECHANISM_KINDS}


def names_of(made):
    """The figures that a mechanism has: a map needs two columns of numbers."""
    return [name for name in FIGURES if name != "map" or len(number_axes(made.grid.axes)) > 1]


@pytest.mark.parametrize("kind", MECHANISM_KINDS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_every_kind(mechanisms, kind, name):
    notes = []
    if name not in names_of(mechanisms[kind]):
        return
    if (kind, name) == ("differential-privacy", "convergence"):
        with pytest.raises(BadInput, match="No game is played"):
            make_figure(name, mechanisms[kind])
        return
    figure = make_figure(name, mechanisms[kind], notes.append)
    assert figure.name == name
    assert notes
    assert figure.alt.endswith(".")
    assert {len(row) for row in figure.rows} == {len(figure.header)}
    specs = figure.specs()
    assert all(spec["width"] == "container" and spec["description"] == figure.alt for spec in specs)
    json.dumps(specs, allow_nan=False)  # or the page could not be read
    assert figure.chart.to_dict()["title"]["text"] == figure.title
    assert not figure.public
    assert "secret" in figure.chart.to_dict()["title"]["subtitle"][-1]


def test_playing_again_ends_where_the_saved_run_did(mechanisms):
    for kind in ("per-instance", "two", "three"):
        m = mechanisms[kind]
        figure = make_figure("convergence", m)
        assert "It ended at the saved profile, exactly" in figure.caption
        ends = {run: (kl, everyone) for run, _, kl, everyone in figure.rows}
        assert min(kl for kl, everyone in ends.values() if everyone == "yes") == pytest.approx(m.metrics()["kl"])


def test_a_game_for_another_utility_says_so():
    m = equinoise.optimize(PEOPLE, epsilon=1, bounds=(0, 100), bins=15, utility="tv", restarts=1)
    assert "a small tv, not for a small KL" in make_figure("convergence", m).caption


@pytest.mark.parametrize("kind", ["per-instance", "two", "three"])
def test_convergence_has_no_round_before_the_first(mechanisms, kind):
    """On a joint grid progress also says what comes next, which is no round: a logarithmic axis has no zero."""
    rounds = [row[1] for row in make_figure("convergence", mechanisms[kind]).rows]
    assert min(rounds) == 1


def test_a_profile_found_otherwise_is_told_apart():
    m = equinoise.optimize(
        PEOPLE, epsilon=1, bounds=(0, 100), bins=15, grid="paper", solver="optimal", time_limit=1, restarts=1
    )
    figure = make_figure("convergence", m)
    assert "optimal" in figure.caption
    assert f"less than {m.solver['lower_bound']:.4g}" in figure.words


def test_other_epsilons_are_solved_as_optimize_would(mechanisms):
    rows = make_figure("epsilons", mechanisms["per-instance"]).rows
    found = {(epsilon, method.split(",")[0]): kl for epsilon, method, kl in rows}
    direct = equinoise.optimize(PEOPLE, epsilon=2, bounds=(0, 100), bins=21, restarts=1)
    assert found[2.0, "best response"] == pytest.approx(direct.metrics()["kl"])
    assert found[2.0, "Laplace mechanism"] == pytest.approx(direct.baseline()["kl"])
    rows = make_figure("epsilons", mechanisms["differential-privacy"]).rows
    direct = envelope(PEOPLE, epsilon=4, bounds=(0, 100), bins=21)
    assert [kl for epsilon, method, kl in rows if (epsilon, method[:8]) == (4.0, "the publ")] == [
        direct.metrics()["kl"]
    ]


def test_an_epsilon_that_leaves_someone_out_is_left_out():
    few = np.array([1.0, 20, 21, 22, 40, 41, 42, 90])
    m = equinoise.optimize(few, epsilon=4, bounds=(0, 100), bins=15, restarts=1, scales=[20, 40])
    figure = make_figure("epsilons", m)
    assert "At epsilon 0.1" in figure.caption
    assert not any(epsilon == 0.1 and method.startswith("best") for epsilon, method, _ in figure.rows)


def test_distributions_are_the_mechanisms(mechanisms):
    m = mechanisms["per-instance"]
    figure = make_figure("distribution", m)
    shares = np.array([row[2:] for row in figure.rows])
    rows = baselines.laplace_kernel(m.grid.axis, 1.0)
    np.testing.assert_allclose(shares.T, [m.original, m.output, m.original @ rows])
    (spec,) = figure.specs()
    drawn = spec["data"]["values"] if "data" in spec else next(iter(spec["datasets"].values()))
    edges = m.grid.axis.padded_low + np.arange(22) * m.grid.axis.width
    first, past = occupied_span(m.original)
    np.testing.assert_allclose([point["low"] for point in drawn], edges[first : past + 1])
    np.testing.assert_allclose([point["released"] for point in drawn], [*m.output[first:past], m.output[past - 1]])
    steps = [layer["mark"]["interpolate"] for layer in spec["layer"][:2]]
    assert steps == ["step-after", "step-after"]
    assert {layer["encoding"]["x"]["field"] for layer in spec["layer"]} == {"low"}


def test_marginals_of_three_columns_are_distributions(mechanisms):
    figure = make_figure("distribution", mechanisms["three"])
    assert len(figure.panels) == 3
    for column in "abc":
        shares = np.array([row[3:] for row in figure.rows if row[0] == column])
        np.testing.assert_allclose(shares.sum(axis=0), 1)


def test_two_columns_have_maps_of_all_that_is_there(mechanisms):
    m = mechanisms["two"]
    figure = make_figure("map", m)
    original, released = ([point["p"] for point in spec["data"]["values"]] for spec in figure.specs())
    assert sum(original) == pytest.approx(1, abs=1e-3)
    inside = np.ix_(*(np.arange(*occupied_span(m.original_marginal(number))) for number in (0, 1)))
    assert sum(released) == pytest.approx(m.output_marginal(0, 1).reshape(m.grid.shape)[inside].sum(), abs=1e-3)
    shares = np.array([row[-2:] for row in figure.rows])
    assert shares[:, 0].sum() == pytest.approx(1)
    with pytest.raises(BadInput, match="two columns of numbers"):
        make_figure("map", mechanisms["per-instance"])


def test_the_axes_are_cut_to_where_anybody_is_and_categories_are_bars():
    people = pl.DataFrame({"age": [40, 41, 45] * 30, "ward": ["a", "b", "a"] * 30})
    public = {"columns": {"age": {"bounds": [0, 100], "step": 1}, "ward": {"categories": ["a", "b", "c"]}}}
    m = equinoise.optimize(people, schema=public, epsilon=2, restarts=1)
    figure = make_figure("distribution", m)
    lines, bars = figure.specs()
    assert {point["low"] for point in lines["data"]["values"]} == {39.5 + step for step in range(7)}
    assert bars["mark"]["type"] == "bar"
    assert [point["category"] for point in bars["data"]["values"]][::3] == ["a", "b", "c"]
    assert len([row for row in figure.rows if row[0] == "age"]) == 101  # the table has them all


def test_noise_is_the_rows_own_spread(mechanisms):
    m = mechanisms["per-instance"]
    x = m.grid.axis.midpoints()
    by_hand = [
        math.sqrt(sum(w / m.weight_total * (a - x[cell]) ** 2 for w, a in zip(row, x, strict=True)))
        for cell, row in zip(m.cells, *m.factors, strict=True)
    ]
    np.testing.assert_allclose(noise_at_places(m, 0), by_hand, rtol=1e-6)


def test_noise_of_a_column_is_that_of_the_product(mechanisms):
    m = mechanisms["two"]
    group = int(np.argmax(m.losses()))
    whole = np.multiply.outer(m.factors[0][group], m.factors[1][group]) / m.weight_total
    own = places(m, 1)[0][group]
    far = (np.arange(9) - own) ** 2
    expected = math.sqrt(whole.sum(axis=0) @ far) * m.grid.axes[1].width
    assert noise_at_places(m, 1)[group] == pytest.approx(expected)


def test_the_hardest_to_protect_come_first(mechanisms):
    for kind in MECHANISM_KINDS:
        m = mechanisms[kind]
        header, rows = hardest_groups(m, 4)
        assert {len(row) for row in rows} == {len(header)}
        found = [float(row[-1]) for row in rows]
        assert found == sorted(found, reverse=True)
        assert found[0] == pytest.approx(m.worst_loss, rel=0.01)


def test_what_is_promised_needs_no_data_and_is_never_too_little(mechanisms):
    for m in mechanisms.values():
        figure = promised_cost(m)
        assert figure.public
        assert all(draws <= m.draws for draws, _ in figure.rows)
        assert all(m.promised_cost(many) >= m.cost(many) for many in range(1, m.draws + 1))
        assert str(m.total_people) not in str(m.promise.public())


def test_a_budgets_share_for_one_draw_is_not_public():
    m = equinoise.optimize(PEOPLE, epsilon=1, delta=1e-5, draws=4, bounds=(0, 100), bins=15, restarts=1)
    assert at_most(m.epsilon) in str(m.promise)
    assert at_most(m.epsilon) not in str(m.promise.public())
    assert "at most 1 with delta = 1e-05" in str(m.promise.public())
    assert promised_cost(m).rows == [(1, "1"), (3, "1"), (4, "1")]


def test_a_figure_that_there_is_not(mechanisms):
    with pytest.raises(BadInput, match="no figure 'pie'"):
        make_figure("pie", mechanisms["two"])


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK])
def test_everything_can_be_made_out_on_both_grounds(look):
    assert contrast(look["ink"], look["ground"]) > 7
    assert contrast(look["faint"], look["ground"]) > 4.5
    for colour in (*theme.COLOURS.values(), *(method.colour for method in theme.METHODS.values())):
        assert contrast(colour, look["ground"]) > 3


def legends(spec):
    """Of all encodings, however deep."""
    if isinstance(spec, list):
        return [found for part in spec for found in legends(part)]
    if not isinstance(spec, dict):
        return []
    own = [spec["legend"]] if spec.get("legend") else []
    return own + [found for part in spec.values() for found in legends(part)]


@pytest.mark.parametrize("kind", MECHANISM_KINDS)
@pytest.mark.parametrize("name", FIGURES)
def test_legends_are_above_where_no_side_can_cut_them_off(mechanisms, kind, name):
    if (kind, name) == ("differential-privacy", "convergence") or name not in names_of(mechanisms[kind]):
        return
    figure = make_figure(name, mechanisms[kind])
    spec = figure.chart.to_dict()
    text = json.dumps(spec)
    assert text.count('"color": {"') <= len(legends(spec))
    assert {legend["orient"] for legend in legends(spec)} <= {"top"}


def test_costs_that_agree_are_all_seen(mechanisms):
    figure = make_figure("cost", mechanisms["differential-privacy"])
    drawn = ElementTree.fromstring(figure.svg())
    label, points = "aria-label", {}
    for element in drawn.iter("{http://www.w3.org/2000/svg}path"):
        if element.get(label, "").startswith("draws: 1;"):
            points[element.get(label).split("who: ")[1]] = float(element.get("d")[1:].split(",")[0].lstrip("-"))
    assert list(points) == ["losses added up", "worst person", "median person"]
    sizes = list(points.values())
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


def labels(figure):
    words = ElementTree.fromstring(figure.svg()).iter("{http://www.w3.org/2000/svg}text")
    return [element.text for element in words if element.text]


@pytest.mark.parametrize(
    ("unit", "said"), [(1, {"3", "10", "30"}), (100, {"300", "1,000", "3,000"}), (1e-3, {"0.003", "0.01", "0.03"})]
)
def test_marks_of_noise_are_numbers_as_people_write_them(unit, said):
    m = equinoise.optimize(PEOPLE * unit, epsilon=1, bounds=(0, 100 * unit), bins=101, restarts=1)
    found = labels(make_figure("noise", m))
    assert said <= set(found)
    assert not [text for text in found if "e+" in text or "e-" in text or "e−" in text]


def test_a_long_name_is_cut_beside_an_axis_and_whole_above():
    name = "how much they said that they had been paid in the year before last, in thousands of dollars, before tax"
    m = equinoise.optimize(PEOPLE, column=name, epsilon=1, bounds=(0, 100), bins=21, restarts=1)
    found = labels(make_figure("noise", m))
    assert f"Average noise of the people in each bin of '{name}'" in found
    assert [text for text in found if text.startswith("noise (how much") and text.endswith("…")]
    assert theme.config(theme.PAGE)["axisX"]["titleLimit"] == {"expr": "width"}


def test_one_run_ends_at_one_distance(mechanisms):
    figure = make_figure("convergence", mechanisms["per-instance"])
    assert "1 run; those that protect everyone end at a KL of " in figure.words


def test_in_a_notebook(mechanisms):
    for m in mechanisms.values():
        shown = m._repr_html_()
        assert "The certificate holds." in shown
        assert "<img" not in shown
        assert "as secret as the data" in shown
        assert repr(m) == f"<{m.kind} mechanism for {m.grid.name} at epsilon {m.promise.epsilon:g}>"
        assert repr(m) == str(m)
    for name in ("distribution", "noise", "losses", "cost"):
        assert getattr(mechanisms["per-instance"], f"plot_{name}")().chart.to_dict()["description"]


def test_a_solution_shows_itself_even_if_it_protects_nobody():
    game = small_game([1, 0, 30, 40, 2], [0.01], 0.1)
    solution = equinoise.best_response(game)
    assert repr(solution) == "<best-response solution of a game for 'column 0' at epsilon 0.1>"
    assert "Not everyone is protected." in solution._repr_html_()
    assert "<td>yes, checked</td>" in solution._repr_html_()
    assert "tier" not in solution._repr_html_()  # nothing is promised of a solution
    assert solution.plot_losses().chart.to_dict()["description"]
    assert solution.plot_cost().chart.to_dict()


def test_people_with_several_rows_have_figures_too():
    grid = Grid((Axis.padded("value", 0, 10, bins=15),))
    bags = (((5, 1),), ((6, 1), (7, 2)), ((7, 1),), ((9, 2),))
    players = Players.in_bags(grid, bags, np.array([40, 30, 50, 4]))
    solution = Procedure(2.0, restarts=1).solve(players)
    made = equinoise.PerInstance.from_solution(solution, settings={"unit": "id", "public_bounds": True})
    for name in names_of(made):
        figure = make_figure(name, made)
        assert {len(row) for row in figure.rows} == {len(figure.header)}
    kernel = solution.game.kernel.weights[0] / solution.game.kernel.total
    bins, groups = places(made, 0)
    for bin, group, noise in zip(bins, groups, noise_at_places(made, 0), strict=True):
        row = kernel[made.scale_indices[group], bin]
        expected = math.sqrt(row @ (np.arange(15) - bin) ** 2) * grid.axis.width
        assert noise == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert "can be repeated here" in make_figure("convergence", made).caption
    assert any("(2 rows)" in row[0] for row in hardest_groups(made, 9)[1])
    plain = equinoise.optimize(PEOPLE, epsilon=2.0, bounds=(0, 100), bins=15, restarts=1)
    single = dataclasses.replace(plain, settings={"unit": "id", "public_bounds": True}, ledger=None)
    assert str(single.promise.public()) == str(made.promise.public())  # whether anyone has several rows is not public
    assert "all rows of that one person" in str(single.promise.public())
    assert "Everyone is protected." in solution._repr_html_()


@pytest.fixture(scope="module")
def wards():
    """A game of a number column, in which some have no value, and a category column."""
    data = pl.DataFrame({"age": [40, 41, 45, None] * 30, "ward": ["low", "upper", "low"] * 40})
    age = {"bounds": [35, 50], "step": 1, "missing": "category"}
    public = {"columns": {"age": age, "ward": {"categories": ["low", "upper", "none"]}}}
    return equinoise.optimize(data, schema=public, epsilon=2, restarts=1)


def axes_of(spec):
    """The x and y of a chart, and its points."""
    layers = [spec, *spec.get("layer", [])]
    points = spec["data"]["values"] if "data" in spec else layers[-1]["data"]["values"]
    found = next(layer["encoding"] for layer in layers if "x" in layer.get("encoding", {}))
    return found["x"], found["y"], points


@pytest.mark.parametrize("name", ["noise", "losses"])
def test_categories_are_drawn_by_their_names(wards, name):
    figure = make_figure(name, wards)
    x, _, points = axes_of(figure.specs()[1])
    assert (x["type"], x["sort"]) == ("nominal", ["low", "upper", "none"])
    assert {point[x["field"]] for point in points} == {"low", "upper"}  # where anybody is
    named = {row[1:3] for row in figure.rows if row[0] == "ward"}
    assert named == {("low", "low"), ("upper", "upper")}


def test_noise_of_categories_is_the_probability_of_another_one(wards):
    figure = make_figure("noise", wards)
    bins, groups = places(wards, 1)
    weights = wards.factors[1][groups] / wards.factors[1][groups].sum(axis=1, keepdims=True)
    expected = [1 - float(row[bin]) for row, bin in zip(weights, bins, strict=True)]
    np.testing.assert_allclose(noise_at_places(wards, 1), expected, rtol=1e-9, atol=1e-12)
    _, y, _ = axes_of(figure.specs()[1])
    assert y["title"] == "probability of another category"
    assert "the probability of coming out as another category" in figure.caption
    measure = figure.header.index("noise is")
    told = {(row[0], row[measure]) for row in figure.rows}
    assert told == {("age", "distance"), ("ward", "probability of another category")}
    of_wards = [row[-2:] for row in figure.rows if row[0] == "ward"]
    assert all(0 <= share <= 1 for shares in of_wards for share in shares)


def test_people_without_a_value_are_named_and_have_no_distance(wards):
    losses, noise = (make_figure(name, wards) for name in ("losses", "noise"))
    assert ("missing", "missing") in {row[1:3] for row in losses.rows if row[0] == "age"}
    x, _, points = axes_of(losses.specs()[0])
    assert x["title"] == "age (at the right end: missing)"
    assert {"missing", "40"} <= {point["bin"] for point in points}
    assert {row[1] for row in noise.rows if row[0] == "age"} == {39.5, 40.5, 44.5}
    assert axes_of(noise.specs()[0])[0]["title"] == "age"
    bins, groups = places(wards, 0)
    for bin, group, far in zip(bins, groups, noise_at_places(wards, 0), strict=True):
        if bin < 16:
            weights = wards.factors[0][group, :16] / wards.factors[0][group, :16].sum()
            assert far == pytest.approx(math.sqrt(weights @ (np.arange(16) - bin) ** 2))


def test_what_a_rule_changes_is_told_by_category():
    data = pl.DataFrame({"ward": ["low", "upper", "low"] * 40})
    made = envelope(data, schema={"columns": {"ward": {"categories": ["low", "upper", "none"]}}}, epsilon=1)
    figure = make_figure("noise", made)
    x, _, _ = axes_of(figure.specs()[0])
    assert (x["type"], x["sort"]) == ("nominal", ["low", "upper", "none"])
    assert [row[:2] for row in figure.rows] == [("low", "low"), ("upper", "upper"), ("none", "none")]


@pytest.mark.parametrize("kind", people.KINDS)
def test_every_kind_of_people_has_every_figure(kind):
    made = people.make(kind, draws=5)
    for name in names_of(made):
        figure = make_figure(name, made)
        assert {len(row) for row in figure.rows} == {len(figure.header)}
        json.dumps(figure.specs(), allow_nan=False)
    for number in range(len(made.grid.axes)):
        bins, groups = places(made, number)
        mine = [(group, made.grid.bins_of(np.array([cell]))[0, number]) for group, bag in enumerate(made.bags)
                for cell, _ in bag]  # fmt: skip
        assert list(zip(groups.tolist(), bins.tolist(), strict=True)) == list(dict.fromkeys(mine))
        assert len(noise_at_places(made, number)) == len(bins)


def test_large_maps_are_drawn_in_fewer_squares_and_nothing_is_lost():
    values = np.random.default_rng(1).random((130, 64))
    found = coarsen(values, [bins_per_square(130), bins_per_square(64)])
    assert found.shape == (44, 64)
    assert found[0, 5] == pytest.approx(values[:3, 5].sum())
    assert found[-1, 0] == pytest.approx(values[129, 0])
    assert found.sum() == pytest.approx(values.sum())
    m = equinoise.optimize(
        four_columns(PEOPLE), column=["a", "b"], epsilon=2, bounds={"a": (0, 100), "b": (0, 100)}, bins=140, restarts=1
    )
    figure = make_figure("map", m)
    assert "2 x 2 bins" in figure.caption
    inside = np.ix_(*(np.arange(*occupied_span(m.original_marginal(number))) for number in (0, 1)))
    for spec, shares in zip(figure.specs(), (m.original, m.output), strict=True):
        points = spec["data"]["values"]
        assert len(points) <= 64 * 64
        total = shares.reshape(m.grid.shape)[inside].sum()
        assert sum(point["p"] for point in points) == pytest.approx(total, abs=1e-3)
        assert max(point["x2"] for point in points) <= m.grid.axes[0].padded_high + 1e-9


def test_a_hostile_name_in_a_picture(tmp_path):
    write_report(mechanism("two"), tmp_path / "a.svg", figure="distribution")
    root = ElementTree.fromstring((tmp_path / "a.svg").read_text())
    assert not [element for element in root.iter() if element.tag.endswith("img")]
    assert any(HOSTILE_NAME in text for text in root.itertext())


@pytest.mark.parametrize(
    "name", ["pay\n(EUR)", "pay\u202egpj", "pay\x1b[31m", "pay\\", "C:\\users\\x1b", "pay\u2028x", "a\"'b"]
)
def test_a_name_whose_letters_cannot_be_seen_is_spelled_out(tmp_path, name):
    m = equinoise.optimize(PEOPLE, column=name, epsilon=1, bounds=(0, 100), bins=15, restarts=1)
    for figure in ("distribution", "noise", "losses"):
        write_report(m, tmp_path / f"{figure}.svg", figure=figure)
        text = " ".join(ElementTree.fromstring((tmp_path / f"{figure}.svg").read_text()).itertext())
        assert m.grid.axis.label in text
        assert text.isprintable()


def test_columns_of_dates_are_drawn_and_listed_as_dates():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=number % 90) for number in range(400)]
    frame = pl.DataFrame({"admitted": days, "stay": [number % 7 for number in range(400)]})
    bounds = [datetime.date(2024, 1, 1), datetime.date(2024, 3, 31)]
    schema = {"columns": {"admitted": {"bounds": bounds, "bins": 13}, "stay": {"bounds": [0, 10], "step": 1}}}
    mechanism = equinoise.optimize(frame, schema, epsilon=3)
    for name in ("distribution", "losses", "noise", "map"):
        figure = make_figure(name, mechanism)
        text = json.dumps(figure.specs())
        assert "utcFormat((19723 + datum.value) * 864e5, '%Y-%m-%d')" in text, name  # 2024-01-01 since 1970
        assert "2024-01-01" in str(figure.rows), name
    ends = [row[1:3] for row in make_figure("distribution", mechanism).rows if row[0] == "admitted"]
    assert (ends[0][0], ends[-1][1]) == ("2024-01-01", "2024-03-31")
    following = [datetime.date.fromisoformat(end) + datetime.timedelta(days=1) for _, end in ends[:-1]]
    assert [datetime.date.fromisoformat(begin) for begin, _ in ends[1:]] == following
