"""The table of settings: every public one with its default, its checks, its option and the words that explain it.

The options of the command line, what a saved file may tell, the rows of a report, the command that makes a mechanism
again and ``docs/settings.md`` are made from it. To add a setting, add it to :data:`SETTINGS` and to the verb that
takes it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise.choices import CLOSENESS, ENGINES, NOISES, SEPARATOR_MARKS, SOLVERS, is_utility, load, utility_names
from equinoise.errors import check, is_number, is_whole
from equinoise.formatting import join_or

LEAST_EPSILON = 1e-9
"""Below this the margin of the game's floating point would be larger than what is asked."""

LEAST_DELTA = 1e-9
LEAST_RENYI = 1e-6
MOST_ORDER = 10_000.0
"""Smaller targets than these would drown in the game's floating point."""

MOST_FLOAT = sys.float_info.max
MOST_BINS = 10_000
MOST_DRAWS = 10**9
SCALE_SETS = ("wide", "adaptive", "paper")

MAKING = ("optimize", "synthesize")
PLAYING = ("optimize", "compare")
READING = ("optimize", "synthesize", "compare")
COUNTING = (*READING, "explore")
OPENING = (*COUNTING, "audit", "losses")
"""Commands that make a mechanism, play the game, have a grid of their own, count columns, or open data at all."""

Rule = tuple[Callable[[Any], bool], str | Callable[[], str]]
"""Whether a value is possible (or, where settings are looked at together, all of them by name), and what it must be;
worked out when it is needed where that depends on what can be chosen."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A public setting, and what is known of it without the data.

    ``kind`` is the type of one value on the command line (a tuple: a column's name and two numbers; a list: numbers, or
    a name), ``usual`` what is taken where there is no ``default``, ``words`` what a report calls it, ``offers`` names
    that a shell completes.
    ``checks`` look at the value alone, ``needs`` at all settings; ``of_solver``: only solvers that declare it take it.
    """

    help: str
    default: Any = None
    usual: str = ""
    kind: type = str
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


def _whole(low: int, high: int, most: str = "") -> tuple[Rule, ...]:
    return ((lambda value: is_whole(value, low, high), f"a whole number from {low} to {most or high}"),)


def _number(accepts: Callable[[float], bool], must_be: str) -> tuple[Rule, ...]:
    return ((lambda value: is_number(value) and accepts(value), must_be),)


def _with_order(fits: Callable[[Any], bool], must_be: str) -> tuple[Rule, ...]:
    return ((lambda given: given["order"] is None or fits(given), f"{must_be} with a Renyi order"),)


def _named(names: Collection[str]) -> tuple[Rule, ...]:
    return ((lambda value: isinstance(value, str) and value in names, lambda: join_or(names)),)


def _words(names: Collection[str]) -> str:
    return join_or(names).replace("'", "")


def _is_separator(value: Any) -> bool:
    return isinstance(value, str) and (value in SEPARATOR_MARKS or value in SEPARATOR_MARKS.values())


def _are_names(value: Any) -> bool:
    names = value if isinstance(value, list | tuple) else [value]
    return len(names) > 0 and all(isinstance(name, str) for name in names)


def _are_scales(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _are_scales(scales) for name, scales in value.items())
    return isinstance(value, str) or (isinstance(value, Collection) and all(map(is_number, value)))


FLAG: tuple[Rule, ...] = ((lambda value: isinstance(value, bool), "True or False"),)

