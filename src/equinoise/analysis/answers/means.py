"""To come."""

from __future__ import annotations

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.data.category_axis import Category


def mean(table: NoisyTable, column: str, level: float = 0.95) -> Answer:
    """To come."""
    raise NotImplementedError


def difference(
    table: NoisyTable, column: str, by: str, first: Category | None, second: Category | None, level: float = 0.95
) -> Answer:
    """To come."""
    raise NotImplementedError
