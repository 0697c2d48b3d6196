"""What the page begins with: the data that was named, which is not opened for its values, and what is public of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from equinoise.data.columns import find_column
from equinoise.data.draft import DATES, make_draft, open_source
from equinoise.data.players import Players
from equinoise.data.read_players import ONLY, read_players
from equinoise.data.schema import Column, Schema
from equinoise.data.text_format import TextFormat
from equinoise.errors import BadInput
from equinoise.settings import check_settings

Made = TypeVar("Made")

NOTHING_NAMED = "Name a file, or with --schema what is public about one: without data, there is the plan alone."


@dataclass(frozen=True)
class Source:
    """The data, if any was named, and how it is read."""

    data: Path | None = None
    engine: str = "polars"
    engine_address: str | None = None
    separator: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        check_settings({"engine": self.engine})

    def read_by(self, verb: Callable[..., Made], *arguments: Any, **settings: Any) -> Made:
        """What a function makes of the data, read as was said; refused where there is none."""
        if self.data is None:
            raise BadInput("No data was named, so there is the plan alone: equinoise explore DATA.")
        how = {name: value for name, value in vars(self).items() if name != "data"}
        return verb(self.data, *arguments, **settings, **how)

    def read(self, schema: Schema, **counting: Any) -> tuple[Players, dict[str, Any]]:
        """Everyone counted, and how, as :func:`read_players` gives them."""
        return self.read_by(read_players, schema, **counting)


@dataclass(frozen=True)
class Opening:
    """What is public before anything is done: the columns of the data, those ``included`` from the start, and which of
    them hold ``dates``; ``names`` are those of all columns, any of which may say whose each row is."""

    source: Source
    columns: tuple[Column, ...]
    included: frozenset[str]
    dates: frozenset[str] = field(default_factory=frozenset)
    names: tuple[str, ...] = ()
    unit: str | None = None

    @classmethod
    def of(cls, source: Source, asked: Schema) -> Opening:
        """Names and types of the data's columns, with what was said of them (:func:`columns_asked_for`), which are
        included from the start, and so is the only column of a file. No value is looked at."""
        said = {column.name: column for column in asked.columns if column.name != ONLY}
        if source.data is None:
            if not said:
                raise BadInput(NOTHING_NAMED)
            dates = frozenset(column.name for column in said.values() if column.is_date)
            names = () if asked.unit is None else (asked.unit,)
            return cls(source, tuple(said.values()), frozenset(said), dates, names, asked.unit)
        found = open_source(source.data, TextFormat(source.separator, source.decimal))
        for name in (*said, *([asked.unit] if asked.unit is not None else [])):
            find_column(name, list(found.types), found.name)
        draft = make_draft(source.data, separator=source.separator, decimal=source.decimal)
        drafted = {column.name: column for column in draft.schema.columns}
        columns = {name: drafted.get(name, column) if column == Column(name=name) else column
                   for name, column in said.items()}  # fmt: skip
        columns |= {name: column for name, column in drafted.items() if name not in said and name != asked.unit}
        dates = frozenset(
            name for name, column in columns.items() if column.is_date or draft.comments.get(name) == DATES
        )
        included = frozenset(said or (columns if len(columns) == 1 else ()))
        return cls(source, tuple(columns.values()), included, dates, tuple(found.types), asked.unit)

    def to_json(self) -> dict[str, Any]:
        """What the page needs to know: nothing that came from a value."""
        return {
            "source": None if self.source.data is None else str(self.source.data),
            "unit": self.unit,
            "names": list(self.names),
            "columns": [self._column_json(column) for column in self.columns],
        }

    def _column_json(self, column: Column) -> dict[str, Any]:
        told = Schema((column,)).to_json()["columns"][column.name]
        kind = "categories" if column.categories is not None or column.blank == "categories" else "numbers"
        return {**told, "name": column.name, "included": column.name in self.included,
                "kind": "dates" if column.name in self.dates else kind}  # fmt: skip
