"""``equinoise losses``: who is hard to protect, and every row with its person's loss and scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, output_options, setting_options, verbose_option


@click.command("losses", epilog=EPILOG, short_help="List who is hard to protect; write each row's loss and scale.")
@click.argument("file", type=FILE_PATH)
@click.argument("data", type=FILE_PATH)
@output_options("--out", help="A .csv, .tsv or .parquet file for the rows. As secret as the data.", required=True)
@verbose_option("List all who need more than the least scale on offer, not ten cells alone.")
@setting_options("losses")
@click.option(
    "--end-to-end", is_flag=True,
    help="Also measure each row's loss end to end: solve again without a person of each occupied cell.",
)  # fmt: skip
def command(
    file: Path, data: Path, out: Path, end_to_end: bool, force: bool, as_json: bool, verbose: bool,
    **reading: Any
) -> None:  # fmt: skip
    """List who in DATA is hard to protect, and write all its columns with each row's loss and noise scale, by the
    mechanism in FILE.

    Hard to protect is who has few people near: they need much noise of their own. A lone person in the middle can need
    more than outliers who stand close together, as these hide each other. The list has the numbers of their
    rows, the hardest first, cell by cell: people of one cell are interchangeable, and which of them carries more noise
    than the others, to hide people elsewhere, is arbitrary.

    DATA must be what the mechanism was made from; its rows are counted on the way, and other rows get no file. They
    keep their order. After their columns come 'row' (from 1), 'loss' (of one draw), 'scale' and 'scale_needed' (in data
    units; 'scale_C' for each of several columns C; none with differential privacy) and maybe 'end_to_end'; if the data
    has such names, ours end in _2, and so on. The rows of a cell take its scales as they come, the smallest scale
    first. With a unit, all rows of a person have that person's. Rows that were left out as missing have none.

    \b
    Examples:
      equinoise losses pay.eq pay.csv --out losses.csv
      equinoise losses pay.eq pay.csv --end-to-end --out losses.csv
      equinoise losses pay.eq 'parts/*.parquet' --engine duckdb --out losses.parquet --json
    """
    from equinoise.analysis.row_losses import write_losses
    from equinoise.present import terminal

    with terminal.progress("Checking the mechanism and the data") as progress:
        found = write_losses(
            file, data, out, end_to_end=end_to_end, force=force, verbose=verbose, measuring=progress,
            progress=lambda rows: progress(terminal.note(f"{rows:,} rows written")), **reading,
        )  # fmt: skip
    if as_json:
        terminal.print_json({**found.to_json(), "note": terminal.SECRET_ROWS})
    else:
        terminal.show_losses(found)
