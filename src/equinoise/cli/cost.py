"""``equinoise cost``: what draws from a saved mechanism cost together."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, PICTURE, check_plot, output_options, parse_numbers


@click.command("cost", epilog=EPILOG, short_help="Show how the cost of many draws grows.")
@click.argument("file", type=FILE_PATH)
@click.option("--draws", default="1,10,100,500", show_default=True, help="Numbers of draws, separated by commas.")
@click.option(
    "--delta", type=float, help="Probability with which the cost may be larger.  [default: the mechanism's, or 1e-6]"
)
@output_options("--plot", help=PICTURE)
def command(file: Path, draws: str, delta: float | None, plot: Path | None, force: bool, as_json: bool) -> None:
    """Show what draws from FILE cost together, for numbers of draws that are allowed or not. Nothing is released.

    \b
    Examples:
      equinoise cost pay.eq
      equinoise cost pay.eq --draws 1,10,1000 --delta 1e-9 --plot cost.svg
    """
    from equinoise.mechanisms.base import Mechanism
    from equinoise.mechanisms.draw_costs import check_costs
    from equinoise.present import charts, terminal

    ascending = sorted(set(parse_numbers(draws, "--draws", "1,10")))
    check_costs([int(number) if number.is_integer() else number for number in ascending], delta)
    check_plot(plot, file, force=force)
    with terminal.task_progress("Working out what draws cost together"):
        mechanism = Mechanism.open(file)
        costs = mechanism.costs([int(number) for number in ascending], delta)
    if plot is not None:
        charts.plot_costs(mechanism, costs, plot, force=force)
    if as_json:
        found = {"costs": costs, "allowed": mechanism.draws, "promise": str(mechanism.promise)}
        terminal.print_json({**found, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_costs(mechanism, costs, plot)
