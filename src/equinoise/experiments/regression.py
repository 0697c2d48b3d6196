"""The paper's regression: a small network learns one column from another, from draws instead of from the data.

``fit_and_score`` takes rows as arrays and knows nothing of how they were made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from equinoise.data.grid import Floats
from equinoise.errors import NotPublicWarning
from equinoise.experiments.data import Dataset, needed
from equinoise.experiments.paper import BINS, PERCENTILE
from equinoise.experiments.parts import Part, Tell
from equinoise.experiments.settings import Settings
from equinoise.solvers.solution import Round
from equinoise.statistics import baselines
from equinoise.verbs.optimize import optimize

LAYERS = (10, 10, 10)
MOST_STEPS = 100
CURVE = 64
SCATTERED = 500
"""People in the picture, as many as in the paper's."""


def fit_and_score(train: Floats, everyone: Floats, curve: Floats, seed: int) -> tuple[float, Floats]:
    """RMSE over ``everyone`` of a network trained on other rows (from, to), and its predictions along a curve.

    Three layers of ten units, ReLU, trained by L-BFGS, which needs no step size. All columns are expected in units of
    their bounds: from about 0 to about 1.
    """
    network = needed("sklearn.neural_network").MLPRegressor(
        hidden_layer_sizes=LAYERS, activation="relu", solver="lbfgs", max_iter=MOST_STEPS, random_state=seed
    )
    with warnings.catch_warnings(), needed("threadpoolctl").threadpool_limits(1):  # threads only slow small networks
        warnings.simplefilter("ignore")  # that it could have gone on after so many steps is no news
        network.fit(train[:, :1], train[:, 1])
    errors = network.predict(everyone[:, :1]) - everyone[:, 1]
    return float(np.sqrt(np.mean(errors**2))), np.asarray(network.predict(curve[:, None]), dtype=np.float64)


class Task:
    """From one column of a dataset to another, with everything in units of the bounds."""

    def __init__(self, data: Dataset) -> None:
        assert data.predictor is not None
        assert data.target is not None
        self.data, self.names = data, (data.predictor, data.target)
        self.axes = tuple(data.axis(name) for name in self.names)
        self.raw = np.column_stack([data.columns[name] for name in self.names])
        self.everyone = self.scaled(self.raw)
        self.curve = np.linspace(float(self.everyone[:, 0].min()), float(self.everyone[:, 0].max()), CURVE)

    def scaled(self, rows: Floats) -> Floats:
        """In units of the bounds, which are public."""
        low = np.array([axis.low for axis in self.axes])
        high = np.array([axis.high for axis in self.axes])
        return np.asarray((rows - low) / (high - low))

    def scores(self, trainings: Iterator[Floats], seeds: tuple[int, ...], tell: Tell) -> dict[str, Any]:
        """A network for each seed, each on its own rows: RMSEs in units of the padded range and of the data, curves."""
        target = self.axes[1]
        errors: list[float] = []
        curves: list[Floats] = []
        for seed, rows in zip(seeds, trainings, strict=False):
            tell(f"network {len(errors) + 1} of {len(seeds)}")
            rmse, predicted = fit_and_score(self.scaled(rows), self.everyone, self.curve, seed)
            errors.append(rmse * (target.high - target.low))
            curves.append(target.low + predicted * (target.high - target.low))
        x = self.axes[0].low + self.curve * (self.axes[0].high - self.axes[0].low)
        return {
            "seeds": list(seeds),
            "rmse": errors,
            "rmse_padded": [error / target.range for error in errors],
            "curve": [x.tolist(), np.mean(curves, axis=0).tolist()],
        }


def parts(data: Dataset, settings: Settings) -> Iterator[Part]:
    """The original, and at every epsilon the Laplace mechanism (two ways to split epsilon) and the game."""
    table = settings.epsilons["regression"] if data.name == "heights" else settings.epsilons["large-income"]
    shared = {
        "data": data.name, "digest": data.digest, "bounds": data.bounds, "seeds": settings.regression_seeds,
        "layers": LAYERS, "steps": MOST_STEPS,
    }  # fmt: skip
    name = f"regression-{data.name}"
    yield Part(f"{name}-original", {**shared, "method": "original"}, partial(original, data, settings))
    for epsilon in table:
        at = {**shared, "epsilon": epsilon}
        for shares in (1, 2):
            asked = {**at, "method": "laplace", "shares": shares}
            yield Part(
                f"{name}-laplace-{shares}-eps{epsilon:g}", asked, partial(laplace, data, settings, epsilon, shares)
            )
        asked = {**at, "method": "game", "restarts": settings.joint_restarts, "delta": settings.delta}
        yield Part(f"{name}-game-eps{epsilon:g}", asked, partial(game, data, settings, epsilon))


