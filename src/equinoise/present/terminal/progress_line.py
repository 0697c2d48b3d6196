"""While work goes on: how far it is, and how long it may still take.

On a terminal it is a line that changes; elsewhere (a pipe, a file) a line now and then, if work takes its time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from equinoise.analysis.compare import Progress as ComparisonProgress
from equinoise.formatting import at_most
from equinoise.present.terminal.consoles import is_interactive, stderr_console
from equinoise.solvers.solution import Round

READING = "Reading and counting"
FIRST_LINE, LONGEST_SILENCE = 2.0, 60.0
"""Seconds until the first line where no line can change, and between two lines at most; before, ever more of them."""
SURE_SHARE = 0.02
"""The share of the work from which on the time that it took says how long the rest may take."""
FEWEST_SECONDS = 5
"""Less time left than this is not told: the last steps, which have no share, would prove it wrong."""


class TimeLeft:
    """How long the rest may take, if it goes on as it did: known once a share of the work is done.

    Time counts from the first share that is heard of, so not from when the data was read. Whenever the share grows, the
    whole is estimated anew; until then time runs down. Work may come in pieces, each of which tells its own share from
    the beginning: then it is the time left of the piece.
    """

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self.now = now or time.monotonic
        self.began: float | None = None
        self.done = 0.0
        self.whole: float | None = None

    def seconds(self, done: float | None) -> float | None:
        """Seconds left, after hearing the share that is done now; None where it cannot be known."""
        if done is None:
            return None
        if self.began is None or done < self.done:
            self.began, self.whole = self.now(), None
        took = self.now() - self.began
        if done != self.done and done >= SURE_SHARE:
            self.whole = took / done
        self.done = done
        return self.whole - took if self.whole is not None and self.whole > took else None

    def in_words(self, state: Round) -> str:
        """Time left after a round; nothing where it cannot be known."""
        if state.left is not None:
            return time_left_text(state.left, "at most")
        return time_left_text(self.seconds(state.done))


def time_left_text(seconds: float | None, how: str = "about") -> str:
    """Time left, to be read at a glance."""
    if seconds is None or seconds < FEWEST_SECONDS:
        return ""
    whole = round(seconds)
    if whole < 100:
        return f", {how} {whole} s left"
    return f", {how} {round(whole / 60)} min left" if whole < 5400 else f", {how} {round(whole / 3600)} h left"


def round_in_words(state: Round) -> str:
    """Where the solver is."""
    return state.note or f"Run {state.run + 1}, round {state.number}: {state.moves:,} moves"


def note(words: str, done: float | None = None, left: float | None = None) -> Round:
    """Words, where there are no rounds to tell of."""
    return Round(0, 0, 0, np.zeros((0, 0), dtype=np.int64), words, done, left)


@contextmanager
def progress(first: str = READING) -> Iterator[Callable[[Round], None]]:
    """A line while the solver works: reading, then the run and round it is at and the time left."""
    console, time_left = stderr_console(), TimeLeft()

    def describe(state: Round) -> str:
        return round_in_words(state) + time_left.in_words(state)

    if not is_interactive(console):
        with periodic_lines(console, first) as update:
            yield lambda state: update(describe(state))
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(first)
        yield lambda state: bar.update(task, description=describe(state))


@contextmanager
def periodic_lines(console: Console, words: str) -> Iterator[Callable[[str], None]]:
    """A line from the second second on, then after as long again each time; what is at work need not be heard of."""
    began, ended, latest = time.monotonic(), threading.Event(), [words]

    def print_lines() -> None:
        while not ended.wait(max(FIRST_LINE, min(time.monotonic() - began, LONGEST_SILENCE))):
            console.print(f"[{time.monotonic() - began:5.0f} s] {latest[0]}")

    def update(words: str) -> None:
        latest[0] = words

    printer = threading.Thread(target=print_lines, daemon=True)
    try:
        printer.start()
    except RuntimeError:  # no thread to be had: then in silence
        yield update
        return
    try:
        yield update
    finally:
        ended.set()
        printer.join()


@contextmanager
def task_progress(words: str) -> Iterator[Callable[[str], None]]:
    """Progress of what has no rounds; the words can be changed meanwhile."""
    with progress(words) as report_progress:
        yield lambda words: report_progress(note(words))


@contextmanager
def comparison_progress(epsilons: Sequence[float]) -> Iterator[ComparisonProgress]:
    """A line on the terminal while methods are compared: the epsilon and the method under way, and the time left.

    Each epsilon takes about as long as the last one. At the first, only the optimal solver says how long it may take.
    """
    with progress() as report_progress:

        def update(epsilon: float, method: str, state: Round | None) -> None:
            what = round_in_words(state) if state is not None else "under way"
            left = state.left if state is not None and len(epsilons) == 1 else None
            share = epsilons.index(epsilon) / len(epsilons)
            report_progress(note(f"Epsilon {at_most(epsilon)}, {method}: {what}", share, left))

        yield update


@contextmanager
def draw_progress(draws: int, *, quiet: bool) -> Iterator[Callable[[Iterator[pl.DataFrame]], Iterator[pl.DataFrame]]]:
    """A bar on the terminal while many draws are made, with the time left; elsewhere a line now and then."""
    if quiet:
        yield lambda values: values
        return
    console, time_left = stderr_console(), TimeLeft()
    time_left.seconds(0.0)  # from here on

    def count(values: Iterator[pl.DataFrame], update: Callable[[int, str], None]) -> Iterator[pl.DataFrame]:
        drawn = 0
        for part in values:
            yield part
            drawn += len(part)
            update(drawn, time_left_text(time_left.seconds(drawn / draws)))

    if not is_interactive(console):
        with periodic_lines(console, "Drawing") as update:
            yield lambda values: count(values, lambda drawn, left: update(f"{drawn:,} drawn{left}"))
        return
    columns = (
        TextColumn("Drawing"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=draws)

        def update_bar(drawn: int, left: str) -> None:
            bar.update(task, completed=drawn, description=left.removeprefix(", "))

        yield lambda values: count(values, update_bar)
