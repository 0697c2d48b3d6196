"""The exact check of a model of many columns: whole numbers only, and nothing of the package that made it.

It does not prove that the model is private: that is OpenDP's, whose noise and choices cannot be worked out again. It
checks what it can: that the loss which was proven there is within what was asked for, that nobody has more rows than
the proof takes them to have, and that every row that the schema allows can come out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from equinoise.privacy.certificate import Certificate, exp_lower_bound

_MOST_WEIGHTS = 2**24
_MOST_TOTAL = 2**62


def certify_model(
    sizes: Sequence[int],
    rows_per_person: int,
    bins: Sequence[int],
    parents: Sequence[tuple[int, Sequence[int]]],
    tables: Sequence[Sequence[int]],
    total: int,
    proven: float,
    epsilon: float,
    delta: float,
) -> Certificate:
    """Check conditional tables of whole weights, by which rows are drawn column by column.

    ``sizes`` are everyone's rows, ``bins`` those of every column. ``parents`` has the columns in the order that they
    are drawn in, each with those that it depends on, and ``tables`` the weights of each (flat, the column's own bins
    running fastest), of which every row must sum to ``total``. Weights from 1 on let every row come out.
    """
    usable = 0 < epsilon < math.inf and 0 < proven < math.inf and 0 <= delta < 1
    bound = exp_lower_bound(epsilon) if usable else Fraction(1)

    def verdict(failure: str | None) -> Certificate:
        return Certificate(failure is None, epsilon, bound, len(sizes), 1, sum(map(len, tables)), failure)

    if not usable:
        return verdict("there is no epsilon, or no delta")
    if Fraction(proven) > Fraction(epsilon):
        return verdict("what was proven is more than epsilon")
    if not (isinstance(rows_per_person, int) and all(1 <= n <= rows_per_person for n in sizes)):
        return verdict("somebody has more rows than a person may have")
    if len(parents) != len(tables) or sorted(column for column, _ in parents) != [*range(len(bins))]:
        return verdict("not every column is drawn once")
    if not 1 <= total < _MOST_TOTAL or sum(map(len, tables)) > _MOST_WEIGHTS:
        return verdict("the weights are no whole numbers of a possible size")
    drawn: set[int] = set()
    for (column, before), weights in zip(parents, tables, strict=True):
        if len(set(before)) != len(before) or not set(before) <= drawn:
            return verdict("a column depends on one that is drawn after it")
        drawn.add(column)
        rows = math.prod(bins[one] for one in before)
        if len(weights) != rows * bins[column] or rows * total > _MOST_TOTAL:
            return verdict("the tables and the columns do not belong together")
        if not all(isinstance(weight, int) for weight in weights) or min(weights) < 1:
            return verdict("a weight is no whole number from 1 on: some row could not come out")
        each = (sum(weights[first : first + bins[column]]) for first in range(0, len(weights), bins[column]))
        if any(row != total for row in each):
            return verdict("the weights of a column do not sum to what they are drawn from")
    return verdict(None)
