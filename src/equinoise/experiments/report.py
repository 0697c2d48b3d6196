"""From results to the page: what is said, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments import paper_results, pictures, tables
from equinoise.experiments.datasets import Dataset
from equinoise.experiments.findings import Finding, game_findings, grid_findings
from equinoise.experiments.games import METHODS, MOST_GENES
from equinoise.experiments.goals import Goal, height_goals, regression_goals
from equinoise.experiments.settings import Settings
from equinoise.experiments.verdict import PaperScales, kl_lines, out_of_reach, unfinished_name, verdict
from equinoise.formatting import join_and
from equinoise.present.page import Block, Bullets, Page, Paragraph, Section, Table

BAND = "Made from public data: anyone may see it."
HOW_TO_READ = (
    "KL says how far the distribution of one draw is from the data's, in nats: 0 is the same, smaller is closer. "
    f"Figures marked {tables.MARK} are the paper's own, as it prints them, on other people's data. 'Paper' scales are "
    "the five amounts of noise that the paper offers; 'wide' scales are our eight, from a twentieth of a bin on. "
    "'Protected' are people whose loss of one draw is at most epsilon, everyone else's noise held fixed: this is not "
    "differential privacy, and more draws cost more."
)
COLUMNS = (
    "Four columns compare one draw with the data. KL, and 'SD of probabilities, loss': how much the standard deviation "
    "of the bins' probabilities changes, which is what the paper's 'L1 loss of SD' fits; of both, 0 is the same. "
    "'Jaccard (above 0.001)': of the bins whose probability is above 0.001 in the data or in a draw, the share where "
    "it is in both; and 'cosine' of the angle between the two distributions; of both, 1 is the same. 'protected' says "
    "how many people are."
)
LAPLACE = (
    "'Laplace' is the Laplace mechanism with scale (high - low)/epsilon for everyone, cut off to the grid and worked "
    "out exactly; it promises something else than the game: each person's own noisy value is private, so all of them "
    "may be released."
)


@dataclass(frozen=True)
class Report:
    """The page, the tables behind it (as CSV), what was to be reached, what the paper's scales cannot reach, and KL on
    the heights (lines of :func:`kl_lines`)."""

    page: Page
    tables: dict[str, bytes]
    goals: list[Goal]
    impossible: list[PaperScales]
    kl: list[list[str]]


def make_report(
    datasets: Sequence[Dataset], results: Sequence[dict[str, Any]], left_out: Mapping[str, str],
    settings: Settings, *, quick: bool,
) -> Report:  # fmt: skip
    """All that came out, the paper's figures beside ours."""
    sections: list[Section] = []
    files: dict[str, bytes] = {}
    goals: list[Goal] = []
    findings: list[Finding] = []
    impossible: list[PaperScales] = []
    kl: list[list[str]] = []
    for data in datasets:
        games = [one for one in results if one["data"] == data.name and "metrics" in one]
        if games:
            table = tables.result_rows(data, games)
            blocks = [*_game_blocks(data, table, games, settings)]
            sections.append(Section(data.name, data.title, blocks))
            files[data.name] = tables.result_csv(table)
            if data.name == "heights":
                goals += height_goals(table)
                impossible, kl = out_of_reach(table), kl_lines(table)
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
    sections = [*_opening(goals, impossible, left_out, quick=quick), *sections]
    page = Page("The paper's experiments, done again", sections, public=True, band=BAND, static=True)
    return Report(page, files, goals, impossible, kl)


def _opening(
    goals: Sequence[Goal], impossible: Sequence[PaperScales], left_out: Mapping[str, str], *, quick: bool
) -> Iterator[Section]:
    yield Section("how-to-read", "How to read this", [Paragraph(HOW_TO_READ, "promise")])
    texts = [
        "The paper's datasets are in no package, so public ones of the same kind stand in. Seconds are of different "
        "machines. "
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
        table = Table(
            ("figure (the worst of our seeds)", "ours", "to be at most", "reached"),
            [
                [goal.name, f"{goal.ours:.4f}", f"{goal.limit:.4f}", "yes" if goal.reached else f"no: {goal.why}"]
                for goal in goals
            ],
            kind="words",
        )
        said = [Paragraph(sentence) for sentence in verdict(goals, impossible)]
        yield Section("goals", "What was reached, with which scales", [*said, table])
    if left_out:
        reasons = Bullets([f"{name}: {reason}" for name, reason in left_out.items()])
        yield Section("left-out", "What could not be done", [reasons])


def _game_blocks(
    data: Dataset, table: Sequence[tables.Row], results: Sequence[dict[str, Any]], settings: Settings
) -> Iterator[Block]:
    yield Paragraph(
        f"{data.people:,} people ({data.source}), {data.column} in {data.units[data.column]}, {bounds_words(data)}, "
        f"{paper_results.BINS} bins, padded once at epsilon 1. Beside it, the paper's table of "
        f"{paper_results.TABLES[data.experiment].data}. Best response and optimal have {settings.restarts} starts, "
        f"the genetic algorithm up to {settings.generations} generations, the optimal solver up to "
        f"{settings.time_limit:g} seconds. {_seeds(results)} {LAPLACE}"
    )
    unfinished = unfinished_name(settings.generations) if settings.generations < paper_results.GENERATIONS else ""
    lines = tables.result_lines(table, {"genetic": unfinished} if unfinished else {})
    yield Table(tables.RESULT_HEADER, lines, kind="words", marked=tables.THEIRS)
    yield Paragraph(COLUMNS)
    if data.people > MOST_GENES:
        yield Paragraph("The genetic algorithm is left out here, as in the paper: a gene for each person is slow.")
    unproven = "; ".join(
        f"optimal, {row.scales} scales, epsilon {row.epsilon:g} (gap {row.gap:.2g})"
        for row in table
        if row.gap is not None and row.gap > max(1e-4, 0.01 * row.means["kl"])
    )
    if unproven:
        yield Paragraph(f"Not proven best within 0.0001 or 1 %: {unproven}.")
    left_out = ("genetic",) if unfinished else ()
    if unfinished and any(one["method"] == "genetic" for one in results):
        yield Paragraph(
            f"The genetic algorithm ran {settings.generations} generations here, and the paper's "
            f"{paper_results.GENERATIONS}: its rows show that it works and are no result. It is in no picture."
        )
    yield from pictures.of_games(
        data,
        [one for one in results if one["method"] not in left_out],
        [row for row in table if row.whose != tables.OURS or row.method not in left_out],
    )


def bounds_words(data: Dataset) -> str:
    """The bounds of a table's column, and where they are from."""
    (low, high), values = data.bounds[data.column], data.columns[data.column]
    if (low, high) != (values.min(), values.max()):
        return f"public bounds {low:g} to {high:g}"
    return (
        f"bounds {low:g} to {high:g} (the smallest and the largest value in the data, taken as public here as in the "
        "paper; for a release take bounds that anyone knows)"
    )


def _seeds(results: Sequence[dict[str, Any]]) -> str:
    """Of how many seeds figures are, method by method."""
    each = {
        tables.NAMES[method]: len({one["seed"] for one in results if one["method"] == method})
        for method in METHODS
        if method != "laplace" and any(one["method"] == method for one in results)
    }
    if max(each.values(), default=1) == 1:
        return "Figures are of one seed each."
    counts = join_and(f"{many} seed{'s' * (many > 1)} ({name})" for name, many in each.items())
    return f"Figures are means over {counts}, ± their standard deviation."


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
