"""`make bench`: every figure is measured side by side in one run and written to benchmarks/results.md.

`python -m benchmarks.run counting draws` measures these parts and prints them, without writing anything. Ends with
status 1 if a goal is missed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks import (
    bench_counting,
    bench_draws,
    bench_growth,
    bench_names,
    bench_plain,
    bench_schema,
    bench_solvers,
    bench_start,
    bench_tables,
)
from benchmarks.measuring import Part, machine, table

PARTS = {
    "plain": bench_plain.measure,
    "solvers": bench_solvers.measure,
    "counting": bench_counting.measure,
    "schema": bench_schema.measure,
    "names": bench_names.measure,
    "draws": bench_draws.measure,
    "growth": bench_growth.measure,
    "start": bench_start.measure,
    "tables": bench_tables.measure,
}


def page(parts: list[Part]) -> str:
    """The goals on top, then every part's section."""
    goals = [goal for part in parts for goal in part.goals]
    rows = [[goal.what, goal.goal, goal.measured, "yes" if goal.reached else "**no**"] for goal in goals]
    lines = ["# Benchmarks", "", "Written by `make bench`. Every ratio is of two figures measured in one run."]
    lines += ["", machine(), "", "## Goals", *table(["what", "goal", "measured", "reached"], rows)]
    for part in parts:
        lines += ["", f"## {part.title}", "", *part.lines]
    return "\n".join(lines) + "\n"


def main(names: list[str], folder: Path = Path(__file__).parent) -> int:
    """Measure the parts named, or all; these are written down."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no part {unknown[0]!r}. Name some of {', '.join(PARTS)}, or none for all.", file=sys.stderr)
        return 2
    chosen, found = names or list(PARTS), []
    for number, name in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        found.append(PARTS[name]())
        for goal in found[-1].goals:
            print(f"  {goal.what}: {goal.measured} ({goal.goal})", file=sys.stderr)
        print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    text = page(found)
    print("\n".join([text, *(further for part in found for further in part.pages.values())]))
    if not names:
        (folder / "results.md").write_text(text)
        for part in found:
            for file, further in part.pages.items():
                (folder / file).write_text(further)
    missed = [goal.what for part in found for goal in part.goals if not goal.reached]
    for what in missed:
        print(f"Missed: {what}.", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
