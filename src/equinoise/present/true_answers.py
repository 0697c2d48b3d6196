"""Answers from noisy counts beside what the data says: for the custodian alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.ask import Answers, answer_json, ask
from equinoise.analysis.answers.questions import make_question
from equinoise.analysis.release import Release
from equinoise.data.axis import MISSING_LABEL, Axis
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.present.answer_notes import full_notes
from equinoise.present.answer_rows import texts
from equinoise.present.statistics_rows import IN_BINS, MOST_CATEGORIES

TITLE = "Answers from the noisy counts, beside the data"

HEADER = ("question", "estimate", "95 % interval", IN_BINS)

HOW_TO_READ = (
    "What anybody can answer from the noisy counts alone ('equinoise answer'), with intervals, and what the data says "
    "at the resolution of the grid: its median is the middle of a bin, where an answer says how far into the bin. "
    "Estimates may be published; the last column is as secret as the data."
)


class TrueAnswer(NamedTuple):
    """An answer from noisy counts, and the true one: of the people's counts on the same grid. ``of`` is the column, and
    the kind of question or the category."""

    of: tuple[str, str]
    answer: Answer
    data: Any

    def to_json(self) -> dict[str, Any]:
        """Both, as JSON has them."""
        return {**answer_json(self.answer), "data": self.data}

    @property
    def row(self) -> tuple[str, ...]:
        """Both, as text."""
        return (self.answer.question, *texts(self.answer, self.data))


def true_answers(mechanism: Mechanism) -> list[TrueAnswer]:
    """Mean and median of every column of numbers, and the shares of few categories: as secret as the data. None for
    mechanisms without noisy counts."""
    return list(_true_answers(mechanism)) if isinstance(mechanism, CountsTable) else []


def _true_answers(mechanism: CountsTable) -> Iterator[TrueAnswer]:
    columns, known = Release.of(mechanism).columns, mechanism.statistics()["columns"]
    for axis in mechanism.grid.axes:
        data = known[axis.name]["data"]
        if isinstance(axis, Axis):
            for kind in ("mean", "median"):
                answer = ask(columns, [make_question(kind, columns, axis.name)])[0]
                yield TrueAnswer((axis.name, kind), answer, data[kind])
        elif axis.bins <= MOST_CATEGORIES:
            shares = {**data["shares"], **({MISSING_LABEL: data["missing"]} if "missing" in data else {})}
            answers = ask(columns, [make_question("share", columns, axis.name)])
            for (label, share), answer in zip(shares.items(), answers, strict=True):
                yield TrueAnswer((axis.name, label), answer, share)


def sentences(found: list[TrueAnswer]) -> list[str]:
    """What the intervals contain."""
    return full_notes(Answers(tuple(one.answer for one in found)))
