"""What is printed by ``audit``: losses cell by cell, and what was checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from equinoise.analysis.audit import Audit
from equinoise.formatting import at_most, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.terminal.consoles import number_table, stdout_console
from equinoise.present.wording import SECRET, certificate_sentence, draws_in_words

NOT_CHECKED = {
    "data": "whether these are the people of any data (--data)",
    "end-to-end": "the loss with the noise worked out again without each person (--end-to-end)",
}

MOST_TABLE_CELLS = 25
"""Cells of a joint grid that an audit shows: the worst."""


def show_audit(audit: Audit, plot: Path | None = None) -> None:
    """The losses, what was checked, what was measured end to end, and whether it passed."""
    console, measured = stdout_console(), audit.end_to_end
    console.print(_cells_table(audit))
    _show_costs(console, audit)
    _show_checks(console, audit)
    if measured is not None:
        console.print(f"End to end: {_quantiles(measured.quantiles())}.")
        console.print(measured.sentence, style="yellow" if measured.above else None)
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")
    console.print(_verdict(audit), style=("yellow" if audit.not_checked else "green") if audit.passed else "red")


def _quantiles(losses: dict[str, float]) -> str:
    return ", ".join(f"{float(share):.0%} within {at_most(loss)}" for share, loss in losses.items())


def _verdict(audit: Audit) -> str:
    """Whether it passed, and what that does not say."""
    if audit.passed:
        began = "The file alone passed its audit." if "data" in audit.not_checked else "Audit passed."
        left = "; ".join(NOT_CHECKED[name] for name in audit.not_checked)
        return f"{began} Not checked: {left}." if left else began
    if replace(audit, end_to_end=None).passed:
        people = f"{audit.above:,} of {audit.mechanism.total_people:,} people are above the target end to end"
        per_instance = " What is certified holds everyone else's noise fixed."
        return f"AUDIT FAILED: {people}.{'' if audit.mechanism.differentially_private else per_instance}"
    return "AUDIT FAILED: see above. Release nothing from this file."


def _cells_table(audit: Audit) -> Table:
    grid, cells, which = audit.mechanism.grid, audit.cells(), ""
    if len(grid.axes) > 1:
        which = f", the {min(len(cells), MOST_TABLE_CELLS)} worst of {len(cells):,} occupied"
        cells = sorted(cells, key=lambda row: -row["worst_loss"])[:MOST_TABLE_CELLS]
    end_to_end = ["end to end"] if audit.end_to_end else []
    title = f"Loss of one draw, cell by cell ({grid.name}{which})"
    table = number_table(title, "cell", "from", "to", "people", "average scale", "worst loss", *end_to_end)
    for row in cells:
        scale = "" if row["average_scale"] is None else three_digits(row["average_scale"])
        measured = [f"{row['end_to_end']:.4g}"] if end_to_end else []
        table.add_row(*_place(row), scale, f"{row['worst_loss']:.4g}", *measured)
    return table


def _show_costs(console: Console, audit: Audit) -> None:
    """What one draw costs anyone, what was released, and what all draws cost together."""
    m = audit.mechanism
    console.print(f"Losses of one draw ({m.loss_basis}): {_quantiles(m.loss_quantiles())} ({_limit(m)}).")
    console.print(
        f"Ledger: {audit.spent:,} of {draws_in_words(m.draws)} released"
        + (f" and {m.cost_sentence(audit.spent)}." if audit.spent else ".")
    )
    totals = audit.totals
    if m.draws not in {1, None} and totals:
        worst = max(totals, key=lambda group: group["allowed"])
        who = f"the worst-placed people (cell {worst['cell']})" if m.costs_differ else "anyone"
        beside = f" ({m.promise.qualifier})" if m.promise.qualifier else ""
        console.print(
            f"Together, all {m.draws:,} draws cost {who} at most {at_most(worst['allowed'])}, and what is released so "
            f"far {at_most(max(g['spent'] for g in totals))}{beside}."
        )


def _show_checks(console: Console, audit: Audit) -> None:
    """What was checked, and what is promised if all of it holds."""
    m = audit.mechanism
    if audit.same_histogram is not None:
        console.print(
            "The histogram is this data's."
            if audit.same_histogram
            else "The histogram is not this data's: the mechanism was made from other rows.",
            style=None if audit.same_histogram else "red",
        )
    if not audit.same_kernel:
        console.print(f"The weights are not those of the {m.weights_source}.", style="red")
    if not audit.certificate.holds:
        console.print(f"The certificate does not hold: {audit.certificate.failure}. Nothing is promised.", style="red")
    elif not m.within_budget:
        console.print("All draws together cost more than the budget. Nothing is promised.", style="red")
    else:
        console.print(certificate_sentence(m), style="green")
        console.print(str(m.promise))


def _limit(m: Mechanism) -> str:
    """What losses are held against."""
    if m.order is not None:
        return f"their Renyi divergence of order {m.order:g} is to stay within {at_most(m.epsilon)}"
    but = f" with delta = {at_most(m.delta)}" if m.delta > 0 else ""
    return f"to stay within {at_most(m.epsilon)}{but}"


def _place(row: dict[str, Any]) -> tuple[str, ...]:
    """A cell, where it begins and ends, and how many people are in it."""
    return str(row["cell"]), _sides(row["from"]), _sides(row["to"]), f"{row['people']:,}"


def _sides(value: float | list[float]) -> str:
    parts = value if isinstance(value, list) else [value]
    return " x ".join(printable(part) if isinstance(part, str) else f"{part:.5g}" for part in parts)
