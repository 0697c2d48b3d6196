"""A worker for every tab, so that tabs do not disturb each other; whatever a tab asks for anew ends what it was at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput
from equinoise.explore.refusals import refusal
from equinoise.explore.request import Counted
from equinoise.explore.source import Source
from equinoise.explore.worker import start_worker

MOST_TABS = 8
MOST_REPORTS = 4
MOST_COUNTS = 8
"""Of the data, by one schema each, that are kept: those used last."""

Message = tuple[str, dict[str, Any]]
"""Its kind, and fields by their names."""

CANCELLED: Message = ("cancelled", {"sentence": "Stopped: something else was asked for."})
LAST_KINDS = {"done", "refused", "cancelled"}
WRITING = {"save", "publish"}
"""Jobs that write files: nothing else that a tab asks for ends them."""


class Counts:
    """What was counted, for all tabs: whatever else a tab asks for, or leaves, is counted once."""

    def __init__(self) -> None:
        self._kept: dict[str, Counted] = {}

    def get(self, name: str) -> Counted | None:
        """What is kept under a name, if anything is."""
        found = self._kept.pop(name, None)
        if found is not None:
            self._kept[name] = found
        return found

    def keep(self, name: str, counted: Counted) -> None:
        """Keep it, and forget what was not used for longest."""
        self._kept[name] = counted
        for oldest in [*self._kept][: max(len(self._kept) - MOST_COUNTS, 0)]:
            self._kept.pop(oldest, None)


class Worker:
    """A process, which is started with its first job, and the connection to it. It does one job at a time."""

    def __init__(self, source: Source, counts: Counts, folder: Path) -> None:
        self._source, self._counts, self._folder = source, counts, folder
        self.process: Any = None
        self._connection: Any = None
        self.busy = self.saving = self._ended = False

    @property
    def idle(self) -> bool:
        """Whether it can be given a job. (A process that was just ended may seem alive for a moment.)"""
        return self.process is not None and not self.busy and not self._ended and self.process.is_alive()

    def end(self) -> None:
        """End it, whatever it is doing. Whoever waits for it is told that it was cancelled."""
        self._ended = True
        if self.process is not None:
            self.process.kill()

    async def messages(self, job: str, **arguments: Any) -> AsyncGenerator[Message]:
        """The messages of a job, the last of which is of LAST_KINDS. If nobody hears the rest, the worker is ended,
        unless it writes files: that is done to the end."""
        queue: asyncio.Queue[Message] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self.busy, self.saving = True, job in WRITING
        threading.Thread(target=self._listen, args=(job, arguments, loop, queue), daemon=True).start()
        kind = ""
        try:
            while kind not in LAST_KINDS:
                kind, fields = await queue.get()
                yield kind, fields
        finally:
            if kind == "cancelled" or (kind not in LAST_KINDS and not self.saving):
                self.end()
                self.busy = False

    def _listen(
        self, job: str, arguments: dict[str, Any], loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[Message]
    ) -> None:
        """Pass a job's messages on. In a thread, as all of this waits; not in asyncio's, which keep it from ending."""

        def deliver(kind: str, fields: dict[str, Any]) -> None:
            if kind in LAST_KINDS:
                self.busy = self.saving = False
            queue.put_nowait((kind, fields))

        kind = ""
        while kind not in LAST_KINDS:
            try:
                if not kind:
                    self._send(job, arguments)
                kind, fields = self._connection.recv()
                if kind == "wanted":
                    self._connection.send(self._counts.get(**fields))
                    continue
            except Exception as error:
                ended = self.process is not None and isinstance(error, OSError | EOFError)
                kind, fields = CANCELLED if ended else ("refused", refusal(error))
            if kind == "counted":
                self._counts.keep(**fields)
                continue
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(deliver, kind, fields)

    def _send(self, job: str, arguments: dict[str, Any]) -> None:
        if self.process is None:
            self.process, self._connection = start_worker(self._source, self._folder)
            if self._ended:  # while it started
                self.process.kill()
        self._connection.send((job, arguments))


class Tabs:
    """Workers by the tab they work for, those used last at the end."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source, self._counts, self.folder = source, Counts(), folder
        self._workers: dict[str, Worker] = {}
        self._reporters: set[Worker] = set()
        self._numbers = count(1)
        self._ended = False

    def solve(self, tab: str, settings: dict[str, Any], look: bool) -> AsyncGenerator[Message]:
        """Plan, and if the page may ``look`` at the data make a mechanism, for a tab that leaves what it was at."""
        return self._worker(tab).messages("solve", settings=settings, look=look, number=next(self._numbers))

    def publish(self, tab: str, settings: dict[str, Any], name: str, counts: bool) -> AsyncGenerator[Message]:
        """Make and write rows for a tab, which leaves what it was at."""
        return self._worker(tab).messages("publish", settings=settings, name=name, counts=counts)

    def _worker(self, tab: str) -> Worker:
        """A worker that is free for a tab: its own, or a new one in its place."""
        worker = self._workers.get(tab)
        if worker is not None and worker.saving:
            raise BadInput("This tab is writing files. Try again when it has.")
        if worker is None or not worker.idle:
            self._end(tab)
            self._make_room()
            worker = self._new_worker()
        self._workers[tab] = self._workers.pop(tab, worker)
        return worker

    def save(self, tab: str, number: int, name: str) -> AsyncGenerator[Message]:
        """Save what a tab shows."""
        worker = self._workers.get(tab)
        if worker is None or not worker.idle:
            raise BadInput("What this page shows is not worked out to the end, or no longer at hand. Do that first.")
        return worker.messages("save", number=number, name=name)

    async def report(self, name: str) -> AsyncGenerator[Message]:
        """The report of a saved file, if not too many are being made."""
        if len(self._reporters) >= MOST_REPORTS:
            raise BadInput(f"{MOST_REPORTS} reports are being made already. Wait for one of them.")
        worker = self._new_worker()  # of its own: it belongs to no tab
        self._reporters.add(worker)
        try:
            async with aclosing(worker.messages("report", name=name)) as messages:
                async for message in messages:
                    yield message
        finally:
            self._reporters.discard(worker)
            worker.end()

    def _new_worker(self) -> Worker:
        if self._ended:
            raise BadInput("The command behind this page has ended.")
        return Worker(self._source, self._counts, self.folder)

    def _make_room(self) -> None:
        """End the workers of tabs that were not used for longest: nobody tells when a tab is closed."""
        idle = [tab for tab, worker in self._workers.items() if not worker.busy]
        for tab in idle[: max(len(self._workers) - MOST_TABS + 1, 0)]:
            self._end(tab)
        if len(self._workers) >= MOST_TABS:
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
