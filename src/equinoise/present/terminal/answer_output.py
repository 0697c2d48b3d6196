"""What is printed of answers, on the terminal and where Python shows an object."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from equinoise.analysis.answers.ask import Answers
from equinoise.mechanisms.base import Mechanism
from equinoise.present import true_answers
from equinoise.present.answer_notes import IN_PYTHON, ON_TERMINAL, full_notes, short_notes
from equinoise.present.answer_rows import answer_rows
from equinoise.present.terminal.consoles import PIPE_WIDTH, number_table, stdout_console


def show_answers(answers: Answers, promise: str | None, *, verbose: bool) -> None:
    """Answers as a table, what their intervals contain, in short or in full, and what is promised of what they come
    from."""
    console = stdout_console()
    _print(console, answers, full_notes(answers) if verbose else short_notes(answers, ON_TERMINAL))
    if promise:
        console.print(promise, style="dim")


def answers_text(answers: Answers) -> str:
    """Answers as they are shown in Python."""
    text = io.StringIO()
    console = Console(  # in a notebook it would show the table at once, and leave nothing for the text
        file=text, width=PIPE_WIDTH, soft_wrap=True, markup=False, highlight=False, force_jupyter=False
    )
    _print(console, answers, short_notes(answers, IN_PYTHON))
    return text.getvalue().rstrip("\n")


def show_true_answers(console: Console, mechanism: Mechanism) -> None:
    """Answers from noisy counts beside what the data says, and what their intervals contain, if there are any."""
    found = true_answers.true_answers(mechanism)
    if found:
        table = number_table(true_answers.TITLE, *true_answers.HEADER)
        table.columns[0].justify = "left"
        for answer in found:
            table.add_row(*answer.row)
        console.print(table)
        for sentence in true_answers.sentences(found):
            console.print(sentence, style="dim")


def _print(console: Console, answers: Answers, notes: Sequence[str]) -> None:
    header, rows = answer_rows(answers)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in header:
        table.add_column(name, justify="left" if name in {"question", "group"} else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for sentence in notes:
        console.print(sentence)
