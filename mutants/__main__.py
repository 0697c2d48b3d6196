"""``python -m mutants``: try planted bugs, and fail if one is neither noticed nor explained as harmless."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from mutants.lists import Mutant, problems, read_lists, tenth
from mutants.trial import Copy, End, Outcome

ROOT = Path(__file__).resolve().parent.parent
SECONDS_UNCHANGED = 1800.0


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """The exit code: 0 if all is as the lists say."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description="Try planted bugs against the tests.")
    parser.add_argument("--check", action="store_true", help="only look whether all lines and tests are there")
    parser.add_argument("--tenth", action="store_true", help="a tenth of them, chosen by the commit")
    parser.add_argument("--only", metavar="WORDS", help="those with these words in their name or path")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time; 2 if left out")
    asked = parser.parse_args(arguments)
    mutants = read_lists(root / "mutants")
    wrong = list(problems(mutants, root))
    if wrong or asked.check:
        print("\n".join([*wrong, f"{len(mutants)} mutants, {len(wrong)} mistakes in their lists."]))
        return int(bool(wrong))
    if asked.only:
        mutants = [mutant for mutant in mutants if asked.only in mutant.name or asked.only in mutant.path]
    if asked.tenth:
        mutants = tenth(mutants, _commit(root))
    with TemporaryDirectory(prefix="mutants-") as folder, ExitStack() as ends:
        copies = [Copy(root, Path(folder) / str(number)) for number in range(asked.workers)]
        for copy in copies:
            ends.callback(copy.close)
        failed = _run_unchanged(mutants, copies)
        if failed is not None:
            print(f"{failed}\nThe tests do not pass on the code as it is, so they can show nothing.")
            return 1
        return _report(_try_all(mutants, copies))


def _run_unchanged(mutants: Sequence[Mutant], copies: Sequence[Copy]) -> str | None:
    """What pytest prints of tests that fail without a bug; None if none does."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    print(f"Running {len(tests)} tests, or files of tests, on the code as it is.", flush=True)
    parts = [tests[number :: len(copies)] for number in range(len(copies))]
    with ThreadPoolExecutor(len(copies)) as pool:
        runs = pool.map(lambda copy, part: copy.run_tests(part, SECONDS_UNCHANGED) if part else (0, ""), copies, parts)
        return next((output for code, output in runs if code != 0), None)


def _commit(root: Path) -> str:
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return said.stdout.strip()


def _try_all(mutants: Sequence[Mutant], copies: Sequence[Copy]) -> list[Outcome]:
    """The outcomes, told one by one as they come."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)
    begin, done = time.monotonic(), Counter[End]()

    def try_one(mutant: Mutant) -> Outcome:
        copy = free.get()
        try:
            outcome = copy.try_mutant(mutant)
        finally:
            free.put(copy)
        done[outcome.end] += 1
        print(f"[{done.total()}/{len(mutants)}, {time.monotonic() - begin:.0f} s] {outcome}", flush=True)
        return outcome

    with ThreadPoolExecutor(len(copies)) as pool:
        return list(pool.map(try_one, mutants))


def _report(outcomes: Sequence[Outcome]) -> int:
    """What is not as it should be, with what pytest said, and the exit code."""
    ends = Counter(outcome.end for outcome in outcomes)
    bad = [outcome for outcome in outcomes if not outcome.end.is_good]
    for outcome in bad:
        print(f"\n{outcome}\n    {outcome.mutant.line.strip()}\n    {outcome.mutant.becomes.strip()}")
        if outcome.end is not End.SURVIVED:
            print("\n".join(outcome.output.splitlines()[-15:]))
    counted = ", ".join(f"{many} {end.value}" for end, many in ends.items())
    print(f"\n{len(outcomes)} mutants: {counted}.")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
