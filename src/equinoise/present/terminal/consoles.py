"""Where people's output goes: tables to stdout, progress and notes to stderr."""

from __future__ import annotations

import sys

from rich.console import Console

NARROWEST, USUAL = 10, 80


class _Piped(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, for which a reader that goes away is no error."""
        raise BrokenPipeError


def screen() -> Console:
    """Stdout."""
    wide = None if sys.stdout.isatty() else 200
    return _wide_enough(_Piped(highlight=False, soft_wrap=True, markup=False, width=wide))


def notes() -> Console:
    """Stderr."""
    return _wide_enough(Console(stderr=True, highlight=False, soft_wrap=True, markup=False))


def _wide_enough(console: Console) -> Console:
    """A terminal that does not know its width says that it has none: nothing would be shown."""
    if console.width < NARROWEST:
        console.width = USUAL
    return console


def somebody_looks(console: Console) -> bool:
    """Whether a line that changes can be shown: on a real terminal, whatever colours are forced elsewhere."""
    return console.file.isatty() and not console.is_dumb_terminal
