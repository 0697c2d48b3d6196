"""The envelope: weights of a grid's cells that no single person can change by more than a factor, for every dataset.

Let F[x](n) be any score of a histogram n for cell x that no added person lowers, and

    g[x](n) = min over m <= n of e[j] F[x](m),   j = the number of people in n but not in m,

with e[0] = 1 and e[j] <= e[j+1] <= E e[j]. Draw x with probability g[x] / sum of g. Adding a person

- lowers no g[x]: let m be best for the larger dataset. If m has the new person, m without them is in the smaller
  one, with the same j and no larger F; if not, the same m serves there with one j less;
- raises no g[x] by more than E: the m that is best for the smaller dataset serves the larger one with one j more.

So do the sums, and the ratio of any cell's two probabilities is within [1/E, E], for all datasets on the grid. The
logarithm of the ratio of g itself is within [0, ln E], so each draw has a bounded range of epsilon. A person with at
most M rows changes weights as M people with one row do, one after the other: with E = e^(epsilon/M) all this holds for
them with E^M = e^epsilon. g is the log-Lipschitz envelope of F (smooth sensitivity: Nissim, Raskhodnikova, Smith 2007),
drawn from as by a monotone exponential mechanism (McSherry, Talwar 2007).

Here a cell's people count u = unit n[x], and there are s = floor[x] + min(cap, sum over other cells z of near(x, z)
n[z]) pseudo-people; F[x] = max(u, min(u + s, alone)), as a crowd needs none. All are whole numbers, near <= unit, and
alone >= cap + floor[x], so that F[x] = s in an empty cell. Of all ways to remove j people, x's own first and then the
nearest lowers F most; and of these j only those can be best at which whole cells of equal nearness are gone
(docs/proof-envelope.md has the argument, step by step). With S_j what is near when j people are gone, j running over
whole cells of equal nearness,

    g[x] = the lesser of F[x] and min over j >= n[x] of e[j] (floor[x] + min(cap, S_j)).

People whose near is 0 are never worth removing: far from everyone g[x] = floor[x], and nothing need be held for it.

Rounding. Each e[j] is rounded down, by less than 2^-63 a step, so looking at whole cells only finds the least to a
factor 1 + h, h = 2^-42 (there are fewer than 2^20 steps before e[j] times the least floor is above any F). The weights
are then rounded down to whole numbers w >= floor, the least of the floors. So with a person added w' is at most
(1 + h) E (w + 1) and at least w/(1 + h) - 1, and all that was said holds with

    E (1 + h) (1 + 1/floor) / (1/(1 + h) - 1/floor) <= e^epsilon

in the place of E <= e^epsilon; where a person has M rows, with its M-th power. The certificate checks this inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from equinoise.data.grid import Ints
from equinoise.errors import BadInput, check
from equinoise.privacy.certificate import exp_lower_bound

LEAST_RULE_EPSILON = 1e-4
"""Of one draw and one row of a person."""
SLACK_BITS, FACTOR_BITS, POWER_BITS, NEAR_BITS = 20, 40, 64, 16
REACH = Fraction(1, 10)
"""Of an axis's range: people further away count nothing."""
LEAST_ORDERED = 5
"""Bins of numbers that an axis must have before its neighbours tell anything of each other."""
TOGETHER = Fraction(1, 2)
"""What one person in every cell around would count, all of them together."""


@dataclass(frozen=True)
class Rule:
    """The public parameters, in whole numbers.

    On an axis the first bins are ordered, the last ``categories`` are not. People d_1, d_2, ... ordered bins away, and
    in the same bin wherever there is no order, count ``height`` times the product of near[axis][d] / 2^16, rounded down
    at every axis, at most ``cap``; all others nothing. Cells
    whose own people count ``alone`` or more have no pseudo-people. ``floors`` has one number for all cells, or one for
    each.
    ``factor`` is E in units of 2^-40, for one of at most ``rows_per_person`` rows.
    """

    shape: tuple[int, ...]
    categories: tuple[int, ...]
    unit: int
    height: int
    near: tuple[tuple[int, ...], ...]
    cap: int
    alone: int
    floors: tuple[int, ...]
    factor: int
    rows_per_person: int = 1

    @property
    def cells(self) -> int:
        """K: the cells that anyone can be in."""
        return math.prod(self.shape)

    @property
    def even(self) -> bool:
        """Whether all cells have the same floor."""
        return len(self.floors) == 1

    def floor(self, cell: int) -> int:
        """What a cell weighs that nobody is near."""
        return self.floors[0] if self.even else self.floors[cell]

    @cached_property
    def near_table(self) -> Ints:
        """What a person counts by their distance on every axis, in bins: at most the cap, which no sum exceeds."""
        table = np.array(self.height, dtype=object)
        for factors in self.near:
            table = table[..., None] * np.array(factors, dtype=object) >> NEAR_BITS
        return np.asarray(np.minimum(table, self.cap).astype(np.int64))

    @cached_property
    def _powers(self) -> list[int]:
        return [1 << POWER_BITS]

    def power(self, j: int) -> int:
        """e[j] in units of 2^-64, every product rounded down: so e[j+1] <= E e[j]."""
        while len(self._powers) <= j:
            self._powers.append(self._powers[-1] * self.factor >> FACTOR_BITS)
        return self._powers[j]

    def to_json(self) -> dict[str, Any]:
        """The fields, as saved files and JSON tell them."""
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return fields | {"near": [list(factors) for factors in self.near]}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Rule:
        """A rule of its fields."""
        plain = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
        return cls(**plain | {"near": tuple(map(tuple, fields["near"]))})


