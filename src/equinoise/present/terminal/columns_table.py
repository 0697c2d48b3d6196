"""Two lines a column: its mean, median and standard deviation or its shares, and a picture, data above release; and
where there are noisy counts a third one, the intervals that anybody can work out from them."""

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
from equinoise.present.statistics_rows import statistic_text
from equinoise.present.terminal.bars import ELSEWHERE, Line, lines_of
from equinoise.present.true_answers import true_answers

MOST_LINES, MOST_CATEGORIES = 15, 3
STATISTICS = {"mean": "mean", "median": "median", "standard_deviation": "deviation"}
PICTURE_BINS, LABEL, LITTLE = 20, 16, 0.005
HEIGHTS, PLAIN_HEIGHTS = " ▁▂▃▄▅▆▇█", " .:-=+*#%@"


def show_columns(console: Console, mechanism: Mechanism) -> None:
    """Print it, of so many columns as fit on a screen, and say how many more there are."""
    table, axes = Table(box=box.SIMPLE_HEAD, pad_edge=False), mechanism.grid.axes
    for name in ("column", "", *STATISTICS.values(), "picture or shares"):
        table.add_column(name, justify="right" if name in STATISTICS.values() else "left", no_wrap=True)
    found = mechanism.statistics()["columns"]
    answers = {one.of: texts(one.answer)[1] for one in true_answers(mechanism)}
    most = MOST_LINES // (3 if answers else 2)
    heights = HEIGHTS if console.encoding.startswith("utf") else PLAIN_HEIGHTS
    for number, axis in enumerate(axes[:most]):
        both = found[axis.name]
        pictures = _pictures(mechanism, number, axis, heights) if "shares" not in both["data"] else map(_shares, (
            both["data"], both["released"]
        ))  # fmt: skip
        for which, picture in zip(("data", "released"), pictures, strict=True):
            name = shorten(printable(axis.name), LABEL) if which == "data" else ""
            told = (statistic_text(both[which][key]) if key in both[which] else "" for key in STATISTICS)
            table.add_row(name, which, *told, picture)
        if answers:
            own = (answers.get((axis.name, kind), "") for kind in STATISTICS)
            table.add_row("", "95 % interval", *own, _share_intervals(axis, answers))
    console.print(table)
    if len(axes) > most:
        console.print(f"and {len(axes) - most} more columns (--verbose)")
    if answers:
        console.print("The intervals are answers from the noisy counts alone: equinoise answer --help", style="dim")


def _pictures(mechanism: Mechanism, number: int, axis: AnyAxis, heights: str) -> tuple[str, str]:
    """People and rows along a column, from the first to the last bin that anyone is in."""
    both = lines_of(axis, mechanism.original_marginal(number), mechanism.output_marginal(number), PICTURE_BINS)
    beyond = sum(line.released for line in both if line.label == ELSEWHERE)
    more = f" (+ {percent(beyond)} beyond)" if beyond > LITTLE else ""
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


def _shares(found: Mapping[str, Any]) -> str:
    """The first categories and their shares."""
    shares = found["shares"]
    kept = list(shares)[:MOST_CATEGORIES]
    texts = [f"{shorten(printable(name), LABEL)} {percent(shares[name])}" for name in kept]
    return ", ".join(texts) + (", ..." if len(shares) > len(kept) else "")


def _share_intervals(axis: AnyAxis, answers: Mapping[tuple[str, str], str]) -> str:
    """The first categories, with an interval for the share of each."""
    labels = [] if isinstance(axis, Axis) else [axis.bin_label(bin) for bin in range(len(axis.names))]
    held = [label for label in labels if (axis.name, label) in answers]
    found = [
        f"{shorten(printable(label), LABEL)} {answers[axis.name, label].replace(' % to', ' to')}"
        for label in held[:MOST_CATEGORIES]
    ]
    return ", ".join(found) + (", ..." if len(held) > len(found) else "")
