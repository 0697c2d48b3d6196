"""``equinoise answer``: questions about people, answered from what was published, with intervals."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from equinoise.cli.options import EPILOG, FILE_PATH, output_options, verbose_option
from equinoise.errors import BadInput, EquinoiseError

KINDS = ("mean:", "median:", "quantiles:", "count", "share:", "correlation:", "difference:")
"""What a shell completes: how questions begin."""


def complete_question(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """For a shell: how questions begin, and after the colon the columns of the file; none of a saved mechanism, which
    takes a while to open. Bash cuts words at colons."""
    from equinoise.analysis.release import Release

    kind, mark, name = begun.rpartition(":")
    file, asked = Path(context.params.get("file") or ""), context.params.get("questions") or ()
    if not mark and not (asked and str(asked[-1]).endswith(":")):
        return [kind for kind in KINDS if kind.startswith(begun)]
    names: list[str] = []
    with suppress(EquinoiseError, OSError):
        names = [] if file.suffix == ".eq" else Release.open(file).columns.names
    return [f"{kind}{mark}{column}" for column in names if column.startswith(name)]


@click.command("answer", epilog=EPILOG, short_help="Answer questions from what was published, with intervals.")
@click.argument("file", type=FILE_PATH)
@click.argument("questions", nargs=-1, metavar="QUESTION...", shell_complete=complete_question)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Answer for every category of this column, then for all; questions about it itself for all alone.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--schema", type=FILE_PATH, help="For rows: a TOML file of what is public about their columns.")
@verbose_option("Print in full what the intervals contain, and what became of values outside the bounds.")
@output_options("--out", help="A .csv, .tsv or .parquet file for the answers.")
def command(
    file: Path, questions: tuple[str, ...], by: str | None, level: float, schema: Path | None, out: Path | None,
    force: bool, as_json: bool, verbose: bool,
) -> None:  # fmt: skip
    """Answer questions from FILE alone, as often as you like: that costs nothing more, and no data is read.

    FILE is what 'synthesize' wrote: noisy counts (--publish-counts), or a saved mechanism that has them, from which an
    interval contains the privacy noise, the sampling of people and the width of the bins; or rows (.csv, .tsv,
    .parquet), from which it contains the sampling error of the rows alone.

    \b
    Questions, with columns and categories as the schema has them:
      mean:age  median:age  quantiles:age:0.1,0.9     of a column of numbers or dates
      count  count:ward  count:ward=emergency         how many there are
      share:ward  share:ward=emergency                which part of all they are
      correlation:age,stay                            of two columns of numbers
      difference:age:ward=elective,emergency          mean of the first group less that of the second, with a test

    \b
    Examples:
      equinoise answer counts.json mean:age median:age share:ward
      equinoise answer counts.json mean:age difference:stay:ward=elective,emergency --by sex --level 0.9
      equinoise answer rows.csv mean:age quantiles:stay:0.25,0.75 --schema icu.toml --out answers.csv
    """
    from equinoise.analysis.answers.ask import ask
    from equinoise.analysis.answers.questions import FORMS, parse_question
    from equinoise.analysis.release import Release
    from equinoise.atomic_write import check_writable
    from equinoise.data.write_rows import check_suffix, write_frames
    from equinoise.present import terminal

    if out is not None:
        check_suffix(out)
        check_writable(out, file, schema, force=force)
    if not questions:
        raise BadInput(f"Ask at least one question: {'; '.join(FORMS.values())}.")
    with terminal.task_progress("Working out answers"):
        release = Release.open(file, schema)
        columns = release.columns
        answers = ask(columns, [parse_question(text, columns) for text in questions], by=by, level=level, everyone=True)
    if out is not None:
        write_frames(out, iter([answers.to_frame()]), mode=0o644, force=force)
    promise = None if release.promise is None else release.promise.public().in_one_line
    if as_json:
        terminal.print_json({"file": str(file), **answers.to_json(), "promise": promise, "out": out and str(out)})
    else:
        terminal.show_answers(answers, promise, verbose=verbose)
        if out is not None:
            click.echo(f"Wrote {len(answers):,} answer{'s' * (len(answers) > 1)} to {out}.")
