"""The weights of a profile: rows of integers of groups of people, added up, compared and certified."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.game.condition import Condition
from equinoise.game.kernel import products, weight_bits
from equinoise.game.noise import noise_mass
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.draws import RandomBytes, draw_rows
from equinoise.privacy.certificate import Certificate, certify
from equinoise.privacy.loss import losses

AT_ONCE = 2**22
"""Weights laid out at once."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ProfileWeights(Mechanism):
    """Groups of interchangeable people: the cells of their rows, how many they are, and their kernel rows.

    Group g has the entries from ``begins[g]`` to before ``begins[g + 1]``: a person of it has ``times[e]`` rows in
    ``cells[e]``, each of which comes out by the products of the integers ``factors[d][e]`` of every axis d. Where
    everyone has one row, there is one entry a group.
    """

    weights_source = "noise and scales that the file names"

    people: Ints
    begins: Ints
    cells: Ints
    times: Ints

    def __post_init__(self) -> None:
        for name in ("scale_indices", "people", "begins", "cells", "times"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        object.__setattr__(self, "factors", tuple(map(_frozen, self.factors)))
        super().__post_init__()

    def _blob(self) -> Ints:
        return np.concatenate(self.factors, axis=1)

    @cached_property
    def members(self) -> Players:
        """Groups of interchangeable people, by the cells of their rows."""
        return Players(self.grid, self.begins, self.cells, self.times, self.people)

    @property
    def totals(self) -> tuple[int, ...]:
        """What every row of integers sums to, axis by axis."""
        return (2 ** weight_bits(len(self.factors)),) * len(self.factors)

    @property
    def weight_total(self) -> int:
        """What the products of a row sum to."""
        return math.prod(self.totals)

    def laid_out(self, kind: type = np.float64) -> Iterator[tuple[slice, Any]]:
        """Some groups at a time, and the weights of one person of each, over all cells."""
        size = max(1, AT_ONCE // self.grid.cells)
        for first in range(0, len(self.people), size):
            groups = slice(first, first + size)
            begins = self.begins[first : first + size + 1]
            entries = slice(int(begins[0]), int(begins[-1]))
            product: Any = self.times[entries, None].astype(kind) * products([rows[entries] for rows in self.factors])
            yield groups, np.add.reduceat(product, begins[:-1] - begins[0], axis=0)

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        rows = draw_rows(self.members.rows, self.factors, self.totals, n, source)
        return rows if len(self.factors) > 1 else (bins[:, 0] for bins in rows)

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(
            self.people, self.factors, self.totals, self.epsilon, self.delta, self.order,
            owners=self.members.owners, times=self.times,
        )  # fmt: skip

    @cached_property
    def _output(self) -> Floats:
        return self._sums / (float(self.total_rows) * self.weight_total)

    @cached_property
    def _sums(self) -> Floats:
        return self._added_up()

    def _added_up(self) -> Floats:
        """S over all cells: everyone's weights."""
        sums = np.zeros(self.grid.cells)
        for groups, rows in self.laid_out():
            sums += self.people[groups].astype(np.float64) @ rows
        return sums

    @cached_property
    def _losses(self) -> Floats:
        """All rows of a person are removed."""
        parts, sizes = self.laid_out(), self.members.sizes
        return np.concatenate([losses(rows, self._sums, self.total_rows, sizes[groups]) for groups, rows in parts])

    @cached_property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        condition, found = Condition(self.epsilon, self.members.sizes, self.total_rows, self.delta, self.order), 0
        everyone = np.arange(len(self.people))
        for groups, rows in self.laid_out():
            within = condition.divergences(rows, self._sums, everyone[groups]) <= (self.delta or self.epsilon)
            found += int(self.people[groups][within].sum())
        return found

    @property
    def loss_basis(self) -> str:
        """What losses hold fixed."""
        return "everyone else's noise is held fixed"

    @property
    def weights_as_named(self) -> bool:
        """Whether every row is its scale's, to the one unit that rounding on another machine may differ by."""
        bins, scales = self.grid.bins_of(self.cells), self.scale_indices[self.members.owners]
        categories = self.grid.categories
        for number, rows in enumerate(self.factors):
            for index in np.unique(scales).tolist():
                here = scales == index
                mass = noise_mass(
                    self.noise, self.scales[index][number], rows.shape[1], bins[here, number], categories[number]
                )
                if (np.abs(rows[here] - mass * self.totals[number]) > 1.001).any():
                    return False
        return True


def _frozen(array: Any) -> Ints:
    """Whole numbers that nobody can change."""
    kept = np.array(array, dtype=np.int64)
    kept.setflags(write=False)
    return kept
