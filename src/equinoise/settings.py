"""The table of settings: every public one with its default, its checks, its option and the words that explain it.

The options of the command line, what a saved file may tell, the rows of a report, the command that makes a mechanism
again and ``docs/settings.md`` are made from it. To add a setting, add it to :data:`SETTINGS` and to the verb that
takes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from equinoise.choices import CLOSENESS, ENGINES, NOISES, SEPARATOR_MARKS, SOLVERS, is_utility, load, utility_names
from equinoise.errors import check, is_whole
from equinoise.setting import FLAG, Rule, Setting, are_names, are_scales, is_separator, list_words, named, number, whole

LEAST_EPSILON = 1e-9
"""Below this the margin of the game's floating point would be larger than what is asked."""

LEAST_DELTA = 1e-9
LEAST_RENYI = 1e-6
MOST_ORDER = 10_000.0
"""Smaller targets than these would drown in the game's floating point."""

MOST_FLOAT = math.nextafter(math.inf, 0)
MOST_BINS = 10_000
MOST_DRAWS = 10**9
SCALE_SETS = ("wide", "adaptive", "paper")

MISSING_RULES = ("refuse", "drop", "category")
OUTSIDE_RULES = ("refuse", "clip")
USUAL_RULES = {"missing": "refuse", "outside": "refuse"}
PRIVATE_RULES = {"missing": "drop", "outside": "clip"}
"""What becomes of values that fit nowhere, where nobody says; with differential privacy a refusal would tell of one
person. To clip categories is to drop their rows."""

PLAYING = ("optimize", "compare")
READING = ("optimize", "synthesize", "compare")
DESCRIBING = (*READING, "explore")
OPENING = (*DESCRIBING, "audit", "losses")
NAMING = (*OPENING, "schema")
PLAN = ("plan",)
PUBLISHING = ("synthesize", *PLAN)
"""Commands that play the game, count columns, are told what is public about columns of data, open data with an engine,
look at a file at all, have columns but no data, or publish with differential privacy."""

METHODS = ("envelope", "pay-once", "aim")
SAME_ROWS = "same"
MOST_TOTAL_EPSILON = 10.0
"""Above this, differential privacy says little of anyone."""


def _with_order(fits: Callable[[Any], bool], must_be: str) -> tuple[Rule, ...]:
    return ((lambda given: given["order"] is None or fits(given), f"{must_be} with a Renyi order"),)


def is_count(value: Any) -> bool:
    """Whether it is a number of rows, or the word for about as many as there are people."""
    return is_whole(value, 1, MOST_DRAWS) or (isinstance(value, str) and value == SAME_ROWS)


