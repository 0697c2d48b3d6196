"""The fixed-noise tier on several columns: a draw is a whole row, each value by a person's row of integers there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise import baselines
from equinoise.accounting import Accountant
from equinoise.certificate import Certificate, certify
from equinoise.documents import JointDocument
from equinoise.draws import RandomBytes, draw_rows
from equinoise.fixed_noise import FixedNoise
from equinoise.grid import Floats, Ints
from equinoise.joint_game import JointGame
from equinoise.joint_groups import Groups, laid_out
from equinoise.joint_noise import AxisScales, weight_bits
from equinoise.metrics import joint_metrics


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JointFixedNoise(FixedNoise):
    """Groups as for one column; ``weights`` has a group's rows of all axes side by side, ``scales`` one per axis."""

    scales: AxisScales  # type: ignore[assignment]

    @classmethod
    def _of_game(cls, game: JointGame, profile: Ints, places: Ints) -> dict[str, Any]:
        return {"cells": game.histogram.cells[places], "weights": np.concatenate(game.factors(profile), axis=1)}

    @classmethod
    def _of_document(cls, document: JointDocument) -> dict[str, Any]:
        return {"scales": tuple(tuple(choice) for choice in document.scales), "weight_total": document.weight_total}

    def _own(self) -> dict[str, Any]:
        return {**super()._own(), "scales": [list(choice) for choice in self.scales]}

    @cached_property
    def factors(self) -> tuple[Ints, ...]:
        """Every group's rows, axis by axis."""
        return tuple(np.split(self.weights, np.cumsum(self.grid.shape)[:-1], axis=1))

    @property
    def totals(self) -> tuple[int, ...]:
        """What every row of an axis sums to; their product is ``weight_total``."""
        axes = len(self.grid.shape)
        return (2 ** weight_bits(axes),) * axes

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        return draw_rows(self.people, self.factors, self.totals, n, source)

    def _values(self, drawn: Ints) -> Floats:
        axes = enumerate(self.grid.axes)
        return np.stack([axis.midpoints()[drawn[:, number]] for number, axis in axes], axis=1)

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(self.people, self.factors, self.totals, self.epsilon)

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group; here the rows are laid out over all cells."""
        return Accountant(self.people, laid_out(self.factors))

    @cached_property
    def _groups(self) -> Groups:
        half = (len(self.factors) + 1) // 2
        first, second = (laid_out(part).astype(np.float64) for part in (self.factors[:half], self.factors[half:]))
        sums = ((first * self.people[:, None]).T @ second).ravel()
        return Groups(self.cells, self.scale_indices, self.people, first, second, sums)

    def _sums(self) -> Floats:
        return self._groups.sums

    @cached_property
    def _losses(self) -> Floats:
        return self._groups.losses()

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group, in the order of ``cells`` and ``people``."""
        return self._losses

    @property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        return int(self.people[self.losses() <= self.epsilon].sum())

    def metrics(self) -> dict[str, Any]:
        """How close the output is to the original: jointly, column by column, and the loss of correlation."""
        return joint_metrics(self.original, self.output, self.grid.axes)

    def laplace_output(self, epsilon: float | None = None) -> Floats:
        """What the Laplace mechanism would release on every column, with epsilon shared out evenly among them."""
        q, each = self.original.reshape(self.grid.shape), (epsilon or self.epsilon) / len(self.grid.axes)
        for number, axis in enumerate(self.grid.axes):
            rows = baselines.laplace_rows(axis, each)
            q = np.moveaxis(np.tensordot(q, rows, axes=(number, 0)), -1, number)
        return q.ravel()

    def baseline(self) -> dict[str, Any]:
        """The Laplace mechanism's metrics on the same grid, to hold :meth:`metrics` against."""
        return joint_metrics(self.original, self.laplace_output(), self.grid.axes)


def scale_names(mechanism: JointFixedNoise) -> list[str]:
    """Every choice of scales in data units, as people read it."""
    axes = mechanism.grid.axes
    return [
        " x ".join(f"{scale * axis.range:.3g}" for scale, axis in zip(choice, axes, strict=True))
        for choice in mechanism.scales
    ]
