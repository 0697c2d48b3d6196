"""``equinoise optimize``: from rows to a certified mechanism of the game."""

from __future__ import annotations

from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, setting_options
from equinoise.cli.save import make_and_save, saving_options


@click.command("optimize", epilog=EPILOG, short_help="Make a certified mechanism from a column of numbers.")
@click.argument("data", type=FILE_PATH)
@saving_options
@setting_options("optimize")
def command(**settings: Any) -> None:
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
    from equinoise.verbs.optimize import optimize

    make_and_save(optimize, **settings)
