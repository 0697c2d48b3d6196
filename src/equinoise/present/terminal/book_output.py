"""What is printed about a book."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from equinoise.formatting import at_most, format_number, printable, three_digits
from equinoise.mechanisms.book import Book
from equinoise.mechanisms.book_events import Entry
from equinoise.present.terminal.consoles import stdout_console
from equinoise.present.terminal.json_and_csv import print_json
from equinoise.privacy.promise import PER_INSTANCE

WIDTH = 40
STATES = {"charged": "charged, not made", "made": "made", "given back": "given back"}


def book_json(book: Book) -> dict[str, Any]:
    """A book as JSON: its limit, its entries, what they cost together and what is left."""
    return {
        "place": book.place, "identity": book.identity, "created": book.created, "limit": vars(book.limit),
        "entries": [entry.to_json() for entry in book.entries], "totals": [vars(total) for total in book.totals()],
        "epsilon_left": book.left(),
    }  # fmt: skip


def print_book(book: Book, *, as_json: bool) -> None:
    """A book as one JSON object, or for people."""
    print_json(book_json(book)) if as_json else show_book(book)


def show_book(book: Book) -> None:
    """Entries as a table, what is spent as a bar, and what is left."""
    console, entries = stdout_console(), book.entries
    delta = f" and delta {at_most(book.limit.delta)}" if book.limit.delta else ""
    console.print(
        f"The book {printable(book.place)!r} allows epsilon {format_number(book.limit.epsilon)}{delta} in all."
    )
    if entries:
        console.print(_entries_table(entries))
    least = book.totals()[0]
    share = min(1.0, least.epsilon / book.limit.epsilon)
    console.print(f"{'█' * round(WIDTH * share)}{'░' * (WIDTH - round(WIDTH * share))} {100 * share:.3g} % spent")
    console.print(
        f"All together cost at most epsilon {at_most(least.epsilon)}, by {least.how}. Epsilon {_down(book.left())} is "
        "left for one more mechanism."
    )
    if any(entry.state == "charged" for entry in entries):
        console.print(
            "What is charged and not made is being made, or its process was stopped: 'equinoise book give-back' says "
            "when it is safe to give it back."
        )
    if any(entry.charge.kind == PER_INSTANCE for entry in entries):
        console.print("Entries of the game are per-instance, not differential privacy: no total includes them.")


def _entries_table(entries: tuple[Entry, ...]) -> Table:
    table = Table()
    for name in ("", "when", "columns", "purpose", "method", "epsilon", "delta", "state"):
        table.add_column(name, justify="right" if name in {"", "epsilon", "delta"} else "left")
    for entry in entries:
        charge = entry.charge
        delta = f"{charge.delta:.3g}" if charge.delta else ""
        what = f"({three_digits(charge.epsilon)})" if charge.kind == PER_INSTANCE else at_most(charge.epsilon)
        table.add_row(
            str(entry.number), charge.at[:16].replace("T", " "), printable(", ".join(charge.columns)),
            printable(charge.purpose), charge.method, what, delta, STATES[entry.state],
        )  # fmt: skip
    return table


def _down(value: float) -> str:
    return "0" if value <= 0 else f"{value:.6g}" if float(f"{value:.6g}") <= value else f"{value * (1 - 1e-6):.6g}"
