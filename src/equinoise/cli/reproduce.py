"""``equinoise reproduce``: the paper's experiments, done again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from equinoise.cli.options import FILE_PATH, json_option

EXIT = "Exit status: 0 done, whatever was reached; 2 bad input; 130 stopped."
HEADING_WIDTH = 12
"""Letters of a line of a heading of the table of KL."""


@click.command("reproduce", epilog=EXIT, short_help="Do the paper's experiments again, on public data.")
@click.argument("experiments", nargs=-1, metavar="[height|income|large-income|regression|all]...")
@click.option("--out", type=FILE_PATH, required=True, help="A folder for the page and all behind it.")
@click.option("--quick", is_flag=True, help="A look at all of it, in about two minutes.")
@json_option
def command(experiments: Sequence[str], out: Path, quick: bool, as_json: bool) -> None:
    """Do the paper's experiments again on public data (extra 'experiments'): tables, pictures and a page.

    The whole takes about an hour on two cores. What is finished is kept in the folder: run the same command again
    after it was stopped, and it goes on where it was.

    \b
    Examples:
      equinoise reproduce --quick --out results
      equinoise reproduce height regression --out results
      equinoise reproduce all --out results --json
    """
    from equinoise.experiments import reproduce as run
    from equinoise.experiments.verdict import LEGEND
    from equinoise.present import terminal

    with watching() as watch:
        try:
            found = run.reproduce(experiments, out=out, quick=quick, watch=watch)
        except KeyboardInterrupt:
            click.echo("What is finished is kept: the same command goes on where it was.", err=True)
            raise
    if as_json:
        terminal.print_json(found.to_json())
        return
    if found.goals or found.kl:
        click.echo(LEGEND)
    for sentence in found.verdict:
        click.echo(sentence)
    for goal in found.goals:
        click.echo(goal.sentence())
    if found.kl:
        print_kl(found.kl)
    for name, reason in found.left_out.items():
        click.echo(f"Left out: {name}. {reason}", err=True)
    again = f", {found.reused} of them done before" if found.reused else ""
    click.echo(
        f"{found.parts} parts{again}, {found.seconds:.0f} s. The page is {out / run.PAGE} (and {out / run.TEXT})."
    )


def print_kl(lines: Sequence[Sequence[str]]) -> None:
    """KL on the heights, ours beside the paper's, as a table: headings are folded, so that it fits a log or a page."""
    from equinoise.experiments.verdict import KL_TITLE, kl_header
    from equinoise.present.terminal.consoles import number_table, stdout_console

    table = number_table(KL_TITLE, *(fill(name, HEADING_WIDTH) for name in kl_header()))
    for line in lines:
        table.add_row(*line)
    stdout_console().print(table)


@contextmanager
def watching() -> Iterator[Callable[[int, int, Any, str], None]]:
    """Progress on stderr: a line that changes on a terminal, a line for each part elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from equinoise.present.terminal.consoles import is_interactive, stderr_console

    console = stderr_console()
    if not is_interactive(console):
        began = time.monotonic()

        def print_part(done: int, all_parts: int, part: Any, note: str) -> None:
            if not note:
                console.print(f"[{time.monotonic() - began:5.0f} s] {done + 1} of {all_parts}: {part.name}")

        yield print_part
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Reading the data", total=None)

        def update(done: int, all_parts: int, part: Any, note: str) -> None:
            words = f"{part.name}: {note}" if note else part.name
            bar.update(task, completed=done, total=all_parts, description=words)

        yield update
