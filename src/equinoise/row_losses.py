"""Losses back to rows: every row of the data with its person's loss and scale, for the custodian's eyes.

A mechanism knows counts, not people. People of one cell may have different scales and are interchangeable, so the rows
of a cell take its scales in the order in which they come, the smallest first. Rows stream by and are counted as they
do: only the data that the mechanism was made from, all of it, gets a file. Where a column says whose each row is,
people are looked up first, and take the scales in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from equinoise.counting import cells_of_codes, code_names, codes, refused
from equinoise.counting_units import cleaned, count_named_units, unit_key
from equinoise.engines import Engine, engine_for
from equinoise.errors import BadInput, shown
from equinoise.files import check_writable
from equinoise.fixed_noise import FixedNoise
from equinoise.grid import Floats, Grid, Ints
from equinoise.mechanism import Mechanism
from equinoise.row_files import check_suffix, write_frames
from equinoise.rows import FIELD, Rows, open_rows, stream
from equinoise.sources import find_files
from equinoise.unit_fixed_noise import UnitFixedNoise
from equinoise.units import Bag, bags_of_people, middle_rows

FEW = 5
"""Groups of people that a summary names."""

Seen = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Groups:
    """Interchangeable people, by cell and then by scale, the smallest first.

    ``scales`` has one per axis, in data units; in the worst-case tier nobody has one.
    """

    grid: Grid
    cells: Ints
    people: Ints
    losses: Floats
    scales: Floats
    places: Ints
    """Where the mechanism's own groups are in this order."""

    @classmethod
    def of(cls, mechanism: Mechanism) -> Groups:
        """The groups of any mechanism."""
        cells, people = mechanism.groups()
        alone = mechanism.total_people == 1  # without them there is nobody, and nothing is released
        losses = np.full(1, np.inf) if alone else mechanism.losses()
        scales = np.zeros((len(cells), 0))
        if isinstance(mechanism, FixedNoise):
            ranges = np.array([axis.range for axis in mechanism.grid.axes])
            choices = np.array(mechanism.scales, dtype=np.float64).reshape(-1, len(ranges))
            scales = choices[mechanism.scale_indices] * ranges
        order = np.lexsort((*scales.T[::-1], cells))
        return cls(mechanism.grid, cells[order], people[order], losses[order], scales[order], np.argsort(order))

    def hardest(self, many: int = FEW) -> list[dict[str, Any]]:
        """The groups with the largest losses and, among those, the largest scales."""
        found = []
        for group in np.lexsort((*-self.scales.T[::-1], -self.losses))[:many].tolist():
            low, high = self.grid.interval(int(self.cells[group]))
            several, scale = len(low) > 1, self.scales[group].tolist()
            found.append(
                {
                    "cell": int(self.cells[group]),
                    "from": low if several else low[0],
                    "to": high if several else high[0],
                    "people": int(self.people[group]),
                    "scale": scale if several else scale[0] if scale else None,
                    "loss": float(self.losses[group]),
                }
            )
        return found


class Queues:
    """The people of every cell in line; each row of the cell takes the next one's place."""

    def __init__(self, groups: Groups, source: str) -> None:
        self.grid, self.source = groups.grid, source
        self.ends = np.cumsum(groups.people)
        self.cells, starts = np.unique(groups.cells, return_index=True)
        self.next = (self.ends - groups.people)[starts]
        self.last = np.append(self.next[1:], self.ends[-1])
        self.people = self.last - self.next

    def take(self, cells: Ints) -> Ints:
        """The group of every row, given its cell."""
        line = np.minimum(np.searchsorted(self.cells, cells), len(self.cells) - 1)
        strange = self.cells[line] != cells
        if strange.any():
            raise self._wrong(int(cells[strange][0]), "rows where there are no people")
        order = np.argsort(line.astype(np.uint16) if len(self.cells) <= 2**16 else line, kind="stable")
        many = np.bincount(line, minlength=len(self.cells))
        before = np.cumsum(many) - many
        place = np.empty_like(line)
        place[order] = np.arange(len(line)) + (self.next - before)[line[order]]
        self.next += many
        self._refuse(self.next > self.last, "more rows than people")
        return np.searchsorted(self.ends, place, side="right")

    def check_empty(self) -> None:
        """Refuse data with too few rows."""
        self._refuse(self.next < self.last, "fewer rows than people")

    def _refuse(self, wrong: Any, how: str) -> None:
        if wrong.any():
            raise self._wrong(int(self.cells[np.flatnonzero(wrong)[0]]), how)

    def _wrong(self, cell: int, how: str) -> BadInput:
        sides = zip(self.grid.axes, *self.grid.interval(cell), strict=True)
        where = ", ".join(f"{axis.name!r} from {shown(round(a, 9))} to {shown(round(b, 9))}" for axis, a, b in sides)
        return not_the_data(self.source, f"{how} in cell {cell} ({where})")


