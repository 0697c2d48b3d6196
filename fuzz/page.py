"""The table of docs/reliability.md, between its marks: suite, cases tried, what came of them, lost."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from benchmarks.measuring import machine, table
from fuzz.cases import Result

BEGIN, END = "<!-- written by python -m fuzz -->", "<!-- end -->"


def section(results: list[Result]) -> str:
    """What stands between the marks."""
    rows = [
        [
            f"`{result.suite.name}`: {result.suite.text}",
            f"{result.tried:,}",
            "; ".join(f"{what}: {times:,}" for what, times in result.handled.most_common()),
            f"**{len(result.lost)}**" if result.lost else "none",
        ]
        for result in results
    ]
    seconds = sum(result.seconds for result in results)
    when = f"{datetime.date.today().isoformat()}, seed {results[0].seed}, {seconds:g} seconds in all, on {machine()}"
    return "\n".join([*table(["suite", "tried", "what came of it", "lost"], rows), "", when, ""])


def write_page(path: Path, results: list[Result]) -> None:
    """Write the table anew; the rest of the page stays."""
    before, after = re.split(f"{re.escape(BEGIN)}.*?{re.escape(END)}", path.read_text(), flags=re.DOTALL)
    path.write_text(f"{before}{BEGIN}\n{section(results)}\n{END}{after}")
