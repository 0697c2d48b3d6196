"""The paper's regression: a small network learns one column from another, from draws instead of from the data.

``fit_and_score`` takes rows as arrays and knows nothing of how they were made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from equinoise.data.grid import Floats
from equinoise.errors import NotPublicWarning
from equinoise.experiments.datasets import Dataset, import_extra
from equinoise.experiments.paper_results import BINS, PERCENTILE
from equinoise.experiments.parts import Part, ReportProgress
from equinoise.experiments.settings import Settings
from equinoise.solvers.solution import Round
from equinoise.statistics import baselines
from equinoise.verbs.optimize import optimize

LAYERS = (10, 10, 10)
MOST_STEPS = 100
CURVE_POINTS = 64
SCATTERED_PEOPLE = 500
"""People in the picture, as many as in the paper's."""


def fit_and_score(train: Floats, everyone: Floats, curve: Floats, seed: int) -> tuple[float, Floats]:
    """RMSE over ``everyone`` of a network trained on other rows (from, to), and its predictions along a curve.

    Three layers of ten units, ReLU, trained by L-BFGS, which needs no step size. All columns are expected in units of
    their bounds: from about 0 to about 1.
    """
    network = import_extra("sklearn.neural_network").MLPRegressor(
        hidden_layer_sizes=LAYERS, activation="relu", solver="lbfgs", max_iter=MOST_STEPS, random_state=seed
    )
    one_thread = import_extra("threadpoolctl").threadpool_limits(1)  # threads only slow small networks
    with warnings.catch_warnings(), one_thread:
        warnings.simplefilter("ignore")  # that it could have gone on after so many steps is no news
        network.fit(train[:, :1], train[:, 1])
    errors = network.predict(everyone[:, :1]) - everyone[:, 1]
    return float(np.sqrt(np.mean(errors**2))), np.asarray(network.predict(curve[:, None]), dtype=np.float64)


class Task:
    """From one column of a dataset to another; a network sees both in units of their bounds, which are public."""

    def __init__(self, data: Dataset) -> None:
        assert data.regression is not None
        self.data, self.names = data, data.regression
        self.axes = tuple(data.axis(name) for name in self.names)
        self.low = np.array([axis.low for axis in self.axes])
        self.width = np.array([axis.high - axis.low for axis in self.axes])
        self.raw = np.column_stack([data.columns[name] for name in self.names])

    def scores(
        self, trainings: Iterable[Floats], seeds: tuple[int, ...], report_progress: ReportProgress
    ) -> dict[str, Any]:
        """A network for each seed, each on its own rows: RMSEs in units of the padded range and of the data, curves."""
        everyone = (self.raw - self.low) / self.width
        curve = np.linspace(float(everyone[:, 0].min()), float(everyone[:, 0].max()), CURVE_POINTS)
        errors: list[float] = []
        curves: list[Floats] = []
        for seed, rows in zip(seeds, trainings, strict=True):
            report_progress(f"network {len(errors) + 1} of {len(seeds)}")
            rmse, predictions = fit_and_score((rows - self.low) / self.width, everyone, curve, seed)
            errors.append(float(rmse * self.width[1]))
            curves.append(self.low[1] + predictions * self.width[1])
        return {
            "seeds": list(seeds),
            "rmse": errors,
            "rmse_padded": [error / self.axes[1].range for error in errors],
            "curve": [(self.low[0] + curve * self.width[0]).tolist(), np.mean(curves, axis=0).tolist()],
        }

    def some_people(self) -> Floats:
        """Some people of the original, for a picture: predictor and target."""
        many = min(SCATTERED_PEOPLE, len(self.raw))
        people = np.random.default_rng(0).choice(len(self.raw), many, replace=False)
        return np.asarray(self.raw[np.sort(people)])


