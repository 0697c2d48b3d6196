"""Losses back to rows: every row of the data with its person's loss and scale, for the custodian's eyes.

A mechanism knows counts, not people. People of one cell may have different scales and are interchangeable, so the rows
of a cell take its scales in the order in which they come, the smallest first. Rows stream by and are counted as they
do: only the data that the mechanism was made from, all of it, gets a file. With a unit, all rows of a person get that
person's loss and scale. Beside the file there is a list of who is hardest to protect, with the numbers of their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from equinoise.analysis import end_to_end as whole_procedure
from equinoise.analysis.loss_groups import HARDEST_LINES, Groups, People, Queues, line_of_bag, wrong_data
from equinoise.analysis.scales_needed import least_scale
from equinoise.atomic_write import check_writable
from equinoise.choices import DecimalMark, EngineName, SeparatorName
from equinoise.data.bad_values import refusal
from equinoise.data.bags import clean_units, count_person_cells, unit_text
from equinoise.data.counting import cells_of_codes, code_columns, read_codes
from equinoise.data.engines import engine_for
from equinoise.data.grid import Ints
from equinoise.data.paths import find_files
from equinoise.data.read_players import count_players, most_rows_of, open_axes
from equinoise.data.rows import Rows
from equinoise.data.text_fields import FIELD
from equinoise.data.text_format import TextFormat
from equinoise.data.write_rows import check_suffix, write_frames
from equinoise.errors import BadInput
from equinoise.mechanisms.base import Mechanism
from equinoise.solvers.solution import Progress

UNIT = "equinoise unit"
DIGITS = 6
"""Significant digits of losses and scales in a file of rows."""
NAMED_ROWS = 3
"""Rows of a line of interchangeable people that are named."""
Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]
RowProgress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class RowLosses:
    """A file of rows with their losses and scales: where it is, and whose groups they are."""

    mechanism: Mechanism
    groups: Groups
    out: Path
    rows: int
    left_out: int
    columns: tuple[str, ...]
    measured: whole_procedure.EndToEnd | None
    listed: list[slice]
    named: list[NamedRows]

    def hardest(self) -> list[dict[str, Any]]:
        """The lines of people who are hardest to protect, with the numbers and values of their first rows."""
        lines = map(self.groups.line_json, self.listed)
        return [line | vars(rows) for line, rows in zip(lines, self.named, strict=True)]

    @property
    def stands_out(self) -> Bools:
        """Whether people of each group need more than the least scale on offer."""
        return standing_out(self.mechanism, self.groups)

    @property
    def lines_standing_out(self) -> int:
        """How many of the lines have people who need more than the least scale on offer."""
        return len(np.unique(self.groups.lines[self.stands_out]))

    @property
    def lines(self) -> int:
        """How many lines of interchangeable people there are: cells, or bags of them."""
        return len(self.groups.hardest_lines())

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
            "hardest": self.hardest(),
            "people_standing_out": int(self.groups.people[self.stands_out].sum()),
            "people_hiding_others": int(self.groups.people[self.groups.hides_others].sum()),
            "end_to_end": None if self.measured is None else self.measured.sentence,
        }


@dataclass
class NamedRows:
    """The first rows of a line of interchangeable people: their numbers, from 1, their values, and how many more there
    are."""

    rows: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    more_rows: int = 0


def standing_out(mechanism: Mechanism, groups: Groups) -> Bools:
    """Whether people of each group need more than the least scale on offer."""
    return np.asarray((groups.needed > least_scale(mechanism)).any(axis=1))


def write_losses(
    mechanism: Mechanism | str | Path,
    data: Any,
    out: str | Path,
    *,
    engine: EngineName = "polars",
    engine_address: str | None = None,
    separator: SeparatorName | None = None,
    decimal: DecimalMark | None = None,
    end_to_end: bool = False,
    force: bool = False,
    verbose: bool = False,
    progress: RowProgress | None = None,
    measuring: Progress | None = None,
) -> RowLosses:
    """Write all columns of ``data`` with each row's loss and scale to a CSV, TSV or Parquet file, for the owner alone.

    ``data`` must be what the mechanism was made from, files or any dataframe. ``loss`` is of one draw (everyone else's
    noise held fixed; with differential privacy, the weights worked out again), ``scale`` in data units. The file is as
    secret as the data. With ``end_to_end`` the whole procedure is run again without a person of each type, as an audit
    does, for one more column. ``verbose`` lists all who need more than the least scale on offer, not the hardest alone.
    ``progress`` is told how many rows are written, ``measuring`` who is left out.
    """
    out, files = Path(out), isinstance(data, str | Path)
    check_suffix(out)
    saved = None if isinstance(mechanism, Mechanism) else Path(mechanism)
    check_writable(out, Path(data) if files else None, saved, force=force)
    opened = mechanism if isinstance(mechanism, Mechanism) else Mechanism.open(mechanism)
    if opened.total_people == 0:
        raise BadInput("The mechanism was made where nobody had a usable value: there are no losses to write.")
    axes, text = opened.grid.axes, TextFormat(separator, decimal)
    with engine_for(data, engine, engine_address) as reader:
        whole = open_axes(data, axes, None, keep=True, text=text)
        measured = None
        if end_to_end:  # takes long: the data is looked at first
            unit, most = opened.settings.get("unit"), most_rows_of(opened.settings)
            read = open_axes(data, axes, reader, keep=False if unit is None else unit, text=text)
            if not count_players(read, opened.grid, most).same(opened.players):
                raise wrong_data(whole.source, "other people")
            measured = whole_procedure.end_to_end(opened, measuring)
        writer = _LossWriter(opened, whole, measured, progress, verbose=verbose)
        if writer.unit is not None:
            writer.count_people(open_axes(data, axes, reader, keep=writer.unit, text=text))
        paths = find_files(Path(data), text).paths if files else ()
        each = (open_axes(path, axes, reader, keep=True, text=text) for path in paths) if files else [whole]
        write_frames(out, writer.frames(each), force=force)
    return RowLosses(
        opened, writer.groups, out, writer.rows, writer.left_out, writer.new_columns, measured, writer.listed,
        writer.named,
    )  # fmt: skip


class _LossWriter:
    """Rows on their way through, each given a place in a group; and how many there were."""

    def __init__(
        self,
        mechanism: Mechanism,
        whole: Rows,
        measured: whole_procedure.EndToEnd | None,
        progress: RowProgress | None,
        *,
        verbose: bool,
    ) -> None:
        self.mechanism, self.whole, self.progress = mechanism, whole, progress
        self.axes, self.unit = mechanism.grid.axes, mechanism.settings.get("unit")
        self.groups = groups = Groups.of(mechanism, measured)
        self.queues = Queues(self.groups, whole.source)
        self.people: People | None = None
        names = [axis.name for axis in self.axes]
        scaled, again = names[: groups.scales.shape[1]], groups.end_to_end
        self.new_columns = loss_columns(scaled, whole.fields, end_to_end=measured is not None)
        added = [groups.losses[:, None], groups.scales, groups.needed, *([] if again is None else [again[:, None]])]
        self.figures = pl.DataFrame(np.hstack(added), schema=self.new_columns[1:]).with_columns(
            pl.all().round_sig_figs(DIGITS)
        )
        lines, out = groups.hardest_lines(), standing_out(mechanism, groups)
        self.listed = [line for i, line in enumerate(lines) if i < HARDEST_LINES or (verbose and out[line.start])]
        self.named = [NamedRows() for _ in self.listed]
        self.place = np.full(len(groups.people), -1)
        for place, line in enumerate(self.listed):
            self.place[line] = place
        self.value_fields = [f"{FIELD} {whole.fields.index(name)}" for name in names]
        self.rows = self.left_out = 0

    def count_people(self, rows: Rows) -> None:
        """Count everyone's rows first: a person's first row does not tell where they stand."""
        lines = count_person_cells(rows, self.mechanism.grid)
        most = most_rows_of(self.mechanism.settings)
        if most is not None:
            lines = lines.at_most(most)
        if most == 1:
            self.people = People(lines.units, lines.cells, self.queues)
            return
        bags, which = lines.bags()
        known = line_of_bag(self.mechanism)
        strange = next((bag for bag in bags if bag not in known), None)
        if strange is not None:
            held = ", ".join(f"{times:,} in cell {cell}" for cell, times in strange[:NAMED_ROWS])
            raise wrong_data(rows.source, f"a person with other rows than anyone's that the mechanism knows ({held})")
        self.people = People(lines.units, np.array([known[bag] for bag in bags])[which], self.queues)

    def frames(self, each: Iterable[Rows]) -> Iterator[pl.DataFrame]:
        """Every batch with its losses and scales. Files come one by one: Spark would take the largest first."""
        for rows in each:
            query = code_columns(rows, self.axes)
            query += [nw.col(f"{FIELD} {j}") for j in range(len(rows.fields))]
            if self.unit is not None:
                query.append(unit_text(replace(rows, unit=self.unit)).alias(UNIT))
            for batch in rows.stream(rows.frame.select(*query)):
                yield self.add_losses(batch)
        self.queues.check_empty()

    def add_losses(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The columns of the data, then the number of every row, and the loss and scales of its person, or nulls."""
        group = self._groups_of(batch)
        placed = group >= 0
        which = pl.Series(group, dtype=pl.Int64).set(pl.Series(~placed), None)
        fields = {name: batch[f"{FIELD} {j}"] for j, name in enumerate(self.whole.fields)}
        table = pl.DataFrame(fields | {self.new_columns[0]: np.arange(self.rows + 1, self.rows + len(batch) + 1)})
        table = table.hstack(self.figures.select(pl.all().gather(which)))
        self._name_rows(batch, np.where(placed, self.place[group], -1))
        self.rows += len(table)
        self.left_out += int((~placed).sum())
        if self.progress is not None:
            self.progress(self.rows)
        return table

    def _name_rows(self, batch: pl.DataFrame, place: Ints) -> None:
        """Note the rows of people who are listed as hard to protect."""
        order = np.argsort(place, kind="stable")
        lines, begins = np.unique(place[order], return_index=True)
        for line, here in zip(lines.tolist(), np.split(order, begins)[1:], strict=True):
            if line < 0:
                continue
            named = self.named[line]
            first = here[: NAMED_ROWS - len(named.rows)]
            values = batch[first].select(self.value_fields).rows()
            named.rows += (first + self.rows + 1).tolist()
            named.values += [value[0] if len(value) == 1 else list(value) for value in values]
            named.more_rows += len(here) - len(first)

    def _groups_of(self, batch: pl.DataFrame) -> Ints:
        """The group of every row's person; -1 for rows that were left out."""
        codes = read_codes(self.whole, self.axes, batch)
        for axis, column in zip(self.axes, codes.T, strict=True):
            refused = refusal(axis, column)
            if refused is not None:
                raise wrong_data(self.whole.source, f"{refused} in column {axis.name!r}, refused when it was made")
        cells = cells_of_codes(self.mechanism.grid, codes)
        usable, group = cells >= 0, np.full(len(cells), -1, dtype=np.int64)
        if self.people is None:
            group[usable] = self.queues.take(cells[usable])
            return group
        units = clean_units(batch[UNIT], self.whole.from_text)
        usable &= units.is_not_null().to_numpy()
        group[usable] = self.people.take(units.filter(pl.Series(usable)))
        return group


def loss_columns(scaled: Sequence[str], taken: Sequence[str], *, end_to_end: bool = False) -> tuple[str, ...]:
    """What the added columns are called: ``row``, ``loss``, ``scale`` and ``scale_needed``, for several columns two for
    each, and ``end_to_end``; with a number if the data has one of those names, in whichever case."""
    each = [""] if len(scaled) == 1 else [f"_{name}" for name in scaled]
    plain = ["row", "loss", *(f"{what}{name}" for what in ("scale", "scale_needed") for name in each)]
    plain += ["end_to_end"] * end_to_end
    names, number = tuple(plain), 1
    used = {name.lower() for name in taken}
    while any(name.lower() in used for name in names):
        number += 1
        names = tuple(f"{name}_{number}" for name in plain)
    return names
