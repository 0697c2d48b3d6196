"""Methods side by side: ``compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from equinoise.analysis.compare import Comparison
from equinoise.analysis.method_row import PROMISES, promise_of
from equinoise.analysis.methods import LOCAL_ROWS
from equinoise.formatting import at_most, join_and
from equinoise.present.comparison_rows import comparison_rows, metric_text
from equinoise.present.coverage_words import coverage_sentences
from equinoise.present.terminal.consoles import stdout_console
from equinoise.present.wording import METRIC_NAMES, SECRET
from equinoise.privacy.promise import BOUNDS_NOT_PUBLIC, SECRET_SIZE

SHORT_NAMES = {
    "kl": "KL", "js": "Jensen-\nShannon", "tv": "total\nvar.", "tv_1way": "TV,\n1-way", "tv_2way": "TV,\n2-way",
    "mean_error": "error,\nmeans", "median_error": "error,\nmedians", "correlation_loss": "corre-\nlation",
    "association_loss": "associ-\nation", "wasserstein": "Wasser-\nstein", "sd_loss": "SD\nchange",
    "jaccard": "Jac-\ncard", "cosine": "cosine", "pmf_sd_loss": "SD of\nprob.",
}  # fmt: skip
"""The metrics' names where there is little room."""

DISPENSABLE = (
    "pmf_sd_loss", "cosine", "jaccard", "js", "sd_loss", "wasserstein", "association_loss", "median_error",
    "mean_error", "tv_2way", "tv_1way", "correlation_loss",
)  # fmt: skip
"""What is left out first where there is no room for all."""

WIDEST_TABLE = 100


def fitting_table(comparison: Comparison, console: Console) -> tuple[Table, list[str]]:
    """The table with as many metrics as there is room for, and those that are left out."""
    width = min(console.width, WIDEST_TABLE)
    known = comparison.rows[0].metrics
    for many in range(len(DISPENSABLE) + 1):
        left_out = DISPENSABLE[:many]
        table = comparison_table(comparison, [name for name in SHORT_NAMES if name in known and name not in left_out])
        if console.measure(table, options=console.options.update(width=1000)).maximum <= width:
            break
    return table, [METRIC_NAMES[name] for name in SHORT_NAMES if name in known and name in left_out]


def comparison_table(comparison: Comparison, metrics: Sequence[str]) -> Table:
    """Every method at every epsilon, with these metrics."""
    table = Table(box=box.SIMPLE, padding=0, pad_edge=False, show_edge=False)
    table.add_column("method", no_wrap=True)
    for name in (*(SHORT_NAMES[name] for name in metrics), "sec-\nonds", "pro-\ntected"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(" epsilon\n promised", no_wrap=True)
    rows = list(comparison_rows(comparison, metrics))
    for epsilon in comparison.epsilons:
        table.add_row(f"epsilon {at_most(epsilon)}", style="bold")
        for row, (*texts, promised) in rows:
            if row.epsilon == epsilon:
                table.add_row(row.label, *texts, f" {promised}", style="red" if row.promised is None else None)
        table.add_section()
    return table


def show_comparison(comparison: Comparison, plot: Path | None) -> None:
    """The table, what each method promises, and how to read it."""
    console, columns = stdout_console(), len(comparison.grid.axes)
    shares = f"{join_and(LOCAL_ROWS)} give each column epsilon/{columns}; " if columns > 1 else ""
    rows, each = comparison.rows_to_draw, ""
    if rows > 1:
        each = f", or epsilon/{rows:,} where every row costs"
        shares = f"epsilon is for {rows:,} rows together; {shares}"
    console.print(
        f"{comparison.people:,} people, {comparison.title}, {comparison.grid.cells:,} cells. Distances from the "
        f"original; errors of means and medians in standard deviations; {shares}'protected' are the people whose own "
        f"loss of one draw is within epsilon{each}. Promises are with delta = 0 where none is named, and "
        f"{SECRET_SIZE}.\n"
    )
    for sentence in coverage_sentences(comparison.players.coverage):
        console.print(sentence, style="yellow")
    table, left_out = fitting_table(comparison, console)
    console.print(table)
    if left_out:
        console.print(f"Not in the table (--json has all): {', '.join(left_out)}.")
    console.print("What is promised, with the epsilon of the last column:")
    kept = {row.method for row in comparison.rows if row.promised is not None}
    promising = [method for method in comparison.methods if method in kept]
    for promise in dict.fromkeys(PROMISES[method] for method in promising):
        methods = [method for method in promising if PROMISES[method] == promise]
        console.print(f"  {', '.join(methods)}: {promise_of(methods[0], rows, columns=columns).in_short()}.")
    for row in comparison.rows:
        if row.promised is None:
            console.print(f"  {row.label} at epsilon {at_most(row.epsilon)}: {row.promise}", style="red")
    if not comparison.public_bounds:
        console.print(f"For all of them: {BOUNDS_NOT_PUBLIC[0].lower()}{BOUNDS_NOT_PUBLIC[1:]}")
    for row in comparison.rows:
        if row.solver is not None and row.promised is not None and row.solver.get("proven") is False:
            console.print(
                f"{row.label} at epsilon {at_most(row.epsilon)} is the best found, not proven best: one closer by "
                f"up to {at_most(row.solver['gap'])} may exist."
            )
    for method in comparison.methods:
        random = [row for row in comparison.rows if row.method == method and row.releases is not None]
        if random:
            spreads = ", ".join(metric_text("kl", row.kl_spread) for row in random)
            console.print(
                f"{method} is random: its figures are means over {random[0].releases} releases. Standard deviation of "
                f"its KL, by epsilon: {spreads}."
            )
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")
