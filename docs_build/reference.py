"""The reference pages: written when the site is built, from the public names and from the command line.

The pages in docs/reference/ have a few words and a mark; what belongs there takes the mark's place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import click

PYTHON, COMMANDS = "<!-- public names -->", "<!-- commands -->"


def filled(markdown: str) -> str:
    """The page with whatever belongs at its mark."""
    makers: dict[str, Callable[[], str]] = {PYTHON: python_names, COMMANDS: command_line}
    for mark, make in makers.items():
        if mark in markdown:
            markdown = markdown.replace(mark, make())
    return markdown


def python_names() -> str:
    """A place for every public name; mkdocstrings writes what is there."""
    import equinoise

    functions = [name for name in equinoise.__all__ if name[0].islower()]
    classes = [name for name in equinoise.__all__ if name not in functions]
    first = ["optimize", "synthesize"]
    rest = [name for name in functions if name not in first]
    return "\n\n".join(f"::: equinoise.{name}" for name in [*first, *rest, *classes])


def command_line() -> str:
    """Every command: its usage, its help, its options."""
    from equinoise.cli.main import all_commands, cli

    commands = {"equinoise": cli, **{f"equinoise {name}": command for name, command in all_commands().items()}}
    return "\n\n".join(_command(path, command) for path, command in commands.items())


def _command(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
    parts = [f"## {path}", f"```\n{path} {' '.join(command.collect_usage_pieces(context))}\n```"]
    parts += [_paragraph(part) for part in (command.help or "").split("\n\n")]
    if isinstance(command, click.Group):
        rows = [
            (f"[`{name}`](#{path}-{name})", each.get_short_help_str(200)) for name, each in command.commands.items()
        ]
        parts.append(_table("command", rows))
    records = [option.get_help_record(context) for option in command.get_params(context)]
    parts.append(_table("option", [(f"`{record[0]}`", _plain(record[1])) for record in records if record]))
    return "\n\n".join([*parts, _plain(command.epilog or "")])


def _paragraph(text: str) -> str:
    """Click's help marks with a \\b what must keep its lines: examples."""
    if not text.lstrip().startswith("\b"):
        return _plain(" ".join(text.split()))
    _, title, *lines = text.lstrip("\n").split("\n")
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join([title.strip(), "", "```", *(line[indent:] for line in lines), "```"])


def _table(head: str, rows: list[tuple[str, str]]) -> str:
    body = [f"| {left} | {right} |" for left, right in rows]
    return "\n".join([f"| {head} | what it does |", "| --- | --- |", *body])


def _plain(text: str) -> str:
    """As it stands: nothing in it is Markdown."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)
