"""``equinoise compare``: the game beside what one would use instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import (
    EPILOG,
    FILE_PATH,
    PICTURE,
    check_plot,
    output_options,
    parse_columns,
    parse_numbers,
    setting_options,
)
from equinoise.cli.process import print_warnings


@click.command("compare", epilog=EPILOG, short_help="Put the game beside what one would use instead.")
@click.argument("data", type=FILE_PATH)
@output_options("--plot", help=PICTURE)
@setting_options(
    "compare",
    epsilon={"name": "epsilons", "type": str, "help": "One or several, separated by commas; each for all rows."},
    rows={
        "required": False,
        "default": 1,
        "show_default": True,
        "help": "How many rows to draw, for one epsilon together.",
    },
    time_limit={"default": 20.0, "show_default": True, "help": "Seconds for the optimal solver, per epsilon."},
)
@click.option("--genetic", is_flag=True, help="Also run the genetic solver, which is slow.")
def command(
    data: Path, epsilons: str, noise: str,
    plot: Path | None, force: bool, as_json: bool, **settings: Any,
) -> None:  # fmt: skip
    """Run the game and what one would use instead on DATA, one column or several: how close, how fast, what promised.

    What one would use instead: OpenDP's histogram, AIM and MST (extra 'aim', several columns), smoothed counts, what
    'synthesize' makes, and Laplace and staircase noise for everyone. Nothing is saved but the plot, and nothing can be
    released from here.

    \b
    Examples:
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 0.1,0.3,1,2,4,8
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --plot pay.html --json
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --noise laplace,gaussian
      equinoise compare people.csv --bounds height 120 230 --bounds weight 30 200 --bins 24 --epsilon 1 --rows 200
    """
    from equinoise.analysis.compare import check_epsilons, compare
    from equinoise.present import charts, terminal

    parse_columns(settings)
    ascending = check_epsilons(parse_numbers(epsilons, "--epsilon", "0.1,1"))
    check_plot(plot, data, force=force)
    with print_warnings() as warnings, terminal.comparison_progress(ascending) as progress:
        families: Any = [family.strip() for family in noise.split(",")] if "," in noise else noise  # checked there
        found = compare(data, epsilons=ascending, noise=families, progress=progress, **settings)
    for method in found.left_out:
        at = "" if method.epsilon is None else f" at epsilon {method.epsilon:g}"
        click.echo(f"Left out: {method.method}{at}. {method.reason}", err=True)
    if plot is not None:
        charts.plot_comparison(found, plot, force=force)
    if as_json:
        terminal.print_json({**found.to_json(), "warnings": warnings, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_comparison(found, plot)
