"""The pictures: the paper's, and two that it lacks (convergence round by round, losses person by person)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from equinoise.experiments.datasets import Dataset
from equinoise.experiments.regression import Task
from equinoise.experiments.tables import MARK, NAMES, OURS, Row, trained_on
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.encodings import altair, chart_of, log_x, log_y, value_axis
from equinoise.present.figures.theme import ORIGINAL

PANEL_WIDTH, PANEL_HEIGHT, PANELS_ACROSS = 330, 170, 2

COLOURS = {ORIGINAL: theme.COLOURS[ORIGINAL], **{NAMES[method]: theme.METHODS[method].colour for method in NAMES}}
DASHED = NAMES["optimal"]
"""Drawn last and with gaps, so that what it lies on can be seen."""

OWN, THEIR_SCALES, PRINTED = "ours", "ours, the paper's scales", f"printed in the paper {MARK}"
SHAPES = {OWN: "circle", THEIR_SCALES: "square", PRINTED: "cross"}
DASHES: dict[str, list[float]] = {OWN: [1, 0], THEIR_SCALES: [8, 5], PRINTED: [1.5, 3.5]}
"""How lines and points tell scales apart."""

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
        {
            "epsilon": row.epsilon,
            "KL": max(row.means["kl"], LEAST_KL),
            "method": _series(row),
            "whose": row.whose,
            "scales": _scales(row),
        }
        for row in table
    ]
    alt = altair()
    series = {_series(row): row for row in table}
    dashes = {name: _dashes(row) for name, row in series.items()}
    best = f"datum.whose === '{OURS}' && indexof(datum.method, '{NAMES['best-response']}') === 0"
    thick, size = (alt.condition(best, alt.value(more), alt.value(less)) for more, less in ((4, 1.5), (190, 55)))
    base = chart_of(points).encode(
        x=log_x("epsilon", "epsilon", _epsilons(points), room=True),
        y=log_y("KL", "KL from the original (nats)", [point["KL"] for point in points]),
        color=_colour(
            "method", {name: COLOURS[NAMES[row.method]] for name, row in series.items()}, columns=2, symbolSize=1600
        ),
        detail="method:N",
    )
    dash = alt.Scale(domain=list(dashes), range=list(dashes.values()))
    stroke = alt.StrokeDash("method:N", title=None, sort=list(dashes), scale=dash)
    stroke = stroke.legend(**theme.ABOVE, symbolType="stroke", symbolSize=1600, columns=2)
    shapes = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
    marks = base.mark_point(filled=True, opacity=1).encode(
        size=size,
        shape=alt.Shape("scales:N", title=None, scale=shapes, sort=list(SHAPES)).legend(
            **theme.ABOVE, symbolFillColor=theme.LIGHT["ink"], symbolStrokeColor=theme.LIGHT["ink"]
        ),
    )
    return _figure(
        f"{data.name}-kl", f"KL against epsilon: {data.title.lower()}",
        f"The mean over seeds: ours with wide scales (solid), ours with the paper's scales (dashed) and what the paper "
        f"prints {MARK} (dotted). Best response is drawn thick, so that optimal can be seen where both are the same "
        "(below 0.000001 drawn there).",
        (f"{_series(row)} {row.means['kl']:.4f} at epsilon {row.epsilon:g}" for row in table),
        (base.mark_line().encode(strokeDash=stroke, strokeWidth=thick) + marks).properties(height=360), points,
    )  # fmt: skip


def _scales(row: Row) -> str:
    """Whose scales, as the shapes of the points tell."""
    return PRINTED if row.whose != OURS else OWN if row.scales != "paper" else THEIR_SCALES


def _dashes(row: Row) -> list[float]:
    """How a line is dashed; optimal's with the paper's scales shows between best response's dashes."""
    scales = _scales(row)
    return DASHES[scales] if (scales, row.method) != (THEIR_SCALES, "optimal") else [3, 3]


def _series(row: Row) -> str:
    scales = f", {row.scales} scales" if row.scales and row.whose == OURS else ""
    return f"{NAMES[row.method]}{scales}" if row.whose == OURS else f"{NAMES[row.method]} {MARK} (the paper's)"


