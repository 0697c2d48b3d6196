"""``equinoise optimize``: from rows to a certified mechanism of the game."""

from __future__ import annotations

from typing import Any

import click

from equinoise.cli.data_options import game_options, given_scales
from equinoise.cli.mechanism_options import make_and_save, making_options
from equinoise.cli.options import EPILOG, offering


@click.command(epilog=EPILOG, short_help="Make a certified mechanism from a column of numbers.")
@making_options
@click.option("--scale-per-column", is_flag=True, help="With several columns: a person may have another scale on each.")
@click.option(
    "--order",
    type=float,
    metavar="ORDER",
    help="Bound the Renyi divergence of this order by epsilon, instead of the loss.",
)
@click.option(
    "--solver", default="best-response", show_default=True,
    shell_complete=offering("best-response", "optimal", "genetic"),
    help="best-response; optimal, the best profile with a proven gap; or genetic, the paper's other algorithm.",
)  # fmt: skip
@click.option("--generations", type=int, help="Generations of the genetic solver at most.  [default: 270]")
@click.option("--time-limit", type=float, help="Seconds for the optimal solver.  [default: 60]")
@game_options
def optimize(scales: str, scale_per_column: bool, **settings: Any) -> None:
    """Play the game on a column of DATA, or several, and save a certified mechanism.

    DATA is a CSV, TSV or Parquet file, a folder of such files or a quoted pattern.

    \b
    Examples:
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 0.5 --bounds pay 0 4000 --draws 10 \\
          --missing drop --outside clip --restarts 20 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --solver optimal --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --delta 1e-6 --draws 500 --bounds pay 0 4000 --out pay.eq
      equinoise optimize people.csv --epsilon 1 --bounds height 120 230 --bounds weight 30 200 --out both.eq
      equinoise optimize visits.csv --column cost --unit patient --epsilon 1 --bounds cost 0 900 --out cost.eq
      equinoise optimize 'parts/*.parquet' --epsilon 1 --bounds pay 0 4000 --engine duckdb --out pay.eq
    """
    from equinoise.verbs.optimize import optimize as make

    make_and_save(make, scales=given_scales(scales), scale_per_column=scale_per_column, **settings)
