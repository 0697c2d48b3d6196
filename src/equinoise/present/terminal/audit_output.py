"""What is printed by ``audit``: losses cell by cell, and what was checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from equinoise.analysis.audit import Audit
from equinoise.formatting import at_most, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.present.terminal.consoles import number_table, stdout_console
from equinoise.present.wording import SECRET, certificate_sentence, draws_in_words

COLOURS = {"Checked": "green", "FAILED": "red", "Not checked": "yellow"}

MOST_TABLE_CELLS = 25
"""Cells of a joint grid that an audit shows: the worst."""


def show_audit(audit: Audit, plot: Path | None = None) -> None:
    """The losses, what is promised, what was measured end to end; last what was and was not checked, and whether it
    passed."""
    console, measured = stdout_console(), audit.end_to_end
    console.print(_cells_table(audit))
    _show_costs(console, audit)
    if audit.sound:
        console.print(certificate_sentence(audit.mechanism), style="green")
        console.print(str(audit.mechanism.promise))
    if measured is not None:
        console.print(f"End to end: {_quantiles(measured.quantiles())}.")
        console.print(measured.sentence, style="yellow" if measured.above else None)
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")
    for word, sentence in _findings(audit):
        console.print(f"{word}: {sentence}.", style=COLOURS[word])
    console.print(_verdict(audit), style="green" if audit.passed else "red")


def _quantiles(losses: dict[str, float]) -> str:
    return ", ".join(f"{float(share):.0%} within {at_most(loss)}" for share, loss in losses.items())


def _findings(audit: Audit) -> list[tuple[str, str]]:
    """Whether each thing that can be looked at was and holds, and a sentence about it; first what was looked at."""
    m, certificate, released = audit.mechanism, audit.certificate, draws_in_words(audit.mechanism.draws)
    proof = m.proof if isinstance(m, PrivateTable) else ""
    every = ", for every dataset within the bounds" if m.differentially_private and not proof else ""
    measured = "" if audit.end_to_end is None else f"measured end to end, {audit.end_to_end.in_short}"
    words: dict[bool | None, dict[str, str]] = {
        True: {
            "certificate": f"the certificate holds, in {certificate.how}{every}",
            "budget": "all draws together stay within the budget",
            "weights": f"the weights are those of the {m.weights_source}",
            "ledger": f"the ledger adds up, with {audit.spent:,} of {released} released",
            "data": "the people are those of this data",
            "end-to-end": measured,
        },
        False: {
            "certificate": f"the certificate does not hold: {certificate.failure}. Nothing is promised",
            "budget": "all draws together cost more than the budget. Nothing is promised",
            "weights": f"the weights are not those of the {m.weights_source}",
            "data": "the people are not this data's: the mechanism was made from other rows",
            "end-to-end": measured,
        },
        None: {
            "proof": f"that the model is private, which is proven by {proof}",
            "data": "the people were not compared with any data (--data)",
            "end-to-end": "losses end to end were not measured (--end-to-end)",
        },
    }
    labels = {True: "Checked", False: "FAILED", None: "Not checked"}
    found = [(labels[holds], words[holds][name]) for name, holds in audit.findings.items()]
    return sorted(found, key=lambda line: line[0] == labels[None])


def _verdict(audit: Audit) -> str:
    """Whether it passed, which the exit status follows."""
    if audit.passed:
        return "Audit passed." if "data" in audit.checked else "The file alone passed its audit."
    if audit.failed == ("end-to-end",):
        fixed = "" if audit.mechanism.differentially_private else ", everyone else's noise held fixed,"
        return f"AUDIT FAILED: what is promised{fixed} holds; losses end to end are above it."
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
