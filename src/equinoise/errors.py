"""What can go wrong, and the checks of settings that say so in one wording.

The tree of errors and warnings::

    EquinoiseError               base of every error that is raised on purpose
      BadInput                   the data, a setting or a file is not usable (also a ValueError); exits with 2
      PromiseNotMet              the input is fine, but what was asked for cannot be promised; exits with 1
        BudgetSpent              more draws were asked for than may still be released
    EquinoiseWarning             base of every warning: what is promised is not what one may think
      NotPublicWarning           something that the promise takes as public was read off the data
      SeveralRowsWarning         one row is taken for one person, and the data does not look like it
      WeakPromiseWarning         the promise that was asked for says next to nothing
"""

from __future__ import annotations

import errno
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeGuard

from equinoise.formatting import format_number, printable, shorten


class EquinoiseError(Exception):
    """Base of every error that Equinoise raises on purpose; its text is written for a person."""


class BadInput(EquinoiseError, ValueError):
    """The data, a setting or a file is not usable as given."""


class PromiseNotMet(EquinoiseError):
    """The input is fine, but the promise asked for cannot be given."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts


class BudgetSpent(PromiseNotMet):
    """More draws were asked for than the mechanism may still release."""


class EquinoiseWarning(UserWarning):
    """Base of every warning: what is promised is not what one may think."""


class NotPublicWarning(EquinoiseWarning):
    """Something that the promise takes as public was read off the data."""


class SeveralRowsWarning(EquinoiseWarning):
    """One row is taken for one person, and the data does not look like it."""


class WeakPromiseWarning(EquinoiseWarning):
    """The promise that was asked for says next to nothing."""


NOT_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""What a full disk or a broken stdout says, without the name of a file."""

MEMORY = "There is not enough memory. Use fewer bins or scales, or draw fewer rows at a time."


def system_sentence(error: OSError | ImportError) -> str:
    """What the system, or what loads libraries, would not do, in a sentence."""
    if isinstance(error, ImportError) or error.errno is None:
        return (
            f"A library could not be loaded ({printable(str(error)).rstrip('.')[:300]}). Too little memory may be the "
            "cause (ulimit -v), or a damaged installation."
        )
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"The file {shorten(str(error.filename))!r} cannot be used: {why}."
    if error.errno == errno.ENOMEM:
        return MEMORY
    return f"The output could not be written: {why}." if error.errno in NOT_WRITTEN else f"The system says: {why}."


def is_rust_panic(error: BaseException) -> bool:
    """Whether a library written in Rust gave up. What it raises then is no Exception, and has no name to import."""
    return type(error).__name__ == "PanicException"


def panic_sentence(error: BaseException) -> str:
    """A sentence about a library that gave up: most often there was no more memory, or no more threads."""
    return (
        f"A library gave up ({printable(str(error)).rstrip('.')[:200]}). Most often there is too little memory, or too "
        "few threads are allowed (ulimit -v, ulimit -u)."
    )


def is_whole(value: object, low: int, high: int) -> bool:
    """Whether a setting is a whole number (of any integer type, but no truth value) from low to high."""
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is one (a whole number or a float of any type, but no truth value and no fraction)."""
    return isinstance(value, Real) and not isinstance(value, bool | Fraction)


def check(condition: bool, name: str, must_be: str, got: object) -> None:
    """Refuse a setting in the one wording used everywhere."""
    if not condition:
        said = format_number(got) if isinstance(got, float) else repr(got)
        raise BadInput(f"The {name!r} parameter must be {must_be}. Got {shorten(said)} instead.")
