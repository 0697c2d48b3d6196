"""One game of the tables: a method on a column at an epsilon, and all that the tables and pictures need of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product, zip_longest
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats, Ints, number_axes
from equinoise.data.players import Players
from equinoise.experiments.datasets import Dataset
from equinoise.experiments.parts import Part, ReportProgress
from equinoise.experiments.settings import Settings
from equinoise.game.game import Game
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.privacy.loss import losses
from equinoise.solvers.procedure import Procedure
from equinoise.solvers.solution import Round, Solution
from equinoise.statistics import baselines
from equinoise.statistics.metrics import metrics

METHODS = ("best-response", "genetic", "optimal", "laplace")
MOST_GENES = 5000
"""People up to whom the genetic solver is run. The paper left it out for its 10,000, as it took too long."""


def parts(data: Dataset, settings: Settings) -> Iterator[Part]:
    """Every game of one table, the quick ones first; with the paper's five scales, and with our wide ones."""
    restarts, scales = {"restarts": settings.restarts}, ("paper", "wide")
    genetic_seeds = settings.genetic_seeds if data.people <= MOST_GENES else ()
    methods: list[tuple[str, tuple[str, ...], tuple[int, ...], dict[str, Any]]] = [
        ("laplace", ("",), (0,), {}),
        ("best-response", scales, settings.best_response_seeds, restarts),
        ("optimal", scales, settings.optimal_seeds, {**restarts, "time_limit": settings.time_limit}),
        ("genetic", scales, genetic_seeds, {"generations": settings.generations}),
    ]
    shared = {"data": data.name, "digest": data.digest, "bounds": data.bounds[data.column]}
    for method, scale_sets, seeds, options in methods:
        for name, epsilon, seed in product(scale_sets, settings.epsilons[data.experiment], seeds):
            game = {**shared, "method": method, "scales": name, "epsilon": epsilon, "seed": seed, **options}
            if (method, name, seed) == ("best-response", "wide", settings.best_response_seeds[0]):
                game |= {"cost_draws": settings.cost_draws, "delta": settings.delta}
            words = (data.name, method, name, f"eps{epsilon:g}", f"seed{seed}")
            yield Part("-".join(filter(None, words)), game, partial(play, data, game))


def play(data: Dataset, settings: dict[str, Any], report_progress: ReportProgress) -> dict[str, Any]:
    """The result of one game, as the settings of its part have it."""
    head = {"data": data.name, **{name: settings[name] for name in ("method", "scales", "epsilon", "seed")}}
    if settings["method"] == "laplace":
        return {**head, **laplace(data, settings["epsilon"])}
    options = {name: settings[name] for name in ("restarts", "time_limit", "generations") if name in settings}
    procedure = Procedure(
        settings["epsilon"], scales=settings["scales"], solver=settings["method"], seed=settings["seed"], **options
    )  # fmt: skip
    rounds: list[Round] = []

    def progress(state: Round) -> None:
        if settings["method"] != "optimal" and state.profile.size:  # of a note alone it has none
            rounds.append(state)
        report_progress(state.note or f"run {state.run + 1}, round {state.number}")

    solution = procedure.solve(Players.of(data.histogram()), progress=progress)
    if solution.settings.get("stopped"):
        raise KeyboardInterrupt  # the solver keeps what it has; a part that was stopped is not finished
    result = {**head, **describe(solution), **_convergence(solution.game, rounds)}
    if result["certified"] and "cost_draws" in settings:
        result["costs"] = PerInstance.from_solution(solution).costs(settings["cost_draws"], settings["delta"])
    return result


def describe(solution: Solution) -> dict[str, Any]:
    """How close, how fast, how many protected, and cell by cell what comes out and with how much noise."""
    game, profile = solution.game, solution.profile
    (axis,), counts = number_axes(game.players.grid.axes), game.players.histogram.counts
    if solution.protected == game.people:
        PerInstance.from_solution(solution)  # refuses unless the exact certificate holds
    (weights,) = game.kernel.weights
    people = np.zeros((axis.bins, game.scales), dtype=np.int64)
    people[game.players.cells] = profile
    return {
        "protected": solution.protected,
        "certified": solution.protected == game.people,
        "seconds": solution.seconds,
        "solver": solution.summary(),
        **_cell_by_cell(axis, counts, game.output(profile), people, weights / game.kernel.total),
        "losses": _loss_counts(game.losses(profile), profile[game.groups(profile)]),
    }


def laplace(data: Dataset, epsilon: float) -> dict[str, Any]:
    """The Laplace mechanism on the same grid: worked out, not drawn, so that no seed is in it."""
    axis, counts = data.axis(), data.histogram().counts
    rows = baselines.laplace_kernel(axis, epsilon)
    each = losses(rows[counts > 0], counts @ rows, data.people)
    people = counts[counts > 0]
    return {
        "protected": int(people[each <= epsilon].sum()),
        "certified": False,
        "seconds": None,
        "solver": None,
        "local_epsilon": baselines.local_epsilon(rows, axis),
        **_cell_by_cell(axis, counts, (counts / data.people) @ rows, counts[:, None], rows[None]),
        "losses": _loss_counts(each, people),
    }


def _cell_by_cell(axis: Axis, counts: Ints, q: Floats, profile: Ints, rows: Floats) -> dict[str, Any]:
    """Output and average noise of each cell (None where nobody is), and how far the output is from the original.

    ``profile`` are people per cell and scale, ``rows`` the probabilities of each scale, cell and output cell.
    """
    noise = (profile * row_spreads(rows, axis).T).sum(axis=1)
    return {
        "people": int(counts.sum()),
        "metrics": metrics(counts / counts.sum(), q, axis.midpoints()),
        "output": q.tolist(),
        "noise_sd": [total / n if n else None for total, n in zip(noise.tolist(), counts.tolist(), strict=True)],
    }


def row_spreads(rows: Floats, axis: Axis) -> Floats:
    """Standard deviation, in data units, of where a person of each (scale, cell) comes out: noise as it is, cut off."""
    x = np.arange(axis.bins, dtype=np.float64)
    means = rows @ x
    squares = rows @ (x * x)
    return np.asarray(np.sqrt(np.maximum(squares - means * means, 0)) * axis.width)


def _loss_counts(each: Floats, people: Ints) -> list[list[float | None]]:
    """Loss and how many people have it, ascending; None for an infinite one."""
    order = np.argsort(each, kind="stable")
    pairs = zip(each[order].tolist(), people[order].tolist(), strict=True)
    return [[loss if math.isfinite(loss) else None, many] for loss, many in pairs]


def _convergence(game: Game, rounds: list[Round]) -> dict[str, Any]:
    """KL and people protected after each round (thinned out where there are many), and where each run ended."""
    thinned, ends = [], []
    for state, following in zip_longest(rounds, rounds[1:]):
        last = following is None or following.run != state.run
        if last or _is_drawn(state.number):
            end = [game.kl(state.profile), game.payoff(state.profile).protected]
            thinned.append([state.run, state.number, *end])
            ends += [end] if last else []
    return {"convergence": thinned, "ends": ends} if rounds else {}


def _is_drawn(number: int) -> bool:
    """1, 2, ..., 20, 30, ..., 100, 200, ...: enough for a picture."""
    return number <= 20 or number % 10 ** (len(str(number)) - 1) == 0
