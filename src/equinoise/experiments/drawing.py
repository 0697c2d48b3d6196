"""What the experiments' pictures have in common: a colour for each method, a panel for each epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from equinoise.experiments.datasets import Dataset
from equinoise.experiments.tables import NAMES
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.encodings import altair, chart_of, value_axis
from equinoise.present.figures.theme import ORIGINAL

PANEL_WIDTH, PANEL_HEIGHT, PANELS_ACROSS = 330, 170, 2

COLOURS = {ORIGINAL: theme.COLOURS[ORIGINAL], **{NAMES[method]: theme.METHODS[method].colour for method in NAMES}}
DASHED = NAMES["optimal"]
"""Drawn last and with gaps, so that what it lies on can be seen."""


def owner(one: dict[str, Any]) -> dict[str, Any]:
    """Whose result it is, at which epsilon: the beginning of every point."""
    return {"epsilon": one["epsilon"], "method": NAMES.get(one["method"], one["method"])}


def curve(one: dict[str, Any], name: str, xs: Sequence[float], ys: Sequence[float | None]) -> list[dict[str, Any]]:
    """Points over a column's values, where there are any."""
    return [{**owner(one), "value": x, name: y} for x, y in zip(xs, ys, strict=True) if y is not None]


def epsilons(items: Iterable[dict[str, Any]]) -> list[float]:
    """Those there are, ascending."""
    return sorted({item["epsilon"] for item in items})


def colour(field: str, colours: dict[str, str], *, title: str | None = None, **legend: Any) -> Any:
    """A colour for each name, in a legend above."""
    scale = altair().Scale(domain=list(colours), range=list(colours.values()))
    channel = altair().Color(f"{field}:N", title=title, sort=list(colours), scale=scale)
    return channel.legend(**theme.ABOVE, **legend)


def method_colour(points: Sequence[dict[str, Any]]) -> Any:
    """A colour for each method, the same in all pictures."""
    there = {point["method"] for point in points}
    return colour("method", {method: shade for method, shade in COLOURS.items() if method in there})


def dashed() -> Any:
    """Gaps in the one line that lies on others."""
    alt = altair()
    return alt.condition(alt.datum.method == DASHED, alt.value([5, 3]), alt.value([1, 0]))


def panels(points: list[dict[str, Any]], name: str, data: Dataset) -> Any:
    """A line for each method over the column's values, one panel for each epsilon; the original as an area."""
    unit = data.units[data.column]
    y = altair().Y(f"{name}:Q", title="probability" if name == "probability" else f"noise SD ({unit})")
    base = chart_of(points).encode(x=value_axis("value", f"{data.column} ({unit})"), color=method_colour(points))
    lines = base.transform_filter(f"datum.method !== '{ORIGINAL}'").mark_line(strokeWidth=1.5)
    lines = lines.encode(y=y, strokeDash=dashed())
    area = base.transform_filter(f"datum.method === '{ORIGINAL}'").mark_area(interpolate="step", opacity=0.55)
    return faceted(area.encode(y=y.stack(None)) + lines, points)


def faceted(chart: Any, points: Sequence[dict[str, Any]]) -> Any:
    """One panel for each epsilon."""
    alt = altair()
    header = alt.Header(labelExpr="'epsilon ' + datum.value")
    return chart.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT).facet(
        facet=alt.Facet("epsilon:O", title=None, header=header, sort=epsilons(points)), columns=PANELS_ACROSS
    )


def figure(
    name: str, title: str, caption: str, words: Iterable[str], chart: Any, points: Sequence[dict[str, Any]]
) -> Figure:
    """A public figure with its points as the table behind it."""
    header = tuple(dict.fromkeys(key for point in points for key in point))
    rows = [[point.get(key, "") for key in header] for point in points]
    return Figure(name, title, caption, f"{'; '.join(words)}.", (chart,), header, rows, public=True)
