"""The command line: one file a command; here they come together, and every failure becomes a sentence.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import re
import sys
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import shell_complete

from equinoise import __version__
from equinoise.choices import COMMANDS
from equinoise.cli.process import drop_stdout, forgive_stderr, load_libraries_first
from equinoise.errors import (
    MEMORY,
    NOT_WRITTEN,
    EquinoiseError,
    PromiseNotMet,
    is_rust_panic,
    panic_sentence,
    system_sentence,
)
from equinoise.formatting import printable

THREE_STEPS = """\
Private rows of small data about people: with differential privacy, or with noise that a game chooses.

Three steps, here for a file people.csv of about 900 people:

  1. Say what is public about the columns: fill in the blanks of a draft.
       equinoise schema people.csv --out people.toml
  2. Synthesize: rows that may be published, with differential privacy.
       equinoise synthesize people.csv --schema people.toml --people 900 --epsilon 1 --rows 99 --out rows.csv
  3. Look at what was kept, and what it cost.
       equinoise report rows.eq --out report.html

The paper's game, in which everyone has noise of their own: equinoise optimize --help
Both on real people first: equinoise demo
What to expect: equinoise plan --schema people.toml --people 900 --epsilon 1 --rows 99
All commands: equinoise --help; one of them: equinoise synthesize --help"""


class Commands(click.Group):
    """The commands of :data:`equinoise.choices.COMMANDS`, each loaded when it is first needed."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Their names, as ``--help`` and a shell have them."""
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of a name, if there is one."""
        return load_command(COMMANDS[name]) if name in COMMANDS else None


@cache
def load_command(module: str) -> click.Command:
    """The command of a module, which declares it as ``command``."""
    found: click.Command = import_module(module).command
    for command in _commands_of(found).values():
        command.callback = load_libraries_first(command.callback)
    return found


def _commands_of(command: click.Command) -> dict[str, click.Command]:
    """A command by its name; of a group its own commands: ``book create``."""
    if not isinstance(command, click.Group):
        return {str(command.name): command}
    return {f"{command.name} {name}": each for name, each in command.commands.items()}


def all_commands() -> dict[str, click.Command]:
    """Every command by its name, those of a group with the group's."""
    groups = (_commands_of(load_command(COMMANDS[name])) for name in sorted(COMMANDS))
    return {name: command for group in groups for name, command in group.items()}


@click.group(
    cls=Commands,
    invoke_without_command=True,
    epilog="Three steps: a 'schema' says what is public, 'synthesize' makes rows to publish, 'report' shows what was "
    "kept. 'equinoise COMMAND --help' has examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="equinoise")
@click.pass_context
def cli(context: click.Context) -> None:
    """Private rows of small data about people: with differential privacy, or with noise that a game chooses."""
    if context.invoked_subcommand is None:
        click.echo(THREE_STEPS)


def main() -> None:
    """Run the command line; every failure is one or two sentences and an exit status, never a traceback."""
    as_json = "--json" in sys.argv[1:]
    forgive_stderr()
    if sys.stdout is None:
        _fail("There is no stdout to print to.", 2, as_json=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show is no reason to fail
    status = 0
    try:
        status = _run()
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:  # no error
        drop_stdout()
        sys.exit(status)
    except (OSError, ImportError) as error:
        if isinstance(error, OSError) and error.errno in NOT_WRITTEN:
            drop_stdout()
        _fail(system_sentence(error), 2, as_json)
    except (Exception, KeyboardInterrupt) as error:
        _fail(*_ending(error), as_json, getattr(error, "facts", None))
    except BaseException as error:
        if not is_rust_panic(error):
            raise
        _fail(panic_sentence(error), 2, as_json)


def _run() -> int:
    """Run the command, or complete it for a shell. (Click's own ``main`` ends with 1 where nobody reads.)"""
    if "_EQUINOISE_COMPLETE" in os.environ:
        return shell_complete(cli, {}, "equinoise", "_EQUINOISE_COMPLETE", os.environ["_EQUINOISE_COMPLETE"])
    try:
        with cli.make_context("equinoise", sys.argv[1:]) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _ending(error: BaseException) -> tuple[str, int]:
    """The sentence and the exit status that an error ends with."""
    if isinstance(error, click.ClickException):
        return _usage(error), 2
    if isinstance(error, EquinoiseError):
        return _name_options(str(error)), 1 if isinstance(error, PromiseNotMet) else 2
    if isinstance(error, KeyboardInterrupt):
        return "Stopped. Nothing more was written.", 130
    if isinstance(error, MemoryError):
        return MEMORY, 2
    # the last resort: no traceback ever
    return f"Something unexpected went wrong ({type(error).__name__}: {error}). Please report it.", 2


def _name_options(sentence: str) -> str:
    """A sentence about a parameter, as the library has it, about the option that it was given by."""
    parameters = (parameter for command in all_commands().values() for parameter in command.params)
    options = {option.name: option.opts[0] for option in parameters if isinstance(option, click.Option)}
    return re.sub(r"The '(\w+)' parameter", lambda found: options.get(found[1], found[0]), sentence)


def _usage(error: click.ClickException) -> str:
    """What click says, in our words."""
    sentence = error.format_message().rstrip()
    for theirs, ours in (("a valid float", "a number"), ("a valid integer", "a whole number")):
        sentence = sentence.replace(f"is not {theirs}", f"is not {ours}")
    sentence += "" if sentence.endswith((".", "?", ")")) and "extra argument" not in sentence else "."
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return sentence
    if "extra argument" in sentence and any(parameter.name == "data" for parameter in context.command.params):
        sentence += " DATA is one file, a folder, or a pattern in quotes, such as 'parts/*.parquet'."
    return f"{sentence} See '{context.command_path} --help'."


def _fail(message: str, status: int, as_json: bool, facts: dict[str, Any] | None = None) -> NoReturn:
    click.echo(f"Error: {printable(message)}", err=True)
    if as_json:
        import json

        try:
            click.echo(json.dumps({"error": message, "status": status, **(facts or {})}))
        except OSError:  # nobody reads it, or the disk is full; it has been said on stderr
            drop_stdout()
    sys.exit(status)
