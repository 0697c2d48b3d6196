"""The process behind one tab: it makes a mechanism, keeps the last one, and saves it.

A process and not a thread, because it can be ended at any moment, whatever it is doing. It starts at once, as a copy of
a process that has imported everything.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equinoise.atomic_write import check_writable
from equinoise.data.write_rows import write_frames
from equinoise.errors import BadInput, EquinoiseWarning
from equinoise.explore import view
from equinoise.explore.refusals import refusal
from equinoise.explore.request import OPTIMIZE, SYNTHESIZE, Counted, PageRequest
from equinoise.explore.source import Source
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.published_counts import publish_counts
from equinoise.present.report.pages import private_page
from equinoise.present.report.write import check_audit
from equinoise.solvers.solution import Round
from equinoise.synthesis.plan import Plan
from equinoise.verbs.account import Account
from equinoise.verbs.synthesize import synthesize

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


def start_worker(source: Source, folder: Path) -> tuple[Any, Connection]:
    """A process and the connection to it. It ends when the connection is closed, or with this process."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=work, args=(theirs, source, folder), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def work(connection: Connection, source: Source, folder: Path) -> None:
    """Do one job after the other, until nobody is there to ask for one or to hear of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the server decides
    jobs = Jobs(connection, source, folder)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job, arguments = connection.recv()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", EquinoiseWarning)
                    jobs.caught = caught
                    getattr(jobs, job)(**arguments)
                jobs.send("done")
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:
                jobs.send("refused", **refusal(error))


class Jobs:
    """What a worker can be asked for. Each sends messages: a kind, and fields by their names."""

    def __init__(self, connection: Connection, source: Source, folder: Path) -> None:
        self._connection, self._source, self._folder = connection, source, folder
        self._mechanisms: dict[int, Mechanism] = {}  # the last result, by its number
        self._planned: tuple[PageRequest, Plan | None] | None = None  # the last plan
        self._noted = 0.0
        self.caught: list[warnings.WarningMessage] = []

    def send(self, kind: str, **fields: Any) -> None:
        """Send one message to the server."""
        self._connection.send((kind, fields))

    def solve(self, settings: dict[str, Any], look: bool, number: int) -> None:
        """Send the plan, which needs no data, and then, if the page may ``look`` at it, what the data gives."""
        self._mechanisms.clear()
        request = PageRequest.from_json(settings)
        self._noted = time.monotonic()
        plan = self._plan(request)
        self.send("plan", **view.plan(plan, self._source, request))
        if not look:
            return
        mechanism = request.make(self._source, self._counted, plan, self._note_round)
        self.send("result", number=number, warnings=self._warnings(), **view.result(mechanism))
        self._mechanisms[number] = mechanism
        for figure in view.quick_figures(mechanism):
            self.send("figure", figure=figure)
        self.send("drawn")
        if mechanism.noise:
            self.send("figure", figure=view.cost(mechanism))

    def _plan(self, request: PageRequest) -> Plan | None:
        if self._planned is None or self._planned[0] != request:
            self._planned = request, request.plan(self._note_round)
        return self._planned[1]

    def _counted(self, name: str, count: Callable[[], Counted]) -> Counted:
        """What the server keeps under that name for all tabs, or what is counted now."""
        self.send("wanted", name=name)
        found: Counted | None = self._connection.recv()
        if found is None:
            self.send("note", note="Counting", done=None)
            found = count()
            self.send("counted", name=name, counted=found)
        return found

    def _warnings(self) -> list[str]:
        return list(dict.fromkeys(str(one.message) for one in self.caught))

    def _note_round(self, state: Round) -> None:
        if time.monotonic() - self._noted > SECONDS_BETWEEN_NOTES:
            self._noted = time.monotonic()
            self.send("note", note=state.note or f"Run {state.run + 1}, round {state.number}", done=state.done)

    def save(self, number: int, name: str) -> None:
        """Save the last result of the game under a name that is free."""
        mechanism = self._mechanisms.get(number)
        if mechanism is None or not mechanism.noise:
            raise BadInput("What this page shows is no longer at hand. Work it out again, then save it.")
        Account.of_game(None, None, not_private=False)
        path = self._folder / name
        _check_free(path, mechanism)
        mechanism.save(path)
        self.send("saved", **view.saved(path.name))

    def publish(self, settings: dict[str, Any], name: str, counts: bool) -> None:
        """Make rows as ``equinoise synthesize`` does, and write them beside their mechanism, and their noisy counts."""
        request = PageRequest.from_json(settings)
        if request.verb != SYNTHESIZE:
            raise BadInput(f"{OPTIMIZE!r} makes no rows to publish.")
        rows = self._folder / name
        files = [rows, rows.with_suffix(".eq"), *([rows.with_suffix(".counts.json")] if counts else [])]
        for path in files:
            _check_free(path)
            check_writable(path, self._source.data, force=False)
        method = request.settings.get("method") or (CountsTable.method if counts else None)
        if counts and method != CountsTable.method:
            raise BadInput(f"Only the method {CountsTable.method} has noisy counts to publish.")
        release = self._source.read_by(
            synthesize, request.schema, save=files[1], progress=self._note_round,
            **{**request.settings, "method": method},
        )  # fmt: skip
        write_frames(rows, iter([release.rows]), mode=0o644, force=False)
        if counts:
            assert isinstance(release.mechanism, CountsTable)
            publish_counts(release.mechanism, files[2])
        told = view.published(release, [path.name for path in files])
        self.send("published", warnings=self._warnings(), **told)

    def report(self, name: str) -> None:
        """Send the page that ``equinoise report`` writes about a saved mechanism."""

        def note(sentence: str) -> None:
            self.send("note", note=sentence, done=None)

        mechanism = Mechanism.open(self._folder / name)
        check_audit(mechanism, note)
        self.send("report", html=private_page(mechanism, datetime.now(UTC), note).html())


def _check_free(path: Path, mechanism: Mechanism | None = None) -> None:
    """Refuse a name that is taken: nothing is replaced."""
    if os.path.lexists(path) and (mechanism is None or mechanism.ledger.path is None):
        raise BadInput(f"The file {path.name!r} exists. Choose another name: nothing is replaced from here.")
