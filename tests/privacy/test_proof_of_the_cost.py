"""Step 3 of docs/proof-cost.md in decimals, as its words have it, against the check in whole numbers."""

import math
from decimal import Decimal, localcontext

import pytest

from equinoise.privacy.range_certificate import certify_bounded_range


def worst(e, rows, epsilon):
    """The largest f(t_l, l), and its l."""
    found = []
    for last in range(rows):
        if (rows - last) * e > epsilon:
            t = (epsilon + (last + 1) * e) / (rows + 1)
            chances = ((t.exp() - 1) / (e.exp() - 1), (1 - (-t).exp()) / (1 - (-e).exp()))
            p, q = (sum(math.comb(rows, i) * c**i * (1 - c) ** (rows - i) for i in range(last + 1)) for c in chances)
            found.append((p - epsilon.exp() * q, last))
    return max(found)


@pytest.mark.parametrize(
    ("e", "rows", "epsilon", "last"),
    [(3.0, 5, 0.1, 2), (0.5, 2, 0.001, 0), (4.0, 9, 0.01, 4), (1.0, 12, 2.0, 4), (0.05, 60, 1.0, 16), (8.0, 3, 9.0, 0)],
)
def test_the_check_in_whole_numbers_is_the_formula_of_the_proof(e, rows, epsilon, last):
    with localcontext(prec=60):
        delta, where = worst(Decimal(e), rows, Decimal(epsilon))
    assert where == last
    assert certify_bounded_range(e, rows, epsilon, float(delta) * (1 + 1e-14), 2.0)
    assert not certify_bounded_range(e, rows, epsilon, float(delta) * (1 - 1e-14), 2.0)
