"""``equinoise book``: one account for one group of people, whatever mechanisms are made of their data."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.options import EPILOG, check_plot, json_option, output_options


@click.group("book", epilog=EPILOG, short_help="Keep one account for one group of people.", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """One account for one group of people, whatever mechanisms are made of their data.

    A mechanism made with --book BOOK is charged to it before it exists, and refused past the limit.

    \b
    Examples:
      equinoise book create patients.book --epsilon 3 --delta 1e-5
      equinoise synthesize icu.csv --schema icu.toml --epsilon 1 --rows 200 --out rows.csv --book patients.book
      equinoise book show patients.book
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command.command("create", epilog=EPILOG, short_help="Make a book with a limit.")
@click.argument("book")
@click.option("--epsilon", type=float, required=True, help="What everything in the book may cost together.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Probability with which it may be exceeded.")
@json_option
def create(book: str, epsilon: float, delta: float, as_json: bool) -> None:
    """Make a book with a limit that cannot be changed. BOOK is a file, or a database (postgresql://...).

    \b
    Examples:
      equinoise book create patients.book --epsilon 3 --delta 1e-5
      equinoise book create postgresql://ana@127.0.0.1/patients --epsilon 3
    """
    from equinoise.mechanisms.book import Book
    from equinoise.present.terminal.book_output import print_book

    print_book(Book.create(book, epsilon=epsilon, delta=delta), as_json=as_json)


@command.command("show", epilog=EPILOG, short_help="List what was made, at what cost, and what is left.")
@click.argument("book")
@output_options("--plot", help="A .png, .svg or .html file for a picture of what is spent.")
def show(book: str, plot: Path | None, force: bool, as_json: bool) -> None:
    """List every mechanism that was charged to BOOK: when, from which columns, for what purpose, at what cost; what all
    of them cost together after each, and what is left.

    \b
    Examples:
      equinoise book show patients.book
      equinoise book show patients.book --plot spent.svg
      equinoise book show patients.book --json
    """
    from equinoise.mechanisms.book import Book
    from equinoise.present.charts import write_picture
    from equinoise.present.figures.spending import spending_figure
    from equinoise.present.terminal.book_output import print_book

    check_plot(plot, force=force)
    found = Book.open(book)
    if plot is not None:
        write_picture(spending_figure(found), plot, force=force)
    print_book(found, as_json=as_json, plot=plot)


@command.command("check", epilog=EPILOG, short_help="Check every event of a book, and its limit.")
@click.argument("book")
@json_option
def check(book: str, as_json: bool) -> None:
    """Check that nothing in BOOK was changed or removed, and that no charge passed its limit; and tell which entries
    were not made, or perhaps not saved.

    \b
    Examples:
      equinoise book check patients.book
    """
    from equinoise.mechanisms.book import Book
    from equinoise.present.terminal.book_output import print_check

    print_check(Book.open(book), as_json=as_json)


@command.command("give-back", epilog=EPILOG, short_help="Give back the charge of what was never made.")
@click.argument("book")
@click.argument("entry", type=int)
@click.option("--reason", required=True, help="Why nothing was made, such as: the process was killed.")
def give_back(book: str, entry: int, reason: str) -> None:
    """Give back the charge of an ENTRY of BOOK whose mechanism was never made: its process was stopped.

    That is safe: a mechanism is recorded in the book before it is saved or drawn from, so nothing came out of an entry
    that was only charged; and once a charge is given back, its mechanism can no longer be recorded.

    \b
    Examples:
      equinoise book give-back patients.book 4 --reason "the power failed"
    """
    from equinoise.mechanisms.book import Book

    found = Book.open(book)
    found.give_back(entry, reason)
    click.echo(
        f"Entry {entry} was given back. That is safe: its mechanism was never recorded as made, so nothing of it was "
        "saved or drawn, and now it cannot be."
    )
