"""Pieces of work that are stored when they are done, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise import __version__
from equinoise.atomic_write import write_whole

PART_FORMAT = 1
"""Of what is stored; raised whenever a result means something else than before."""

ReportProgress = Callable[[str], None]
"""Takes what a part is doing, in a few words."""


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of work. ``settings`` are all that decides its result; the same ones need not be done again."""

    name: str
    settings: dict[str, Any]
    work: Callable[[ReportProgress], dict[str, Any]]

    @property
    def key(self) -> dict[str, Any]:
        """What a stored result must have been made with."""
        return _as_stored(
            {"name": self.name, "equinoise": __version__, "format": PART_FORMAT, "settings": self.settings}
        )  # fmt: skip

    @property
    def file(self) -> str:
        """A name that says what is in it, and that no other settings share."""
        return f"{self.name}-{_digest(self.key)[:8]}.json"


@dataclass(frozen=True)
class FinishedPart:
    """A result, its file, the seconds that it took when it was worked out, and whether it was there already."""

    file: str
    result: dict[str, Any]
    seconds: float
    reused: bool


def finish(part: Part, folder: Path, report_progress: ReportProgress) -> FinishedPart:
    """A part with its result: the stored one, or worked out and stored in a file that is whole or not there."""
    file, key = folder / part.file, part.key
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.pop("digest") == _digest(stored) and stored["key"] == key:
            return FinishedPart(part.file, stored["result"], float(stored["seconds"]), reused=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not there, or not what was stored
    began = time.perf_counter()
    result = _as_stored(part.work(report_progress))
    seconds = round(time.perf_counter() - began, 3)
    content = {"key": key, "seconds": seconds, "result": result}
    text = json.dumps({**content, "digest": _digest(content)}, allow_nan=False)
    write_whole(file, [text.encode()], mode=0o644, force=True)
    return FinishedPart(part.file, result, seconds, reused=False)


def _digest(value: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _as_stored(value: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back, so that a result is the same whether it was stored or not."""
    plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    return plain
