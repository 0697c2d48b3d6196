"""To come."""

from __future__ import annotations

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.noisy_table import NoisyTable


def correlation(table: NoisyTable, a: str, b: str, level: float = 0.95) -> Answer:
    """To come."""
    raise NotImplementedError