SETTINGS = {
    "schema": Setting(
        kind=Path, metavar="FILE", commands=DESCRIBING + PLAN, saved=False, usual="made of the next options",
        help="A TOML file of what is public about the columns: bounds, steps, categories, who a person is ('equinoise "
        "schema' drafts one).",
    ),
    "column": Setting(
        multiple=True, commands=DESCRIBING + PLAN, words="column",
        usual="those of the schema, those with --bounds or --categories, or the only one",
        checks=((are_names, "the name of a column, or a list of names"),),
        help="The column; one row is one person. With several, whole rows are drawn.",
    ),
    "bounds": Setting(
        kind=tuple, each=("bound", "bound"), multiple=True, metavar="COLUMN LOW HIGH", commands=DESCRIBING + PLAN,
        saved=False,
        help="Public limits of a column of numbers, or of dates (2024-01-31). 'synthesize' needs them; left out "
        "elsewhere, they are read off the data, with a warning.",
    ),
    "step": Setting(
        kind=tuple, each=("number",), multiple=True, metavar="COLUMN STEP", saved=False,
        usual="any number is a value", commands=(*DESCRIBING, *PLAN, "schema"),
        help="Values of a column are whole steps from its lower bound, and so are those that are drawn.",
    ),
    "categories": Setting(
        kind=tuple, each=("names",), multiple=True, metavar="COLUMN A,B,...", commands=DESCRIBING + PLAN, saved=False,
        help="All values of a column of categories, which is a public list.",
    ),
    "epsilon": Setting(
        kind=float, required=True, commands=READING + PLAN, words="epsilon asked for",
        checks=number(lambda e: LEAST_EPSILON <= e <= MOST_FLOAT, f"a finite number of at least {LEAST_EPSILON:g}"),
        needs=_with_order(lambda given: given["epsilon"] >= LEAST_RENYI, f"at least {LEAST_RENYI:g}"),
        help="The loss that everyone must stay within: with 'synthesize', of everything that comes out; with the game, "
        "of one draw, or with --delta and several --draws of all together.",
    ),
    "bins": Setting(
        kind=int, commands=READING + PLAN, saved=False, checks=whole(2, MOST_BINS),
        usual="a bin for every step, or 100; fewer if these are over 256, or over 10,000 cells with several columns",
        help="Bins of a column of numbers that the schema gives none.",
    ),
    "rows": Setting(
        kind=object, required=True, metavar="N", commands=(*PUBLISHING, "compare"), words="rows asked for",
        checks=((is_count, f"a whole number from 1 to {MOST_DRAWS}, or {SAME_ROWS!r}"),),
        help="How many rows to draw; same: about as many as there are people, by the noisy counts.",
    ),
    "people": Setting(
        kind=int, metavar="N", commands=PUBLISHING, words="about how many people", checks=whole(1, MOST_DRAWS),
        usual="the method by epsilon and rows, the bins by the schema",
        help="About how many people there are, as anyone may know: decides method and bins; never counted.",
    ),
    "method": Setting(
        commands=PUBLISHING, words="method", usual="by the plan", offers=METHODS,
        checks=named(METHODS),
        help="envelope, for a few rows; pay-once, noisy counts for any number of rows; aim, a model of many columns. "
        "The plan chooses by what is public.",
    ),
    "grid": Setting(
        default="schema", commands=PLAYING, words="grid", offers=("schema", "paper"),
        checks=named(("schema", "paper")),
        help="schema: the cells that people can be in. paper: 101 bins of a padded range, as in the paper's "
        "experiments.",
    ),
    "draws": Setting(
        kind=int, default=1, commands=("optimize",), words="draws allowed", checks=whole(1, MOST_DRAWS),
        help="How many draws may ever be released.",
    ),
    "delta": Setting(
        kind=float, default=0.0, commands=("optimize", *PUBLISHING), words="delta",
        checks=number(lambda delta: 0 <= delta < 1, "a number from 0 to below 1")
        + number(lambda delta: delta == 0 or delta >= LEAST_DELTA, f"0 or at least {LEAST_DELTA:g}"),
        needs=_with_order(lambda given: given["delta"] == 0, "left out"),
        help="Probability with which epsilon may be exceeded. In the game, with several draws, epsilon is then for all "
        "together.",
    ),
    "order": Setting(
        kind=float, metavar="ORDER", commands=("optimize",), words="Renyi order",
        checks=number(lambda order: 1 < order <= MOST_ORDER, f"an order above 1, at most {MOST_ORDER:g}"),
        help="Bound the Renyi divergence of this order by epsilon, instead of the loss.",
    ),
    "noise": Setting(
        default="laplace", commands=PLAYING, words="family of noise", checks=named(NOISES), offers=tuple(NOISES),
        help=f"Family of the noise: {list_words(NOISES)}; 'compare' takes several, separated by commas.",
    ),
    "scales": Setting(
        kind=list, default="wide", metavar="SCALES", commands=PLAYING, words="scales on offer", offers=SCALE_SETS,
        checks=(
            (
                lambda value: not isinstance(value, str) or value in SCALE_SETS,
                "'wide', 'adaptive', 'paper' or numbers in data units, such as 50,500,20000 (in Python a list)",
            ),
            (are_scales, "numbers in data units, or the name of a set"),
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
        help=f"What closeness to the original means to the game: {list_words(CLOSENESS)}.",
    ),
    "solver": Setting(
        default="best-response", commands=("optimize",), words="solver", checks=named(SOLVERS), offers=tuple(SOLVERS),
        help="best-response; optimal, the best profile with a proven gap; or genetic, the paper's other algorithm.",
    ),
    "time_limit": Setting(
        kind=float, usual="60", commands=PLAYING, words="time limit of the solver (s)", of_solver=True,
        checks=number(lambda seconds: 0 < seconds < math.inf, "a positive number of seconds"),
        help="Seconds for the optimal solver.",
    ),
    "generations": Setting(
        kind=int, usual="270", commands=("optimize",), words="generations of the solver", of_solver=True,
        checks=whole(1, 10**6), help="Generations of the genetic solver at most.",
    ),
    "restarts": Setting(
        kind=int, usual="8", commands=PLAYING, words="restarts of best response", checks=whole(1, 10**6),
        of_solver=True, help="Restarts of best response; the best end is kept.",
    ),
    "seed": Setting(
        kind=int, default=0, commands=PLAYING, words="seed of the solver", checks=whole(0, 2**64, "2^64"),
        help="Of the solver's restarts (public); never of a draw.",
    ),
    "unit": Setting(
        metavar="COLUMN", commands=DESCRIBING + PLAN, words="rows of one person share", usual="every row is a person",
        checks=((lambda value: isinstance(value, str), "the name of a column"),),
        help="All rows with the same value in COLUMN are one person's.",
    ),
    "unit_rows": Setting(
        default="all", commands=PLAYING, words="rows of a person that count", offers=("all", "one"),
        checks=named(("all", "one")),
        needs=((lambda given: given["unit"] is not None or given["unit_rows"] == "all", "left out without a unit"),),
        help="With --unit: all rows of a person count and are removed together, or one, the middle one by value.",
    ),
    "rows_per_person": Setting(
        kind=int, default=1, commands=PUBLISHING, words="rows of a person that count at most",
        checks=whole(1, 10**6),
        needs=((lambda given: given["unit"] is not None or given["rows_per_person"] == 1, "left out without a unit"),),
        help="With --unit: at most so many rows of a person count, evenly spread over that person's rows.",
    ),
    "missing": Setting(
        commands=READING + PLAN, saved=False, offers=MISSING_RULES, checks=named(MISSING_RULES),
        usual="refuse; drop in 'synthesize'",
        help="What becomes of missing and infinite values where the schema does not say: refuse all, drop those rows, "
        "or category, a bin of their own.",
    ),
    "outside": Setting(
        commands=READING, saved=False, offers=OUTSIDE_RULES, checks=named(OUTSIDE_RULES),
        usual="refuse; clip in 'synthesize'",
        help="What becomes of values outside where the schema does not say: refuse all, or clip them to the nearer "
        "bound (rows of unknown categories are dropped).",
    ),
    "padding_epsilon": Setting(
        kind=float, default=1.0, commands=PLAYING, words="epsilon of the padding",
        checks=number(lambda epsilon: 0 < epsilon < math.inf, "a positive number"),
        help="With --grid paper: epsilon that sizes the padding.",
    ),
    "percentile": Setting(
        kind=float, default=0.9, commands=PLAYING, words="percentile of the padding",
        checks=number(lambda share: 0.5 <= share < 1, "at least 0.5 and below 1"),
        help="With --grid paper: how much of that noise must fall within the padded range; 0.5 is no padding.",
    ),
    "engine": Setting(
        default="polars", commands=OPENING, saved=False, checks=named(ENGINES), offers=tuple(ENGINES),
        help=f"What reads and counts the files: {list_words(ENGINES)}. The counts are the same.",
    ),
    "engine_address": Setting(
        metavar="ADDRESS", commands=OPENING, saved=False, usual="this machine does the work",
        help="Of a running Dask scheduler (tcp://127.0.0.1:8786) or a Spark master (spark://127.0.0.1:7077).",
    ),
    "separator": Setting(
        commands=NAMING, saved=False, usual="by the file's ending and its header", offers=tuple(SEPARATOR_MARKS),
        checks=((is_separator, f"{list_words(SEPARATOR_MARKS)}, or that mark itself"),),
        help=f"What separates the fields of text files: {list_words(SEPARATOR_MARKS)}, or that mark itself.",
    ),
    "decimal": Setting(
        commands=NAMING, saved=False, usual="plain numbers, with a point", checks=named((".", ",")), offers=(".", ","),
        help="The decimal mark in text files, a point or a comma. Once it is said, thousands may be apart: 1,234.5.",
    ),
    "base": Setting(
        kind=Path, commands=("synthesize",), saved=False, usual="even",
        help="A file with one number for each cell of the grid: where people are expected.",
    ),
    "plan": Setting(words="plan", checks=((lambda value: isinstance(value, str), "text"),), help="Why this method."),
    "own_start": Setting(
        kind=bool, default=False, words="solved from a start of one's own", checks=FLAG, help="If start= was given.",
    ),
    "public_bounds": Setting(
        kind=bool, required=True, words="bounds are public", checks=FLAG, help="Whether no bounds were read.",
    ),
    "bounds_epsilon": Setting(
        kind=float, words="epsilon of the bounds, besides", help="What finding the bounds cost.",
        checks=number(lambda epsilon: 0 < epsilon < math.inf, "a positive number"),
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