def not_the_data(source: str, what: str) -> BadInput:
    """One sentence for rows that the mechanism was not made from."""
    return BadInput(f"{source} is not what the mechanism was made from: it has {what}. Nothing was written.")


@dataclass(frozen=True, eq=False)
class RowLosses:
    """What was written."""

    mechanism: Mechanism
    groups: Groups
    out: Path
    rows: int
    left_out: int
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "file": str(self.out),
            "rows": self.rows,
            "people": self.mechanism.total_people,
            "left_out": self.left_out,
            "columns": list(self.columns),
            "worst_loss": float(self.groups.losses.max()),
            "epsilon": self.mechanism.epsilon,
            "hardest": self.groups.hardest(),
        }


def write_losses(
    mechanism: Mechanism | str | Path,
    data: Any,
    out: str | Path,
    *,
    engine: str = "polars",
    engine_address: str | None = None,
    force: bool = False,
    progress: Seen | None = None,
) -> RowLosses:
    """Write all columns of ``data`` with each row's loss and scale to a CSV, TSV or Parquet file, for the owner alone.

    ``data`` must be what the mechanism was made from, files or any dataframe. ``loss`` is of one draw (everyone else's
    noise held fixed; in the worst-case tier, the weights worked out again), ``scale`` in data units. The file is as
    secret as the data. ``progress`` is told how many rows are written.
    """
    out, files = Path(out), isinstance(data, str | Path)
    check_suffix(out)
    saved = None if isinstance(mechanism, Mechanism) else Path(mechanism)
    check_writable(out, Path(data) if files else None, saved, force=force)
    opened = mechanism if isinstance(mechanism, Mechanism) else Mechanism.open(mechanism)
    columns = [axis.name for axis in opened.grid.axes]
    with engine_for(data, engine, engine_address) as reader:
        whole = open_rows(data, columns, keep=True)
        paths = find_files(Path(data)).paths if files else ()
        each = (open_rows(path, columns, reader, keep=True) for path in paths) if files else [whole]
        work = _Work(opened, whole, progress)
        if work.unit is not None:
            work.look_up(work.unit, data, reader)
        write_frames(out, work.frames(each), force=force)
    return RowLosses(opened, work.groups, out, work.rows, work.left_out, work.added)


