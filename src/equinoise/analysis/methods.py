"""Every method that can be compared, each giving a row: how close, how fast, how many protected, what is promised."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.analysis import opendp_histogram as peers
from equinoise.analysis.method_row import LeftOut, Row, model_delta, promise_of, share_of_one_row
from equinoise.data.grid import Floats, Grid, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, EquinoiseError, PromiseNotMet
from equinoise.game.game import Game
from equinoise.game.kernel import products
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.profile_weights import AT_ONCE
from equinoise.privacy.loss import losses
from equinoise.privacy.promise import BOUNDS_NOT_PUBLIC
from equinoise.solvers.solution import Solution
from equinoise.statistics import baselines
from equinoise.statistics.metrics import distances, marginal_distances, marginals_of
from equinoise.statistics.summaries import summary_errors
from equinoise.synthesis.estimate import estimate
from equinoise.synthesis.noisy_counts import NoiseLaw, noise_law, noisy_counts
from equinoise.synthesis.opendp_filter import ModelRequest
from equinoise.synthesis.opendp_models import counts_of_columns, make_model

LOCAL_ROWS = {
    "laplace": baselines.laplace_kernel,
    "bounded-laplace": baselines.bounded_laplace_kernel,
    "staircase": baselines.staircase_kernel,
}


@dataclass(frozen=True, eq=False)
class Methods:
    """The methods for people with one row each. ``public_bounds``: the promises may take the bounds as public. So many
    ``rows`` are drawn, for one epsilon together."""

    players: Players
    public_bounds: bool
    rows: int = 1

    @property
    def grid(self) -> Grid:
        """The cells that everyone is in."""
        return self.players.grid

    @cached_property
    def counts(self) -> Ints:
        """People per cell."""
        return self.players.histogram.counts

    def play(self, name: str, epsilon: float, game: Game, solve: Callable[[Game], Solution]) -> Row | LeftOut:
        """A solver of the game, at a row's share of epsilon. One that cannot take this game is left out; best response
        takes every game."""
        try:
            solution = solve(game)
        except (BadInput, PromiseNotMet) as error:
            if name == "best-response":
                raise
            return LeftOut(name, epsilon, str(error))
        game = solution.game  # scales that adapt are others
        unprotected = game.people - solution.protected
        if unprotected == 0:
            PerInstance.from_solution(solution)  # refuses unless the exact certificate holds
        return self._row(
            epsilon, solution.name, None if unprotected else epsilon,
            nothing=f"{unprotected:,} of {game.people:,} people are left unprotected",
            metrics=self._distances(game.output(solution.profile)), seconds=solution.seconds,
            protected=solution.protected, worst_loss=solution.worst_loss, solver=solution.summary(),
        )  # fmt: skip

    def local(self, method: str, epsilon: float) -> Row:
        """One noise for everyone; its promise is worked out from the rows as they are.

        Columns have noise of their own, each with an even share of epsilon, and what the shares promise adds up: the
        worst ratio of products is the product of the worst ratios.
        """
        axes, people = self.grid.axes, self.players.total_people
        began = time.perf_counter()
        kernels = [LOCAL_ROWS[method](axis, epsilon / len(axes)) for axis in axes]
        q = baselines.spread_out(self.counts / people, kernels)
        seconds = time.perf_counter() - began
        local = sum(baselines.local_epsilon(rows, axis) for rows, axis in zip(kernels, axes, strict=True))
        sums = baselines.spread_out(self.counts.astype(np.float64), kernels)
        each = np.concatenate([losses(rows, sums, people) for rows in self._laid_out(kernels)])
        each = np.minimum(each, local)  # removing a value tells no more than changing it; floats lose track from 36 on
        return self._row(
            epsilon, method, local,
            nothing="some noisy values rule some values out for certain",
            metrics=self._distances(q), seconds=seconds, **self._within(epsilon, each),
        )  # fmt: skip

    def smoothed(self, method: str, epsilon: float) -> Row:
        """Pseudo-counts in every cell of the grid, or only in those within the bounds."""
        everywhere, one = method == "additive-smoothing", share_of_one_row(epsilon, self.rows)
        cells = np.arange(self.grid.cells) if everywhere else baselines.grid_cells_in_bounds(self.grid)
        began = time.perf_counter()
        weights = baselines.smooth_counts(self.counts, one, cells)
        total = float(weights.sum())
        seconds = time.perf_counter() - began
        each, logs, without = [], np.log(weights[cells] / total), self.counts.copy()
        for cell in self.players.cells:
            without[cell] -= 1
            other = baselines.smooth_counts(without, one, cells)[cells]
            without[cell] += 1
            each.append(np.abs(logs - np.log(other / other.sum())).max())
        return self._row(
            epsilon, method, epsilon, metrics=self._distances(weights / total), seconds=seconds,
            **self._within(one, np.array(each)),
        )  # fmt: skip

    def envelope(self, epsilon: float) -> Row | LeftOut:
        """Differential privacy: weights that no single person changes by more than a factor."""
        began = time.perf_counter()
        try:
            # refuses unless the exact certificate holds
            made = EnvelopeTable.make(self.players, epsilon=epsilon, rows=self.rows)
        except (BadInput, PromiseNotMet) as error:
            return LeftOut("envelope", epsilon, str(error))
        seconds = time.perf_counter() - began
        return self._row(
            epsilon, "envelope", epsilon, metrics=self._distances(made.output), seconds=seconds,
            **self._within(made.epsilon, made.losses()),
        )  # fmt: skip

    def dp_histogram(self, epsilon: float) -> Row | LeftOut:
        """Counts of the cells within the bounds with OpenDP's noise, tidied up; ``seconds`` are of one release."""
        return self._released("dp-histogram", epsilon, peers.RELEASES, lambda z: peers.tidied(z, epsilon))

    def paid_once(self, epsilon: float) -> Row | LeftOut:
        """Noisy counts of the whole grid, and a smooth estimate made of them."""
        if baselines.grid_cells_in_bounds(self.grid).size < self.grid.cells:
            return LeftOut("pay-once", None, "Noisy counts are for a grid without padding: leave out --grid paper.")
        scale = noise_law(epsilon).scale
        return self._released(
            "pay-once", epsilon, peers.ESTIMATED_RELEASES, lambda z: estimate(z, self.grid.axes, scale)
        )

    def modelled(self, method: str, epsilon: float) -> Row | LeftOut:
        """A model of noisy counts of one and two columns, by AIM or MST, and the joint distribution that it has."""
        delta = model_delta(method, len(self.grid.axes))
        request = ModelRequest(self.grid.shape, epsilon, delta, algorithm=method)
        counts = counts_of_columns(self.grid.bins_of(self.players.cells), self.players.people, self.grid.shape)
        try:
            found = []
            for _ in range(peers.MODEL_RELEASES):
                began = time.perf_counter()
                q = make_model(counts, request).joint()
                found.append((time.perf_counter() - began, self._distances(q)))
        except EquinoiseError as error:
            return LeftOut(method, epsilon if isinstance(error, BadInput) else None, str(error))
        return self._means_of(method, epsilon, epsilon, found)

    def _released(self, method: str, epsilon: float, releases: int, weigh: Callable[[Ints], Floats]) -> Row | LeftOut:
        """Means over some releases of noisy counts, each weighed by a public rule."""
        try:
            law = noise_law(epsilon)
            found = list(self._releases(law, releases, weigh))
        except EquinoiseError as error:
            return LeftOut(method, None, str(error))
        return self._means_of(method, epsilon, law.loss, found)

    def _means_of(
        self, method: str, epsilon: float, promised: float, found: Sequence[tuple[float, dict[str, Any]]]
    ) -> Row:
        """A row of means over releases, of which each has its seconds and metrics."""
        divergences = [one["kl"] for _, one in found]
        return self._row(
            epsilon, method, promised,
            metrics=_means([one for _, one in found]),
            seconds=float(np.mean([seconds for seconds, _ in found])), protected=self.players.total_people,
            kl_spread=float(np.std(divergences, ddof=1)) if np.isfinite(divergences).all() else None,
            releases=len(found),
        )  # fmt: skip

    def _releases(
        self, law: NoiseLaw, releases: int, weigh: Callable[[Ints], Floats]
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        within = baselines.grid_cells_in_bounds(self.grid)
        for _ in range(releases):
            began = time.perf_counter()
            weights = np.zeros(self.grid.cells)
            weights[within] = weigh(noisy_counts(self.counts[within], law))
            seconds = time.perf_counter() - began
            yield seconds, self._distances(weights / weights.sum())

    def _row(self, epsilon: float, method: str, promised: float | None, nothing: str = "", **found: Any) -> Row:
        """A row with its promise: the method's sentence at the epsilon that holds, or why nothing is promised."""
        if promised is None or not math.isfinite(promised):
            promised, said = None, f"nothing: {nothing}"
        else:
            said = promise_of(method, self.rows, promised, len(self.grid.axes)).in_short()
        said += "" if self.public_bounds else f"; {BOUNDS_NOT_PUBLIC[0].lower()}{BOUNDS_NOT_PUBLIC[1:-1]}"
        return Row(epsilon, method, promised=promised, promise=f"{said[0].upper()}{said[1:]}.", **found)

    def _distances(self, q: Floats) -> dict[str, Any]:
        p, axes = self.counts / self.players.total_people, self.grid.axes
        marginals = marginal_distances(marginals_of(p, axes), marginals_of(q, axes), len(axes)) if len(axes) > 1 else {}
        return {**distances(p, q, axes), **marginals, **summary_errors(p, q, axes)}

    def _laid_out(self, kernels: Sequence[Floats]) -> Iterator[Floats]:
        """Rows over all cells of one person of each occupied cell, some at a time."""
        bins, size = self.grid.bins_of(self.players.cells).T, max(1, AT_ONCE // self.grid.cells)
        for first in range(0, self.players.types, size):
            some = bins[:, first : first + size]
            yield products([rows[of_axis] for rows, of_axis in zip(kernels, some, strict=True)])

    def _within(self, epsilon: float, each: Floats) -> dict[str, Any]:
        """How many people are within epsilon, from the loss of one person of each occupied cell; the worst loss."""
        return {"protected": int(self.players.people[each <= epsilon].sum()), "worst_loss": float(each.max())}


def _means(found: Sequence[Any]) -> Any:
    """The mean of numbers, or of each entry of dicts; None where a number is missing."""
    if isinstance(found[0], dict):
        return {name: _means([one[name] for one in found]) for name in found[0]}
    return None if None in found else float(np.mean(found))
