"""The process behind one tab: it makes a mechanism, keeps the last one, and saves it.

A process and not a thread, because it can be ended at any moment, whatever it is doing. It starts at once, as a copy of
a process that has imported everything.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput
from equinoise.explore import view
from equinoise.explore.counts import ColumnCounts
from equinoise.explore.refusals import refusal
from equinoise.explore.request import PageRequest, make
from equinoise.mechanisms.base import Mechanism
from equinoise.present.report.pages import private_page
from equinoise.present.report.write import check_audit
from equinoise.solvers.solution import Round

PRELOADED_MODULES = [__name__, "equinoise.solvers.best_response.loop", "altair"]
"""What workers have from the start. The last two are otherwise loaded when first needed, which takes seconds."""

SECONDS_BETWEEN_NOTES = 0.15

COPIES = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context("forkserver" if COPIES else "spawn")
if COPIES:
    CONTEXT.set_forkserver_preload(PRELOADED_MODULES)


def preload() -> None:
    """Have everything imported, which takes seconds, while this process does something else."""
    if COPIES:
        from multiprocessing.forkserver import ensure_running

        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with this process, which decides
        try:
            ensure_running()
        finally:
            signal.signal(signal.SIGINT, usual)


def end_preloaded() -> None:
    """End the process that workers are copies of, which would take its time. Workers are ended before."""
    if COPIES:
        from multiprocessing import forkserver

        pid = getattr(forkserver._forkserver, "_forkserver_pid", None)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def start_worker(counts: ColumnCounts, folder: Path) -> tuple[Any, Connection]:
    """A process and the connection to it. It ends when the connection is closed, or with this process."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=work, args=(theirs, counts, folder), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def work(connection: Connection, counts: ColumnCounts, folder: Path) -> None:
    """Do one job after the other, until nobody is there to ask for one or to hear of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the server decides
    jobs = Jobs(connection, counts, folder)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job, arguments = connection.recv()
            try:
                getattr(jobs, job)(**arguments)
                jobs.send("done")
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:
                jobs.send("refused", **refusal(error))


class Jobs:
    """What a worker can be asked for. Each sends messages: a kind, and fields by their names."""

    def __init__(self, connection: Connection, counts: ColumnCounts, folder: Path) -> None:
        self._connection, self._counts, self._folder = connection, counts, folder
        self._mechanisms: dict[int, Mechanism] = {}  # the last result, by its number
        self._noted = 0.0

    def send(self, kind: str, **fields: Any) -> None:
        """Send one message to the server."""
        self._connection.send((kind, fields))

    def solve(self, settings: dict[str, Any], number: int) -> None:
        """Make a mechanism, and send what the page shows of it."""
        self._mechanisms.clear()
        request = PageRequest.from_json(settings)
        self._noted = time.monotonic()
        mechanism = make(self._counts, request, self._note_round)
        self.send("result", number=number, **view.result(mechanism, self._counts, request))
        self._mechanisms[number] = mechanism
        for figure in view.quick_figures(mechanism):
            self.send("figure", figure=figure)
        self.send("drawn")
        self.send("figure", figure=view.cost(mechanism))

    def _note_round(self, state: Round) -> None:
        if time.monotonic() - self._noted > SECONDS_BETWEEN_NOTES:
            self._noted = time.monotonic()
            self.send("note", note=state.note or f"Run {state.run + 1}, round {state.number}")

    def save(self, number: int, name: str) -> None:
        """Save the last result under a name that is free."""
        mechanism = self._mechanisms.get(number)
        if mechanism is None:
            raise BadInput("What this page shows is no longer at hand. Work it out again, then save it.")
        path = self._folder / name
        if os.path.lexists(path) and mechanism.ledger.path is None:
            raise BadInput(f"The file {path.name!r} exists. Choose another name: nothing is replaced from here.")
        mechanism.save(path)
        self.send("saved", name=path.name)

    def report(self, name: str) -> None:
        """Send the page that ``equinoise report`` writes about a saved mechanism."""

        def note(sentence: str) -> None:
            self.send("note", note=sentence)

        mechanism = Mechanism.open(self._folder / name)
        check_audit(mechanism, note)
        self.send("report", html=private_page(mechanism, datetime.now(UTC), note).html())
