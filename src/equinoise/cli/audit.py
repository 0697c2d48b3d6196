"""``equinoise audit``: a saved mechanism checked again, from its integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import FILE_PATH, check_plot, output_options, setting_options
from equinoise.errors import BadInput

EPILOG = (
    "Exit status: 0 all that was checked holds; 1 something does not, and the last lines say what; 2 bad input, or a "
    "damaged file; 130 stopped."
)


@click.command("audit", epilog=EPILOG, short_help="Check a saved mechanism again, from its integers.")
@click.argument("file", type=FILE_PATH)
@click.option("--data", type=FILE_PATH, help="Also check that the histogram is this data's.")
@setting_options("audit")
@click.option(
    "--end-to-end", is_flag=True,
    help="Also measure the loss of the whole procedure: solve again without a person of each occupied cell.",
)  # fmt: skip
@output_options("--plot", help="With --end-to-end, a .png, .svg or .html file. As secret as the data.")
def command(
    file: Path, data: Path | None, end_to_end: bool, plot: Path | None, force: bool, as_json: bool, **reading: Any
) -> None:
    """Derive the certificate of FILE again, from the file alone, and show everyone's losses.

    The last lines say what was checked, what of it FAILED and what was not checked: that the people are those of your
    data (--data), and the loss with the noise worked out again (--end-to-end). The game does not promise that loss; as
    it is measured only where you ask for it, one person above the target fails the audit.

    \b
    Examples:
      equinoise audit pay.eq
      equinoise audit pay.eq --data pay.csv --json
      equinoise audit pay.eq --data pay.csv --end-to-end --plot losses.svg
    """
    from equinoise.analysis.audit import audit
    from equinoise.present import charts, terminal

    if plot is not None and not end_to_end:
        raise BadInput("--plot draws end-to-end losses: ask for them with --end-to-end.")
    check_plot(plot, file, data, force=force)
    with terminal.progress() as progress:
        found = audit(file, data, end_to_end=end_to_end, progress=progress, **reading)
    if end_to_end and found.end_to_end is None:
        plot = None
        click.echo("Nothing was measured end to end, because the audit failed before.", err=True)
    if plot is not None:
        charts.plot_end_to_end(found, plot, force=force)
    try:
        if as_json:
            terminal.print_json({**found.to_json(), "plot": None if plot is None else str(plot)})
        else:
            terminal.show_audit(found, plot)
    finally:  # an audit that failed has failed, even if nobody reads what it says
        if not found.passed:
            raise click.exceptions.Exit(1)
