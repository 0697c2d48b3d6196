"""The exact check of differential privacy: whole numbers and fractions only, for every dataset at once.

Like :mod:`equinoise.privacy.certificate`, of which it needs the bound on e^epsilon, it sees nothing but integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

from equinoise.privacy.certificate import DIGITS, Certificate, exp_lower_bound

_LEAST_MONOTONE = 1e-4


def certify_monotone(
    counts: Sequence[int],
    weights: Sequence[int],
    epsilon: float,
    *,
    unit: int,
    near: Sequence[int],
    cap: int,
    floors: Sequence[int],
    factor: int,
) -> Certificate:
    """Check monotone weights for every dataset: properties of the public numbers, and that the weights are theirs.

    With E = factor / 2^40 and h = 2^-42 it is enough that near[d] <= unit, that nothing is negative, that

        E (1 + h) (1 + 1/floor) <= (1/(1 + h) - 1/floor) p/q,   p/q at most e^epsilon,

    for the least floor, and that E^(2^20) exceeds F/floor for any dataset of up to 2^62 people; ln E >= (E - 1)/E
    shows that.

    That the weights are those of this histogram is checked by working them out again, group by group.
    """
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)
    people = [int(n) for n in counts]

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, sum(people), len(people), len(people), failure)

    if not _LEAST_MONOTONE <= epsilon < float("inf"):
        return verdict(f"epsilon is not a finite number of at least {_LEAST_MONOTONE}")
    together = len(floors) == len(weights) == len(people) > 0 and 0 < len(near) <= len(people)
    if not together or min(people) < 0 or sum(people) >= 2**62:
        return verdict("the counts, the weights and the rule do not belong together")
    whole = [*near, *floors, *weights, unit, cap, factor]
    if not all(isinstance(number, int) for number in whole) or max(whole).bit_length() > 4096 or factor <= 2**40:
        return verdict("the rule or the weights are no whole numbers of a possible size, or nothing grows")
    if near[0] != unit or min(near) < 0 or max(near) > unit or cap < 0 or min(floors) < 1 or unit < 1:
        return verdict("the rule is not one of monotone weights")
    growth, h, least = Fraction(factor, 2**40), Fraction(1, 2**42), Fraction(1, min(floors))
    largest = (2**62 * unit + cap + max(floors)) // min(floors) + 2
    few_steps = 2**20 * (growth - 1) >= growth * largest.bit_length()
    if not few_steps or growth * (1 + h) * (1 + least) > (1 / (1 + h) - least) * bound:
        return verdict("the rule lets one person change the weights by more than e^epsilon")
    for x in range(len(people)):
        if _monotone_weight(people, x, near, cap, floors[x], factor) != weights[x]:
            return verdict(f"the weight of cell {x} is not the rule's")
    return verdict(None)


def _monotone_weight(people: list[int], x: int, near: Sequence[int], cap: int, floor: int, factor: int) -> int:
    """min over j of e[j] F, where the j people who matter most are gone, whole cells at a time; rounded down."""
    reach = range(max(0, x - len(near) + 1), min(len(people), x + len(near)))
    others = sorted((-near[abs(z - x)], people[z]) for z in reach if z != x and people[z] > 0)
    power, tail = 1 << 64, sum(-w * n for w, n in others)
    best = power * (near[0] * people[x] + floor + min(cap, tail))
    for w, n in [(0, people[x]), *others]:
        tail += w * n
        for _ in range(n):
            if power * floor >= best:
                return best >> 64
            power = power * factor >> 40
        best = min(best, power * (floor + min(cap, tail)))
    return best >> 64


def certify_bounded_range(epsilon: float, draws: int, total: float, delta: float, order: float) -> bool:
    """Whether draws whose log-ratios have a range of epsilon each cost at most ``total`` together, except with delta.

    Either they add up to no more, in fractions; or each is rho-zCDP with rho = epsilon^2/8, so that D of them have a
    Renyi divergence of at most a D rho for the ``order`` a > 1 (any will do), and

        a D rho + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1) <= total,

    in decimals of 60 digits, whose logarithms are correctly rounded; 1e-45 is more than the few roundings can hide.
    """
    if not (0 < epsilon < float("inf") and 0 < total < float("inf") and 0 < delta < 1 and draws >= 1 and order > 1):
        return False
    if draws * Fraction(epsilon) <= Fraction(total):
        return True
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        a, log = Decimal(order), -Decimal(delta).ln()
        renyi = a * draws * Decimal(epsilon) ** 2 / 8
        found = renyi + (log + (a - 1) * (1 - 1 / a).ln() - a.ln()) / (a - 1)
        return found + Decimal(10) ** -45 * (1 + renyi) <= Decimal(total)
