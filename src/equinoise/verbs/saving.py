"""Where a verb saves what it makes, and who is told of it before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from equinoise.atomic_write import check_writable
from equinoise.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Saving:
    """Where a mechanism is saved, if anywhere, and what is told of it before that, or before anything is drawn."""

    path: str | Path | None = None
    force: bool = False
    record: Callable[[Mechanism], None] = lambda made: None

    def check(self) -> None:
        """Refuse a file that could not be written, before anything is charged."""
        if self.path is not None:
            check_writable(Path(self.path), force=self.force)

    def save(self, made: Mechanism, *, force: bool) -> None:
        """Record a mechanism, and save it if there is a file for it."""
        self.record(made)
        if self.path is not None:
            made.save(self.path, force=force)
