"""The pictures: the paper's, and two that it lacks (convergence round by round, losses person by person)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from equinoise.experiments.datasets import Dataset
from equinoise.experiments.drawing import (
    COLOURS,
    colour,
    curve,
    dashed,
    epsilons,
    faceted,
    figure,
    method_colour,
    owner,
    panels,
)  # fmt: skip
from equinoise.experiments.regression import Task
from equinoise.experiments.tables import MARK, NAMES, OURS, Row, trained_on
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.encodings import altair, chart_of, log_x, log_y
from equinoise.present.figures.theme import ORIGINAL

LEAST_KL = 1e-6
"""What is below is drawn there."""


def of_games(data: Dataset, results: Sequence[dict[str, Any]], table: Sequence[Row]) -> list[Figure]:
    """All pictures of one column; of several seeds the first one is drawn, with wide scales."""
    first = [one for one in results if one["scales"] in {"wide", ""} and one["seed"] == 0]
    return [
        _distances(data, table),
        _outputs(data, first),
        _noise(data, first),
        _convergence(data, first),
        _losses(data, first),
    ]


def _distances(data: Dataset, table: Sequence[Row]) -> Figure:
    """KL against epsilon: ours, and the paper's dashed."""
    points: list[dict[str, Any]] = [
        {"epsilon": row.epsilon, "KL": max(row.means["kl"], LEAST_KL), "method": _series(row), "whose": row.whose}
        for row in table
    ]
    alt = altair()
    series = {_series(row): row for row in table}
    dashes = {
        name: [4, 4] if row.whose != OURS else [1, 0] if row.scales != "paper" else [10, 3]
        for name, row in series.items()
    }
    base = chart_of(points).encode(
        x=log_x("epsilon", "epsilon", epsilons(points), room=True),
        y=log_y("KL", "KL from the original (nats)", [point["KL"] for point in points]),
        color=colour("method", {name: COLOURS[NAMES[row.method]] for name, row in series.items()}, columns=2),
        detail="method:N",
    )
    dash = alt.Scale(domain=list(dashes), range=list(dashes.values()))
    stroke = alt.StrokeDash("method:N", title=None, sort=list(dashes), scale=dash).legend(**theme.ABOVE, columns=2)
    shapes = alt.Scale(domain=["ours", "the paper's"], range=["circle", "cross"])
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=alt.Shape("whose:N", title=None, scale=shapes).legend(**theme.ABOVE)
    )
    return figure(
        f"{data.name}-kl", f"KL against epsilon: {data.title.lower()}",
        f"The mean over seeds, ours with both sets of scales and the paper's {MARK} dotted (below 0.000001 drawn "
        "there).",
        (f"{_series(row)} {row.means['kl']:.4f} at epsilon {row.epsilon:g}" for row in table),
        (base.mark_line(strokeWidth=1.6).encode(strokeDash=stroke) + marks).properties(height=360), points,
    )  # fmt: skip


def _series(row: Row) -> str:
    scales = f", {row.scales} scales" if row.scales and row.whose == OURS else ""
    return f"{NAMES[row.method]}{scales}" if row.whose == OURS else f"{NAMES[row.method]} {MARK} (the paper's)"


def _at_epsilon(one: dict[str, Any]) -> str:
    return f"{NAMES[one['method']]} at epsilon {one['epsilon']:g}"


