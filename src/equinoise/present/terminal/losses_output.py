"""What is printed by ``losses``: who is hard to protect, by the rows of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from equinoise.analysis.row_losses import RowLosses
from equinoise.analysis.scales_needed import least_scale
from equinoise.formatting import at_most, format_number, join_and, join_or, printable, shorten, three_digits
from equinoise.present.terminal.consoles import number_table, stdout_console
from equinoise.present.wording import SECRET_ROWS

HARD = (
    "Hard to protect: few people are near, so a person needs much noise of their own. 'needs' is the least scale on "
    "offer that protects them in one draw, everyone else's noise held fixed; 'carries' is what the game gave."
)
HARD_BY_LOSS = "Hard to protect: few people are near, so a draw tells much of a person. There is no noise of their own."
NOBODY = "Nobody is harder to protect than others: the bound on the loss of one draw is the same for everyone."
HARD_END_TO_END = (
    "The list is sorted by the loss end to end: all worked out again without the person, also everyone else's noise."
)


def show_losses(result: RowLosses) -> None:
    """The people who are hardest to protect, who hides others, and where the rows are."""
    console, m, groups = stdout_console(), result.mechanism, result.groups
    scaled = groups.scales.shape[1] > 0
    if scaled or groups.losses.min() < groups.losses.max():
        console.print(_table(result))
        console.print(HARD if scaled else HARD_BY_LOSS)
    else:
        console.print(NOBODY)
    if result.measured is not None:
        console.print(HARD_END_TO_END)
    if scaled:
        console.print(_standing_out(result))
    hiding = int(groups.people[groups.hides_others].sum())
    if hiding:
        console.print(
            f"{hiding:,} of {m.total_people:,} people carry more noise than they need, {_most_carried(result)}. That "
            "hides others; it does not say that they are hard to protect themselves. People in one cell are "
            "interchangeable: which of them carries it is arbitrary."
        )
    console.print(f"Worst loss of one draw ({m.loss_basis}): {at_most(float(groups.losses.max()))}.")
    if result.measured is not None:
        console.print(result.measured.sentence, style="yellow" if result.measured.above else None)
    missing = f" {result.left_out:,} of them were left out as missing and have no loss." if result.left_out else ""
    console.print(
        f"{result.rows:,} rows, in the order of the data, with the new columns "
        f"{join_and(map(repr, result.columns))}, are in {result.out} (only you can read it).{missing}"
    )
    console.print(SECRET_ROWS, style="yellow")


def _standing_out(result: RowLosses) -> str:
    """How many people need more than the least scale on offer."""
    out, least = result.stands_out, f"{_sides(least_scale(result.mechanism).tolist())} {_units(result)}"
    if not out.any():
        return (
            f"Nobody needs more than the least scale on offer, {least}: nobody stands out. The table has the largest "
            f"losses{' end to end' * (result.measured is not None)}."
        )
    many, all_people = int(result.groups.people[out].sum()), result.mechanism.total_people
    listed = sum(bool(out[line.start]) for line in result.listed)
    cells = "cells" if result.mechanism.members.single else "groups"
    rest = (
        f" The list has {listed:,} of their {result.lines_standing_out:,} {cells}; --verbose lists all."
        if listed < result.lines_standing_out
        else ""
    )
    return (
        f"{many:,} of {all_people:,} people need more than the least scale on offer, {least}.{rest} {_in_file(result)}"
    )


def _in_file(result: RowLosses) -> str:
    """How to find in the file who needs more than the least scale."""
    columns = [name for name in result.columns if name.startswith("scale_needed")]
    if len(columns) == 1:
        return f"Sorted by {columns[0]!r}, largest first, the file begins with them."
    return f"In the file they are the rows with more than that in {join_or(columns)}."


def _units(result: RowLosses) -> str:
    """The units of scales, in words: those of the columns."""
    axes = result.mechanism.grid.axes
    names = [
        f"{shorten(printable(axis.name), 40)!r}{' (days)' * (getattr(axis, 'day_zero', None) is not None)}"
        for axis in axes
    ]
    return f"in units of {' x '.join(names)}"


def _table(result: RowLosses) -> Table:
    """A line for each of the hardest cells: the rows in it, what people there need and carry, and their losses."""
    lines, names = result.hardest(), [axis.name for axis in result.mechanism.grid.axes]
    if result.stands_out.any() and result.measured is None:  # a full cell is not hard to protect, whatever its loss
        least = least_scale(result.mechanism)
        lines = [line for line in lines if (np.array(line["scale_needed"]) > least).any()]
    single = result.mechanism.members.single
    together, lines_name = ("in the cell", "cells") if single else ("with rows in the same cells", "groups of people")
    scaled, again = result.groups.scales.shape[1] > 0, result.measured is not None
    headings = [
        "row", " x ".join(map(printable, names)), f"people {together}",
        *["needs", "carries"] * scaled, "loss of one draw", *["end to end"] * again,
    ]  # fmt: skip
    table = number_table(f"Hardest to protect first: {len(lines)} of {result.lines:,} {lines_name}", *headings)
    for line in lines:
        more = [f"{line['more_rows']:,} more"] * (line["more_rows"] > 0)
        table.add_row(
            ", ".join([*map(str, line["rows"]), *more]),
            ", ".join(dict.fromkeys(_in_the_data(value) for value in line["values"])),
            f"{line['people']:,}",
            *([_sides(line["scale_needed"]), _carried(line, " in the cell" * single)] if scaled else []),
            at_most(line["loss"]),
            *[at_most(line["end_to_end"]) for _ in range(again)],
        )
    return table


def _in_the_data(value: Any) -> str:
    """The value of a row as it is, or those of several columns."""
    parts = value if isinstance(value, list) else [value]
    return " x ".join(format_number(part) if isinstance(part, float) else printable(str(part)) for part in parts)


def _carried(line: dict[str, Any], where: str) -> str:
    """The scales that people of one line carry, and how many of them the largest."""
    least, most = line["carried"][0], line["carried"][-1]
    if least is most:
        return _sides(least["scale"])
    return f"{_sides(least['scale'])} to {_sides(most['scale'])} ({most['people']:,} of {line['people']:,}{where})"


def _most_carried(result: RowLosses) -> str:
    """The largest scale that hides others, and where."""
    groups = result.groups
    ratio = (groups.scales / groups.needed).max(axis=1)
    group = int(ratio.argmax())
    scale, needed = (_sides(values[group].tolist()) for values in (groups.scales, groups.needed))
    low, high = (_sides(side) for side in result.groups.box(group))
    where = f"from {low} to {high}"
    return f"up to {scale} where {needed} is enough ({where})"


def _sides(value: Any) -> str:
    """One value, or those of several columns."""
    parts = value if isinstance(value, list) else [value]
    return " x ".join(three_digits(part) if isinstance(part, float) else printable(str(part)) for part in parts)
