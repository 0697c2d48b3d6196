"""How workers start: as copies of a process that has imported everything, so that a new one is there at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equinoise.explore.counts import Counted

IMPORTED = ["equinoise.explore.worker"]


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")  # there are no copies: a worker starts afresh
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def get_ready() -> None:
    """Have everything imported, which takes seconds, while this process does something else."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with this process, which decides
        try:
            ensure_running()
        finally:
            signal.signal(signal.SIGINT, usual)


def let_go() -> None:
    """End the process that workers are copies of, which would take its time. Workers are ended before."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        pid = getattr(forkserver._forkserver, "_forkserver_pid", None)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def start_worker(counted: Counted, folder: Path) -> tuple[Any, Connection]:
    """A process and the line to it. It ends when the line is closed, or with this process."""
    context = _context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs, counted, folder), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _run(connection: Connection, counted: Counted, folder: Path) -> None:
    from equinoise.explore.worker import work

    work(connection, counted, folder)
