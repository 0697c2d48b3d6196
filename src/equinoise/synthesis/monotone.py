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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from equinoise.data.grid import Ints
from equinoise.errors import BadInput, check
from equinoise.privacy.certificate import exp_lower_bound

LEAST_RULE_EPSILON = 1e-4
SLACK_BITS, FACTOR_BITS, POWER_BITS = 20, 40, 64
REACH = 10
"""Neighbours count up to a tenth of the cells away."""


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

    With t = 1/(e^epsilon - 1) people in every cell no minimum would be needed (additive smoothing). Here t people are
    shared out over all cells, evenly or half of them as ``base`` says (so that a wrong one costs little), and up to
    (0.3 + 0.15 epsilon) t, at most t, are added where there are neighbours: one person in every cell within a tenth of
    the cells would count half a person, the nearest most. This came out best over many real columns, grids and epsilons
    at once (``benchmarks/worst_case.md``). E is e^epsilon less 2^-20 of it, and the unit is so fine that rounding g
    down to whole numbers costs no more than that. Fractions throughout: the same rule on every machine.
    """
    usable = LEAST_RULE_EPSILON <= epsilon < math.inf
    check(usable, "epsilon", f"a finite number of at least {LEAST_RULE_EPSILON:g}", epsilon)
    even = Fraction(1, cells)
    shares = [even] * cells if base is None else [(even + share) / 2 for share in check_base(base, cells)]
    target = exp_lower_bound(epsilon)
    factor = math.floor(target * (2**SLACK_BITS - 1) / 2**SLACK_BITS * 2**FACTOR_BITS)
    people = 1 / (target - 1)
    least = 1 << (SLACK_BITS + 3)
    unit = least << (math.ceil(2 * cells / people) - 1).bit_length()
    reach = Fraction(cells, REACH)
    falling = [max(1 - (d - 1) / reach, Fraction(0)) for d in range(1, max(math.ceil(reach), 1) + 1)]
    near = [math.floor(unit * weight / (4 * sum(falling))) for weight in falling[: cells - 1]]
    cap = math.floor(min(Fraction(1), (6 + 3 * Fraction(epsilon)) / 20) * people * unit)
    floors = [max(least, math.ceil(share * people * unit)) for share in shares]
    return Rule(unit, (unit, *(weight for weight in near if weight > 0)), cap, tuple(floors), factor)


def check_base(base: Any, cells: int) -> list[Fraction]:
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
    total = sum(map(Fraction, parts))
    if total == 0:
        raise BadInput("The base distribution sums to zero: it says of no cell that people are there.")
    return [Fraction(part) / total for part in parts]


def weights(counts: Ints, rule: Rule) -> list[int]:
    """g for every cell, rounded down to whole numbers."""
    people = [int(n) for n in counts]
    return [_weight(people, x, around, rule) for x, around in enumerate(_around(people, rule))]


def each_without_one(counts: Ints, known: Sequence[int], rule: Rule) -> Iterator[list[int]]:
    """For every occupied cell the weights without one person of it; only cells within reach change."""
    people = [int(n) for n in counts]
    around = _around(people, rule)
    reach = len(rule.near)
    for cell in [k for k, n in enumerate(people) if n > 0]:
        people[cell] -= 1
        found = list(known)
        for x in range(max(0, cell - reach + 1), min(rule.cells, cell + reach)):
            gone = rule.near[abs(x - cell)] if x != cell else 0
            found[x] = _weight(people, x, around[x] - gone, rule)
        people[cell] += 1
        yield found


def _around(people: list[int], rule: Rule) -> list[int]:
    """What neighbours count toward each cell, before the cap."""
    found = [0] * rule.cells
    for z, n in enumerate(people):
        if n > 0:
            for d, near in enumerate(rule.near):
                for x in {z - d, z + d} - {z}:
                    if 0 <= x < rule.cells:
                        found[x] += near * n
    return found


def _weight(people: list[int], x: int, around: int, rule: Rule) -> int:
    floor = rule.floors[x]
    best = rule.power(0) * (rule.unit * people[x] + floor + min(rule.cap, around))
    gone = 0
    for d, near in enumerate(rule.near):  # outwards: near falls with the distance
        for z in (x - d, x + d) if d else (x,):
            if not (0 <= z < rule.cells and people[z] > 0):
                continue
            gone += people[z]
            around -= near * people[z] if d else 0
            if _too_far(gone, best, floor, rule):
                return best >> POWER_BITS
            best = min(best, rule.power(gone) * (floor + min(rule.cap, around)))
    return best >> POWER_BITS


def _too_far(gone: int, best: int, floor: int, rule: Rule) -> bool:
    """Whether e[gone] times the floor is above the best already: then removing more people cannot help."""
    growth = gone * math.log(rule.factor / 2**FACTOR_BITS)
    if growth > math.log(best) - math.log(floor) - POWER_BITS * math.log(2) + 1:
        return True
    return rule.power(gone) * floor >= best
