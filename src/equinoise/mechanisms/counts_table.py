"""Noisy counts of every cell, paid for once, and the weights made of them, from which any number of rows is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.mechanisms.draws import RandomBytes, draw_weighted
from equinoise.mechanisms.private_table import PrivateTable, check_private_grid
from equinoise.privacy.accounting import Budget
from equinoise.privacy.certificate import Certificate
from equinoise.privacy.counts_certificate import certify_noisy_counts
from equinoise.synthesis.estimate import estimated_people
from equinoise.synthesis.noisy_counts import NoiseLaw, noise_law, noisy_counts

WEIGHT_BITS = 45
"""Weights are probabilities in units of 2^-45, and one more, so that every cell can come out."""

ALIKE = 1e-3
"""Total variation between two estimates of the same noisy counts, on two machines: far more than rounding makes."""

UNLIKELY = 1e-12
"""A probability of noise so small or so large that something else must be wrong."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CountsTable(PrivateTable):
    """``noisy`` has the noisy count of every cell by ``law``, ``weights`` what the estimate made of them. Any number of
    rows may be drawn: ``epsilon`` pays for them all."""

    method = "pay-once"
    composed = "the noisy counts are paid for once"
    weights_source = "estimate made of the noisy counts"
    certified = "the noise is enough for epsilon, and the weights are made of the noisy counts alone"

    law: NoiseLaw
    noisy: Ints
    weights: Ints

    @classmethod
    def make(
        cls, players: Players, *, epsilon: float, rows_per_person: int = 1, settings: dict[str, Any] | None = None
    ) -> CountsTable:
        """Noise on every cell's count, by OpenDP, and the estimate made of it by a public rule; certified."""
        grid = players.grid
        check_private_grid(grid)
        law = noise_law(epsilon, rows_per_person)
        noisy = noisy_counts(players.histogram.counts, law)
        people = estimated_people(noisy, grid.axes, law.scale)
        made = cls(
            grid=grid,
            epsilon=float(epsilon),
            draws=None,
            budget=Budget(float(epsilon), 0.0),
            counted=players,
            rows_per_person=rows_per_person,
            law=law,
            noisy=noisy,
            weights=whole_weights(people),
            settings={**(settings or {}), "epsilon": float(epsilon)},
            solver={"name": cls.method},
        )
        made.__dict__["_estimated"] = people
        made._require_certificate()
        return made

    @classmethod
    def from_document(cls, document: Any, weights: Ints, shared: dict[str, Any]) -> Self:
        """What a saved document (a ``CountsDocument``) tells; noisy counts and weights are the rows of its blob."""
        return cls(
            counted=document.players(shared["grid"]),
            rows_per_person=document.rows_per_person,
            law=NoiseLaw(document.scale, document.rows_per_person),
            noisy=weights[0].copy(),
            weights=weights[1].copy(),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {**super()._own(), "scale": self.law.scale}

    def _blob(self) -> Ints:
        return np.stack([self.noisy, self.weights])

    def _parts(self) -> dict[str, Any]:
        return {**self._own(), "noisy_counts": self.noisy.tolist(), "weights": self.weights.tolist()}

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        cells = draw_weighted(self.weights.tolist(), n, source)
        return cells if len(self.grid.axes) == 1 else map(self.grid.bins_of, cells)

    @cached_property
    def _estimated(self) -> Floats:
        """Rows per cell, as estimated from the noisy counts."""
        return estimated_people(self.noisy, self.grid.axes, self.law.scale)

    @property
    def rows_alike(self) -> int:
        """About as many rows as were counted: the sum of the noisy counts, which is right on average."""
        return max(1, int(self.noisy.sum()))

    @cached_property
    def _certificate(self) -> Certificate:
        """The certificate holds for any weights; that they were made of the noisy counts is checked here.

        Whether the noise is likely is for audits: if that decided whether rows come out, it would tell of the counts.
        """
        found = certify_noisy_counts(
            self.counted.sizes.tolist(), self.rows_per_person, self.law.scale, self.noisy.tolist(),
            self.weights.tolist(), self.grid.cells, self.epsilon,
        )  # fmt: skip
        if found.holds and not self._weights_follow:
            return replace(found, holds=False, failure=f"the weights are not those of the {self.weights_source}")
        return replace(found, people=self.total_people)

    @cached_property
    def within_budget(self) -> bool:
        """Whether what is paid once is what was asked for; rows cost nothing more."""
        return self.draws is None and self.budget == Budget(self.epsilon, 0.0)

    @cached_property
    def _weights_follow(self) -> bool:
        """Whether the weights are those of the estimate, which the noisy counts alone decide."""
        again = whole_weights(self._estimated)
        apart = np.abs(again / again.sum() - self.weights / self.weights.sum()).sum() / 2
        return bool(apart <= ALIKE)

    @cached_property
    def weights_as_named(self) -> bool:
        """Whether noise of the law was added, as far as its size tells, and the weights are the estimate's."""
        return self._weights_follow and noise_is_likely(self.noisy - self.histogram, self.law)

    @cached_property
    def _output(self) -> Floats:
        return np.asarray(self.weights / self.weights.sum())


def whole_weights(people: Floats) -> Ints:
    """A weight of at least 1 for every cell (flat), from estimated people."""
    return np.asarray(np.floor(people / people.sum() * 2.0**WEIGHT_BITS).astype(np.int64) + 1)


def noise_is_likely(noise: Ints, law: NoiseLaw) -> bool:
    """Whether the sum of abs(noise) over the cells is one that the law gives with more than a tiny probability.

    With M(s) the mean of e^(s abs(k)), P(sum <= t) <= e^(-s t) M(s)^cells for every s < 0 (and P(sum >= t) for s > 0).
    """
    a, total, cells = math.exp(-1 / law.scale), float(np.abs(noise).sum()), len(noise)
    least = 0.0
    for share in (-8.0, -2.0, -1.0, -0.5, -0.2, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8):
        s = share / law.scale
        grown = a * math.exp(s)
        mean = (1 - a) / (1 + a) * (1 + 2 * grown / (1 - grown))
        least = min(least, cells * math.log(mean) - s * total)
    return least > math.log(UNLIKELY)
