"""Two lines a column: its mean, median, standard deviation and a picture, or its shares, data above release; and where
there are noisy counts a third one, the intervals that anybody can work out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from equinoise.data.axis import MISSING_LABEL
from equinoise.data.grid import AnyAxis, Axis
from equinoise.formatting import percent, printable, shorten
from equinoise.mechanisms.base import Mechanism
from equinoise.present.answer_rows import texts
from equinoise.present.statistics_rows import IN_BINS, statistic_text
from equinoise.present.terminal.bars import ELSEWHERE, Line, lines_of
from equinoise.present.true_answers import true_answers

MOST_LINES, MOST_CATEGORIES = 15, 10
MOST_WIDTH, NAMES_WIDTH = 120, 40
"""Letters of a line of shares, and how many of them what stands before takes; what does not fit is in the next line."""
INTERVAL = "95 % interval"
HOW_BINS_COUNT = f"{IN_BINS}: every value counts as its bin, so that the file's own mean may differ."
STATISTICS = {"mean": "mean", "median": "median", "standard_deviation": "deviation"}
PICTURE_BINS, LABEL, LITTLE = 20, 16, 0.005
HEIGHTS, PLAIN_HEIGHTS = " ▁▂▃▄▅▆▇█", " .:-=+*#%@"


def show_columns(console: Console, mechanism: Mechanism) -> None:
    """Print it, of so many columns as fit on a screen, first those of numbers, and say how many more there are."""
    axes, answers = mechanism.grid.axes, {one.of: texts(one.answer)[1] for one in true_answers(mechanism)}
    most = MOST_LINES // (3 if answers else 2)
    numbers, shares = Table(box=box.SIMPLE_HEAD, pad_edge=False), Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("column", "", *STATISTICS.values(), "picture"):
        numbers.add_column(name, justify="right" if name in STATISTICS.values() else "left", no_wrap=True)
    for name in ("column", "", "shares"):
        shares.add_column(name, no_wrap=True)
    heights = HEIGHTS if console.encoding.startswith("utf") else PLAIN_HEIGHTS
    width = max(1, min(console.width, MOST_WIDTH) - NAMES_WIDTH)
    for number, axis in enumerate(axes[:most]):
        both = mechanism.statistics()["columns"][axis.name]
        if isinstance(axis, Axis):
            pictures = _pictures(mechanism, number, axis, heights)
            _add_numbers(numbers, axis, both, pictures, answers)
        else:
            _add_shares(shares, axis, both, answers, width)
    for table in filter(lambda table: table.row_count, (numbers, shares)):
        console.print(table)
    if len(axes) > most:
        console.print(f"and {len(axes) - most} more columns (--verbose)")
    if numbers.row_count:
        console.print(HOW_BINS_COUNT, style="dim")
    if answers:
        console.print("The intervals are answers from the noisy counts alone: equinoise answer --help", style="dim")


def _add_numbers(
    table: Table, axis: Axis, both: Mapping[str, Any], pictures: Sequence[str], answers: Mapping[tuple[str, str], str]
) -> None:
    """The lines of a column of numbers or dates."""
    for which, label, picture in zip(("data", "released"), (IN_BINS, "released"), pictures, strict=True):
        told = (statistic_text(both[which][key]) for key in STATISTICS)
        table.add_row(_name(axis) if which == "data" else "", label, *told, picture)
    if answers:
        own = (answers.get((axis.name, kind), "") for kind in STATISTICS)
        table.add_row("", INTERVAL, *own, "")


def _add_shares(
    table: Table, axis: AnyAxis, both: Mapping[str, Any], answers: Mapping[tuple[str, str], str], width: int
) -> None:
    """The lines of a column of categories."""
    for which in ("data", "released"):
        table.add_row(_name(axis) if which == "data" else "", which, _in_lines(_shares(both[which]), width))
    if answers:
        table.add_row("", INTERVAL, _in_lines(_share_intervals(axis, answers), width))


def _name(axis: AnyAxis) -> str:
    return shorten(printable(axis.name), LABEL)


def _pictures(mechanism: Mechanism, number: int, axis: AnyAxis, heights: str) -> tuple[str, str]:
    """People and rows along a column, from the first to the last bin that anyone is in."""
    both = lines_of(axis, mechanism.original_marginal(number), mechanism.output_marginal(number), PICTURE_BINS)
    beyond = sum(line.released for line in both if line.label == ELSEWHERE)
    more = f" (+ {percent(beyond)} of rows outside this range)" if beyond > LITTLE else ""
    lines = [line for line in both if line.label not in {MISSING_LABEL, ELSEWHERE}]
    most = max((max(line.original, line.released) for line in lines), default=0.0)
    original, released = ([getattr(line, name) for line in lines] for name in ("original", "released"))
    return _one_picture(lines, original, most, heights), _one_picture(lines, released, most, heights) + more


def _one_picture(lines: Sequence[Line], shares: Sequence[float], most: float, heights: str) -> str:
    if most <= 0:
        return ""
    top = len(heights) - 1
    letters = "".join(heights[max(round(top * share / most), int(share > 0))] for share in shares)
    first, last = lines[0].label.partition(" to ")[0], lines[-1].label.rpartition(" to ")[2]
    return f"{first} {letters} {last}"


def _shares(found: Mapping[str, Any]) -> list[str]:
    """The first categories and their shares."""
    shares = found["shares"]
    kept = list(shares)[:MOST_CATEGORIES]
    texts = [f"{shorten(printable(name), LABEL)} {percent(shares[name])}" for name in kept]
    return [*texts, *["..."] * (len(shares) > len(kept))]


def _share_intervals(axis: AnyAxis, answers: Mapping[tuple[str, str], str]) -> list[str]:
    """The first categories, with an interval for the share of each."""
    labels = [] if isinstance(axis, Axis) else [axis.bin_label(bin) for bin in range(len(axis.names))]
    held = [label for label in labels if (axis.name, label) in answers]
    found = [
        f"{shorten(printable(label), LABEL)} {answers[axis.name, label].replace(' % to', ' to')}"
        for label in held[:MOST_CATEGORIES]
    ]
    return [*found, *["..."] * (len(held) > len(found))]


def _in_lines(texts: Sequence[str], width: int) -> str:
    """Texts with commas, as many a line as fit."""
    lines: list[list[str]] = [[]]
    for text in texts:
        if lines[-1] and len(", ".join([*lines[-1], text])) >= width:
            lines.append([])
        lines[-1].append(text)
    return ",\n".join(map(", ".join, lines))
