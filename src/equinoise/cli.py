"""The command line: reads options, calls the library, prints for people or as JSON.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from equinoise import __version__
from equinoise.cli_explore import explore
from equinoise.cli_losses import losses
from equinoise.cli_options import EPILOG, FILE_PATH, Command, engine_options, json_option
from equinoise.cli_report import report
from equinoise.cli_reproduce import reproduce
from equinoise.errors import BadInput, EquinoiseError, NotPublicWarning, PromiseNotMet, SeveralRowsWarning


@click.group(
    epilog="Three steps: 'optimize' a column into a certified mechanism, 'audit' it, 'sample' from it. "
    "'equinoise COMMAND --help' has examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="equinoise")
def cli() -> None:
    """Certified private draws from a column of numbers, with each person's own noise chosen by a game."""


def data_options(command: Command) -> Command:
    """What every command that reads rows takes: the column, its grid and what to do with unusable values."""
    for option in reversed(DATA_OPTIONS):
        command = option(command)
    return engine_options(command)


DATA_OPTIONS = [
    click.option(
        "--column", multiple=True,
        help="The column of numbers; one row is one person. 'optimize' takes several, to draw whole rows. Left out: "
        "those that --bounds names, or the only one.",
    ),
    click.option(
        "--bounds", type=(str, float, float), multiple=True, metavar="COLUMN LOW HIGH",
        help="Public limits of a column. Left out, they are read off the data, with a warning.",
    ),
    click.option(
        "--unit", metavar="COLUMN",
        help="All rows with the same value in COLUMN are one person's. Left out, every row is a person.",
    ),
    click.option(
        "--unit-rows", default="all", show_default=True,
        help="With --unit: all rows of a person count and are removed together, or one, the middle one by value.",
    ),
    click.option("--bins", type=int, default=101, show_default=True, help="Bins of the padded range."),
    click.option(
        "--noise", default="laplace", show_default=True,
        help="Family of the noise: laplace, gaussian, geometric, staircase or uniform-mixture; 'compare' takes "
        "several, separated by commas.",
    ),
    click.option(
        "--scales", default="wide", show_default=True,
        help="Noise scales on offer: wide; adaptive, new ones next to those in use; paper; or numbers in data units "
        "such as 50,500,20000.",
    ),
    click.option(
        "--utility", default="kl", show_default=True,
        help="What closeness to the original means to the game: kl, js, tv, wasserstein or moments:N.",
    ),
    click.option(
        "--missing", default="refuse", show_default=True, help="refuse, or drop missing and infinite values."
    ),
    click.option(
        "--outside", default="refuse", show_default=True, help="refuse, or clip values outside the bounds."
    ),
    click.option(
        "--restarts", type=int, help="Runs of best response; the best is kept.  [default: 8]"
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Of the solver's restarts (public); never of a draw."
    ),
    click.option(
        "--padding-epsilon", type=float, default=1.0, show_default=True, help="Epsilon that sizes the padding."
    ),
    click.option(
        "--percentile", type=float, default=0.9, show_default=True, help="Share of that noise inside the padding."
    ),
]  # fmt: skip


