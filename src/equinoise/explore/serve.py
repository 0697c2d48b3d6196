"""Serving the page on this computer alone, until Ctrl-C."""

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
from equinoise.explore.app import Library, make_app
from equinoise.explore.connections import WAITING, Connections, limited
from equinoise.explore.counts import Counted
from equinoise.explore.guard import Guard
from equinoise.explore.tabs import Tabs

LOOPBACK = "127.0.0.1"


def open_socket(port: int) -> socket.socket:
    """A socket that only this computer reaches; 0 is any port that is free."""
    check(is_whole(port, 0, 65_535), "port", "a whole number from 0 (any free one) to 65535", port)
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just left may be taken again at once
    try:
        opened.bind((LOOPBACK, port))
        opened.listen()
    except OSError as error:
        opened.close()
        what = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise BadInput(f"Port {port} {what}. Name another with --port, or leave it out for any free one.") from None
    return opened


class Server(uvicorn.Server):
    """Ends its workers with the first Ctrl-C: nobody waits for what they are at."""

    def __init__(self, config: uvicorn.Config, tabs: Tabs) -> None:
        super().__init__(config)
        self._tabs = tabs

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept, a few at once, while as many wait as may."""
        await super().startup(sockets)
        for opened in sockets or []:
            opened.listen(WAITING)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What happens at a signal."""
        self._tabs.end()
        super().handle_exit(sig, frame)


class Explorer:
    """A counted column behind a guarded server; ``address`` has the one-time token in it."""

    def __init__(self, counted: Counted, opened: socket.socket, *, folder: Path) -> None:
        self.port: int = opened.getsockname()[1]
        self.tabs = Tabs(counted, folder)
        self._library = Library()
        self._connections = Connections()
        self.guard = Guard(make_app(counted, self.tabs, self._library), self.port, self._connections.welcome)
        self.address = f"http://{LOOPBACK}:{self.port}/?token={self.guard.token}"
        self._socket = opened
        config = uvicorn.Config(
            self.guard, log_level="critical", access_log=False, lifespan="off", server_header=False, date_header=False,
            ws="none", timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16_384, proxy_headers=False,
        )  # fmt: skip
        self.server = Server(limited(config, self._connections), self.tabs)

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until a signal; ``ready`` is called when the first visit can come."""
        try:
            asyncio.run(self._serve(ready))
        finally:
            self.tabs.end()
            self._socket.close()

    async def _serve(self, ready: Callable[[], None]) -> None:
        asyncio.get_running_loop().set_exception_handler(self._connections.failed)
        early = asyncio.create_task(self._library.script())  # it is needed with the first visit, and takes a while
        ready()  # the socket listens already: a visit waits until it is answered
        await self.server.serve(sockets=[self._socket])
        early.cancel()
        with suppress(asyncio.CancelledError, EquinoiseError):
            await early
