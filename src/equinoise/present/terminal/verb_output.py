"""What ``optimize``, ``synthesize`` and ``demo`` print: the promise, how close the release is, where it is; and all the
rest with ``--verbose``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table

from equinoise.data.make_grid import describe_bins
from equinoise.formatting import at_most, printable, shell_quote, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.present.coverage_words import coverage_sentences
from equinoise.present.distance_rows import DISTANCE_HEADER, OTHER_METHODS, distance_rows, distance_title
from equinoise.present.terminal.answer_output import show_true_answers
from equinoise.present.terminal.bars import show_bars
from equinoise.present.terminal.columns_table import show_columns
from equinoise.present.terminal.consoles import stdout_console
from equinoise.present.terminal.mechanism_output import statistics_table
from equinoise.present.wording import SECRET, certificate_sentence, solver_sentence

NOISY = 0.3
"""Total variation from which on the custodian is told that rows are mostly noise."""


def show_optimized(mechanism: Mechanism, out: Path, *, verbose: bool) -> None:
    """What ``optimize`` promises and reached."""
    console = stdout_console()
    _show_game(console, mechanism, verbose=verbose)
    console.print(
        f"Saved as {out}, which only you can read. Next: {_command('sample', out)} or {_command('report', out)}"
    )
    console.print(SECRET, style="dim")


def show_synthesized(
    mechanism: PrivateTable, rows: int, out: Path, save: Path, counts: Path | None, *, verbose: bool
) -> None:
    """What ``synthesize`` released and promises, and for the custodian's eyes how close it is."""
    console = stdout_console()
    _show_table(console, mechanism, verbose=verbose)
    published = [f"{out} ({rows:,} row{'s' * (rows != 1)})"] + ([] if counts is None else [f"{counts} (noisy counts)"])
    console.print(f"Give away: {', '.join(published)}.")
    console.print(f"Keep secret: {save}, which only you can read, and this screen.")
    console.print(_spent(mechanism, save))
    left = mechanism.draws is None or rows < mechanism.draws
    steps = [_command(name, save) for name in (*["sample"] * left, "report")]
    console.print(f"Next: {' or '.join(steps)}")


def _spent(mechanism: PrivateTable, save: Path) -> str:
    """What was paid for, and what would have to be paid again."""
    promise, most = mechanism.promise, mechanism.draws
    delta = f" and delta {at_most(promise.delta)}" if promise.delta > 0 else ""
    rows = f"More rows from {save} cost nothing" if most is None else f"No more rows than {most:,} may come from {save}"
    return (
        f"Spent: epsilon {at_most(promise.epsilon)}{delta}. {rows}; synthesizing again, or --force, adds to it for the "
        "same people (a book adds it up)."
    )


def show_demo(table: PrivateTable, rows: pl.DataFrame, game: Mechanism, draws: list[float], report: Path) -> None:
    """Both verbs, one after the other."""
    console = stdout_console()
    whose = f"{rows.height} rows like those of {table.total_people} people"
    console.print(f"1. Publish a table: {whose}, by marriage, schooling and pay.\n", style="bold")
    _show_table(console, table, verbose=False)
    console.print("The first rows, which may be published:")
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in rows.columns:
        shown.add_column(name, justify="left" if rows[name].dtype == pl.String else "right")
    for row in rows.head(5).iter_rows():
        shown.add_row(*(printable(str(value)) for value in row))
    console.print(shown)
    console.print("2. The paper's game, on their monthly pay in dollars.\n", style="bold")
    _show_game(console, game, verbose=False)
    console.print(f"{len(draws)} draws: " + ", ".join(f"{value:,g}" for value in draws))
    console.print(SECRET, style="dim")
    console.print("\nOn your own file: equinoise schema FILE --out FILE.toml, fill in what is public, then")
    console.print("equinoise synthesize FILE --schema FILE.toml --epsilon 1 --rows 200 --out rows.csv")
    console.print(f"The table to look at, in a browser: {report}")


def _command(name: str, file: Path) -> str:
    return f"equinoise {name} {shell_quote([str(file)])}"


def _show_table(console: Console, mechanism: PrivateTable, *, verbose: bool) -> None:
    console.print(mechanism.promise.in_one_line, style="green")
    console.print(f"Plan: {mechanism.settings['plan']}")
    for sentence in coverage_sentences(mechanism.coverage):
        console.print(sentence, style="yellow")
    if verbose:
        _show_details(console, mechanism)
        show_true_answers(console, mechanism)
        console.print(certificate_sentence(mechanism), style="green")
        console.print(str(mechanism.promise))
    else:
        show_columns(console, mechanism)
    console.print(_table_distance(mechanism))


def _show_game(console: Console, mechanism: Mechanism, *, verbose: bool) -> None:
    promise = mechanism.promise
    console.print(promise.in_one_line, style="green")
    if promise.draws not in {1, None} and promise.composed is None:
        console.print(f"{promise.draws:,} draws are allowed and {promise.cost_of_all}.")
    for sentence in coverage_sentences(mechanism.coverage):
        console.print(sentence, style="yellow")
    if verbose:
        _show_details(console, mechanism)
        _show_distances(console, mechanism)
        console.print(solver_sentence(mechanism))
        console.print(certificate_sentence(mechanism), style="green")
        console.print(str(promise))
        return
    show_columns(console, mechanism)
    methods = (mechanism.metrics(), mechanism.smoothing(), mechanism.baseline())
    own, smoothing, laplace = (three_digits(method["tv"]) for method in methods)
    console.print(
        f"Total variation from the data: {own} (one draw from smoothed counts {smoothing}, by the Laplace mechanism "
        f"{laplace})."
    )


def _show_details(console: Console, mechanism: Mechanism) -> None:
    """The grid, what comes out in letters, and all statistics."""
    console.print(describe_bins(mechanism.grid))
    show_bars(console, mechanism)
    console.print(statistics_table(mechanism))


def _show_distances(console: Console, mechanism: Mechanism) -> None:
    table = Table(title=distance_title(mechanism))
    for name in ("", *DISTANCE_HEADER):
        table.add_column(name, justify="right" if name else "left")
    for row in distance_rows(mechanism):
        table.add_row(*row)
    console.print(table)
    console.print(OTHER_METHODS, style="dim")


def _table_distance(mechanism: PrivateTable) -> str:
    """How far a row is from the data, or two columns of it where there are too many joint cells."""
    if mechanism.total_rows == 0:
        return "Nobody had a usable value: all of this is noise."
    distances = mechanism.metrics()
    which, of_what = ("", "a row") if mechanism.joint_held else ("_2way", "two columns of a row, mean over all pairs,")
    tv, kl = (three_digits(distances[name + which]) for name in ("tv", "kl"))
    noise = (
        " Most of that is noise: take fewer bins, or see 'equinoise plan'." if distances["tv" + which] > NOISY else ""
    )
    return f"Distance of {of_what} from the data, in these bins: total variation {tv}, KL {kl} nats.{noise}"
