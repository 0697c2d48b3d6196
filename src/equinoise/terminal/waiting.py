"""While work goes on: how far it is, and how long it may still take. Nothing where nobody looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from equinoise.comparison import Progress as ComparisonProgress
from equinoise.errors import at_most
from equinoise.grid import Floats
from equinoise.solvers import Round
from equinoise.terminal.consoles import notes, somebody_looks

READING = "Reading and counting; the first run also compiles the solver"
SURE = 0.02
"""The share of the work from which on the time that it took says how long the rest may take."""


@dataclass
class Clock:
    """How long the rest may take, if it goes on as it did: known once a share of the work is done.

    Whenever the share grows, the whole is estimated anew; until then time runs down. Work may come in pieces, each of
    which tells its own share from the beginning: then it is the time left of the piece.
    """

    now: Callable[[], float] = time.monotonic
    began: float = field(init=False)
    done: float = field(init=False, default=0.0)
    whole: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.began = self.now()

    def left(self, done: float | None) -> float | None:
        """Seconds, after hearing the share that is done now."""
        if done is None:
            return None
        if done < self.done:
            self.began, self.whole = self.now(), None
        took = self.now() - self.began
        if done != self.done and done >= SURE:
            self.whole = took / done
        self.done = done
        return self.whole - took if self.whole is not None and self.whole > took else None


@dataclass
class Waiting:
    """The time left of what rounds are heard of, in words."""

    clock: Clock | None = None

    def left(self, state: Round) -> str:
        """Nothing where it cannot be known."""
        if state.left is not None:
            return in_words(state.left, "at most")
        if self.clock is None and state.done is not None:
            self.clock = Clock()  # from here on, and not from when the data was read
        return in_words(self.clock.left(state.done)) if self.clock is not None else ""


def in_words(seconds: float | None, how: str = "about") -> str:
    """Time left, to be read at a glance."""
    if seconds is None:
        return ""
    whole = max(1, round(seconds))
    if whole < 100:
        return f", {how} {whole} s left"
    return f", {how} {round(whole / 60)} min left" if whole < 5400 else f", {how} {round(whole / 3600)} h left"


@contextmanager
def progress(first: str = READING) -> Iterator[Callable[[Round], None] | None]:
    """A line on the terminal while the solver works: reading, then the run and round it is at and the time left."""
    console = notes()
    if not somebody_looks(console):
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(first)
        waiting = Waiting()

        def seen(state: Round) -> None:
            bar.update(task, description=round_in_words(state) + waiting.left(state))

        yield seen


def round_in_words(state: Round) -> str:
    """Where the solver is."""
    return state.note or f"Run {state.restart + 1}, round {state.number}: {state.moves:,} moves"


def note(words: str, done: float | None = None, left: float | None = None) -> Round:
    """Words, where there are no rounds to tell of."""
    return Round(0, 0, 0, np.zeros((0, 0), dtype=np.int64), words, done, left)


@contextmanager
def working(words: str) -> Iterator[Callable[[str], None]]:
    """The same for what has no rounds; the words can be changed meanwhile."""
    with progress(words) as seen:

        def told(words: str) -> None:
            if seen is not None:
                seen(note(words))

        yield told


@contextmanager
def comparing(epsilons: Sequence[float]) -> Iterator[ComparisonProgress | None]:
    """A line on the terminal while methods are compared: the epsilon and the method under way, and the time left.

    Each epsilon takes about as long as the last one. At the first, only the optimal solver says how long it may take.
    """
    with progress() as seen:
        if seen is None:
            yield None
            return

        def told(epsilon: float, method: str, state: Round | None) -> None:
            what = round_in_words(state) if state is not None else "under way"
            left = state.left if state is not None and len(epsilons) == 1 else None
            share = epsilons.index(epsilon) / len(epsilons)
            seen(note(f"Epsilon {at_most(epsilon)}, {method}: {what}", share, left))

        yield told


@contextmanager
def drawing(draws: int, *, quiet: bool) -> Iterator[Callable[[Iterator[Floats]], Iterator[Floats]]]:
    """A bar on the terminal while many draws are made, with the time left."""
    console = notes()
    if quiet or not somebody_looks(console):
        yield lambda values: values
        return
    columns = (
        TextColumn("Drawing"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task, clock, made = bar.add_task("", total=draws), Clock(), 0

        def watched(values: Iterator[Floats]) -> Iterator[Floats]:
            nonlocal made
            for part in values:
                yield part
                made += len(part)
                left = clock.left(made / draws)
                bar.update(task, completed=made, description=in_words(left).removeprefix(", "))

        yield watched
