"""How many connections there may be, and how long one may take to ask: most of all for those who have shown nothing.

A connection begins as a stranger's. A request with the cookie, or with the token for the first time, makes it the
owner's. Whoever comes when there is no more room takes the place of the one of the same kind that has been there for
longest: so the owner gets in, however many strangers hold on to theirs.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK = 10.0
"""From a connection, or from the last answer on it, to the end of a request's headers: a browser needs none of it."""

MOST_STRANGERS = 16
MOST_OWN = 32
"""A browser has six connections to a server, for all its tabs together."""

AT_ONCE = 4
"""Connections accepted in one go: each takes a file descriptor before anything is known about it."""

WAITING = 128
"""Connections that the system keeps waiting until then."""


class Connections:
    """All that are open now, in the order in which they came."""

    def __init__(self) -> None:
        self._strangers: dict[Any, Connection] = {}
        self._own: dict[Any, Connection] = {}

    def add(self, connection: Connection) -> None:
        """A newcomer."""
        _add(self._strangers, connection, MOST_STRANGERS)

    def welcome(self, client: Any) -> None:
        """The one from that address has shown that it is the owner's."""
        connection = self._strangers.pop(client, None)
        if connection is not None:
            _add(self._own, connection, MOST_OWN)

    def remove(self, connection: Connection) -> None:
        """One that has ended."""
        for kind in (self._strangers, self._own):
            if kind.get(connection.client) is connection:
                del kind[connection.client]

    def failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio would print as a traceback. Without file descriptors, strangers make room at once."""
        error = context.get("exception")
        if isinstance(error, OSError):
            for connection in [*self._strangers.values()]:
                connection.transport.abort()
        elif error is not None:
            print(f"Something unexpected went wrong in the page's server ({type(error).__name__}).", file=sys.stderr)


def _add(kind: dict[Any, Connection], connection: Connection, most: int) -> None:
    kind[connection.client] = connection
    for oldest in [*kind.values()][: max(len(kind) - most, 0)]:
        oldest.transport.abort()


class Connection(H11Protocol):
    """One connection. It is ended if a request is not there in time, however slowly it comes in."""

    open_ones: Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait()
        self.open_ones.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is, any more."""
        self._stop_waiting()
        self.open_ones.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something has come: a whole request's headers, or not yet."""
        super().data_received(data)
        if self._answering:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Answered; the next request may be there already."""
        super().on_response_complete()
        if not self._answering:
            self._wait()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def limited(config: uvicorn.Config, connections: Connections) -> uvicorn.Config:
    """A server's settings with these limits."""
    config.http = type("Limited", (Connection,), {"open_ones": connections})
    config.backlog = AT_ONCE
    return config
