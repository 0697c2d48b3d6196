"""``equinoise report``: one page about a saved mechanism."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from equinoise.cli.options import FILE_PATH, offering, output_options

EXIT = "Exit status: 0 done; 1 the promise does not hold; 2 bad input; 130 stopped."


@click.command("report", epilog=EXIT, short_help="Write one page about a saved mechanism, to look at.")
@click.argument("file", type=FILE_PATH)
@output_options("--out", help="An .html file; with --figure, a .png or .svg file.", required=True)
@click.option(
    "--figure", metavar="NAME",
    shell_complete=offering("distribution", "map", "noise", "losses", "cost", "epsilons", "convergence"),
    help="Only one figure, as a picture: distribution, map, noise, losses, cost, epsilons or convergence.",
)  # fmt: skip
@click.option("--public", is_flag=True, help="Leave out everything worked out from the data, and say what.")
def command(file: Path, out: Path, figure: str | None, public: bool, force: bool, as_json: bool) -> None:
    """Write a page about FILE: what is promised, how close it is, who needs noise, what draws cost, how to repeat it.

    The page is one file that loads nothing and sends nothing. It shows the histogram and is as secret as the data,
    unless it is made with --public. KL against epsilon and the solver's convergence are worked out again for it, which
    takes some seconds.

    \b
    Examples:
      equinoise report pay.eq --out report.html
      equinoise report pay.eq --public --out public.html
      equinoise report pay.eq --figure losses --out losses.svg
    """
    from equinoise.atomic_write import check_writable
    from equinoise.mechanisms.base import Mechanism
    from equinoise.present import terminal
    from equinoise.present.report import check_report, write_report
    from equinoise.solvers.solution import tell

    check_report(out, figure, public=public)
    check_writable(out, file, force=force)
    with terminal.progress() as progress:
        note = partial(tell, progress)
        note("Opening the mechanism")
        mechanism = Mechanism.open(file)
        written = write_report(mechanism, out, figure=figure, public=public, force=force, tell=note)
    if as_json:
        terminal.print_json(written)
        return
    what = f"The figure {figure!r}" if figure is not None else "The report"
    if public:
        click.echo(f"{what} is in {out}. Left out, as they are worked out from the data:")
        click.echo("\n".join(f"  {item}" for item in written["left_out"]))
    else:
        click.echo(f"{what} is in {out} (only you can read it). It is as secret as the data.")
