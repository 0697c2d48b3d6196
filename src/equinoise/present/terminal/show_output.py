"""What a mechanism consists of: ``show``."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from equinoise.formatting import format_number, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.terminal.bars import show_bars
from equinoise.present.terminal.consoles import screen
from equinoise.present.wording import SECRET, solved


def show_mechanism(mechanism: Mechanism) -> None:
    """What a mechanism consists of."""
    console = screen()
    for axis in mechanism.grid.axes:
        console.print(
            f"Column {axis.name!r}: bounds {format_number(axis.low)} to {format_number(axis.high)}, padded by "
            f"{axis.padding:.5g} on either side, {axis.bins} bins of {axis.width:.5g}."
        )
    show_bars(console, mechanism)
    console.print(_content(mechanism))
    console.print(solved(mechanism))
    console.print(f"{mechanism.ledger.spent:,} of {mechanism.draws:,} draws released.")
    console.print(str(mechanism.promise))
    console.print(SECRET, style="dim")


def _content(mechanism: Mechanism) -> Table:
    if not mechanism.noise:
        return weights_table(mechanism)
    small = len(mechanism.grid.axes) == 1 and mechanism.members.single
    return profile_table(mechanism) if small else scales_table(mechanism)


def scales_table(mechanism: Mechanism) -> Table:
    """People and rows per choice of scales: there are too many cells to show, or people in several."""
    table = Table(title=f"People per {mechanism.noise} scale ({mechanism.grid.name}, data units)")
    for name in ("scale", "people", "rows"):
        table.add_column(name, justify="right")
    for index, name in enumerate(mechanism.scale_names()):
        here = mechanism.scale_indices == index
        if here.any():
            people, sizes = mechanism.members.people[here], mechanism.members.sizes[here]
            table.add_row(name, f"{int(people.sum()):,}", f"{int(people @ sizes):,}")
    return table


def profile_table(mechanism: Mechanism) -> Table:
    """People per cell and scale."""
    axis = mechanism.grid.axis
    table = Table(title=f"People per cell and {mechanism.noise} scale (data units)")
    table.add_column("cell", justify="right")
    table.add_column("released value", justify="right")
    for (scale,) in mechanism.scales:
        table.add_column(three_digits(scale * axis.range), justify="right")
    middles = axis.midpoints()
    members = mechanism.members
    for cell in members.occupied.tolist():
        people = [0] * len(mechanism.scales)
        for g in np.flatnonzero(members.cells == cell).tolist():
            people[int(mechanism.scale_indices[g])] = int(members.people[g])
        table.add_row(str(cell), f"{middles[cell]:.5g}", *(f"{n:,}" if n else "" for n in people))
    return table


def weights_table(mechanism: Mechanism) -> Table:
    """People per cell and how likely each is to be drawn, for a mechanism without scales."""
    table = Table(title="People per cell, and the probability of each cell in a draw")
    for name in ("cell", "released value", "people", "probability"):
        table.add_column(name, justify="right")
    values, counts, q = mechanism.released_values, mechanism.histogram, mechanism.output
    for cell in np.flatnonzero(q).tolist():
        table.add_row(str(cell), f"{values[cell]:.5g}", f"{counts[cell]:,}" if counts[cell] else "", f"{q[cell]:.4g}")
    return table
