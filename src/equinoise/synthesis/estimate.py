"""From noisy counts to the probability of every cell: a public rule, which costs no privacy.

1. A smooth rate m = e^u of people per cell is fitted to the noisy counts (``smooth_rate``), under a law of how people
   lie around it (``count_law``): phi, how rough the table is, and pi, the share of cells that are used at all.
2. phi and pi are chosen by the noisy counts themselves: cells are left out in turn, their rate is told by the others,
   and the pair is taken under which their noisy counts are likeliest. So data that is not smooth is noticed: its cells
   are then believed one by one, and where most are empty, those of small counts count as empty.
3. Every cell gets the mean of its people, given its noisy count and its rate, divided by the sum of all.

Noisy counts, the axes and the scale of the noise decide everything; the order of categories does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from equinoise.data.grid import AnyAxis, Floats, Ints
from equinoise.errors import BadInput, check, is_number
from equinoise.synthesis.count_law import CountLaw, NoisyCells
from equinoise.synthesis.smooth_rate import CellShape, smooth_rate

PHIS = (0.02, 0.08, 0.25, 0.7, 2.0, 6.0)
PIS = (1.0, 0.75, 0.5, 0.3, 0.15)
FIRST = (0.25, 1.0)
"""Roughness and share of used cells: what can be chosen, and what is tried first."""

FOLDS, FOLD_SEED = 4, 1
FEW_CELLS = 5_000
"""Up to so many, every cell is left out once; of more, a quarter of them is."""

ROUNDS, FOLD_ROUNDS, FOLD_ROUNDS_OF_MANY = 200, 60, 20
FEWEST_ROUNDS, CELL_ROUNDS = 30, 30_000_000
"""On grids of many cells there are fewer rounds, so that cells times rounds are bounded."""

TRIES = 2
BLUR, BLURS = 6.0, 12
"""How far around a cell its first rate is taken from: so many bins, or this part of them all."""

LARGEST = 1 << 60


def estimate(z: Ints, axes: Sequence[AnyAxis], noise_scale: float) -> Floats:
    """The probability of every cell (flat, all above 0, summing to 1), from noisy counts of discrete Laplace noise."""
    people = estimated_people(z, axes, noise_scale)
    return np.asarray(people / people.sum())


def estimated_people(z: Ints, axes: Sequence[AnyAxis], noise_scale: float) -> Floats:
    """People in every cell (flat, all above 0), as estimated from noisy counts of discrete Laplace noise."""
    counts = np.asarray(z)
    bins = tuple(axis.bins for axis in axes)
    check(is_number(noise_scale) and 0 < noise_scale < 1e16, "noise_scale", "a number above 0", noise_scale)
    if counts.shape != (math.prod(bins),) or counts.dtype.kind not in "iu":
        raise BadInput(f"The noisy counts must be {math.prod(bins):,} whole numbers, one for every cell of the axes.")
    shape = CellShape(bins, tuple(axis.number_bins for axis in axes))
    cells = NoisyCells(np.clip(counts, -LARGEST, LARGEST).astype(np.float64), max(float(noise_scale), 1e-2))
    u0 = math.log(max(float(cells.z.mean()), 0.1))
    law, u = _smooth(cells, shape, u0) if shape.smooth_axes else _even(cells, u0)
    return np.asarray(law.mean_people(u))


def _even(cells: NoisyCells, u0: float) -> tuple[CountLaw, Floats]:
    """Without any order one rate for all cells, and the law under which all noisy counts are likeliest."""
    u = np.full(len(cells.z), u0)
    laws = [CountLaw(cells, phi, pi) for phi in PHIS for pi in PIS]
    return max(laws, key=lambda law: float(law.log_likelihood(u)[0].sum())), u


def _smooth(cells: NoisyCells, shape: CellShape, u0: float) -> tuple[CountLaw, Floats]:
    """The law that was chosen, and the rate fitted under it."""
    law, u = CountLaw(cells, *FIRST), _blurred(cells, shape, u0)
    many = len(u) > FEW_CELLS
    if many:
        law = CountLaw(cells, *_likeliest(cells, law, shape, u, u0))
    rounds = min(ROUNDS, max(FEWEST_ROUNDS, CELL_ROUNDS // len(u)))
    for _ in range(0 if many else TRIES):
        u = smooth_rate(law, shape, u, u0, rounds=rounds)
        chosen = _likeliest(cells, law, shape, u, u0)
        if chosen == (law.phi, law.pi):
            return law, u
        law = CountLaw(cells, *chosen)
    return law, smooth_rate(law, shape, u, u0, rounds=rounds)


def _blurred(cells: NoisyCells, shape: CellShape, u0: float) -> Floats:
    """u of the mean noisy count around every cell, where fitting begins: nearer a good optimum than an even rate is."""
    from scipy.ndimage import gaussian_filter1d

    around = cells.z.reshape(shape.bins)
    for axis in shape.smooth_axes:
        around = gaussian_filter1d(around, min(BLUR, shape.ordered[axis] / BLURS), axis=axis, mode="nearest")
    return np.log(np.maximum(around, 0.1 * min(math.exp(u0), 1.0))).ravel()


def _likeliest(cells: NoisyCells, law: CountLaw, shape: CellShape, u: Floats, u0: float) -> tuple[float, float]:
    """phi and pi under which noisy counts are likeliest, at rates that the other cells tell."""
    folds, told = _folds(shape), np.array(u)
    turns, rounds = (FOLDS, FOLD_ROUNDS) if len(u) <= FEW_CELLS else (1, FOLD_ROUNDS_OF_MANY)
    for fold in range(turns):
        left_out = folds == fold
        weight = np.where(left_out, 0.0, 1.0)
        told[left_out] = smooth_rate(law, shape, u, u0, weight=weight, rounds=rounds)[left_out]
    asked = (folds >= 0) & (folds < turns)

    def fit(phi: float, pi: float) -> float:
        return float(CountLaw(cells, phi, pi).log_likelihood(told)[0][asked].sum())

    smooth = {phi: fit(phi, 1.0) for phi in PHIS}
    at = PHIS.index(max(smooth, key=lambda phi: smooth[phi]))
    found = {(phi, 1.0): value for phi, value in smooth.items()}
    found |= {(phi, pi): fit(phi, pi) for pi in PIS[1:] for phi in PHIS[max(at - 3, 0) : at + 1]}
    return max(found, key=lambda pair: found[pair])


def _folds(shape: CellShape) -> Ints:
    """Which of the parts every cell is left out with: by its place on the ordered axes alone, so that categories may
    come in any order; -1 is never left out, where a value is missing on one of them."""
    places = [shape.ordered[axis] if axis in shape.smooth_axes else 1 for axis in range(len(shape.bins))]
    parts = np.random.default_rng(FOLD_SEED).permutation(math.prod(places)) % FOLDS
    spread = [
        (0, bins - place) if axis in shape.smooth_axes else (0, 0)
        for axis, (bins, place) in enumerate(zip(shape.bins, places, strict=True))
    ]
    padded = np.pad(parts.reshape(places), spread, constant_values=-1)
    return np.broadcast_to(padded, shape.bins).ravel()
