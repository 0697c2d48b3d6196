"""``equinoise compare``: the game beside what one would use instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from equinoise.cli.data_options import (
    all_bounds,
    game_options,
    given_numbers,
    given_scales,
    named_columns,
    warnings_said,
)
from equinoise.cli.options import EPILOG, FILE_PATH, json_option


@click.command(epilog=EPILOG, short_help="Put the game beside what one would use instead.")
@click.argument("data", type=FILE_PATH)
@click.option("--epsilon", "epsilons", required=True, help="One or several, separated by commas.")
@click.option(
    "--time-limit", type=float, default=20.0, show_default=True, help="Seconds for the optimal solver, per epsilon."
)
@click.option("--genetic", is_flag=True, help="Also run the genetic solver, which is slow.")
@game_options
@click.option("--plot", type=FILE_PATH, help="A .png, .svg or .html file for a picture. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def compare(
    data: Path, column: Sequence[str], epsilons: str, bounds: Sequence[tuple[str, float, float]], noise: str,
    scales: str, plot: Path | None, force: bool, as_json: bool, **settings: Any,
) -> None:  # fmt: skip
    """Run the game and what one would use instead on DATA, one column or several: how close, how fast, what promised.

    What one would use instead: Laplace and staircase noise for everyone, smoothed counts and (extra 'peers') an OpenDP
    histogram. Nothing is saved but the plot, and nothing can be released from here.

    \b
    Examples:
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 0.1,0.3,1,2,4,8
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --plot pay.html --json
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --noise laplace,gaussian
      equinoise compare people.csv --bounds height 120 230 --bounds weight 30 200 --bins 24 --epsilon 1
    """
    from equinoise.analysis.compare import check_epsilons
    from equinoise.analysis.compare import compare as make
    from equinoise.atomic_write import check_writable
    from equinoise.present import charts, terminal

    name = named_columns(column, bounds)
    limits = all_bounds(name, bounds)
    asked = check_epsilons(given_numbers(epsilons))
    if plot is not None:
        charts.check_picture(plot)
        check_writable(plot, data, force=force)
    with warnings_said() as said, terminal.comparison_progress(asked) as seen:
        found = make(
            data, epsilons=asked, column=name, bounds=limits or None, scales=given_scales(scales),
            noise=[family.strip() for family in noise.split(",")] if "," in noise else noise,
            progress=seen, **settings,
        )  # fmt: skip
    for left in found.left_out:
        at = "" if left.epsilon is None else f" at epsilon {left.epsilon:g}"
        click.echo(f"Left out: {left.method}{at}. {left.reason}", err=True)
    if plot is not None:
        charts.plot_comparison(found, plot, force=force)
    if as_json:
        terminal.print_json({**found.to_json(), "warnings": said, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_comparison(found, plot)
