"""Tables: ours averaged over seeds, and what the paper prints beside it, marked as the paper's."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from equinoise.experiments import paper
from equinoise.experiments.data import Dataset
from equinoise.experiments.games import METHODS
from equinoise.experiments.settings import SCALES

SHOWN = ("kl", "pmf_sd_loss", "jaccard", "cosine")
OURS, THEIRS = "ours", "the paper's"
MARK = "†"
"""In front of every figure of the paper's."""

NAMES = {"best-response": "best response", "genetic": "genetic", "optimal": "optimal", "laplace": "Laplace"}


@dataclass(frozen=True)
class Row:
    """A method at an epsilon. Means and, over several seeds, standard deviations; ``whose`` says whose figures."""

    epsilon: float
    method: str
    scales: str
    whose: str
    people: int
    means: dict[str, float]
    spreads: dict[str, float] = field(default_factory=dict)
    seeds: int = 0
    protected: int | None = None
    kls: tuple[float, ...] = ()
    lower_bound: float | None = None
    gap: float | None = None
    ends: tuple[float, ...] = ()

    def cell(self, name: str, digits: int = 4) -> str:
        """A figure as the page shows it."""
        if name not in self.means:
            return "-"
        text = f"{self.means[name]:.{digits}f}"
        if name in self.spreads:
            text += f" ± {self.spreads[name]:.{digits}f}"
        return f"{MARK} {text}" if self.whose == THEIRS else text


def rows(data: Dataset, results: Sequence[dict[str, Any]]) -> list[Row]:
    """The table of one column: epsilon by epsilon ours, then the paper's."""
    printed = paper.TABLES[data.experiment]
    found: list[Row] = []
    for epsilon in sorted({one["epsilon"] for one in results}):
        for method in METHODS:
            for scales in SCALES if method != "laplace" else ("",):
                alike = [r for r in results if (r["epsilon"], r["method"], r["scales"]) == (epsilon, method, scales)]
                if alike:
                    found.append(averaged(alike))
        found.extend(theirs(printed, epsilon))
    return found


def averaged(alike: Sequence[dict[str, Any]]) -> Row:
    """One method's results over its seeds."""
    first = alike[0]
    figures = [{**one["metrics"], **({} if one["seconds"] is None else {"seconds": one["seconds"]})} for one in alike]
    means = {name: statistics.fmean(one[name] for one in figures) for name in figures[0]}
    spreads = {name: statistics.stdev(one[name] for one in figures) for name in means} if len(alike) > 1 else {}
    bounds = [one["solver"]["lower_bound"] for one in alike if one["solver"] and "lower_bound" in one["solver"]]
    gaps = [one["solver"]["gap"] for one in alike if one["solver"] and "gap" in one["solver"]]
    return Row(
        first["epsilon"], first["method"], first["scales"], OURS, first["people"], means, spreads, len(alike),
        min(one["protected"] for one in alike), tuple(one["metrics"]["kl"] for one in alike),
        max(bounds, default=None), max(gaps, default=None),
        tuple(end[0] for one in alike for end in one.get("ends", []) if end[1] == one["people"]),
    )  # fmt: skip


def theirs(printed: paper.PrintedTable, epsilon: float) -> list[Row]:
    """What the paper prints at that epsilon, its minutes as seconds."""
    return [
        Row(
            epsilon, row.method, "" if row.method == "laplace" else "paper", THEIRS, printed.people,
            {**row.metrics, **({} if row.minutes is None else {"seconds": 60 * row.minutes})},
        )
        for row in printed.rows
        if row.epsilon == epsilon
    ]  # fmt: skip


HEADER = (
    "epsilon", "method", "scales", "whose figures", "seconds", "KL", "SD of probabilities, loss",
    "Jaccard (above 0.001)", "cosine", "protected",
)  # fmt: skip


def shown(table: Sequence[Row]) -> list[list[str]]:
    """The table as the page has it."""
    return [
        [
            f"{row.epsilon:g}", NAMES[row.method], row.scales or "-",
            row.whose if row.whose == OURS else f"{row.whose} {MARK}, {row.people:,} other people",
            row.cell("seconds", 0 if row.whose == THEIRS else 2), *(row.cell(name) for name in SHOWN),
            "not printed" if row.protected is None else "all" if row.protected == row.people else f"{row.protected:,}",
        ]
        for row in table
    ]  # fmt: skip


