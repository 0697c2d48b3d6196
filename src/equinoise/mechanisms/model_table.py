"""A model of many columns by OpenDP's AIM, paid for once, from which any number of rows is drawn column by column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Grid, Ints, number_axes
from equinoise.data.players import Players
from equinoise.errors import BadInput
from equinoise.mechanisms.draws import MOST, RandomBytes, draw_columns
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.privacy.accounting import Budget
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.model_certificate import certify_model
from equinoise.synthesis.marginal_model import ConditionalTable, MarginalModel
from equinoise.synthesis.opendp_filter import ModelRequest
from equinoise.synthesis.opendp_models import make_model

TOTAL = 2**40
"""What the weights of each row of a table sum to."""

MOST_PAIR_CELLS = 2**24
"""Counts of every one and two columns together, which are all held."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelTable(PrivateTable):
    """``tables`` of whole weights, one a column, each given the columns that its own depends on, in the order that they
    are drawn in; each row of a table sums to 2^40. ``noisy_rows`` is about how many rows the data has, by noisy counts,
    and ``proven`` the epsilon that OpenDP's map has for all that was measured. Nothing is as large as the joint grid.
    """

    method = "aim"
    composed = "the model is paid for once"
    weights_source = "model, as its certificate checks them"
    certified = (
        "what OpenDP's privacy map proves is within epsilon, nobody has more rows than it counts with, and every row "
        "that the schema allows can come out"
    )
    proof = "OpenDP and AIM (McKenna, Mullins, Sheldon, Miklau 2022)"

    tables: tuple[ConditionalTable, ...]
    noisy_rows: float
    proven: float

    @classmethod
    def make(
        cls, players: Players, *, epsilon: float, delta: float = 0.0, rows_per_person: int = 1,
        settings: dict[str, Any] | None = None,
    ) -> ModelTable:  # fmt: skip
        """The model by OpenDP's AIM of these players' columns, in whole weights; certified."""
        check_model_grid(players.grid)
        grid = players.grid
        model = make_model(
            players.rows_by_columns, ModelRequest(grid.shape, float(epsilon), float(delta), rows_per_person)
        )
        return cls.of_model(model, players, Budget(float(epsilon), float(delta)), rows_per_person, settings)

    @classmethod
    def of_model(
        cls, model: MarginalModel, players: Players, budget: Budget, rows_per_person: int = 1,
        settings: dict[str, Any] | None = None,
    ) -> ModelTable:  # fmt: skip
        """A model that was made of these players, in whole weights; certified."""
        made = cls(
            grid=players.grid,
            epsilon=budget.epsilon,
            draws=None,
            budget=budget,
            counted=players,
            rows_per_person=rows_per_person,
            tables=tuple(replace(table, table=whole_rows(table.table)) for table in model.tables),
            noisy_rows=model.rows,
            proven=model.epsilon,
            settings={**(settings or {}), "epsilon": budget.epsilon},
            solver={"name": cls.method},
        )
        made._require_certificate()
        return made

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (a ``ModelDocument``) tells; all weights, table by table, are the row of its blob."""
        grid, tables, begin = shared["grid"], [], 0
        for one in document.drawn:
            shape = [grid.shape[column] for column in (*one.parents, one.column)]
            end = begin + math.prod(shape)
            tables.append(ConditionalTable(one.column, tuple(one.parents), weights[0, begin:end].reshape(shape).copy()))
            begin = end
        return cls(
            counted=document.players(grid), rows_per_person=document.rows_per_person, tables=tuple(tables),
            noisy_rows=document.noisy_rows, proven=document.proven, **shared,
        )  # fmt: skip

    def _own(self) -> dict[str, Any]:
        drawn = [{"column": table.column, "parents": list(table.parents)} for table in self.tables]
        return {**super()._own(), "drawn": drawn, "noisy_rows": self.noisy_rows, "proven": self.proven}

    def _blob(self) -> Ints:
        return np.concatenate([table.table.ravel() for table in self.tables]).astype(np.int64)[None, :]

    def _parts(self) -> dict[str, Any]:
        return {**self._own(), "weights": [table.table.tolist() for table in self.tables]}

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        return draw_columns([(table.column, table.parents, table.table) for table in self.tables], TOTAL, n, source)

    @cached_property
    def model(self) -> MarginalModel:
        """The distribution of a row, by the whole weights."""
        tables = tuple(replace(table, table=table.table / TOTAL) for table in self.tables)
        return MarginalModel(tables, self.noisy_rows, self.proven, 0.0 if self.budget is None else self.budget.delta)

    @property
    def rows_alike(self) -> int:
        """About as many rows as were counted, from noisy counts alone."""
        return max(1, round(self.noisy_rows))

    @cached_property
    def _certificate(self) -> Certificate:
        found = certify_model(
            self.counted.sizes.tolist(), self.rows_per_person, self.grid.shape,
            [(table.column, table.parents) for table in self.tables],
            [table.table.ravel().tolist() for table in self.tables],
            TOTAL, self.proven, self.epsilon, 0.0 if self.budget is None else self.budget.delta,
        )  # fmt: skip
        return replace(found, people=self.total_people)

    @cached_property
    def within_budget(self) -> bool:
        """Whether what is paid once is what was asked for; rows cost nothing more."""
        return self.draws is None and self.budget is not None and self.proven <= self.epsilon == self.budget.epsilon

    @property
    def weights_as_named(self) -> bool:
        """Whether the certificate holds: OpenDP's noise was drawn once and is not kept, so nothing is made again."""
        return self._certificate.holds

    def output_marginal(self, *columns: int) -> Floats:
        """The distribution of a draw over some columns' bins, whether or not the joint grid can be held."""
        return self.model.marginal(columns)

    @cached_property
    def _output(self) -> Floats:
        return self.model.joint()


def whole_rows(probabilities: Floats) -> Ints:
    """Whole weights from 1 on, of which every row along the last axis sums to 2^40; probabilities off by 2^-40 or so,
    what is left going to the row's largest."""
    bins = probabilities.shape[-1]
    whole = np.floor(probabilities * (TOTAL - bins) / probabilities.sum(axis=-1, keepdims=True)).astype(np.int64) + 1
    flat = whole.reshape(-1, bins)
    flat[np.arange(len(flat)), flat.argmax(axis=1)] += TOTAL - flat.sum(axis=1)
    return np.asarray(flat.reshape(probabilities.shape))


def check_model_grid(grid: Grid) -> None:
    """Refuse grids that AIM cannot take: of one column, of the paper, or whose rows or pairs cannot be numbered."""
    if len(grid.axes) < 2:
        raise BadInput("--method aim is for two columns or more. Leave it out.")
    if any(axis.padding > 0 and axis.step is None for axis in number_axes(grid.axes)):
        raise BadInput(
            "The paper's grid has cells that nobody can be in. Leave out --grid paper (in Python, grid='paper')."
        )
    pairs = (sum(grid.shape) ** 2 - sum(bins**2 for bins in grid.shape)) // 2
    if grid.cells >= MOST:
        raise BadInput(f"The columns make {grid.cells:.2g} combinations, and at most {MOST:.2g} fit. Take fewer.")
    if pairs > MOST_PAIR_CELLS:
        raise BadInput(
            f"Every two columns together have {pairs:,} cells, and at most {MOST_PAIR_CELLS:,} fit. Take fewer columns "
            "or --bins."
        )
