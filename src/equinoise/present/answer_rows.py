"""Answers as text: for the terminal, notebooks and reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equinoise.analysis.answers.answer import CLIPPED, Answer
from equinoise.analysis.answers.ask import Answers
from equinoise.formatting import format_number, three_digits

MOSTLY = {
    "noise": "mostly from the noise: more people or a larger epsilon would help",
    "people": "mostly from the sampling of people: more people would help",
    "bins": "mostly from the bins: finer bins would help",
}
"""What the width of an interval comes from, and what would make it narrower."""

MOST_NAMED = 4
"""Questions that are named where intervals contain different things."""


def answer_rows(answers: Answers) -> tuple[list[str], list[list[str]]]:
    """A header, and a row for every answer: the question, its group if there are any, the estimate, the interval, and
    of differences the p-value."""
    level = f"{format_number(100 * answers[0].level)} % interval" if answers else "interval"
    grouped, tested = (
        any(getattr(answer, name) is not None for answer in answers) for name in ("group", "p_value")
    )  # fmt: skip
    header = ["question", *["group"] * grouped, "estimate", level, *["p-value"] * tested]
    rows = []
    for answer in answers:
        group = [answer.group or "all"] * grouped
        p_value = ["" if answer.p_value is None else p_value_text(answer.p_value)] * tested
        rows.append([answer.question, *group, *texts(answer), *p_value])
    return header, rows


def texts(answer: Answer, *more: Any) -> tuple[str, ...]:
    """The estimate and the interval, in at least three digits and as many as tell its ends apart, and ``more`` values
    like them; shares in percent, dates as they are."""
    values, mark = [answer.estimate, answer.low, answer.high, *more], ""
    if answer.question.startswith("share "):
        values, mark = [None if value is None else 100 * value for value in values], " %"
    estimate, low, high, *others = (text and f"{text}{mark}" for text in _texts(values))
    interval = f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else "-"
    return estimate or "-", interval, *(other or "-" for other in others)


def _texts(values: Sequence[Any]) -> list[str]:
    """Numbers with as many decimals each as their spread asks for; nothing for what is not known."""
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    largest, spread = (max(map(abs, numbers), default=0.0), max(numbers, default=0.0) - min(numbers, default=0.0))
    decimals = 0
    if not all(number.is_integer() for number in numbers):
        first = next((abs(number) for number in numbers if number), 1.0)
        decimals = max(2 - _place(first), 1 - _place(spread) if spread > 0 else 0, 0)
    plain = largest < 1e12 and decimals < 10
    return ["" if value is None else _text(value, decimals if plain else None) for value in values]


def _text(value: Any, decimals: int | None) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return three_digits(value) if decimals is None else f"{round(value, decimals) + 0.0:,.{decimals}f}"


def _place(number: float) -> int:
    """The power of ten of the first digit of a number."""
    return math.floor(math.log10(number)) if number > 0 else 0


def p_value_text(p_value: float) -> str:
    """A p-value in three digits, or that it is small."""
    return "<0.001" if p_value < 0.001 else f"{p_value:.3g}"


def what_intervals_contain(answers: Answers) -> list[str]:
    """Sentences: what all intervals contain, what those of some questions do, whom they are of, and the note."""
    questions: dict[str, list[str]] = {}
    clipped: dict[str, None] = {}
    for answer in answers:
        for part in answer.contains:
            if part.startswith(CLIPPED):
                clipped[f"{part[0].upper()}{part[1:]}, in the answer as in its interval."] = None
            else:
                questions.setdefault(part, []).append(answer.question)
    every = [part for part, names in questions.items() if len(names) == len(answers)]
    found = [f"The intervals contain {'; '.join(every)}."] if every else []
    for part, names in questions.items():
        if part not in every:
            each = list(dict.fromkeys(names))
            more = f" and {len(each) - MOST_NAMED:,} more" if len(each) > MOST_NAMED else ""
            also = "also contain" if every else "contain"
            found.append(f"Those of {', '.join(each[:MOST_NAMED])}{more} {also} {part}.")
    return [*found, *clipped, *_widths(answers), *filter(None, [answers.of_whom, answers.note])]


def _widths(answers: Answers) -> list[str]:
    """Sentences: where the width of intervals mostly comes from, as far as that is known."""
    found = []
    for part, words in MOSTLY.items():
        names = [_named(answer) for answer in answers if answer.mostly == part]
        if names:
            all_of_them = len(answers) > 1 and len(names) == len(answers)
            more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
            whose = "all intervals" if all_of_them else f"the interval{'s' * (len(names) > 1)} of "
            found.append(
                f"The width of {whose}{'' if all_of_them else ', '.join(names[:MOST_NAMED]) + more} is {words}."
            )
    return found


def _named(answer: Answer) -> str:
    """The question of an answer, with its group."""
    return answer.question if answer.group is None else f"{answer.question} ({answer.group})"
