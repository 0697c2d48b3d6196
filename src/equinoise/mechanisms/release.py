"""A release: rows with differential privacy, and the mechanism that they were drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise.display import VIEWS
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.privacy.promise import Promise


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """``rows``, a dataframe of the kind that the data came in, may be given away; the ``mechanism`` is as secret as the
    data. More rows: ``mechanism.sample(n)``, free where the price was paid once and charged otherwise."""

    rows: Any
    mechanism: PrivateTable

    @property
    def promise(self) -> Promise:
        """What is promised of everything that comes out, these rows and later ones."""
        return self.mechanism.promise

    def report(self, path: str | Path, *, public: bool = False, force: bool = False) -> None:
        """Write one page about it, to look at: as secret as the data, or ``public`` without all that is."""
        VIEWS["report"](self.mechanism, path, rows=self.rows, public=public, force=force)

    def __repr__(self) -> str:
        """The rows, which may be seen, and the promise in one line."""
        return f"{self.rows!r}\n{self.promise.in_one_line}"

    def _repr_html_(self) -> str:
        return str(VIEWS["release"](self))
