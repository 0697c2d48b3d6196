"""The command that makes a mechanism again, as reports and the local page show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equinoise.formatting import format_number, shell_quote
from equinoise.settings import SETTINGS, option_of


def command_line(
    verb: str, source: str, columns: Mapping[str, tuple[float, float] | None], values: Mapping[str, Any], out: str
) -> str:
    """The command that makes a mechanism of columns (with their bounds, if public) by settings, as a shell reads it.

    Settings at their defaults are left out, and so are those that only Python can give.
    """
    words = ["equinoise", verb, source]
    words += [word for name in columns for word in ("--column", name)]
    for name, bounds in columns.items():
        words += [] if bounds is None else ["--bounds", name, *map(format_number, bounds)]
    for name, setting in SETTINGS.items():
        value = values.get(name)
        if name != "column" and verb in setting.commands and not isinstance(value, Mapping):
            words += [] if value is None or value == setting.default else _option_words(name, value)
    return shell_quote([*words, "--out", out])


def _option_words(name: str, value: Any) -> list[str]:
    if value is True:
        return [option_of(name)]
    parts = value if isinstance(value, list) else [value]
    return [option_of(name), ",".join(format_number(part) if isinstance(part, float) else str(part) for part in parts)]
