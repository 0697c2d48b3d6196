"""To come."""

from __future__ import annotations

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.data.category_axis import Category


def share(table: NoisyTable, column: str, category: Category | None, level: float = 0.95) -> Answer:
    """To come."""
    raise NotImplementedError
