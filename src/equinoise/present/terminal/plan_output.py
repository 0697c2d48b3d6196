"""What is printed of a plan."""

from __future__ import annotations

from rich import box
from rich.table import Table

from equinoise.data.make_grid import describe_bins
from equinoise.present.plan_rows import BASIS, TABLE_TITLE, error_header, error_rows, step_note, table_rows, verdict
from equinoise.present.terminal.consoles import stdout_console
from equinoise.synthesis.plan import Plan


def show_plan(plan: Plan) -> None:
    """Which way rows will be made, what to expect of them, and of other epsilons and numbers of rows."""
    console = stdout_console()
    console.print(describe_bins(plan.grid))
    console.print(f"Plan: {plan.choice.sentence}", style="green")
    errors = error_rows(plan)
    if errors:
        console.print(_table(error_header(plan), errors))
    header, lines = table_rows(plan)
    if lines:
        header[0] = f"{TABLE_TITLE} at epsilon"
        console.print(_table(header, lines))
    if verdict(plan):
        console.print(verdict(plan), style="red" if plan.too_small else None)
    if step_note(plan):
        console.print(step_note(plan), style="yellow")
    console.print(BASIS, style="dim")


def _table(header: list[str] | tuple[str, ...], rows: list[list[str]] | list[tuple[str, str, str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    return table
