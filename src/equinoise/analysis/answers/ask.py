"""Answers to questions, whatever they are answered from: noisy counts, or rows alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import Any, overload

import polars as pl

from equinoise.analysis import answers as from_counts
from equinoise.analysis.answers import row_answers as from_rows
from equinoise.analysis.answers.answer import CLIPPED, NOISE, NOTHING, PEOPLE, SEVERAL, Answer, check_level
from equinoise.analysis.answers.questions import Columns, Question, Table, category_words, describe
from equinoise.analysis.answers.row_answers import ROWS
from equinoise.analysis.answers.row_table import RowTable
from equinoise.data.axis import Axis
from equinoise.display import VIEWS
from equinoise.errors import BadInput

ROWS_NOTE = (
    "These are answers from rows alone: what the mechanism that made the rows changed is not in the intervals, and may "
    "be larger. Noisy counts have answers with all of it."
)
COUNTS_NOTE = (
    "Of one release, use these answers: they come from the noisy counts themselves and know their noise. Rows, and the "
    "statistics of what is released, come from a smooth estimate of the same counts, so their means and medians differ."
)

DIGITS = 6
"""Significant digits of numbers in a table of answers; whole digits are kept."""
EVERYONE = "all"
SHORT = {NOISE: "noise", PEOPLE: "people", SEVERAL: "several rows", NOTHING: "nothing", ROWS: "rows"}
"""What an interval contains, in a word."""

NUMBERS = ("estimate", "low", "high")


@dataclass(frozen=True, repr=False)
class Answers(Sequence[Answer]):
    """One or several answers, each an :class:`Answer`, and what belongs to all of them: a ``note``, and ``of_whom``,
    which people they are about, by the public rules for values that are missing or not listed."""

    each: tuple[Answer, ...]
    note: str = ""
    of_whom: str = ""

    @overload
    def __getitem__(self, place: int) -> Answer: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Answer, ...]: ...

    def __getitem__(self, place: int | slice) -> Answer | tuple[Answer, ...]:
        return self.each[place]

    def __len__(self) -> int:
        return len(self.each)

    def to_json(self) -> dict[str, Any]:
        """All of it, with dates as JSON has them: texts."""
        return {"answers": [answer_json(answer) for answer in self.each], "of_whom": self.of_whom, "note": self.note}

    def to_frame(self) -> pl.DataFrame:
        """A row for every answer, of everyone's with the group ``all``; numbers have six digits, and what an interval
        contains is a word each. Estimates and their ends are text if any of them is a date."""
        rows = [
            {name: _rounded(value) for name, value in answer_json(answer).items()}
            | {"contains": ", ".join(map(_in_a_word, answer.contains)), "group": answer.group or EVERYONE}
            for answer in self.each
        ]
        dates = any(isinstance(row[name], str) for row in rows for name in NUMBERS)
        kinds = {"level": pl.Float64, "p_value": pl.Float64} | dict.fromkeys(
            NUMBERS, pl.String if dates else pl.Float64
        )
        texts = [{name: str(row[name]) for name in NUMBERS if dates and row[name] is not None} for row in rows]
        each = [row | text for row, text in zip(rows, texts, strict=True)]
        return pl.DataFrame(each, schema={field.name: kinds.get(field.name, pl.String) for field in fields(Answer)})

    def __repr__(self) -> str:
        """A table, as a terminal has it."""
        return str(VIEWS["answers"](self)) if VIEWS else object.__repr__(self)

    def _repr_html_(self) -> str:
        return str(VIEWS["answers in HTML"](self))


def _rounded(value: Any) -> Any:
    """A number in six digits, or more if it has more before the point."""
    if not isinstance(value, float) or not math.isfinite(value) or value == 0:
        return value
    return round(value, max(DIGITS - 1 - math.floor(math.log10(abs(value))), 0))


def _in_a_word(part: str) -> str:
    """What an interval contains, in a word; of a column, its bins or its values outside the bounds."""
    return SHORT.get(part) or ("bins" if not part.startswith(CLIPPED) else "bounds")


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as JSON has it."""
    found = asdict(answer) | {"contains": list(answer.contains)}
    return {key: str(value) if isinstance(value, date) else value for key, value in found.items()}


def ask(
    columns: Columns,
    questions: Sequence[Question],
    *,
    by: str | None = None,
    level: float = 0.95,
    everyone: bool = False,
) -> Answers:
    """The answers to some questions, in their order; ``by`` the categories of a column, each question for every one of
    them, unless it is about that column itself, and after them for ``everyone`` if that is wanted, too."""
    check_level(level)
    groups: list[tuple[str | None, Table]] = [(None, columns.table)]
    if by is not None:
        categories = columns.categories(by)
        groups = [(category_words(by, each), columns.table.where(by, each)) for each in categories]
        groups += [(None, columns.table)] * everyone
    found: list[Answer] = []
    for question in questions:
        own = [(None, columns.table)] if by in question.columns else groups
        found += (answer for group, table in own for answer in _answers(columns, table, question, group, level))
    note = ROWS_NOTE if isinstance(columns.table, RowTable) else COUNTS_NOTE
    return Answers(tuple(found), note, columns.of_whom)


def refuse_same(question: Question, by: str | None) -> None:
    """Refuse a question by the categories of the column that it is about."""
    if by is not None and by in question.columns:
        raise BadInput(f"The question is about {by!r}, so it cannot be answered by the categories of {by!r} as well.")


def _answers(
    columns: Columns, table: Table, question: Question, group: str | None, level: float
) -> Iterator[Answer]:  # fmt: skip
    """The answers to one question about one group."""
    numbers = question.kind in {"mean", "median", "quantiles"}
    axis = columns.axis(question.columns[0]) if numbers else None
    for words, answer in zip(describe(question), _statistics(table, question, level), strict=True):
        yield replace(answer, question=words, group=group, **(_dates(answer, axis) if isinstance(axis, Axis) else {}))


def _statistics(table: Any, question: Question, level: float) -> list[Answer]:
    """What a table tells, each in the unit of its column."""
    source: Any = from_rows if isinstance(table, RowTable) else from_counts
    names, categories = question.columns, question.categories
    match question.kind:
        case "mean":
            return [source.mean(table, *names, level)]
        case "median":
            return [source.quantile(table, *names, 0.5, level)]
        case "quantiles":
            return [source.quantile(table, *names, q, level) for q in question.quantiles]
        case "correlation":
            return [source.correlation(table, *names, level)]
        case "difference":
            return [source.difference(table, *names, *categories, level)]
    if not names:
        return [source.count(table, level=level)]
    return [getattr(source, question.kind)(table, *names, category, level) for category in categories]


def _dates(answer: Answer, axis: Axis) -> dict[str, Any]:
    """Dates for days since day zero, the ends of the interval outwards; nothing for other numbers."""
    if axis.day_zero is None:
        return {}
    ends = {"estimate": answer.estimate, "low": answer.low, "high": answer.high}
    to_whole: dict[str, Any] = {"estimate": round, "low": math.floor, "high": math.ceil}
    return {name: axis.to_value(to_whole[name](day)) for name, day in ends.items() if day is not None}
