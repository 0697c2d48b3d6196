"""What was asked for, as a table and as a command that asks for it again; and the versions at work now."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from equinoise import __version__
from equinoise.formatting import format_number, quoted, visible
from equinoise.mechanisms.base import Mechanism

WORDS = {
    "public_bounds": "bounds are public",
    "column": "column",
    "unit": "rows of one person share",
    "unit_rows": "rows of a person that count",
    "epsilon": "epsilon asked for",
    "delta": "delta",
    "draws": "draws allowed",
    "renyi": "Renyi order",
    "noise": "family of noise",
    "scales": "scales on offer",
    "per_axis": "a scale for every column",
    "utility": "closeness is measured by",
    "solver": "solver",
    "time_limit": "time limit of the solver (s)",
    "generations": "generations of the solver",
    "restarts": "restarts of best response",
    "seed": "seed of the solver",
    "own_start": "solved from a start of one's own",
    "missing": "missing values",
    "outside": "values outside the bounds",
    "padding_epsilon": "epsilon of the padding",
    "percentile": "percentile of the padding",
}
DEFAULTS: dict[str, Any] = {
    "delta": 0.0, "draws": 1, "noise": "laplace", "scales": "wide", "utility": "kl",
    "solver": "best-response", "seed": 0, "missing": "refuse", "outside": "refuse", "padding_epsilon": 1.0,
    "percentile": 0.9, "unit_rows": "all",
}  # fmt: skip
OPTIONS = ("epsilon", "delta", "draws", "renyi", "noise", "scales", "utility", "solver", "time_limit",
           "generations", "restarts", "seed", "missing", "outside", "unit", "unit_rows", "padding_epsilon",
           "percentile")  # fmt: skip
PACKAGES = ("numpy", "numba", "polars", "highspy", "pygad", "altair", "vl-convert-python")


def asked(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """The settings that the file tells; on a ``public`` page none that came from the data."""
    settings = mechanism.settings
    found = [
        (words, _said(settings[name]))
        for name, words in WORDS.items()
        if settings.get(name) is not None and (name != "unit_rows" or settings.get("unit") is not None)
    ]
    return [*found, *grid(mechanism, public=public)]


def grid(mechanism: Mechanism, *, public: bool) -> list[tuple[str, str]]:
    """Bins; and bounds and padding, unless they were read off the data and the page is public."""
    given = bool(mechanism.settings.get("public_bounds"))
    found = []
    for axis in mechanism.grid.axes:
        found.append((f"bins of {axis.label}", f"{axis.bins:,}"))
        if given or not public:
            found.append((f"bounds of {axis.label}", f"{format_number(axis.low)} to {format_number(axis.high)}"))
            found.append((f"padding of {axis.label}, either side", f"{axis.padding:.6g}"))
    return found


def command(mechanism: Mechanism) -> str:
    """What asks for the same again, given the data; settings at their defaults are left out."""
    settings = mechanism.settings
    parts = ["equinoise", "synthesize" if mechanism.differentially_private else "optimize", "DATA"]
    for axis in mechanism.grid.axes:
        parts += ["--column", axis.name]
        if settings.get("public_bounds"):
            parts += ["--bounds", axis.name, format_number(axis.low), format_number(axis.high)]
    if mechanism.grid.axes[0].bins != 101:
        parts += ["--bins", str(mechanism.grid.axes[0].bins)]
    for name in OPTIONS:
        value = settings.get(name)
        if value is not None and value != DEFAULTS.get(name) and not isinstance(value, dict):
            parts += [f"--{name.replace('_', '-')}", _option(value)]
    if settings.get("per_axis"):
        parts.append("--scale-per-column")
    if mechanism.base is not None:
        parts += ["--base", "BASE"]
    return quoted([*parts, "--out", "FILE.eq"])


def cannot_say(mechanism: Mechanism) -> list[str]:
    """What the command leaves open."""
    settings, said = mechanism.settings, []
    if settings.get("own_start"):
        said.append("The profile to start from was given in Python (start=) and is not kept.")
    if isinstance(settings.get("scales"), dict):
        said.append("The scales of every column were given in Python (scales=), as listed above.")
    if "epsilon" not in settings:
        said.append("This file does not tell all of its settings: it was made by an earlier version, or by hand.")
    if not settings.get("public_bounds"):
        said.append(
            "Bounds were read off the data, of all columns or of some: --bounds that were given are not kept apart."
        )
    if settings.get("unit") is None:
        said.append("One row was taken as one person.")
    return said


def versions() -> list[tuple[str, str]]:
    """Of everything that decides what comes out, as installed now."""
    found = [("equinoise", __version__), ("Python", platform.python_version()), ("machine", platform.machine())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:  # an installation without metadata
            found.append((package, "unknown"))
    return found


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list):
        return ", ".join(_said(part) for part in value)
    if isinstance(value, dict):
        return "; ".join(f"{visible(name)}: {_said(part)}" for name, part in value.items())
    return visible(str(value))


def _option(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_option(part) for part in value)
    return format_number(value) if isinstance(value, float) else str(value)
