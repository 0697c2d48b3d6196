"""``equinoise plan``: what to expect of rows to publish, without any data."""

from __future__ import annotations

from typing import Any

import click

from equinoise.cli.options import EPILOG, json_option, parse_columns, setting_options
from equinoise.cli.process import print_warnings


@click.command("plan", epilog=EPILOG, short_help="What to expect of rows to publish, without any data.")
@json_option
@setting_options("plan", people={"required": True})
def command(as_json: bool, **settings: Any) -> None:
    """Say which way 'synthesize' will make rows, and what to expect of them. No data is read.

    Methods and bins are tried on made-up people, about as many as --people says, and what comes out is held against
    them. The same settings give 'synthesize' the same method and bins.

    \b
    Examples:
      equinoise plan --schema icu.toml --people 200 --epsilon 1 --rows 200
      equinoise plan --bounds age 18 100 --step age 1 --people 5000 --epsilon 0.3 --rows 10 --delta 1e-6
      equinoise plan --schema icu.toml --people 200 --epsilon 1 --rows 200 --method pay-once --bins 10 --json
    """
    from equinoise.present import terminal
    from equinoise.verbs.plan import plan

    parse_columns(settings)
    with print_warnings() as warnings, terminal.progress("Making up people") as progress:
        found = plan(progress=progress, **settings)
    if as_json:
        terminal.print_json({**found.to_json(), "warnings": warnings})
    else:
        terminal.show_plan(found)
