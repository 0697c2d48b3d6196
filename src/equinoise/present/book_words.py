"""What is said of a book beside its entries: what is spent and left, and what to know of entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from equinoise.formatting import at_most, format_number, join_and
from equinoise.mechanisms.book_events import Entry
from equinoise.privacy.promise import PER_INSTANCE

if TYPE_CHECKING:
    from equinoise.mechanisms.book import Book  # which loads SQLAlchemy

STATES = {
    "charged": "charged, not made",
    "made": "made, perhaps not saved",
    "finished": "made",
    "given back": "given back",
}
"""What a table says of an entry."""

MOST_NUMBERS = 10
DIGITS = 12
"""Of a digest."""


def book_verdict(book: Book) -> str:
    """What all entries cost together, and what is left."""
    least, limit = book.totals()[0], book.limit.epsilon
    return (
        f"All together cost at most epsilon {at_most(least.epsilon)} of {format_number(limit)}, by {least.how}: "
        f"{100 * min(1.0, least.epsilon / limit):.3g} % spent. Epsilon {_down(book.left())} is left for one more "
        "mechanism."
    )


def book_notes(entries: Sequence[Entry]) -> Iterator[str]:
    """What is known of entries that did not come to their end, of the game's, and of those that count rows."""
    charged, made = ([entry for entry in entries if entry.state == state] for state in ("charged", "made"))
    if charged:
        yield (
            f"{_entries(charged)}: charged, and not made. It is being made, or its process was stopped: 'equinoise "
            "book give-back' says when it is safe to give it back."
        )
    if made:
        digests = join_and(entry.note[:DIGITS] for entry in made[:MOST_NUMBERS])
        yield (
            f"{_entries(made)}: made, and counts. It is being saved, or its process was stopped before that was "
            f"recorded: there may be no file. If there is, its first line has the digest {digests}..."
        )
    counted = [entry for entry in entries if entry.counts]
    rows = [entry for entry in counted if entry.charge.unit is None]
    if rows and len(rows) < len(counted):
        yield (
            f"{_entries(rows)}: without a unit, so that every row counted as a person. What all cost together is then "
            "for one person only if nobody has several rows there."
        )
    if any(entry.charge.kind == PER_INSTANCE for entry in entries):
        yield "Entries of the game are per-instance, not differential privacy: no total includes them."


def _entries(entries: Sequence[Entry]) -> str:
    numbers = [str(entry.number) for entry in entries]
    if len(numbers) == 1:
        return f"Entry {numbers[0]}"
    more = len(numbers) - MOST_NUMBERS
    return f"Entries {join_and(numbers if more < 1 else [*numbers[:MOST_NUMBERS], f'{more:,} more'])}"


def _down(value: float) -> str:
    return "0" if value <= 0 else f"{value:.6g}" if float(f"{value:.6g}") <= value else f"{value * (1 - 1e-6):.6g}"
