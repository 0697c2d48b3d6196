"""What ``optimize`` and ``synthesize`` share: options of what is promised, and saving what was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equinoise.cli.data_options import all_bounds, named_columns, warnings_said
from equinoise.cli.options import FILE_PATH, Command, json_option
from equinoise.errors import BadInput

if TYPE_CHECKING:
    from equinoise.mechanisms.base import Mechanism

OPTIONS = [
    click.argument("data", type=FILE_PATH),
    click.option(
        "--epsilon", type=float, required=True,
        help="The loss that everyone must stay within: for one draw, or with --delta and several --draws for all "
        "together.",
    ),
    click.option("--out", type=FILE_PATH, required=True, help="Where to save the mechanism. As secret as the data."),
    click.option("--draws", type=int, default=1, show_default=True, help="How many draws may ever be released."),
    click.option(
        "--delta", type=float, default=0.0, show_default=True,
        help="Probability with which epsilon may be exceeded. With several draws, epsilon is then for all together.",
    ),
    click.option("--force", is_flag=True, help="Replace --out if it exists, together with its ledger."),
]  # fmt: skip


def making_options(command: Command) -> Command:
    """The data, what is promised of it, and where the mechanism goes."""
    command = json_option(command)
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def make_and_save(
    make: Callable[..., Mechanism], data: Path, out: Path, *, column: Sequence[str],
    bounds: Sequence[tuple[str, float, float]], force: bool, as_json: bool, base: Path | None = None, **settings: Any,
) -> None:  # fmt: skip
    """Make a mechanism by a function and its settings, save it, and show what was reached."""
    from equinoise.atomic_write import check_writable
    from equinoise.data.number_list import read_numbers
    from equinoise.mechanisms.base import released_from
    from equinoise.mechanisms.saved_file import free
    from equinoise.present import terminal

    name = named_columns(column, bounds)
    limits = all_bounds(name, bounds)
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
    with warnings_said() as said, terminal.progress() as seen:
        mechanism = make(data, column=name, bounds=limits or None, progress=seen, **settings)
    mechanism.save(out, force=force)
    if released:
        said.append(
            f"{str(out)!r} was replaced together with its ledger. The {released:,} "
            f"draw{'s' * (released > 1)} released from it still count against the people in it."
        )
        click.echo(f"Warning: {said[-1]}", err=True)
    if as_json:
        terminal.print_json({**mechanism.summary(), "file": str(out), "warnings": said})
    else:
        terminal.show_optimized(mechanism, out)
