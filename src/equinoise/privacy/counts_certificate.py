"""The exact check of noisy counts: fractions only, and nothing of the package that made them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from equinoise.privacy.certificate import Certificate, exp_lower_bound
from equinoise.privacy.certificate_rows import MOST

_MOST_CELLS = 2**24


def certify_noisy_counts(
    sizes: Sequence[int],
    rows_per_person: int,
    scale: float,
    noisy: Sequence[int],
    weights: Sequence[int],
    cells: int,
    epsilon: float,
) -> Certificate:
    """Check, for every dataset at once, that noisy counts of discrete Laplace noise cost at most epsilon.

    One person's rows, at most m = ``rows_per_person`` (``sizes`` has how many everyone has), move the counts by at most
    m in L1. Noise k has probability proportional to a^|k|, a = e^(-1/scale), in every cell. By the triangle inequality
    the probability of any noisy table changes by at most a^(-m) = e^(m/scale): so m/scale <= epsilon is enough,
    whatever the counts, and everything that is made of the noisy counts costs nothing more. ``weights``, from which
    rows are drawn, must be whole numbers from 1 on, one for every cell, so that every cell can come out.
    """
    bound = exp_lower_bound(epsilon) if 0 < epsilon < float("inf") else Fraction(1)

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, len(sizes), 1, cells, failure)

    if not (
        isinstance(rows_per_person, int) and rows_per_person >= 1 and all(1 <= n <= rows_per_person for n in sizes)
    ):
        return verdict("somebody has more rows than a person may have")
    if not (0 < scale < float("inf") and 0 < epsilon < float("inf")):
        return verdict("the noise has no scale, or there is no epsilon")
    if Fraction(rows_per_person) > Fraction(scale) * Fraction(epsilon):
        return verdict("the noise is too small for epsilon")
    if not (1 <= cells <= _MOST_CELLS and len(noisy) == len(weights) == cells):
        return verdict("the noisy counts, the weights and the grid do not belong together")
    if min(weights) < 1 or sum(weights) >= MOST:
        return verdict("the weights are no whole numbers of a possible size")
    return verdict(None)
