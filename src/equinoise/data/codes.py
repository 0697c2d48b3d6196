"""Codes of rows that fall in no bin: what is wrong with their value. Bins are codes from 0 on."""

from __future__ import annotations

from typing import Any

MISSING, INFINITE, BELOW, ABOVE, TEXT, UNKNOWN = -1, -2, -3, -4, -5, -6


def is_absent(value: Any) -> bool:
    """Whether there is no value: nothing, or what is not equal to itself (NaN, NaT, pandas' NA)."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124
