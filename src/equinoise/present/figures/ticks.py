"""Marks on logarithmic axes, few and at round numbers; and numbers in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def log_ticks(values: Iterable[float]) -> list[float]:
    """Powers of ten within the values' range and next to it; with few of them also their halves and fifths."""
    low, high = _range(values)
    decades = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    if len(decades) > 8:
        return decades[:: len(decades) // 6]
    return decades if len(decades) > 3 else _times(decades, (1, 2, 5))


def log_domain(values: Iterable[float]) -> list[float]:
    """The range with some room on either side."""
    low, high = _range(values)
    room = max((high / low) ** 0.06, 1.15)
    return [low / room, high * room]


def symlog_ticks(values: Iterable[float], unit: float) -> list[float]:
    """Zero, and round numbers from about one unit on."""
    _, high = _range([*values, unit])
    decades = [10.0**k for k in range(math.floor(math.log10(unit)), math.ceil(math.log10(high)) + 1)]
    return [0.0, *(tick for tick in _times(decades, (1, 3)) if unit / 3 <= tick <= 1.2 * high)]


def plain(value: float) -> str:
    """Three digits, and no powers of ten where people do without."""
    return f"{value:,.0f}" if 1000 <= value < 1e12 else f"{value:.3g}"


def plainly(ticks: Iterable[float]) -> str:
    """How marks are written, as D3 has it: likewise. Digits must be said: without, an axis finds 1e+3 short enough."""
    return ",.3~r" if all(tick == 0 or 1e-6 <= abs(tick) < 1e12 for tick in ticks) else ".3~g"


def _times(decades: Sequence[float], factors: Sequence[int]) -> list[float]:
    return [factor * decade for decade in decades for factor in factors]


def _range(values: Iterable[float]) -> tuple[float, float]:
    usable = [value for value in values if 0 < value < math.inf] or [1.0]
    return min(usable), max(usable)
