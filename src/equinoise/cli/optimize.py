"""``equinoise optimize``: from rows to a certified mechanism of the game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import (
    ALL_STATISTICS,
    EPILOG,
    FILE_PATH,
    book_options,
    output_options,
    parse_columns,
    setting_options,
    verbose_option,
)
from equinoise.cli.process import print_warnings
from equinoise.cli.save import check_mechanism_file, warn_of_replaced


@click.command("optimize", epilog=EPILOG, short_help="Make a certified mechanism from a column of numbers.")
@click.argument("data", type=FILE_PATH)
@output_options(
    "--out", help="Where to save the mechanism. As secret as the data.", required=True,
    force="Replace --out if it exists, together with its ledger.",
)  # fmt: skip
@click.option(
    "--not-private", is_flag=True,
    help="List the mechanism in the book although it is not differentially private; no total includes it.",
)  # fmt: skip
@book_options
@verbose_option(ALL_STATISTICS)
@setting_options("optimize")
def command(data: Path, out: Path, force: bool, as_json: bool, verbose: bool, **settings: Any) -> None:
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
    from equinoise.present import terminal
    from equinoise.verbs.optimize import optimize

    parse_columns(settings)
    released = check_mechanism_file(out, data, option="--out", force=force)
    with print_warnings() as warnings, terminal.progress() as progress:
        mechanism = optimize(data, save=out, force=force, progress=progress, **settings)
    warn_of_replaced(out, released, warnings)
    if as_json:
        terminal.print_json({**mechanism.summary(), "file": str(out), "warnings": warnings})
    else:
        terminal.show_optimized(mechanism, out, verbose=verbose)
