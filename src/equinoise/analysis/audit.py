"""Checking a saved mechanism again, from its integers alone, and against the data it was made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from equinoise.analysis import end_to_end as whole_procedure
from equinoise.analysis.end_to_end import EndToEnd
from equinoise.choices import DecimalMark, EngineName, SeparatorName
from equinoise.data.engines import Engine, engine_for
from equinoise.data.read_players import count_players, most_rows_of, open_axes
from equinoise.data.text_format import TextFormat
from equinoise.display import VIEWS
from equinoise.errors import BadInput, check
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.ledger import Release
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.privacy.certificate import Certificate
from equinoise.solvers.solution import Progress


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found."""

    mechanism: Mechanism
    certificate: Certificate
    releases: tuple[Release, ...]
    same_kernel: bool
    same_histogram: bool | None
    end_to_end: EndToEnd | None = None

    @property
    def passed(self) -> bool:
        """Whether all that was ``checked`` is as it should be."""
        return not self.failed

    @cached_property
    def findings(self) -> dict[str, bool | None]:
        """Whether all is as it should be, by what can be looked at; None where it was not.

        That is the ``certificate``; that all draws are within the ``budget``, if there is one; that the ``weights`` are
        those of the noise that is named; the ``ledger``, without which no file is read; that the people are those of
        the ``data``; and that nobody measured ``end-to-end`` is above the target, of which differential privacy needs
        no figure, by its theorem. The ``proof`` of a model is OpenDP's, and nothing here checks it.
        """
        m, measured = self.mechanism, self.end_to_end
        found: dict[str, bool | None] = {"certificate": self.certificate.holds}
        if m.budget is not None or not m.within_budget:
            found["budget"] = m.within_budget
        found |= {"weights": self.same_kernel, "ledger": True}
        if isinstance(m, PrivateTable) and m.proof:
            found["proof"] = None
        found["data"] = self.same_histogram
        if measured is not None or not m.differentially_private:
            found["end-to-end"] = None if measured is None else measured.above == 0
        return found

    @property
    def checked(self) -> tuple[str, ...]:
        """What was looked at, of the ``findings``."""
        return tuple(name for name, holds in self.findings.items() if holds is not None)

    @property
    def failed(self) -> tuple[str, ...]:
        """What was looked at and is not as it should be."""
        return tuple(name for name, holds in self.findings.items() if holds is False)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What a promise rests on, or could be held against, and was not looked at."""
        return tuple(name for name, holds in self.findings.items() if holds is None)

    @property
    def sound(self) -> bool:
        """Whether what is promised holds."""
        return self.certificate.holds and self.mechanism.within_budget

    @property
    def spent(self) -> int:
        """Draws released so far."""
        return sum(release.draws for release in self.releases)

    def cells(self) -> list[dict[str, Any]]:
        """For each occupied cell: its interval, its people, their average scale and their worst losses.

        ``end_to_end`` is None where nothing was measured.
        """
        m, axes = self.mechanism, self.mechanism.grid.axes
        losses, scales, members, players = m.losses(), m.group_scales, m.members, m.players
        rows = []
        for cell in members.occupied.tolist():
            here = members.owners[members.cells == cell]
            people = members.people[here]
            low, high = m.grid.interval(cell)
            types = players.owners[players.cells == cell]
            rows.append(
                {
                    "cell": cell,
                    "from": low if len(axes) > 1 else low[0],
                    "to": high if len(axes) > 1 else high[0],
                    "people": int(people.sum()),
                    "average_scale": float(people @ scales[here, 0] / people.sum()) if scales.shape[1] == 1 else None,
                    "worst_loss": float(losses[here].max()),
                    "end_to_end": None if self.end_to_end is None else float(self.end_to_end.losses[types].max()),
                }
            )
        return rows

    @cached_property
    def totals(self) -> list[dict[str, Any]]:
        """What the draws so far, and all that are allowed, cost each group together."""
        m = self.mechanism
        scales = m.scale_indices.tolist() if m.costs_differ else [None] * m.members.types
        spent, allowed = (m.group_costs(draws).tolist() for draws in (self.spent, m.draws or 1))
        each = zip(*(part.tolist() for part in m.groups()), scales, spent, allowed, strict=True)
        names = ("cell", "people", "scale", "spent", "allowed")
        return [dict(zip(names, group, strict=True)) for group in each]

    def plot(self, path: str | Path, *, force: bool = False) -> None:
        """Save a picture of the losses end to end as PNG, SVG or a page, to a file that only its owner can read."""
        VIEWS["audit"](self, path, force=force)

    def to_json(self) -> dict[str, Any]:
        """The findings, as JSON shows them."""
        m = self.mechanism
        return {
            "passed": self.passed,
            "checked": list(self.checked),
            "failed": list(self.failed),
            "not_checked": list(self.not_checked),
            "people": m.total_people,
            "certificate": self.certificate.to_json(),
            "losses": {"worst": m.worst_loss, "quantiles": m.loss_quantiles(), "cells": self.cells()},
            "ledger": {
                "allowed": m.draws,
                "spent": self.spent,
                "declared_cost": m.cost(self.spent),
                "totals": self.totals,
                "releases": [{"at": r.at, "draws": r.draws} for r in self.releases],
            },
            "same_kernel": self.same_kernel,
            "same_histogram": self.same_histogram,
            "end_to_end": None if self.end_to_end is None else self.end_to_end.to_json(),
            "promise": str(m.promise) if self.sound else None,
        }


def audit(
    file: str | Path,
    data: Any = None,
    *,
    end_to_end: bool = False,
    engine: EngineName = "polars",
    engine_address: str | None = None,
    separator: SeparatorName | None = None,
    decimal: DecimalMark | None = None,
    progress: Progress | None = None,
) -> Audit:
    """A saved mechanism, checked again; with ``data``, count it again by the saved settings and compare the histograms.

    >>> import tempfile, equinoise
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/pay.eq"
    ...     made = equinoise.optimize([1, 2, 2, 3] * 20, epsilon=1, bounds=(0, 4), step=1, save=file)
    ...     audit(file).passed
    True

    ``end_to_end``, if all of that passes, the whole procedure is run again without a person of each occupied cell.
    """
    if end_to_end and data is None:
        raise BadInput("An end-to-end audit needs the data that the mechanism was made from: name it with --data.")
    mechanism = Mechanism.read(file)
    same = None
    check(data is not None or engine == "polars", "engine", "left out without data to count", engine)
    text = TextFormat(separator, decimal)
    if data is None:
        text.check_unsaid("without data to count")
    else:
        with engine_for(data, engine, engine_address) as reader:
            same = _same_people(mechanism, data, reader, text)
    found = Audit(mechanism, mechanism.certificate(), mechanism.ledger.releases, mechanism.weights_as_named, same)
    return (
        replace(found, end_to_end=whole_procedure.end_to_end(mechanism, progress))
        if end_to_end and found.passed
        else found
    )


def _same_people(mechanism: Mechanism, data: Any, engine: Engine | None, text: TextFormat) -> bool:
    """Whether the data has the people that a mechanism was made from, counted by its own settings."""
    grid, settings = mechanism.grid, mechanism.settings
    unit = settings.get("unit")
    rows = open_axes(data, grid.axes, engine, keep=False if unit is None else unit, text=text)
    return count_players(rows, grid, most_rows_of(settings)).same(mechanism.players)
