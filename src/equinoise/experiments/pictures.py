"""The pictures: the paper's, and two that it lacks (convergence round by round, losses person by person)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from equinoise.experiments.datasets import Dataset
from equinoise.experiments.drawing import (
    COLOURS,
    ORIGINAL,
    Picture,
    coloured,
    curve,
    dashed,
    epsilons,
    faceted,
    panels,
    picture,
    who,
)
from equinoise.experiments.regression import Task
from equinoise.experiments.tables import MARK, NAMES, OURS, Row, trained_on
from equinoise.present.charts import LOOKS
from equinoise.present.figures.figure import altair


def of_games(data: Dataset, results: Sequence[dict[str, Any]], table: Sequence[Row]) -> list[Picture]:
    """All pictures of one column; of several seeds the first one is drawn, with wide scales."""
    drawn = [one for one in results if one["scales"] in {"wide", ""} and one["seed"] == 0]
    return [
        _distances(data, table),
        _outputs(data, drawn),
        _noise(data, drawn),
        _convergence(data, drawn),
        _losses(data, drawn),
    ]


def _distances(data: Dataset, table: Sequence[Row]) -> Picture:
    """KL against epsilon: ours, and the paper's dashed."""
    points = [
        {
            "epsilon": row.epsilon,
            "KL": max(row.means["kl"], 1e-6),
            "method": _series(row),
            "whose": row.whose,
        }
        for row in table
    ]
    alt = altair()
    names = list(dict.fromkeys(_series(row) for row in table))
    colours = [COLOURS[NAMES[row.method]] for row in {_series(row): row for row in table}.values()]
    dashes = [
        [4, 4] if row.whose != OURS else [1, 0] if row.scales != "paper" else [10, 3]
        for row in {_series(row): row for row in table}.values()
    ]
    epsilons = sorted({row.epsilon for row in table})
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("epsilon:Q", title="epsilon").scale(type="log").axis(values=epsilons, format="~g", grid=False),
        y=alt.Y("KL:Q", title="KL from the original (nats)").scale(type="log").axis(format="~g", tickCount=6),
        color=alt.Color("method:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours)),
        detail="method:N",
    )
    lines = base.mark_line(strokeWidth=1.6).encode(
        strokeDash=alt.StrokeDash("method:N", title=None, sort=names, scale=alt.Scale(domain=names, range=dashes))
    )
    shapes = alt.Scale(domain=["ours", "the paper's"], range=["circle", "cross"])
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=alt.Shape("whose:N", title=None, scale=shapes)
    )
    title = f"KL against epsilon: {data.title.lower()}"
    words = "; ".join(f"{_series(row)} {row.means['kl']:.4f} at epsilon {row.epsilon:g}" for row in table)
    return picture(
        f"{data.name}-kl", title,
        f"The mean over seeds, ours with both sets of scales and the paper's {MARK} dotted (below 0.000001 "
        "drawn there). "
        f"{words}.",
        (lines + marks).properties(width=520, height=360), points,
    )  # fmt: skip


def _series(row: Row) -> str:
    scales = f", {row.scales} scales" if row.scales and row.whose == OURS else ""
    return f"{NAMES[row.method]}{scales}" if row.whose == OURS else f"{NAMES[row.method]} {MARK} (the paper's)"


def _outputs(data: Dataset, drawn: Sequence[dict[str, Any]]) -> Picture:
    """What one draw looks like, method by method."""
    axis, histogram = data.axis(), data.histogram()
    middles = axis.midpoints().tolist()
    points = []
    for one in drawn:
        points += curve(one, "probability", middles, one["output"])
    for epsilon in epsilons(drawn):
        share = (histogram.counts / histogram.people).tolist()
        points += curve({"epsilon": epsilon, "method": ORIGINAL}, "probability", middles, share)
    words = "; ".join(
        f"{NAMES[one['method']]} at epsilon {one['epsilon']:g}: total variation {one['metrics']['tv']:.4f}"
        for one in drawn
    )
    return picture(
        f"{data.name}-output", f"The distribution of one draw: {data.title.lower()}",
        f"Probability of each bin, original and by method (wide scales). {words}.",
        panels(points, "probability", data, layered=True), points,
    )  # fmt: skip


def _noise(data: Dataset, drawn: Sequence[dict[str, Any]]) -> Picture:
    """Average noise in each bin."""
    middles = data.axis().midpoints().tolist()
    points: list[dict[str, Any]] = []
    for one in drawn:
        points += curve(one, "noise", middles, one["noise_sd"])
    unit = data.units[data.column]
    most = {(one["method"], one["epsilon"]): [n for n in one["noise_sd"] if n is not None] for one in drawn}
    words = "; ".join(
        f"{NAMES[method]} at epsilon {epsilon:g}: {min(each):.3g} to {max(each):.3g}"
        for (method, epsilon), each in most.items()
    )
    return picture(
        f"{data.name}-noise", f"Average noise of the people in each bin: {data.title.lower()}",
        f"Standard deviation of where a person comes out, in {unit}, averaged over the people of each bin (wide "
        f"scales). {words}.",
        panels(points, "noise", data), points,
    )  # fmt: skip


