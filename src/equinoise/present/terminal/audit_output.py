"""What ``audit`` and ``losses`` found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from equinoise.analysis.audit import Audit
from equinoise.analysis.row_losses import RowLosses
from equinoise.formatting import at_most, listed, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.terminal.consoles import screen
from equinoise.present.wording import SECRET, SECRET_ROWS, certified

NOT_CHECKED = {
    "data": "whether these are the people of any data (--data)",
    "end-to-end": "the loss with the noise worked out again without each person (--end-to-end)",
}

MOST_CELLS = 25
"""Cells of a joint grid that an audit shows: the worst."""


def show_audit(found: Audit, plot: Path | None = None) -> None:
    """What ``audit`` found."""
    console, measured = screen(), found.end_to_end
    console.print(_cells(found))
    _show_costs(console, found)
    _show_checks(console, found)
    if measured is not None:
        shares = ", ".join(f"{float(q):.0%} within {at_most(loss)}" for q, loss in measured.quantiles().items())
        console.print(f"End to end: {shares}.")
        console.print(measured.sentence, style="yellow" if measured.above else None)
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")
    console.print(_verdict(found), style=("yellow" if found.not_checked else "green") if found.passed else "red")


def _verdict(found: Audit) -> str:
    """Whether it passed, and what that does not say."""
    if found.passed:
        began = "The file alone passed its audit." if "data" in found.not_checked else "Audit passed."
        left = "; ".join(NOT_CHECKED[name] for name in found.not_checked)
        return f"{began} Not checked: {left}." if left else began
    if replace(found, end_to_end=None).passed:
        people = f"{found.above:,} of {found.mechanism.total_people:,} people are above the target end to end"
        alone = found.mechanism.differentially_private
        fixed = "" if alone else " What is certified holds everyone else's noise fixed."
        return f"AUDIT FAILED: {people}.{fixed}"
    return "AUDIT FAILED: see above. Release nothing from this file."


def _cells(found: Audit) -> Table:
    m = found.mechanism
    cells, which = found.cells(), ""
    if len(m.grid.axes) > 1:
        which = f", the {min(len(cells), MOST_CELLS)} worst of {len(cells):,} occupied"
        cells = sorted(cells, key=lambda row: -row["worst_loss"])[:MOST_CELLS]
    table = Table(title=f"Loss of one draw, cell by cell ({m.grid.name}{which})")
    measured = found.end_to_end
    for name in ("cell", "from", "to", "people", "average scale", "worst loss", *(["end to end"] if measured else [])):
        table.add_column(name, justify="right")
    for row in cells:
        whole = [f"{row['end_to_end']:.4g}"] if measured else []
        table.add_row(
            str(row["cell"]), _side(row["from"]), _side(row["to"]), f"{row['people']:,}",
            "" if row["average_scale"] is None else three_digits(row["average_scale"]),
            f"{row['worst_loss']:.4g}", *whole,
        )  # fmt: skip
    return table


def _show_costs(console: Console, found: Audit) -> None:
    """What one draw costs anyone, what was released, and what all draws cost together."""
    m = found.mechanism
    shares = ", ".join(f"{float(q):.0%} within {at_most(loss)}" for q, loss in m.loss_quantiles().items())
    console.print(f"Losses of one draw ({m.loss_basis}): {shares} ({_to_stay(m)}).")
    console.print(
        f"Ledger: {found.spent:,} of {m.draws:,} draws released"
        + (f" and {m.declared(found.spent)}." if found.spent else ".")
    )
    totals = found.totals
    if m.draws > 1 and totals:
        worst = max(totals, key=lambda group: group["allowed"])
        who = f"the worst-placed people (cell {worst['cell']})" if m.costs_differ else "anyone"
        beside = f" ({m.promise.qualifier})" if m.promise.qualifier else ""
        console.print(
            f"Together, all {m.draws:,} draws cost {who} at most {at_most(worst['allowed'])}, and what is released so "
            f"far {at_most(max(g['spent'] for g in totals))}{beside}."
        )


def _show_checks(console: Console, found: Audit) -> None:
    """What was checked, and what is promised if all of it holds."""
    m = found.mechanism
    if found.same_histogram is not None:
        console.print(
            "The histogram is this data's."
            if found.same_histogram
            else "The histogram is not this data's: the mechanism was made from other rows.",
            style=None if found.same_histogram else "red",
        )
    if not found.same_kernel:
        console.print(f"The weights are not those of the {m.weights_source}.", style="red")
    if not found.certificate.holds:
        console.print(f"The certificate does not hold: {found.certificate.failure}. Nothing is promised.", style="red")
    elif not m.within_budget:
        console.print("All draws together cost more than the budget. Nothing is promised.", style="red")
    else:
        console.print(certified(m), style="green")
        console.print(str(m.promise))


def _to_stay(m: Mechanism) -> str:
    """What losses are held against."""
    if m.order is not None:
        return f"their Renyi divergence of order {m.order:g} is to stay within {at_most(m.epsilon)}"
    but = f" with delta = {at_most(m.delta)}" if m.delta > 0 else ""
    return f"to stay within {at_most(m.epsilon)}{but}"


def show_losses(found: RowLosses) -> None:
    """The people who are hardest to protect, and where the rows are."""
    console, m, groups = screen(), found.mechanism, found.groups
    rows, scaled = groups.hardest(), len(found.columns) > 1
    title = f"Hardest to protect: {len(rows)} of {len(groups.cells):,} groups of people ({m.grid.name})"
    table = Table(title=title)
    for name in ("cell", "from", "to", "people", *(["scale"] if scaled else []), "loss of one draw"):
        table.add_column(name, justify="right")
    for row in rows:
        scale = [_side(row["scale"])] if scaled else []
        ends = _side(row["from"]), _side(row["to"])
        table.add_row(str(row["cell"]), *ends, f"{row['people']:,}", *scale, f"{row['loss']:.4g}")
    console.print(table)
    console.print(f"Worst loss of one draw ({m.loss_basis}): {at_most(float(groups.losses.max()))}.")
    names = f"column{'s' * (len(found.columns) > 1)} {listed(map(repr, found.columns))}"
    missing = f" {found.left_out:,} of them were left out as missing and have none." if found.left_out else ""
    console.print(f"{found.rows:,} rows, with the new {names}, are in {found.out} (only you can read it).{missing}")
    console.print(SECRET_ROWS, style="yellow")


def _side(value: float | list[float]) -> str:
    return " x ".join(f"{part:.5g}" for part in (value if isinstance(value, list) else [value]))
