"""``equinoise synthesize``: from rows to a differentially private mechanism."""

from __future__ import annotations

from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, setting_options
from equinoise.cli.save import make_and_save, saving_options


@click.command("synthesize", epilog=EPILOG, short_help="Make a differentially private mechanism, without a game.")
@click.argument("data", type=FILE_PATH)
@saving_options
@setting_options("synthesize")
def command(**settings: Any) -> None:
    """Weigh the cells of columns of DATA by a public rule, and save a mechanism that is differentially private for
    every dataset within the bounds.

    DATA is a CSV, TSV or Parquet file, a folder of such files or a quoted pattern. --bounds must be given, and with
    --unit also --unit-rows one.

    \b
    Examples:
      equinoise synthesize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --out pay.eq
      equinoise synthesize pay.csv --column pay --epsilon 1 --delta 1e-6 --draws 500 --bounds pay 0 4000 --out pay.eq
    """
    from equinoise.verbs.synthesize import synthesize

    make_and_save(synthesize, **settings)
