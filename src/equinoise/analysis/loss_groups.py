"""Groups of interchangeable people with their losses and scales, and rows or people taking places in them in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from equinoise.data.grid import Floats, Grid, Ints
from equinoise.data.players import Bag, Players
from equinoise.errors import BadInput
from equinoise.mechanisms.base import Mechanism

HARDEST_GROUPS = 5
"""Groups of people that a summary names."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Interchangeable people, by the line that they stand in and then by scale, the smallest first.

    There is a line for every cell or, for people with several rows, for every bag of cells, of which ``cells`` has the
    lowest; all are between two ``corners``, which are cells, too. ``scales`` has one per axis, in data units; with
    differential privacy nobody has one.
    """

    grid: Grid
    lines: Ints
    cells: Ints
    corners: Ints
    people: Ints
    losses: Floats
    scales: Floats

    @classmethod
    def of(cls, mechanism: Mechanism) -> Groups:
        """The groups of any mechanism."""
        (cells, people), corners, scales = mechanism.groups(), _corners(mechanism.members), mechanism.group_scales
        number = line_of_bag(mechanism)
        lines = np.array([number[bag] for bag in mechanism.bags])
        alone = mechanism.total_people == 1  # without them there is nobody, and nothing is released
        losses = np.full(1, np.inf) if alone else mechanism.losses()
        order = np.lexsort((*scales.T[::-1], lines))
        lines, cells, corners, people = (part[order] for part in (lines, cells, corners, people))
        return cls(mechanism.grid, lines, cells, corners, people, losses[order], scales[order])

    def hardest(self, most: int = HARDEST_GROUPS) -> list[dict[str, Any]]:
        """The groups with the largest losses and, among those, the largest scales."""
        hardest = []
        for group in np.lexsort((*-self.scales.T[::-1], -self.losses))[:most].tolist():
            low, high = _box(self.grid, *self.corners[group].tolist())
            several, scale = len(low) > 1, self.scales[group].tolist()
            hardest.append(
                {
                    "cell": int(self.cells[group]),
                    "from": low if several else low[0],
                    "to": high if several else high[0],
                    "people": int(self.people[group]),
                    "scale": scale if several else scale[0] if scale else None,
                    "loss": float(self.losses[group]),
                }
            )
        return hardest


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
