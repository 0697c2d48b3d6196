"""HiGHS, as the optimal solver uses it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from highspy import Highs, HighsModelStatus


def new_highs() -> Any:
    """A silent, repeatable HiGHS."""
    highs: Any = Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("random_seed", 0)
    return highs


def run(highs: Any, deadline: float) -> Any:
    """Solve until a deadline, and how that ended; an error inside HiGHS is one more way to have no solution."""
    highs.setOptionValue("time_limit", highs.getRunTime() + max(deadline - time.perf_counter(), 0.01))
    try:
        highs.run()
    except Exception:
        return HighsModelStatus.kSolveError
    return highs.getModelStatus()


def add_constraint(highs: Any, low: float, high: float, columns: Any, values: Any) -> None:
    """Add a constraint: low <= sum of values * columns <= high."""
    highs.addRow(low, high, len(columns), np.asarray(columns, np.int32), np.asarray(values, np.float64))
