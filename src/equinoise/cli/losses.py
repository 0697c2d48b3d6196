"""``equinoise losses``: every row with its person's loss and scale."""

from __future__ import annotations

from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, engine_options, json_option


@click.command(epilog=EPILOG, short_help="Write each row's loss and scale: who is hard to protect.")
@click.argument("file", type=FILE_PATH)
@click.argument("data", type=FILE_PATH)
@click.option(
    "--out", type=FILE_PATH, required=True, help="A .csv, .tsv or .parquet file for the rows. As secret as the data."
)
@engine_options
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
@json_option
def losses(
    file: Path, data: Path, out: Path, engine: str, engine_address: str | None, force: bool, as_json: bool
) -> None:
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

    with terminal.task_progress("Checking the mechanism and the data") as told:
        found = write_losses(
            file, data, out, engine=engine, engine_address=engine_address, force=force,
            progress=lambda rows: told(f"{rows:,} rows written"),
        )  # fmt: skip
    if as_json:
        terminal.print_json({**found.to_json(), "note": terminal.SECRET_ROWS})
    else:
        terminal.show_losses(found)
