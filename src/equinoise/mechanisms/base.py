"""A mechanism: what is certified, drawn from and saved, whichever its promise."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.errors import BadInput, PromiseNotMet, check, is_whole
from equinoise.mechanisms import saved_file as storage
from equinoise.mechanisms.draws import RandomBytes
from equinoise.mechanisms.ledger import Ledger
from equinoise.mechanisms.quantities import Quantities
from equinoise.privacy import promise
from equinoise.privacy.certificate import Certificate
from equinoise.settings import MOST_DRAWS


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mechanism(Quantities):
    """What can be asked of a mechanism, the draws that are allowed, and a ledger.

    Make one with :func:`equinoise.optimize` or :func:`equinoise.synthesize`, or open a saved one. Nothing can be drawn
    from it or saved unless its certificate holds, and every draw is charged to its ledger first.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    solver: dict[str, Any] = field(default_factory=dict)
    ledger: Ledger = None  # type: ignore[assignment]

    def _shown_mechanism(self) -> Mechanism:
        return self

    def __post_init__(self) -> None:
        digest = storage.pack_digest(self._document(), self._blob())
        if self.ledger is None:
            object.__setattr__(self, "ledger", Ledger(self.draws, digest))
        elif self.ledger.digest != digest:
            raise BadInput("A mechanism cannot be changed: its ledger belongs to what it was. Make a new one.")

    @staticmethod
    def open(path: str | Path) -> Mechanism:
        """A saved mechanism; it is certified again, and draws are charged to the file."""
        from equinoise.mechanisms.load import open_saved

        return open_saved(Path(path))

    @staticmethod
    def read(path: str | Path) -> Mechanism:
        """A saved mechanism as it stands, for an audit: its certificate may not hold."""
        from equinoise.mechanisms.load import read_saved

        return read_saved(Path(path))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save to a new file that only its owner can read; later draws are charged there.

        With ``force`` a file that is there is replaced, with its ledger: what was released from it is forgotten, but
        still counts against the people in it.
        """
        self._require_certificate()
        self.ledger.save(
            lambda releases: storage.write(Path(path), self._document(), self._blob(), releases, force=force)
        )

    def __copy__(self) -> Mechanism:
        """Itself: a mechanism never changes, and a second one would have a second ledger."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mechanism:
        """Itself, as for a plain copy."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the name of its file, which is opened again wherever it is unpickled."""
        if self.ledger.path is None:
            raise BadInput(
                "This mechanism is not saved, so its draws are counted in this process alone and it cannot be pickled. "
                "Save it first; then its file is opened again wherever it arrives."
            )
        return Mechanism.open, (str(self.ledger.path),)

    def report(self, path: str | Path, *, public: bool = False, force: bool = False) -> None:
        """Write one page about it, to look at: as secret as the data, or ``public`` without all that is."""
        from equinoise.present.report import write_report

        write_report(self, path, public=public, force=force)

    def _require_certificate(self) -> None:
        """Refuse to go on unless everything that is promised was checked."""
        if not self._certificate.holds:
            raise PromiseNotMet(
                f"The certificate does not hold: {self._certificate.failure}. Nothing can be drawn or saved."
            )
        if not self.within_budget:
            raise PromiseNotMet("All draws together would cost more than the budget. Nothing can be drawn or saved.")

    def _document(self) -> str:
        shared = {"tier": self.tier, "axes": [axis.to_json() for axis in self.grid.axes], **self._asked()}
        told = {"settings": self.settings, "solver": self.solver}
        return json.dumps({**shared, **told, **self._own()}, sort_keys=True, allow_nan=False)

    @abstractmethod
    def _own(self) -> dict[str, Any]:
        """The part of the saved document that other mechanisms do not have."""

    @abstractmethod
    def _blob(self) -> Ints:
        """Rows of weights that are saved beside the document."""

    def sample(self, n: int = 1, *, source: RandomBytes = os.urandom) -> Floats:
        """``n`` draws in data units (with several columns, rows of them), charged to the ledger first.

        ``source`` is for tests."""
        return np.concatenate(list(self.stream(n, source=source)))

    def stream(self, n: int, *, source: RandomBytes = os.urandom) -> Iterator[Floats]:
        """Draws as of :meth:`sample`, some at a time, for more than memory should hold. All are charged at once."""
        check(is_whole(n, 1, MOST_DRAWS), "n", "a whole number of at least 1", n)
        self._require_certificate()
        self.ledger.charge(int(n))
        return (self._values(drawn) for drawn in self._draw(int(n), source))

    def _values(self, drawn: Ints) -> Floats:
        """Drawn cells of one column, or rows of bins of several, in data units."""
        if drawn.ndim == 1:
            return self.released_values[drawn]
        return np.stack([axis.midpoints()[drawn[:, d]] for d, axis in enumerate(self.grid.axes)], axis=1)

    @abstractmethod
    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        """Cells of ``n`` draws."""

    def certificate(self) -> Certificate:
        """The exact check, from the integers alone."""
        return self._certificate

    @cached_property
    @abstractmethod
    def _certificate(self) -> Certificate:
        """Worked out once."""

    def declared(self, draws: int, *, public: bool = False) -> str:
        """What so many draws cost together, as the standard sentence says it; ``public``, what is promised of them."""
        return promise.declared(self, draws, public=public)

    @property
    def promise(self) -> str:
        """What is promised, in one standard sentence and what must be said with it."""
        return promise.promise(self, public=False)

    @property
    def public_promise(self) -> str:
        """What is promised, with nothing in it that was worked out from the data: for whoever may not see the data."""
        return promise.promise(self, public=True)

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {
            "tier": self.tier,
            "people": self.total_people,
            "rows": self.total_rows,
            "cells": self.grid.cells,
            "protected": self.protected,
            **self._asked(),
            "worst_loss": self.worst_loss,
            "metrics": self.metrics(),
            "baseline": self.baseline(),
            "certificate": self.certificate().to_json(),
            "solver": self.solver,
            "promise": self.promise,
        }

    def _asked(self) -> dict[str, Any]:
        """What was asked for, as JSON shows it."""
        budget = None if self.budget is None else vars(self.budget)
        return {
            "epsilon": self.epsilon, "delta": self.delta, "order": self.order, "draws": self.draws, "budget": budget
        }  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """The whole mechanism, enough to compute q and every loss again."""
        return {
            "tier": self.tier,
            "grid": {"axes": [axis.to_json() for axis in self.grid.axes]},
            **self._asked(),
            **self._shown(),
            "settings": self.settings,
            "solver": self.solver,
        }

    @abstractmethod
    def _shown(self) -> dict[str, Any]:
        """The part of that which other mechanisms do not have."""
