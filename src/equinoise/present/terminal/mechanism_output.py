"""What is printed about one mechanism: when it is shown and drawn from, and what its draws cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from equinoise.data.grid import AnyAxis, Axis
from equinoise.formatting import at_most, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.model_table import ModelTable
from equinoise.present.figures.cost import allowed_sentence, composition_sentence
from equinoise.present.statistics_rows import HEADER, TITLE, statistics_rows
from equinoise.present.terminal.bars import show_bars
from equinoise.present.terminal.consoles import number_table, stderr_console, stdout_console
from equinoise.present.wording import (
    RELEASED,
    SECRET,
    draws_in_words,
    solver_sentence,
)

MOST_WEIGHT_ROWS = 256
"""Of the table of cells."""


def statistics_table(mechanism: Mechanism) -> Table:
    """Means, quartiles, shares and associations of the data and of what is released, side by side."""
    table, above = Table(title=f"{TITLE}, at the resolution of the grid"), ""
    for name, justify in zip(("column", *HEADER), ("left", "left", "right", "right"), strict=True):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in statistics_rows(mechanism):
        table.add_row("" if row.column == above else row.column, *row[1:])
        above = row.column
    return table


def show_released(mechanism: Mechanism, draws: int, spent: int, out: Path | None) -> None:
    """What is promised of a release, beside the rows: nothing here is worked out from the data."""
    console = stderr_console()
    where = f" to {out}" if out is not None else ""
    console.print(
        f"Released {draws:,} draw{'' if draws == 1 else 's'}{where}; {spent:,} of {draws_in_words(mechanism.draws)} "
        f"allowed {'is' if spent == 1 else 'are'} spent and {mechanism.cost_sentence(spent, public=True)}."
    )
    console.print(f"{mechanism.promise.public()} {RELEASED}", style="dim")


def show_costs(mechanism: Mechanism, costs: list[dict[str, float]], plot: Path | None) -> None:
    """How the cost of draws grows."""
    console = stdout_console()
    title = f"What draws cost together, except with probability delta = {costs[0]['delta']:g}"
    table = number_table(title, "draws", "worst person", "median person", "losses added up")
    for row in costs:
        table.add_row(f"{row['draws']:,}", *(at_most(row[name]) for name in ("worst", "median", "added_up")))
    console.print(table)
    console.print(
        f"{allowed_sentence(mechanism)} {mechanism.ledger.spent:,} are released. {composition_sentence(mechanism)}"
    )
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(str(mechanism.promise))
    console.print(SECRET, style="dim")


def axis_sentence(axis: AnyAxis) -> str:
    """What is public about a column, in a sentence."""
    without = "; a bin for those without a value" if axis.missing == "category" else ""
    if not isinstance(axis, Axis):
        names = ", ".join(printable(axis.bin_label(number)) for number in range(len(axis.names)))
        return f"Column {axis.name!r}: {len(axis.names)} categories: {names}{without}."
    bounds = f"bounds {axis.value_label(axis.low)} to {axis.value_label(axis.high)}"
    padded = f", padded by {axis.padding:.5g} on either side" if axis.padding and axis.step is None else ""
    steps = "" if axis.step is None else f", steps of {axis.step:g}"
    return f"Column {axis.name!r}: {bounds}{steps}{padded}, {axis.number_bins} bins of {axis.width:.3g}{without}."


def show_mechanism(mechanism: Mechanism) -> None:
    """What a mechanism consists of."""
    console = stdout_console()
    for axis in mechanism.grid.axes:
        console.print(axis_sentence(axis))
    show_bars(console, mechanism)
    console.print(statistics_table(mechanism))
    if isinstance(mechanism, ModelTable):
        console.print(_model_table(mechanism))
    elif not mechanism.noise:
        console.print(_weights_table(mechanism))
    elif len(mechanism.grid.axes) == 1 and mechanism.members.single:
        console.print(_profile_table(mechanism))
    else:
        console.print(_scales_table(mechanism))
    console.print(solver_sentence(mechanism))
    console.print(f"{mechanism.ledger.spent:,} of {draws_in_words(mechanism.draws)} released.")
    console.print(str(mechanism.promise))
    console.print(SECRET, style="dim")


def _scales_table(mechanism: Mechanism) -> Table:
    """People and rows per choice of scales: there are too many cells to show, or people in several."""
    title = f"People per {mechanism.noise} scale ({mechanism.grid.name}, data units)"
    table = number_table(title, "scale", "people", "rows")
    for index, name in enumerate(mechanism.scale_names()):
        here = mechanism.scale_indices == index
        if here.any():
            people, sizes = mechanism.members.people[here], mechanism.members.sizes[here]
            table.add_row(name, f"{int(people.sum()):,}", f"{int(people @ sizes):,}")
    return table


def _profile_table(mechanism: Mechanism) -> Table:
    """People per cell and scale."""
    axis, members = mechanism.grid.axis, mechanism.members
    scales = [three_digits(scale * axis.range) for (scale,) in mechanism.scales]
    title = f"People per cell and {mechanism.noise} scale (data units)"
    table = number_table(title, "cell", "values", *scales)
    for cell in members.occupied.tolist():
        people = [0] * len(scales)
        for group in np.flatnonzero(members.cells == cell).tolist():
            people[int(mechanism.scale_indices[group])] = int(members.people[group])
        table.add_row(str(cell), axis.bin_label(cell), *(f"{n:,}" if n else "" for n in people))
    return table


def _model_table(mechanism: ModelTable) -> Table:
    """The columns in the order that they are drawn in, those that each depends on, and the size of its table."""
    table = number_table("How a row is drawn, column by column", "column", "given", "weights")
    names = [printable(axis.name) for axis in mechanism.grid.axes]
    for one in mechanism.tables:
        given = ", ".join(names[parent] for parent in one.parents) or "nothing"
        table.add_row(names[one.column], given, f"{one.table.size:,}")
    return table


def _weights_table(mechanism: Mechanism) -> Table:
    """People per cell and how likely each is to be drawn, for a mechanism without scales; of many cells, of those
    with most people."""
    counts, q = mechanism.histogram, mechanism.output
    cells = np.arange(len(q))
    which = ""
    if len(cells) > MOST_WEIGHT_ROWS:
        cells = np.sort(np.argsort(-counts, kind="stable")[:MOST_WEIGHT_ROWS])
        which = f", the {MOST_WEIGHT_ROWS} of {len(q):,} with most people"
    title = f"People per cell, and the probability of each cell in a draw{which}"
    table = number_table(title, "cell", "values", "people", "probability")
    for cell in cells.tolist():
        values = ", ".join(printable(label) for label in mechanism.grid.cell_labels(cell))
        table.add_row(str(cell), values, f"{counts[cell]:,}" if counts[cell] else "", f"{q[cell]:.4g}")
    return table
