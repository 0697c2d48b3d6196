"""``equinoise sample``: a release, charged before its first row appears."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, output_options
from equinoise.cli.process import drop_stdout
from equinoise.formatting import printable


@click.command("sample", epilog=EPILOG, short_help="Release draws from a saved mechanism.")
@click.argument("file", type=FILE_PATH)
@click.option("-n", type=int, default=1, show_default=True, help="How many draws to release.")
@output_options("--out", help="A .csv, .tsv or .parquet file for the rows, instead of stdout.")
def command(file: Path, n: int, out: Path | None, force: bool, as_json: bool) -> None:
    """Release draws from FILE: rows of the columns' own types, charged to its ledger before the first one appears.

    Draws come from the operating system's random source and cannot be repeated. A charge stays even if the
    rows are lost.

    \b
    Examples:
      equinoise sample pay.eq -n 1
      equinoise sample pay.eq -n 1000 --out rows.csv
      equinoise sample pay.eq -n 1000 --out rows.parquet
    """
    from equinoise.atomic_write import check_writable
    from equinoise.data.write_rows import check_suffix, write_frames
    from equinoise.mechanisms.base import Mechanism
    from equinoise.present import terminal

    with terminal.task_progress("Checking the certificate"):
        mechanism = Mechanism.open(file)
    if out is not None:
        check_suffix(out)
        check_writable(out, file, force=force)
    names, rows = [axis.name for axis in mechanism.grid.axes], []
    with terminal.draw_progress(n, quiet=out is None and sys.stdout.isatty()) as watch:
        values = watch(mechanism.stream(n))
        if out is not None:
            write_frames(out, values, mode=0o644, force=force)
        elif as_json:
            rows = [row for part in values for row in terminal.json_rows(part)]
        else:
            heads = [printable(name) for name in names] if sys.stdout.isatty() else names  # a terminal obeys letters
            _write_rows(terminal.csv_rows(heads, values))
    spent = mechanism.ledger.spent
    if as_json:
        terminal.print_json(
            {
                "column": names[0] if len(names) == 1 else names,
                "rows": rows if out is None else None,
                "file": None if out is None else str(out),
                "draws": n,
                "spent": spent,
                "allowed": mechanism.draws,
                "declared_cost": mechanism.promised_cost(spent),
                "promise": str(mechanism.promise.public()),
                "note": terminal.RELEASED,
            }
        )
    else:
        terminal.show_released(mechanism, n, spent, out)


def _write_rows(lines: Iterator[str]) -> None:
    """Rows to stdout; a reader that has enough of them is no error (click would exit with 1)."""
    try:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
