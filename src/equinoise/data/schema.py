"""The schema: what is public about the columns, as anyone would know it without the data.

A column has bounds, if it holds numbers or dates, or categories. A schema is written by hand in a TOML file, or made of
a dict of the same form; ``docs/schema.md`` explains every key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

from equinoise.data.schema_checks import (
    COLUMN_KEYS,
    Mistake,
    are_dates,
    column_mistakes,
    is_blank,
    name_mistakes,
    schema_mistakes,
    steps_between,
    unit_mistakes,
)
from equinoise.data.toml_text import Keys, Lines, dotted, line_text, read_toml
from equinoise.display import VIEWS
from equinoise.errors import BadInput
from equinoise.formatting import printable

MOST_TOLD = 10
"""Mistakes that are told at once."""

BLANKS = {
    "bounds": "is blank. Fill in [low, high], as anyone would know them without the data.",
    "categories": "is blank. Fill in all categories, as anyone would know them without the data.",
    None: "has neither bounds nor categories. Give bounds for numbers or dates, categories for anything else.",
}
"""What is to be done about a blank."""

LEAVE_OUT = "To leave a column out, delete its table"

Category = str | int | bool
Number = float | int


@dataclass(frozen=True, kw_only=True)
class Column:
    """What is public about one column.

    ``bounds`` are of numbers, or two dates for whole days; then values are multiples of ``step`` from the lower bound
    (for dates days, 1 if left out), and ``bins`` says into how many equal parts the bounds are cut. ``categories`` are
    all values of any other column. ``missing``: refuse, drop, or category, one of its own. ``outside``: refuse, or clip
    to the bounds, or drop what is no category; left out, each verb has its own rules. ``peeked`` names what was read
    off the data and is thus not public. ``bounds_epsilon`` is what finding the bounds under differential privacy cost,
    charged to the book with the identity ``bounds_book``, if to any. ``blank`` is which of bounds and
    categories is still to be filled in, if that is known; an empty list says so, too.

    >>> Column(name="age", bounds=(18, 100), step=1, bins=41).steps
    82
    """

    name: str
    bounds: tuple[float, float] | tuple[date, date] | None = None
    step: float | int | None = None
    bins: int | None = None
    categories: tuple[Category, ...] | None = None
    missing: str | None = None
    outside: str | None = None
    peeked: tuple[str, ...] = ()
    blank: Literal["bounds", "categories"] | None = None
    bounds_epsilon: float | None = None
    bounds_book: str | None = None

    def __post_init__(self) -> None:
        given = {key: getattr(self, key) for key in COLUMN_KEYS}
        if self.blank is not None and is_blank(given[self.blank]):
            given[self.blank] = ()
        refuse(name_mistakes(self.name))
        refuse(column_mistakes(self.name, given))
        for key, value in _plain(given).items():
            object.__setattr__(self, key, value)

    @property
    def is_complete(self) -> bool:
        """Whether bounds or categories are filled in."""
        return self.bounds is not None or self.categories is not None

    @property
    def is_date(self) -> bool:
        """Whether it holds dates."""
        return self.bounds is not None and are_dates(self.bounds)

    @property
    def steps(self) -> int | None:
        """Steps from the lower bound to the upper one; None without a step, or without bounds."""
        if self.bounds is None or self.step is None:
            return None
        return int(steps_between(self.bounds, self.step))

    def to_dict(self) -> dict[str, Any]:
        """What its table in a file says: no name, nothing that is as it would be if left out, and lists for tuples."""
        found = {key: getattr(self, key) for key in COLUMN_KEYS}
        if self.blank is not None:
            found[self.blank] = ()
        if self.is_date and self.step == 1:
            found["step"] = None
        kept = {key: value for key, value in found.items() if value is not None and (key, value) != ("peeked", ())}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in kept.items()}


@dataclass(frozen=True, repr=False)
class Schema:
    """What is public about the columns that are counted, and the column, if any, that says whose each row is.

    ``places`` is where a file says what, for sentences about it.

    >>> Schema.of({"columns": {"ward": {"categories": ["elective", "emergency"]}}})
    [columns.ward]
    categories = ["elective", "emergency"]
    """

    columns: tuple[Column, ...]
    unit: str | None = None
    places: Mapping[Keys, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = [column.name for column in self.columns]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"Column {name!r} is named twice. Name different columns.")
        if not names:
            refuse(schema_mistakes({"columns": {}}))
        refuse(unit_mistakes(self.unit, names))

    @classmethod
    def open(cls, path: str | Path) -> Schema:
        """The schema in a TOML file. All mistakes are told together, each with its line."""
        document, lines = read_toml(Path(path))
        return cls._of_document(document, places_of(path, lines))

    @classmethod
    def of(cls, given: Schema | Mapping[str, Any] | str | Path) -> Schema:
        """A schema, a dict in the form of its file, or the path of one."""
        if isinstance(given, Schema):
            return given
        return cls.open(given) if isinstance(given, str | Path) else cls._of_document(given, {})

    @classmethod
    def _of_document(cls, document: Mapping[str, Any], places: Mapping[Keys, str]) -> Schema:
        refuse(schema_mistakes(document), places)
        columns = (Column(name=name, **keys) for name, keys in document["columns"].items())
        return cls(tuple(columns), document.get("unit"), places)

    @classmethod
    def from_options(
        cls,
        columns: Sequence[str] | None = None,
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        steps: Mapping[str, Number] | None = None,
        categories: Mapping[str, tuple[Category, ...]] | None = None,
        bins: int | Mapping[str, int] | None = None,
        missing: str | None = None,
        outside: str | None = None,
        unit: str | None = None,
    ) -> Schema:
        """A schema of plain options. ``columns`` left out are those that have bounds or categories; ``bins`` are for
        every column without categories, or by column; ``missing`` and ``outside`` are for all, where to clip is to drop
        what is no category. A column without bounds and categories is left blank."""
        bounds, steps, categories = bounds or {}, steps or {}, categories or {}
        names = tuple(columns or dict.fromkeys([*bounds, *categories]))
        cuts = bins if isinstance(bins, Mapping) else {name: bins for name in names if name not in categories}
        for what, given in {
            "are bounds": bounds,
            "is a step": steps,
            "are categories": categories,
            "are bins": cuts,
        }.items():
            strange = next((name for name in given if name not in names), None)
            if strange is not None:
                raise BadInput(f"There {what} for column {strange!r}, which is not among {list(names)}.")
        made = []
        for name in names:
            numbers = name not in categories and (steps.get(name) is not None or cuts.get(name) is not None)
            made.append(
                Column(
                    name=name,
                    bounds=bounds.get(name),
                    step=steps.get(name),
                    bins=cuts.get(name),
                    categories=categories.get(name),
                    missing=missing,
                    outside="drop" if name in categories and outside == "clip" else outside,
                    blank="bounds" if numbers and name not in bounds else None,
                )
            )
        return cls(tuple(made), unit)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def peeked(self) -> tuple[str, ...]:
        """What was read off the data and is thus not public, such as ``age.bounds``."""
        return tuple(f"{column.name}.{key}" for column in self.columns for key in column.peeked)

    def check_complete(self, names: Sequence[str] | None = None, remedy: str = f"{LEAVE_OUT}.") -> None:
        """Refuse a schema with blanks (of ``names``: in these columns), name each, and end with the ``remedy``."""
        refuse(self._blanks(names), self.places, remedy)

    def _blanks(self, names: Sequence[str] | None) -> Iterable[Mistake]:
        for column in self.columns:
            if not column.is_complete and (names is None or column.name in names):
                key = () if column.blank is None else (column.blank,)
                yield Mistake(("columns", column.name, *key), BLANKS[column.blank])

    def to_dict(self) -> dict[str, Any]:
        """What its file says; :meth:`of` makes the schema of it again."""
        columns = {column.name: column.to_dict() for column in self.columns}
        return {"columns": columns} if self.unit is None else {"unit": self.unit, "columns": columns}

    def to_json(self) -> dict[str, Any]:
        """:meth:`to_dict`, with dates as JSON has them: texts."""
        found = self.to_dict()
        for column in found["columns"].values():
            column.update({"bounds": list(map(str, column["bounds"]))} if are_dates(column.get("bounds", [0])) else {})
        return found

    def to_toml(self) -> str:
        """The text of its file."""
        unit = [] if self.unit is None else [line_text("unit", self.unit)]
        tables = ["\n".join(table_lines(column)) for column in self.columns]
        return "\n\n".join([*unit, *tables]) + "\n"

    def __repr__(self) -> str:
        return self.to_toml().rstrip("\n")

    def _repr_html_(self) -> str:
        return str(VIEWS["schema"](self))


def table_lines(column: Column) -> list[str]:
    """A column's table in a file: its heading, and a line or some for every key."""
    return [f"[{dotted(('columns', column.name))}]", *(line_text(*item) for item in column.to_dict().items())]


