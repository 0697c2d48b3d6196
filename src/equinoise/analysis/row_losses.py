"""Losses back to rows: every row of the data with its person's loss and scale, for the custodian's eyes.

A mechanism knows counts, not people. People of one cell may have different scales and are interchangeable, so the rows
of a cell take its scales in the order in which they come, the smallest first. Rows stream by and are counted as they
do: only the data that the mechanism was made from, all of it, gets a file. With a unit, all rows of a person get that
person's loss and scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.analysis.loss_groups import FEW, Groups, People, Queues, line_of_bag, not_the_data
from equinoise.atomic_write import check_writable
from equinoise.data.bags import bag_of_each, middle_rows
from equinoise.data.counting import cells_of_codes, codes, read_codes, refused
from equinoise.data.counting_people import cleaned, unit_key, unit_lines
from equinoise.data.engines import engine_for
from equinoise.data.grid import Ints
from equinoise.data.paths import find_files
from equinoise.data.row_files import check_suffix, write_frames
from equinoise.data.rows import FIELD, Rows, open_rows, stream
from equinoise.mechanisms.base import Mechanism

UNIT = "equinoise unit"
Seen = Callable[[int], None]


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
    noise held fixed; with differential privacy, the weights worked out again), ``scale`` in data units. The file is as
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
        work = _Work(opened, whole, progress)
        if work.unit is not None:
            work.meet(open_rows(data, columns, reader, keep=work.unit))
        paths = find_files(Path(data)).paths if files else ()
        each = (open_rows(path, columns, reader, keep=True) for path in paths) if files else [whole]
        write_frames(out, work.frames(each), force=force)
    return RowLosses(opened, work.groups, out, work.rows, work.left_out, work.added)


class _Work:
    """Rows on their way through, and what has been seen of them."""

    def __init__(self, mechanism: Mechanism, whole: Rows, progress: Seen | None) -> None:
        self.mechanism, self.whole, self.progress = mechanism, whole, progress
        self.axes, self.unit = mechanism.grid.axes, mechanism.settings.get("unit")
        self.groups = Groups.of(mechanism)
        self.queues = Queues(self.groups, whole.source)
        self.people: People | None = None
        self.added = added_names([axis.name for axis in self.axes][: self.groups.scales.shape[1]], whole.kept)
        self.rows = self.left_out = 0
        self.rules = {name: mechanism.settings.get(name, "refuse") for name in ("missing", "outside")}

    def meet(self, rows: Rows) -> None:
        """Count everyone's rows first: a person's first row does not tell where they stand."""
        names, *lines = unit_lines(rows, self.axes, **self.rules)
        if self.mechanism.settings.get("unit_rows") == "one":
            self.people = People(names, middle_rows(*lines), self.queues)
            return
        bags, which = bag_of_each(*lines)
        known = line_of_bag(self.mechanism)
        strange = next((bag for bag in bags if bag not in known), None)
        if strange is not None:
            held = ", ".join(f"{times:,} in cell {cell}" for cell, times in strange[:FEW])
            raise not_the_data(rows.source, f"a person with other rows than anyone's that the mechanism knows ({held})")
        self.people = People(names, np.array([known[bag] for bag in bags])[which], self.queues)

    def frames(self, each: Iterable[Rows]) -> Iterator[pl.DataFrame]:
        """Every batch with its losses and scales. Files come one by one: Spark would take the largest first."""
        for rows in each:
            wanted = [*codes(rows, self.axes), *(nw.col(f"{FIELD} {j}") for j in range(len(rows.kept)))]
            if self.unit is not None:
                wanted.append(unit_key(rows, rows.kept.index(self.unit)).alias(UNIT))
            for batch in stream(rows, rows.frame.select(*wanted)):
                yield self._with_losses(batch)
        self.queues.check_empty()

    def _with_losses(self, batch: pl.DataFrame) -> pl.DataFrame:
        group = self._groups(batch)
        placed = group >= 0
        values = np.full((len(group), len(self.added)), np.nan)
        values[placed] = np.column_stack([self.groups.losses[group[placed]], self.groups.scales[group[placed]]])
        kept = {name: batch[f"{FIELD} {j}"] for j, name in enumerate(self.whole.kept)}
        made = pl.DataFrame(kept | {name: values[:, i] for i, name in enumerate(self.added)})
        if not placed.all():
            made = made.with_columns(pl.when(pl.Series(placed)).then(pl.col(name)) for name in self.added)
        self.rows += len(made)
        self.left_out += int((~placed).sum())
        if self.progress is not None:
            self.progress(self.rows)
        return made

    def _groups(self, batch: pl.DataFrame) -> Ints:
        """The group of every row's person; -1 for rows that were left out."""
        found = read_codes(self.whole, self.axes, batch)
        for axis, column in zip(self.axes, found.T, strict=True):
            what = refused(column, **self.rules)
            if what is not None:
                raise not_the_data(self.whole.source, f"{what} in column {axis.name!r}, refused when it was made")
        cells = cells_of_codes(self.mechanism.grid, found)
        usable, group = cells >= 0, np.full(len(cells), -1, dtype=np.int64)
        if self.people is None:
            group[usable] = self.queues.take(cells[usable])
            return group
        units = cleaned(batch[UNIT], self.whole.from_text)
        usable &= units.is_not_null().to_numpy()
        group[usable] = self.people.take(units.filter(pl.Series(usable)))
        return group


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
