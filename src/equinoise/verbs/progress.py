"""``progress=True`` in Python: a bar in a notebook, a line that changes on a terminal, one now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any, ParamSpec, TypeVar

from equinoise.errors import check
from equinoise.solvers.solution import Round

P = ParamSpec("P")
Made = TypeVar("Made")

OFTEN = 0.1
"""Seconds between two looks at most: a notebook that is told more is slowed down."""


def takes_progress_flag(work: Callable[P, Made]) -> Callable[P, Made]:
    """Let a function that tells a ``progress`` of its rounds take True for "show me"."""

    @wraps(work)
    def watch(*args: P.args, **kwargs: P.kwargs) -> Made:
        with progress_display(kwargs.get("progress")) as seen:
            return work(*args, **{**kwargs, "progress": seen})  # type: ignore[arg-type]

    return watch


@contextmanager
def progress_display(progress: Any) -> Iterator[Callable[[Round], None] | None]:
    """What to tell of rounds, for what the caller gave."""
    if not isinstance(progress, bool):
        check(progress is None or callable(progress), "progress", "a function, True, False or None", progress)
        yield progress
    elif not progress:
        yield None
    elif in_notebook():
        with _bar() as seen:
            yield seen
    else:
        from equinoise.present.terminal import progress as line

        with line() as seen:
            yield seen


def in_notebook() -> bool:
    """Whether there is a page to show HTML on."""
    from rich.console import Console

    return Console().is_jupyter


@contextmanager
def _bar() -> Iterator[Callable[[Round], None]]:
    """A bar that moves while work goes on and then makes room for how long it took."""
    from IPython.display import HTML, display

    from equinoise.present.terminal import TimeLeft, round_in_words

    began = last = time.monotonic()
    time_left = TimeLeft()
    handle: Any = display(HTML(_moving("Reading and counting")), display_id=True)  # type: ignore[no-untyped-call]

    def seen(state: Round) -> None:
        nonlocal last
        left = time_left.in_words(state)
        if time.monotonic() - last >= OFTEN:
            last = time.monotonic()
            handle.update(HTML(_moving(round_in_words(state) + left, state.done)))  # type: ignore[no-untyped-call]

    try:
        yield seen
    finally:
        handle.update(HTML(f"{time.monotonic() - began:.1f} s"))  # type: ignore[no-untyped-call]


def _moving(words: str, done: float | None = None) -> str:
    share = "" if done is None else f" value='{done:.3f}'"
    return f"<progress aria-label='Under way'{share}></progress> {escape(words)}"
