"""What stands in a book: events, each tied by a hash to the one before, and the entries that they tell of.

A charge is an event of its own, durable before the mechanism exists; that the mechanism was then made is another, that
it was saved or handed over a third, and that a charge was given back a fourth. Nothing is ever changed or removed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from equinoise.errors import BadInput
from equinoise.privacy.book_cost import Cost, Spending
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, PER_INSTANCE


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)
    at: str = Field(max_length=40)

    def text(self) -> str:
        """The one text that stands for it."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))


class Charge(_Event):
    """What a mechanism may cost, before it is made: the next entry of the book."""

    event: Literal["charge"] = "charge"
    kind: Literal["per-instance", "differential-privacy"]
    method: str
    columns: list[str]
    unit: str | None = None
    """The column that says whose a row is; without one every row is a person's."""
    purpose: str = ""
    epsilon: float = Field(gt=0)
    delta: float = Field(ge=0, lt=1)
    rho: float | None = Field(default=None, ge=0)

    @property
    def cost(self) -> Cost | None:
        """What it adds to the total; None where the promise is per-instance, which adds up to nothing."""
        return Cost(self.epsilon, self.delta, self.rho) if self.kind == DIFFERENTIAL_PRIVACY else None


class Made(_Event):
    """That the mechanism of an entry is there, by its digest; rows may be drawn from then on."""

    event: Literal["made"] = "made"
    entry: int = Field(ge=1)
    digest: str = Field(pattern="^[0-9a-f]{64}$")


class Finished(_Event):
    """That the mechanism of an entry was saved, or handed over where it was not to be saved."""

    event: Literal["finished"] = "finished"
    entry: int = Field(ge=1)


class GivenBack(_Event):
    """That the charge of an entry was given back, as no mechanism was made of it."""

    event: Literal["given back"] = "given back"
    entry: int = Field(ge=1)
    reason: str


Event = Charge | Made | Finished | GivenBack
KINDS: dict[str, type[Event]] = {"charge": Charge, "made": Made, "finished": Finished, "given back": GivenBack}
STATE_BEFORE = {"made": "charged", "finished": "made", "given back": "charged"}
"""Of an entry, for each event that tells of it."""


@dataclass(frozen=True)
class Entry:
    """One mechanism in a book: what was charged for it, and the event that last told of it: charged, made, finished or
    given back."""

    number: int
    charge: Charge
    state: str = "charged"
    note: str = ""
    """The mechanism's digest, or why the charge was given back."""

    @property
    def counts(self) -> bool:
        """Whether it adds to the total."""
        return self.state != "given back" and self.charge.kind != PER_INSTANCE

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON has it."""
        return {"entry": self.number, **self.charge.model_dump(exclude={"event"}), "state": self.state,
                "note": self.note}  # fmt: skip


def next_link(link: str, text: str) -> str:
    """The hash that ties an event to the one before; the first is tied to the book's own first line."""
    return hashlib.sha256(f"{link}\n{text}".encode()).hexdigest()


class History:
    """The events of a book that were read and checked so far, and the entries that they tell of."""

    def __init__(self, link: str) -> None:
        self.link, self.count = link, 0
        self.entries: list[Entry] = []
        self.spending = Spending()
        """What the entries that count cost together, kept up with every event: a long book costs no more to charge."""

    def add(self, number: int, text: str, told: str) -> None:
        """The next event, if it follows from the one before and the entry it tells of is open."""
        link = next_link(self.link, text)
        if number != self.count + 1 or told != link:
            raise damaged(f"event {self.count + 1} does not follow from the one before")
        try:
            fields = json.loads(text)
            event = KINDS[fields["event"]](**fields)
        except (ValueError, KeyError, TypeError, ValidationError):
            raise damaged(f"event {number} cannot be read") from None
        self._apply(event)
        self.link, self.count = link, number

    def _apply(self, event: Event) -> None:
        if isinstance(event, Charge):
            self.entries.append(Entry(len(self.entries) + 1, event))
            if event.cost is not None:
                self.spending = self.spending.plus(event.cost)
            return
        if event.entry > len(self.entries) or self.entries[event.entry - 1].state != STATE_BEFORE[event.event]:
            raise damaged(f"event {self.count + 1} tells what cannot be of entry {event.entry}")
        before = self.entries[event.entry - 1]
        note = (
            event.digest if isinstance(event, Made) else event.reason if isinstance(event, GivenBack) else before.note
        )
        self.entries[event.entry - 1] = Entry(event.entry, before.charge, event.event, note)
        if isinstance(event, GivenBack) and before.charge.cost is not None:
            self.spending = self.spending.minus(before.charge.cost)


def spending_after_each(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Spending]]:
    """The entries that count, each with what it and those before it cost together."""
    spending = Spending()
    for entry in entries:
        if entry.counts and entry.charge.cost is not None:
            spending = spending.plus(entry.charge.cost)
            yield entry, spending


def charge_of(
    kind: str, method: str, columns: Sequence[str], cost: Cost, *, unit: str | None = None, purpose: str = ""
) -> Charge:
    """What a mechanism is charged for in a book."""
    rho = None if kind == PER_INSTANCE else cost.rho
    if not 0 < cost.epsilon < math.inf:
        raise BadInput(f"An epsilon of {cost.epsilon:.3g} for everything that comes out cannot be listed in a book.")
    return Charge(
        at=now(), kind=kind, method=method, columns=list(columns), unit=unit,  # type: ignore[arg-type]
        purpose=purpose, epsilon=cost.epsilon, delta=cost.delta, rho=rho,
    )  # fmt: skip


def now() -> str:
    """The time as events have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def damaged(why: str) -> BadInput:
    """That a book was edited or damaged: nothing can be charged to it."""
    return BadInput(
        f"The book was edited or damaged: {why}. Nothing can be charged to it. Take a copy only if nothing was charged "
        "since: what it does not list still counts."
    )
