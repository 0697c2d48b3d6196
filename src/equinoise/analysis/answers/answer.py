"""One answer about people, from public noisy counts: an estimate with its interval, and what the interval contains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.data.axis import Axis
from equinoise.errors import check, is_number
from equinoise.formatting import join_and, three_digits

NOISE = "the privacy noise"
PEOPLE = "the sampling of people from the population"
SEVERAL = "that rows of one person go together"
NOTHING = "nothing but the bounds: the noise hides the answer"
CLIPPED = "values of "
"""How the words for values outside the bounds begin."""

LEAST_LEVEL, MOST_LEVEL = 0.5, 0.9999


@dataclass(frozen=True)
class Answer:
    """An estimate with its interval, in the column's own unit; of dates days since the axis' day zero.

    ``estimate`` is None where nobody can be told from the noise; the interval is then as wide as the schema allows.
    ``contains`` has what the interval makes room for, each a few words. ``p_value`` belongs to differences: how likely
    data are that are at least as far from no difference, if there is none. ``group`` is the part of the people that
    the answer is about, in words, or None for all. ``mostly`` is what more than half of the width of the interval comes
    from, as far as that is known: ``noise``, ``people`` (their sampling) or ``bins``.
    """

    question: str
    group: str | None
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    contains: tuple[str, ...]
    p_value: float | None = None
    mostly: str | None = None


def check_level(level: float) -> float:
    """The level of an interval, a share; refuses what is none."""
    fits = is_number(level) and LEAST_LEVEL <= level <= MOST_LEVEL
    check(fits, "level", f"a number from {LEAST_LEVEL:g} to {MOST_LEVEL:g}", level)
    return float(level)


def contents(table: NoisyTable, *columns: str, bins: str | None = None) -> tuple[str, ...]:
    """What an interval about the population contains, for these columns; ``bins``, what is taken of people within a
    bin."""
    axes = [axis for axis in (table.axes[table.number_of(column)] for column in columns) if isinstance(axis, Axis)]
    coarse = [f"{axis.name!r} is known only to bins of {bin_width(axis)}" for axis in axes if is_coarse(axis)]
    return (
        NOISE,
        PEOPLE,
        *([SEVERAL] if table.law.rows > 1 else []),
        *([f"the bins ({join_and(coarse)}, so {bins})"] if bins and coarse else []),
        *(clipping(axis) for axis in axes if axis.outside == "clip"),
    )


def is_coarse(axis: Axis) -> bool:
    """Whether a bin has more than one value."""
    return axis.step is None or bool((np.diff(axis.first_steps) > 1).any())


def bin_width(axis: Axis) -> str:
    """The width of a column's bins in words, of the widest if they differ."""
    widths = np.diff(np.clip(axis.edges(), axis.low, axis.high))
    if axis.step is not None:
        widths = np.diff(axis.first_steps) * axis.step
    most = float(widths.max())
    unit = " days" if axis.day_zero is not None else ""
    return f"{'up to ' * (most > 1.001 * float(widths.min()))}{three_digits(most)}{unit}"


def clipping(axis: Axis) -> str:
    """What became of values outside the bounds of a column."""
    low, high = (
        three_digits(end) if axis.day_zero is None else str(axis.to_value(int(end))) for end in (axis.low, axis.high)
    )
    return f"{CLIPPED}{axis.name!r} below {low} or above {high} count as {low} or {high}"
