"""What is printed about a book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.cells import set_cell_size
from rich.table import Table
from rich.text import Text

from equinoise.formatting import at_most, format_number, printable, three_digits
from equinoise.mechanisms.book import Book, Limit
from equinoise.mechanisms.book_events import Entry, spending_after_each
from equinoise.present.book_words import STATES, book_notes, book_verdict
from equinoise.present.terminal.bars import BAR, LABEL, SHARE, bar
from equinoise.present.terminal.consoles import stdout_console
from equinoise.present.terminal.json_and_csv import print_json
from equinoise.privacy.book_cost import ADDING_UP, ZCDP
from equinoise.privacy.promise import PER_INSTANCE

MOST_LINES = 12
"""Of the picture; more entries go together."""


def book_json(book: Book) -> dict[str, Any]:
    """A book as JSON: its limit, its entries, what they cost together and what is left."""
    return {
        "place": book.place, "identity": book.identity, "created": book.created, "limit": vars(book.limit),
        "entries": [entry.to_json() for entry in book.entries], "totals": [vars(total) for total in book.totals()],
        "epsilon_left": book.left(),
    }  # fmt: skip


def print_book(book: Book, *, as_json: bool, plot: Path | None = None) -> None:
    """A book as one JSON object, or for people; ``plot`` is a picture that was written."""
    if as_json:
        print_json({**book_json(book), **({} if plot is None else {"plot": str(plot)})})
        return
    show_book(book)
    if plot is not None:
        stdout_console().print(f"The plot is in {printable(str(plot))}.")


def print_check(book: Book, *, as_json: bool) -> None:
    """That all events of a book are as they were written, and what is known of entries; refused if they are not."""
    events, entries = book.check(), book.entries
    if as_json:
        states = Counter(entry.state for entry in entries)
        print_json(
            {"place": book.place, "identity": book.identity, "events": events, "whole": True, "states": dict(states)}
        )
        return
    console = stdout_console()
    console.print(
        f"The book {printable(book.place)!r} is whole: {events:,} event{'s' * (events != 1)}, none beyond the limit."
    )
    for note in book_notes(entries):
        console.print(note)


def show_book(book: Book) -> None:
    """Entries as a table, what is spent as a picture in letters, and what is left."""
    console, entries = stdout_console(), book.entries
    delta = f" and delta {at_most(book.limit.delta)}" if book.limit.delta else ""
    console.print(
        f"The book {printable(book.place)!r} allows epsilon {format_number(book.limit.epsilon)}{delta} in all."
    )
    if entries:
        console.print(_entries_table(entries))
        console.print(spending_picture(entries, book.limit, plain=not console.encoding.startswith("utf")), end="")
    console.print(book_verdict(book))
    for note in book_notes(entries):
        console.print(note)


def spending_picture(entries: Sequence[Entry], limit: Limit, *, plain: bool = False) -> Text:
    """What entries cost together after each of them, or some, by every way: a whole bar is the limit."""
    text, ways = Text(), (ADDING_UP, ZCDP) if limit.delta else (ADDING_UP,)
    head = set_cell_size(f"of epsilon {format_number(limit.epsilon)}", LABEL)
    text.append(f"{head}  {'  '.join(f'{way:<{BAR + SHARE}}' for way in ways).rstrip()}\n", style="bold")
    for label, spent in _lines(entries, limit.delta):
        text.append(f"{label}  ")
        for way in ways:
            text.append(_spent_bar(spent.get(way), limit.epsilon, plain=plain))
            text.append("  ")
        text.right_crop(len(text.plain) - len(text.plain.rstrip(" ")))
        text.append("\n")
    return text


def _lines(entries: Sequence[Entry], delta: float) -> Iterator[tuple[str, dict[str, float]]]:
    """Which entries, and the epsilon of them and all before by every way that may be used."""
    steps = list(spending_after_each(entries))
    together = -(-len(steps) // MOST_LINES)
    for start in range(0, len(steps), max(together, 1)):
        run = steps[start : start + together]
        (first, _), (last, spending) = run[0], run[-1]
        numbers = f"{first.number} to {last.number}" if first is not last else f"{first.number} {first.charge.purpose}"
        spent = {total.how: total.epsilon for total in spending.totals(delta)}
        yield set_cell_size(printable(numbers), LABEL), spent


def _spent_bar(epsilon: float | None, limit: float, *, plain: bool) -> str:
    if epsilon is None:
        return f"{'-':<{BAR + SHARE}}"
    letters = bar(min(epsilon, limit), limit, plain=plain)
    beyond = " >" if epsilon > limit else ""
    return f"{letters:{'.' if plain else '░'}<{BAR}} {at_most(epsilon)}{beyond}".ljust(BAR + SHARE)


def _entries_table(entries: Sequence[Entry]) -> Table:
    table, units = Table(), any(entry.charge.unit for entry in entries)
    names = ["", "when", "columns", *(["unit"] if units else []), "purpose", "method", "epsilon", "delta", "state"]
    for name in names:
        table.add_column(name, justify="right" if name in {"", "epsilon", "delta"} else "left")
    for entry in entries:
        charge = entry.charge
        delta = f"{charge.delta:.3g}" if charge.delta else ""
        what = f"({three_digits(charge.epsilon)})" if charge.kind == PER_INSTANCE else at_most(charge.epsilon)
        table.add_row(
            str(entry.number), charge.at[:16].replace("T", " "), printable(", ".join(charge.columns)),
            *([printable(charge.unit or "")] if units else []), printable(charge.purpose), charge.method, what, delta,
            STATES[entry.state],
        )  # fmt: skip
    return table
