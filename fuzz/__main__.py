"""The command: every suite within its budget, or one, or one case of it again."""

from __future__ import annotations

import argparse
import itertools
import sys

from fuzz import tables
from fuzz.cases import Suite, try_cases
from fuzz.commands import run  # noqa: F401

SUITES = [
    Suite("tables", "odd tables and schemas", tables.begin, 90),
]

def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--seconds", type=float)
    a = parser.parse_args()
    for s in SUITES:
        if a.suite in (None, s.name):
            r = try_cases(s, a.seed, [a.case] if a.case is not None else itertools.count(), a.seconds)
            print(s.name, r.tried, r.handled)
            for n, why in r.lost.items():
                print("LOST", n, why)
    return 0

sys.exit(main())
