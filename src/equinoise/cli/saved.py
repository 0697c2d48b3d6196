"""``audit``, ``show`` and ``cost``: looking at a saved mechanism."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.data_options import given_numbers
from equinoise.cli.options import EPILOG, FILE_PATH, engine_options, json_option
from equinoise.errors import BadInput


@click.command(epilog=EPILOG, short_help="Show how the cost of many draws grows.")
@click.argument("file", type=FILE_PATH)
@click.option("--draws", default="1,10,100,500", show_default=True, help="Numbers of draws, separated by commas.")
@click.option(
    "--delta", type=float, help="Probability with which the cost may be larger.  [default: the mechanism's, or 1e-6]"
)
@click.option("--plot", type=FILE_PATH, help="A .png, .svg or .html file for a picture. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def cost(file: Path, draws: str, delta: float | None, plot: Path | None, force: bool, as_json: bool) -> None:
    """Show what draws from FILE cost together, for numbers of draws that are allowed or not. Nothing is released.

    \b
    Examples:
      equinoise cost pay.eq
      equinoise cost pay.eq --draws 1,10,1000 --delta 1e-9 --plot cost.svg
    """
    from equinoise.atomic_write import check_writable
    from equinoise.mechanisms.base import Mechanism
    from equinoise.mechanisms.quantities import check_costs
    from equinoise.present import charts, terminal

    given = sorted(set(given_numbers(draws, "--draws", "1,10")))
    asked = [int(number) if number.is_integer() else number for number in given]
    check_costs(asked, delta)
    if plot is not None:
        charts.check_picture(plot)
        check_writable(plot, file, force=force)
    with terminal.task_progress("Working out what draws cost together"):
        mechanism = Mechanism.open(file)
        costs = mechanism.costs([int(number) for number in asked], delta)
    if plot is not None:
        charts.plot_costs(mechanism, costs, plot, force=force)
    if as_json:
        shown = {"costs": costs, "allowed": mechanism.draws, "promise": str(mechanism.promise)}
        terminal.print_json({**shown, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_costs(mechanism, costs, plot)


@click.command(epilog=EPILOG, short_help="Check a saved mechanism again, from its integers.")
@click.argument("file", type=FILE_PATH)
@click.option("--data", type=FILE_PATH, help="Also check that the histogram is this data's.")
@engine_options
@click.option(
    "--end-to-end", is_flag=True,
    help="Also measure the loss of the whole procedure: solve again without a person of each occupied cell.",
)  # fmt: skip
@click.option("--plot", type=FILE_PATH, help="With --end-to-end, a .png, .svg or .html file. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def audit(
    file: Path, data: Path | None, engine: str, engine_address: str | None, end_to_end: bool, plot: Path | None,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Derive the certificate of FILE again, from the file alone, and show everyone's losses.

    The last line is the verdict, with what was not checked: that the people are those of your data (--data), and the
    loss with the noise worked out again (--end-to-end), which fails the audit if anyone is above the target.

    \b
    Examples:
      equinoise audit pay.eq
      equinoise audit pay.eq --data pay.csv --json
      equinoise audit pay.eq --data pay.csv --end-to-end --plot losses.svg
    """
    from equinoise.analysis.audit import audit as check
    from equinoise.atomic_write import check_writable
    from equinoise.present import charts, terminal

    if plot is not None:
        if not end_to_end:
            raise BadInput("--plot draws end-to-end losses: ask for them with --end-to-end.")
        charts.check_picture(plot)
        check_writable(plot, file, data, force=force)
    with terminal.progress() as seen:
        found = check(file, data, end_to_end=end_to_end, engine=engine, engine_address=engine_address, progress=seen)
    drawn = None if found.end_to_end is None else plot
    if end_to_end and found.end_to_end is None:
        click.echo("Nothing was measured end to end, because the audit failed before.", err=True)
    if drawn is not None:
        charts.plot_end_to_end(found, drawn, force=force)
    try:
        if as_json:
            terminal.print_json({**found.to_json(), "plot": None if drawn is None else str(drawn)})
        else:
            terminal.show_audit(found, drawn)
    finally:  # an audit that failed has failed, even if nobody reads what it says
        if not found.passed:
            raise click.exceptions.Exit(1)


@click.command(epilog=EPILOG, short_help="Show what a saved mechanism consists of.")
@click.argument("file", type=FILE_PATH)
@json_option
def show(file: Path, as_json: bool) -> None:
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
        terminal.print_json({**mechanism.to_json(), "spent": mechanism.ledger.spent, "promise": str(mechanism.promise)})
    else:
        terminal.show_mechanism(mechanism)
