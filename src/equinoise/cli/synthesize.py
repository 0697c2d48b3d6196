"""``equinoise synthesize``: from rows about people to rows that may be published."""

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
from equinoise.cli.save import check_different, check_mechanism_file, warn_of_replaced
from equinoise.errors import BadInput

COST = "Rows that are made again are a second release of the same people, which spends epsilon again."
"""What it is to replace a file, or to name another."""


@click.command("synthesize", epilog=EPILOG, short_help="Rows to publish, with differential privacy.")
@click.argument("data", type=FILE_PATH)
@click.option(
    "--save",
    type=FILE_PATH,
    help="Where to save the mechanism, which is as secret as the data.  [default: --out with the ending .eq]",
)
@click.option(
    "--publish-counts",
    type=FILE_PATH,
    help="A .json file for the noisy counts, which anybody may use (--method pay-once).",
)
@output_options(
    "--out", help="A .csv, .tsv or .parquet file for the rows, which may be published.", required=True,
    force="Replace --out, --save and --publish-counts if they exist, the ledger of --save included.",
)  # fmt: skip
@book_options
@verbose_option(ALL_STATISTICS)
@setting_options("synthesize")
def command(
    data: Path, out: Path, save: Path | None, publish_counts: Path | None, force: bool, as_json: bool,
    verbose: bool, base: Path | None, **settings: Any,
) -> None:  # fmt: skip
    """Make rows of a table about people that may be published: with differential privacy for everything that comes out.

    DATA is a CSV, TSV or Parquet file, a folder of such files or a quoted pattern. A schema says what is public about
    its columns ('equinoise schema' drafts one). --epsilon is for all rows together, and for all later ones.

    \b
    Examples:
      equinoise synthesize icu.csv --schema icu.toml --epsilon 1 --rows 200 --out rows.csv
      equinoise synthesize icu.csv --schema icu.toml --epsilon 1 --rows same --out rows.parquet
      equinoise synthesize pay.csv --bounds pay 0 4000 --epsilon 0.5 --rows 500 --out rows.csv \\
          --publish-counts counts.json
      equinoise synthesize visits.csv --schema visits.toml --unit patient --rows-per-person 3 --epsilon 1 --rows 100 \\
          --out rows.csv
    """
    from equinoise.atomic_write import check_writable
    from equinoise.data.number_list import read_numbers
    from equinoise.data.write_rows import check_suffix, write_frames
    from equinoise.mechanisms.counts_table import CountsTable
    from equinoise.mechanisms.published_counts import publish_counts as write_counts
    from equinoise.present import terminal
    from equinoise.present.true_answers import true_answers
    from equinoise.synthesis.choice import NeededMethod
    from equinoise.verbs.synthesize import synthesize

    parse_columns(settings)
    save = out.with_suffix(".eq") if save is None else save
    check_suffix(out)
    check_different(out, save, publish_counts)
    check_writable(out, data, base, save, force=force, cost=COST)
    released = check_mechanism_file(save, data, base, option="--save", force=force, cost=COST)
    if publish_counts is not None:
        check_writable(publish_counts, data, base, save, out, force=force, cost=COST)
        settings["method"] = settings["method"] or NeededMethod(CountsTable.method, "because of --publish-counts")
        if settings["method"] != CountsTable.method:
            raise BadInput(f"Only --method {CountsTable.method} has noisy counts to publish.")
    settings["base"] = None if base is None else read_numbers(base)
    with print_warnings() as warnings, terminal.progress() as progress:
        release = synthesize(data, save=save, force=force, progress=progress, **settings)
    made = release.mechanism
    write_frames(out, iter([release.rows]), mode=0o644, force=force)
    if publish_counts is not None:
        assert isinstance(made, CountsTable)
        write_counts(made, publish_counts, force=force)
    warn_of_replaced(save, released, warnings)
    if as_json:
        files = {"file": str(save), "rows_file": str(out), "counts_file": publish_counts and str(publish_counts)}
        many = {"rows_drawn": release.rows.height, "promise_in_one_line": made.promise.in_one_line}
        many |= {"plan": made.settings["plan"], "answers": [answer.to_json() for answer in true_answers(made)]}
        terminal.print_json({**made.summary(), **many, **files, "warnings": warnings})
    else:
        terminal.show_synthesized(made, release.rows.height, out, save, publish_counts, verbose=verbose)