def public_rule(
    epsilon: float,
    shape: Sequence[int],
    categories: Sequence[int] | None = None,
    *,
    base: Sequence[float] | None = None,
    rows_per_person: int = 1,
) -> Rule:
    """The rule of epsilon and the grid's bins and unordered bins on every axis, never of the data; ``base`` says where
    to expect people.

    With t = 1/(E - 1) people in every cell no minimum would be needed (additive smoothing); and t people of its own,
    or more, need no pseudo-people. Here every cell has t/P, where P is the number of its ordered cells: those with the
    same bins wherever bins have no order. Where these are a C-th of the grid it is 0.3 + 0.2 ln E of that, at least 1/C
    and at most all; with ``base`` half of it all is shared out as that says (so that a wrong one costs little). Up to
    (0.3 + 0.15 ln E) t, at most t, are added where people are near: d bins away on an axis a person counts r + 1 - d
    parts of r + 1, where r bins are a tenth of the range; the product of that over the axes, such that one person in
    every cell around counts half a person together. The constants came out best over many real columns, tables, grids
    and epsilons at once (``benchmarks/envelope.md``). E is e^epsilon less 2^-20 of it, and the unit is so fine that
    rounding g down to whole numbers costs no more than that. Fractions throughout: the same rule on every machine.
    """
    whole = isinstance(rows_per_person, int) and rows_per_person >= 1
    check(whole, "rows_per_person", "a whole number of at least 1", rows_per_person)
    least = LEAST_RULE_EPSILON * rows_per_person
    check(least <= epsilon < math.inf, "epsilon", f"a finite number of at least {least:g}", epsilon)
    unordered = tuple(categories) if categories is not None else (0,) * len(shape)
    ordered = [bins - none if bins - none >= LEAST_ORDERED else 1 for bins, none in zip(shape, unordered, strict=True)]
    per_row = Fraction(epsilon) / rows_per_person
    target = exp_lower_bound(per_row)
    factor = math.floor(target * (2**SLACK_BITS - 1) / 2**SLACK_BITS * 2**FACTOR_BITS)
    people = 1 / (target - 1)
    cells, block = math.prod(shape), math.prod(ordered)
    parts = max(Fraction(block, cells), min(Fraction(1), (3 + 2 * per_row) / 10))
    even = people * parts / block
    finest = 1 << (SLACK_BITS + 3)
    unit = finest << (math.ceil(2 / even) - 1).bit_length()
    near = tuple(_near_factors(bins) for bins in ordered)
    around = math.prod(Fraction(2 * sum(one) - one[0], one[0]) for one in near) - 1
    height = 0 if around == 0 else min(unit, math.floor(unit * TOGETHER / around))
    cap = math.floor(min(Fraction(1), (6 + 3 * per_row) / 20) * people * unit)
    floors = [even] if base is None else [even * (1 + cells * share) / 2 for share in check_base(base, cells)]
    whole_floors = tuple(max(finest, math.ceil(floor * unit)) for floor in floors)
    alone = max(-((-unit << FACTOR_BITS) // (factor - (1 << FACTOR_BITS))), cap + max(whole_floors))
    return Rule(tuple(shape), unordered, unit, height, near, cap, alone, whole_floors, factor, rows_per_person)


def _near_factors(bins: int) -> tuple[int, ...]:
    """How what a person counts falls with the distance on an axis of so many ordered bins, from 2^16 down."""
    end = bins * REACH + 1
    falling = [math.floor((end - d) / end * 2**NEAR_BITS) for d in range(min(bins, math.ceil(end)))]
    return tuple(factor for factor in falling if factor > 0) if bins > 1 else (1 << NEAR_BITS,)


def check_base(base: Any, cells: int) -> list[Fraction]:
    """The base distribution, summing to one; refused if it is none over these cells."""
    try:
        parts = [float(part) for part in base]
    except (TypeError, ValueError):
        raise BadInput("The base distribution must be numbers, one for each cell of the grid.") from None
    if len(parts) != cells:
        raise BadInput(
            f"The base distribution has {len(parts):,} numbers, but the grid has {cells:,} cells: give one number for "
            "each of these, in ascending order; of several columns, the last one's bins run fastest."
        )
    bad = next((part for part in parts if not (math.isfinite(part) and part >= 0)), None)
    if bad is not None:
        raise BadInput(f"The base distribution must be finite numbers of at least 0. Got {bad:g} among them.")
    total = sum(map(Fraction, parts))
    if total == 0:
        raise BadInput("The base distribution sums to zero: it says of no cell that people are there.")
    return [Fraction(part) / total for part in parts]
