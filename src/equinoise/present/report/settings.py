"""The settings of a mechanism, as rows of a table and as the command that makes it again."""

from __future__ import annotations

from typing import Any

from equinoise.data.grid import Axis
from equinoise.formatting import format_number, printable
from equinoise.mechanisms.base import Mechanism
from equinoise.present.command_line import command_line
from equinoise.settings import SETTINGS


def settings_rows(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """The settings that the file tells, if the verb takes them or no command does; on a ``public`` page none that came
    from the data."""
    values, verb = mechanism.settings, _verb(mechanism)
    found = [
        (setting.words, _as_text(values[name]))
        for name, setting in SETTINGS.items()
        if values.get(name) is not None
        and (not setting.commands or verb in setting.commands)
        and (name not in {"unit_rows", "rows_per_person"} or values.get("unit") is not None)
    ]
    return [*found, *grid_rows(mechanism, public=public)]


def grid_rows(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """The schema, column by column; bounds and padding, unless they were read off the data and the page is public."""
    found = []
    for axis in mechanism.grid.axes:
        found += [(f"missing values of {axis.label}", axis.missing), (f"values outside, of {axis.label}", axis.outside)]
        if not isinstance(axis, Axis):
            names = [printable(axis.bin_label(number)) for number in range(axis.bins)]
            found.append((f"categories of {axis.label}", ", ".join(names)))
            continue
        found.append((f"bins of {axis.label}", f"{axis.bins:,}"))
        if axis.step is not None:
            found.append((f"step of {axis.label}", format_number(axis.step)))
        if mechanism.settings.get("public_bounds") or not public:
            found.append((f"bounds of {axis.label}", f"{axis.value_label(axis.low)} to {axis.value_label(axis.high)}"))
            if axis.padding and axis.step is None:
                found.append((f"padding of {axis.label}, either side", f"{axis.padding:.6g}"))
    return found


def command(mechanism: Mechanism) -> str:
    """The command with a mechanism's settings, given the data: of the game it makes the same one again, with
    differential privacy another one."""
    values = {**mechanism.settings, "base": None if mechanism.base is None else "BASE"}
    return command_line(_verb(mechanism), "DATA", mechanism.schema, values, "FILE.eq")


def _verb(mechanism: Mechanism) -> str:
    return "synthesize" if mechanism.differentially_private else "optimize"


def what_the_command_makes(mechanism: Mechanism) -> str:
    """Whether the command makes this mechanism or another one, in a sentence."""
    if mechanism.differentially_private:
        return (
            "With the same data, this command makes another release with the same settings: its noise and its rows are "
            "drawn anew, which costs the same people the epsilon above again."
        )
    return (
        "With the same data, versions and machine, this command makes the same mechanism again (unless a time limit "
        "ended the solver's work)."
    )


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
    if settings.get("bounds_epsilon") is not None:
        cost = format_number(settings["bounds_epsilon"])
        found.append(f"Finding the bounds cost epsilon {cost} besides, which the command does not tell.")
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