def _at_epsilon(one: dict[str, Any]) -> str:
    return f"{NAMES[one['method']]} at epsilon {one['epsilon']:g}"


def _outputs(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """What one draw looks like, method by method."""
    axis, histogram = data.axis(), data.histogram()
    middles, shares = axis.midpoints().tolist(), (histogram.counts / histogram.people).tolist()
    originals = [{"epsilon": epsilon, "method": ORIGINAL, "output": shares} for epsilon in _epsilons(results)]
    points = [point for one in [*results, *originals] for point in _curve(one, "probability", middles, one["output"])]
    return _figure(
        f"{data.name}-output", f"The distribution of one draw: {data.title.lower()}",
        "Probability of each bin, original and by method (wide scales).",
        (f"{_at_epsilon(one)}: total variation {one['metrics']['tv']:.4f}" for one in results),
        _panels(points, "probability", data), points,
    )  # fmt: skip


def _noise(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """Average noise in each bin."""
    middles = data.axis().midpoints().tolist()
    points = [point for one in results for point in _curve(one, "noise", middles, one["noise_sd"])]
    known = [(one, [noise for noise in one["noise_sd"] if noise is not None]) for one in results]
    return _figure(
        f"{data.name}-noise", f"Average noise of the people in each bin: {data.title.lower()}",
        f"Standard deviation of where a person comes out, in {data.units[data.column]}, averaged over the people of "
        "each bin (wide scales).",
        (f"{_at_epsilon(one)}: {min(noises):.3g} to {max(noises):.3g}" for one, noises in known),
        _panels(points, "noise", data), points,
    )  # fmt: skip


def _convergence(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """KL round by round: every run of best response, and the genetic algorithm's fittest."""
    points = [
        {
            **_owner(one), "run": f"{one['method']} {restart}", "round": number,
            "KL": max(distance, LEAST_KL), "protected": protected, "people": one["people"],
        }
        for one in results
        for restart, number, distance, protected in one.get("convergence", [])
    ]  # fmt: skip
    alt = altair()
    base = chart_of(points).encode(
        x=alt.X("round:Q", title="round or generation").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("KL:Q", title="KL (nats)").scale(type="log").axis(format="~g", tickCount=5),
        color=_method_colour(points),
        detail="run:N",
    )
    ends = {_at_epsilon(one): [end for end, _ in one.get("ends", [])] for one in results}
    return _figure(
        f"{data.name}-convergence", f"Convergence, round by round: {data.title.lower()}",
        "KL after each round of every run of best response, and of each generation's fittest profile (wide scales).",
        (f"{name}: runs end between {min(each):.4f} and {max(each):.4f}" for name, each in ends.items() if each),
        _faceted(base.mark_line(strokeWidth=0.9, opacity=0.7), points), points,
    )  # fmt: skip


def _losses(data: Dataset, results: Sequence[dict[str, Any]]) -> Figure:
    """The share of people within each loss."""
    alt = altair()
    points = [
        {**_owner(one), "loss": max(loss, 1e-9), "share": share}
        for one in results
        for loss, share in _shares_within(one)
        if loss is not None
    ]
    base = chart_of(points).encode(
        x=alt.X("loss:Q", title="loss of one draw").scale(type="log").axis(format="~g", grid=False),
        y=alt.Y("share:Q", title="share of people within it").axis(format=".0%"),
        color=_method_colour(points),
        strokeDash=_dashed(),
    )
    return _figure(
        f"{data.name}-losses", f"Losses, person by person: {data.title.lower()}",
        "The share of people whose loss of one draw is at most so much (wide scales).",
        (f"{_at_epsilon(one)}: half of the people within {_median(one):.3g}" for one in results),
        _faceted(base.mark_line(interpolate="step-after", strokeWidth=1.6), points), points,
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
        for epsilon in _epsilons([one for one in results if "epsilon" in one])
        for one in [original, *(one for one in results if one.get("epsilon") == epsilon)]
        for a, b in zip(*one["curve"], strict=True)
    ]
    palette = {"the original": theme.LIGHT["ink"], "the game": theme.METHODS["best-response"].colour}
    others = iter(theme.METHODS[method].colour for method in ("laplace", "bounded-laplace"))
    colours = {name: palette.get(name) or next(others) for name in dict.fromkeys(p["trained on"] for p in points)}
    people = [
        {x: a, y: b, "epsilon": epsilon, "trained on": None}
        for epsilon in _epsilons(points)
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
    lines = lines.encode(color=_colour("trained on", colours, title="trained on"))
    return _figure(
        f"regression-{data.name}", f"What networks learn: {y} from {x}, {data.title.lower()}",
        "500 people of the original, and the networks' predictions averaged over seeds.",
        (f"{trained_on(one)}{_at(one)}: RMSE {statistics.fmean(one['rmse']):.3g} {data.units[y]}" for one in results),
        _faceted(dots + lines, points), points,
    )  # fmt: skip


def _at(one: dict[str, Any]) -> str:
    return f" at epsilon {one['epsilon']:g}" if "epsilon" in one else ""


def _owner(one: dict[str, Any]) -> dict[str, Any]:
    """Whose result it is, at which epsilon: the beginning of every point."""
    return {"epsilon": one["epsilon"], "method": NAMES.get(one["method"], one["method"])}


def _curve(one: dict[str, Any], name: str, xs: Sequence[float], ys: Sequence[float | None]) -> list[dict[str, Any]]:
    """Points over a column's values, where there are any."""
    return [{**_owner(one), "value": x, name: y} for x, y in zip(xs, ys, strict=True) if y is not None]


def _epsilons(items: Iterable[dict[str, Any]]) -> list[float]:
    """Those there are, ascending."""
    return sorted({item["epsilon"] for item in items})


def _colour(field: str, colours: dict[str, str], *, title: str | None = None, **legend: Any) -> Any:
    """A colour for each name, in a legend above."""
    scale = altair().Scale(domain=list(colours), range=list(colours.values()))
    channel = altair().Color(f"{field}:N", title=title, sort=list(colours), scale=scale)
    return channel.legend(**theme.ABOVE, symbolType="stroke", symbolOpacity=1, **legend)


def _method_colour(points: Sequence[dict[str, Any]]) -> Any:
    """A colour for each method, the same in all pictures."""
    there = {point["method"] for point in points}
    return _colour("method", {method: shade for method, shade in COLOURS.items() if method in there})


def _dashed() -> Any:
    """Gaps in the one line that lies on others."""
    alt = altair()
    return alt.condition(alt.datum.method == DASHED, alt.value([5, 3]), alt.value([1, 0]))


def _panels(points: list[dict[str, Any]], name: str, data: Dataset) -> Any:
    """A line for each method over the column's values, one panel for each epsilon; the original as an area."""
    unit = data.units[data.column]
    y = altair().Y(f"{name}:Q", title="probability" if name == "probability" else f"noise SD ({unit})")
    base = chart_of(points).encode(x=value_axis("value", f"{data.column} ({unit})"), color=_method_colour(points))
    lines = base.transform_filter(f"datum.method !== '{ORIGINAL}'").mark_line(strokeWidth=1.5)
    lines = lines.encode(y=y, strokeDash=_dashed())
    area = base.transform_filter(f"datum.method === '{ORIGINAL}'").mark_area(interpolate="step", opacity=0.55)
    return _faceted(area.encode(y=y.stack(None)) + lines, points)


def _faceted(chart: Any, points: Sequence[dict[str, Any]]) -> Any:
    """One panel for each epsilon."""
    alt = altair()
    header = alt.Header(labelExpr="'epsilon ' + datum.value")
    return chart.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT).facet(
        facet=alt.Facet("epsilon:O", title=None, header=header, sort=_epsilons(points)), columns=PANELS_ACROSS
    )


def _figure(
    name: str, title: str, caption: str, words: Iterable[str], chart: Any, points: Sequence[dict[str, Any]]
) -> Figure:
    """A public figure with its points as the table behind it."""
    header = tuple(dict.fromkeys(key for point in points for key in point))
    rows = [[point.get(key, "") for key in header] for point in points]
    return Figure(name, title, caption, f"{'; '.join(words)}.", (chart,), header, rows, public=True)
