"""The lists of what can be chosen: noise families, utilities, solvers, engines and commands, each with its module;
what may separate the fields of text files; and every choice as a type, for editors and type checkers.

To add one, write its module (copy a neighbour) and name it here, in the list and in its type. Modules load when they
are first chosen, so that importing the lists costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

NOISES = {
    "laplace": "equinoise.game.noises.laplace",
    "gaussian": "equinoise.game.noises.gaussian",
    "geometric": "equinoise.game.noises.geometric",
    "staircase": "equinoise.game.noises.staircase",
    "uniform-mixture": "equinoise.game.noises.uniform_mixture",
}

UTILITIES = {
    "kl": "equinoise.game.utilities.kl",
    "js": "equinoise.game.utilities.js",
    "tv": "equinoise.game.utilities.tv",
    "wasserstein": "equinoise.game.utilities.wasserstein",
    "moments": "equinoise.game.utilities.moments",
}

CLOSENESS = tuple("moments:N" if name == "moments" else name for name in UTILITIES)
"""The utilities, as help has them."""

SOLVERS = {
    "best-response": "equinoise.solvers.best_response",
    "genetic": "equinoise.solvers.genetic",
    "optimal": "equinoise.solvers.optimal",
}

ENGINES = {
    "polars": "equinoise.data.engines.polars",
    "duckdb": "equinoise.data.engines.duckdb",
    "dask": "equinoise.data.engines.dask",
    "spark": "equinoise.data.engines.spark",
}

SEPARATOR_MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}

NoiseName = Literal["laplace", "gaussian", "geometric", "staircase", "uniform-mixture"]
UtilityName = Literal[
    "kl", "js", "tv", "wasserstein", "moments:1", "moments:2", "moments:3", "moments:4", "moments:5", "moments:6",
    "moments:7", "moments:8", "moments:9", "moments:10",
]  # fmt: skip
SolverName = Literal["best-response", "optimal", "genetic"]
MethodName = Literal["envelope", "pay-once", "aim"]
SameRows = Literal["same"]
GridName = Literal["schema", "paper"]
ScaleSet = Literal["wide", "adaptive", "paper"]
RowsOfUnit = Literal["all", "one"]
MissingRule = Literal["refuse", "drop", "category"]
OutsideRule = Literal["refuse", "clip"]
EngineName = Literal["polars", "duckdb", "dask", "spark"]
SeparatorName = Literal["comma", "semicolon", "tab", "pipe", ",", ";", "\t", "|"]
DecimalMark = Literal[".", ","]

COMMANDS = {
    name: f"equinoise.cli.{name}"
    for name in (
        "answer", "audit", "book", "compare", "cost", "demo", "explore", "losses", "optimize", "plan", "report",
        "reproduce", "sample", "schema", "show", "synthesize",
    )
}  # fmt: skip


def load(choices: dict[str, str], name: str) -> Any:
    """The module of a choice."""
    return import_module(choices[name])


def is_utility(value: Any) -> bool:
    """Whether a value names a utility, with its number where one belongs to it."""
    name = str(value).partition(":")[0]
    numbers = _numbers(name) if name in UTILITIES else range(0)
    return bool(value == name if numbers is None else any(value == f"{name}:{number}" for number in numbers))


def utility_names() -> str:
    """The names of the utilities as a choice."""
    numbers = {name: _numbers(name) for name in UTILITIES}
    *most, last = (
        repr(name) if of is None else f"'{name}:N' with N from {of[0]} to {of[-1]}" for name, of in numbers.items()
    )
    return f"{', '.join(most)} or {last}"


def _numbers(utility: str) -> range | None:
    """The numbers of which one belongs to a utility's name; None if none does."""
    return getattr(load(UTILITIES, utility), "NUMBERS", None)
