"""What ``optimize`` and ``synthesize`` share: options of what is made, and saving it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equinoise.cli.options import output_options, parse_columns
from equinoise.cli.process import print_warnings
from equinoise.errors import BadInput

if TYPE_CHECKING:
    from equinoise.mechanisms.base import Mechanism

saving_options = output_options(
    "--out", help="Where to save the mechanism. As secret as the data.", required=True,
    force="Replace --out if it exists, together with its ledger.",
)  # fmt: skip


def make_and_save(
    make: Callable[..., Mechanism], data: Path, out: Path, *, force: bool, as_json: bool, base: Path | None = None,
    **settings: Any,
) -> None:  # fmt: skip
    """Make a mechanism by a function and its settings, save it, and show what was reached."""
    from equinoise.atomic_write import check_writable
    from equinoise.data.number_list import read_numbers
    from equinoise.mechanisms.base import released_from
    from equinoise.mechanisms.saved_file import free
    from equinoise.present import terminal

    parse_columns(settings)
    released = released_from(out)
    if released and not force:
        raise BadInput(
            f"The file {str(out)!r} exists, and {released:,} draw{'s were' if released > 1 else ' was'} released from "
            "it. Name another: with --force they are forgotten, but still count against the people in it."
        )
    check_writable(out, data, base, force=force)
    with free(out):  # before the work, not after it
        pass
    if base is not None:
        settings["base"] = read_numbers(base)
    with print_warnings() as warnings, terminal.progress() as progress:
        mechanism = make(data, progress=progress, **settings)
    mechanism.save(out, force=force)
    if released:
        warnings.append(
            f"{str(out)!r} was replaced together with its ledger. The {released:,} "
            f"draw{'s' * (released > 1)} released from it still count{'s' * (released == 1)} against the people in it."
        )
        click.echo(f"Warning: {warnings[-1]}", err=True)
    if as_json:
        terminal.print_json({**mechanism.summary(), "file": str(out), "warnings": warnings})
    else:
        terminal.show_optimized(mechanism, out)
