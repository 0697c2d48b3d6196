"""``equinoise losses``: every row with its person's loss and scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, output_options, setting_options


@click.command("losses", epilog=EPILOG, short_help="Write each row's loss and scale: who is hard to protect.")
@click.argument("file", type=FILE_PATH)
@click.argument("data", type=FILE_PATH)
@output_options("--out", help="A .csv, .tsv or .parquet file for the rows. As secret as the data.", required=True)
@setting_options("losses")
def command(file: Path, data: Path, out: Path, force: bool, as_json: bool, **reading: Any) -> None:
    """Write all columns of DATA with each row's loss of one draw and noise scale, by the mechanism in FILE.

    DATA must be what the mechanism was made from; its rows are counted on the way, and other rows get no file. The
    columns 'loss' and 'scale' (in data units; 'scale_C' for each of several columns C; none with differential privacy)
    come last; if the data has such names, ours end in _2, and so on. People of one cell may have different scales and
    are interchangeable: the rows of a cell take them as they come, the smallest scale first. With a unit, all rows of
    a person have that person's. Rows that were left out as missing have neither.

    \b
    Examples:
      equinoise losses pay.eq pay.csv --out losses.csv
      equinoise losses pay.eq 'parts/*.parquet' --engine duckdb --out losses.parquet --json
    """
    from equinoise.analysis.row_losses import write_losses
    from equinoise.present import terminal

    with terminal.task_progress("Checking the mechanism and the data") as tell:
        found = write_losses(
            file, data, out, force=force, progress=lambda rows: tell(f"{rows:,} rows written"), **reading
        )
    if as_json:
        terminal.print_json({**found.to_json(), "note": terminal.SECRET_ROWS})
    else:
        terminal.show_losses(found)
