"""Differential privacy for every dataset: weights that no single person can change by more than a factor.

Let F[x](n) be any score of a histogram n for cell x that no added person lowers, and

    g[x](n) = min over m <= n of e[j] F[x](m),   j = the number of people in n but not in m,

with e[0] = 1 and e[j] <= e[j+1] <= E e[j]. Draw x with probability g[x] / sum of g. Adding a person

- lowers no g[x]: let m be best for the larger dataset. If m has the new person, m without them is in the smaller
  one, with the same j and no larger F; if not, the same m serves there with one j less;
- raises no g[x] by more than E: the m that is best for the smaller dataset serves the larger one with one j more.

So do the sums, and the ratio of any cell's two probabilities is within [1/E, E], for all datasets on the grid. The
logarithm of the ratio of g itself is within [0, ln E], a range of epsilon, so each draw is epsilon^2/8-zCDP.

Here F[x] = unit n[x] + floors[x] + min(cap, sum over other cells z of near[|z - x|] n[z]): a cell's people, and
pseudo-people where there are neighbours. All are whole numbers and near <= unit, so the j people whose removal lowers F
most are first those of x itself, then its nearest neighbours; and within one cell it is best to remove nobody or
everybody, because ln(e[j] (a - b j)) is concave where the cap does not hold and growing where it does. People who are
too far away to count (near is 0) are never worth removing, so a weight depends on a few cells only.

Rounding. Each e[j] is rounded down, by less than 2^-63 a step, so looking at whole cells only finds the least to a
factor 1 + h, h = 2^-42 (there are fewer than 2^20 steps before e[j] times the least floor is above any F). The weights
are then rounded down to whole numbers w >= floor, the least of the floors. So with a person added w' is at most
(1 + h) E (w + 1) and at least w/(1 + h) - 1, and all that was said holds with

    E (1 + h) (1 + 1/floor) / (1/(1 + h) - 1/floor) <= e^epsilon

in the place of E <= e^epsilon. The certificate checks this inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from equinoise.certificate import exp_lower_bound
from equinoise.errors import BadInput, check
from equinoise.grid import Ints

LEAST_EPSILON = 1e-4
SLACK_BITS, FACTOR_BITS, POWER_BITS = 20, 40, 64
NEAR, REACH = 0.3, 1.0
FLOOR, BASE_FLOOR = 0.01, 0.03

BASE_BITS = 10
"""With a base distribution floors differ; this much finer a unit lets the least be a thousandth of the average."""


@dataclass(frozen=True)
class Rule:
    """The public parameters, in whole numbers. ``near`` starts with the unit itself; what is further away counts 0."""

    unit: int
    near: tuple[int, ...]
    cap: int
    floors: tuple[int, ...]
    factor: int

    @property
    def cells(self) -> int:
        """K: the cells that anyone can be in."""
        return len(self.floors)

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
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def public_rule(epsilon: float, cells: int, base: Sequence[float] | None = None) -> Rule:
    """The rule of epsilon and the number of cells, never of the data; ``base`` says where to expect people.

    With t = 1/(e^epsilon - 1) people in every cell no minimum would be needed (additive smoothing). A cap of some 0.3 t
    next to people and 0.01 t elsewhere came out best over several real columns and epsilons. With a base distribution
    it is 0.03 t a cell, shared out by that. E is e^epsilon less 2^-20 of it, and the unit is so fine that rounding
    g down to whole numbers costs no more than that.
    """
    check(LEAST_EPSILON <= epsilon < math.inf, "epsilon", f"a finite number of at least {LEAST_EPSILON:g}", epsilon)
    shares = None if base is None else check_base(base, cells)
    target = exp_lower_bound(epsilon)
    factor = math.floor(target * (2**SLACK_BITS - 1) / 2**SLACK_BITS * 2**FACTOR_BITS)
    people = 1 / math.expm1(min(epsilon, 64.0))
    least = 1 << (SLACK_BITS + 3)
    even = (FLOOR if base is None else BASE_FLOOR) * people
    unit = least << (max(0, math.ceil(-math.log2(even))) + (0 if base is None else BASE_BITS))
    near = [math.floor(NEAR * unit * math.exp(-(d - 1) / REACH)) for d in range(1, cells)]
    cap = math.floor(min(1.0, 0.3 + 0.15 * epsilon) * people * unit)
    floor = math.ceil(even * unit)
    floors = [floor] * cells if shares is None else [max(least, math.floor(floor * cells * part)) for part in shares]
    return Rule(unit, (unit, *(weight for weight in near if weight > 0)), cap, tuple(floors), factor)


def check_base(base: Any, cells: int) -> list[float]:
    """The base distribution, summing to one; refused if it is none over these cells."""
    try:
        parts = [float(part) for part in base]
    except (TypeError, ValueError):
        raise BadInput("The base distribution must be numbers, one for each cell within the bounds.") from None
    if len(parts) != cells:
        raise BadInput(
            f"The base distribution has {len(parts):,} numbers, but {cells:,} cells lie within the bounds: give one "
            "number for each of these, in ascending order."
        )
    bad = next((part for part in parts if not (math.isfinite(part) and part >= 0)), None)
    if bad is not None:
        raise BadInput(f"The base distribution must be finite numbers of at least 0. Got {bad:g} among them.")
    total = sum(parts)
    if not 0 < total < math.inf:
        raise BadInput("The base distribution sums to zero (or to infinity): it says of no cell where people are.")
    return [part / total for part in parts]


def weights(counts: Ints, rule: Rule) -> list[int]:
    """g for every cell, rounded down to whole numbers."""
    people = [int(n) for n in counts]
    return [_weight(people, x, rule) for x in range(rule.cells)]


def without_one(counts: Ints, known: Sequence[int], cell: int, rule: Rule) -> list[int]:
    """The weights without one person of a cell, from those with them: only cells within reach change."""
    people = [int(n) for n in counts]
    people[cell] -= 1
    reach = len(rule.near)
    around = range(max(0, cell - reach + 1), min(rule.cells, cell + reach))
    return [*known[: around.start], *(_weight(people, x, rule) for x in around), *known[around.stop :]]


def _weight(people: list[int], x: int, rule: Rule) -> int:
    floor = rule.floors[x]
    around = [
        (people[z], near)
        for d, near in enumerate(rule.near)
        if d > 0
        for z in (x - d, x + d)
        if 0 <= z < rule.cells and people[z] > 0
    ]
    around.sort(key=lambda group: -group[1])
    near = sum(n * w for n, w in around)
    best = rule.power(0) * (rule.unit * people[x] + floor + min(rule.cap, near))
    gone = 0
    for n, w in [(people[x], 0), *around]:
        gone, near = gone + n, near - n * w
        if _too_far(gone, best, floor, rule):
            break
        best = min(best, rule.power(gone) * (floor + min(rule.cap, near)))
    return best >> POWER_BITS


def _too_far(gone: int, best: int, floor: int, rule: Rule) -> bool:
    """Whether e[gone] times the floor is above the best already: then removing more people cannot help."""
    growth = gone * math.log(rule.factor / 2**FACTOR_BITS)
    if growth > math.log(best) - math.log(floor) - POWER_BITS * math.log(2) + 1:
        return True
    return rule.power(gone) * floor >= best
