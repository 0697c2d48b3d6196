"""The command line: one file a command; here they come together, and every failure becomes a sentence.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from equinoise import __version__
from equinoise.cli.compare import compare
from equinoise.cli.demo import demo
from equinoise.cli.explore import explore
from equinoise.cli.losses import losses
from equinoise.cli.optimize import optimize
from equinoise.cli.report import report
from equinoise.cli.reproduce import reproduce
from equinoise.cli.sample import sample
from equinoise.cli.saved import audit, cost, show
from equinoise.cli.streams import drop_stdout, forgiving_stderr, libraries_loaded
from equinoise.cli.synthesize import synthesize
from equinoise.errors import MEMORY, NOT_WRITTEN, EquinoiseError, PromiseNotMet, by_panic, by_system, panicked
from equinoise.formatting import visible

THREE_STEPS = """\
Certified private draws from a column of numbers, with each person's own noise chosen by a game.

Three steps, here for a file pay.csv with a column 'pay' that anyone knows to lie between 0 and 4000:

  1. Optimize: make a certified mechanism from the column.
       equinoise optimize pay.csv --column pay --bounds pay 0 4000 --epsilon 1 --draws 10 --out pay.eq
  2. Audit: check it again, and look at it.
       equinoise audit pay.eq --data pay.csv
       equinoise report pay.eq --out report.html
  3. Sample: release draws. Only these may be given away.
       equinoise sample pay.eq -n 10

Differential privacy for every dataset, without a game: 'equinoise synthesize' in place of 'optimize'.
To see all of it on real pay first: equinoise demo
To see what settings do, on a page: equinoise explore pay.csv --column pay --bounds pay 0 4000
All commands: equinoise --help; one of them: equinoise optimize --help"""


SPELLED = {"per_axis": "--scale-per-column", "epsilons": "--epsilon", "n": "-n"}
"""Options that are not called as the parameter is."""


class ReaderLeft(Exception):
    """Nobody reads what is written. Click would end with 1, which here says that a promise is not met."""


class _Commands(click.Group):
    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with _told_apart():
            return super().make_context(*args, **settings)

    def invoke(self, context: click.Context) -> Any:
        with _told_apart():
            return super().invoke(context)


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise ReaderLeft from None


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    epilog="Three steps: 'optimize' (or 'synthesize') a column into a certified mechanism, 'audit' it, 'sample' "
    "from it. 'equinoise COMMAND --help' has examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="equinoise")
@click.pass_context
def cli(context: click.Context) -> None:
    """Certified private draws from a column of numbers, with each person's own noise chosen by a game."""
    if context.invoked_subcommand is None:
        click.echo(THREE_STEPS)


for _command in (audit, compare, cost, demo, explore, losses, optimize, report, reproduce, sample, show, synthesize):
    cli.add_command(_command)
    _command.callback = libraries_loaded(_command.callback)


def main() -> None:
    """Run the command line; every failure is one or two sentences and an exit status, never a traceback."""
    as_json = "--json" in sys.argv[1:]
    forgiving_stderr()
    if sys.stdout is None:
        _fail("There is no stdout to print to.", 2, as_json=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show is no reason to fail
    status = 0
    try:
        found = cli.main(prog_name="equinoise", standalone_mode=False)
        status = found if isinstance(found, int) else 0
        sys.stdout.flush()
        sys.exit(status)
    except (BrokenPipeError, ReaderLeft):  # no error
        drop_stdout()
        sys.exit(status)
    except (OSError, ImportError) as error:
        if isinstance(error, OSError) and error.errno in NOT_WRITTEN:
            drop_stdout()
        _fail(by_system(error), 2, as_json)
    except (Exception, KeyboardInterrupt) as error:
        _fail(*_ended(error), as_json, getattr(error, "facts", None))
    except BaseException as error:
        if not panicked(error):
            raise
        _fail(by_panic(error), 2, as_json)


def _ended(error: BaseException) -> tuple[str, int]:
    """The sentence and the exit status that an error ends with."""
    if isinstance(error, click.ClickException):
        return _usage(error), 2
    if isinstance(error, EquinoiseError):
        return _in_options(str(error)), 1 if isinstance(error, PromiseNotMet) else 2
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "Stopped. Nothing more was written.", 130
    if isinstance(error, MemoryError):
        return MEMORY, 2
    # the last resort: no traceback ever
    return f"Something unexpected went wrong ({type(error).__name__}: {error}). Please report it.", 2


def _in_options(said: str) -> str:
    """A sentence about a parameter, as the library says it, about the option that it was given by."""
    options = {name for command in cli.commands.values() for option in command.params for name in option.opts}

    def named(found: re.Match[str]) -> str:
        option = SPELLED.get(found[1], f"--{found[1].replace('_', '-')}")
        return option if option in options else found[0]

    return re.sub(r"The '(\w+)' parameter", named, said)


def _usage(error: click.ClickException) -> str:
    """What click says, in our words."""
    said = error.format_message().rstrip()
    for theirs, ours in (("a valid float", "a number"), ("a valid integer", "a whole number")):
        said = said.replace(f"is not {theirs}", f"is not {ours}")
    said += "" if said.endswith((".", "?", ")")) and "extra argument" not in said else "."
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return said
    if "extra argument" in said and any(parameter.name == "data" for parameter in context.command.params):
        said += " DATA is one file, a folder, or a pattern in quotes, such as 'parts/*.parquet'."
    return f"{said} See '{context.command_path} --help'."


def _fail(message: str, status: int, as_json: bool, facts: dict[str, Any] | None = None) -> NoReturn:
    click.echo(f"Error: {visible(message)}", err=True)
    if as_json:
        import json

        try:
            click.echo(json.dumps({"error": message, "status": status, **(facts or {})}))
        except OSError:  # nobody reads it, or the disk is full; it has been said on stderr
            drop_stdout()
    sys.exit(status)
