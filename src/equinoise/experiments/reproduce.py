"""Work through the experiments and write down what came out: a page, tables, pictures and a manifest."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput, EquinoiseError
from equinoise.experiments import games, regression
from equinoise.experiments.datasets import EXTRA_PACKAGES, LOADERS, Dataset, import_extra
from equinoise.experiments.goals import Goal
from equinoise.experiments.markdown import markdown
from equinoise.experiments.parts import FinishedPart, Part, finish
from equinoise.experiments.report import make_report
from equinoise.experiments.settings import QUICK, WHOLE, Settings
from equinoise.experiments.tables import csv_of
from equinoise.experiments.verdict import PaperScales, kl_header, verdict
from equinoise.formatting import join_or
from equinoise.versions import versions

ALL = "all"
MANIFEST, PAGE, TEXT, TABLES, PICTURES, PARTS = (
    "manifest.json", "reproduction.html", "reproduction.md", "tables", "pictures", "parts",
)  # fmt: skip

Watch = Callable[[int, int, Part, str], None]
"""Takes how many parts are done, of how many, the one under way and what it is doing."""


@dataclass(frozen=True)
class Reproduction:
    """Where it is, what was reached, what the paper's scales cannot reach, KL on the heights, and how much of it had
    been done before."""

    out: Path
    goals: list[Goal]
    impossible: list[PaperScales]
    kl: list[list[str]]
    left_out: dict[str, str]
    parts: int
    reused: int
    seconds: float

    @property
    def verdict(self) -> list[str]:
        """What was reached with which scales, in sentences."""
        return verdict(self.goals, self.impossible)

    def to_json(self) -> dict[str, Any]:
        """What ``reproduce --json`` prints."""
        return {
            **vars(self),
            "out": str(self.out),
            "page": str(self.out / PAGE),
            "goals": [{**vars(goal), "sentence": goal.sentence()} for goal in self.goals],
            "reached": all(goal.reached for goal in self.goals),
            "impossible": [vars(one) for one in self.impossible],
            "kl": [dict(zip(kl_header(), line, strict=True)) for line in self.kl],
            "verdict": self.verdict,
            "seconds": round(self.seconds, 1),
        }


def reproduce(
    names: Sequence[str] = (),
    *,
    out: str | Path,
    quick: bool = False,
    settings: Settings | None = None,
    watch: Watch = lambda done, parts, part, note: None,
) -> Reproduction:
    """Do the experiments, or what is left of them, and write them down in a folder.

    Every part that is finished is stored there; a run that was stopped goes on where it was.
    """
    experiments, out = check_names(names), Path(out)
    settings = settings or (QUICK if quick else WHOLE)
    for module in EXTRA_PACKAGES:
        import_extra(module)  # refuses before any work
    check_folder(out)
    began, started = time.perf_counter(), datetime.now(UTC)
    datasets = [load() for load in dict.fromkeys(chain.from_iterable(LOADERS[name] for name in experiments))]
    plan = list(plan_parts(experiments, datasets, settings))
    finished, left_out = work_through(plan, out / PARTS, watch)
    results = [part.result for part in finished.values()]
    report = make_report(datasets, results, left_out, settings, quick=quick)
    files = {f"{TABLES}/{name}.csv": content for name, content in report.tables.items()}
    for figure in report.page.figures:
        files[f"{PICTURES}/{figure.name}.svg"] = figure.svg_without_caption.encode()
        files[f"{TABLES}/{figure.name}.csv"] = csv_of(figure.header, figure.rows)
    files[TEXT] = markdown(report.page, PICTURES).encode()
    files[PAGE] = report.page.html().encode()
    seconds = time.perf_counter() - began
    manifest = {
        "experiments": experiments, "quick": quick, "settings": asdict(settings),
        "versions": versions(*EXTRA_PACKAGES.values()),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "data": {data.name: data.to_json() for data in datasets},
        "started": started.isoformat(timespec="seconds"), "seconds": round(seconds, 1),
        "parts": {
            name: {"seconds": part.seconds, "reused": part.reused, "file": f"{PARTS}/{part.file}"}
            for name, part in finished.items()
        },
        "left_out": left_out, "goals": [vars(goal) for goal in report.goals],
        "impossible": [vars(one) for one in report.impossible], "files": sorted(files),
    }  # fmt: skip
    files[MANIFEST] = (json.dumps(manifest, indent=1, allow_nan=False) + "\n").encode()
    for name, content in files.items():
        write_whole(out / name, [content], mode=0o644, force=True)
    reused = sum(part.reused for part in finished.values())
    return Reproduction(out, report.goals, report.impossible, report.kl, left_out, len(plan), reused, seconds)


def check_names(names: Sequence[str]) -> list[str]:
    """The experiments of these names, each once, in their order; all of them if there is no name."""
    unknown = next((name for name in names if name not in LOADERS and name != ALL), None)
    if unknown is not None:
        raise BadInput(f"There is no experiment {unknown[:60]!r}. Choose {join_or([*LOADERS, ALL])}.")
    return [name for name in LOADERS if name in names or ALL in names or not names]


def check_folder(out: Path) -> None:
    """Refuse a folder that is not ours to write in, and make those inside."""
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


def plan_parts(experiments: Iterable[str], datasets: Sequence[Dataset], settings: Settings) -> Iterator[Part]:
    """All parts, experiment by experiment."""
    for name in experiments:
        for data in datasets:
            if name == "regression" and data.regression is not None:
                yield from regression.parts(data, settings)
            elif data.experiment == name:
                yield from games.parts(data, settings)


def work_through(
    plan: Sequence[Part], folder: Path, watch: Watch
) -> tuple[dict[str, FinishedPart], dict[str, str]]:  # fmt: skip
    """The finished parts by name, and why others could not be done."""
    finished: dict[str, FinishedPart] = {}
    left_out: dict[str, str] = {}
    for number, part in enumerate(plan):
        report_progress = partial(watch, number, len(plan), part)
        report_progress("")
        try:
            finished[part.name] = finish(part, folder, report_progress)
        except EquinoiseError as error:
            left_out[part.name] = str(error)
    return finished, left_out