@cli.command(
    epilog=EPILOG,
    short_help="Make a certified mechanism from a column of numbers.",
)
@click.argument("data", type=FILE_PATH)
@click.option("--epsilon", type=float, required=True, 
    help="The loss that everyone must stay within: for one draw, or with --delta and several --draws for all together.",
)  # fmt: skip
@click.option("--out", type=FILE_PATH, required=True, help="Where to save the mechanism. As secret as the data.")
@click.option("--draws", type=int, default=1, show_default=True, help="How many draws may ever be released.")
@click.option(
    "--delta", type=float, default=0.0, show_default=True,
    help="Probability with which epsilon may be exceeded. With several draws, epsilon is then for all together.",
)  # fmt: skip
@click.option(
    "--guarantee", default="fixed-noise", show_default=True,
    help="The tier: fixed-noise, the game; end-to-end, the game with a loss also measured with the noise worked out "
    "again; worst-case, differential privacy without a game.",
)  # fmt: skip
@click.option(
    "--base", type=FILE_PATH,
    help="For the worst-case tier: a file with one number for each cell within the bounds, where people are expected.",
)  # fmt: skip
@click.option("--scale-per-column", is_flag=True, help="With several columns: a person may have another scale on each.")
@click.option("--renyi", type=float, metavar="ORDER", help="Bound the Renyi divergence of this order instead.")
@click.option(
    "--solver", default="best-response", show_default=True,
    help="best-response; optimal, the best profile with a proven gap; or genetic, the paper's other algorithm.",
)  # fmt: skip
@click.option("--generations", type=int, help="Generations of the genetic solver at most.  [default: 270]")
@click.option("--time-limit", type=float, help="Seconds for the optimal solver.  [default: 60]")
@data_options
@click.option("--force", is_flag=True, help="Replace --out if it exists, together with its ledger.")
@json_option
def optimize(
    data: Path, column: Sequence[str], epsilon: float, out: Path, bounds: Sequence[tuple[str, float, float]],
    unit: str | None, unit_rows: str,
    draws: int, delta: float, renyi: float | None, guarantee: str, base: Path | None, scale_per_column: bool,
    bins: int, noise: str, scales: str, utility: str, missing: str, outside: str, solver: str,
    time_limit: float | None, generations: int | None, restarts: int | None, seed: int,
    padding_epsilon: float, percentile: float, engine: str, engine_address: str | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Play the game on a column of DATA, or several, and save a certified mechanism.

    DATA is a CSV, TSV or Parquet file, a folder of such files or a quoted pattern.

    \b
    Examples:
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 0.5 --bounds pay 0 4000 --draws 10 \\
          --missing drop --outside clip --restarts 20 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --solver optimal --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --delta 1e-6 --draws 500 --bounds pay 0 4000 \\
          --guarantee worst-case --out pay.eq
      equinoise optimize people.csv --epsilon 1 --bounds height 120 230 --bounds weight 30 200 --out both.eq
      equinoise optimize visits.csv --column cost --unit patient --epsilon 1 --bounds cost 0 900 --out cost.eq
      equinoise optimize 'parts/*.parquet' --epsilon 1 --bounds pay 0 4000 --engine duckdb --out pay.eq
    """
    from equinoise import terminal
    from equinoise.files import check_writable, read_numbers
    from equinoise.pipeline import optimize as make

    name = _columns(column, bounds)
    limits = _all_bounds(name, bounds)
    check_writable(out, data, base, force=force)
    with _said() as said, terminal.progress() as seen:
        mechanism = make(
            data, epsilon=epsilon, column=name, bounds=limits or None, bins=bins, scales=_scales(scales),
            per_axis=scale_per_column, unit=unit, unit_rows=unit_rows,
            noise=noise, utility=utility, draws=draws, delta=delta, renyi=renyi, solver=solver,
            guarantee=guarantee, base=None if base is None else read_numbers(base),
            time_limit=time_limit, generations=generations,
            restarts=restarts, seed=seed, missing=missing, outside=outside,
            padding_epsilon=padding_epsilon, percentile=percentile,
            engine=engine, engine_address=engine_address, progress=seen,
        )  # fmt: skip
    mechanism.save(out, force=force)
    if as_json:
        terminal.print_json({**mechanism.summary(), "file": str(out), "warnings": said})
    else:
        terminal.show_optimized(mechanism, out)


def _columns(column: Sequence[str], bounds: Sequence[tuple[str, float, float]]) -> str | list[str] | None:
    """The column, or several; left out, those that have bounds."""
    names = list(column) or [name for name, _, _ in bounds]
    return names if len(names) > 1 else next(iter(names), None)


def _column(column: Sequence[str], bounds: Sequence[tuple[str, float, float]]) -> str | None:
    name = _columns(column, bounds)
    if isinstance(name, list):
        raise BadInput(f"One column at a time, please. Got {', '.join(repr(c) for c in name)}.")
    return name


@contextmanager
def _said() -> Iterator[list[str]]:
    """Warnings about what is not public, or no person: shown on stderr when the work is done, and kept for the JSON."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        for kind in (NotPublicWarning, SeveralRowsWarning):
            warnings.simplefilter("always", kind)
        yield said
    said.extend(str(w.message) for w in caught if issubclass(w.category, NotPublicWarning | SeveralRowsWarning))
    for warning in said:
        click.echo(f"Warning: {warning}", err=True)


def _bounds(column: str | None, bounds: Sequence[tuple[str, float, float]]) -> tuple[float, float] | None:
    return _all_bounds(column, bounds).get(column or "")


def _all_bounds(
    columns: str | list[str] | None, bounds: Sequence[tuple[str, float, float]]
) -> dict[str, tuple[float, float]]:
    names = columns if isinstance(columns, list) else [columns]
    found: dict[str, tuple[float, float]] = {}
    for name, low, high in bounds:
        if name in found:
            raise BadInput(f"Give --bounds once for column {name!r}.")
        if name not in names:
            raise BadInput(f"--bounds names column {name!r}, but --column is {', '.join(map(repr, names))}.")
        found[name] = low, high
    return found


def _scales(text: str) -> str | list[float]:
    if text in {"wide", "adaptive", "paper"}:
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text  # refused where the names are known


@cli.command(epilog=EPILOG, short_help="Put the game beside what one would use instead.")
@click.argument("data", type=FILE_PATH)
@click.option("--epsilon", "epsilons", required=True, help="One or several, separated by commas.")
@click.option(
    "--time-limit", type=float, default=20.0, show_default=True, help="Seconds for the optimal solver, per epsilon."
)
@click.option("--genetic", is_flag=True, help="Also run the genetic solver, which is slow.")
@data_options
@click.option("--plot", type=FILE_PATH, help="A .png, .svg or .html file for a picture. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def compare(
    data: Path, column: Sequence[str], epsilons: str, time_limit: float, genetic: bool,
    bounds: Sequence[tuple[str, float, float]], bins: int, noise: str, scales: str, utility: str, missing: str,
    outside: str, restarts: int | None, seed: int, padding_epsilon: float, percentile: float,
    unit: str | None, unit_rows: str, engine: str, engine_address: str | None, plot: Path | None, force: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Run the game and what one would use instead on one column of DATA: how close, how fast, what is promised.

    The instead: Laplace and staircase noise for everyone, smoothed counts and (extra 'peers') an OpenDP histogram.
    Nothing is saved but the plot, and nothing can be released from here.

    \b
    Examples:
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 0.1,0.3,1,2,4,8
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --plot pay.html --json
      equinoise compare pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --noise laplace,gaussian
    """
    from equinoise import charts, terminal
    from equinoise.comparison import check_epsilons
    from equinoise.comparison import compare as make
    from equinoise.files import check_writable

    name = _column(column, bounds)
    asked = check_epsilons(_numbers(epsilons))
    if plot is not None:
        charts.check_picture(plot)
        check_writable(plot, data, force=force)
    with _said() as said, terminal.comparing() as seen:
        found = make(
            data, epsilons=asked, column=name, bounds=_bounds(name, bounds), bins=bins, scales=_scales(scales),
            noise=[family.strip() for family in noise.split(",")] if "," in noise else noise,
            utility=utility, time_limit=time_limit, genetic=genetic, restarts=restarts, seed=seed,
            missing=missing, outside=outside, padding_epsilon=padding_epsilon, percentile=percentile,
            unit=unit, unit_rows=unit_rows, engine=engine, engine_address=engine_address, progress=seen,
        )  # fmt: skip
    for left in found.left_out:
        at = "" if left.epsilon is None else f" at epsilon {left.epsilon:g}"
        click.echo(f"Left out: {left.method}{at}. {left.reason}", err=True)
    if plot is not None:
        charts.plot_comparison(found, plot, force=force)
    if as_json:
        terminal.print_json({**found.to_json(), "warnings": said, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_comparison(found, plot)


def _numbers(text: str, option: str = "--epsilon", such_as: str = "0.1,1") -> list[float]:
    if not text.strip():
        raise BadInput(f"{option} is empty. Give numbers separated by commas, such as {such_as}.")
    numbers = []
    for part in text.split(","):
        try:
            numbers.append(float(part))
        except ValueError:
            raise BadInput(
                f"{option} must be numbers separated by commas, such as {such_as}. Got {part.strip()[:40]!r} among "
                "them."
            ) from None
    return numbers


@cli.command(epilog=EPILOG, short_help="Show how the cost of many draws grows.")
@click.argument("file", type=FILE_PATH)
@click.option("--draws", default="1,10,100,500", show_default=True, help="Numbers of draws, separated by commas.")
@click.option("--delta", type=float, help="Probability of more.  [default: the mechanism's, or 1e-6]")
@click.option("--plot", type=FILE_PATH, help="A .png, .svg or .html file for a picture. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def cost(file: Path, draws: str, delta: float | None, plot: Path | None, force: bool, as_json: bool) -> None:
    """Show what draws from FILE cost together, for numbers of draws that are allowed or not. Nothing is released.

    \b
    Examples:
      equinoise cost pay.eq
      equinoise cost pay.eq --draws 1,10,1000 --delta 1e-9 --plot cost.svg
    """
    from equinoise import charts, terminal
    from equinoise.draws import MOST_DRAWS
    from equinoise.errors import check
    from equinoise.files import check_writable
    from equinoise.mechanism import Mechanism

    given = sorted(set(_numbers(draws, "--draws", "1,10")))
    for number in given:
        check(
            number.is_integer() and 1 <= number <= MOST_DRAWS, "draws", f"whole numbers from 1 to {MOST_DRAWS}", number
        )
    if delta is not None:
        check(1e-15 <= delta < 1, "delta", "at least 1e-15 and below 1", delta)
    if plot is not None:
        charts.check_picture(plot)
        check_writable(plot, file, force=force)
    with terminal.working("Working out what draws cost together"):
        mechanism = Mechanism.open(file)
        costs = mechanism.costs([int(n) for n in given], delta)
    if plot is not None:
        charts.plot_costs(mechanism, costs, plot, force=force)
    if as_json:
        shown = {"costs": costs, "allowed": mechanism.draws, "promise": mechanism.promise}
        terminal.print_json({**shown, "plot": None if plot is None else str(plot)})
    else:
        terminal.show_costs(mechanism, costs, plot)


@cli.command(epilog=EPILOG, short_help="Release draws from a saved mechanism.")
@click.argument("file", type=FILE_PATH)
@click.option("-n", "draws", type=int, default=1, show_default=True, help="How many draws to release.")
@click.option("--out", type=FILE_PATH, help="A CSV file for the rows, instead of stdout.")
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
@json_option
def sample(file: Path, draws: int, out: Path | None, force: bool, as_json: bool) -> None:
    """Release draws from FILE, in data units. They are charged to its ledger before the first one appears.

    Draws come from the operating system's random source and cannot be repeated. A charge stays even if the
    rows are lost.

    \b
    Examples:
      equinoise sample pay.eq -n 1
      equinoise sample pay.eq -n 1000 --out rows.csv
    """
    from equinoise import terminal
    from equinoise.files import check_writable, write_whole
    from equinoise.mechanism import Mechanism

    mechanism = Mechanism.open(file)
    if out is not None:
        check_writable(out, file, force=force)
    names, rows = [axis.name for axis in mechanism.grid.axes], []
    with terminal.drawing(draws, quiet=out is None and sys.stdout.isatty()) as seen:
        values = seen(mechanism.stream(draws))
        if out is not None:
            lines = (text.encode() for text in terminal.csv_rows(names, values))
            write_whole(out, lines, mode=0o644, force=force)
        elif as_json:
            rows = [value for part in values for value in part.tolist()]
        else:
            _write_rows(terminal.csv_rows(names, values))
    spent = mechanism.ledger.spent
    if as_json:
        terminal.print_json(
            {
                "column": names[0] if len(names) == 1 else names,
                "rows": rows if out is None else None,
                "file": None if out is None else str(out),
                "draws": draws,
                "spent": spent,
                "allowed": mechanism.draws,
                "declared_cost": mechanism.cost(spent),
                "promise": mechanism.promise,
            }
        )
    else:
        terminal.show_released(mechanism, draws, spent, out)


def _write_rows(lines: Iterator[str]) -> None:
    """Rows to stdout; a reader that has enough of them is no error (click would exit with 1)."""
    try:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()


@cli.command(epilog=EPILOG, short_help="Check a saved mechanism again, from its integers.")
@click.argument("file", type=FILE_PATH)
@click.option("--data", type=FILE_PATH, help="Also check that the histogram is this data's.")
@engine_options
@click.option(
    "--end-to-end", is_flag=True,
    help="Also measure the loss of the whole procedure: solve again without a person of each occupied cell.",
)  # fmt: skip
@click.option("--plot", type=FILE_PATH, help="With --end-to-end, a .png, .svg or .html file. As secret as the data.")
@click.option("--force", is_flag=True, help="Replace --plot if it exists.")
@json_option
def audit(
    file: Path, data: Path | None, engine: str, engine_address: str | None, end_to_end: bool, plot: Path | None,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Derive the certificate of FILE again, from the file alone, and show everyone's losses.

    \b
    Examples:
      equinoise audit pay.eq
      equinoise audit pay.eq --data pay.csv --json
      equinoise audit pay.eq --data pay.csv --end-to-end --plot losses.svg
    """
    from equinoise import charts, terminal
    from equinoise.audit import audit as check
    from equinoise.files import check_writable

    if plot is not None:
        if not end_to_end:
            raise BadInput("--plot draws end-to-end losses: ask for them with --end-to-end.")
        charts.check_picture(plot)
        check_writable(plot, file, data, force=force)
    with terminal.progress() as seen:
        found = check(file, data, end_to_end=end_to_end, engine=engine, engine_address=engine_address, progress=seen)
    drawn = None if found.end_to_end is None else plot
    if end_to_end and found.end_to_end is None:
        click.echo("Nothing was measured end to end, because the audit failed before.", err=True)
    if drawn is not None:
        charts.plot_end_to_end(found, drawn, force=force)
    if as_json:
        terminal.print_json({**found.to_json(), "plot": None if drawn is None else str(drawn)})
    else:
        terminal.show_audit(found, drawn)
    if not found.passed:
        raise click.exceptions.Exit(1)


@cli.command(epilog=EPILOG, short_help="Show what a saved mechanism consists of.")
@click.argument("file", type=FILE_PATH)
@json_option
def show(file: Path, as_json: bool) -> None:
    """Show the grid, the scales and the profile of FILE: enough to compute its output and every loss again.

    \b
    Examples:
      equinoise show pay.eq
      equinoise show pay.eq --json
    """
    from equinoise import terminal
    from equinoise.mechanism import Mechanism

    with terminal.working("Checking the certificate"):
        mechanism = Mechanism.open(file)
    if as_json:
        terminal.print_json({**mechanism.to_json(), "spent": mechanism.ledger.spent, "promise": mechanism.promise})
    else:
        terminal.show_mechanism(mechanism)


@cli.command(epilog=EPILOG, short_help="The whole job on a real column of pay.")
@click.option(
    "--report", "page", type=FILE_PATH, default=Path("equinoise-demo.html"), show_default=True,
    help="Where to write a page about it; an earlier one is replaced.",
)  # fmt: skip
@json_option
def demo(page: Path, as_json: bool) -> None:
    """Run the three steps on the monthly pay of 935 people (extra 'demo'): optimize at epsilon 1, save, sample; and
    write a report to look at.

    \b
    Examples:
      equinoise demo
      equinoise demo --json
    """
    from equinoise import demo as example
    from equinoise import terminal

    with terminal.progress() as seen:
        mechanism, rows = example.run(page, seen)
    if as_json:
        terminal.print_json({**mechanism.summary(), "rows": rows, "report": str(page)})
    else:
        terminal.show_demo(mechanism, rows, page)


cli.add_command(explore)
cli.add_command(losses)
cli.add_command(report)
cli.add_command(reproduce)


def main() -> None:
    """Run the command line; every failure is one or two sentences and an exit status, never a traceback."""
    as_json = "--json" in sys.argv[1:]
    if sys.stdout is None:
        _fail("There is no stdout to print to.", 2, as_json=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show is no reason to fail
    try:
        status = cli.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(0)
    except click.ClickException as error:
        hint = f" See '{error.ctx.command_path} --help'." if isinstance(error, click.UsageError) and error.ctx else ""
        _fail(error.format_message().rstrip() + hint, 2, as_json)
    except PromiseNotMet as error:
        _fail(str(error), 1, as_json, error.facts)
    except EquinoiseError as error:
        _fail(str(error), 2, as_json)
    except (KeyboardInterrupt, click.Abort):
        _fail("Stopped. Nothing more was written.", 130, as_json)
    except BrokenPipeError:
        _drop_stdout()
        sys.exit(0)
    except OSError as error:
        _drop_stdout()
        _fail(f"The output could not be written: {error.strerror or error}.", 2, as_json)
    except MemoryError:
        _fail("There is not enough memory. Use fewer bins or scales, or draw fewer rows at a time.", 2, as_json)
    except Exception as error:  # the last resort: no traceback ever
        _fail(f"Something unexpected went wrong ({type(error).__name__}: {error}). Please report it.", 2, as_json)


def _drop_stdout() -> None:
    """What is still buffered for a stdout that cannot be written must not complain again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int, as_json: bool, facts: dict[str, Any] | None = None) -> None:
    click.echo(f"Error: {message}", err=True)
    if as_json:
        import json

        click.echo(json.dumps({"error": message, "status": status, **(facts or {})}))
    sys.exit(status)
