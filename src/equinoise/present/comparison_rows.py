"""A comparison as rows of text: for terminal and notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equinoise.analysis.compare import Comparison
from equinoise.analysis.method_row import Row, promise_of
from equinoise.formatting import at_most
from equinoise.privacy.promise import Neighbours

SHORT_PROMISES = {
    Neighbours.PERSON_REMOVED: "per-instance",
    Neighbours.VALUE_CHANGED: "local DP",
    Neighbours.PERSON_ADDED_OR_REMOVED: "DP",
}
"""The kinds of promises where there is little room."""


def comparison_rows(comparison: Comparison, metrics: Sequence[str]) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Of every method at every epsilon: these metrics, seconds, how many are protected, and what is promised."""
    columns = len(comparison.grid.axes)
    for epsilon in comparison.epsilons:
        for row in (row for row in comparison.rows if row.epsilon == epsilon):
            yield (
                row,
                (
                    *(metric_text(name, row.metrics[name]) for name in metrics),
                    "<0.01" if row.seconds < 0.01 else f"{row.seconds:.2g}",
                    "all" if row.protected == comparison.people else f"{row.protected:,}",
                    _promised(row, columns),
                ),
            )


def _promised(row: Row, columns: int) -> str:
    if row.promised is None:
        return "none"
    promise = promise_of(row.method, columns=columns)
    delta = f", delta {at_most(promise.delta)}" if promise.delta > 0 else ""
    return f"{at_most(row.promised)} {SHORT_PROMISES[promise.neighbours]}{delta}"


def metric_text(name: str, value: float | None) -> str:
    """A metric in few letters; a dash where there is none, as of the correlation of a column that is constant."""
    if value is None:
        return "-"
    if name in {"jaccard", "cosine"}:
        return f"{value:.{2 if name == 'jaccard' else 3}f}"
    if 0 < abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
