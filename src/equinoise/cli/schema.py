"""``equinoise schema``: a draft of what is public about the columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, output_options, setting_options
from equinoise.cli.process import print_warnings


@click.command("schema", epilog=EPILOG, short_help="Draft what is public about the columns, to be filled in.")
@click.argument("data", type=FILE_PATH)
@click.option("--column", "columns", multiple=True, help="A column to draft; may be given again.  [default: all]")
@click.option(
    "--peek", is_flag=True,
    help="Fill in bounds, steps and categories by looking at the data. Not public: 'synthesize' refuses them.",
)  # fmt: skip
@setting_options("schema")
@output_options("--out", help="A TOML file for the draft, instead of stdout.")
def command(
    data: Path, columns: Sequence[str], peek: bool, out: Path | None, force: bool, as_json: bool, **text: Any
) -> None:
    """Draft a schema of DATA: a TOML file with a table for every column, and blanks to be filled in by you.

    The names and types of the columns are taken from the file; no value is read. Whole numbers have a step of 1, yes/no
    values their two categories; a text file has no types, so that you say of each column what it is. Fill in what
    anyone would know without the data.

    \b
    Examples:
      equinoise schema people.parquet --out people.toml
      equinoise schema people.csv --column age --column ward
      equinoise schema people.csv --peek --out first-look.toml
    """
    from equinoise.atomic_write import check_writable, write_whole
    from equinoise.data.draft import make_draft
    from equinoise.present import terminal

    if out is not None:
        check_writable(out, data, force=force)
    with print_warnings() as warnings, terminal.task_progress("Reading the data"):
        draft = make_draft(data, peek=peek, columns=columns, **text)
    blanks = [column.name for column in draft.schema.columns if not column.is_complete]
    if out is not None:
        write_whole(out, [draft.text.encode()], mode=0o600 if peek else 0o644, force=force)
    if as_json:
        found = {"columns": list(draft.schema.names), "blanks": blanks, "peeked": list(draft.schema.peeked)}
        terminal.print_json(
            {**found, "toml": draft.text, "file": None if out is None else str(out), "warnings": warnings}
        )
    elif out is None:
        click.echo(draft.text, nl=False)
    else:
        left = f"{len(blanks)} of {len(draft.schema.columns)} columns left to be filled in" if blanks else "no blanks"
        click.echo(f"Wrote {str(out)!r}, with {left}.")