def _convergence(data: Dataset, drawn: Sequence[dict[str, Any]]) -> Picture:
    """KL round by round: every run of best response, and the genetic algorithm's fittest."""
    points = [
        {
            **who(one), "run": f"{one['method']} {restart}", "round": number,
            "KL": max(distance, 1e-6), "protected": protected, "people": one["people"],
        }
        for one in drawn
        for restart, number, distance, protected in one.get("convergence", [])
    ]  # fmt: skip
    alt = altair()
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("round:Q", title="round or generation").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("KL:Q", title="KL (nats)").scale(type="log").axis(format="~g", tickCount=5),
        color=coloured(points),
        detail="run:N",
    )
    chart = faceted(base.mark_line(strokeWidth=0.9, opacity=0.7), points)
    words = "; ".join(
        f"{NAMES[one['method']]} at epsilon {one['epsilon']:g}: runs end between {min(ends):.4f} and {max(ends):.4f}"
        for one in drawn
        if (ends := [end for end, _ in one.get("ends", [])])
    )
    return picture(
        f"{data.name}-convergence", f"Convergence, round by round: {data.title.lower()}",
        "KL after each round of every run of best response, and of each generation's fittest profile (wide scales). "
        f"{words}.",
        chart, points,
    )  # fmt: skip


def _losses(data: Dataset, drawn: Sequence[dict[str, Any]]) -> Picture:
    """The share of people within each loss."""
    points = []
    for one in drawn:
        reached = 0
        for loss, people in one["losses"]:
            reached += people
            if loss is not None:
                share = reached / one["people"]
                points.append({**who(one), "loss": max(loss, 1e-9), "share": share})
    alt = altair()
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("loss:Q", title="loss of one draw").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("share:Q", title="share of people within it").axis(format=".0%"),
        color=coloured(points),
        strokeDash=dashed(),
    )
    words = "; ".join(
        f"{NAMES[one['method']]} at epsilon {one['epsilon']:g}: half of the people within {_median(one):.3g}"
        for one in drawn
    )
    return picture(
        f"{data.name}-losses", f"Losses, person by person: {data.title.lower()}",
        f"The share of people whose loss of one draw is at most so much (wide scales). {words}.",
        faceted(base.mark_line(interpolate="step-after", strokeWidth=1.6), points), points,
    )  # fmt: skip


def _median(one: dict[str, Any]) -> float:
    reached = 0
    for loss, people in one["losses"]:
        reached += people
        if 2 * reached >= one["people"]:
            return float("inf") if loss is None else float(loss)
    raise AssertionError("nobody is there")


def of_regression(data: Dataset, results: Sequence[dict[str, Any]]) -> Picture:
    """Some people of the original, and what the networks learned, averaged over seeds."""
    task = Task(data)
    x, y = task.names
    original = next(one for one in results if one["method"] == "original")
    points, some = [], [{x: a, y: b} for a, b in task.some_people().tolist()]
    for epsilon in epsilons([one for one in results if "epsilon" in one]):
        shown = [original, *(one for one in results if one.get("epsilon") == epsilon)]
        for one in shown:
            xs, ys = one["curve"]
            name = "the game" if one["method"] == "game" else trained_on(one)
            points += [{"epsilon": epsilon, "trained on": name, x: a, y: b} for a, b in zip(xs, ys, strict=True)]
    alt = altair()
    names = list(dict.fromkeys(point["trained on"] for point in points))
    palette = {"the original": "#000000", "the game": LOOKS["best-response"][0]}
    others = iter((LOOKS["laplace"][0], LOOKS["bounded-laplace"][0]))
    colours = alt.Scale(domain=names, range=[palette.get(name) or next(others) for name in names])
    legend = alt.Legend(labelLimit=0)
    everyone = [{**one, "epsilon": epsilon, "trained on": None} for epsilon in epsilons(points) for one in some]
    base = alt.Chart(alt.Data(values=[*points, *everyone])).encode(
        x=alt.X(f"{x}:Q", title=f"{x} ({data.units[x]})").scale(zero=False),
        y=alt.Y(f"{y}:Q", title=f"{y} ({data.units[y]})").scale(zero=False),
    )
    dots = base.transform_filter("datum['trained on'] === null").mark_circle(size=9, opacity=0.3, color="#808080")
    lines = base.transform_filter("datum['trained on'] !== null").mark_line(strokeWidth=2)
    lines = lines.encode(color=alt.Color("trained on:N", title="trained on", sort=names, scale=colours, legend=legend))
    words = "; ".join(
        f"{trained_on(one)}{_at(one)}: RMSE {statistics.fmean(one['rmse']):.3g} {data.units[y]}" for one in results
    )
    return picture(
        f"regression-{data.name}", f"What networks learn: {y} from {x}, {data.title.lower()}",
        f"500 people of the original, and the networks' predictions averaged over seeds. {words}.",
        faceted(dots + lines, points), points,
    )  # fmt: skip


def _at(one: dict[str, Any]) -> str:
    return f" at epsilon {one['epsilon']:g}" if "epsilon" in one else ""
