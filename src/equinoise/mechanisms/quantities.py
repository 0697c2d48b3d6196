"""What can be asked of a mechanism: its people, its noise, its losses, what draws cost and how close it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from equinoise.data.coverage import Coverage
from equinoise.data.grid import Axis, Floats, Grid, Ints
from equinoise.data.players import Bag, Players
from equinoise.display import NotebookDisplay
from equinoise.errors import BadInput
from equinoise.game.game import Game
from equinoise.game.kernel import MOST_CELLS, AxisScales
from equinoise.privacy.accounting import Budget
from equinoise.privacy.loss import QUANTILES, quantiles
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, Neighbours
from equinoise.statistics import baselines
from equinoise.statistics.metrics import (
    Marginals,
    bin_moments,
    distances,
    marginals_of,
    metrics,
    pair_metrics,
    undefined,
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Quantities(NotebookDisplay, ABC):
    """The questions that every mechanism answers, whichever its promise.

    ``epsilon`` is of one draw, with ``delta`` or as the Renyi divergence of an ``order``; ``budget``, if there is one,
    is for all ``draws`` that are allowed together (None is any number). Where people have noise of their own, it is of
    the family ``noise``;
    ``scales`` has one scale per axis for every choice, in units of the padded ranges, ``scale_indices`` the choice of
    each group, and ``factors`` the weights of its rows, axis by axis. Where they have none, as with differential
    privacy, these are empty, and ``base`` may be given. ``coverage`` tells how much of the data was counted: it is not
    saved.
    """

    kind: ClassVar[str]
    """What is promised: ``per-instance`` or ``differential-privacy``."""

    composed: ClassVar[str]
    """How the cost of many draws is worked out, where it is not by adding up."""

    neighbours: ClassVar[Neighbours]
    """Which two datasets are compared."""

    costs_differ: ClassVar[bool] = False
    """Whether many draws cost some people less than others."""

    weights_source: ClassVar[str]
    """What the weights must follow from, and an audit compares them with."""

    grid: Grid
    epsilon: float
    draws: int | None
    delta: float = 0.0
    order: float | None = None
    budget: Budget | None = None
    noise: str = ""
    scales: AxisScales = ()
    scale_indices: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    factors: tuple[Ints, ...] = ()
    base: tuple[float, ...] | None = None
    coverage: Coverage | None = None

    @cached_property
    @abstractmethod
    def members(self) -> Players:
        """Groups of interchangeable people, by the cells of their rows; several groups may have the same cells."""

    @property
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""
        return self._output.copy()  # what is kept cannot be changed from outside

    @cached_property
    @abstractmethod
    def _output(self) -> Floats:
        """Worked out once."""

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group."""
        return self._losses.copy()

    @cached_property
    @abstractmethod
    def _losses(self) -> Floats:
        """Worked out once."""

    @property
    def differentially_private(self) -> bool:
        """Whether the promise is differential privacy: of every dataset, and not only of this one."""
        return self.kind == DIFFERENTIAL_PRIVACY

    @property
    @abstractmethod
    def loss_basis(self) -> str:
        """What losses hold fixed, or work out again: said beside them."""

    @property
    @abstractmethod
    def protected(self) -> int:
        """People who are within what is promised of one draw."""

    @property
    @abstractmethod
    def weights_as_named(self) -> bool:
        """Whether the weights are those of their :attr:`weights_source`."""

    @property
    @abstractmethod
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""

    @abstractmethod
    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""

    @abstractmethod
    def promised_cost(self, draws: int) -> float:
        """What is promised of so many draws by what is public alone: never less than :meth:`cost`."""

    @abstractmethod
    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives."""

    def group_costs(self, draws: int) -> Floats:
        """What so many draws cost a person of each group together: at most."""
        return np.full(self.members.types, self.cost(draws))

    def game(self, epsilon: float | None = None) -> Game | None:
        """The game with these people, noise, scales and utility, at this epsilon of one draw or another one; None for
        a mechanism that no game made."""
        return None

    @abstractmethod
    def kl_at(self, epsilon: float, *, restarts: int = 1) -> float | None:
        """KL from the original with all worked out again at another epsilon; None where that protects not everyone."""

    @cached_property
    def players(self) -> Players:
        """The people, by the cells of their rows, whatever their scale."""
        return self.members.merged()

    def groups(self) -> tuple[Ints, Ints]:
        """Groups of interchangeable people: the (lowest) cell they are in, and how many they are."""
        return self.members.cells[self.members.begins[:-1]], self.members.people

    @property
    def bags(self) -> tuple[Bag, ...]:
        """For each group the cells of a person's rows, and how many are in each."""
        return self.members.bags

    @property
    def total_people(self) -> int:
        """N: how many people there are."""
        return self.members.total_people

    @property
    def total_rows(self) -> int:
        """R: the rows of everyone."""
        return self.members.total_rows

    @property
    def histogram(self) -> Ints:
        """Rows per cell: people, where everyone has one."""
        if not self.joint_held:
            raise BadInput(
                f"The columns make {self.grid.cells:,} joint cells, too many to hold: only distributions of one or two "
                "columns are known."
            )
        return self.members.histogram.counts

    @property
    def original(self) -> Floats:
        """p: the distribution of the rows over the cells."""
        return self.histogram / max(self.total_rows, 1)

    @property
    def joint_held(self) -> bool:
        """Whether there are few enough cells for a distribution over all of them."""
        return self.grid.cells <= MOST_CELLS

    def original_marginal(self, *columns: int) -> Floats:
        """The distribution of the rows over some columns' bins: one axis each."""
        if self.joint_held:
            return marginals_of(self.original, self.grid.axes)(*columns)
        return self.members.rows_by_columns(columns) / max(self.total_rows, 1)

    def output_marginal(self, *columns: int) -> Floats:
        """The distribution of a draw over some columns' bins."""
        return marginals_of(self._output, self.grid.axes)(*columns)

    def laplace_marginal(self, *columns: int) -> Floats:
        """The Laplace mechanism's distribution over some columns' bins, epsilon shared out evenly among all columns."""
        axes = [self.grid.axes[column] for column in columns]
        share = self.epsilon * len(axes) / len(self.grid.axes)
        p = self.original_marginal(*columns)
        return baselines.laplace_output(p.ravel(), axes, share).reshape(p.shape)

    def smoothing_marginal(self, *columns: int) -> Floats:
        """The distribution over some columns' bins of :meth:`smoothing`, on a grid without padding."""
        each = baselines.pseudo_count(self.epsilon / int(self.members.sizes.max(initial=1)))
        p = self.original_marginal(*columns)
        smoothed = p * self.total_rows + each * (self.grid.cells / p.size)
        return np.asarray(smoothed / smoothed.sum())

    @property
    def released_values(self) -> Floats:
        """What a draw of each cell of one column is released as, in data units."""
        assert isinstance(self.grid.axis, Axis)
        return self.grid.axis.midpoints()

    def scale_names(self) -> list[str]:
        """Every choice of scales in data units, as people read it; none where nobody has noise of their own."""
        return [
            " x ".join(f"{scale * axis.range:.3g}" for scale, axis in zip(choice, self.grid.axes, strict=True))
            for choice in self.scales
        ]

    @property
    def group_scales(self) -> Floats:
        """The scale of each group on every axis, in data units: groups x axes, or x 0 where nobody has one."""
        if not self.scales:
            return np.zeros((self.members.types, 0))
        ranges = np.array([axis.range for axis in self.grid.axes])
        return np.asarray(np.array(self.scales)[self.scale_indices] * ranges)

    @property
    def worst_loss(self) -> float:
        """The largest loss of anyone."""
        return float(self.losses().max(initial=0.0))

    def loss_quantiles(self, shares: tuple[float, ...] = QUANTILES) -> dict[str, float]:
        """The loss that a share of the people stays within, for each share."""
        return quantiles(self.losses(), self.members.people, shares)

    def metrics(self) -> dict[str, Any]:
        """How close the output is to the original; with several columns jointly, column by column, and relations."""
        return dict(self._metrics)

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        axis = self.grid.axes[0]
        if len(self.grid.axes) > 1 or not isinstance(axis, Axis) or axis.categories or self.total_rows == 0:
            return self._distances(self.output_marginal, lambda: self._output)
        return metrics(self.original, self.output, self.released_values, bin_moments(axis)[1])

    def baseline(self) -> dict[str, Any]:
        """The Laplace mechanism's metrics on the same grid, to hold :meth:`metrics` against."""
        return dict(self._baseline)

    def smoothing(self) -> dict[str, Any]:
        """The metrics of bounded smoothing on the same grid, one draw of which is epsilon-differentially private: the
        strongest simple alternative. Of people with several rows, for as many as anyone has."""
        return dict(self._smoothing)

    @cached_property
    def _smoothing(self) -> dict[str, Any]:
        return self._distances(self.smoothing_marginal, self._smoothed)

    def _smoothed(self) -> Floats:
        epsilon = self.epsilon / int(self.members.sizes.max(initial=1))
        smoothed = baselines.smooth_counts(self.histogram, epsilon, baselines.grid_cells_in_bounds(self.grid))
        return np.asarray(smoothed / smoothed.sum())

    @cached_property
    def _baseline(self) -> dict[str, Any]:
        return self._distances(self.laplace_marginal, self.laplace_output)

    def _distances(self, marginals: Marginals, joint: Callable[[], Floats]) -> dict[str, Any]:
        """Those of an output from the original, of two columns at a time where the joint grid is not held; which nobody
        has where there is no row."""
        if not self.joint_held:
            found = pair_metrics(self.original_marginal, marginals, self.grid.axes)
        else:
            found = distances(self.original, joint(), self.grid.axes)
        return found if self.total_rows > 0 else undefined(found)

    def laplace_output(self, epsilon: float | None = None) -> Floats:
        """What the Laplace mechanism would release on every column, with epsilon shared out evenly among them."""
        return baselines.laplace_output(self.original, self.grid.axes, self.epsilon if epsilon is None else epsilon)
