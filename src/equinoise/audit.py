"""Checking a saved mechanism again, from its integers alone, and against the data it was made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from equinoise import counting, counting_units
from equinoise.certificate import Certificate
from equinoise.end_to_end import EndToEnd, Progress
from equinoise.engines import Engine, engine_for
from equinoise.errors import BadInput, at_most, check
from equinoise.fixed_noise import FixedNoise
from equinoise.game import Players
from equinoise.game.condition import Condition
from equinoise.grid import Floats
from equinoise.ledger import Release
from equinoise.mechanism import Mechanism
from equinoise.noise import noise_mass
from equinoise.solving_again import of_mechanism
from equinoise.worst_case import WorstCase


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
        """Whether all that was ``checked`` is as it should be: the certificate holds, all draws are within the budget,
        the weights are those of the noise that is named; the histogram, if there was data to compare, is that data's;
        and nobody, if losses were measured end to end, is above the target."""
        as_told = self.sound and self.as_measured and self.same_kernel and self.same_histogram is not False
        return as_told and self.above == 0

    @property
    def checked(self) -> tuple[str, ...]:
        """What was looked at: ``certificate`` and ``weights``, and maybe ``budget``, ``data`` and ``end-to-end``."""
        looked = {
            "certificate": True,
            "budget": self.mechanism.budget is not None,
            "weights": True,
            "data": self.same_histogram is not None,
            "end-to-end": self.end_to_end is not None,
        }
        return tuple(name for name, done in looked.items() if done)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What could have been looked at and was not. By its theorem, the worst-case tier needs nothing measured."""
        possible = ("data", "end-to-end") if isinstance(self.mechanism, FixedNoise) else ("data",)
        return tuple(name for name in possible if name not in self.checked)

    @property
    def above(self) -> int:
        """People above the target, as far as losses were measured end to end."""
        return 0 if self.end_to_end is None else self.end_to_end.above

    @property
    def sound(self) -> bool:
        """Whether what is promised holds."""
        return self.certificate.holds and self.mechanism.within_budget

    @property
    def as_measured(self) -> bool:
        """Whether a loss that was measured again is no larger than the one that the file tells."""
        told = self.mechanism.measured if isinstance(self.mechanism, FixedNoise) else None
        return told is None or self.end_to_end is None or self.end_to_end.worst <= told.worst * (1 + 1e-9)

    @property
    def spent(self) -> int:
        """Draws released so far."""
        return sum(release.draws for release in self.releases)

    def cells(self) -> list[dict[str, Any]]:
        """For each occupied cell: its interval, its people, their average scale and their worst loss."""
        m, axes = self.mechanism, self.mechanism.grid.axes
        each: Floats = m.losses()
        scales = None
        if isinstance(m, FixedNoise) and len(axes) == 1:
            scales = np.array(m.scales)[m.scale_indices, 0] * axes[0].range
        (cells, groups), (_, everyone) = m.placed(), m.groups()
        found = []
        for cell in np.unique(cells).tolist():
            here = groups[cells == cell]
            people = everyone[here]
            low, high = m.grid.interval(cell)
            found.append(
                {
                    "cell": cell,
                    "from": low if len(axes) > 1 else low[0],
                    "to": high if len(axes) > 1 else high[0],
                    "people": int(people.sum()),
                    "average_scale": None if scales is None else float(people @ scales[here] / people.sum()),
                    "worst_loss": float(each[here].max()),
                }
            )
        return found

    @cached_property
    def totals(self) -> list[dict[str, Any]]:
        """What the draws so far, and all that are allowed, cost each group together.

        Only groups whose quick bound is above the worst total are composed; for the others the bound itself is shown.
        """
        m, counted = self.mechanism, (self.spent, self.mechanism.draws)
        if not isinstance(m, FixedNoise) or m.measured is not None:  # the same for everyone
            spent, allowed = (m.cost(draws) for draws in counted)
            groups = zip(*(part.tolist() for part in m.groups()), strict=True)
            return [
                {"cell": cell, "scale": None, "people": people, "spent": spent, "allowed": allowed}
                for cell, people in groups
            ]
        delta = m.budget.delta if m.budget is not None else m.delta
        columns = []
        for draws in counted:
            quick = m.accountant.bounds(draws, delta) if m.order is None else np.full(len(m.people), draws * m.epsilon)
            if draws and delta > 0:
                worst = m.accountant.worst(draws, delta)
                for group in np.flatnonzero(quick > worst).tolist():
                    quick[group] = min(worst, m.accountant.tight(group, draws, delta, enough=0.9 * worst))
            columns.append(quick.tolist())
        each = zip(m.groups()[0].tolist(), m.scale_indices.tolist(), m.people.tolist(), *columns, strict=True)
        return [dict(zip(("cell", "scale", "people", "spent", "allowed"), group, strict=True)) for group in each]

    def to_json(self) -> dict[str, Any]:
        """The findings, as JSON shows them."""
        m = self.mechanism
        return {
            "passed": self.passed,
            "checked": list(self.checked),
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
            "promise": m.promise if self.sound and self.as_measured else None,
        }


