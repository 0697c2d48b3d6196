"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

EPILOG = "Exit status: 0 done; 1 the promise could not be met; 2 bad input; 130 stopped."
Command = TypeVar("Command", bound=Callable[..., Any])
FILE_PATH = click.Path(path_type=Path)


Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def offering(*names: str) -> Completion:
    """For a shell that completes: the names that a value may have. Whether it has one is checked by the library."""
    return lambda context, parameter, begun: [name for name in names if name.startswith(begun)]


def limit(value: str) -> float:
    """A number of --bounds. Who forgets the column is told of all three."""
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a number. Give a column and its two limits, such as pay 0 4000."
        ) from None


LIMITS = (str, limit, limit)
"""What --bounds takes."""


def json_option(command: Command) -> Command:
    """Every command's --json."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else there."
    )(command)


def engine_options(command: Command) -> Command:
    """What reads the files, of every command that does."""
    address = click.option(
        "--engine-address", metavar="ADDRESS",
        help="Of a running Dask scheduler (tcp://127.0.0.1:8786) or a Spark master (spark://127.0.0.1:7077). Left "
        "out, this machine does the work.",
    )  # fmt: skip
    engine = click.option(
        "--engine", default="polars", show_default=True, shell_complete=offering("polars", "duckdb", "dask", "spark"),
        help="What reads and counts the files: polars, duckdb, dask or spark. The counts are the same.",
    )  # fmt: skip
    return engine(address(command))
