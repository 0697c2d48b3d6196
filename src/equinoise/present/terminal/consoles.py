"""Where people's output goes: tables to stdout, progress and notes to stderr."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

NARROWEST_WIDTH, USUAL_WIDTH, PIPE_WIDTH = 10, 80, 200


class _Piped(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, for which a reader that goes away is no error."""
        raise BrokenPipeError


def stdout_console() -> Console:
    """For what was asked for."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return _wide_enough(_Piped(highlight=False, soft_wrap=True, markup=False, width=width))


def stderr_console() -> Console:
    """For progress and notes."""
    return _wide_enough(Console(stderr=True, highlight=False, soft_wrap=True, markup=False))


def _wide_enough(console: Console) -> Console:
    """A terminal that does not know its width says that it has none: nothing would be shown."""
    if console.width < NARROWEST_WIDTH:
        console.width = USUAL_WIDTH
    return console


def is_interactive(console: Console) -> bool:
    """Whether a line that changes can be shown: on a real terminal, whatever colours are forced elsewhere."""
    return console.file.isatty() and not console.is_dumb_terminal


def number_table(title: str, *names: str) -> Table:
    """An empty table of numbers: every column is aligned to the right."""
    table = Table(title=title)
    for name in names:
        table.add_column(name, justify="right")
    return table
