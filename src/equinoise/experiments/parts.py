"""Pieces of work that are stored when they are done, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise.atomic_write import write_whole
from equinoise.versions import __version__

FORMAT = 1
"""Of what is stored; raised whenever a result means something else than before."""

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of work. ``settings`` are all that decides its result; the same ones need not be done again."""

    name: str
    settings: dict[str, Any]
    work: Callable[[Tell], dict[str, Any]]

    @property
    def key(self) -> dict[str, Any]:
        """What a stored result must have been made with."""
        return {"name": self.name, "equinoise": __version__, "format": FORMAT, "settings": _plain(self.settings)}

    @property
    def file(self) -> str:
        """A name that says what is in it, and that no other settings share."""
        return f"{self.name}-{digest(self.key)[:8]}.json"


@dataclass(frozen=True)
class Done:
    """A result, the seconds that it took when it was worked out, and whether it was there already."""

    result: dict[str, Any]
    seconds: float
    reused: bool


class Store:
    """A folder of finished parts, each in a file that is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def finished(self, part: Part) -> Done | None:
        """A stored result, if it was made with the same settings and is what was stored."""
        try:
            stored = json.loads((self.folder / part.file).read_text(encoding="utf-8"))
            content = {name: stored[name] for name in ("key", "seconds", "result")}
            if stored["digest"] != digest(content) or content["key"] != part.key:
                return None
            return Done(content["result"], float(content["seconds"]), reused=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def done(self, part: Part, tell: Tell) -> Done:
        """The result, worked out and stored unless it is there."""
        found = self.finished(part)
        if found is not None:
            return found
        began = time.perf_counter()
        result = _plain(part.work(tell))
        seconds = round(time.perf_counter() - began, 3)
        content = {"key": part.key, "seconds": seconds, "result": result}
        text = json.dumps({**content, "digest": digest(content)}, allow_nan=False)
        write_whole(self.folder / part.file, [text.encode()], mode=0o644, force=True)
        return Done(result, seconds, reused=False)


def digest(value: Any) -> str:
    """Of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back, so that a result is the same whether it was stored or not."""
    plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    return plain
