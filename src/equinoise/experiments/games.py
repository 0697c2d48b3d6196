"""One game of the tables: a method on a column at an epsilon, and all that the tables and pictures need of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats, Ints
from equinoise.experiments.data import Dataset
from equinoise.experiments.parts import Part, Tell
from equinoise.experiments.settings import SCALES, Settings
from equinoise.game.game import Game
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.loss import losses
from equinoise.solvers.procedure import Procedure
from equinoise.solvers.solution import Round, Solution
from equinoise.statistics import baselines
from equinoise.statistics.metrics import metrics

SOLVERS = ("best-response", "genetic", "optimal")
METHODS = (*SOLVERS, "laplace")
MOST_GENES = 5000
"""People up to whom the genetic solver is run. The paper left it out for its 10,000, as it took too long."""


def parts(data: Dataset, settings: Settings) -> Iterator[Part]:
    """Every game of one table, the quick ones first."""
    seeds = {
        "laplace": (0,),
        "best-response": settings.best_response_seeds,
        "optimal": settings.optimal_seeds,
        "genetic": settings.genetic_seeds if data.people <= MOST_GENES else (),
    }
    for method, chosen in seeds.items():
        for scales in SCALES if method != "laplace" else ("",):
            for epsilon in settings.epsilons[data.experiment]:
                for seed in chosen:
                    yield _part(data, method, scales, epsilon, seed, settings)


def _part(data: Dataset, method: str, scales: str, epsilon: float, seed: int, settings: Settings) -> Part:
    asked: dict[str, Any] = {
        "data": data.name, "digest": data.digest, "bounds": data.bounds[data.column],
        "method": method, "scales": scales, "epsilon": epsilon, "seed": seed,
    }  # fmt: skip
    if method in {"best-response", "optimal"}:
        asked["restarts"] = settings.restarts
    if method == "optimal":
        asked["time_limit"] = settings.time_limit
    if method == "genetic":
        asked["generations"] = settings.generations
    if method == "best-response" and scales == "wide" and seed == settings.best_response_seeds[0]:
        asked |= {"cost_draws": settings.cost_draws, "delta": settings.delta}
    words = [data.name, method, scales, f"eps{epsilon:g}", f"seed{seed}"]
    name = "-".join(word for word in words if word)
    return Part(name, asked, lambda tell: play(data, asked, tell))


def play(data: Dataset, asked: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Play it, as the settings of a part ask."""
    if asked["method"] == "laplace":
        return {**_head(data, asked), **laplace(data, asked["epsilon"])}
    chosen = {name: asked[name] for name in ("restarts", "time_limit", "generations") if name in asked}
    procedure = Procedure(
        asked["epsilon"], scales=asked["scales"], solver=asked["method"], seed=asked["seed"], **chosen
    )  # fmt: skip
    watched: list[Round] = []

    def seen(state: Round) -> None:
        if asked["method"] != "optimal":
            watched.append(state)
        tell(state.note or f"run {state.run + 1}, round {state.number}")

    solution = procedure.solve(data.players(), progress=seen)
    if solution.settings.get("stopped"):
        raise KeyboardInterrupt  # the solver keeps what it has; a part that was stopped is not finished
    found = {**_head(data, asked), **described(solution), **_rounds(solution.game, watched)}
    if found["certified"] and "cost_draws" in asked:
        found["costs"] = PerInstance.from_solution(solution).costs(asked["cost_draws"], asked["delta"])
    return found


def _head(data: Dataset, asked: dict[str, Any]) -> dict[str, Any]:
    return {"data": data.name, **{name: asked[name] for name in ("method", "scales", "epsilon", "seed")}}


def described(solution: Solution) -> dict[str, Any]:
    """How close, how fast, how many protected, and cell by cell what comes out and with how much noise."""
    game, profile = solution.game, solution.profile
    axis, q, histogram = game.players.grid.axis, game.output(profile), game.players.histogram
    if solution.protected == game.people:
        PerInstance.from_solution(solution)  # refuses unless the exact certificate holds
    each = game.losses(profile)
    types, scales = game.groups(profile)
    (weights,) = game.kernel.weights
    whole = np.zeros((axis.bins, game.scales), dtype=np.int64)
    whole[game.players.cells] = profile
    return {
        "people": game.people,
        "protected": solution.protected,
        "certified": solution.protected == game.people,
        "seconds": solution.seconds,
        "metrics": metrics(histogram.counts / game.people, q, axis.midpoints()),
        "solver": solution.summary(),
        "output": q.tolist(),
        "noise_sd": _average(histogram.counts, whole, row_spreads(weights / game.kernel.total, axis)),
        "losses": _losses(each, profile[types, scales]),
    }


def laplace(data: Dataset, epsilon: float) -> dict[str, Any]:
    """The Laplace mechanism on the same grid: worked out, not drawn, so that no seed is in it."""
    histogram, axis = data.histogram(), data.axis()
    rows = baselines.laplace_kernel(axis, epsilon)
    p = histogram.counts / histogram.people
    each = losses(rows[histogram.counts > 0], histogram.counts @ rows, histogram.people)
    people = histogram.counts[histogram.counts > 0]
    return {
        "people": histogram.people,
        "protected": int(people[each <= epsilon].sum()),
        "certified": False,
        "seconds": None,
        "metrics": metrics(p, p @ rows, axis.midpoints()),
        "solver": None,
        "local_epsilon": baselines.local_epsilon(rows, axis),
        "output": (p @ rows).tolist(),
        "noise_sd": _average(histogram.counts, histogram.counts[:, None], row_spreads(rows[None], axis)),
        "losses": _losses(each, people),
    }


def row_spreads(rows: Floats, axis: Axis) -> Floats:
    """Standard deviation, in data units, of where a person of each (scale, cell) comes out: noise as it is, cut off."""
    x = np.arange(axis.bins, dtype=np.float64)
    means = rows @ x
    squares = rows @ (x * x)
    return np.asarray(np.sqrt(np.maximum(squares - means * means, 0)) * axis.width)


def _average(counts: Ints, profile: Ints, spreads: Floats) -> list[float | None]:
    """Over the people of each cell; None where nobody is."""
    total = (profile * spreads.T).sum(axis=1)
    return [float(t / n) if n else None for t, n in zip(total.tolist(), counts.tolist(), strict=True)]


def _losses(each: Floats, people: Ints) -> list[list[float | None]]:
    """Loss and how many people have it, ascending; None for an infinite one."""
    order = np.argsort(each, kind="stable")
    pairs = zip(each[order].tolist(), people[order].tolist(), strict=True)
    return [[loss if math.isfinite(loss) else None, many] for loss, many in pairs]


def _rounds(game: Game, watched: list[Round]) -> dict[str, Any]:
    """KL and people protected after each round (thinned out where there are many), and where each run ended."""
    if not watched:
        return {}
    kept, ends = [], []
    for state, following in zip(watched, [*watched[1:], None], strict=True):
        last = following is None or following.run != state.run
        if not (last or _is_round(state.number)):
            continue
        distance = game.kl(state.profile)
        protected = game.payoff(state.profile).protected
        kept.append([state.run, state.number, distance, protected])
        if last:
            ends.append([distance, protected])
    return {"convergence": kept, "ends": ends}


def _is_round(number: int) -> bool:
    """1, 2, ..., 20, 30, ..., 100, 200, ...: enough for a picture."""
    return number <= 20 or number % 10 ** (len(str(number)) - 1) == 0
