"""The command: every suite within its budget, which writes the page; or one of them; or one case again."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from fuzz import damage, kills, requests, tables
from fuzz.cases import Result, Suite, try_cases
from fuzz.page import write_page

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"

SUITES = (
    Suite(
        "tables", "odd values, names, types, schemas and files through the commands that read data", tables.begin, 80
    ),
    Suite("damage", "saved mechanisms, noisy counts and books with bytes, lines or fields changed", damage.begin, 70),
    Suite("kills", "processes killed while they draw, charge a book or make a mechanism", kills.begin, 50),
    Suite("requests", "wrong and hostile requests to the local page's server", requests.begin, 30),
)


def main(words: list[str] | None = None) -> int:
    """Run what is wanted; 1 if anything is lost."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Odd tables, damaged files, kills and requests."
    )
    parser.add_argument("suite", nargs="?", choices=[suite.name for suite in SUITES], help="one suite, instead of all")
    parser.add_argument("--seed", type=int, default=0, help="of the cases; the default of 0 is that of the page")
    parser.add_argument("--seconds", type=float, help="for a suite, instead of its own budget")
    parser.add_argument("--case", type=int, help="one case of a suite again, by its number")
    asked = parser.parse_args(words)
    if asked.case is not None and asked.suite is None:
        parser.error("a case is one of a suite; name that")
    numbers = itertools.count() if asked.case is None else [asked.case]
    results = []
    for suite in SUITES:
        if asked.suite in {None, suite.name}:
            results.append(try_cases(suite, asked.seed, numbers, asked.seconds))
            print("\n".join(report(results[-1])), flush=True)
            numbers = itertools.count()
    if asked.suite is None:
        write_page(PAGE, results)
    return 1 if any(result.lost for result in results) else 0


def report(result: Result) -> list[str]:
    """A line of what came of a suite's cases, and for each that was lost why, and what tries it again."""
    how = ", ".join(f"{what} {times:,}" for what, times in result.handled.most_common())
    lines = [f"{result.suite.name}: {result.tried:,} tried; {how or 'none handled'}; lost {len(result.lost)}"]
    for command, why in zip(result.commands, result.lost.values(), strict=True):
        lines += [f"LOST, again with: {command}", why]
    return lines


if __name__ == "__main__":
    sys.exit(main())
