"""The book that a verb charges, if there is one: before a mechanism is made, and again when it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from equinoise.data.bounds_cost import bounds_epsilon, rounded
from equinoise.data.schema import Schema
from equinoise.errors import BadInput, check
from equinoise.mechanisms.base import Mechanism
from equinoise.privacy.accounting import SUM_MARGIN
from equinoise.privacy.book_cost import Cost, as_written
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY

if TYPE_CHECKING:
    from equinoise.mechanisms.book import Book

BookLike: TypeAlias = "Book | str | Path | Literal[False] | None"
"""A book or its place; none where it is False, and the one that the environment names where it is None."""

VARIABLE = "EQUINOISE_BOOK"
"""Names the book where none is given."""

MOST_LETTERS = 500


@dataclass(frozen=True)
class Account:
    """A ``book``, if there is one, and for what ``purpose`` it is charged."""

    book: Book | None = None
    purpose: str = ""

    @classmethod
    def of(cls, book: BookLike, purpose: str | None) -> Account:
        """The account that is meant: the book that was given, or the one that the environment names; none by False."""
        place = None if book is False else book if book is not None else os.environ.get(VARIABLE) or None
        check(purpose is None or place is not None, "purpose", "left out without a book", purpose)
        fits = purpose is None or (isinstance(purpose, str) and len(purpose) <= MOST_LETTERS)
        check(fits, "purpose", f"a text of at most {MOST_LETTERS} letters", purpose)
        if place is None:
            return cls()
        from equinoise.mechanisms.book import Book

        return cls(place if isinstance(place, Book) else Book.open(place), purpose or "")

    @classmethod
    def of_game(cls, book: BookLike, purpose: str | None, *, not_private: bool) -> Account:
        """The account of a mechanism of the game, whose promise adds up to nothing; refused unless that is known."""
        found = cls.of(book, purpose)
        check(found.book is not None or not not_private, "not_private", "left out without a book", not_private)
        if found.book is not None and not not_private:
            raise BadInput(
                f"The book {found.book.place!r} has a limit of differential privacy, and the game promises none: what "
                "it releases adds up to nothing. Use 'synthesize', or say --not-private (in Python, not_private=True) "
                "to have it listed and in no total."
            )
        return found

    def with_bounds(self, cost: Cost, schema: Schema) -> Cost:
        """What is charged for something within the bounds of a schema: its cost, and that of bounds which were found
        privately, unless they were charged to the same book."""
        paid = bounds_epsilon(schema, unless_in=None if self.book is None else self.book.identity)
        if not paid:
            return cost
        both, more = as_written(cost.epsilon) + paid, Cost.pure(rounded(paid, up=True))
        rho = None if cost.rho is None or more.rho is None else (cost.rho + more.rho) * (1 + SUM_MARGIN)
        return Cost(rounded(both, up=True), cost.delta, rho)

    def charging_table(
        self, method: str, schema: Schema, cost: Cost
    ) -> AbstractContextManager[Callable[[Mechanism], None]]:
        """:meth:`charging` of a table to publish, with what its bounds cost besides."""
        both = self.with_bounds(cost, schema)
        return self.charging(DIFFERENTIAL_PRIVACY, method, schema.names, both, schema.unit)

    @contextmanager
    def charging(
        self, kind: str, method: str, columns: Sequence[str], cost: Cost, unit: str | None
    ) -> Iterator[Callable[[Mechanism], None]]:
        """Charge the book before a mechanism is made. What comes back must be told of the mechanism before it is saved
        or drawn from; it is saved before this ends."""
        with self.recording(kind, method, columns, cost, unit) as record:
            yield lambda mechanism: None if self.book is None else record(mechanism.ledger.digest)

    @contextmanager
    def recording(
        self, kind: str, method: str, columns: Sequence[str], cost: Cost, unit: str | None = None
    ) -> Iterator[Callable[[str], None]]:
        """Charge the book before something is made. What comes back must be told its digest before it comes out."""
        if self.book is None:
            yield lambda digest: None
            return
        from equinoise.mechanisms.book_events import charge_of

        charge = charge_of(kind, method, columns, cost, unit=unit, purpose=self.purpose)
        with self.book.charging(charge) as entry:
            yield entry.made