def parts(data: Dataset, settings: Settings) -> Iterator[Part]:
    """The original, and at every epsilon the Laplace mechanism (two ways to split epsilon) and the game."""
    shared = {
        "data": data.name, "digest": data.digest, "bounds": data.bounds, "seeds": settings.regression_seeds,
        "layers": LAYERS, "steps": MOST_STEPS,
    }  # fmt: skip
    joint = {"restarts": settings.joint_restarts, "delta": settings.delta}

    def part(name: str, work: Any, **own: Any) -> Part:
        return Part(f"regression-{data.name}-{name}", {**shared, **own}, partial(work, data, settings))

    yield part("original", original, method="original")
    for epsilon in settings.epsilons["regression" if data.name == "heights" else "large-income"]:
        at = f"eps{epsilon:g}"
        for shares in (1, 2):
            work = partial(laplace, epsilon=epsilon, shares=shares)
            yield part(f"laplace-{shares}-{at}", work, method="laplace", epsilon=epsilon, shares=shares)
        yield part(f"game-{at}", partial(game, epsilon=epsilon), method="game", epsilon=epsilon, **joint)


def original(data: Dataset, settings: Settings, report_progress: ReportProgress) -> dict[str, Any]:
    """Trained on the people themselves."""
    task, seeds = Task(data), settings.regression_seeds
    return {"data": data.name, "method": "original", **task.scores([task.raw] * len(seeds), seeds, report_progress)}


def laplace(
    data: Dataset, settings: Settings, report_progress: ReportProgress, *, epsilon: float, shares: int
) -> dict[str, Any]:
    """Trained on everyone's noisy values. With one share, both of a person's values are noised at epsilon, so that
    the person spends twice that; with two, epsilon is split between them.
    """
    task, per_value = Task(data), epsilon / shares
    local = [baselines.local_epsilon(baselines.laplace_kernel(axis, per_value), axis) for axis in task.axes]
    trainings = (noisy_rows(task, per_value, seed) for seed in settings.regression_seeds)
    return {
        "data": data.name, "method": "laplace", "epsilon": epsilon, "shares": shares, "draws": data.people,
        "per_value": per_value, "per_person": float(sum(local)),
        **task.scores(trainings, settings.regression_seeds, report_progress),
    }  # fmt: skip


def noisy_rows(task: Task, epsilon: float, seed: int) -> Floats:
    """Everyone's two values once, each with its own Laplace noise of scale (high - low)/epsilon, cut off to the grid.

    What is drawn are midpoints of cells, from the same rows that the tables' Laplace mechanism has.
    """
    random = np.random.default_rng([seed, 1])
    columns = []
    for values, axis in zip(task.raw.T, task.axes, strict=True):
        running = np.cumsum(baselines.laplace_kernel(axis, epsilon), axis=1)
        cells = [axis.cell_of(value) for value in values.tolist()]
        uniform = random.random(len(cells))
        outputs = (running[cells] < uniform[:, None]).sum(axis=1).clip(0, axis.bins - 1)
        columns.append(axis.midpoints()[outputs])
    return np.column_stack(columns)


def game(data: Dataset, settings: Settings, report_progress: ReportProgress, *, epsilon: float) -> dict[str, Any]:
    """Both columns' game on one grid; for every seed as many draws as there are people.

    Draws are seeded, so that they can be repeated: nothing is released here. The cost is that of the draws which one
    network learns from.
    """
    import polars as pl

    task, people, seeds = Task(data), data.people, settings.regression_seeds

    def progress(state: Round) -> None:
        report_progress(state.note or f"run {state.run + 1}, round {state.number}")

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPublicWarning)
        mechanism: Any = optimize(
            pl.DataFrame({name: data.columns[name] for name in task.names}), column=list(task.names),
            bounds={name: data.bounds[name] for name in task.names}, epsilon=epsilon, bins=BINS,
            percentile=PERCENTILE, draws=people * len(seeds), restarts=settings.joint_restarts, progress=progress,
            book=False,
        )  # fmt: skip
    report_progress(f"the cost of {people:,} draws")
    cost = mechanism.costs([people], settings.delta)[0]
    sources = (np.random.default_rng([seed, 2]).bytes for seed in seeds)
    trainings = (np.asarray(mechanism.sample(people, source=source)) for source in sources)
    return {
        "data": data.name, "method": "game", "epsilon": epsilon, "draws": people, "delta": settings.delta,
        "worst_cost": cost["worst"], "median_cost": cost["median"], "added_up": cost["added_up"],
        "kl": mechanism.metrics()["kl"], "solver": mechanism.solver, "protected": mechanism.protected,
        **task.scores(trainings, seeds, report_progress),
    }  # fmt: skip
