"""What a setting is: its default, its checks, its option and the words that explain it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from equinoise.choices import SEPARATOR_MARKS
from equinoise.errors import is_number, is_whole
from equinoise.formatting import join_or

Rule = tuple[Callable[[Any], bool], str | Callable[[], str]]
"""Whether a value is possible (or, where settings are looked at together, all of them by name), and what it must be;
worked out when it is needed where that depends on what can be chosen."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A public setting, and what is known of it without the data.

    ``kind`` is the type of one value on the command line (a tuple: a column's name and what ``each`` of its values are;
    a list: numbers, or a name), ``usual`` what is taken where there is no ``default``, ``words`` what a report calls
    it, ``offers`` names that a shell completes.
    ``checks`` look at the value alone, ``needs`` at all settings; ``of_solver``: only solvers that declare it take it.
    """

    help: str
    default: Any = None
    usual: str = ""
    kind: type = str
    each: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    words: str = ""
    checks: tuple[Rule, ...] = ()
    needs: tuple[Rule, ...] = ()
    of_solver: bool = False
    offers: tuple[str, ...] = ()
    metavar: str | None = None
    multiple: bool = False
    required: bool = False
    saved: bool = True


def whole(low: int, high: int, most: str = "") -> tuple[Rule, ...]:
    """Of whole numbers."""
    return ((lambda value: is_whole(value, low, high), f"a whole number from {low} to {most or high}"),)


def number(accepts: Callable[[float], bool], must_be: str) -> tuple[Rule, ...]:
    """Of numbers that a function accepts."""
    return ((lambda value: is_number(value) and accepts(value), must_be),)


def named(names: Collection[str]) -> tuple[Rule, ...]:
    """Of names on a list."""
    return ((lambda value: isinstance(value, str) and value in names, lambda: join_or(names)),)


def list_words(names: Collection[str]) -> str:
    """Names as a sentence has them, without quotes."""
    return join_or(names).replace("'", "")


def is_separator(value: Any) -> bool:
    """Whether it is a mark between fields, or its name."""
    return isinstance(value, str) and (value in SEPARATOR_MARKS or value in SEPARATOR_MARKS.values())


def are_names(value: Any) -> bool:
    """Whether it is the name of a column, or a list of names."""
    names = value if isinstance(value, list | tuple) else [value]
    return len(names) > 0 and all(isinstance(name, str) for name in names)


def are_scales(value: Any) -> bool:
    """Whether these are scales, for all columns or by column; or the name of a set."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and are_scales(scales) for name, scales in value.items())
    return isinstance(value, str) or (isinstance(value, Collection) and all(map(is_number, value)))


FLAG: tuple[Rule, ...] = ((lambda value: isinstance(value, bool), "True or False"),)
