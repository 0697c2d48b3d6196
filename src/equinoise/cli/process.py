"""The process of a command: a stdout that nobody reads, a stderr that is full or closed, libraries that print there."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from typing import Any

import click

from equinoise.errors import BadInput, EquinoiseWarning, is_rust_panic
from equinoise.formatting import printable

STDERR = 2
MOST_HELD = 2**16
LEAST_SPACE = 2 * 2**30
"""With less address space, libraries fail in ways of their own: one waits for ever, one ends the process with 1, which
here says that a promise is not met."""


def drop_stdout() -> None:
    """What is still buffered for a stdout that cannot be written must not complain again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ForgivingStderr(io.TextIOWrapper):
    """A stderr that cannot be written (a full disk, nobody there) goes to nowhere: it has no say in how work ends."""

    def write(self, text: str) -> int:
        """So many letters, written or not."""
        try:
            return super().write(text)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return len(text)

    def flush(self) -> None:
        """Whatever can be."""
        with suppress(OSError):
            super().flush()


def forgive_stderr() -> None:
    """Make stderr such a one. Where there is none, its number must not go to the next file that is opened."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    elif (old := sys.__stderr__) is sys.stderr and old is not None:
        sys.stderr = ForgivingStderr(
            old.buffer, encoding=old.encoding, errors="backslashreplace", line_buffering=True, write_through=True
        )


def load_libraries_first(command: Callable[..., Any] | None) -> Callable[..., Any]:
    """A command that first loads the library that starts threads when it is loaded, and gives up if it cannot.

    Rust prints why, and where in its source, before anyone can stop it. One sentence is said of it instead.
    """
    assert command is not None

    @wraps(command)
    def run(*args: Any, **settings: Any) -> Any:
        check_space()
        if "polars" not in sys.modules:
            with hold_stderr():
                import_module("polars")
        return command(*args, **settings)

    return run


def check_space() -> None:
    """Refuse to start where libraries could not be loaded."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_SPACE:
        raise BadInput(
            f"This needs at least {LEAST_SPACE // 2**30} GB of address space, and the limit is {limit / 2**30:.2g} GB. "
            "Raise it (ulimit -v unlimited)."
        )


@contextmanager
def hold_stderr() -> Iterator[None]:
    """Keep what libraries print on stderr by themselves; it is printed after all unless one of them has given up."""
    try:
        buffer, real = os.memfd_create("stderr"), os.dup(STDERR)
    except (AttributeError, OSError):  # not on this system, or not now
        yield
        return
    os.dup2(buffer, STDERR)
    print_it = True
    try:
        yield
    except BaseException as error:
        print_it = not is_rust_panic(error)
        raise
    finally:
        os.dup2(real, STDERR)
        if print_it:
            with suppress(OSError):
                os.write(STDERR, os.pread(buffer, MOST_HELD, 0))
        os.close(real)
        os.close(buffer)


@contextmanager
def print_warnings() -> Iterator[list[str]]:
    """Warnings about what is promised: on stderr when the work is done, and listed for the JSON."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EquinoiseWarning)
        yield found
    found.extend(str(w.message) for w in caught if issubclass(w.category, EquinoiseWarning))
    for warning in found:
        click.echo(f"Warning: {printable(warning)}", err=True)
