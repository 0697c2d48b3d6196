"""Cases of a suite, one after the other, each from a random source of its own; and what became of them."""

from __future__ import annotations

import itertools
import random
import signal
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

Case = Callable[[random.Random], Counter[str]]
"""How often what came of it: of most cases one thing once, of a case of kills as many as there were."""

SECONDS_OF_A_CASE = 60
"""A case that is not ended by then is lost. Most take milliseconds, on a machine that others use, too."""

MOST_LOST = 10
"""After so many a suite ends: they mostly have one cause."""


class Lost(Exception):
    """What must not come of a case."""


class Late(BaseException):
    """It was not ended in time. No ``Exception``, so that what is tried does not take it for one of its own."""


@dataclass(frozen=True)
class Suite:
    """One kind of cases. ``begin`` makes ready in a folder what all of them need; ``text`` says what one is."""

    name: str
    text: str
    begin: Callable[[Path], AbstractContextManager[Case]]
    seconds: float


@dataclass
class Result:
    """How often what came of a suite's cases, and for each that was lost its number and why."""

    suite: Suite
    seed: int
    seconds: float
    handled: Counter[str] = field(default_factory=Counter)
    lost: dict[int, str] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        """All that was tried: what was handled, and what was lost."""
        return self.handled.total() + len(self.lost)

    @property
    def commands(self) -> list[str]:
        """For every case that was lost the command that tries it again."""
        return [f"python -m fuzz {self.suite.name} --seed {self.seed} --case {number}" for number in self.lost]


def source(suite: str, seed: int, number: int) -> random.Random:
    """The random source of one case."""
    return random.Random(f"{suite} {seed} {number}")


def try_cases(
    suite: Suite, seed: int, numbers: Iterable[int] = itertools.count(), seconds: float | None = None
) -> Result:
    """Try these cases until the seconds are over."""
    result = Result(suite, seed, suite.seconds if seconds is None else seconds)
    with tempfile.TemporaryDirectory() as folder, suite.begin(Path(folder)) as try_one:
        end = time.monotonic() + result.seconds
        for number in numbers:
            try:
                with time_limit(SECONDS_OF_A_CASE):
                    result.handled += try_one(source(suite.name, seed, number))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # libraries in Rust raise what is no Exception
                result.lost[number] = str(error) if isinstance(error, Lost | Late) else traceback.format_exc()
            if time.monotonic() > end or len(result.lost) >= MOST_LOST:
                break
    return result


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Late` when it takes longer; only the main thread can be told."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Late(f"It was not ended after {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
