"""From results to the page: what is said, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments import paper_results, pictures, tables
from equinoise.experiments.datasets import Dataset
from equinoise.experiments.findings import Finding, game_findings, grid_findings
from equinoise.experiments.games import MOST_GENES
from equinoise.experiments.goals import Goal, height_goals, regression_goals
from equinoise.experiments.settings import Settings
from equinoise.present.page import Block, Bullets, Page, Paragraph, Section, Table

BAND = "Made from public data: anyone may see it."
LAPLACE = (
    "'Laplace' is the Laplace mechanism with scale (high - low)/epsilon for everyone, cut off to the grid and worked "
    "out exactly; it promises something else than the game: each person's own noisy value is private, so all of them "
    "may be released."
)


@dataclass(frozen=True)
class Report:
    """The page, the tables behind it (as CSV), and what was to be reached."""

    page: Page
    tables: dict[str, bytes]
    goals: list[Goal]


def make_report(
    datasets: Sequence[Dataset], results: Sequence[dict[str, Any]], left_out: Mapping[str, str],
    settings: Settings, *, quick: bool,
) -> Report:  # fmt: skip
    """All that came out, the paper's figures beside ours."""
    sections: list[Section] = []
    files: dict[str, bytes] = {}
    goals: list[Goal] = []
    findings: list[Finding] = []
    for data in datasets:
        games = [one for one in results if one["data"] == data.name and "metrics" in one]
        if games:
            table = tables.result_rows(data, games)
            blocks = [*_game_blocks(data, table, games, settings)]
            sections.append(Section(data.name, data.title, blocks))
            files[data.name] = tables.result_csv(table)
            if data.name == "heights":
                goals += height_goals(table)
                findings += [*grid_findings(data), *game_findings(table, games)]
    for data in datasets:
        networks = [one for one in results if one["data"] == data.name and "rmse" in one]
        if any(one["method"] == "original" for one in networks):
            sections.append(_regression_section(data, networks))
            files[f"regression-{data.name}"] = tables.regression_csv(data, networks)
            goals += regression_goals(networks) if data.name == "heights" else []
    if findings:
        blocks = [block for finding in findings for block in _finding_blocks(finding)]
        sections.append(Section("findings", "What was found out about the paper", blocks))
        files["findings"] = tables.csv_of(
            ("finding", "row", "column", "figure"),
            (
                (finding.title, epsilon, *figure)
                for finding in findings
                for epsilon, *figures in finding.lines
                for figure in zip(finding.header[1:], figures, strict=True)
            ),
        )
    sections = [*_opening(goals, left_out, quick=quick), *sections]
    page = Page("The paper's experiments, done again", sections, public=True, band=BAND, static=True)
    return Report(page, files, goals)


def _opening(goals: Sequence[Goal], left_out: Mapping[str, str], *, quick: bool) -> Iterator[Section]:
    texts = [
        f"Figures marked {tables.MARK} are the paper's own, as it prints them, and on other people's data: its "
        "datasets are in no package, so public ones of the same kind stand in. Seconds are of different machines. "
        "Everything else on this page was worked out by 'equinoise reproduce'; manifest.json says with which "
        "settings, seeds and versions, and the folder 'tables' has every figure with all its digits."
    ]
    if quick:
        texts.append(
            "This is a quick run, with fewer epsilons and seeds, a few generations of the genetic algorithm and "
            "seconds for the optimal solver. It shows that everything works; the figures to compare are those of "
            "the whole run, without --quick."
        )
    yield Section("opening", "", [*map(Paragraph, texts)])
    if goals:
        missed = sum(not goal.reached for goal in goals)
        verdict = f"{missed} of {len(goals)} were missed." if missed else "All of it was reached."
        table = Table(
            ("figure (the worst of our seeds)", "ours", "to be at most", "reached"),
            [
                [goal.name, f"{goal.ours:.4f}", f"{goal.limit:.4f}", "yes" if goal.reached else f"no: {goal.why}"]
                for goal in goals
            ],
            kind="words",
        )
        yield Section("goals", "What was to be reached", [Paragraph(verdict), table])
    if left_out:
        reasons = Bullets([f"{name}: {reason}" for name, reason in left_out.items()])
        yield Section("left-out", "What could not be done", [reasons])


def _game_blocks(
    data: Dataset, table: Sequence[tables.Row], results: Sequence[dict[str, Any]], settings: Settings
) -> Iterator[Block]:
    low, high = data.bounds[data.column]
    seeds = sorted({one["seed"] for one in results})
    yield Paragraph(
        f"{data.people:,} people ({data.source}), {data.column} in {data.units[data.column]}, public bounds "
        f"{low:g} to {high:g}, {paper_results.BINS} bins, padded once at epsilon 1. Beside it, the paper's table of "
        f"{paper_results.TABLES[data.experiment].data}. Best response and optimal have {settings.restarts} starts, "
        f"the genetic algorithm up to {settings.generations} generations, the optimal solver up to "
        f"{settings.time_limit:g} seconds. Figures are means over seeds (of {', '.join(map(str, seeds))}, fewer for "
        f"slow methods) ± their standard deviation. {LAPLACE}"
    )
    yield Table(tables.RESULT_HEADER, tables.result_lines(table), kind="words", marked=tables.THEIRS)
    if data.people > MOST_GENES:
        yield Paragraph("The genetic algorithm is left out here, as in the paper: a gene for each person is slow.")
    unproven = "; ".join(
        f"optimal, {row.scales} scales, epsilon {row.epsilon:g} (gap {row.gap:.2g})"
        for row in table
        if row.gap is not None and row.gap > max(1e-4, 0.01 * row.means["kl"])
    )
    if unproven:
        yield Paragraph(f"Not proven best within 0.0001 or 1 %: {unproven}.")
    yield from pictures.of_games(data, results, table)


def _regression_section(data: Dataset, results: Sequence[dict[str, Any]]) -> Section:
    assert data.regression is not None
    predictor, target = data.regression
    theirs = (
        f"the paper's, where it prints any, are on {paper_results.HEIGHT.data}"
        if data.name == "heights"
        else "the paper prints no figures for this one, only curves"
    )
    text = (
        f"A network of three layers of ten ReLU units (scikit-learn's MLPRegressor) learns {target} from {predictor}, "
        f"from the {data.people:,} people themselves, from as many draws of the game on both columns at once, and from "
        "everyone's values with Laplace noise on each of the two columns. RMSE is over all of the original people, "
        "averaged over seeds of draws and networks, in units of the padded range as in the paper; "
        f"{theirs}. The last column says what the rows that one network learned from cost in privacy: the game's "
        "epsilon is for one draw."
    )
    lines = tables.regression_lines(data, results)
    table = Table(tables.REGRESSION_HEADER, lines, kind="words", marked=tables.THEIRS)
    blocks: list[Block] = [Paragraph(text), table, pictures.of_regression(data, results)]
    return Section(f"regression-{data.name}-section", f"Regression: {target} from {predictor}", blocks)


def _finding_blocks(finding: Finding) -> list[Block]:
    tables = [Table(finding.header, finding.lines, kind="words")] if finding.lines else []
    return [Paragraph(finding.title, "heading"), Paragraph(finding.text), *tables]