def refuse(mistakes: Iterable[Mistake], places: Mapping[Keys, str] | None = None, remedy: str = "") -> None:
    """Refuse whatever has mistakes, and tell them together, with a ``remedy`` for all of them at the end."""
    found = list(mistakes)
    if found:
        sentences = [f"{_place(mistake.keys, places or {})}{mistake.sentence}" for mistake in found[:MOST_TOLD]]
        more = [f"There are {len(found)} mistakes in all."] if len(found) > MOST_TOLD else []
        raise BadInput(" ".join([*sentences, *more, *([remedy] if remedy else [])]))


def _place(keys: Keys, places: Mapping[Keys, str]) -> str:
    parts = [places.get(keys, places.get((), "")), dotted(keys) or ("" if places else "The schema")]
    return f"{', '.join(part for part in parts if part)}: "


def places_of(path: str | Path, lines: Lines) -> dict[Keys, str]:
    """Where a file says what: ``people.toml, line 7``. Without a key, the file alone."""
    file = printable(str(path))
    return {(): file, **{keys: f"{file}, line {line}" for keys, line in lines.items()}}


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a column with values of Python's own types, and what is blank."""
    found = dict(given)
    found["blank"] = next(
        (key for key in ("bounds", "categories") if given[key] is not None and is_blank(given[key])), None
    )
    for key in ("bounds", "categories"):
        found[key] = None if is_blank(given[key]) else tuple(map(_own, given[key]))
    found["step"], found["bins"], found["peeked"] = (
        _own(given["step"]),
        _own(given["bins"]),
        tuple(given["peeked"] or ()),
    )
    found["bounds_epsilon"] = _own(given["bounds_epsilon"])
    if found["bounds"] is not None and are_dates(found["bounds"]) and found["step"] is None:
        found["step"] = 1
    return found


def _own(value: Any) -> Any:
    """A number or text of another library as one of Python's own."""
    if isinstance(value, bool | date) or value is None:
        return value
    if isinstance(value, str):
        return str(value)
    return int(value) if isinstance(value, Integral) else float(value)
