"""The fixed-noise tier for people with several rows: a draw is a row of anyone's, a loss removes all of a person's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.accounting import Accountant
from equinoise.certificate import Certificate, certify
from equinoise.documents import UnitDocument
from equinoise.draws import RandomBytes, draw_units
from equinoise.fixed_noise import FixedNoise
from equinoise.grid import Floats, Ints
from equinoise.mechanism import SECRET_SIZE, within
from equinoise.privacy import losses
from equinoise.unit_game import UnitGame
from equinoise.units import Bag, bag_table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UnitFixedNoise(FixedNoise):
    """Groups as for one row a person, of people with the same bag: ``weights`` are their rows' added up.

    ``cells`` is the lowest cell of each bag, for lists of groups that have room for one.
    """

    bags: tuple[Bag, ...]

    @classmethod
    def _of_game(cls, game: UnitGame, profile: Ints, places: Ints) -> dict[str, Any]:
        bags = tuple(game.histogram.bags[place] for place in places.tolist())
        return {"cells": np.array([bag[0][0] for bag in bags]), "weights": game.weights(profile), "bags": bags}

    @classmethod
    def _of_document(cls, document: UnitDocument) -> dict[str, Any]:
        bags = tuple(tuple((cell, times) for cell, times in bag) for bag in document.bags)
        return {**super()._of_document(document), "bags": bags}

    def _own(self) -> dict[str, Any]:
        return {**super()._own(), "bags": [[list(pair) for pair in bag] for bag in self.bags]}

    @cached_property
    def sizes(self) -> Ints:
        """Rows that a person of each group has."""
        return np.array([sum(times for _, times in bag) for bag in self.bags], dtype=np.int64)

    @cached_property
    def table(self) -> Floats:
        """Rows in each cell of a person of each group."""
        return bag_table(self.bags, self.grid.cells)

    @property
    def people_by_bag(self) -> dict[Bag, int]:
        """How many people have each bag, whatever their scale."""
        found: dict[Bag, int] = {}
        for bag, people in zip(self.bags, self.people.tolist(), strict=True):
            found[bag] = found.get(bag, 0) + people
        return found

    @property
    def total_rows(self) -> int:
        """R, the rows of everyone."""
        return int(self.people @ self.sizes)

    def placed(self) -> tuple[Ints, Ints]:
        """A cell and a group for every cell that has rows of a group."""
        pairs = [(cell, group) for group, bag in enumerate(self.bags) for cell, _ in bag]
        cells, groups = np.array(pairs, dtype=np.int64).T
        return cells, groups

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        return draw_units(self.people, self.sizes, self.weights, self.weight_total, n, source)

    @cached_property
    def _certificate(self) -> Certificate:
        groups = zip(self.weights, self.sizes.tolist(), strict=True)
        cut = [cut_up(row, size, self.weight_total) for row, size in groups]
        owners = np.repeat(np.arange(len(cut)), [len(times) for _, times in cut])
        rows, times = (np.concatenate(parts) for parts in zip(*cut, strict=True))
        return certify(self.people, (rows,), (self.weight_total,), self.epsilon, owners=owners, times=times)

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group."""
        return Accountant(self.people, self.weights, self.sizes)

    @property
    def histogram(self) -> Ints:
        """Rows per cell."""
        return np.asarray(self.people @ self.table.astype(np.int64))

    @property
    def original(self) -> Floats:
        """p: the distribution of the rows over the cells."""
        return self.histogram / self.total_rows

    @property
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""
        return self._sums() / (float(self.total_rows) * self.weight_total)

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group, all of whose rows are removed."""
        return losses(self.weights.astype(np.float64), self._sums(), self.total_rows, self.sizes)

    @property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        return int(self.people[self.losses() <= self.epsilon].sum())

    def _one_draw(self, *, public: bool) -> str:
        if public:  # the same as where nobody has several rows: whether anyone has is not public
            return super()._one_draw(public=True)
        unit = self.settings.get("unit")
        return (
            f"Fixed-noise tier: for each of the {self.total_people:,} people in this dataset (rows with the same "
            f"{unit!r} are one person's, {self.total_rows:,} rows in all), the privacy loss of one draw is "
            f"{within(self.epsilon, 0)}, between the data with them and with all rows of that one person removed, "
            f"everyone else's noise held fixed ({SECRET_SIZE})."
        )

    def _shown(self) -> dict[str, Any]:
        shown = super()._shown()
        for group, bag in zip(shown["profile"], self.bags, strict=True):
            del group["cell"]
            group["rows"] = [{"cell": cell, "rows": times} for cell, times in bag]
        return shown

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {**super().summary(), "rows": self.total_rows}


def cut_up(weights: Ints, size: int, total: int) -> tuple[Ints, Ints]:
    """``size`` rows that sum to ``total`` each and add up to ``weights``: the different ones, and how often each.

    The certificate takes rows of one sum; what is saved and drawn from are a person's rows added up. How they are cut
    up is all the same, as only their sum enters, which is ``weights`` by construction, whatever those are. The first
    row, so many times, fits into the weights: their shares, rounded down, sum to at least the total, as rounding takes
    off less than one in a cell. So few rows are enough, two in most cases.
    """
    rows, times = [], []
    while size > 1:
        often = size - 1 if size * len(weights) <= total else size // 2
        row = np.diff(np.minimum(np.cumsum(weights // often), total), prepend=0)
        rows.append(row)
        times.append(often)
        weights, size = weights - often * row, size - often
    return np.array([*rows, weights]), np.array([*times, 1])
