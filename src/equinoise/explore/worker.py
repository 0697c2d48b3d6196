"""The process behind one tab: it works out a mechanism, keeps the last one, and saves it.

A process and not a thread, because it can be ended at any moment, whatever it is doing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput
from equinoise.explore import view as shown
from equinoise.explore.counts import Counted
from equinoise.explore.refusals import check_name, refusal
from equinoise.explore.request import PageRequest, make
from equinoise.mechanisms.base import Mechanism
from equinoise.solvers.solution import Round

SLOW = ("equinoise.solvers.best_response.loop", "altair")
for slow in SLOW:
    import_module(slow)  # otherwise loaded when first needed: here, before that

NOTE_EVERY = 0.15
"""Seconds between two notes about how far the work is."""

Tell = Callable[[str, dict[str, Any]], None]


def work(connection: Connection, counted: Counted, folder: Path) -> None:
    """Do what is asked, one thing after the other, until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the server decides
    kept: dict[int, Mechanism] = {}

    def tell(kind: str, what: dict[str, Any]) -> None:
        connection.send((kind, what))

    try:
        while True:
            what, given = connection.recv()
            try:
                JOBS[what](counted, folder, kept, given, tell)
                tell("done", {})
            except (EOFError, BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:
                tell("refused", refusal(error))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _solve(counted: Counted, folder: Path, kept: dict[int, Mechanism], given: dict[str, Any], tell: Tell) -> None:
    kept.clear()
    request = PageRequest.from_json(given["settings"])
    told = time.monotonic()

    def progress(state: Round) -> None:
        nonlocal told
        if time.monotonic() - told > NOTE_EVERY:
            told = time.monotonic()
            tell("note", {"note": state.note or f"Run {state.run + 1}, round {state.number}"})

    mechanism = make(counted, request, progress)
    tell("result", {"number": given["number"], **shown.result(mechanism, counted, request)})
    kept[given["number"]] = mechanism
    for figure in shown.quick_figures(mechanism):
        tell("figure", figure)
    tell("drawn", {})
    tell("figure", shown.cost(mechanism))


def _save(counted: Counted, folder: Path, kept: dict[int, Mechanism], given: dict[str, Any], tell: Tell) -> None:
    mechanism = kept.get(given["number"])
    if mechanism is None:
        raise BadInput("What this page shows is no longer at hand. Work it out again, then save it.")
    path = folder / check_name(given["name"])
    if os.path.lexists(path) and mechanism.ledger.path is None:
        raise BadInput(f"The file {path.name!r} exists. Choose another name: nothing is replaced from here.")
    mechanism.save(path)
    tell("saved", {"name": path.name})


def _report(counted: Counted, folder: Path, kept: dict[int, Mechanism], given: dict[str, Any], tell: Tell) -> None:
    page = shown.report(folder / check_name(given["name"]), lambda note: tell("note", {"note": note}))
    tell("report", {"html": page})


JOBS = {"solve": _solve, "save": _save, "report": _report}
