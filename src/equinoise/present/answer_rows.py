"""Answers as text: for the terminal, notebooks and reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.ask import Answers
from equinoise.formatting import three_digits
from equinoise.present.answer_notes import level_text


def answer_rows(answers: Answers) -> tuple[list[str], list[list[str]]]:
    """A header, and a row for every answer: the question, its group if there are any, the estimate, the interval, and
    of differences the p-value."""
    level = f"{level_text(answers[0].level)} interval" if answers else "interval"
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
