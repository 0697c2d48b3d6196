"""Questions about the columns of a table: as a command has them, or by their parts; none that cannot be answered."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.row_table import RowTable
from equinoise.data.axis import MISSING_LABEL, Axis
from equinoise.data.category_axis import Category, CategoryAxis
from equinoise.data.codes import is_absent
from equinoise.data.columns import find_column
from equinoise.data.grid import AnyAxis
from equinoise.errors import BadInput, is_number
from equinoise.formatting import join_and, join_or, printable, shorten

Table = NoisyTable | RowTable

FORMS = {
    "mean": "mean:COLUMN",
    "median": "median:COLUMN",
    "quantiles": "quantiles:COLUMN:0.1,0.9",
    "count": "count, count:COLUMN or count:COLUMN=CATEGORY",
    "share": "share:COLUMN or share:COLUMN=CATEGORY",
    "correlation": "correlation:COLUMN,COLUMN",
    "difference": "difference:COLUMN:BY=FIRST,SECOND",
}
"""How each kind of question is asked."""

IN_PYTHON = "Ask it in Python, where names stand apart: equinoise.Release.open(...).mean(...)."


@dataclass(frozen=True)
class Question:
    """What is asked of a table: by its ``kind``, of some ``columns``, about some ``categories`` of the last of them
    (None is that of the missing), or ``quantiles`` between 0 and 1."""

    kind: str
    columns: tuple[str, ...] = ()
    categories: tuple[Category | None, ...] = ()
    quantiles: tuple[float, ...] = ()


@dataclass(frozen=True)
class Columns:
    """The columns of a table, by their names; ``source`` is what errors call it. ``of_whom`` says who was left out of
    the table, as far as that is public."""

    table: Table
    source: str
    of_whom: str = ""

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        if isinstance(self.table, RowTable):
            return list(self.table.names)
        return [axis.name for axis in self.table.axes]

    def axis(self, column: Any) -> AnyAxis:
        """What is known of a column's values; refused unless there is such a column."""
        if not isinstance(column, str):
            raise BadInput(f"A column is named by text. Got {shorten(repr(column))} instead.")
        name = find_column(column, self.names, self.source)
        return (
            self.table.axis_of(name)
            if isinstance(self.table, RowTable)
            else self.table.axes[self.table.number_of(name)]
        )

    def numbers(self, column: Any) -> Axis:
        """A column of numbers or dates."""
        axis = self.axis(column)
        if isinstance(axis, CategoryAxis):
            loose = isinstance(self.table, RowTable) and not self.table.bounded
            remedy = ", or say in a schema that it has dates or numbers" if loose else ""
            raise BadInput(
                f"Column {column!r} has categories, and no mean, quantile or correlation. Ask for its shares or counts"
                f"{remedy}."
            )
        return axis

    def categories(self, column: Any) -> tuple[Category | None, ...]:
        """All categories of a column, that of the missing last."""
        axis = self.axis(column)
        if not isinstance(axis, CategoryAxis):
            raise BadInput(
                f"Column {column!r} has numbers, and no categories. Ask for its mean or quantiles, or list its "
                "categories in a schema."
            )
        return (*axis.names, None) if axis.missing == "category" else axis.names

    def category(self, column: Any, said: Any) -> Category | None:
        """A category as the schema has it, or None for that of the missing, however it was written."""
        axis = self.axis(column)
        bin = -1 if is_absent(said) else axis.code_of(said) if isinstance(axis, CategoryAxis) else -1
        if isinstance(axis, CategoryAxis) and bin >= 0:
            return axis.names[bin]
        if axis.missing == "category" and (is_absent(said) or said == MISSING_LABEL):
            return None
        self.categories(column)  # a column of numbers has none
        labels = [axis.bin_label(bin) for bin in range(axis.bins)]
        near = difflib.get_close_matches(str(said).lower(), {label.lower(): label for label in labels}, n=1)
        hint = next((f"Did you mean {label!r}?" for label in labels if [label.lower()] == near), "")
        more = f" and {len(labels) - 8:,} more" if len(labels) > 8 else ""
        raise BadInput(
            f"Column {column!r} has no category {shorten(str(said))!r}. "
            + (hint or f"It has {', '.join(map(repr, labels[:8]))}{more}.")
        )


def make_question(kind: str, columns: Columns, *parts: Any) -> Question:
    """A question by its parts, as the methods of a release have them; refused unless it can be answered."""
    return MAKERS[kind](columns, *parts)


def _one_column(kind: str) -> Callable[..., Question]:
    def make(columns: Columns, column: Any) -> Question:
        columns.numbers(column)
        return Question(kind, (column,))

    return make


def _quantiles(columns: Columns, column: Any, quantiles: Any) -> Question:
    columns.numbers(column)
    several = isinstance(quantiles, Iterable) and not isinstance(quantiles, str)
    wanted = list(quantiles) if several else [quantiles]
    for q in wanted:
        if not (is_number(q) and 0 < q < 1):
            raise BadInput(f"A quantile is a number between 0 and 1, such as 0.9. Got {shorten(repr(q))} instead.")
    if not wanted:
        raise BadInput("Name at least one quantile, such as 0.9.")
    return Question("quantiles", (column,), (), tuple(map(float, wanted)))


