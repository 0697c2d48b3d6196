"""`make bench`: every figure is measured side by side in one run and written to benchmarks/results.md."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.progress import track

import equinoise
from benchmarks import plain
from benchmarks.heights import height_game, heights
from equinoise.solvers.best_response import rounds
from equinoise.solvers.optimal import optimal


def seconds(action, repeats):
    """Median time of an action, and its last result."""
    times, result = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - began)
    return statistics.median(times), result


def to_equilibrium(game):
    *_, last = rounds(game, game.largest_scale_profile())
    return last


def process(*command):
    subprocess.run(command, check=True, capture_output=True)


def solver_rows():
    game = height_game("paper", 1.0)
    to_equilibrium(game)  # compiled before anything is timed
    fast, last = seconds(lambda: to_equilibrium(game), 15)
    yield "best response, 1,844 people, paper's scales, epsilon 1", fast, "1"
    slow, (profile, number) = seconds(lambda: plain.best_response_dynamics(game, game.largest_scale_profile()), 1)
    same = np.array_equal(profile, last.profile) and number == last.number
    yield (
        f"plain transcription, same start and order (same equilibrium: {same})",
        slow,
        f"{slow / fast:,.0f} times slower",
    )
    wide = height_game("wide", 1.0)
    proving, found = seconds(lambda: optimal(wide), 1)
    yield (
        f"optimal, wide scales, epsilon 1 (proven: {found.settings['proven']}, KL {found.kl:.4f})",
        proving,
        f"{slow / proving:.1f} times faster than the plain transcription",
    )
    for scales in ("paper", "wide"):
        few, many = height_game(scales, 1.0), height_game(scales, 1.0, 10**6)
        base, _ = seconds(lambda few=few: to_equilibrium(few), 15)
        large, last = seconds(lambda many=many: to_equilibrium(many), 5)
        checked = many.is_equilibrium(last.profile)
        yield f"best response, 1,844 people, {scales} scales (again, beside the next line)", base, "1"
        yield (
            f"the same histogram times one million (checked equilibrium: {checked})",
            large,
            f"{large / base:.1f} times",
        )


def draw_rows():
    mechanism = equinoise.optimize(heights(), epsilon=1, bounds=(163, 226), draws=10**9, restarts=1)
    drawing, _ = seconds(lambda: mechanism.sample(10**6), 5)
    numpy_time, _ = seconds(lambda: np.random.default_rng().laplace(size=10**6), 5)
    yield "NumPy's Laplace generator, a million values (neither exact nor secure)", numpy_time, "1"
    yield "exact draws, a million from the operating system's source", drawing, f"{drawing / numpy_time:.1f} times"


def process_rows():
    script = str(Path(sys.executable).with_name("equinoise"))
    bare, _ = seconds(lambda: process(sys.executable, "-c", "pass"), 21)
    helped, _ = seconds(lambda: process(script, "--help"), 21)
    yield "python -c pass", bare, "1"
    yield "equinoise --help", helped, f"{helped / bare:.1f} times"
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "heights.csv"
        rows.write_text("height\n" + "\n".join(str(h) for h in heights()) + "\n")
        command = [script, "optimize", str(rows), "--column", "height", "--bounds", "height", "163", "226"]
        command += ["--epsilon", "1", "--force", "--out", str(Path(folder) / "heights.eq")]
        process(*command)
        whole, _ = seconds(lambda: process(*command), 5)
    yield "equinoise optimize, 1,844 rows, wide scales, 8 restarts, whole process", whole, f"{whole / bare:.0f} times"


def main():
    sections = {"Solver": solver_rows, "Draws": draw_rows, "Processes": process_rows}
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Ratios within a section are measured side by side in one run; seconds are medians.",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Equinoise {equinoise.__version__}.",
    ]
    for title, section in track(sections.items(), description="Measuring", total=len(sections)):
        lines += ["", f"## {title}", "", "| what | seconds | ratio |", "| --- | ---: | --- |"]
        lines += [f"| {what} | {taken:.4g} | {ratio} |" for what, taken, ratio in section()]
    text = "\n".join(lines) + "\n"
    (Path(__file__).parent / "results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
