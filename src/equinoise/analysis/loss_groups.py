"""Groups of interchangeable people with their losses and scales, and rows or people taking places in them in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from equinoise.analysis.end_to_end import EndToEnd
from equinoise.analysis.scales_needed import scales_needed
from equinoise.data.grid import Floats, Grid, Ints
from equinoise.data.players import Bag, Players
from equinoise.errors import BadInput
from equinoise.mechanisms.base import Mechanism

HARDEST_LINES = 10
"""Lines of interchangeable people that a summary names."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Interchangeable people, by the line that they stand in and then by scale, the smallest first.

    There is a line for every cell or, for people with several rows, for every bag of cells, of which ``cells`` has the
    lowest; all are between two ``corners``, which are cells, too. ``scales`` has one per axis, in data units; with
    differential privacy nobody has one. ``needed`` has the scale that anyone of the line needs for themselves, and
    ``end_to_end``, if that was measured, their loss with all worked out again without one of them.
    """

    grid: Grid
    lines: Ints
    cells: Ints
    corners: Ints
    people: Ints
    losses: Floats
    scales: Floats
    needed: Floats
    end_to_end: Floats | None = None

    @classmethod
    def of(cls, mechanism: Mechanism, measured: EndToEnd | None = None) -> Groups:
        """The groups of any mechanism, with what was measured of it end to end."""
        (cells, people), corners, scales = mechanism.groups(), _corners(mechanism.members), mechanism.group_scales
        number = line_of_bag(mechanism)
        lines = np.array([number[bag] for bag in mechanism.bags])
        alone = mechanism.total_people == 1  # without them there is nobody, and nothing is released
        losses = np.full(1, np.inf) if alone else mechanism.losses()
        order = np.lexsort((*scales.T[::-1], lines))
        needed, again = scales_needed(mechanism)[order], None
        if measured is not None:
            own = measured.cells if mechanism.members.single else np.arange(len(measured.cells))
            again = measured.losses[np.searchsorted(own, lines[order])]
        lines, cells, corners, people = (part[order] for part in (lines, cells, corners, people))
        return cls(mechanism.grid, lines, cells, corners, people, losses[order], scales[order], needed, again)

    @property
    def hides_others(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether people of each group carry more noise than they need for themselves."""
        return np.asarray((self.scales > self.needed).any(axis=1))

    def hardest_lines(self) -> list[slice]:
        """The groups of every line, the hardest to protect first: by the loss end to end, if that was measured, then by
        the scale that they need (in shares of the range) and the loss of one draw."""
        begins = np.flatnonzero(np.diff(self.lines, prepend=-1))
        ends = np.append(begins[1:], len(self.lines))
        ranges = np.array([axis.range for axis in self.grid.axes][: self.needed.shape[1]])
        keys = [-np.maximum.reduceat(self.losses, begins), -(self.needed[begins] / ranges).sum(axis=1)]
        if self.end_to_end is not None:
            keys.append(-self.end_to_end[begins])
        return [slice(int(begins[k]), int(ends[k])) for k in np.lexsort(keys)]

    def hardest(self, most: int = HARDEST_LINES) -> list[dict[str, Any]]:
        """The lines of people who are hardest to protect, hardest first."""
        return [self.line_json(line) for line in self.hardest_lines()[:most]]

    def box(self, group: int) -> tuple[list[Any], list[Any]]:
        """Where the cells of a group begin and end on every axis, in data units."""
        return _box(self.grid, *self.corners[group].tolist())

    def line_json(self, line: slice) -> dict[str, Any]:
        """A line of people as JSON shows it: where they are, how many, what they need and carry, and their losses."""
        first = line.start
        low, high = self.box(first)
        carried = zip(self.scales[line].tolist(), self.people[line].tolist(), self.losses[line].tolist(), strict=True)
        again = {} if self.end_to_end is None else {"end_to_end": float(self.end_to_end[first])}
        return {
            "cell": int(self.cells[first]),
            "from": _one(low),
            "to": _one(high),
            "people": int(self.people[line].sum()),
            "scale_needed": _one(self.needed[first].tolist()),
            "carried": [{"scale": _one(scale), "people": many, "loss": loss} for scale, many, loss in carried],
            "loss": float(self.losses[line].max()),
            **again,
        }


