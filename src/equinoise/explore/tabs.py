"""A process for every tab, so that tabs do not disturb each other; whatever a tab asks for anew ends what it was at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput
from equinoise.explore.counts import Counted
from equinoise.explore.process import start_worker

MOST_TABS = 8
MOST_REPORTS = 4

Message = tuple[str, dict[str, Any]]
CANCELLED: Message = ("cancelled", {"sentence": "Stopped: something else was asked for."})
ENDS = {"done", "refused", "cancelled"}


class Worker:
    """A process and the line to it. It does one thing at a time."""

    def __init__(self, counted: Counted, folder: Path) -> None:
        self.process, self.connection = start_worker(counted, folder)
        self.busy = self.saving = self._ended = False

    @property
    def idle(self) -> bool:
        """Whether it can be asked. (One that was just ended may seem alive for a moment.)"""
        return not self.busy and not self._ended and self.process.is_alive()

    def end(self) -> None:
        """End it, whatever it is doing. Whoever waits for it is told that it was cancelled."""
        self._ended = True
        self.process.kill()

    async def ask(self, what: str, given: dict[str, Any]) -> AsyncGenerator[Message]:
        """Its messages, the last of which is one of ENDS. If nobody wants to hear the rest, it is ended."""
        heard: asyncio.Queue[Message] = asyncio.Queue()
        self.busy, self.saving = True, what == "save"
        line = (what, given, asyncio.get_running_loop(), heard)
        threading.Thread(target=self._listen, args=line, daemon=True).start()
        try:
            kind = ""
            while kind not in ENDS:
                kind, message = await heard.get()
                yield kind, message
        finally:
            if kind not in ENDS or kind == "cancelled":
                self.end()
            self.busy = self.saving = False

    def _listen(
        self, what: str, given: dict[str, Any], loop: asyncio.AbstractEventLoop, heard: asyncio.Queue[Message]
    ) -> None:
        kind = ""
        while kind not in ENDS:
            try:
                if not kind:
                    self.connection.send((what, given))
                kind, message = self.connection.recv()
            except (OSError, EOFError):
                kind, message = CANCELLED
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(heard.put_nowait, (kind, message))


async def _in_thread(start: Callable[[], Worker]) -> Worker:
    """Start a worker without holding up the server, and without holding up its end as asyncio's own threads do."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Worker] = loop.create_future()

    def tell(worker: Worker | None, error: Exception | None) -> None:
        if found.cancelled():
            return
        if worker is not None:
            found.set_result(worker)
        else:
            found.set_exception(error or RuntimeError())

    def run() -> None:
        worker, error = None, None
        try:
            worker = start()
        except Exception as raised:
            error = raised
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(tell, worker, error)

    threading.Thread(target=run, daemon=True).start()
    return await found


class Tabs:
    """Workers by the tab they work for, those used last at the end."""

    def __init__(self, counted: Counted, folder: Path) -> None:
        self._counted, self._folder = counted, folder
        self._workers: dict[str, Worker] = {}
        self._reporters: set[Worker] = set()
        self._starting = self._reports = 0
        self._numbers = count(1)
        self._ended = False

    async def solve(self, tab: str, settings: dict[str, Any]) -> AsyncGenerator[Message]:
        """Work out a mechanism for a tab, and leave what it was at."""
        worker = self._workers.get(tab)
        if worker is not None and worker.saving:
            raise BadInput("This tab is saving a file. Try again when it has.")
        if worker is None or not worker.idle:
            self._end(tab)
            self._check_room()
            self._starting += 1  # it takes its place before it is there: others may ask meanwhile
            try:
                worker = await _in_thread(self._start)
            finally:
                self._starting -= 1
            self._end(tab)  # one that was asked for meanwhile
        self._workers[tab] = self._workers.pop(tab, worker)
        async with aclosing(worker.ask("solve", {"settings": settings, "number": next(self._numbers)})) as messages:
            async for message in messages:
                yield message

    async def save(self, tab: str, number: int, name: str) -> AsyncGenerator[Message]:
        """Save what a tab shows."""
        worker = self._workers.get(tab)
        if worker is None or not worker.idle:
            raise BadInput("What this page shows is not worked out to the end, or no longer at hand. Do that first.")
        async with aclosing(worker.ask("save", {"number": number, "name": name})) as messages:
            async for message in messages:
                yield message

    async def report(self, name: str) -> AsyncGenerator[Message]:
        """The report of a saved file, if not too many are being made."""
        if self._reports >= MOST_REPORTS:
            raise BadInput(f"{MOST_REPORTS} reports are being made already. Wait for one of them.")
        self._reports += 1
        try:
            worker = await _in_thread(self._start)  # of its own: it belongs to no tab
            self._reporters.add(worker)
            try:
                async with aclosing(worker.ask("report", {"name": name})) as messages:
                    async for message in messages:
                        yield message
            finally:
                self._reporters.discard(worker)
                worker.end()
        finally:
            self._reports -= 1

    @property
    def running(self) -> list[int]:
        """Processes that are working now."""
        return [worker.process.pid for worker in self._workers.values() if worker.busy and worker.process.is_alive()]

    def _start(self) -> Worker:
        if self._ended:
            raise BadInput("The command behind this page has ended.")
        return Worker(self._counted, self._folder)

    def _check_room(self) -> None:
        """End the workers of tabs that were not used for longest: nobody tells when a tab is closed."""
        idle = [tab for tab, worker in self._workers.items() if not worker.busy]
        for tab in idle[: max(len(self._workers) + self._starting - MOST_TABS + 1, 0)]:
            self._end(tab)
        if len(self._workers) + self._starting >= MOST_TABS:
            raise BadInput(f"{MOST_TABS} tabs are at work already. Close some, or wait.")

    def _end(self, tab: str) -> None:
        if tab in self._workers:
            self._workers.pop(tab).end()

    def end(self) -> None:
        """End everything at once."""
        self._ended = True
        for worker in (*self._workers.values(), *self._reporters):
            worker.end()
        self._workers.clear()
