"""The paper's experiments: what is stored, what is written down, and that the paper's figures are marked as its own."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks import heights as basketball
from equinoise import BadInput
from equinoise.cli.reproduce import print_kl
from equinoise.experiments import datasets, findings, games, goals, paper_results, regression, report, tables, verdict
from equinoise.experiments import reproduce as runs
from equinoise.experiments.datasets import Dataset
from equinoise.experiments.markdown import markdown
from equinoise.experiments.parts import Part, finish
from equinoise.experiments.settings import QUICK, WHOLE, Settings
from equinoise.present.figures import Figure
from equinoise.present.page import Page, Paragraph, Section, Table
from equinoise.solvers.solution import tell
from equinoise.statistics import baselines
from equinoise.statistics.metrics import metrics

TINY = Settings(
    epsilons={"height": (1.0,), "income": (2.0,), "large-income": (1.0,), "regression": (1.0,)},
    best_response_seeds=(0, 1), genetic_seeds=(0,), optimal_seeds=(0,), regression_seeds=(0, 1), generations=2,
    time_limit=1.0, joint_restarts=1, restarts=2, cost_draws=(1, 5),
)  # fmt: skip


def few_players():
    """150 made-up people under the name of the real ones, so that a whole run takes seconds."""
    random = np.random.default_rng(5)
    height = random.normal(195, 8, 150).clip(165, 225).round()
    weight = (95 + 1.1 * (height - 195) + random.normal(0, 5, 150)).clip(55, 155).round()
    return replace(datasets.heights(), columns={"height": height, "weight": weight})


@pytest.fixture
def few(monkeypatch):
    loaders = {"height": (few_players,), "income": (), "large-income": (), "regression": (few_players,)}
    monkeypatch.setattr(runs, "LOADERS", loaders)
    monkeypatch.setattr(runs, "QUICK", TINY)
    return few_players()


@pytest.fixture
def no_pictures(monkeypatch):
    """Drawing takes most of the time of a small run."""
    monkeypatch.setattr(Figure, "svg_without_caption", "<svg/>")


class Draws:
    """Stands in for a mechanism of two columns: draws are people themselves."""

    solver, protected = {"name": "stand-in"}, 150

    def __init__(self, frame):
        self.rows = frame.to_numpy()

    def sample(self, n, source):
        return self.rows[np.frombuffer(source(n), dtype=np.uint8).astype(int) % len(self.rows)]

    def costs(self, draws, delta):
        return [{"draws": draws[0], "delta": delta, "worst": 7.25, "median": 0.5, "added_up": 150.0}]

    def metrics(self):
        return {"kl": 0.01}


@pytest.fixture
def joint(monkeypatch):
    asked = []

    def optimize(frame, **settings):
        asked.append(settings)
        return Draws(frame)

    monkeypatch.setattr(regression, "optimize", optimize)
    return asked


def test_the_papers_figures_are_those_that_it_prints():
    assert [len(table.rows) for table in paper_results.TABLES.values()] == [18, 12, 4]
    assert [paper_results.HEIGHT.best_kl(e) for e in paper_results.HEIGHT.epsilons] == [
        0.0475,
        0.0248,
        0.0066,
        0.0045,
        0.0005,
        0.0001,
    ]
    assert paper_results.INCOME.epsilons == (1, 2, 4, 8)
    assert paper_results.INCOME.rows["genetic", 8]["cosine"] == 1
    assert paper_results.LARGE_INCOME.rows["best-response", 2]["seconds"] == 633 * 60
    assert ("genetic", 1) not in paper_results.LARGE_INCOME.rows
    for table in paper_results.TABLES.values():
        laplace = [row for (method, epsilon), row in table.rows.items() if method == "laplace" and epsilon >= 1]
        assert all(a["kl"] > b["kl"] and a["cosine"] < b["cosine"] for a, b in pairwise(laplace))


def test_the_data_are_public_people_within_public_bounds():
    loaded = [load() for load in (datasets.heights, datasets.wages, datasets.incomes, datasets.sampled_incomes)]
    assert [one.people for one in loaded] == [1844, 935, 9275, 10000]
    assert np.array_equal(loaded[0].columns["height"], basketball.heights())
    assert loaded[3].digest == datasets.sampled_incomes().digest
    for one in loaded:
        for name, (low, high) in one.bounds.items():
            assert low <= one.columns[name].min() < one.columns[name].max() <= high
        axis = one.axis()
        edges = np.linspace(axis.padded_low, axis.padded_high, axis.bins + 1)
        assert np.array_equal(one.histogram().counts, np.histogram(one.columns[one.column], edges)[0])


def test_a_game_is_described_by_figures_that_can_be_worked_out_again(few):
    part = next(p for p in games.parts(few, TINY) if p.settings["method"] == "best-response" and "wide" in p.name)
    found = part.work(lambda note: None)
    p, q = few.histogram().counts / 150, np.array(found["output"])
    assert found["metrics"] == metrics(p, q, few.axis().midpoints())
    assert found["protected"] == 150
    assert sum(many for _, many in found["losses"]) == 150
    assert max(loss for loss, _ in found["losses"]) <= 1
    assert [value is None for value in found["noise_sd"]] == (p == 0).tolist()
    last = [entry for entry in found["convergence"] if entry[0] == 1][-1]
    assert found["ends"][1] == last[2:]
    assert min(end for end, protected in found["ends"] if protected == 150) == pytest.approx(found["metrics"]["kl"])
    assert [row["draws"] for row in found["costs"]] == [1, 5]


def test_noise_is_as_wide_as_draws_say():
    axis = few_players().axis()
    rows = baselines.laplace_kernel(axis, 2.0)
    drawn = np.random.default_rng(1).choice(axis.midpoints(), 200_000, p=rows[40])
    spread = games.row_spreads(rows, axis)[40]
    assert abs(drawn.std() - spread) < 0.01 * spread
    assert abs(drawn.std() - 1.05 * spread) > 0.01 * spread


def test_the_genetic_solver_shows_its_fittest_profile(few):
    part = next(p for p in games.parts(few, TINY) if p.settings["method"] == "genetic")
    found = part.work(lambda note: None)
    assert [entry[1] for entry in found["convergence"]] == [1, 2]
    assert found["ends"][0][0] == pytest.approx(found["metrics"]["kl"])


def test_a_whole_run_writes_the_page_the_tables_and_the_manifest(few, joint, tmp_path):
    out = tmp_path / "out"
    found = runs.reproduce(out=out, quick=True)
    assert not found.left_out
    assert found.reused == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["experiments"] == ["height", "income", "large-income", "regression"]
    assert manifest["settings"]["best_response_seeds"] == [0, 1]
    assert {"equinoise", "Python", "numpy", "scikit-learn"} <= set(manifest["versions"])
    assert manifest["data"]["heights"]["people"] == 150
    assert len(manifest["parts"]) == found.parts == len(list((out / "parts").iterdir()))
    assert all((out / name).is_file() for name in manifest["files"])
    assert {goal["name"].split(",")[0] for goal in manifest["goals"]} == {"heights"}
    with (out / "tables" / "heights.csv").open() as file:
        rows = {(r["method"], r["scales"], r["whose"]): r for r in csv.DictReader(file)}
    kls = [json.loads(f.read_text())["result"]["metrics"]["kl"] for f in (out / "parts").glob("*-best-response-wide-*")]
    assert len(kls) == 2
    assert float(rows["best-response", "wide", "ours"]["kl_mean"]) == pytest.approx(np.mean(kls))
    assert float(rows["best-response", "wide", "ours"]["kl_sd"]) == pytest.approx(np.std(kls, ddof=1))
    assert rows["genetic", "paper", "the paper's"]["kl_mean"] == "0.0176"
    assert rows["genetic", "paper", "the paper's"]["seconds_mean"] == "23520.0"
    assert joint[0]["column"] == ["height", "weight"]
    assert joint[0]["bounds"] == {"height": (163.0, 226.0), "weight": (50.0, 160.0)}

    text, page = (out / "reproduction.md").read_text(), (out / "reproduction.html").read_text()
    for line in (line for line in text.splitlines() if "the paper's †" in line and line.startswith("| 1 |")):
        figures = re.findall(r"†? ?\d+\.\d{4}", line)
        assert figures
        assert all(figure.startswith("†") for figure in figures), line
    assert "0.0066" in text
    assert "7.25 for the worst-placed person" in text
    assert "150 draws: at most" in text
    assert "This is a quick run" in text
    assert page.count("<svg") == 6 == page.count('role="img"')
    assert '<tr class="marked">' in page
    assert not re.search(r"<(script|link|img|iframe)|(src|href)=.?https?:|url\(['\"]?https?:", page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert "<title>" in (out / name).read_text()


def test_a_run_that_was_stopped_goes_on_where_it_was(few, no_pictures, tmp_path):
    out = tmp_path / "out"

    def stop(done, of, part, note):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.reproduce(["height"], out=out, quick=True, watch=stop)
    kept = sorted((out / "parts").iterdir())
    assert len(kept) == 3
    assert not (out / "manifest.json").exists()
    first = runs.reproduce(["height"], out=out, quick=True)
    assert (first.reused, first.parts) == (3, 9)
    before = [json.loads(file.read_text())["result"] for file in kept]

    kept[0].write_bytes(kept[0].read_bytes()[:100])
    kept[1].write_text(kept[1].read_text().replace('"protected": 150', '"protected": 149'))
    kept[2].write_text("[]")
    again = runs.reproduce(["height"], out=out, quick=True)
    assert again.reused == 6
    after = [json.loads(file.read_text())["result"] for file in kept]
    for old, new in zip(before, after, strict=True):
        assert {**old, "seconds": 0, "solver": 0} == {**new, "seconds": 0, "solver": 0}
    assert runs.reproduce(["height"], out=out, quick=True).reused == 9


def test_other_settings_and_other_versions_are_done_anew(tmp_path, monkeypatch):
    worked = []

    def part(**settings):
        return Part("name", settings, lambda tell: worked.append(1) or {"number": len(worked)})

    assert finish(part(a=1), tmp_path, print).result == {"number": 1}
    assert finish(part(a=1), tmp_path, print).reused
    assert finish(part(a=2), tmp_path, print).result == {"number": 2}
    monkeypatch.setattr("equinoise.experiments.parts.__version__", "next")
    assert not finish(part(a=1), tmp_path, print).reused


def test_a_part_that_cannot_be_done_is_told_and_tried_again(few, no_pictures, monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise BadInput("Not today.")

    monkeypatch.setattr(regression, "game", refuse)
    found = runs.reproduce(["regression"], out=tmp_path / "out", quick=True)
    assert found.left_out == {"regression-heights-game-eps1": "Not today."}
    assert "regression-heights-game-eps1: Not today." in (tmp_path / "out" / "reproduction.md").read_text()
    assert runs.reproduce(["regression"], out=tmp_path / "out", quick=True).left_out


def test_a_stopped_solver_is_no_finished_part(few, monkeypatch, tmp_path):
    part = next(p for p in games.parts(few, TINY) if p.settings["method"] == "optimal")
    monkeypatch.setattr(
        "equinoise.solvers.optimal.search.Search.run", lambda self: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        finish(part, tmp_path, lambda note: None)
    assert not list(tmp_path.iterdir())


def row(method, kl, **other):
    return tables.Row(1.0, method, "wide", tables.OURS, 100, {"kl": [kl]}, **{"protected": 100, **other})


def test_a_goal_that_is_missed_says_why():
    table = [row("best-response", 0.0067), row("optimal", 0.00664, gap=0.0)]
    best, optimal = goals.height_goals(table)
    assert not best.reached
    assert "0.0066 is possible" in best.why
    assert optimal.reached  # to four decimals
    (proven,) = goals.height_goals([row("optimal", 0.0068, lower_bound=0.00675)])
    assert "no profile of these scales can" in proven.sentence()
    (open_gap,) = goals.height_goals([row("optimal", 0.0068, lower_bound=0.001, gap=0.0058)])
    assert "gap of 0.0058" in open_gap.why
    (left_out,) = goals.height_goals([row("optimal", 0.001, protected=98)])
    assert not left_out.reached
    assert "2 people" in left_out.why
    networks = [
        {"method": "original", "rmse_padded": [0.02, 0.02]},
        {"method": "game", "epsilon": 1, "rmse_padded": [0.021, 0.024], "kl": 0.5, "data": "heights"},
    ]
    (missed,) = goals.regression_goals(networks)
    assert (missed.reached, missed.limit) == (False, pytest.approx(0.022))
    assert "KL of 0.500" in missed.why


def test_the_verdict_says_which_scales_reached_what():
    def own(method, scales, kl, **other):
        return tables.Row(1.0, method, scales, tables.OURS, 100, {"kl": [kl]}, **{"protected": 100, **other})

    table = [
        own("best-response", "wide", 0.0011), own("optimal", "wide", 0.0009, lower_bound=0.0009),
        own("best-response", "paper", 0.2963), own("optimal", "paper", 0.2963, lower_bound=0.296379),
    ]  # fmt: skip
    reached, impossible = list(goals.height_goals(table)), verdict.out_of_reach(table)
    assert impossible == [verdict.PaperScales(1.0, 0.296379, 0.0066)]
    first, second = verdict.verdict(reached, impossible)
    assert first.startswith("Not reproduced with the paper's own scales")
    assert "0.2963 against 0.0066 † at epsilon 1" in first  # a lower bound is rounded down
    assert "With our wide scales, which are not the paper's, all 2 figures below were reached" in second
    (alone,) = verdict.verdict([replace(reached[0], reached=False), reached[1]], [])
    assert "1 of 2 figures" in alone
    assert verdict.verdict([], []) == []
    open_search = [own("optimal", "paper", 0.2963, lower_bound=0.001)]
    assert verdict.out_of_reach(open_search) == []
    assert verdict.kl_lines(table) == [["1", "0.0011", "0.0009", "0.2963", "0.2963", "† 0.0066", "† 0.0066"]]
    assert verdict.kl_lines(table[:1])[0][2] == "-"


@pytest.mark.parametrize(
    ("change", "text"), [(0.1234, "+12.3%"), (-0.0004, "0.0%"), (0.0, "0.0%"), (-0.0123, "-1.2%"), (0.0006, "+0.1%")]
)
def test_a_change_of_nothing_has_no_sign(change, text):
    assert tables.signed_percent(change) == text


def test_genetic_rows_of_few_generations_are_no_result(few, no_pictures, tmp_path):
    runs.reproduce(["height"], out=tmp_path / "out", quick=True)
    text = (tmp_path / "out" / "reproduction.md").read_text()
    ours = [line for line in text.splitlines() if line.startswith("| 1 | genetic") and "| ours |" in line]
    assert len(ours) == 2
    assert all("genetic (2 generations: too few, not a result)" in line for line in ours)
    assert "| 1 | genetic | paper | the paper's †" in text
    assert "It is in no picture." in text
    kl = (tmp_path / "out" / "tables" / "heights-kl.csv").read_text()
    assert "genetic," not in kl
    assert "genetic †" in kl
    assert text.index("How to read this") < text.index("What was reached, with which scales")
    assert "means over 2 seeds (best response), 1 seed (genetic) and 1 seed (optimal)" in text
    assert "public bounds 163 to 226" in text  # these people are others than those whose ends they are


def test_bounds_that_are_the_ends_of_the_data_are_called_so():
    heights = datasets.heights()
    assert report.bounds_words(heights).startswith("bounds 163 to 226 (the smallest and the largest value in the data")
    assert report.bounds_words(datasets.wages()) == "public bounds 0 to 4000"


def test_what_is_found_out_about_the_paper():
    heights = datasets.heights()
    assert len({finding.title for finding in findings.grid_findings(heights)}) == 7
    for line in findings.one_grid(heights).lines:
        above, of = map(int, line[2].split("/"))
        assert math.floor(above / of * 10**4) / 10**4 == float(line[1].split()[1])  # cut, not rounded
    inside = [(int(line[3]), int(line[4])) for line in findings.one_grid(heights).lines]
    assert len({one for one, _ in inside}) == 1
    assert [own for _, own in inside] == sorted({own for _, own in inside})
    for line in findings.sd_of_probabilities(heights).lines[:2]:
        assert float(line[4]) > float(line[1].split()[1])
        assert float(line[3]) >= float(line[4])
    theorem = findings.two_theorems()
    assert theorem.lines[2][:2] == ["1", "0.1296"]
    assert float(theorem.lines[0][1]) > 0.2
    assert "negative length" in findings.padding(heights).text
    assert "9.210" in findings.kl_ceiling(heights).text
    assert "8.6%" in findings.rmse_distance().text
    assert "4.1%" in findings.rmse_distance().text


def test_a_network_learns_a_line_and_not_noise():
    x = np.linspace(0, 1, 200)
    line = np.column_stack([x, 0.2 + 0.5 * x])
    rmse, curve = regression.fit_and_score(line, line, np.array([0.0, 1.0]), 0)
    assert rmse < 0.01
    assert curve == pytest.approx([0.2, 0.7], abs=0.03)
    shuffled = np.column_stack([x, np.random.default_rng(0).permutation(line[:, 1])])
    assert regression.fit_and_score(shuffled, line, np.array([0.0]), 0)[0] > 0.05


def test_noisy_rows_come_from_the_rows_of_the_laplace_mechanism(few):
    many = replace(few, columns={"height": np.full(40_000, 200.0), "weight": np.full(40_000, 90.0)})
    task = regression.Task(many)
    drawn = regression.noisy_rows(task, 4.0, 3)
    for column, axis in enumerate(task.axes):
        at = axis.cell_of(task.raw[0, column])
        seen = np.bincount([axis.cell_of(v) for v in drawn[:, column]], minlength=axis.bins)
        for epsilon, fits in ((4.0, True), (5.2, False), (2.8, False)):
            expected = 40_000 * baselines.laplace_kernel(axis, epsilon)[at]
            statistic = ((seen - expected) ** 2 / expected).sum()
            assert (statistic < axis.bins + 6 * math.sqrt(2 * axis.bins)) == fits


def test_the_regression_table_states_what_draws_cost(few, joint):
    results = [part.work(lambda note: None) for part in regression.parts(few, TINY)]
    lines = tables.regression_lines(few, results)
    assert [line[2].split(",")[0] for line in lines] == ["ours", "the paper's †", *["ours"] * 3, *["the paper's †"] * 2]
    each, split = (line[6] for line in lines if "Laplace mechanism," in line[1])
    assert each.startswith("1 a value, 2.005 a person")
    assert split.startswith("0.5 a value, 1.003 a person")
    game = next(one for one in results if one["method"] == "game")
    base = next(one for one in results if one["method"] == "original")
    assert game["draws"] == 150
    assert np.mean(game["rmse"]) < 1.2 * np.mean(base["rmse"])
    assert game["rmse_padded"][0] == pytest.approx(game["rmse"][0] / few.axis("weight").range)


def test_settings_cover_what_the_paper_prints():
    assert {name: WHOLE.epsilons[name] for name in paper_results.TABLES} == {
        n: t.epsilons for n, t in paper_results.TABLES.items()
    }
    assert WHOLE.generations == 270
    assert WHOLE.restarts == QUICK.restarts == 20
    for name, epsilons in QUICK.epsilons.items():
        assert set(epsilons) <= set(WHOLE.epsilons[name])


def test_a_page_escapes_what_is_in_it(monkeypatch):
    drawn = '<svg id="a"><use href="#a"/><g clip-path="url(#a)"/></svg>'
    monkeypatch.setattr(Figure, "svg_without_caption", drawn)
    figure = Figure("p", "T <b>", "A [x] & y.", "B", (), (), ())
    table = Table(("x|y",), (("<i>",), ("the paper's <",)), marked="the paper's")
    text = Page("<T>", [Section("s", "", [Paragraph("a < b"), table, figure])], static=True)
    page, plain = text.html(), markdown(text, "pictures")
    assert "<i>" not in page
    assert "&lt;T&gt;" in page
    assert page.count('<tr class="marked">') == 1
    assert 'href="#p-a"' in page
    assert "url(#p-a)" in page
    assert "<script" not in page
    assert "<figcaption>A [x] &amp; y.</figcaption>" in page
    assert "x\\|y" in plain
    assert "![T <b>. A x & y. B](pictures/p.svg)" in plain


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heigth", "--out", "new"], "no experiment 'heigth'. Choose 'height', 'income'"),
        (["--out", "pay.csv"], "'pay.csv' is a file"),
        (["--out", "."], "has other things in it"),
        (["--out", "no/such/place"], "There is no folder"),
        ([], "Missing option '--out'"),
    ],
)
def test_what_cannot_be_done_is_refused(run, arguments, words):
    status, out, err = run("reproduce", *arguments)
    assert (status, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(("module", "package"), datasets.EXTRA_PACKAGES.items())
def test_a_missing_extra_names_what_to_install(run, monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    status, _, err = run("reproduce", "--out", "new")
    assert status == 2
    assert f"need {package}: pip install 'equinoise[experiments]'" in err


def test_the_command_tells_what_was_reached(few, no_pictures, run, folder):
    status, out, err = run("reproduce", "height", "--quick", "--out", "new", "--json")
    assert status == 0
    told = json.loads(out)
    assert (told["parts"], told["reused"]) == (9, 0)
    assert told["reached"] == all(goal["reached"] for goal in told["goals"])
    assert told["kl"][0]["the paper's best †"] == "† 0.0066"
    assert told["verdict"]
    assert "1 of 9: heights-laplace-eps1" in err
    status, out, _ = run("reproduce", "height", "--quick", "--out", "new")
    assert "9 parts, 9 of them done before" in out
    legend, first, *_ = out.splitlines()
    assert legend == "† = printed in the paper; ours are on other public data; KL 0 means the same as the data"
    assert first == told["verdict"][0]
    assert out.splitlines()[-1].startswith("9 parts, ")
    assert "KL of one draw from the original, heights of basketball players" in out
    assert (folder / "new" / "reproduction.html").is_file()


def test_the_table_of_kl_fits_a_page_and_has_every_figure_in_one_piece(capsys):
    line = ["0.1", *["0.0139 ± 0.0001"] * 4, "† 0.0512", "† 0.0475"]
    print_kl([line, line])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 111
    assert out.count("0.0139 ± 0.0001") == 8
    assert out.count("† 0.0475") == 2
    print_kl([["0.1", "0.0139 ± 0.0001", "0.0063", "1.5075 ± 0.0001", "1.5075", "† 0.0512", "† 0.0475"]])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 104


def test_help_does_not_load_the_experiments():
    heavy = ("equinoise.experiments", "rich", "numpy")
    code = f"import sys, equinoise.cli.main; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_dataset_without_a_regression_is_in_no_regression(few):
    assert isinstance(few, Dataset)
    alone = replace(few, regression=None)
    assert not list(runs.plan_parts(["regression"], [alone], TINY))


def test_notes_of_a_solver_are_no_rounds(monkeypatch):
    """Compiled loops are told of before the first round, where there is no profile yet."""
    solve = games.Procedure.solve

    def noting(self, players, *, progress, **given):
        tell(progress, "Compiling the loops")
        return solve(self, players, progress=progress, **given)

    monkeypatch.setattr(games.Procedure, "solve", noting)
    asked = {"method": "best-response", "scales": "wide", "epsilon": 1.0, "seed": 0, "restarts": 2}
    told = []
    found = games.play(datasets.heights(), asked, told.append)
    assert told[0] == "Compiling the loops"
    assert all(math.isfinite(kl) for _, _, kl, _ in found["convergence"])
    json.dumps(found, allow_nan=False)
