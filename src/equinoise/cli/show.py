"""``equinoise show``: what a saved mechanism consists of."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, json_option


@click.command("show", epilog=EPILOG, short_help="Show what a saved mechanism consists of.")
@click.argument("file", type=FILE_PATH)
@json_option
def command(file: Path, as_json: bool) -> None:
    """Show the grid, the scales and the profile of FILE: enough to compute its output and every loss again.

    \b
    Examples:
      equinoise show pay.eq
      equinoise show pay.eq --json
    """
    from equinoise.mechanisms.base import Mechanism
    from equinoise.present import terminal

    with terminal.task_progress("Checking the certificate"):
        mechanism = Mechanism.open(file)
    if as_json:
        spent, promise = mechanism.ledger.spent, str(mechanism.promise)
        terminal.print_json(
            {**mechanism.to_json(), "statistics": mechanism.statistics(), "spent": spent, "promise": promise}
        )
    else:
        terminal.show_mechanism(mechanism)