SETTINGS = {
    "column": Setting(
        multiple=True, commands=COUNTING, words="column", usual="those that --bounds names, or the only one",
        checks=((_are_names, "the name of a column, or a list of names"),),
        help="The column of numbers; one row is one person. With several, whole rows are drawn ('explore': choose "
        "among them on the page; 'synthesize' takes one).",
    ),
    "bounds": Setting(
        kind=tuple, multiple=True, metavar="COLUMN LOW HIGH", commands=COUNTING, saved=False,
        help="Public limits of a column. 'synthesize' needs them; left out elsewhere, they are read off the data, with "
        "a warning.",
    ),
    "epsilon": Setting(
        kind=float, required=True, commands=READING, words="epsilon asked for",
        checks=_number(lambda e: LEAST_EPSILON <= e <= MOST_FLOAT, f"a finite number of at least {LEAST_EPSILON:g}"),
        needs=_with_order(lambda given: given["epsilon"] >= LEAST_RENYI, f"at least {LEAST_RENYI:g}"),
        help="The loss that everyone must stay within: for one draw, or with --delta and several --draws for all "
        "together.",
    ),
    "bins": Setting(
        kind=int, default=101, commands=COUNTING, saved=False, checks=_whole(2, MOST_BINS),
        help="Bins of the padded range.",
    ),
    "draws": Setting(
        kind=int, default=1, commands=MAKING, words="draws allowed", checks=_whole(1, MOST_DRAWS),
        help="How many draws may ever be released.",
    ),
    "delta": Setting(
        kind=float, default=0.0, commands=MAKING, words="delta",
        checks=_number(lambda delta: 0 <= delta < 1, "a number from 0 to below 1")
        + _number(lambda delta: delta == 0 or delta >= LEAST_DELTA, f"0 or at least {LEAST_DELTA:g}"),
        needs=_with_order(lambda given: given["delta"] == 0, "left out"),
        help="Probability with which epsilon may be exceeded. With several draws, epsilon is then for all together.",
    ),
    "order": Setting(
        kind=float, metavar="ORDER", commands=("optimize",), words="Renyi order",
        checks=_number(lambda order: 1 < order <= MOST_ORDER, f"an order above 1, at most {MOST_ORDER:g}"),
        help="Bound the Renyi divergence of this order by epsilon, instead of the loss.",
    ),
    "noise": Setting(
        default="laplace", commands=PLAYING, words="family of noise", checks=_named(NOISES), offers=tuple(NOISES),
        help=f"Family of the noise: {_words(NOISES)}; 'compare' takes several, separated by commas.",
    ),
    "scales": Setting(
        kind=list, default="wide", metavar="SCALES", commands=PLAYING, words="scales on offer", offers=SCALE_SETS,
        checks=(
            (
                lambda value: not isinstance(value, str) or value in SCALE_SETS,
                "'wide', 'adaptive', 'paper' or numbers in data units, such as 50,500,20000 (in Python a list)",
            ),
            (_are_scales, "numbers in data units, or the name of a set"),
        ),
        help="Noise scales on offer: wide; adaptive, new ones next to those in use; paper; or numbers in data units "
        "such as 50,500,20000.",
    ),
    "scale_per_column": Setting(
        kind=bool, default=False, commands=("optimize",), words="a scale for every column", checks=FLAG,
        help="With several columns: a person may have another scale on each.",
    ),
    "utility": Setting(
        default="kl", commands=PLAYING, words="closeness is measured by",
        checks=((is_utility, utility_names),),
        offers=tuple(name.removesuffix("N") for name in CLOSENESS),
        help=f"What closeness to the original means to the game: {_words(CLOSENESS)}.",
    ),
    "solver": Setting(
        default="best-response", commands=("optimize",), words="solver", checks=_named(SOLVERS), offers=tuple(SOLVERS),
        help="best-response; optimal, the best profile with a proven gap; or genetic, the paper's other algorithm.",
    ),
    "time_limit": Setting(
        kind=float, usual="60", commands=PLAYING, words="time limit of the solver (s)", of_solver=True,
        checks=_number(lambda seconds: 0 < seconds < math.inf, "a positive number of seconds"),
        help="Seconds for the optimal solver.",
    ),
    "generations": Setting(
        kind=int, usual="270", commands=("optimize",), words="generations of the solver", of_solver=True,
        checks=_whole(1, 10**6), help="Generations of the genetic solver at most.",
    ),
    "restarts": Setting(
        kind=int, usual="8", commands=PLAYING, words="restarts of best response", checks=_whole(1, 10**6),
        of_solver=True, help="Restarts of best response; the best end is kept.",
    ),
    "seed": Setting(
        kind=int, default=0, commands=PLAYING, words="seed of the solver", checks=_whole(0, 2**64, "2^64"),
        help="Of the solver's restarts (public); never of a draw.",
    ),
    "unit": Setting(
        metavar="COLUMN", commands=READING, words="rows of one person share", usual="every row is a person",
        checks=((lambda value: isinstance(value, str), "the name of a column"),),
        help="All rows with the same value in COLUMN are one person's.",
    ),
    "unit_rows": Setting(
        default="all", commands=READING, words="rows of a person that count", offers=("all", "one"),
        checks=_named(("all", "one")),
        needs=((lambda given: given["unit"] is not None or given["unit_rows"] == "all", "left out without a unit"),),
        help="With --unit: all rows of a person count and are removed together, or one, the middle one by value.",
    ),
    "missing": Setting(
        default="refuse", commands=COUNTING, words="missing values", offers=("refuse", "drop"),
        checks=_named(("refuse", "drop")), help="refuse, or drop missing and infinite values.",
    ),
    "outside": Setting(
        default="refuse", commands=COUNTING, words="values outside the bounds", offers=("refuse", "clip"),
        checks=_named(("refuse", "clip")), help="refuse, or clip values outside the bounds.",
    ),
    "padding_epsilon": Setting(
        kind=float, default=1.0, commands=READING, words="epsilon of the padding",
        checks=_number(lambda epsilon: 0 < epsilon < math.inf, "a positive number"),
        help="Epsilon that sizes the padding.",
    ),
    "percentile": Setting(
        kind=float, default=0.9, commands=READING, words="percentile of the padding",
        checks=_number(lambda share: 0.5 <= share < 1, "at least 0.5 and below 1"),
        help="How much of that noise must fall within the padded range; 0.5 is no padding.",
    ),
    "engine": Setting(
        default="polars", commands=OPENING, saved=False, checks=_named(ENGINES), offers=tuple(ENGINES),
        help=f"What reads and counts the files: {_words(ENGINES)}. The counts are the same.",
    ),
    "engine_address": Setting(
        metavar="ADDRESS", commands=OPENING, saved=False, usual="this machine does the work",
        help="Of a running Dask scheduler (tcp://127.0.0.1:8786) or a Spark master (spark://127.0.0.1:7077).",
    ),
    "separator": Setting(
        commands=OPENING, saved=False, usual="by the file's ending and its header", offers=tuple(SEPARATOR_MARKS),
        checks=((_is_separator, f"{_words(SEPARATOR_MARKS)}, or that mark itself"),),
        help=f"What separates the fields of text files: {_words(SEPARATOR_MARKS)}, or that mark itself.",
    ),
    "decimal": Setting(
        commands=OPENING, saved=False, usual="numbers are plain, with a point", checks=_named((".", ",")),
        offers=(".", ","),
        help="The decimal mark in text files, a point or a comma. Once it is said, thousands may be apart: 1,234.5.",
    ),
    "base": Setting(
        kind=Path, commands=("synthesize",), saved=False, usual="even",
        help="A file with one number for each cell within the bounds: where people are expected.",
    ),
    "own_start": Setting(
        kind=bool, default=False, words="solved from a start of one's own", checks=FLAG,
        help="Whether a profile to start from was given (start=).",
    ),
    "public_bounds": Setting(
        kind=bool, required=True, words="bounds are public", checks=FLAG,
        help="Whether the bounds of every column were given.",
    ),
}  # fmt: skip
"""Every setting by its name, in the order in which commands and reports have them."""