class _Work:
    """Rows on their way through, and what has been seen of them."""

    def __init__(self, mechanism: Mechanism, whole: Rows, progress: Seen | None) -> None:
        self.mechanism, self.whole, self.progress = mechanism, whole, progress
        self.groups = Groups.of(mechanism)
        self.queues = Queues(self.groups, whole.source)
        self.added = added_names([axis.name for axis in self._scaled], whole.kept)
        self.rows = self.left_out = 0
        self.rules = {name: mechanism.settings.get(name, "refuse") for name in ("missing", "outside")}
        self.unit: str | None = mechanism.settings.get("unit")
        self.people = pl.DataFrame()

    def look_up(self, unit: str, data: Any, engine: Engine | None) -> None:
        """Give everyone, by name, a group."""
        axes = self.mechanism.grid.axes
        rows = open_rows(data, [axis.name for axis in axes], engine, keep=unit)
        names, *lines = count_named_units(rows, axes, **self.rules)
        if isinstance(self.mechanism, UnitFixedNoise):
            groups = self.groups.places[take_bags(self.mechanism, bags_of_people(*lines), rows.source)]
        else:
            one = self.mechanism.settings.get("unit_rows") == "one"
            if not one and (len(lines[2]) != len(names) or (lines[2] != 1).any()):
                raise not_the_data(rows.source, f"several rows with the same {unit!r}")
            groups = self.queues.take(middle_rows(*lines))
            self.queues.check_empty()
        self.people = pl.DataFrame({"unit": names, "group": groups})

    @property
    def _scaled(self) -> Sequence[Any]:
        return self.mechanism.grid.axes if self.groups.scales.shape[1] else ()

    def frames(self, each: Iterable[Rows]) -> Iterator[pl.DataFrame]:
        """Every batch with its losses and scales. Files come one by one: Spark would take the largest first."""
        for rows in each:
            fields: list[Any] = [f"{FIELD} {j}" for j in range(len(rows.kept))]
            if self.unit is not None:
                fields.append(unit_key(rows, rows.kept.index(self.unit)).alias("unit"))
            for batch in stream(rows, rows.frame.select(*codes(rows, self.mechanism.grid.axes), *fields)):
                yield self._with_losses(batch)
        if self.unit is None:
            self.queues.check_empty()

    def _found(self, batch: pl.DataFrame, cells: Ints) -> tuple[Ints, Any]:
        """The group of every row that has one, and which these are."""
        usable = cells >= 0
        if self.unit is None:
            return self.queues.take(cells[usable]), usable
        names = pl.DataFrame({"unit": cleaned(batch["unit"], self.whole.from_text)})
        group = names.join(self.people, on="unit", how="left", maintain_order="left")["group"]
        usable &= group.is_not_null().to_numpy()
        return group.fill_null(0).to_numpy()[usable], usable

    def _with_losses(self, batch: pl.DataFrame) -> pl.DataFrame:
        grid = self.mechanism.grid
        found = np.stack([batch[name].to_numpy() for name in code_names(grid.axes)], axis=1).astype(np.int64)
        for axis, column in zip(grid.axes, found.T, strict=True):
            what = refused(column, **self.rules)
            if what is not None:
                raise not_the_data(self.whole.source, f"{what} in column {axis.name!r}, which were refused then")
        cells = cells_of_codes(grid, found)
        group, usable = self._found(batch, cells)
        values = np.full((len(cells), len(self.added)), np.nan)
        values[usable] = np.column_stack([self.groups.losses[group], self.groups.scales[group]])
        kept = {name: batch[f"{FIELD} {j}"] for j, name in enumerate(self.whole.kept)}
        made = pl.DataFrame(kept | {name: values[:, i] for i, name in enumerate(self.added)})
        if not usable.all():
            made = made.with_columns(pl.when(pl.Series(usable)).then(pl.col(name)) for name in self.added)
        self.rows += len(made)
        self.left_out += int((~usable).sum())
        if self.progress is not None:
            self.progress(self.rows)
        return made


def take_bags(mechanism: UnitFixedNoise, everyone: list[Bag], source: str) -> Ints:
    """The group of everyone, by their bags: people with the same one take the scales in turn, the smallest first."""
    lines: dict[Bag, list[int]] = {}
    order = np.argsort(-mechanism.scale_indices, kind="stable")
    for group in order.tolist():
        lines.setdefault(mechanism.bags[group], []).extend([group] * int(mechanism.people[group]))
    found = []
    for bag in everyone:
        if not lines.get(bag):
            raise not_the_data(source, "a person with other rows than anyone had then")
        found.append(lines[bag].pop())
    if any(lines.values()):
        raise not_the_data(source, "fewer people")
    return np.array(found, dtype=np.int64)


def added_names(scaled: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """What the added columns are called: ``loss`` and ``scale``, for several columns a scale for each; with a number if
    the data has one of those names, in whichever case."""
    scales = ["scale"] if len(scaled) == 1 else [f"scale_{name}" for name in scaled]
    names, number = ("loss", *scales), 1
    used = {name.lower() for name in taken}
    while any(name.lower() in used for name in names):
        number += 1
        names = tuple(f"{name}_{number}" for name in ("loss", *scales))
    return names
