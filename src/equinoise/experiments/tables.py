"""Tables: ours averaged over seeds, and what the paper prints beside it, marked as the paper's."""

from __future__ import annotations

import csv
import io
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments import paper_results
from equinoise.experiments.datasets import Dataset
from equinoise.experiments.games import METHODS

OURS, THEIRS = "ours", "the paper's"
MARK = "†"
"""In front of every figure of the paper's."""

NAMES = {"best-response": "best response", "genetic": "genetic", "optimal": "optimal", "laplace": "Laplace"}

RESULT_HEADER = (
    "epsilon", "method", "scales", "whose figures", "seconds", "KL", "SD of probabilities, loss",
    "Jaccard (above 0.001)", "cosine", "protected",
)  # fmt: skip
REGRESSION_HEADER = (
    "epsilon", "trained on", "whose figures", "RMSE (padded range)", "RMSE (data units)", "against the original",
    "what the draws cost",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A method at an epsilon. ``figures`` are metrics and seconds by name, one of each seed; ``whose`` says whose.

    ``ends`` are the KLs at the ends of all runs that protect everyone.
    """

    epsilon: float
    method: str
    scales: str
    whose: str
    people: int
    figures: dict[str, list[float]]
    protected: int | None = None
    lower_bound: float | None = None
    gap: float | None = None
    ends: tuple[float, ...] = ()

    @property
    def seeds(self) -> int | None:
        """How many; the paper has none."""
        return len(self.figures["kl"]) if self.whose == OURS else None

    @property
    def means(self) -> dict[str, float]:
        """Over the seeds."""
        return {name: statistics.fmean(values) for name, values in self.figures.items()}

    @property
    def everyone_protected(self) -> bool:
        """Whether it is everyone, with every seed."""
        return self.protected == self.people

    def cell(self, name: str, digits: int = 4) -> str:
        """A figure as the page shows it."""
        text = mean_and_spread(self.figures.get(name, []), digits)
        return f"{MARK} {text}" if self.whose == THEIRS and name in self.figures else text


def mean_and_spread(values: Sequence[float], digits: int) -> str:
    """The mean over seeds and, if there are several, the standard deviation."""
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{spread}"


def result_rows(data: Dataset, results: Iterable[dict[str, Any]]) -> list[Row]:
    """The table of one column: epsilon by epsilon ours, then the paper's."""
    by_game = defaultdict(list)
    for result in results:
        by_game[result["epsilon"], METHODS.index(result["method"]), result["scales"]].append(result)
    ours = [_our_row(by_game[game]) for game in sorted(by_game)]
    printed = paper_results.TABLES[data.experiment]
    theirs = [
        Row(
            epsilon, method, "" if method == "laplace" else "paper", THEIRS, printed.people,
            {name: [figure] for name, figure in figures.items()},
        )
        for (method, epsilon), figures in printed.rows.items()
    ]  # fmt: skip
    epsilons = sorted({row.epsilon for row in ours})
    return [row for epsilon in epsilons for row in (*ours, *theirs) if row.epsilon == epsilon]


def _our_row(results: Sequence[dict[str, Any]]) -> Row:
    """One method's results over its seeds."""
    first = results[0]
    figures = {name: [one["metrics"][name] for one in results] for name in first["metrics"]}
    if first["seconds"] is not None:
        figures["seconds"] = [one["seconds"] for one in results]
    solvers = [one["solver"] or {} for one in results]
    return Row(
        first["epsilon"], first["method"], first["scales"], OURS, first["people"], figures,
        min(one["protected"] for one in results),
        max((solver["lower_bound"] for solver in solvers if "lower_bound" in solver), default=None),
        max((solver["gap"] for solver in solvers if "gap" in solver), default=None),
        tuple(kl for one in results for kl, protected in one.get("ends", []) if protected == one["people"]),
    )  # fmt: skip


def result_lines(table: Iterable[Row], names: Mapping[str, str] | None = None) -> list[list[str]]:
    """The cells under ``RESULT_HEADER``; ``names`` are other ones for our rows of some methods."""
    ours = NAMES | dict(names or {})
    return [
        [
            f"{row.epsilon:g}", (ours if row.whose == OURS else NAMES)[row.method], row.scales or "-",
            OURS if row.whose == OURS else f"{THEIRS} {MARK}, {row.people:,} other people",
            row.cell("seconds", 0 if row.whose == THEIRS else 2), *map(row.cell, paper_results.METRICS),
            "not printed" if row.protected is None else "all" if row.everyone_protected else f"{row.protected:,}",
        ]
        for row in table
    ]  # fmt: skip


def csv_of(header: Sequence[str], lines: Iterable[Iterable[Any]]) -> bytes:
    """A table as a CSV file; nothing where a value is None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue().encode()


def result_csv(table: Iterable[Row]) -> bytes:
    """A table of results as a CSV file with all digits, for whoever goes on with it."""
    fields = ("epsilon", "method", "scales", "whose", "people", "seeds", "protected", "lower_bound", "gap")
    names = ("seconds", *paper_results.METRICS, "js", "tv", "sd_loss", "wasserstein")
    lines = []
    for row in table:
        line = [getattr(row, field) for field in fields]
        for values in (row.figures.get(name, []) for name in names):
            line += [statistics.fmean(values) if values else None, statistics.stdev(values) if values[1:] else None]
        lines.append(line)
    return csv_of([*fields, *(f"{name}_{what}" for name in names for what in ("mean", "sd"))], lines)


def regression_lines(data: Dataset, results: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The cells under ``REGRESSION_HEADER``: RMSE by what the network learned from, and what that costs.

    The paper's are beside it, where it prints any.
    """
    printed = paper_results.RMSE if data.name == "heights" else {}
    base = statistics.fmean(next(one["rmse"] for one in results if one["method"] == "original"))
    lines = []
    for epsilon in (None, *sorted({one["epsilon"] for one in results if "epsilon" in one})):
        label = "-" if epsilon is None else f"{epsilon:g}"
        for one in (one for one in results if one.get("epsilon") == epsilon):
            against = signed_percent(statistics.fmean(one["rmse"]) / base - 1)
            rmses = mean_and_spread(one["rmse_padded"], 4), mean_and_spread(one["rmse"], 2)
            lines.append([label, trained_on(one), OURS, *rmses, against, cost(one)])
        for name, rmse in printed.get(epsilon, {}).items():
            against = f"{MARK} {signed_percent(rmse / paper_results.RMSE_ORIGINAL - 1)}"
            whose = f"{THEIRS} {MARK}, {paper_results.HEIGHT.people:,} other people"
            lines.append([label, name, whose, f"{MARK} {rmse:.4f}", "-", against, "not printed"])
    return lines


def signed_percent(change: float) -> str:
    """A change in percent with its sign; none if it is zero in what is shown."""
    text = f"{change:+.1%}"
    return text[1:] if float(text[:-1]) == 0 else text


def trained_on(one: dict[str, Any]) -> str:
    """What a network learned from, in words."""
    if one["method"] == "original":
        return "the original"
    if one["method"] == "game":
        return f"{one['draws']:,} draws of the game"
    split = "epsilon for each value" if one["shares"] == 1 else "epsilon split between the two values"
    return f"Laplace mechanism, {split}"


def cost(one: dict[str, Any]) -> str:
    """What that costs in privacy."""
    if one["method"] == "original":
        return "everything: nothing is private"
    if one["method"] == "laplace":
        return (
            f"{one['per_value']:g} a value, {one['per_person']:.4g} a person as cut off (local DP, every value "
            "released once)"
        )
    return (
        f"epsilon {one['epsilon']:g} a draw; {one['draws']:,} draws: at most {one['worst_cost']:.4g} for the "
        f"worst-placed person, {one['median_cost']:.4g} for the median, delta {one['delta']:g} (per-instance, "
        "everyone else's noise held fixed)"
    )


def regression_csv(data: Dataset, results: Iterable[dict[str, Any]]) -> bytes:
    """Every network, for whoever goes on with it."""
    header = (
        "data", "epsilon", "method", "shares", "draws", "seed", "rmse", "rmse_padded", "per_person", "worst_cost",
        "median_cost", "delta",
    )  # fmt: skip
    networks = (
        {**one, "data": data.name, "seed": seed, "rmse": rmse, "rmse_padded": padded}
        for one in results
        for seed, rmse, padded in zip(one["seeds"], one["rmse"], one["rmse_padded"], strict=True)
    )
    return csv_of(header, ([network.get(name) for name in header] for network in networks))
