"""The exact check of differential privacy: whole numbers and fractions only, for every dataset at once.

Like :mod:`equinoise.privacy.certificate`, of which it needs the bound on e^epsilon, it sees nothing but integers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from equinoise.privacy.certificate import Certificate, exp_lower_bound
from equinoise.privacy.certificate_rows import MOST, Whole

_LEAST_EPSILON = 1e-4
_MOST_CELLS = 2**24
_MOST_ROWS = 2**20

Offset = tuple[int, ...]


def certify_envelope(
    cells: Sequence[int],
    people: Sequence[int],
    weight_cells: Sequence[int],
    weights: Sequence[int],
    epsilon: float,
    rule: Mapping[str, Any],
) -> Certificate:
    """Check the weights of an envelope for every dataset: properties of the public numbers, and that they are theirs.

    ``rule`` has the fields of ``equinoise.synthesis.envelope.Rule``. With E = factor / 2^40 and h = 2^-42 it is enough
    that near <= unit (no factor of it is above one, nor the height above the unit), that nothing is negative, that
    (E - 1) alone >= unit and alone >= cap + floor for every floor, that

        E (1 + h) (1 + 1/floor) <= (1/(1 + h) - 1/floor) p/q,   p/q at most e^(epsilon / rows_per_person),

    for the least floor, and that E^(2^20) exceeds F/floor for any dataset of up to 2^62 people; ln E >= (E - 1)/E
    shows that.

    That the weights are those of this histogram is checked by a sweep over all distances, the furthest first: see
    :class:`_Sweep`. A cell that is not in ``weight_cells`` weighs its floor.
    """
    bound = exp_lower_bound(epsilon) if 0 < epsilon < math.inf else Fraction(1)
    many = sum(int(n) for n in people)

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, many, len(people), math.prod(rule["shape"]), failure)

    failure = _public_failure(epsilon, rule)
    if failure is not None:
        return verdict(failure)
    size = math.prod(rule["shape"])
    fits = len(cells) == len(people) and len(weight_cells) == len(weights)
    if not (
        fits and _ascend(cells, size) and _ascend(weight_cells, size) and min(people, default=1) >= 1 and many < MOST
    ):
        return verdict("the counts, the weights and the rule do not belong together")
    if not all(isinstance(weight, int) for weight in weights):
        return verdict("the rule or the weights are no whole numbers of a possible size, or nothing grows")
    wrong = _Sweep(cells, people, weight_cells, weights, rule).wrong_cell()
    return verdict(None if wrong is None else f"the weight of cell {wrong} is not the rule's")


def _ascend(cells: Sequence[int], size: int) -> bool:
    return all(a < b for a, b in pairwise([-1, *cells, size]))


def _public_failure(epsilon: float, rule: Mapping[str, Any]) -> str | None:
    """What is wrong with the public numbers, whatever the data."""
    rows, shape, categories, near = (rule[name] for name in ("rows_per_person", "shape", "categories", "near"))
    if not (isinstance(rows, int) and 1 <= rows <= _MOST_ROWS and _LEAST_EPSILON <= epsilon / rows < math.inf):
        return f"epsilon is not a finite number of at least {_LEAST_EPSILON} for each row of a person"
    unit, height, cap, factor, floors = (rule[name] for name in ("unit", "height", "cap", "factor", "floors"))
    alone = rule["alone"]
    factors = [one for axis in near for one in axis]
    whole = [*shape, *categories, *factors, *floors, unit, height, cap, alone, factor]
    if not all(isinstance(number, int) for number in whole) or max(whole).bit_length() > 4096 or factor <= 2**40:
        return "the rule or the weights are no whole numbers of a possible size, or nothing grows"
    together = len(shape) == len(categories) == len(near) > 0 and min(map(len, near)) > 0 and min(shape) >= 1
    size = math.prod(shape)
    axes = list(zip(shape, categories, near, strict=True)) if together else []
    axes_fit = all(0 <= none <= bins and len(one) <= max(bins - none, 1) for bins, none, one in axes)
    if not (together and axes_fit and size <= _MOST_CELLS and len(floors) in (1, size)):
        return "the counts, the weights and the rule do not belong together"
    if min(factors) < 0 or max(factors) > 2**16 or not 0 <= height <= unit or unit < 1 or min(floors) < 1:
        return "the rule is not one of an envelope"
    crowds = alone >= cap + max(floors) and alone * (factor - 2**40) >= unit * 2**40
    if not 0 <= cap < MOST or max(floors) >= MOST or not crowds:
        return "the rule is not one of an envelope"
    growth, h, least = Fraction(factor, 2**40), Fraction(1, 2**42), Fraction(1, min(floors))
    largest = (2**62 * unit + cap + max(floors)) // min(floors) + 2
    few_steps = 2**20 * (growth - 1) >= growth * largest.bit_length()
    per_row = exp_lower_bound(Fraction(epsilon) / rows)
    if not few_steps or growth * (1 + h) * (1 + least) > (1 / (1 + h) - least) * per_row:
        return "the rule lets one person change the weights by more than e^epsilon"
    return None


class _Sweep:
    """Everyone who is near each cell leaves, and comes back the furthest first, all people of one nearness together.

    A weight w is right if no e[j] F is below w at any stage, j being those who are still away, and one is below w + 1.
    At every stage the cells concerned are those at certain distances from people: no list of who is near is made.
    """

    def __init__(
        self, cells: Sequence[int], people: Sequence[int], weight_cells: Sequence[int], weights: Sequence[int],
        rule: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.shape, self.cap, self.unit, self.alone = tuple(rule["shape"]), rule["cap"], rule["unit"], rule["alone"]
        self.ordered = [bins - none for bins, none in zip(self.shape, rule["categories"], strict=True)]
        self.cells, self.people = np.array(cells, dtype=np.int64), np.array(people, dtype=np.int64)
        self.bins = np.unravel_index(self.cells, self.shape)
        self.strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        self.moves: dict[tuple[int, int], Any] = {}
        self.weight_cells = np.array(weight_cells, dtype=np.int64)
        self.place = np.full(math.prod(self.shape), -1, dtype=np.int64)
        self.place[self.weight_cells] = np.arange(len(self.weight_cells))
        floors = rule["floors"]
        self.floors = np.array(
            floors * len(weight_cells) if len(floors) == 1 else [floors[x] for x in weight_cells], dtype=object
        )
        self.even = len(floors) == 1
        self.weights = np.array(weights, dtype=object)
        self.away, self.back = np.zeros(len(weights), dtype=np.int64), np.zeros(len(weights), dtype=np.int64)
        self.attained = np.zeros(len(weights), dtype=bool)
        self.levels = _levels(rule)
        self.factor, self.powers = rule["factor"], np.array([1 << 64], dtype=object)
        self.enough = self.away.copy()

    def wrong_cell(self) -> int | None:
        """A cell whose weight is not the rule's; None if all are right."""
        everywhere = np.arange(len(self.weights))
        unlisted = self.place[self.cells] < 0
        for offsets in self.levels.values():
            for target, owners in map(self._reached, offsets):
                unlisted[owners[self.place[target] < 0]] = True
                if not unlisted.any():
                    self.away[self.place[target]] += self.people[owners]
        if unlisted.any() or (not self.even and len(self.weights) < len(self.place)):
            return int(self.cells[unlisted][0]) if unlisted.any() else int(np.flatnonzero(self.place < 0)[0])
        home = self.place[self.cells]
        own = np.zeros(len(self.weights), dtype=object)
        own[home] = self.people.astype(object)
        self.away[home] += self.people
        too_large = self.weights > self.unit * own + self.floors + self.cap  # F itself is not above this
        if too_large.any():
            return int(self.weight_cells[too_large][0])
        self._prepare_powers()
        for near, offsets in self.levels.items():
            reached = [(self.place[target], owners) for target, owners in map(self._reached, offsets)]
            if (wrong := self._too_heavy(np.concatenate([places for places, _ in reached]))) is not None:
                return wrong
            for places, owners in reached:
                many = self.people[owners]
                self.away[places] -= many
                full = many > (self.cap - self.back[places]) // near
                self.back[places] = np.where(full, self.cap, self.back[places] + near * np.where(full, 0, many))
        if (wrong := self._too_heavy(everywhere)) is not None:  # the cell's own people are away
            return wrong
        together = self.unit * own + self.floors + self.back.astype(object)
        whole = np.maximum(self.unit * own, np.minimum(together, self.alone))
        wrong_ones = (self.weights > whole) | ~(self.attained | (self.weights == whole))
        return int(self.weight_cells[wrong_ones][0]) if wrong_ones.any() else None

    def _prepare_powers(self) -> None:
        """e[j] as far as it can matter, and for every cell the j from which on e[j] times the floor is no less."""
        needed = [-((-w << 64) // floor) for w, floor in zip(self.weights.tolist(), self.floors.tolist(), strict=True)]
        powers = [1 << 64]
        while powers[-1] < max(needed, default=0):
            powers.append(powers[-1] * self.factor >> 40)
        self.enough = np.array([bisect_left(powers, least) for least in needed], dtype=np.int64)
        self.powers = np.array(powers, dtype=object)

    def _too_heavy(self, places: Whole) -> int | None:
        """A cell among these whose weight is above e[j] F as things are."""
        attained = places[self.away[places] == self.enough[places]]
        places = np.concatenate([places[self.away[places] < self.enough[places]], attained])
        value = self.powers[self.away[places]] * (self.floors[places] + self.back[places].astype(object)) >> 64
        if (value < self.weights[places]).any():
            return int(self.weight_cells[places][value < self.weights[places]][0])
        self.attained[places[value == self.weights[places]]] = True
        return None

    def _reached(self, offset: Offset) -> tuple[Whole, Whole]:
        """The cells this far from people, and whose they are: numbers of occupied cells."""
        inside, shift = np.ones(len(self.cells), dtype=bool), 0
        for axis, step in enumerate(offset):
            if step:
                if (axis, step) not in self.moves:
                    bins, ordered = self.bins[axis], self.ordered[axis]
                    self.moves[axis, step] = (bins < ordered) & (bins + step >= 0) & (bins + step < ordered)
                inside &= self.moves[axis, step]
                shift += step * self.strides[axis]
        owners = np.flatnonzero(inside)
        return self.cells[owners] + shift, owners


def _levels(rule: Mapping[str, Any]) -> dict[int, list[Offset]]:
    """The distances at which people count anything, by what they count, the least first; not that of a cell itself."""
    found: dict[int, list[Offset]] = {}
    for steps in product(*(range(len(factors)) for factors in rule["near"])):
        near = rule["height"]
        for factors, step in zip(rule["near"], steps, strict=True):
            near = near * factors[step] // 2**16
        near = min(near, rule["cap"])
        if near > 0 and any(steps):
            signed: Iterator[Offset] = product(*({step, -step} for step in steps))
            found.setdefault(near, []).extend(signed)
    return dict(sorted(found.items()))
