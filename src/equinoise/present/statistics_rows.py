"""What rows tell, of the data and of what is released, as text: for terminal, report, notebook and local page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from equinoise.formatting import percent, printable, shorten, three_digits
from equinoise.mechanisms.base import Mechanism

TITLE = "What the rows tell"

HOW_TO_READ = (
    "Of the data and of what is released, both at the resolution of the grid: a bin without steps counts as its "
    "midpoint, one of several steps as all of them equally often."
)

IN_BINS = "data (in bins)"
"""What the data's own figures are called: those of the file are finer."""

HEADER = ("statistic", IN_BINS, "released")

NUMBER_STATISTICS = {
    "mean": "mean",
    "standard_deviation": "standard deviation",
    "lower_quartile": "lower quartile",
    "median": "median",
    "upper_quartile": "upper quartile",
}

MEASURE_NAMES = {"correlation": "correlation", "correlation_ratio": "correlation ratio", "cramers_v": "Cramer's V"}

MOST_CATEGORIES = 10
"""Of a column, those with most rows in the data; the others are added up."""

MOST_ASSOCIATIONS = 10
"""Pairs of columns that go together most in the data."""


class StatisticRow(NamedTuple):
    """One statistic, as text, of the data and of what is released; of dates the standard deviation is in days."""

    column: str
    statistic: str
    data: str
    released: str

    @property
    def named(self) -> tuple[str, str, str]:
        """The column and the statistic as one name, and both values: where a row stands for itself."""
        return f"{self.column}: {self.statistic}", self.data, self.released


def statistics_rows(mechanism: Mechanism) -> list[StatisticRow]:
    """All statistics of a mechanism's columns, then of pairs of columns: as secret as the data."""
    found, rows = mechanism.statistics(), []
    for name, both in found["columns"].items():
        column, data, released = shorten(printable(name), 40), both["data"], both["released"]
        each = _shares(data, released) if "shares" in data else _numbers(data, released)
        if "missing" in data:
            each.append(("missing", percent(data["missing"]), percent(released["missing"])))
        rows += [StatisticRow(column, *texts) for texts in each]
    return rows + _associations(found["associations"])


def _numbers(data: Mapping[str, Any], released: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    dates = isinstance(data["median"], str)
    names = {**NUMBER_STATISTICS, "standard_deviation": "standard deviation (days)"} if dates else NUMBER_STATISTICS
    return [(words, statistic_text(data[key]), statistic_text(released[key])) for key, words in names.items()]


def _shares(data: Mapping[str, Any], released: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    before, after = data["shares"], released["shares"]
    kept = set(before)
    if len(before) > MOST_CATEGORIES + 1:
        kept = set(sorted(before, key=before.__getitem__, reverse=True)[:MOST_CATEGORIES])
    rows = [
        (shorten(printable(name), 40), percent(share), percent(after[name]))
        for name, share in before.items()
        if name in kept
    ]
    if len(kept) < len(before):
        rest, rest_after = (sum(shares[name] for name in shares if name not in kept) for shares in (before, after))
        rows.append((f"other {len(before) - len(kept)} categories", percent(rest), percent(rest_after)))
    return rows


def _associations(pairs: list[dict[str, Any]]) -> list[StatisticRow]:
    def strength(pair: dict[str, Any]) -> float:
        return -1.0 if pair["data"] is None else abs(pair["data"])

    kept = pairs
    if len(pairs) > MOST_ASSOCIATIONS + 1:
        strongest = sorted(range(len(pairs)), key=lambda number: strength(pairs[number]), reverse=True)
        kept = [pairs[number] for number in sorted(strongest[:MOST_ASSOCIATIONS])]
    rows = [
        StatisticRow(
            " and ".join(shorten(printable(name), 40) for name in pair["columns"]), MEASURE_NAMES[pair["measure"]],
            statistic_text(pair["data"]), statistic_text(pair["released"]),
        )
        for pair in kept
    ]  # fmt: skip
    if len(kept) < len(pairs):
        rows.append(StatisticRow(f"other {len(pairs) - len(kept)} pairs", "go together less", "", ""))
    return rows


def statistic_text(value: float | str | None) -> str:
    """A statistic in three digits, a date as it is, and a dash for what is undefined."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else three_digits(value)
