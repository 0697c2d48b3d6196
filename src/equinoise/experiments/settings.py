"""How much is done: the whole, in about an hour, or a quick look at all of it, in two minutes."""

from __future__ import annotations

from dataclasses import dataclass

from equinoise.experiments.paper_results import GENERATIONS, TABLES


@dataclass(frozen=True)
class Settings:
    """Epsilons by experiment, seeds by method, and how long each may take."""

    epsilons: dict[str, tuple[float, ...]]
    best_response_seeds: tuple[int, ...]
    genetic_seeds: tuple[int, ...]
    optimal_seeds: tuple[int, ...]
    regression_seeds: tuple[int, ...]
    generations: int
    time_limit: float
    joint_restarts: int
    restarts: int = 20
    cost_draws: tuple[int, ...] = (1, 10, 100, 500)
    delta: float = 1e-6


WHOLE = Settings(
    epsilons={**{name: table.epsilons for name, table in TABLES.items()}, "regression": TABLES["height"].epsilons},
    best_response_seeds=(0, 1, 2, 3, 4),
    genetic_seeds=(0, 1),
    optimal_seeds=(0, 1, 2),
    regression_seeds=tuple(range(10)),
    generations=GENERATIONS,
    time_limit=60.0,
    joint_restarts=8,
)

QUICK = Settings(
    epsilons={"height": (0.3, 1.0), "income": (1.0,), "large-income": (1.0,), "regression": (1.0,)},
    best_response_seeds=(0,),
    genetic_seeds=(0,),
    optimal_seeds=(0,),
    regression_seeds=(0, 1, 2),
    generations=3,
    time_limit=3.0,
    joint_restarts=2,
    cost_draws=(1, 500),
)
