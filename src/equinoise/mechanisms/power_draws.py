"""Exact draws from weights that are whole numbers times powers of a fraction, however far apart the powers are.

The law has group i come out with probability proportional to weight[i] * ratio^exponent[i]. A uniform number U of
[0, 1) is drawn bit by bit, and the group is the one in whose share of the running total U falls. Powers are held
between whole numbers below and above; as long as these, or the bits of U so far, leave two groups possible, more bits
of both are worked out. So the law is exact, and the work nearly always ends with the first bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from equinoise.mechanisms.draws import RandomBytes

FIRST_BITS = 128


class Group(NamedTuple):
    """A ``weight``, and between which two ``low`` and ``high`` exponents all of it is."""

    weight: int
    low: int
    high: int


def draw_group(
    groups_down_to: Callable[[int], Sequence[Group]], ratio: Fraction, source: RandomBytes = os.urandom
) -> int:
    """The number of a group.

    ``groups_down_to(b)`` has the groups, the greatest exponent first, whose powers are not below 2^-b of the greatest
    one, each with one exponent, and then a last one for all others, whose exponents need only be known from above and
    below. For b large enough all groups are there, and the last one has one exponent as well; its number is -1.
    """
    bits, drawn = 0, 0
    wanted = FIRST_BITS
    while True:
        drawn = drawn << (wanted - bits) | int.from_bytes(source((wanted - bits) // 8), "little")
        bits = wanted
        groups = groups_down_to(bits)
        found = _group_of(drawn, bits, groups, ratio)
        if found is not None and (found < len(groups) - 1 or groups[-1].low == groups[-1].high):
            return found if found < len(groups) - 1 else -1
        wanted *= 2


def _group_of(drawn: int, bits: int, groups: Sequence[Group], ratio: Fraction) -> int | None:
    """The group in whose share of the total every number from drawn to drawn + 1, in units of 2^-bits, falls; None if
    that cannot be told yet."""
    powers = _powers([group.high for group in groups], ratio, 2 * bits)
    below = [group.weight * low for group, (low, _) in zip(groups, powers, strict=True)]
    above = [group.weight * high for group, (_, high) in zip(groups, powers, strict=True)]
    if groups[-1].low < groups[-1].high:
        below[-1] = 0
    lows, highs = list(accumulate(below)), list(accumulate(above))
    first, last = drawn * lows[-1] >> bits, -(-(drawn + 1) * highs[-1] >> bits)
    for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if first < high:  # no group before this one is possible
            return i if last <= low else None
    return None


def _powers(exponents: Sequence[int], ratio: Fraction, bits: int) -> list[tuple[int, int]]:
    """Whole numbers below and above 2^bits * ratio^(exponent - the first exponent); exponents descend."""
    found, low, high, at = [], 1 << bits, 1 << bits, exponents[0]
    for exponent in exponents:
        for step in _steps(at - exponent):
            if low > 0 or high > 1:
                up, down = ratio.numerator**step, ratio.denominator**step
                low, high = low * down // up, -(-high * down // up)
        found.append((low, high))
        at = exponent
    return found


MOST_STEP = 64


def _steps(length: int) -> list[int]:
    """A length in steps that are not too long to be worked out at once."""
    whole, rest = divmod(length, MOST_STEP)
    return [MOST_STEP] * whole + ([rest] if rest else [])