def _outputs(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """What one draw looks like, method by method."""
    axis, histogram = data.axis(), data.histogram()
    middles, shares = axis.midpoints().tolist(), (histogram.counts / histogram.people).tolist()
    originals = [{"epsilon": epsilon, "method": ORIGINAL, "output": shares} for epsilon in epsilons(results)]
    points = [point for one in [*results, *originals] for point in curve(one, "probability", middles, one["output"])]
    return figure(
        f"{data.name}-output", f"The distribution of one draw: {data.title.lower()}",
        "Probability of each bin, original and by method (wide scales).",
        (f"{_at_epsilon(one)}: total variation {one['metrics']['tv']:.4f}" for one in results),
        panels(points, "probability", data), points,
    )  # fmt: skip


def _noise(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """Average noise in each bin."""
    middles = data.axis().midpoints().tolist()
    points = [point for one in results for point in curve(one, "noise", middles, one["noise_sd"])]
    known = [(one, [noise for noise in one["noise_sd"] if noise is not None]) for one in results]
    return figure(
        f"{data.name}-noise", f"Average noise of the people in each bin: {data.title.lower()}",
        f"Standard deviation of where a person comes out, in {data.units[data.column]}, averaged over the people of "
        "each bin (wide scales).",
        (f"{_at_epsilon(one)}: {min(noises):.3g} to {max(noises):.3g}" for one, noises in known),
        panels(points, "noise", data), points,
    )  # fmt: skip


def _convergence(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """KL round by round: every run of best response, and the genetic algorithm's fittest."""
    points = [
        {
            **owner(one), "run": f"{one['method']} {restart}", "round": number,
            "KL": max(distance, LEAST_KL), "protected": protected, "people": one["people"],
        }
        for one in results
        for restart, number, distance, protected in one.get("convergence", [])
    ]  # fmt: skip
    alt = altair()
    base = chart_of(points).encode(
        x=alt.X("round:Q", title="round or generation").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("KL:Q", title="KL (nats)").scale(type="log").axis(format="~g", tickCount=5),
        color=method_colour(points),
        detail="run:N",
    )
    ends = {_at_epsilon(one): [end for end, _ in one.get("ends", [])] for one in results}
    return figure(
        f"{data.name}-convergence", f"Convergence, round by round: {data.title.lower()}",
        "KL after each round of every run of best response, and of each generation's fittest profile (wide scales).",
        (f"{name}: runs end between {min(each):.4f} and {max(each):.4f}" for name, each in ends.items() if each),
        faceted(base.mark_line(strokeWidth=0.9, opacity=0.7), points), points,
    )  # fmt: skip


def _losses(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """The share of people within each loss."""
    alt = altair()
    points = [
        {**owner(one), "loss": max(loss, 1e-9), "share": share}
        for one in results
        for loss, share in _shares_within(one)
        if loss is not None
    ]
    base = chart_of(points).encode(
        x=alt.X("loss:Q", title="loss of one draw").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("share:Q", title="share of people within it").axis(format=".0%"),
        color=method_colour(points),
        strokeDash=dashed(),
    )
    return figure(
        f"{data.name}-losses", f"Losses, person by person: {data.title.lower()}",
        "The share of people whose loss of one draw is at most so much (wide scales).",
        (f"{_at_epsilon(one)}: half of the people within {_median(one):.3g}" for one in results),
        faceted(base.mark_line(interpolate="step-after", strokeWidth=1.6), points), points,
    )  # fmt: skip


def _shares_within(one: dict[str, Any]) -> list[tuple[float | None, float]]:
    """Losses (None: infinite), ascending, and the share of people whose loss is at most that."""
    reached = accumulate(people for _, people in one["losses"])
    return [(loss, count / one["people"]) for (loss, _), count in zip(one["losses"], reached, strict=True)]


def _median(one: dict[str, Any]) -> float:
    loss = next(loss for loss, share in _shares_within(one) if share >= 0.5)
    return float("inf") if loss is None else float(loss)


def of_regression(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """Some people of the original, and what the networks learned, averaged over seeds."""
    task = Task(data)
    x, y = task.names
    original = next(one for one in results if one["method"] == "original")
    points = [
        {"epsilon": epsilon, "trained on": "the game" if one["method"] == "game" else trained_on(one), x: a, y: b}
        for epsilon in epsilons([one for one in results if "epsilon" in one])
        for one in [original, *(one for one in results if one.get("epsilon") == epsilon)]
        for a, b in zip(*one["curve"], strict=True)
    ]
    palette = {"the original": theme.LIGHT["ink"], "the game": theme.METHODS["best-response"].colour}
    others = iter(theme.METHODS[method].colour for method in ("laplace", "bounded-laplace"))
    colours = {name: palette.get(name) or next(others) for name in dict.fromkeys(p["trained on"] for p in points)}
    people = [
        {x: a, y: b, "epsilon": epsilon, "trained on": None}
        for epsilon in epsilons(points)
        for a, b in task.some_people().tolist()
    ]
    alt = altair()
    base = chart_of([*points, *people]).encode(
        x=alt.X(f"{x}:Q", title=f"{x} ({data.units[x]})").scale(zero=False),
        y=alt.Y(f"{y}:Q", title=f"{y} ({data.units[y]})").scale(zero=False),
    )
    dots = base.transform_filter("datum['trained on'] === null").mark_circle(
        size=9, opacity=0.3, color=theme.COLOURS[ORIGINAL]
    )
    lines = base.transform_filter("datum['trained on'] !== null").mark_line(strokeWidth=2)
    lines = lines.encode(color=colour("trained on", colours, title="trained on"))
    return figure(
        f"regression-{data.name}", f"What networks learn: {y} from {x}, {data.title.lower()}",
        "500 people of the original, and the networks' predictions averaged over seeds.",
        (f"{trained_on(one)}{_at(one)}: RMSE {statistics.fmean(one['rmse']):.3g} {data.units[y]}" for one in results),
        faceted(dots + lines, points), points,
    )  # fmt: skip


def _at(one: dict[str, Any]) -> str:
    return f" at epsilon {one['epsilon']:g}" if "epsilon" in one else ""
