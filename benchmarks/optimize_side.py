"""One whole `equinoise optimize`, in a process of its own:

    python -m benchmarks.optimize_side polars looked FILE OUT

With `unlooked` instead of `looked`, the look for repeated names is left out. Prints one JSON object: the most memory
that the process ever held, the worst loss, and whether a column was pointed out.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from benchmarks.counting_side import COLUMN
from benchmarks.heights import BOUNDS
from benchmarks.measuring import peak_memory
from equinoise.cli import main as cli
from equinoise.data import read_players as people


def main(engine, look, path, out):
    """Run the command, and tell."""
    if look == "unlooked":
        people.warn_of_repeats = lambda data, columns, text: None
    low, high = (str(bound) for bound in BOUNDS)
    line = ["--column", COLUMN, "--bounds", COLUMN, low, high, "--epsilon", "1", "--engine", engine]
    sys.argv = ["equinoise", "optimize", path, *line, "--out", out, "--force", "--json"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            cli.main()
        except SystemExit as ended:
            if ended.code:
                raise
    found = json.loads(said.getvalue())
    told = any("looks like a name" in warning for warning in found["warnings"])
    print(json.dumps({"peak": peak_memory(), "people": found["people"], "told": told}))


if __name__ == "__main__":
    main(*sys.argv[1:])
