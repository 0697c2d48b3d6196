"""A small picture in letters: what was there and what is released, side by side.

At most twenty lines of at most eighty letters. A line is one bin or several, from the first to the last that anyone is
in; what falls outside is added up in a last line.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rich.cells import set_cell_size
from rich.console import Console
from rich.text import Text

from equinoise.data.axis import MISSING_LABEL
from equinoise.data.grid import AnyAxis, Axis, Floats
from equinoise.formatting import percent, printable
from equinoise.mechanisms.base import Mechanism

MOST_LINES = 18
MOST_COLUMNS = 3
"""Of several columns, so many are drawn, each with its part of the lines."""
LABEL, BAR, SHARE = 20, 19, 8
"""Letters of a label, of the longest bar and of a share."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
ELSEWHERE = "elsewhere"


class Line(NamedTuple):
    """Some bins: where they are, and how likely they are in the data and in a draw."""

    label: str
    original: float
    released: float


def lines_of(axis: AnyAxis, original: Floats, released: Floats, most: int = MOST_LINES) -> list[Line]:
    """The lines of one column, one for those without a value, and one for the rest if anything falls there."""
    valued = axis.bins - (axis.missing == "category")
    without = [
        Line(MISSING_LABEL, float(p), float(q))
        for p, q in zip(original[valued:], released[valued:], strict=True)
        if p > 0 or q > 0
    ]
    occupied = np.flatnonzero(original[:valued])
    if not len(occupied):
        rest, lines = float(released[:valued].sum()), []
    else:
        first, last = int(occupied[0]), int(occupied[-1])
        together = -(-(last - first + 1) // max(1, most - len(without)))
        cuts = [*range(first, last + 1, together), last + 1]
        lines = [
            Line(label, float(original[begin:end].sum()), float(released[begin:end].sum()))
            for label, (begin, end) in zip(_labels(axis, cuts), pairwise(cuts), strict=True)
        ]
        rest = float(released[:first].sum() + released[last + 1 : valued].sum())
    return [*lines, *without, *([Line(ELSEWHERE, 0.0, rest)] if rest > 0 else [])]


def _labels(axis: AnyAxis, cuts: list[int]) -> list[str]:
    """What stands before each line: the bins from one cut to the next."""
    if isinstance(axis, Axis) and axis.step is None:
        return labels_of([axis.padded_low + cut * axis.width for cut in cuts])
    return [_run_label(axis, first, past - 1) for first, past in pairwise(cuts)]


def _run_label(axis: AnyAxis, first: int, last: int) -> str:
    ends = [axis.bin_label(first).partition(" to ")[0], axis.bin_label(last).rpartition(" to ")[2]]
    if isinstance(axis, Axis) and axis.day_zero is not None and first < last:
        return f"from {ends[0]}"  # two dates are too long, and the next line says where this one ends
    return set_cell_size(" to ".join(dict.fromkeys(printable(end) for end in ends)), LABEL).rstrip()


def labels_of(edges: list[float]) -> list[str]:
    """From one edge to the next, with as many digits as there is room for."""
    for digits in (5, 6, 4, 3, 2, 1):
        labels = [f"{low:.{digits}g} to {high:.{digits}g}" for low, high in pairwise(edges)]
        if max(map(len, labels)) <= LABEL:
            break
    return labels


def bar(share: float, most: float, *, plain: bool) -> str:
    """So much of a bar, to an eighth of a letter (where there are no such letters, to one); what is there is seen."""
    if plain:
        return "#" * max(round(BAR * share / most), int(share > 0))
    eighths = max(round(8 * BAR * share / most), int(share > 0))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def picture(mechanism: Mechanism, *, plain: bool = False) -> Text:
    """All of it, with a head; ``plain`` for terminals that know no blocks."""
    grid, text = mechanism.grid, Text()
    axes = grid.axes[:MOST_COLUMNS]
    for number, axis in enumerate(axes):
        original, released = mechanism.original_marginal(number), mechanism.output_marginal(number)
        lines = lines_of(axis, original, released, MOST_LINES // len(axes) - (len(axes) > 1))
        most = max(max(line.original, line.released) for line in lines)
        text.append(f"{_fitting(axis.name)}  {'original':<{BAR + SHARE}}  released\n", style="bold")
        for line in lines:
            text.append(f"{line.label:>{LABEL}}  ")
            for share, style in ((line.original, ""), (line.released, "blue")):
                letters = bar(share, most, plain=plain)
                text.append(letters, style=style)
                text.append(f" {percent(share)}".ljust(BAR + SHARE - len(letters)) + "  ")
            text.right_crop(len(text.plain) - len(text.plain.rstrip(" ")))
            text.append("\n")
    if len(grid.axes) > MOST_COLUMNS:
        more = len(grid.axes) - MOST_COLUMNS
        text.append(f"and {more} more column{'s' * (more > 1)}\n")
    return text


def _fitting(name: str) -> str:
    """A column's name as wide as labels are, whatever letters it has."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return set_cell_size(printable, LABEL)


def show_bars(console: Console, mechanism: Mechanism) -> None:
    """Print it."""
    console.print(picture(mechanism, plain=not console.encoding.startswith("utf")))
