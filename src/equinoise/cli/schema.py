"""``equinoise schema``: a draft of what is public about the columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equinoise.cli.options import EPILOG, FILE_PATH, book_options, output_options, parse_columns, setting_options
from equinoise.cli.process import print_warnings
from equinoise.errors import BadInput
from equinoise.formatting import at_most, join_and

if TYPE_CHECKING:
    from equinoise.data.schema import Schema


@click.command("schema", epilog=EPILOG, short_help="Draft what is public about the columns, to be filled in.")
@click.argument("data", type=FILE_PATH)
@click.option("--column", "columns", multiple=True, help="A column to draft; may be given again.  [default: all]")
@click.option(
    "--peek", is_flag=True,
    help="Fill in bounds, steps and categories by looking at the data. Not public: 'synthesize' refuses them.",
)  # fmt: skip
@click.option(
    "--private-bounds",
    multiple=True,
    metavar="COLUMN",
    help="A column of numbers to find bounds of, with differential privacy; may be given again. One row is one person.",
)
@click.option("--epsilon", type=float, help="What the bounds of each such column may cost.")
@book_options
@setting_options("schema")
@output_options("--out", help="A TOML file for the draft, instead of stdout.")
def command(
    data: Path, columns: Sequence[str], peek: bool, private_bounds: Sequence[str], out: Path | None, force: bool,
    as_json: bool, separator: str | None, decimal: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Draft a schema of DATA: a TOML file with a table for every column, and blanks to be filled in by you.

    The names and types of the columns are taken from the file; no value is read. Whole numbers have a step of 1, yes/no
    values their two categories; a text file has no types, so that you say of each column what it is. Fill in what
    anyone would know without the data.

    Bounds that nobody knows can be found with --private-bounds, under differential privacy. What they cost is charged
    to --book, if there is one, stands in the draft, and counts towards the epsilon of 'equinoise synthesize'.

    \b
    Examples:
      equinoise schema people.parquet --out people.toml
      equinoise schema people.csv --column age --column ward
      equinoise schema people.csv --peek --out first-look.toml
      equinoise schema people.csv --private-bounds income --epsilon 0.1 --book patients.book --out people.toml
    """
    from equinoise.atomic_write import check_writable, write_whole
    from equinoise.data.bounds_cost import bounds_epsilon
    from equinoise.data.draft import make_draft
    from equinoise.present import terminal

    text: dict[str, Any] = {"separator": separator, "decimal": decimal}
    if out is not None:
        check_writable(out, data, force=force)
    with print_warnings() as warnings, terminal.task_progress("Reading the data"):
        found = _find_bounds(data, private_bounds, columns, peek=peek, **text, **settings)
        draft = make_draft(data, peek=peek, columns=columns, found=found, **text)
    blanks = [column.name for column in draft.schema.columns if not column.is_complete]
    if out is not None:
        write_whole(out, [draft.text.encode()], mode=0o600 if peek else 0o644, force=force)
    if as_json:
        names = {"columns": list(draft.schema.names), "blanks": blanks, "peeked": list(draft.schema.peeked)}
        cost = {"bounds_epsilon": float(bounds_epsilon(draft.schema))}
        file = {"toml": draft.text, "file": None if out is None else str(out)}
        terminal.print_json({**names, **cost, **file, "warnings": warnings})
    elif out is None:
        click.echo(draft.text, nl=False)
    else:
        left = f"{len(blanks)} of {len(draft.schema.columns)} columns left to be filled in" if blanks else "no blanks"
        click.echo(f"Wrote {str(out)!r}, with {left}.")
    if found and not as_json:
        click.echo(_cost_sentence(draft.schema), err=out is None)


def _cost_sentence(schema: Schema) -> str:
    """What private bounds cost, and where that is counted."""
    from equinoise.data.bounds_cost import bounds_epsilon, costly_columns

    columns = costly_columns(schema)
    names, cost = join_and([repr(column.name) for column in columns]), at_most(float(bounds_epsilon(schema)))
    charged = (
        "They were charged to the book." if columns[0].bounds_book else "No book was charged; the draft tells the cost."
    )
    return (
        f"The bounds of {names} cost epsilon {cost} (differential privacy, one row being one person). {charged} The "
        "epsilon of 'equinoise synthesize' is for everything, this included."
    )


def _find_bounds(
    data: Path, names: Sequence[str], columns: Sequence[str], *, peek: bool, epsilon: float | None, step: Any,
    book: str | None, purpose: str | None, **text: Any,
) -> dict[str, Any]:  # fmt: skip
    """The columns with private bounds, by their names; the rest of the options is refused without such."""
    from equinoise.verbs.private_bounds import private_bounds

    if not names:
        for option, value in {"epsilon": epsilon, "step": step, "book": book, "purpose": purpose}.items():
            if value:
                raise BadInput(f"--{option} is for --private-bounds, which names the columns to find bounds of.")
        return {}
    if epsilon is None:
        raise BadInput("--private-bounds needs --epsilon: what the bounds of each column may cost, such as 0.1.")
    if peek:
        raise BadInput("--peek reads bounds off the data, and --private-bounds keeps them private. Take one of them.")
    settings = {"column": names, "step": step}
    parse_columns(settings)
    strange = next((name for name in names if columns and name not in columns), None)
    if strange is not None:
        raise BadInput(f"--private-bounds names column {strange!r}, which is not drafted. Add --column {strange!r}.")
    found = private_bounds(
        data, list(names), epsilon=epsilon, step=settings["step"], book=book, purpose=purpose, **text
    )
    return {column.name: column for column in found.columns}