def option_of(name: str) -> str:
    """The option of a setting: ``--unit-rows`` of ``unit_rows``."""
    return f"--{name.replace('_', '-')}"


def check_setting(name: str, value: Any) -> None:
    """Refuse a value that a setting cannot have, whatever the others are."""
    for accepts, must_be in SETTINGS[name].checks:
        if not accepts(value):
            check(False, name, in_words(must_be), value)


def in_words(must_be: str | Callable[[], str]) -> str:
    """What a value must be."""
    return must_be if isinstance(must_be, str) else must_be()


def solvers_with(name: str) -> list[str]:
    """The solvers that take a setting."""
    return [solver for solver in SOLVERS if name in load(SOLVERS, solver).SETTINGS]


def check_settings(values: Mapping[str, Any]) -> None:
    """Refuse values that settings cannot have, each alone first and then together; others are at their defaults."""
    given = {name: setting.default for name, setting in SETTINGS.items()} | dict(values)
    for name, value in values.items():
        if value is not None or SETTINGS[name].required or SETTINGS[name].default is not None:
            check_setting(name, value)
    for name, value in values.items():
        solver = given["solver"]
        if SETTINGS[name].of_solver and value is not None and name not in load(SOLVERS, solver).SETTINGS:
            takes = solvers_with(name)
            only = f"unless the solver is {takes[0]!r}" if len(takes) == 1 else f"with the {solver} solver"
            check(False, name, f"left out {only}", value)
        for fits, must_be in SETTINGS[name].needs:
            check(fits(given), name, in_words(must_be), value)
