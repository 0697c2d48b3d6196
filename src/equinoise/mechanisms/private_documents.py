"""What saved files say of mechanisms of differential privacy, checked as far as can be without maths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from equinoise.data.grid import Grid, number_axes
from equinoise.data.players import Players
from equinoise.game.kernel import MOST_CELLS
from equinoise.mechanisms.document import AnyAxisDocument, BudgetDocument, Document, Strict
from equinoise.mechanisms.draws import MOST, MOST_ROWS_PER_PERSON
from equinoise.settings import MOST_DRAWS

MOST_COLUMNS = 62
"""Of a model: columns of two bins make 2^62 combinations, the most that whole numbers of 64 bits can number."""


class RuleDocument(Strict):
    """The parameters of an envelope."""

    shape: list[Annotated[int, Field(ge=1)]]
    categories: list[Annotated[int, Field(ge=0)]]
    unit: int = Field(ge=1)
    height: int = Field(ge=0)
    near: list[list[Annotated[int, Field(ge=0)]]]
    cap: int = Field(ge=0, lt=MOST)
    alone: int = Field(ge=1)
    floors: list[Annotated[int, Field(ge=1, lt=MOST)]] = Field(min_length=1)
    factor: int = Field(ge=1)
    rows_per_person: int = Field(ge=1, le=MOST_ROWS_PER_PERSON)


class MethodDocument(Strict):
    """How the weights were found."""

    name: Literal["envelope", "pay-once", "aim"]


Cells = list[Annotated[int, Field(ge=0, lt=MOST)]]


class PrivateTableDocument(Document):
    """What all differentially private mechanisms share: people by the cells of their rows that count, as
    :class:`equinoise.data.players.Players` has them."""

    kind: Literal["differential-privacy"]
    begins: Cells
    cells: Cells
    times: list[Annotated[int, Field(ge=1, lt=MOST)]]
    people: list[Annotated[int, Field(ge=1, lt=MOST)]]
    rows_per_person: int = Field(ge=1, le=MOST_ROWS_PER_PERSON)
    budget: BudgetDocument
    solver: MethodDocument

    def players(self, grid: Grid) -> Players:
        """Everyone, by the cells of their rows that count."""
        lists = (self.begins, self.cells, self.times, self.people)
        return Players(grid, *(np.array(numbers, dtype=np.int64) for numbers in lists))

    @property
    def size(self) -> int:
        """Cells of the grid."""
        return math.prod(axis.bins for axis in self.axes)

    @model_validator(mode="after")
    def _people_fit(self) -> PrivateTableDocument:
        axes = [axis.axis() for axis in self.axes]
        names, many = [axis.name for axis in axes], len(self.cells)
        together = len(self.begins) == len(self.people) + 1 and len(self.times) == many
        if not together or self.begins[0] != 0 or self.begins[-1] != many or not _ascend(self.begins[:-1], many):
            raise ValueError("people")
        bags = [
            tuple(zip(self.cells[first:last], self.times[first:last], strict=True))
            for first, last in pairwise(self.begins)
        ]
        fit = (
            len(set(names)) == len(names)
            and bags == sorted(set(bags))
            and all(_ascend([cell for cell, _ in bag], self.size) for bag in bags)
            and all(sum(times for _, times in bag) <= self.rows_per_person for bag in bags)
            and sum(self.people) * self.rows_per_person < MOST
        )
        if not fit or any(axis.padding > 0 and axis.step is None for axis in number_axes(axes)):
            raise ValueError("cells")
        plain = self.delta == 0 and self.order is None and self.settings["public_bounds"]
        many = self.rows_per_person
        whose = many == 1 or self.settings.get("unit") is not None
        if not (plain and whose and self.check_settings(rows_per_person=many)):
            raise ValueError("settings")
        return self


class EnvelopeDocument(PrivateTableDocument):
    """All of an envelope: the weights of some cells, which ascend. All other cells weigh what the rule's floor is."""

    method: Literal["envelope"]
    draws: int = Field(ge=1, le=MOST_DRAWS)
    rule: RuleDocument
    weight_cells: Cells
    weights: list[Annotated[int, Field(ge=1)]]
    base: list[Annotated[float, Field(ge=0)]] | None = None

    @model_validator(mode="after")
    def _weights_fit(self) -> EnvelopeDocument:
        axes = [axis.axis() for axis in self.axes]
        grid = [axis.bins for axis in axes], [axis.categories for axis in axes]
        fit = (
            self.size <= MOST_CELLS
            and (self.rule.shape, self.rule.categories) == grid
            and len(self.rule.floors) in (1, self.size)
            and len(self.weight_cells) == len(self.weights)
            and _ascend(self.weight_cells, self.size)
            and (self.base is None or len(self.base) == self.size)
            and self.check_settings(rows=self.draws, delta=self.budget.delta)
        )
        if not fit:
            raise ValueError("weights")
        return self


class CountsDocument(PrivateTableDocument):
    """All of noisy counts but the counts and the weights themselves, which are the two rows of weights beside it."""

    method: Literal["pay-once"]
    draws: None
    scale: float = Field(gt=0)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Noisy counts and weights, of every cell."""
        return 2, self.size

    @model_validator(mode="after")
    def _cells_fit(self) -> CountsDocument:
        if self.size > MOST_CELLS:
            raise ValueError("cells")
        return self


class DrawnColumn(Strict):
    """A column, and those before it that it depends on."""

    column: int = Field(ge=0)
    parents: list[Annotated[int, Field(ge=0)]]


class ModelDocument(PrivateTableDocument):
    """All of a model of many columns but its weights, which are one row beside it: the tables of the columns, in the
    order that they are ``drawn`` in. The joint cells are only numbers here, and may be far more than can be held."""

    axes: list[AnyAxisDocument] = Field(min_length=2, max_length=MOST_COLUMNS)
    method: Literal["aim"]
    draws: None
    drawn: list[DrawnColumn]
    noisy_rows: float
    proven: float = Field(gt=0)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """One row, of the weights of all tables."""
        return 1, sum(self._table_cells)

    @property
    def _table_cells(self) -> list[int]:
        bins = [axis.bins for axis in self.axes]
        return [math.prod(bins[column] for column in (*one.parents, one.column)) for one in self.drawn]

    @model_validator(mode="after")
    def _tables_fit(self) -> ModelDocument:
        columns = [*range(len(self.axes))]
        known = sorted(one.column for one in self.drawn) == columns and all(
            parent in columns for one in self.drawn for parent in one.parents
        )
        asked = self.check_settings(delta=self.budget.delta)
        if not known or not asked or self.size >= MOST or sum(self._table_cells) > MOST_CELLS:
            raise ValueError("tables")
        return self


def _ascend(cells: Sequence[int], size: int) -> bool:
    return all(a < b for a, b in pairwise([*cells, size]))
