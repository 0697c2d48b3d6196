"""``equinoise demo``: the whole job on a real column."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, json_option


@click.command(epilog=EPILOG, short_help="The whole job on a real column of pay.")
@click.option(
    "--report", "page", type=FILE_PATH, default=Path("equinoise-demo.html"), show_default=True,
    help="Where to write a page about it; an earlier one is replaced.",
)  # fmt: skip
@json_option
def demo(page: Path, as_json: bool) -> None:
    """Run the three steps on the monthly pay of 935 people (extra 'demo'): optimize at epsilon 1, save, sample; and
    write a report to look at.

    \b
    Examples:
      equinoise demo
      equinoise demo --json
    """
    from equinoise.cli import example
    from equinoise.present import terminal

    with terminal.progress() as seen:
        mechanism, rows = example.run(page, seen)
    if as_json:
        terminal.print_json({**mechanism.summary(), "rows": rows, "report": str(page)})
    else:
        terminal.show_demo(mechanism, rows, page)
