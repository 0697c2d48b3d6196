"""How many connections there may be, and how long one may take to ask: most of all for those who have shown nothing.

A connection begins as a stranger's. A request with the cookie, or with the token for the first time, makes it the
owner's. Whoever comes when there is no more room takes the place of the one of the same kind that has been there for
longest: so the owner gets in, however many strangers hold on to theirs.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK = 10.0
"""From a connection, or from the last answer on it, to the end of a request's headers: a browser needs none of it."""

MOST_STRANGERS = 16
MOST_OWNERS = 32
"""A browser has six connections to a server, for all its tabs together."""

MOST_ACCEPTED_AT_ONCE = 4
"""Each takes a file descriptor before anything is known about it."""

MOST_WAITING = 128
"""Connections that the system keeps waiting until then."""


class Connections:
    """All that are open now, by their address, in the order in which they came."""

    def __init__(self) -> None:
        self._strangers: dict[Any, Connection] = {}
        self._owners: dict[Any, Connection] = {}

    def add(self, connection: Connection) -> None:
        """Take in a newcomer."""
        self._strangers[connection.client] = connection
        _make_room(self._strangers, MOST_STRANGERS)

    def welcome(self, client: Any) -> None:
        """Count the connection from that address as the owner's: it has shown token or cookie."""
        if client in self._strangers:
            self._owners[client] = self._strangers.pop(client)
            _make_room(self._owners, MOST_OWNERS)

    def remove(self, connection: Connection) -> None:
        """Forget one that has ended."""
        for kind in (self._strangers, self._owners):
            if kind.get(connection.client) is connection:
                del kind[connection.client]

    def handle_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say in a line what asyncio would print as a traceback. Without file descriptors, strangers make room."""
        error = context.get("exception")
        if isinstance(error, OSError):
            _make_room(self._strangers, 0)
        elif error is not None:
            print(f"Something unexpected went wrong in the page's server ({type(error).__name__}).", file=sys.stderr)


def _make_room(kind: dict[Any, Connection], most: int) -> None:
    for oldest in [*kind.values()][: max(len(kind) - most, 0)]:
        oldest.transport.abort()


class Connection(H11Protocol):
    """One connection. It is ended if a request is not there in time, however slowly it comes in."""

    open_connections: Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()
        self.open_connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        self.open_connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop waiting once a request's headers are complete."""
        super().data_received(data)
        if self._answering:
            self._timer.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there already."""
        super().on_response_complete()
        if not self._answering:
            self._timer.cancel()
            self._wait()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)
