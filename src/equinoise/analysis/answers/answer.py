"""One answer about people, from public noisy counts: an estimate with its interval, and what the interval contains."""

from __future__ import annotations

from dataclasses import dataclass

from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.errors import check, is_number

NOISE = "the privacy noise"
PEOPLE = "the sampling of people from the population"
SEVERAL = "that rows of one person go together"
NOTHING = "nothing but the bounds: the noise hides the answer"

LEAST_LEVEL, MOST_LEVEL = 0.5, 0.9999


@dataclass(frozen=True)
class Answer:
    """An estimate with its interval, in the column's own unit; of dates days since the axis' day zero.

    ``estimate`` is None where nobody can be told from the noise; the interval is then as wide as the schema allows.
    ``contains`` has what the interval makes room for, each a few words. ``p_value`` belongs to differences: how likely
    data are that are at least as far from no difference, if there is none. ``group`` is the part of the people that
    the answer is about, in words, or None for all.
    """

    question: str
    group: str | None
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    contains: tuple[str, ...]
    p_value: float | None = None


def check_level(level: float) -> float:
    """The level of an interval, a share; refuses what is none."""
    fits = is_number(level) and LEAST_LEVEL <= level <= MOST_LEVEL
    check(fits, "level", f"a number from {LEAST_LEVEL:g} to {MOST_LEVEL:g}", level)
    return float(level)


def contents(table: NoisyTable, *columns: str, bins: str | None = None) -> tuple[str, ...]:
    """What an interval about the population contains, for these columns."""
    axes = [table.axes[table.number_of(column)] for column in columns]
    clipped = [axis.name for axis in axes if axis.kind == "number" and axis.outside == "clip"]
    return (
        NOISE,
        PEOPLE,
        *([SEVERAL] if table.law.rows > 1 else []),
        *([bins] if bins else []),
        *(f"values of {name!r} outside the bounds, as the nearer bound" for name in clipped),
    )