def _categories(kind: str) -> Callable[..., Question]:
    def make(columns: Columns, column: Any = None, category: Any = ALL) -> Question:
        if column is None and kind == "count":
            return Question(kind)
        wanted = columns.categories(column) if category is ALL else (columns.category(column, category),)
        return Question(kind, (column,), wanted)

    return make


def _correlation(columns: Columns, a: Any, b: Any) -> Question:
    for column in (a, b):
        columns.numbers(column)
    if a == b:
        raise BadInput(f"A correlation is of two columns. Got {a!r} twice.")
    return Question("correlation", (a, b))


def _difference(columns: Columns, column: Any, by: Any, first: Any, second: Any) -> Question:
    columns.numbers(column)
    columns.categories(by)
    between = columns.category(by, first), columns.category(by, second)
    if between[0] == between[1]:
        raise BadInput(f"A difference is between two groups. Got {str(first)!r} twice.")
    return Question("difference", (column, by), between)


ALL: Any = object()
"""Where no category is named: every one."""

MAKERS: dict[str, Callable[..., Question]] = {
    "mean": _one_column("mean"),
    "median": _one_column("median"),
    "quantiles": _quantiles,
    "count": _categories("count"),
    "share": _categories("share"),
    "correlation": _correlation,
    "difference": _difference,
}


def parse_question(text: str, columns: Columns) -> Question:
    """A question as a command has it: ``mean:age``. Names may have its marks in them, as long as the text can be read
    in one way only."""
    kind, mark, rest = text.partition(":")
    if kind not in FORMS:
        raise BadInput(f"{shorten(printable(text))!r} is no question. {_form_hint(text, kind, columns)}")
    if not rest and (kind != "count" or mark):
        raise BadInput(f"{shorten(printable(text))!r} is not a whole question. Ask {FORMS[kind]}.")
    readings = list(_readings(kind, rest))
    if not readings:
        raise BadInput(f"{shorten(printable(text))!r} is not a whole question. Ask {FORMS[kind]}.")
    made, refused = [], []
    for parts in readings:
        try:
            made.append(make_question(kind, columns, *parts))
        except BadInput as error:
            refused.append(error)
    if len(made) > 1:
        raise BadInput(f"{shorten(printable(text))!r} can be read in {len(made)} ways. {IN_PYTHON}")
    if made:
        return made[0]
    more = f" {IN_PYTHON}" if len(readings) > 2 else ""
    raise BadInput(f"{refused[-1]}{more}")


def _form_hint(text: str, kind: str, columns: Columns) -> str:
    """How to ask what a text may mean: a kind of question and a column that are in it, or what is like it."""
    words = re.findall(r"[a-z]+", text.lower())
    said = next((form for form in FORMS if form in words), None)
    named = [name for name in columns.names if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text.lower())]
    if said in {"mean", "median", "count", "share"} and named:
        return f"Did you mean {f'{said}:{printable(named[0])}'!r}?"
    near = [said] if said else difflib.get_close_matches(kind.lower(), FORMS, n=1)
    if near:
        return f"Did you mean {FORMS[near[0]]}?"
    numbers = [name for name in columns.names if isinstance(columns.axis(name), Axis)]
    example = f", for example {f'mean:{printable(numbers[0])}'!r}" if numbers else ""
    return f"Ask {join_or(FORMS)}{example}."


def _readings(kind: str, rest: str) -> Iterator[tuple[Any, ...]]:
    """The parts of a question in every way in which its marks can be read, the plainest last."""
    if kind in {"mean", "median"} or not rest:
        yield (rest,) if rest else ()
    elif kind == "quantiles":
        column, mark, numbers = rest.rpartition(":")
        if mark:
            yield column, [_number(part) for part in numbers.split(",")]
    elif kind in {"count", "share"}:
        yield (rest,)
        yield from _splits(rest, "=")
    elif kind == "correlation":
        yield from _splits(rest, ",")
    else:
        for column, groups in _splits(rest, ":"):
            for by, between in _splits(groups, "="):
                yield from ((column, by, *names) for names in _splits(between, ","))


def _splits(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """A text cut in two at each of its marks, from the last to the first."""
    for place in reversed([place for place, letter in enumerate(text) if letter == mark]):
        yield text[:place], text[place + 1 :]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def describe(question: Question) -> list[str]:
    """Each answer that a question has, in words."""
    names = [shorten(printable(name), 40) for name in question.columns]
    groups = [category_words(question.columns[-1], each) for each in question.categories]
    if question.kind == "quantiles":
        return [f"{q:g} quantile of {names[0]}" for q in question.quantiles]
    if question.kind == "difference":
        return [f"mean {names[0]}, {groups[0]} less {groups[1]}"]
    if not names:
        return ["count of all"]
    if groups:
        return [f"{question.kind} of {group}" for group in groups]
    return [f"{question.kind} of {join_and(names)}"]


def category_words(column: str, category: Category | None) -> str:
    """A category with its column, in words."""
    label = MISSING_LABEL if category is None else str(category)
    label = label.lower() if isinstance(category, bool) else label
    return f"{shorten(printable(column), 40)} = {shorten(printable(label), 40)}"
