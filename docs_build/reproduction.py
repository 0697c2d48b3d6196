"""The tables of a full run of ``equinoise reproduce all``, as a page of the docs.

``python -m docs_build.reproduction FOLDER`` writes ``docs/reproduction-tables.md`` from the folder of a run: its page
without the pictures, with the day and the machine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.measuring import machine

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reproduction-tables.md"

HEAD = """# Every table of the full run

For researchers who compare figures: all tables of `equinoise reproduce all`, as it writes them, without the pictures.
What they show is told on [another page](reproduction.md).

Run on {day}, on {machine} It was {parts} pieces of work, {hours:.1f} hours in all.
Written by `python -m docs_build.reproduction FOLDER`.

"""


def page(folder: Path) -> str:
    """The page of a run's folder."""
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest["quick"]:
        raise SystemExit("This is a quick run: its tables are not for the docs.")
    text = (folder / "reproduction.md").read_text().split("\n", 1)[1].lstrip("\n")
    lines = [line for line in text.splitlines() if not line.startswith("![")]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    head = HEAD.format(
        day=manifest["started"][:10], machine=machine(), parts=len(manifest["parts"]),
        hours=sum(part["seconds"] for part in manifest["parts"].values()) / 3600,
    )  # fmt: skip
    return head + "\n".join(kept).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])))
