"""The exact check of what many rows of one range cost together: whole numbers, fractions and decimals of 60 digits.

It argues over all datasets and sees nothing but public numbers. It shares no arithmetic with the floating point that
chooses epsilon of a row (:mod:`equinoise.privacy.bounded_range`).
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

from equinoise.privacy.certificate import DIGITS, exp_lower_bound

MOST_COMPOSED = 500
"""More draws are charged by zCDP: the time of composing them grows faster than their number."""

SMALLEST, LARGEST = 1e-6, 32.0
"""A draw of a smaller epsilon, or a larger one of a draw or of all, is not composed: of no use, or hardly a promise."""

_BITS = 192
_ENOUGH = 80


def certify_bounded_range(epsilon: float, draws: int, total: float, delta: float, order: float) -> bool:
    """Whether draws whose log-ratios have a range of epsilon each cost at most ``total`` together, except with delta.

    One of three proofs is enough. They add up to no more, in fractions. Or each is rho-zCDP with rho = epsilon^2/8, so
    that D of them have a Renyi divergence of at most a D rho for the ``order`` a (any from 1.0001 on), and

        a D rho + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a) / (a - 1) <= total,

    in decimals of 60 digits, whose logarithms are correctly rounded; 1e-45 is more than the few roundings can hide. Or
    the composition of the worst pair of such draws is within total and delta: see :func:`_composed_within`.
    """
    if not (0 < epsilon < math.inf and 0 < total < math.inf and 0 < delta < 1 and draws >= 1 and order > 1):
        return False
    if draws * Fraction(epsilon) <= Fraction(total):
        return True
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        a, log = Decimal(order), -Decimal(delta).ln()
        renyi = a * draws * Decimal(epsilon) ** 2 / 8
        found = renyi + (log + (a - 1) * (1 - 1 / a).ln() - a.ln()) / (a - 1)
        if found + Decimal(10) ** -45 * (1 + renyi) <= Decimal(total):
            return True
    if draws > MOST_COMPOSED or epsilon < SMALLEST or max(epsilon, total) > LARGEST:
        return False
    return _composed_within(epsilon, draws, total, delta)


def _composed_within(epsilon: float, draws: int, total: float, delta: float) -> bool:
    """Whether the worst pair of draws is within total and delta, in whole numbers.

    Let k draws come from P or all from Q, where ln P/Q lies in [t - e, t]; t is within [0, e], as both sum to one. P
    and Q can be made, at random, from two outcomes whose log-ratios are t and t - e, as every (P(x), Q(x)) is a sum of
    multiples of theirs, none negative, which sum to one over all x. So no pair costs more than this one, nor do k draws
    of it, nor those of Q held against P (then t is e - t). The second outcome has probability

        a = (e^t - 1)/(e^e - 1) under P,    b = (1 - e^-t)/(1 - e^-e) under Q,

    and i of it lose k t - i e in all. So the delta of E = e^total is the largest f(t, l), over t and over l < k, of

        f(t, l) = P(at most l of the second) - E Q(at most l of the second),

    as the terms with a loss above total are those of the smallest i. With a = b e^(t-e), 1 - a = (1 - b) e^t and
    a' = b' e^(2t-e), the derivative of f(t, l) in t is a positive number times E - e^((k+1) t - (l+1) e): f rises up
    to t = (total + (l + 1) e)/(k + 1) and falls from there on. Where this t is e or more, f is at most 0. For every
    other l, f is bounded there: a from below and b from above, then P upwards, E and Q downwards.
    """
    one, e, most = 1 << _BITS, Fraction(epsilon), Fraction(total)
    factor, allowed = exp_lower_bound(most), Fraction(delta)
    e_low, e_high = exp_lower_bound(e), exp_upper_bound(e)
    step, start = e / (draws + 1), (most + e) / (draws + 1)
    low, high = _down(exp_lower_bound(start)), _up(exp_upper_bound(start))
    step_low, step_high = _down(exp_lower_bound(step)), _up(exp_upper_bound(step))
    for last in range(draws):
        if (draws - last) * e <= most:
            break
        a = _down((Fraction(low, one) - 1) / (e_high - 1))
        b = min(_up((1 - Fraction(one, high)) * e_low / (e_low - 1)), one)
        if _tail(draws, last, a, up=True) - factor * _tail(draws, last, b, up=False) > allowed:
            return False
        low, high = low * step_low >> _BITS, -(-high * step_high >> _BITS)
    return True


def _tail(draws: int, most: int, chance: int, *, up: bool) -> Fraction:
    """A bound on the probability of at most ``most`` hits, fewer than there are draws, of chance/2^192 each.

    From the largest number of hits downwards, each term by the one before, rounded towards the side of the bound and
    relative to the first. Terms fall ever faster, so that all that are left are less than one that is half of the one
    before or less; those of a lower bound may be left out.
    """
    one = 1 << _BITS
    if not 0 < chance < one:
        return Fraction(int(chance <= 0))
    (hits, shift), (rest, other) = _power(chance, most, up), _power(one - chance, draws - most, up)
    term, shift = _short(math.comb(draws, most) * hits * rest, shift + other, up)
    total = term
    for i in range(most, 0, -1):
        top, bottom = term * i * (one - chance), (draws - i + 1) * chance
        halved, term = 2 * i * (one - chance) <= bottom, -(-top // bottom) if up else top // bottom
        total += term
        if halved and term << _ENOUGH < total:
            total += term * up
            break
    return Fraction(total << max(-shift, 0), 1 << max(shift, 0))


def _power(chance: int, times: int, up: bool) -> tuple[int, int]:
    """Whole numbers m and s, m/2^s a bound on (chance/2^192)^times."""
    found, shift = 1, 0
    for bit in f"{times:b}":
        found, shift = _short(found * found, 2 * shift, up)
        if bit == "1":
            found, shift = _short(found * chance, shift + _BITS, up)
    return found, shift


def _short(number: int, shift: int, up: bool) -> tuple[int, int]:
    """A number over 2^shift with no more than 192 binary digits."""
    drop = max(number.bit_length() - _BITS, 0)
    return -(-number >> drop) if up else number >> drop, shift - drop


def exp_upper_bound(value: Fraction) -> Fraction:
    """A fraction at least e^value, for a value of 0 or more, within a relative 2^-110 of it.

    With z = value / 2^h below 1/2^8, what is left of the series of e^z after a term is less than that term, and every
    rounding here is upwards.
    """
    halvings = 8 + int(value).bit_length()
    z = term = _up(value / 2**halvings)
    total, i = (1 << _BITS) + z, 1
    while term > 1:
        i += 1
        term = -(-term * z // (i << _BITS))
        total += term
    total += term
    for _ in range(halvings):
        total = -(-total * total >> _BITS)
    return Fraction(total, 1 << _BITS)


def _down(value: Fraction) -> int:
    return (value.numerator << _BITS) // value.denominator


def _up(value: Fraction) -> int:
    return -((-value.numerator << _BITS) // value.denominator)