def audit(
    file: Path,
    data: Any = None,
    *,
    end_to_end: bool = False,
    engine: str = "polars",
    engine_address: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit a saved mechanism; with ``data``, count it again by the saved settings and compare the histograms.

    ``end_to_end``, if all of that passes, the whole procedure is run again without a person of each occupied cell.
    """
    if end_to_end and data is None:
        raise BadInput("An end-to-end audit needs the data that the mechanism was made from: name it with --data.")
    mechanism = Mechanism.read(file)
    same = None
    check(data is not None or engine == "polars", "engine", "left out without data to count", engine)
    if data is not None:
        with engine_for(data, engine, engine_address) as reader:
            same = _same_people(mechanism, data, reader)
    found = Audit(mechanism, mechanism.certificate(), mechanism.ledger.releases, same_kernel(mechanism), same)
    return replace(found, end_to_end=_end_to_end(mechanism, progress)) if end_to_end and found.passed else found


def _same_people(mechanism: Mechanism, data: Any, engine: Engine | None) -> bool:
    """Whether the data has the people that a mechanism was made from, counted by its own settings."""
    axes, settings = mechanism.grid.axes, mechanism.settings
    unit = settings.get("unit")
    rows = counting.open_rows(data, [axis.name for axis in axes], engine, keep=False if unit is None else unit)
    how = {"missing": settings.get("missing", "refuse"), "outside": settings.get("outside", "refuse")}
    histogram = mechanism.histogram
    if unit is None or settings.get("unit_rows") == "one":
        again = (counting.count_jointly if unit is None else counting_units.people_once)(rows, axes, **how)
        occupied = np.flatnonzero(histogram)
        return np.array_equal(again.cells, occupied) and np.array_equal(again.counts, histogram[occupied])
    assert isinstance(mechanism, FixedNoise)  # the other tier takes one row of each person
    everyone = counting_units.people_by_bag(rows, axes, **how)
    counted, known = Players.in_bags(mechanism.grid, everyone.bags, everyone.counts), mechanism.players
    names = ("begins", "cells", "times", "people")
    return all(np.array_equal(getattr(counted, name), getattr(known, name)) for name in names)


def _end_to_end(mechanism: Mechanism, progress: Progress | None) -> EndToEnd:
    """In the worst-case tier, losses are worked out again without each person anyway."""
    if isinstance(mechanism, FixedNoise):
        return of_mechanism(mechanism, progress)
    assert isinstance(mechanism, WorstCase)
    if mechanism.losses_by_theorem:
        raise BadInput(
            "There are too many cells to work out again without a person of each. By the theorem that the certificate "
            f"checks, nobody's loss is above {at_most(mechanism.epsilon)}."
        )
    condition = Condition(mechanism.epsilon, np.ones(1, dtype=np.int64), max(mechanism.total_people, 2))
    alone = mechanism.total_people == 1  # without them there is nobody, and nothing is released
    each = np.full(1, np.inf) if alone else mechanism.losses()
    return EndToEnd(condition, *mechanism.groups(), each, each)


def same_kernel(mechanism: Mechanism) -> bool:
    """Whether every row is its scale's, to the one unit that rounding on another machine may differ by.

    In the worst-case tier: whether the rule is the public one.
    """
    if isinstance(mechanism, WorstCase):
        return mechanism.follows_public_rule
    assert isinstance(mechanism, FixedNoise)
    return all(_same_axis(mechanism, number) for number in range(len(mechanism.grid.axes)))


def _same_axis(mechanism: FixedNoise, number: int) -> bool:
    """Whether every row of one axis is its scale's."""
    rows, bins = mechanism.factors[number], mechanism.grid.bins_of(mechanism.cells)[:, number]
    scales = mechanism.scale_indices[mechanism.owners]
    for index in np.unique(scales).tolist():
        here = scales == index
        mass = noise_mass(mechanism.noise, mechanism.scales[index][number], rows.shape[1])[bins[here]]
        if (np.abs(rows[here] - mass * mechanism.totals[number]) > 1.001).any():
            return False
    return True
