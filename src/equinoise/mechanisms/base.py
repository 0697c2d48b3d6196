"""A mechanism: what is certified, drawn from and saved, whichever its promise."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from equinoise.data.grid import Grid, Ints
from equinoise.data.read_players import most_rows_of, schema_of
from equinoise.data.schema import Schema
from equinoise.display import VIEWS
from equinoise.errors import BadInput, PromiseNotMet, check, is_whole
from equinoise.mechanisms import saved_file
from equinoise.mechanisms.draws import RandomBytes
from equinoise.mechanisms.ledger import Ledger
from equinoise.mechanisms.quantities import Quantities
from equinoise.mechanisms.released_rows import rows_of_bins
from equinoise.mechanisms.row_format import RowFormat
from equinoise.privacy.accounting import Budget
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.promise import Promise
from equinoise.settings import MOST_DRAWS, USUAL_RULES
from equinoise.statistics.summaries import compare_marginals


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Mechanism(Quantities):
    """What can be asked of a mechanism, the draws that are allowed, and a ledger.

    Make one with :func:`equinoise.optimize` or :func:`equinoise.synthesize`, or open a saved one. Nothing can be drawn
    from it or saved unless its certificate holds, and every draw is charged to its ledger first.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    row_format: RowFormat = field(default_factory=RowFormat)
    solver: dict[str, Any] = field(default_factory=dict)
    ledger: Ledger = None  # type: ignore[assignment]

    method: ClassVar[str]
    """How the weights are made: by the ``game``, or one of the methods of differential privacy."""

    usual_rules: ClassVar[dict[str, str]] = USUAL_RULES
    """What becomes of values that fit nowhere, where the schema does not say."""

    methods: ClassVar[dict[str, type[Mechanism]]] = {}
    """Every mechanism by its method; a subclass is one as soon as it is defined."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "method" in vars(cls):
            Mechanism.methods[cls.method] = cls

    def __post_init__(self) -> None:
        digest = saved_file.pack_digest(self._document(), self._blob())
        if self.ledger is None:
            object.__setattr__(self, "ledger", Ledger(self.draws, digest))
        elif self.ledger.digest != digest:
            raise BadInput("A mechanism cannot be changed: its ledger belongs to what it was. Make a new one.")

    @staticmethod
    def open(path: str | Path) -> Mechanism:
        """A saved mechanism; it is certified again, and draws are charged to the file."""
        mechanism = Mechanism.read(path)
        certificate = mechanism.certificate()
        if not certificate.holds:
            failure = f"its certificate does not hold ({certificate.failure})"
        elif not mechanism.within_budget:
            failure = "its draws together cost more than its budget"
        else:
            return mechanism
        raise BadInput(f"The file {str(path)!r} has been tampered with: {failure}. Nothing can be released from it.")

    @staticmethod
    def read(path: str | Path) -> Mechanism:
        """A saved mechanism as it stands, for an audit: its certificate may not hold."""
        saved = saved_file.read(Path(path))
        document = saved.document
        shared = {
            "grid": Grid(tuple(axis.axis() for axis in document.axes)),
            "epsilon": document.epsilon,
            "draws": document.draws,
            "delta": document.delta,
            "order": document.order,
            "budget": None if document.budget is None else Budget(**document.budget.model_dump()),
            "solver": document.solver.model_dump(),
            "settings": document.settings,
            "ledger": Ledger(document.draws, saved.digest, saved.place),
        }
        return Mechanism.methods[document.method].from_document(document, saved.weights, shared)

    @classmethod
    @abstractmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """A mechanism of this kind from its saved document and weights, and what all kinds ``share``."""

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save to a new file that only its owner can read; later draws are charged there.

        With ``force`` a file that is there is replaced, with its ledger: what was released from it is forgotten, but
        still counts against the people in it.
        """
        self._require_certificate()
        self.ledger.save(
            lambda releases: saved_file.write(Path(path), self._document(), self._blob(), releases, force=force)
        )

    def __copy__(self) -> Mechanism:
        """Itself: a mechanism never changes, and a second one would have a second ledger."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mechanism:
        """Itself, as for a plain copy."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the name of its file, which is opened again where it is unpickled, on this computer."""
        if self.ledger.path is None:
            raise BadInput(
                "This mechanism is not saved, so its draws are counted in this process alone and it cannot be pickled. "
                "Save it first; then its file is opened again wherever it arrives."
            )
        return _open_again, (str(self.ledger.path.absolute()), self.row_format.plain)

    def report(self, path: str | Path, *, public: bool = False, force: bool = False) -> None:
        """Write one page about it, to look at: as secret as the data, or ``public`` without all that is."""
        VIEWS["report"](self, path, public=public, force=force)

    def _require_certificate(self) -> None:
        """Refuse to go on unless everything that is promised was checked."""
        if not self._certificate.holds:
            raise PromiseNotMet(
                f"The certificate does not hold: {self._certificate.failure}. Nothing can be drawn or saved."
            )
        if not self.within_budget:
            raise PromiseNotMet("All draws together would cost more than the budget. Nothing can be drawn or saved.")

    def _document(self) -> str:
        axes = [axis.to_json() for axis in self.grid.axes]
        shared = {"kind": self.kind, "method": self.method, "axes": axes, **self._conditions()}
        told = {"settings": self.settings, "solver": self.solver}
        return json.dumps({**shared, **told, **self._own()}, sort_keys=True, allow_nan=False)

    @abstractmethod
    def _own(self) -> dict[str, Any]:
        """The part of the saved document that other mechanisms do not have."""

    @abstractmethod
    def _blob(self) -> Ints:
        """Rows of weights that are saved beside the document."""

    @property
    def schema(self) -> Schema:
        """What was taken as public about the columns, with the number of bins."""
        public = bool(self.settings.get("public_bounds"))
        return schema_of(self.grid.axes, self.settings.get("unit"), public=public, usual=self.usual_rules)

    def releasing(self, row_format: RowFormat, **told: Any) -> Self:
        """This mechanism with another format for its rows (and ``coverage``), the same ledger, and whatever was worked
        out already."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, row_format=row_format, **told)
        return other

    @property
    def _within(self) -> bool:
        """Whether no draw is outside the bounds: the paper's padding is."""
        return self.settings.get("grid") != "paper"

    def sample(self, n: int = 1, *, frame: str | None = None, source: RandomBytes = os.urandom) -> Any:
        """``n`` rows of the columns' own types, charged to the ledger first.

        They are a dataframe of the kind that the data came in, of ``optimize`` with its types, or of polars; ``frame``
        may say another one: polars, pandas, pyarrow or numpy (of one column its values alone). ``source`` is for
        tests."""
        row_format = self.row_format.asked(frame)
        rows = pl.concat(list(self.stream(n, source=source)))
        return row_format.frame(rows, self.grid.axes, within=self._within)

    def stream(self, n: int, *, source: RandomBytes = os.urandom) -> Iterator[pl.DataFrame]:
        """Draws as of :meth:`sample`, some at a time, for more than memory should hold. All are charged at once."""
        check(is_whole(n, 1, MOST_DRAWS), "n", "a whole number of at least 1", n)
        self._require_certificate()
        self.ledger.charge(int(n))
        return (self._rows(drawn, source) for drawn in self._draw(int(n), source))

    def _rows(self, drawn: Ints, source: RandomBytes) -> pl.DataFrame:
        """Drawn cells of one column, or rows of bins of several, as rows of values."""
        return rows_of_bins(self.grid.axes, drawn.reshape(len(drawn), -1), source, within=self._within)

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

    @cached_property
    def promise(self) -> Promise:
        """What is promised: a value, whose ``str`` is the standard sentence and what must be said with it."""
        budget, settings = self.budget, self.settings
        return Promise(
            neighbours=self.neighbours,
            epsilon=self.epsilon if budget is None else budget.epsilon,
            delta=self.delta if budget is None else budget.delta,
            order=self.order,
            draws=self.draws,
            composed=None if budget is None else self.composed,
            epsilon_per_draw=None if budget is None else self.epsilon,
            people=self.total_people,
            total_rows=self.total_rows,
            unit=settings.get("unit"),
            most_rows=most_rows_of(settings) if settings.get("unit") is not None else None,
            public_bounds=bool(settings.get("public_bounds")),
            own_base=self.base is not None,
            bounds_epsilon=settings.get("bounds_epsilon", 0.0),
        )

    def cost_sentence(self, draws: int, *, public: bool = False) -> str:
        """What so many draws cost together, in words; ``public``, what is promised of them."""
        return self.promise.cost(draws, self.promised_cost(draws) if public else self.cost(draws))

    def statistics(self) -> dict[str, Any]:
        """What rows tell, of the ``data`` and of what is ``released``, at the resolution of the grid: of every column
        the mean, standard deviation and quartiles, or the shares of categories; of every two how they go together. As
        secret as the data."""
        return compare_marginals(self.original_marginal, self.output_marginal, self.grid.axes, within=self._within)

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {
            "kind": self.kind,
            "method": self.method,
            "people": self.total_people,
            "rows": self.total_rows,
            "coverage": None if self.coverage is None else self.coverage.to_json(),
            "schema": self.schema.to_json(),
            "cells": self.grid.cells,
            "protected": self.protected,
            **self._conditions(),
            "worst_loss": self.worst_loss,
            "statistics": self.statistics(),
            "metrics": self.metrics(),
            "baseline": self.baseline(),
            "smoothing": self.smoothing(),
            "certificate": self.certificate().to_json(),
            "solver": self.solver,
            "promise": str(self.promise),
        }

    def _conditions(self) -> dict[str, Any]:
        """What was asked for, as JSON shows it."""
        budget = None if self.budget is None else vars(self.budget)
        return {
            "epsilon": self.epsilon, "delta": self.delta, "order": self.order, "draws": self.draws, "budget": budget
        }  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """The whole mechanism, enough to compute q and every loss again."""
        return {
            "kind": self.kind,
            "method": self.method,
            "schema": self.schema.to_json(),
            "grid": {"axes": [axis.to_json() for axis in self.grid.axes]},
            **self._conditions(),
            **self._parts(),
            "settings": self.settings,
            "solver": self.solver,
        }

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """The part of that which other mechanisms do not have."""


def _open_again(path: str, row_format: RowFormat) -> Mechanism:
    """A pickled mechanism: that of its file, whose rows come as the kind of dataframe that they did."""
    return Mechanism.open(path).releasing(row_format)


def released_from(path: Path) -> int:
    """How many draws were released from what is saved there; 0 if nothing is, or something else."""
    with suppress(BadInput):
        return Mechanism.read(path).ledger.spent
    return 0
