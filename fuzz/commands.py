"""Commands in this process, and how they may end: done, or refused in a sentence."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from equinoise import check
from equinoise.cli import main as command_line
from equinoise.errors import EquinoiseWarning
from fuzz.cases import Lost

MOST_LINES = 12
"""Of a refusal: a schema's mistakes are told together, ten at most."""

FAULTS = ("Traceback", "Something unexpected", "A library gave up", "A library could not be loaded")
"""What is said where nobody thought of a case. It is no traceback, but a fault all the same."""


@dataclass(frozen=True)
class Ending:
    """Of a command: its words, its exit status, and what it printed."""

    words: tuple[str, ...]
    status: int
    out: str
    err: str

    @property
    def done(self) -> bool:
        """Whether it did what was wanted; otherwise it was refused."""
        return self.status == 0

    def require(self, holds: object, what: str) -> None:
        """Something that must hold of it."""
        if not holds:
            words = " ".join(map(repr, self.words))
            raise Lost(
                f"{what}\n  equinoise {words}\n  status {self.status}\n  {self.out[-1500:]}\n  {self.err[-1500:]}"
            )


def run(*words: object) -> Ending:
    """Run a command. It must be done, or refused in a sentence; with ``--json`` it says one object whatever happens."""
    ending = _call(command_line.main, "equinoise", tuple(map(str, words)))
    for fault in FAULTS:
        ending.require(fault not in ending.out + ending.err, "A fault that nobody thought of.")
    ending.require(ending.status in {0, 1, 2}, "Another status.")
    refusal = (
        ending.err.partition("Error: ")[2] if ending.err.startswith("Error: ") else ending.err.partition("\nError: ")[2]
    )
    verdict = words[0] == "audit" and ending.status == 1  # which is no refusal, and stands with the rest on stdout
    ending.require(verdict or bool(refusal.strip()) != ending.done, "Refused without a word, or done with an error.")
    ending.require(len(refusal.strip().split("\n")) <= MOST_LINES, "A refusal of many lines.")
    if "--json" in ending.words:
        said = json.loads(ending.out)
        ending.require(
            isinstance(said, dict) and (verdict or ("error" in said) != ending.done), "It says something else in JSON."
        )
    return ending


def run_checker(path: Path) -> Ending:
    """Run the checker for outsiders on a file: it holds (0), does not (1), or cannot be checked (2)."""
    ending = _call(check.main, "check.py", (str(path),))
    ending.require(ending.status in {0, 1, 2} and ending.err == "", "The checker ends in another way.")
    ending.require(ending.done or len(ending.out.strip().split("\n")) <= MOST_LINES, "The checker refuses at length.")
    return ending


def _call(main: object, name: str, words: tuple[str, ...]) -> Ending:
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = [name, *words]
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")  # whatever a library says to nobody in particular
            warnings.simplefilter("always", EquinoiseWarning)
            for unseen in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
                warnings.simplefilter("ignore", unseen)
            status = main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.argv = before
    return Ending(words, status, out.getvalue(), err.getvalue())


@contextmanager
def inside(folder: Path) -> Iterator[Path]:
    """Work in a folder, with a place for releases of its own."""
    before, state = os.getcwd(), os.environ.get("EQUINOISE_STATE")
    folder.mkdir(exist_ok=True)
    os.environ["EQUINOISE_STATE"] = str(folder / "state")
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        os.environ.pop("EQUINOISE_STATE")
        if state is not None:
            os.environ["EQUINOISE_STATE"] = state
