"""From results to the document: what is said, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from equinoise.experiments import findings, goals, paper, pictures, tables
from equinoise.experiments.data import Dataset
from equinoise.experiments.games import MOST_GENES
from equinoise.experiments.goals import Goal
from equinoise.experiments.page import Bullets, Document, Figure, Heading, Paragraph, Table
from equinoise.experiments.settings import Settings
from equinoise.experiments.tables import MARK

LAPLACE = (
    "'Laplace' is the Laplace mechanism with scale (high - low)/epsilon for everyone, cut off to the grid and worked "
    "out exactly; it promises something else than the game: each person's own noisy value is private, so all of them "
    "may be released."
)


@dataclass
class Outcome:
    """What the parts gave, and why some did not."""

    results: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def games(self, data: Dataset) -> list[dict[str, Any]]:
        """Those of one column's table."""
        return [one for one in self.results if one["data"] == data.name and "metrics" in one]

    def regression(self, data: Dataset) -> list[dict[str, Any]]:
        """The networks of one dataset."""
        return [one for one in self.results if one["data"] == data.name and "rmse" in one]


@dataclass
class Written:
    """The document, the tables behind it (as CSV), and what was reached."""

    document: Document
    tables: dict[str, bytes] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)


def document(
    wanted: Sequence[str], data: Sequence[Dataset], outcome: Outcome, settings: Settings, *, quick: bool
) -> Written:
    """All that came out, the paper's figures beside ours."""
    written = Written(Document("The paper's experiments, done again"))
    body = Document("")
    found: list[findings.Finding] = []
    for one in data:
        if one.experiment in wanted and (results := outcome.games(one)):
            table = tables.rows(one, results)
            _section(body, one, table, results, settings)
            written.tables[one.name] = tables.full(table)
            if one.name == "heights":
                written.goals += goals.of_heights(table)
                found += [*findings.of_grid(one), *findings.of_games(table, results)]
    if "regression" in wanted:
        for one in data:
            results = outcome.regression(one)
            if any(each["method"] == "original" for each in results):
                _regression(body, one, results)
                written.tables[f"regression-{one.name}"] = tables.regression_full(one, results)
                written.goals += goals.of_regression(results) if one.name == "heights" else []
    _opening(written, outcome, quick=quick)
    written.document.add(*body.blocks)
    if found:
        _found(written, found)
    return written


def _opening(written: Written, outcome: Outcome, *, quick: bool) -> None:
    text = written.document
    text.add(
        Paragraph(
            f"Figures marked {MARK} are the paper's own, as it prints them, and on other people's data: its datasets "
            "are in no package, so public ones of the same kind stand in. Seconds are of different machines. "
            "Everything else on this page was worked out by 'equinoise reproduce'; manifest.json says with which "
            "settings, seeds and versions, and the folder 'tables' has every figure with all its digits."
        )
    )
    if quick:
        text.add(
            Paragraph(
                "This is a quick run, with fewer epsilons and seeds, a few generations of the genetic algorithm and "
                "seconds for the optimal solver. It shows that everything works; the figures to compare are those of "
                "the whole run, without --quick."
            )
        )
    if written.goals:
        missed = sum(not goal.reached for goal in written.goals)
        text.add(Heading("What was to be reached"))
        text.add(
            Paragraph("All of it was reached." if not missed else f"{missed} of {len(written.goals)} were missed.")
        )
        lines = [
            [goal.name, f"{goal.ours:.4f}", f"{goal.limit:.4f}", "yes" if goal.reached else f"no: {goal.why}"]
            for goal in written.goals
        ]
        text.add(Table(("figure (the worst of our seeds)", "ours", "to be at most", "reached"), lines))
    if outcome.left_out:
        text.add(Heading("What could not be done"))
        text.add(Bullets([f"{name}: {reason}" for name, reason in outcome.left_out.items()]))


def _section(
    text: Document, data: Dataset, table: Sequence[tables.Row], results: Sequence[dict[str, Any]], settings: Settings
) -> None:
    low, high = data.bounds[data.column]
    printed = paper.TABLES[data.experiment]
    seeds = sorted({one["seed"] for one in results})
    text.add(
        Heading(data.title),
        Paragraph(
            f"{data.people:,} people ({data.source}), {data.column} in {data.units[data.column]}, public bounds "
            f"{low:g} to {high:g}, {paper.BINS} bins, padded once at epsilon 1. Beside it, the paper's table of "
            f"{printed.data}. "
            f"Best response and optimal have {settings.restarts} starts, the genetic algorithm up to "
            f"{settings.generations} generations, the optimal solver up to {settings.time_limit:g} seconds. Figures "
            f"are means over seeds (of {', '.join(map(str, seeds))}, fewer for slow methods) ± their standard "
            f"deviation. {LAPLACE}"
        ),
        Table(tables.HEADER, tables.shown(table)),
    )
    if data.people > MOST_GENES:
        text.add(Paragraph("The genetic algorithm is left out here, as in the paper: a gene for each person is slow."))
    unproven = [row for row in table if row.gap is not None and row.gap > max(1e-4, 0.01 * row.means["kl"])]
    if unproven:
        text.add(
            Paragraph(
                "Not proven best within 0.0001 or 1 %: "
                + "; ".join(f"optimal, {r.scales} scales, epsilon {r.epsilon:g} (gap {r.gap:.2g})" for r in unproven)
                + "."
            )
        )
    text.add(*(Figure(picture) for picture in pictures.of_games(data, results, table)))


def _regression(text: Document, data: Dataset, results: Sequence[dict[str, Any]]) -> None:
    theirs = (
        f"the paper's, where it prints any, are on {paper.HEIGHT.data}"
        if data.name == "heights"
        else "the paper prints no figures for this one, only curves"
    )
    text.add(
        Heading(f"Regression: {data.target} from {data.predictor}"),
        Paragraph(
            f"A network of three layers of ten ReLU units (scikit-learn's MLPRegressor) learns {data.target} from "
            f"{data.predictor}, from the {data.people:,} people themselves, from as many draws of the game on both "
            "columns at once, and from everyone's values with Laplace noise on each of the two columns. RMSE is over "
            "all of the original people, averaged over seeds of draws and networks, in units of the padded range as in "
            f"the paper; {theirs}. The last column says what the rows that one network learned from cost in privacy: "
            "the game's epsilon is for one draw."
        ),
        Table(tables.REGRESSION_HEADER, tables.regression_shown(data, results)),
        Figure(pictures.of_regression(data, results)),
    )


def _found(written: Written, found: Sequence[findings.Finding]) -> None:
    written.document.add(Heading("What was found out about the paper"))
    for finding in found:
        written.document.add(Heading(finding.title, 3), Paragraph(finding.text))
        if finding.lines:
            written.document.add(Table(finding.header, finding.lines, theirs="\0"))
    written.tables["findings"] = tables.csv_of(
        ("finding", "row", "column", "figure"),
        (
            (finding.title, line[0], name, cell)
            for finding in found
            for line in finding.lines
            for name, cell in zip(finding.header[1:], line[1:], strict=True)
        ),
    )
