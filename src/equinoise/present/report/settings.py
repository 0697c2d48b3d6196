"""The settings of a mechanism, as rows of a table and as the command that makes it again."""

from __future__ import annotations

from typing import Any

from equinoise.command_line import command_line
from equinoise.formatting import format_number, printable
from equinoise.mechanisms.base import Mechanism
from equinoise.settings import SETTINGS


def settings_rows(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """The settings that the file tells; on a ``public`` page none that came from the data."""
    values = mechanism.settings
    found = [
        (setting.words, _as_text(values[name]))
        for name, setting in SETTINGS.items()
        if values.get(name) is not None and (name != "unit_rows" or values.get("unit") is not None)
    ]
    return [*found, *grid_rows(mechanism, public=public)]


def grid_rows(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """Bins; and bounds and padding, unless they were read off the data and the page is public."""
    found = []
    for axis in mechanism.grid.axes:
        found.append((f"bins of {axis.label}", f"{axis.bins:,}"))
        if mechanism.settings.get("public_bounds") or not public:
            found.append((f"bounds of {axis.label}", f"{format_number(axis.low)} to {format_number(axis.high)}"))
            found.append((f"padding of {axis.label}, either side", f"{axis.padding:.6g}"))
    return found


def command(mechanism: Mechanism) -> str:
    """The command that makes a mechanism again, given the data."""
    axes, public = mechanism.grid.axes, mechanism.settings.get("public_bounds")
    columns = {axis.name: (axis.low, axis.high) if public else None for axis in axes}
    base = None if mechanism.base is None else "BASE"
    values = {**mechanism.settings, "bins": axes[0].bins, "base": base}
    verb = "synthesize" if mechanism.differentially_private else "optimize"
    return command_line(verb, "DATA", columns, values, "FILE.eq")


def command_gaps(mechanism: Mechanism) -> list[str]:
    """Sentences about what the command leaves open."""
    settings, found = mechanism.settings, []
    if settings.get("own_start"):
        found.append("The profile to start from was given in Python (start=) and is not kept.")
    if isinstance(settings.get("scales"), dict):
        found.append("The scales of every column were given in Python (scales=), as listed above.")
    if "epsilon" not in settings:
        found.append("This file does not tell all of its settings: it was made by an earlier version, or by hand.")
    if not settings.get("public_bounds"):
        found.append(
            "Bounds were read off the data, of all columns or of some: --bounds that were given are not kept apart."
        )
    if settings.get("unit") is None:
        found.append("One row was taken as one person.")
    return found


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list):
        return ", ".join(_as_text(part) for part in value)
    if isinstance(value, dict):
        return "; ".join(f"{printable(name)}: {_as_text(part)}" for name, part in value.items())
    return printable(str(value))