def _one(values: list[Any]) -> Any:
    """The value of one column alone, the values of several in a list; None of no column."""
    return values if len(values) > 1 else values[0] if values else None


def line_of_bag(mechanism: Mechanism) -> dict[Bag, int]:
    """Where people with each bag of cells stand: by cell, if everyone has one row."""
    if mechanism.members.single:
        return {((cell, 1),): cell for cell in mechanism.members.cells.tolist()}
    return {bag: number for number, bag in enumerate(mechanism.players.bags)}


class Queues:
    """The places of every line; whoever comes takes the next one."""

    def __init__(self, groups: Groups, source: str) -> None:
        self.groups, self.source = groups, source
        self.ends = np.cumsum(groups.people)
        self.lines, self.starts = np.unique(groups.lines, return_index=True)
        self.next = (self.ends - groups.people)[self.starts]
        self.last = np.append(self.next[1:], self.ends[-1])

    def take(self, lines: Ints) -> Ints:
        """The group of everyone who comes, given their line."""
        line = np.minimum(np.searchsorted(self.lines, lines), len(self.lines) - 1)
        strange = self.lines[line] != lines
        if strange.any():
            where = _where(self.groups.grid, *[int(lines[strange][0])] * 2)
            raise wrong_data(self.source, f"people in {where}, where the mechanism knows none")
        order = np.argsort(line.astype(np.uint16) if len(self.lines) <= 2**16 else line, kind="stable")
        many = np.bincount(line, minlength=len(self.lines))
        before = np.cumsum(many) - many
        place = np.empty_like(line)
        place[order] = np.arange(len(line)) + (self.next - before)[line[order]]
        self.next += many
        self._refuse(self.next > self.last, "more")
        return np.searchsorted(self.ends, place, side="right")

    def check_empty(self) -> None:
        """Refuse data that lacks people."""
        self._refuse(self.next < self.last, "fewer")

    def _refuse(self, wrong: Any, how: str) -> None:
        if wrong.any():
            group = self.starts[np.flatnonzero(wrong)[0]]
            where = _where(self.groups.grid, *self.groups.corners[group].tolist())
            raise wrong_data(self.source, f"{how} people in {where} than the mechanism knows")


def _corners(members: Players) -> Ints:
    """The lowest and the highest cell, axis by axis, of the box around the rows of a person of each group."""
    bins = members.grid.bins_of(members.cells)
    sides = [side.reduceat(bins, members.begins[:-1], axis=0) for side in (np.minimum, np.maximum)]
    return np.stack([members.grid.cells_of(side) for side in sides], axis=1)


def _box(grid: Grid, cell: int, upto: int) -> tuple[list[Any], list[Any]]:
    """Where the box between two corners begins and ends on every axis, in data units."""
    return grid.interval(cell)[0], grid.interval(upto)[1]


def _where(grid: Grid, cell: int, upto: int) -> str:
    sides = zip(grid.axes, grid.cell_labels(cell), grid.cell_labels(upto), strict=True)
    ranges = ", ".join(f"{axis.name!r} {' to '.join(dict.fromkeys(ends))}" for axis, *ends in sides)
    return f"{f'cell {cell}' if cell == upto else f'cells {cell} to {upto}'} ({ranges})"


def wrong_data(source: str, what: str) -> BadInput:
    """The error for rows that the mechanism was not made from."""
    return BadInput(f"{source} is not what the mechanism was made from: it has {what}. Nothing was written.")


class People:
    """Where a column says whose each row is: everyone takes a place with the first of their rows, and keeps it."""

    def __init__(self, names: pl.Series, lines: Ints, queues: Queues) -> None:
        self.numbers = pl.DataFrame({"unit": names, "number": np.arange(len(names))})
        self.lines, self.queues = lines, queues
        self.group = np.full(len(names), -1, dtype=np.int64)

    def take(self, units: pl.Series) -> Ints:
        """The group of everyone whose row comes, given their names."""
        known = units.to_frame("unit").join(self.numbers, on="unit", how="left", maintain_order="left")["number"]
        if known.null_count():
            raise wrong_data(self.queues.source, "other people than a moment ago")
        number = known.to_numpy()
        new, first = np.unique(number[self.group[number] < 0], return_index=True)
        new = new[np.argsort(first)]
        self.group[new] = self.queues.take(self.lines[new])
        return np.asarray(self.group[number])
