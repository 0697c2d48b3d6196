"""The lists of what can be chosen: noise families, utilities, solvers, engines and commands, each with its module.

To add one, write its module (copy a neighbour) and name it here. Modules load when they are first chosen, so that
importing the lists costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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

COMMANDS = {
    name: f"equinoise.cli.{name}"
    for name in (
        "audit", "compare", "cost", "demo", "explore", "losses", "optimize", "report", "reproduce", "sample", "show",
        "synthesize",
    )
}  # fmt: skip


def load(choices: dict[str, str], name: str) -> Any:
    """The module of a choice."""
    return import_module(choices[name])
