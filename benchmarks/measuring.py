"""What the parts of `make bench` share: timing side by side, goals, pages and the machine's description."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("equinoise", "numpy", "numba", "polars", "duckdb", "pyarrow", "opendp", "highspy", "pygad")


@dataclass(frozen=True)
class Goal:
    """What was to be reached, what was measured, and whether that is enough."""

    what: str
    goal: str
    measured: str
    reached: bool


@dataclass(frozen=True)
class Part:
    """One part's section of the page. ``pages`` are further ones by their file name, linked from it."""

    title: str
    lines: list[str]
    goals: list[Goal]
    pages: dict[str, str] = field(default_factory=dict)


def at_least(what: str, least: float, measured: float) -> Goal:
    """A ratio that must not be smaller."""
    return Goal(what, f"at least {least:,g} times", f"{measured:,.0f} times", measured >= least)


def at_most(what: str, most: float, measured: float, unit: str = "times") -> Goal:
    """A figure that must not be larger."""
    shown = f"{measured:,.2f}" if measured < 100 else f"{measured:,.0f}"
    return Goal(what, f"at most {most:,g} {unit}".rstrip(), f"{shown} {unit}".rstrip(), measured <= most)


def holds(what: str, found: bool) -> Goal:
    """Something that must simply be so."""
    return Goal(what, "yes", "yes" if found else "no", found)


def side_by_side(
    sides: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[dict[str, float], dict[str, Any]]:
    """Median seconds of every side, and its last result. The sides take turns, so that a busy moment meets them all."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    results = {}
    for _ in range(repeats):
        for name, action in sides.items():
            began = clock()
            results[name] = action()
            times[name].append(clock() - began)
    return {name: statistics.median(found) for name, found in times.items()}, results


def table(header: list[str], rows: list[list[Any]]) -> list[str]:
    """A table; all columns but the first are numbers."""
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    return ["", *("| " + " | ".join(map(str, cells)) + " |" for cells in (header, ruler, *rows))]


def note(text: str) -> None:
    """Progress, for whoever is waiting."""
    print(f"  {text}", file=sys.stderr, flush=True)


def machine() -> str:
    """Enough to know what kind of machine it was, and nothing about which."""
    packages = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return f"{_processor()}, {os.cpu_count()} cores, {_memory()}. Python {platform.python_version()}, {packages}."


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    found = _field(Path("/proc/cpuinfo"), "model name")
    return f"{platform.machine()} ({found})" if found and found != "unknown" else platform.machine()


def _memory() -> str:
    kibibytes = _field(Path("/proc/meminfo"), "MemTotal")
    return f"{int(kibibytes.split()[0]) / 2**20:.0f} GiB of memory" if kibibytes else "memory unknown"


def peak_memory() -> int:
    """The most memory that this process ever held, in bytes."""
    peak = _field(Path("/proc/self/status"), "VmHWM")  # of this process alone
    if peak:
        return int(peak.split()[0]) * 1024
    import resource  # elsewhere, of whatever started it, too

    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024


def _field(path: Path, name: str) -> str | None:
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)
