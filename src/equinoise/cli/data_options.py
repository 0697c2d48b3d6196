"""Options of every command that reads rows, and what they mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from equinoise.cli.options import LIMITS, Command, engine_options, offering
from equinoise.errors import BadInput, EquinoiseWarning
from equinoise.formatting import visible


def data_options(command: Command) -> Command:
    """What every command that reads rows takes: the column, its grid and what to do with unusable values."""
    for option in reversed(DATA_OPTIONS):
        command = option(command)
    return engine_options(command)


def game_options(command: Command) -> Command:
    """What every command that plays the game takes: the data, the noise, closeness and the runs of the solver."""
    command = data_options(command)
    for option in reversed(GAME_OPTIONS):
        command = option(command)
    return command


BOUNDS = click.option(
    "--bounds", type=LIMITS, multiple=True, metavar="COLUMN LOW HIGH",
    help="Public limits of a column. 'synthesize' needs them; left out elsewhere, they are read off the data, with "
    "a warning.",
)  # fmt: skip
MISSING = click.option(
    "--missing", default="refuse", show_default=True, shell_complete=offering("refuse", "drop"),
    help="refuse, or drop missing and infinite values."
)  # fmt: skip
OUTSIDE = click.option(
    "--outside", default="refuse", show_default=True, shell_complete=offering("refuse", "clip"),
    help="refuse, or clip values outside the bounds."
)  # fmt: skip

DATA_OPTIONS = [
    click.option(
        "--column", multiple=True,
        help="The column of numbers; one row is one person. Several: whole rows are drawn. Left out: those "
        "that --bounds names, or the only one.",
    ),
    BOUNDS,
    click.option(
        "--unit", metavar="COLUMN",
        help="All rows with the same value in COLUMN are one person's. Left out, every row is a person.",
    ),
    click.option(
        "--unit-rows", default="all", show_default=True, shell_complete=offering("all", "one"),
        help="With --unit: all rows of a person count and are removed together, or one, the middle one by value.",
    ),
    click.option("--bins", type=int, default=101, show_default=True, help="Bins of the padded range."),
    MISSING,
    OUTSIDE,
    click.option(
        "--padding-epsilon", type=float, default=1.0, show_default=True, help="Epsilon that sizes the padding."
    ),
    click.option(
        "--percentile", type=float, default=0.9, show_default=True,
        help="How much of that noise must fall within the padded range; 0.5 is no padding.",
    ),
]  # fmt: skip

GAME_OPTIONS = [
    click.option(
        "--noise", default="laplace", show_default=True,
        shell_complete=offering("laplace", "gaussian", "geometric", "staircase", "uniform-mixture"),
        help="Family of the noise: laplace, gaussian, geometric, staircase or uniform-mixture; 'compare' takes "
        "several, separated by commas.",
    ),
    click.option(
        "--scales", default="wide", show_default=True, shell_complete=offering("wide", "adaptive", "paper"),
        help="Noise scales on offer: wide; adaptive, new ones next to those in use; paper; or numbers in data units "
        "such as 50,500,20000.",
    ),
    click.option(
        "--utility", default="kl", show_default=True,
        shell_complete=offering("kl", "js", "tv", "wasserstein", "moments:"),
        help="What closeness to the original means to the game: kl, js, tv, wasserstein or moments:N.",
    ),
    click.option(
        "--restarts", type=int, help="Restarts of best response; the best end is kept.  [default: 8]"
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Of the solver's restarts (public); never of a draw."
    ),
]  # fmt: skip


def named_columns(column: Sequence[str], bounds: Sequence[tuple[str, float, float]]) -> str | list[str] | None:
    """The column, or several; left out, those that have bounds."""
    names = list(column) or [name for name, _, _ in bounds]
    return names if len(names) > 1 else next(iter(names), None)


@contextmanager
def warnings_said() -> Iterator[list[str]]:
    """Warnings about what is promised: shown on stderr when the work is done, and kept for the JSON."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EquinoiseWarning)
        yield said
    said.extend(str(w.message) for w in caught if issubclass(w.category, EquinoiseWarning))
    for warning in said:
        click.echo(f"Warning: {visible(warning)}", err=True)


def all_bounds(
    columns: str | list[str] | None, bounds: Sequence[tuple[str, float, float]]
) -> dict[str, tuple[float, float]]:
    """The bounds of each column; those of another one are refused."""
    names = columns if isinstance(columns, list) else [columns]
    found: dict[str, tuple[float, float]] = {}
    for name, low, high in bounds:
        if name in found:
            raise BadInput(f"Give --bounds once for column {name!r}.")
        if name not in names:
            raise BadInput(f"--bounds names column {name!r}, but --column is {', '.join(map(repr, names))}.")
        found[name] = low, high
    return found


def given_scales(text: str) -> str | list[float]:
    """The name of a set of scales, or numbers."""
    if text in {"wide", "adaptive", "paper"}:
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text  # refused where the names are known


def given_numbers(text: str, option: str = "--epsilon", such_as: str = "0.1,1") -> list[float]:
    """Numbers that were given with commas between them."""
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
