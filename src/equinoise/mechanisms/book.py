"""The book: one durable account for one group of people, whatever mechanisms are made of their data.

A mechanism's whole budget is charged before the mechanism exists. Then it is recorded as made, and only after that is
it saved or drawn from; so an entry that is charged and was never made let nothing out, and may be given back. Last, it
is recorded as finished: of one that was made and never finished nobody knows whether it was saved.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from equinoise.display import VIEWS
from equinoise.errors import BadInput, BudgetSpent, EquinoiseError, check, is_number
from equinoise.formatting import at_most, format_number
from equinoise.mechanisms.book_events import (
    STATE_BEFORE,
    Charge,
    Entry,
    Event,
    Finished,
    GivenBack,
    History,
    Made,
    damaged,
    next_link,
    now,
)
from equinoise.mechanisms.book_store import BOOKS, EVENTS, BookStore
from equinoise.privacy.book_cost import Spending, Total

FORMAT = 1
LEAST_LEFT = 1e-9
MOST_EPSILON = 1e6


@dataclass(frozen=True)
class Limit:
    """What everything in a book may cost together."""

    epsilon: float
    delta: float


class Open:
    """An entry that is charged, while its mechanism is being made."""

    def __init__(self, book: Book, number: int) -> None:
        self._book, self.number, self.is_made = book, number, False

    def made(self, digest: str) -> None:
        """Record the mechanism, before it is saved or drawn from."""
        self._book._append(Made(at=now(), entry=self.number, digest=digest))
        self.is_made = True

    def finished(self) -> None:
        """Record that the mechanism was saved or handed over. It is out, so a book that cannot be written is no error:
        the entry counts either way."""
        with suppress(BadInput):
            self._book._append(Finished(at=now(), entry=self.number))


class Book:
    """One account for one group of people. Make it with :meth:`create`, or :meth:`open` one that is there."""

    def __init__(self, store: BookStore) -> None:
        self._store = store
        with store.reading() as connection:
            first = _first_line(connection)
            self.identity: str = first["identity"]
            self.created: str = first["created"]
            self.limit = Limit(first["epsilon"], first["delta"])
            self._history = History(first["link"])
            self._read(connection)

    @staticmethod
    def create(place: str | Path, *, epsilon: float, delta: float = 0.0) -> Book:
        """A new book with a limit, in a file or a database (``postgresql://...``)."""
        fits = is_number(epsilon) and 0 < epsilon < MOST_EPSILON
        check(fits, "epsilon", f"a positive number below {MOST_EPSILON:,.0f}", epsilon)
        check(is_number(delta) and 0 <= delta < 1, "delta", "a number from 0 to below 1", delta)
        fields = {"format": FORMAT, "identity": secrets.token_hex(16), "epsilon": float(epsilon),
                  "delta": float(delta), "created": now()}  # fmt: skip
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        BookStore(place).create(text, next_link("", text))
        return Book.open(place)

    @staticmethod
    def open(place: str | Path) -> Book:
        """A book that is there, with all of its events checked."""
        return Book(BookStore(place))

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return self._store.name

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every mechanism that was charged, in order."""
        return tuple(self._current().entries)

    def totals(self) -> list[Total]:
        """What all entries that count cost together, by every way that may be used; the least first."""
        return self._current().spending.totals(self.limit.delta)

    def left(self) -> float:
        """The largest pure epsilon that one more mechanism may cost."""
        return self._current().spending.epsilon_left(self.limit.epsilon, self.limit.delta)

    def plot_spending(self) -> Any:
        """What all mechanisms cost together after each, against the limit, as a figure."""
        return VIEWS["spending"](self)

    def _repr_html_(self) -> str:
        return str(VIEWS["book"](self))

    def __repr__(self) -> str:
        """Where it is, and its limit."""
        delta = f" and delta {format_number(self.limit.delta)}" if self.limit.delta else ""
        return f"<Book {self.place!r} with epsilon {format_number(self.limit.epsilon)}{delta}>"

    def __copy__(self) -> Book:
        """Itself: there is one account, however many names it has."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Book:
        """Itself, as for a plain copy."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the name of its file, which is opened again where it is unpickled, on this computer."""
        if not self._store.is_file:
            raise BadInput(
                f"The book {self.place!r} cannot be pickled: the pickle would hold the address of its database, with a "
                "password if it has one. Open it again with Book.open instead."
            )
        return _open_again, (str(Path(self.place).absolute()), self.identity)

    def check(self) -> int:
        """Check every event again, and that no charge passed the limit when it was made; gives how many there are."""

        def look(history: History) -> None:
            if not self._fits(history.spending):
                raise damaged(f"event {history.count} is a charge beyond the limit")

        with self._store.reading() as connection:
            history = History(_first_line(connection)["link"])
            _read_events(connection, history, look)
        return history.count

    @contextmanager
    def charging(self, charge: Charge) -> Iterator[Open]:
        """Charge a mechanism before it is made; given back if making it fails before it is recorded as made."""
        entry = Open(self, self._charge(charge))
        try:
            yield entry
        except (Exception, KeyboardInterrupt) as error:
            if not entry.is_made:
                said = str(error) if isinstance(error, EquinoiseError) else type(error).__name__
                with suppress(BadInput):  # it was recorded, or the book cannot be written: the charge stands
                    self.give_back(entry.number, f"making it failed: {said[:200]}")
            raise
        if entry.is_made:
            entry.finished()

    def give_back(self, number: int, reason: str) -> None:
        """Give back the charge of an entry that was never made. Safe, because a mechanism is recorded as made before
        anything is saved or drawn, and cannot be recorded after this."""
        if number < 1:
            raise BadInput(f"The book has no entry {number}: they are counted from 1.")
        self._append(GivenBack(at=now(), entry=number, reason=reason))

    def _charge(self, charge: Charge) -> int:
        def change(connection: sql.Connection) -> int:
            history = self._read(connection)
            if charge.cost is not None and not self._fits(history.spending.plus(charge.cost)):
                raise self._refusal(history, charge)
            self._write(connection, charge)
            return len(history.entries) + 1

        number: int = self._store.wait_for(change)
        return number

    def _append(self, event: Made | Finished | GivenBack) -> None:
        def change(connection: sql.Connection) -> None:
            entries = self._read(connection).entries
            if event.entry > len(entries):
                raise BadInput(f"The book has no entry {event.entry}. It has {len(entries)}.")
            state = entries[event.entry - 1].state
            if state != STATE_BEFORE[event.event]:
                was = "was given back" if state == "given back" else "was made: what it cost cannot be given back"
                raise BadInput(f"Entry {event.entry} of the book {was}.")
            self._write(connection, event)

        self._store.wait_for(change)

    def _fits(self, spending: Spending) -> bool:
        return spending.within(self.limit.epsilon, self.limit.delta)

    def _refusal(self, history: History, charge: Charge) -> BudgetSpent:
        left = history.spending.epsilon_left(self.limit.epsilon, self.limit.delta)
        delta = f" with delta {at_most(charge.delta)}" if charge.delta else ""
        what = f"epsilon {_rounded_down(left)} is left" if left > LEAST_LEFT else "nothing is left"
        deltas = float(history.spending.delta) + charge.delta
        halves = ""
        if charge.delta and 2 * deltas > self.limit.delta:
            halves = (
                f" Deltas together may be half of the book's, {format_number(self.limit.delta / 2)}, and would be "
                f"{at_most(deltas)}."
            )
        return BudgetSpent(
            f"The book {self.place!r} allows epsilon {format_number(self.limit.epsilon)} in all; {what}, and "
            f"{at_most(charge.epsilon)}{delta} was asked for.{halves} Nothing was made.",
            asked=charge.epsilon, left=left,
        )  # fmt: skip

    def _current(self) -> History:
        """The history as it is now."""
        with self._store.reading() as connection:
            return self._read(connection)

    def _read(self, connection: sql.Connection) -> History:
        """The history with what was added since it was last read; checked from there on."""
        if _first_line(connection)["identity"] != self.identity:
            raise BadInput(f"The book {self.place!r} was replaced by another one. Open it again.")
        _read_events(connection, self._history)
        return self._history

    def _write(self, connection: sql.Connection, event: Event) -> None:
        """Append an event to what was just read."""
        number, link = self._history.count + 1, next_link(self._history.link, event.text())
        connection.execute(sql.insert(EVENTS), {"number": number, "text": event.text(), "link": link})
        connection.execute(sql.update(BOOKS).values(events=number, link=link))


def _open_again(place: str, identity: str) -> Book:
    """A pickled book, if it is still that one."""
    book = Book.open(place)
    if book.identity != identity:
        raise BadInput(
            f"The book {place!r} was replaced by another one since it was pickled. Open that with Book.open."
        )
    return book


def _first_line(connection: sql.Connection) -> dict[str, Any]:
    """What a book says of itself, and the link that its first event is tied to."""
    rows = connection.execute(sql.select(BOOKS)).all()
    try:
        (row,) = rows
        fields: dict[str, Any] = json.loads(row.text)
        known = fields["format"] == FORMAT and fields["epsilon"] > 0 and 0 <= fields["delta"] < 1
        known = known and isinstance(fields["identity"], str) and isinstance(fields["created"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged("its first line cannot be read") from None
    if not known:
        raise damaged("its first line is of another format")
    return {**fields, "link": next_link("", row.text)}


def _read_events(connection: sql.Connection, history: History, look: Callable[[History], None] | None = None) -> None:
    """Add the events behind a history to it, and check that the book ends with the last one."""
    for row in connection.execute(sql.select(EVENTS).where(EVENTS.c.number > history.count).order_by(EVENTS.c.number)):
        history.add(row.number, row.text, row.link)
        if look is not None:
            look(history)
    ending = connection.execute(sql.select(BOOKS.c.events, BOOKS.c.link)).one()
    if (ending.events, ending.link) != (history.count, history.link):
        raise damaged("it does not end with the event that it should")


def _rounded_down(value: float) -> str:
    found = f"{value:.6g}"
    return found if float(found) <= value else f"{value * (1 - 1e-6):.6g}"