def csv_of(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> bytes:
    """A table as a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue().encode()


def full(table: Sequence[Row]) -> bytes:
    """A table of results as a CSV file with all digits, for whoever goes on with it."""
    names = ("seconds", *SHOWN, "js", "tv", "sd_loss", "wasserstein")
    header = [
        "epsilon", "method", "scales", "whose", "people", "seeds", "protected", "lower_bound", "gap",
        *(f"{name}_{what}" for name in names for what in ("mean", "sd")),
    ]  # fmt: skip
    return csv_of(
        header,
        (
            [
                row.epsilon, row.method, row.scales, row.whose, row.people, row.seeds or "", _blank(row.protected),
                _blank(row.lower_bound), _blank(row.gap),
                *(_blank(side.get(name)) for name in names for side in (row.means, row.spreads)),
            ]
            for row in table
        ),
    )  # fmt: skip


def _blank(value: Any) -> Any:
    return "" if value is None else value


REGRESSION_HEADER = (
    "epsilon", "trained on", "whose figures", "RMSE (padded range)", "RMSE (data units)", "against the original",
    "what the draws cost",
)  # fmt: skip


def regression_shown(data: Dataset, results: Sequence[dict[str, Any]]) -> list[list[str]]:
    """RMSE by what the network learned from, with what that costs; the paper's where it prints any."""
    original = next((one for one in results if one["method"] == "original"), None)
    base = None if original is None else statistics.fmean(original["rmse"])
    lines = [_line("-", "the original", original, base, "everything: nothing is private")] if original else []
    printed = data.name == "heights"
    if printed:
        lines.append(_printed("-", "the original", paper.RMSE_ORIGINAL))
    for epsilon in sorted({one["epsilon"] for one in results if "epsilon" in one}):
        for one in (one for one in results if one.get("epsilon") == epsilon):
            lines.append(_line(f"{epsilon:g}", trained_on(one), one, base, cost(one)))
        if printed:
            lines.append(_printed(f"{epsilon:g}", "draws of the game", paper.RMSE["game"][epsilon]))
            lines.append(_printed(f"{epsilon:g}", "Laplace mechanism", paper.RMSE["laplace"][epsilon]))
    return lines


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


def _line(epsilon: str, name: str, one: dict[str, Any], base: float | None, price: str) -> list[str]:
    def figure(values: list[float], digits: int) -> str:
        spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
        return f"{statistics.fmean(values):.{digits}f}{spread}"

    against = "-" if base is None else f"{statistics.fmean(one['rmse']) / base - 1:+.1%}"
    return [epsilon, name, OURS, figure(one["rmse_padded"], 4), figure(one["rmse"], 2), against, price]


def _printed(epsilon: str, name: str, rmse: float) -> list[str]:
    against = f"{MARK} {rmse / paper.RMSE_ORIGINAL - 1:+.1%}"
    who = f"{THEIRS} {MARK}, {paper.HEIGHT.people:,} other people"
    return [epsilon, name, who, f"{MARK} {rmse:.4f}", "-", against, "not printed"]


def regression_full(data: Dataset, results: Sequence[dict[str, Any]]) -> bytes:
    """Every network, for whoever goes on with it."""
    header = [
        "data", "epsilon", "method", "shares", "draws", "seed", "rmse", "rmse_padded", "per_person", "worst_cost",
        "median_cost", "delta",
    ]  # fmt: skip
    keys = ("per_person", "worst_cost", "median_cost", "delta")
    return csv_of(
        header,
        (
            [
                data.name, one.get("epsilon", ""), one["method"], one.get("shares", ""), one.get("draws", ""), seed,
                rmse, padded, *(one.get(key, "") for key in keys),
            ]
            for one in results
            for seed, rmse, padded in zip(one["seeds"], one["rmse"], one["rmse_padded"], strict=True)
        ),
    )  # fmt: skip
