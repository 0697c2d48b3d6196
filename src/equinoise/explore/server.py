"""Serves the page on this computer alone, until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn

from equinoise.errors import BadInput, EquinoiseError, check, is_whole
from equinoise.explore.app import ChartScript, make_app
from equinoise.explore.connections import MOST_ACCEPTED_AT_ONCE, MOST_WAITING, Connection, Connections
from equinoise.explore.guard import Guard
from equinoise.explore.source import Opening
from equinoise.explore.tabs import Tabs

LOOPBACK = "127.0.0.1"


def open_socket(port: int) -> socket.socket:
    """A listening socket that only this computer reaches; 0 is any port that is free."""
    check(is_whole(port, 0, 65_535), "port", "a whole number from 0 (any free one) to 65535", port)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just left may be taken again at once
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        what = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise BadInput(f"Port {port} {what}. Name another with --port, or leave it out for any free one.") from None
    return listener


class Explorer(uvicorn.Server):
    """The guarded server of one dataset; ``address`` has the one-time token in it."""

    def __init__(self, opening: Opening, listener: socket.socket, *, folder: Path) -> None:
        self.port: int = listener.getsockname()[1]
        self.tabs = Tabs(opening.source, folder)
        self._listener, self._chart_script, self._connections = listener, ChartScript(), Connections()
        self.guard = Guard(make_app(opening, self.tabs, self._chart_script), self.port, self._connections.welcome)
        self.address = f"http://{LOOPBACK}:{self.port}/?token={self.guard.token}"
        protocol = type("OwnConnection", (Connection,), {"open_connections": self._connections})
        config = uvicorn.Config(
            self.guard, log_level="critical", access_log=False, lifespan="off", server_header=False, date_header=False,
            ws="none", timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16_384, proxy_headers=False,
            http=protocol, backlog=MOST_ACCEPTED_AT_ONCE,
        )  # fmt: skip
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept, a few at once, while as many wait as may."""
        await super().startup(sockets)
        self._listener.listen(MOST_WAITING)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the workers with the first signal: nobody waits for what they are at."""
        self.tabs.end()
        super().handle_exit(sig, frame)

    def serve_page(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until a signal; ``ready`` is called when the first visit can come."""
        try:
            asyncio.run(self._serve_page(ready))
        finally:
            self.tabs.end()
            self._listener.close()

    async def _serve_page(self, ready: Callable[[], None]) -> None:
        asyncio.get_running_loop().set_exception_handler(self._connections.handle_error)
        script = asyncio.create_task(self._chart_script.read())  # it is needed with the first visit, and takes a while
        ready()  # the socket listens already: a visit waits until it is answered
        await self.serve(sockets=[self._listener])
        script.cancel()
        with suppress(asyncio.CancelledError, EquinoiseError):
            await script
