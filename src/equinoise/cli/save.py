"""What ``optimize`` and ``synthesize`` share: the file of a mechanism, looked at before the work."""

from __future__ import annotations

import os
from pathlib import Path

import click

from equinoise.errors import BadInput
from equinoise.formatting import printable


def check_mechanism_file(path: Path, *inputs: Path | None, option: str, force: bool, cost: str = "") -> int:
    """Refuse a file for a mechanism that could not be written, before the work, and say what it would ``cost`` to
    replace it; how many rows were released from what is replaced."""
    from equinoise.atomic_write import check_writable
    from equinoise.mechanisms.base import released_from
    from equinoise.mechanisms.saved_file import free

    released = released_from(path)
    if released and not force:
        raise BadInput(
            f"The file {str(path)!r} exists, and {released:,} draw{'s were' if released > 1 else ' was'} released "
            f"from it. Name another with {option}: with --force they are forgotten, but still count against the people "
            f"in it. {cost}".rstrip()
        )
    check_writable(path, *inputs, force=force, cost=cost)
    with free(path):  # not in use
        pass
    return released


def check_different(*paths: Path | None) -> None:
    """Refuse one name for two files: the mechanism, which is secret, would be where rows to publish are expected."""
    written: set[str] = set()
    for path in filter(None, paths):
        name = os.path.realpath(path)
        if name in written:
            raise BadInput(f"{str(path)!r} is named for two files. Give each a name of its own.")
        written.add(name)


def warn_of_replaced(path: Path, released: int, warnings: list[str]) -> None:
    """Say that the ledger of what was replaced is gone, if anything was released from it."""
    if released:
        warnings.append(
            f"{str(path)!r} was replaced together with its ledger. The {released:,} "
            f"draw{'s' * (released > 1)} released from it still count{'s' * (released == 1)} against the people in it."
        )
        click.echo(f"Warning: {printable(warnings[-1])}", err=True)