def original(data: Dataset, settings: Settings, tell: Tell) -> dict[str, Any]:
    """Trained on the people themselves."""
    task = Task(data)
    repeated = (task.raw for _ in settings.regression_seeds)
    return {"data": data.name, "method": "original", **task.scores(repeated, settings.regression_seeds, tell)}


def laplace(data: Dataset, settings: Settings, epsilon: float, shares: int, tell: Tell) -> dict[str, Any]:
    """Trained on everyone's noisy values. With one share, both of a person's values are noised at epsilon, so that
    the person spends twice that; with two, epsilon is split between them.
    """
    task = Task(data)
    trainings = (noisy_rows(task, epsilon / shares, seed) for seed in settings.regression_seeds)
    local = [baselines.local_epsilon(baselines.laplace_kernel(axis, epsilon / shares), axis) for axis in task.axes]
    found = task.scores(trainings, settings.regression_seeds, tell)
    head = {"data": data.name, "method": "laplace", "epsilon": epsilon, "shares": shares, "draws": data.people}
    return {**head, "per_value": epsilon / shares, "per_person": float(sum(local)), **found}


def noisy_rows(task: Task, epsilon: float, seed: int) -> Floats:
    """Everyone's two values once, each with its own Laplace noise of scale (high - low)/epsilon, cut off to the grid.

    What is drawn are midpoints of cells, from the same rows that the tables' Laplace mechanism has.
    """
    random = np.random.default_rng([seed, 1])
    drawn = []
    for column, axis in enumerate(task.axes):
        running = np.cumsum(baselines.laplace_kernel(axis, epsilon), axis=1)
        cells = [axis.cell_of(value) for value in task.raw[:, column].tolist()]
        uniform = random.random(len(cells))
        chosen = (running[cells] < uniform[:, None]).sum(axis=1).clip(0, axis.bins - 1)
        drawn.append(axis.midpoints()[chosen])
    return np.column_stack(drawn)


def game(data: Dataset, settings: Settings, epsilon: float, tell: Tell) -> dict[str, Any]:
    """Both columns' game on one grid; for every seed as many draws as there are people.

    Draws are seeded, so that they can be repeated: nothing is released here. The cost is that of the draws which one
    network learns from.
    """
    import polars as pl

    task, people = Task(data), data.people

    def seen(state: Round) -> None:
        tell(state.note or f"run {state.run + 1}, round {state.number}")

    frame = pl.DataFrame({name: data.columns[name] for name in task.names})
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPublicWarning)
        mechanism: Any = optimize(
            frame, column=list(task.names), bounds={name: data.bounds[name] for name in task.names},
            epsilon=epsilon, bins=BINS, percentile=PERCENTILE, draws=people * len(settings.regression_seeds),
            restarts=settings.joint_restarts, progress=seen,
        )  # fmt: skip
    tell(f"the cost of {people:,} draws")
    cost = mechanism.costs([people], settings.delta)[0]
    trainings = (
        np.asarray(mechanism.sample(people, source=np.random.default_rng([seed, 2]).bytes))
        for seed in settings.regression_seeds
    )
    head = {"data": data.name, "method": "game", "epsilon": epsilon, "draws": people, "delta": settings.delta}
    return {
        **head, "worst_cost": cost["worst"], "median_cost": cost["median"], "added_up": cost["added_up"],
        "kl": mechanism.metrics()["kl"], "solver": mechanism.solver, "protected": mechanism.protected,
        **task.scores(trainings, settings.regression_seeds, tell),
    }  # fmt: skip


def scattered(task: Task) -> Floats:
    """Some people of the original, for a picture."""
    chosen = np.random.default_rng(0).choice(len(task.raw), min(SCATTERED, len(task.raw)), replace=False)
    return np.asarray(task.raw[np.sort(chosen)])
